"""The one kind of error that is the user's to mend."""

from collections.abc import Iterator
from contextlib import contextmanager


class UserError(ValueError):
    """A wrong key, file, language, checkpoint or text.

    The message is one line that says what is wrong, where, and how to mend it.  The command line prints it to stderr
    and exits with `exit_code`: 1 where the work failed, 2 where the command was used wrongly.
    """

    def __init__(self, message: str, *, exit_code: int = 1):
        super().__init__(" ".join(message.split()))
        self.exit_code = exit_code


@contextmanager
def as_user_error(what: str) -> Iterator[None]:
    """Whatever a library raises inside, about data that it was given, as a UserError that begins with `what`.

    A panic of a library in Rust, as `tokenizers` is, is told too, though it is no Exception.  A missing module is no
    fault of the data.
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
