"""Translators of tiny random models (`tests/tiny.py`), in memory and as folders."""

import json
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import serving
import tiny

KEY = "a-key-of-the-tests"
SEEN = {"en": ["the", "cat", "did", "not", "cross"]}


@pytest.fixture(scope="session", params=tiny.KINDS)
def any_folder(request, tmp_path_factory):
    """A checkpoint folder of each kind."""
    return tiny.save(tmp_path_factory.mktemp(request.param), *tiny.make(request.param))


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    """A Seq2See's folder, with the words it has seen."""
    made = tiny.save(tmp_path_factory.mktemp("run"), *tiny.make("seq2see"))
    (made / "seen_words.json").write_text(json.dumps(SEEN), encoding="utf-8")
    return made


@pytest.fixture(scope="session")
def translator(folder):
    from seq2see import Translator

    return Translator.from_pretrained(folder, engine="torch")


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
    with serving.stub_server(body_bytes=20_000, read_seconds=1.0, characters=100, texts=3) as client:
        yield client
