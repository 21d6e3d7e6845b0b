"""Checkpoint folders of tiny random models (`tests/tiny.py`)."""

import pytest
import tiny


@pytest.fixture(scope="session", params=tiny.MOST_KINDS)
def any_folder(request, tmp_path_factory):
    """A checkpoint folder of each kind."""
    return tiny.save(tmp_path_factory.mktemp(request.param), *tiny.make(request.param))
