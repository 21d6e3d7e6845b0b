"""`seq2see demo` around the training and the page, which have their own tests: both are stood in for here."""

import socket
from pathlib import Path

import pytest

from seq2see.cli import demo


def finish(run):
    """A finished run."""
    run.mkdir(parents=True, exist_ok=True)
    for name in ("run.yaml", "model.safetensors"):
        (run / name).touch()
    (run / "metrics.json").write_text('{"evaluation": {}}')


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
    monkeypatch.setattr(demo, "train", lambda *_, **__: pytest.fail("a training began"))
    monkeypatch.setattr("seq2see.translate.translator.Translator.from_pretrained", str)
    monkeypatch.setattr("seq2see.serve.server.Server", Server)
    return shown


@pytest.fixture
def taken():
    """A port that somebody listens on."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield listener.getsockname()[1]


@pytest.fixture
def trained(monkeypatch):
    """The configurations that demo trained with, and what it says to do if that is stopped."""
    trained = []

    def train(config, *, resume):
        trained.append((config.output, config.data.path, config.training["resume"], resume))
        finish(config.output)
        return 0

    monkeypatch.setattr(demo, "train", train)
    return trained


def test_the_first_time_the_model_is_trained(launched, trained, command):
    Path("runs").mkdir()
    code, out, _ = command("demo", "--run", "runs/storybook", "--port", 0)
    assert code == 0 and "runs/storybook: starting the training, which takes a few minutes" in out
    assert trained == [(Path("runs/storybook"), "storybook", False, "repeat the command")]
    assert launched == [("runs/storybook", "127.0.0.1", 0, True)]


def test_an_interrupted_training_is_resumed(launched, trained, command):
    Path("mine").mkdir()
    Path("mine/run.yaml").write_text("data: {path: storybook}")
    code, out, _ = command("demo", "--run", "mine", "--port", 0)
    assert code == 0 and "mine: resuming the training" in out and trained[0][2] and launched


def test_a_training_that_is_stopped_opens_no_page(launched, monkeypatch, command):
    monkeypatch.setattr(demo, "train", lambda *_, **__: 130)
    Path("runs").mkdir()
    assert command("demo", "--run", "runs/storybook", "--port", 0)[0] == 130 and not launched


def test_a_finished_run_is_shown_as_it_is(launched, command):
    """The address, which the server prints, is not lost among scores."""
    finish(Path("runs/mine"))
    assert command("demo", "--run", "runs/mine", "--port", 0, "--no-browser")[:2] == (0, "")
    assert launched == [("runs/mine", "127.0.0.1", 0, False)]


def test_where_no_run_is_named_the_packaged_model_is_shown(launched, tmp_path, monkeypatch, command):
    finish(tmp_path / "package" / "everyday")
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
                       (("--run", "rnus/mine", "--port", 0), "in a new folder: --run runs/mine")):
        code, _, err = command("demo", *argv)
        assert code in (1, 2) and told in err and err.count("\n") == 1
    assert launched == [] and not Path("storybok").exists()


def test_a_taken_default_port_gives_the_next_one(launched, taken, monkeypatch, command):
    finish(Path("runs/storybook"))
    monkeypatch.setattr(demo, "FIRST_PORT", taken)
    code, out, _ = command("demo", "--run", "runs/storybook")
    ((_, _, port, *_),) = launched
    assert code == 0 and taken < port < taken + demo.PORTS_TRIED
    assert f"port {taken} is in use, using {port}" in out
