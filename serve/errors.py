"""The one exception for a request that is not served; each dialect words it as its clients expect."""

from collections.abc import Mapping
from functools import partial
from typing import Any


class APIError(Exception):
    """Why a request is not served.

    Args:
        status: HTTP's status code.
        code: a name in snake_case, for programs.
        message: one line for people, without any of the user's text.
        retry_after: seconds after which trying again may help.
        headers: further headers of the response.
    """

    def __init__(self, status: int, code: str, message: str, *, retry_after: int | None = None,
                 headers: Mapping[str, str] | None = None):
        self.message = " ".join(message.split())
        super().__init__(self.message)
        self.status = status
        self.code = code
        self.retry_after = retry_after
        self.headers = dict(headers or {}) | ({} if retry_after is None else {"Retry-After": str(retry_after)})
        self.counted = False  # by `Metrics`, once, wherever it is caught

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickled, for the front of an engine elsewhere: there it is not counted yet."""
        return partial(APIError, headers=self.headers), (self.status, self.code, self.message)
