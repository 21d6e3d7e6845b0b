"""The exception for failed requests; `RequestChecks` responds with `{"error": message, "code": code}`."""

from dataclasses import dataclass, field


@dataclass(eq=False)
class APIError(Exception):
    """The reason why a request failed.

    Args:
        status: the HTTP status code.
        code: an identifier in snake_case, for programs.
        message: one line for people, without any of the user's text.
        retry_after: seconds after which a retry may succeed.
        headers: further response headers.
    """

    status: int
    code: str
    message: str
    retry_after: int | None = field(default=None, kw_only=True)
    headers: dict[str, str] = field(default_factory=dict, kw_only=True)

    def __post_init__(self) -> None:
        self.message = " ".join(self.message.split())
        if self.retry_after is not None:
            self.headers["Retry-After"] = str(self.retry_after)

    def __str__(self) -> str:
        return self.message
