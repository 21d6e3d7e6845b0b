"""Errors that the user can fix."""

from collections.abc import Iterator
from contextlib import contextmanager


class UserError(ValueError):
    """A wrong key, file, language, checkpoint or text.

    The message is one line: what is wrong, where, and how to fix it.  The command line prints it to stderr and exits
    with `exit_code`: 1 for a failure, 2 for a usage error.
    """

    def __init__(self, message: str, *, exit_code: int = 1):
        super().__init__(" ".join(message.split()))
        self.exit_code = exit_code


@contextmanager
def as_user_error(what: str) -> Iterator[None]:
    """Turn whatever a library raises about its input into a UserError that begins with `what`.

    This includes panics of Rust libraries such as `tokenizers`, which are no Exception.  A missing module is not the
    input's fault, and stays as it is.
    """
    try:
        yield
    except (UserError, ModuleNotFoundError):
        raise
    except BaseException as error:
        if not isinstance(error, Exception) and type(error).__name__ != "PanicException":
            raise
        reason = (str(error).strip() or type(error).__name__).splitlines()[0]
        raise UserError(f"{what}: {reason[:300]}") from error
