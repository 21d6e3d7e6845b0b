"""Folders to be spoilt."""

import pytest
import tiny
from spoiling import copied


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    return tiny.save(tmp_path_factory.mktemp("whole"), *tiny.make("seq2see"))


@pytest.fixture(scope="module")
def marian(tmp_path_factory):
    return tiny.save(tmp_path_factory.mktemp("marian"), *tiny.make("marian"))


@pytest.fixture
def folder(whole, tmp_path):
    """A copy to be spoilt: its files are links to the whole one's until they are rewritten."""
    return copied(whole, tmp_path / "copy")
