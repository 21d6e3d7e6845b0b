"""`seq2see demo` around the training and the page, which have their own tests: both are stood in for here."""

import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from seq2see.cli import demo
from seq2see.demo_run import DemoRun
from seq2see.errors import UserError

# Stands in for the training: says that it begins, and, told to by a file, finishes the run it was given.
LEARNER = """
import pathlib, signal, sys, time
run = pathlib.Path(sys.argv[1])
def end(*_):
    (run.parent / "ended").write_text("by SIGTERM")
    sys.exit(143)
signal.signal(signal.SIGTERM, end)
from seq2see.demo_run import end_with_parent
end_with_parent()
run.mkdir(parents=True, exist_ok=True)
(run / "run.yaml").write_text("")
while not (run.parent / "go").exists():
    time.sleep(0.02)
if (run.parent / "go").read_text() == "fail":
    sys.exit(1)
(run / "model.safetensors").write_text("")
(run / "metrics.json").write_text('{"evaluation": {}}')
time.sleep(60)
"""


def finish(run, monkeypatch):
    """A finished run, of which nothing is left to learn."""
    run.mkdir(parents=True)
    for name in ("run.yaml", "model.safetensors"):
        (run / name).touch()
    (run / "metrics.json").write_text('{"evaluation": {}}')
    (run / "alignment.json").write_text("{}")
    monkeypatch.setattr("seq2see.demo_run.WORKER", ["/nothing/to/be/started"])


@pytest.fixture
def launched(tmp_path, monkeypatch):
    """What demo asked the server to do: what is loaded, where, whether with a browser."""
    shown = []

    class Server:
        def __init__(self, loaders, *, host, port, open_browser, settings):
            self.load = next(iter(loaders.values()))  # a packaged model has the others beside it
            self.asked = (host, port, open_browser)

        def run(self):
            shown.append((self.load(), *self.asked))

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("seq2see.demo_run.WORKER", [sys.executable, "-c", LEARNER])
    monkeypatch.setattr("seq2see.translate.translator.Translator.from_pretrained", str)
    monkeypatch.setattr("seq2see.serve.server.Server", Server)
    return shown


@pytest.fixture
def taken():
    """A port that somebody listens on."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield listener.getsockname()[1]


def test_the_first_time_the_model_is_trained(launched, command):
    Path("runs").mkdir()
    Path("runs/go").touch()
    assert command("demo", "--run", "runs/storybook", "--port", 0)[0] == 0
    assert launched == [("runs/storybook", "127.0.0.1", 0, True)]
    assert Path("runs/ended").read_text() == "by SIGTERM", "what was still to be fitted ends with the demo"


def test_a_finished_run_is_shown_as_it_is(launched, monkeypatch, command):
    """The address, which the server prints, is not lost among scores."""
    finish(Path("runs/mine"), monkeypatch)
    assert command("demo", "--run", "runs/mine", "--port", 0, "--no-browser")[:2] == (0, "")
    assert launched == [("runs/mine", "127.0.0.1", 0, False)]


def test_where_no_run_is_named_the_packaged_model_is_shown(launched, tmp_path, monkeypatch, command):
    finish(tmp_path / "package" / "everyday", monkeypatch)
    (tmp_path / "package" / "everyday" / "alignment.json").unlink()  # which is not fitted for it
    monkeypatch.setattr("seq2see.pretrained.HOME", tmp_path / "package")
    assert command("demo", "--port", 0)[:2] == (0, "")
    assert launched == [("everyday", "127.0.0.1", 0, True)]
    assert [path.name for path in tmp_path.iterdir()] == ["package"]


def test_what_cannot_work_is_told_before_any_training(launched, command):
    Path("opus").mkdir()
    Path("opus/config.json").write_text("{}")  # a folder of something else is left alone
    Path("notes.txt").touch()
    Path("mine").mkdir()
    Path("mine/run.yaml").write_text("data: {path: mine.csv}")  # an interrupted training of something else
    for argv, told in ((("--run", "opus", "--port", 0), "seq2see serve opus"),
                       (("--run", "mine", "--port", 0), "has no storybook run"),
                       (("--run", "notes.txt", "--port", 0), "File exists: notes.txt"),
                       (("--run", "storybok", "--port", 0), "did you mean storybook?"),
                       (("--run", "rnus/mine", "--port", 0), "in a new folder: --run runs/mine")):  # fmt: skip
        code, _, err = command("demo", *argv)
        assert code in (1, 2) and told in err and err.count("\n") == 1
    assert launched == [] and not Path("storybok").exists()


def test_a_taken_default_port_gives_the_next_one(launched, taken, monkeypatch, command):
    finish(Path("runs/storybook"), monkeypatch)
    monkeypatch.setattr(demo, "FIRST_PORT", taken)
    code, out, _ = command("demo", "--run", "runs/storybook")
    ((_, _, port, *_),) = launched
    assert code == 0 and taken < port < taken + demo.PORTS_TRIED
    assert f"port {taken} is in use, using {port}" in out


# --- the training


@pytest.fixture
def training(launched):
    made = DemoRun(Path("here/run"))
    yield made
    made.stop()


def until(condition):
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_the_model_is_there_when_the_training_is_done(training):
    assert training.needed and not training.finished
    training.start()
    until(Path("here/run/run.yaml").exists)
    Path("here/go").touch()
    training.wait()
    assert training.finished and training.needed, "what is read off the maps is to be fitted still"


def test_a_training_that_fails_is_told(training):
    Path("here").mkdir()
    Path("here/go").write_text("fail")
    training.start()
    with pytest.raises(UserError, match="code 1"):
        training.wait()


def test_it_ends_when_the_demo_is_killed(tmp_path):
    """Nobody stops it then: its stdin closes."""
    code = ("import sys, pathlib, os, time\nimport seq2see.demo_run as one\n"
            f"one.WORKER = [sys.executable, '-c', {LEARNER!r}]\n"
            "training = one.DemoRun(pathlib.Path('run'))\ntraining.start()\n"
            "while not pathlib.Path('run/run.yaml').exists(): time.sleep(0.02)\n"
            "os.kill(os.getpid(), 9)")
    subprocess.run([sys.executable, "-c", code], cwd=tmp_path, timeout=100)
    until(lambda: (tmp_path / "ended").exists())
