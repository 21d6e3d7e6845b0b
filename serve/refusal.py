"""The one way in which the server says no; every dialect words it as its clients expect."""


class Refusal(Exception):
    """A request that is not served.

    `status` is HTTP's, `code` a name in snake_case for programs, `message` one line for people, without any of the
    user's text.  `retry_after` is in whole seconds, where trying again may help.
    """

    def __init__(self, status: int, code: str, message: str, *, retry_after: int | None = None):
        message = " ".join(message.split())
        super().__init__(message)
        self.status = status
        self.code = code
        self.message = message
        self.retry_after = retry_after
        self.counted = False  # by `Metrics`, wherever on its way that was

    @property
    def headers(self) -> dict[str, str]:
        return {} if self.retry_after is None else {"Retry-After": str(self.retry_after)}
