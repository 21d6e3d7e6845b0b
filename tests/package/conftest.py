"""Where the tests of commands and of files find `tests/tiny.py` and `tests/serving.py`."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import pytest
import tiny


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny random Seq2See, saved."""
    return tiny.save(tmp_path_factory.mktemp("run"), *tiny.make("seq2see"))
