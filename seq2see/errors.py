"""Errors that the user can fix."""

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from difflib import get_close_matches

LISTED = 12  # known names in a message


class UserError(ValueError):
    """A wrong key, file, language, checkpoint or text.

    The message is one line: what is wrong, where, and how to fix it.  The command line prints it to stderr and exits
    with `exit_code`: 1 for a failure, 2 for a usage error.
    """

    def __init__(self, message: str, *, exit_code: int = 1):
        super().__init__(" ".join(message.split()))
        self.exit_code = exit_code


def nearest(name: str, known: Collection[str], *, prefix: str = "", otherwise: str = "") -> str:
    """The end of a message about an unknown name: the closest known one, or else advice or a list of known ones."""
    if found := get_close_matches(name, known, n=1):
        return f"; did you mean {prefix}{found[0]}?"
    listed = ", ".join(sorted(known)[:LISTED]) + " ..." * (len(known) > LISTED)
    return f"; {otherwise or f'expected one of {listed}'}"


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
