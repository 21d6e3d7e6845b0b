"""The one exception for a request that is not served; each dialect words it as its clients expect."""


class APIError(Exception):
    """Why a request is not served.

    Args:
        status: HTTP's status code.
        code: a name in snake_case, for programs.
        message: one line for people, without any of the user's text.
        retry_after: seconds after which trying again may help.
    """

    def __init__(self, status: int, code: str, message: str, *, retry_after: int | None = None):
        message = " ".join(message.split())
        super().__init__(message)
        self.status = status
        self.code = code
        self.message = message
        self.retry_after = retry_after
        self.counted = False  # by `Metrics`, once, wherever it is caught

    @property
    def headers(self) -> dict[str, str]:
        return {} if self.retry_after is None else {"Retry-After": str(self.retry_after)}
