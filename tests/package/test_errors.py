"""A fault that the user can mend is one line; any other exception passes unchanged."""

import pytest

from seq2see.errors import UserError, as_user_error


class PanicException(BaseException):
    """As libraries in Rust raise."""


@pytest.mark.parametrize("raised", [ValueError("bad\nmore"), PanicException("bad\nmore"), KeyError("bad")])
def test_what_a_library_makes_of_data_is_told_in_one_line(raised: BaseException) -> None:
    with pytest.raises(UserError, match=r"^this file: '?bad'?$"), as_user_error("this file"):
        raise raised


@pytest.mark.parametrize("raised", [KeyboardInterrupt(), SystemExit(3), UserError("named already", exit_code=2)])
def test_who_ends_the_program_or_has_told_it_already_is_not_retold(raised: BaseException) -> None:
    with pytest.raises(type(raised)) as caught, as_user_error("this file"):
        raise raised
    assert caught.value is raised
