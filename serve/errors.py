"""The one exception for a request that is not served; the guard answers it as `{"error": message, "code": code}`."""

from dataclasses import dataclass, field


@dataclass(eq=False)
class APIError(Exception):
    """Why a request is not served.

    Args:
        status: HTTP's status code.
        code: a name in snake_case, for programs.
        message: one line for people, without any of the user's text.
        retry_after: seconds after which trying again may help.
        headers: further headers of the response.
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
