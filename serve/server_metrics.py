"""The Prometheus metrics, in a registry of their own.  No text, key or address is ever a label."""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

from .api_errors import APIError
from .current_request import current

SECONDS = (0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30)
SIZES = (1, 2, 4, 8, 16, 32, 64, 128)


class Metrics:
    """The counters of one server."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        given = {"registry": self.registry, "namespace": "seq2see"}
        self.requests = Counter("requests", "Accepted requests by outcome", ["outcome"], **given)
        self.refusals = Counter("refusals", "Refused requests by reason", ["reason"], **given)
        self.cancelled = Counter("cancelled", "Requests whose client disconnected early", **given)
        self.running = Gauge("requests_running", "Requests in progress", **given)
        self.latency = Histogram("request_seconds", "Time to answer a request", buckets=SECONDS, **given)
        self.queued = Gauge("queue_tokens", "Source tokens waiting for an engine", **given)
        self.batch_size = Histogram("batch_sources", "Sources per engine call", buckets=SIZES, **given)
        self.tokens = Counter("tokens", "Source tokens read and target tokens written", ["side"], **given)

    def count(self, error: APIError) -> None:
        """Count a refusal where it is answered; failures (500) are not refusals."""
        current().error = error.code
        if error.status != 500:
            self.refusals.labels(error.code).inc()

    def text(self) -> bytes:
        """The metrics in Prometheus text format."""
        return bytes(generate_latest(self.registry))
