"""Handles bytes that are not an HTTP request like any other refusal: with an id and a line of JSON, counted and logged.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime

from uvicorn.protocols.http.h11_impl import H11Protocol

from .api_errors import APIError
from .current_request import begin
from .request_log import HEADER, RequestLines, new_id
from .server_metrics import Metrics


def refusing_protocol(metrics: Metrics, lines: RequestLines) -> type[H11Protocol]:
    """uvicorn's protocol with our own response to bytes that it cannot read."""

    class Refusing(H11Protocol):
        def send_400_response(self, msg: str) -> None:
            if self.cycle is None or not self.cycle.response_started or self.cycle.response_complete:
                self.transport.write(refusal(self.client))
            self.transport.close()  # in the middle of an answer there is no room for another

    def refusal(client: tuple[str, int] | None) -> bytes:
        request, error = begin(new_id()), APIError(400, "malformed", "the request is not valid HTTP")
        metrics.count(error)
        lines.write(request, datetime.now(UTC), status=error.status, client=client)
        request.ended = True
        body = json.dumps({"error": error.message, "code": error.code}).encode()
        head = (f"HTTP/1.1 400 Bad Request\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n"
                f"{HEADER}: {request.id}\r\nX-Content-Type-Options: nosniff\r\nConnection: close\r\n\r\n")
        return head.encode() + body

    return Refusing
