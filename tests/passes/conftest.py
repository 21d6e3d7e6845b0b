"""The tiny models of `tests/tiny.py`, one of each kind a session."""

import pytest
import tiny


@pytest.fixture(scope="session", params=tiny.MOST_KINDS)
def any_model(request):
    """(model, tokenizer): a Marian, a BART, a T5, a Seq2See."""
    return tiny.make(request.param)
