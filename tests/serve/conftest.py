"""Translators of tiny random models (`tests/tiny.py`), in memory and as folders."""

import json
import sys
import threading
import time
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
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
def serve():
    """Start servers: `serve(models, **settings)` gives one that is ready, on a free port; all end with the session."""
    from seq2see.serve.server import make_server
    from seq2see.serve.settings import ServerSettings

    running = []

    def start(models, *, access=None, ready=True, **settings):
        from seq2see.serve.service import Service

        chosen = ServerSettings(**settings)
        server = make_server(models, host="127.0.0.1", port=0, settings=chosen,
                             service=Service(settings=chosen, access=access))
        thread = threading.Thread(target=server.run, daemon=True)
        thread.start()
        running.append((server, thread))
        while not (server.service.ready if ready else server.started):
            assert thread.is_alive() and server.failure is None
            time.sleep(0.02)
        return server

    yield start
    for server, _ in running:
        server.should_exit = True
    for _, thread in running:
        thread.join(30)
        assert not thread.is_alive()


@pytest.fixture(scope="session")
def live(serve, translator):
    """The address of a server with the page, as `seq2see serve` has it."""
    return serve({"tiny": translator}, rate=0).url


@pytest.fixture(scope="session")
def guarded(serve, translator, tmp_path_factory):
    """The address of a server that wants a key (`KEY`), and shows no page."""
    from seq2see.serve.access import Access, read_keys

    path = tmp_path_factory.mktemp("keys") / "keys"
    path.write_text(f"tests {KEY}", encoding="utf-8")
    return serve({"tiny": translator}, access=Access(read_keys(str(path))), page=False).url
