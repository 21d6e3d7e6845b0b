"""Servers of a tiny random model."""

import pytest
import serving

KEY = "a-key-of-the-tests"


@pytest.fixture(scope="session")
def anyio_backend():
    """Where tests that are coroutines run."""
    return "asyncio"


@pytest.fixture(scope="session")
def live(translator):
    """The address of a server with the page, as `seq2see serve` has it."""
    with serving.running({"tiny": lambda: translator}, page=True) as server:
        yield server.url


@pytest.fixture(scope="session")
def guarded(translator, tmp_path_factory):
    """The address of a server that wants a key (`KEY`), and shows no page."""
    path = tmp_path_factory.mktemp("keys") / "keys"
    path.write_text(f"tests {KEY}", encoding="utf-8")
    with serving.running({"tiny": lambda: translator}, keys_file=str(path)) as server:
        yield server.url


@pytest.fixture(scope="module")
def stub():
    """A stub's server with small limits, for tests that leave it as it was."""
    with serving.stub_server(body_bytes=20_000, characters=100, texts=3) as client:
        yield client
