"""The lessons of a server: the packaged record, or that of a run on this machine, which the operator may allow."""

import sys
import time

import pytest
from fastapi.testclient import TestClient
from serving import Stub

from seq2see.serve.apis import lessons
from seq2see.serve.app import make_app
from seq2see.serve.service import Service
from seq2see.serve.settings import ServerSettings

RUN = """
import pathlib, sys, time
print("lesson 1", file=sys.stderr, flush=True)
folder = pathlib.Path(sys.argv[sys.argv.index("--out") + 1])
while not (folder / "go").exists(): time.sleep(0.01)
(folder / "lessons.json").write_text('{"format": 3, "run": "here"}')
"""


def test_lessons_run_here_are_watched_and_then_shown(tmp_path, monkeypatch):
    monkeypatch.setattr(lessons, "COMMAND", [sys.executable, "-c", RUN])
    service = Service({"stub": Stub()}, ServerSettings(lessons=str(tmp_path / "out"), run_lessons=True))
    with TestClient(make_app(service), base_url="http://localhost") as client:
        def ask(**body):
            return client.post("/v1/lessons", json=body).json()

        packaged = ask()
        assert not packaged["own"] and len(packaged["record"]["lessons"]) == 18
        assert ask(run=True)["running"]
        while not (found := ask())["said"]:
            time.sleep(0.02)
        assert (found["said"], found["record"]) == (["lesson 1"], None)
        (tmp_path / "out" / "go").touch()
        while (found := ask())["running"]:
            time.sleep(0.02)
    assert (found["own"], found["record"]) == (True, {"format": 3, "run": "here"})


@pytest.mark.parametrize("text", ["", "[]", '{"format": 2, "lessons": []}', '{"format": 3'])
def test_a_record_that_is_damaged_or_of_another_version_is_not_shown(tmp_path, text):
    (tmp_path / "lessons.json").write_text(text)
    service = Service({"stub": Stub()}, ServerSettings(lessons=str(tmp_path)))
    with TestClient(make_app(service), base_url="http://localhost") as client:
        found = client.post("/v1/lessons", json={}).json()
    assert not found["own"] and len(found["record"]["lessons"]) == 18
