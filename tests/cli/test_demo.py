"""`seq2see demo` around the training and the page, which have their own tests: both are stood in for here."""

import json
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from seq2see.cli import command as cli
from seq2see.cli import demo
from seq2see.demo_run import DemoRun
from seq2see.errors import UserError
from seq2see.serve.settings import ServerSettings

Launched = tuple[str, str, int, bool, bool]  # what was loaded, where, whether with a browser, whether while learning

# Stands in for the training: says that it begins, and, told to by a file, finishes the run it was given.
LEARNER = """
import json, pathlib, signal, sys, time
run, record = map(pathlib.Path, sys.argv[1:3])
def end(*_):
    (run.parent / "ended").write_text("by SIGTERM")
    sys.exit(143)
signal.signal(signal.SIGTERM, end)
from seq2see.demo_run import end_with_parent
end_with_parent(record.parent)
run.mkdir(parents=True, exist_ok=True)
(run / "run.yaml").write_text("")
record.write_text(json.dumps({"state": "learning", "step": 7}))
while not (run.parent / "go").exists():
    time.sleep(0.02)
if (run.parent / "go").read_text() == "fail":
    sys.exit(1)
(run / "model.safetensors").write_text("")
(run / "metrics.json").write_text('{"evaluation": {}}')
time.sleep(60)
"""


def finish(run: Path, *, fitted: bool = True) -> None:
    run.mkdir(parents=True, exist_ok=True)
    (run / "run.yaml").write_text("")
    (run / "model.safetensors").write_text("")
    (run / "metrics.json").write_text(json.dumps({"evaluation": {}}))
    if fitted:
        (run / "alignment.json").write_text("{}")


@pytest.fixture
def launched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Launched]:
    """What demo asked the server to do; the training is stood in for."""
    shown: list[Launched] = []

    class Server:
        def __init__(self, loaders: Mapping[str, Callable[[], str]], *, host: str, port: int, open_browser: bool,
                     settings: ServerSettings, training: Callable[[], dict] | None):
            self.load = next(iter(loaders.values()))  # a packaged model has the others beside it
            self.asked = (host, port, open_browser, training is not None)

        def run(self) -> None:
            shown.append((self.load(), *self.asked))

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("seq2see.demo_run.WORKER", [sys.executable, "-c", LEARNER])
    monkeypatch.setattr("seq2see.translate.translator.Translator.from_pretrained", str)
    monkeypatch.setattr("seq2see.serve.server.Server", Server)
    return shown


@pytest.fixture
def taken() -> Iterator[int]:
    """A port that somebody listens on."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield listener.getsockname()[1]


def test_the_first_time_the_page_is_there_while_it_learns(launched: list[Launched]) -> None:
    Path("runs").mkdir()
    Path("runs/go").touch()
    assert cli.main(["demo", "--run", "runs/storybook", "--port", "0"]) == 0
    assert launched == [("runs/storybook", "127.0.0.1", 0, True, True)]
    assert Path("runs/ended").read_text() == "by SIGTERM", "what was still to be fitted ends with the demo"


def test_a_finished_run_is_shown_as_it_is(launched: list[Launched], monkeypatch: pytest.MonkeyPatch,
                                          capsys: pytest.CaptureFixture[str]) -> None:
    finish(Path("runs/mine"))
    monkeypatch.setattr("seq2see.demo_run.WORKER", ["/nothing/to/be/started"])
    assert cli.main(["demo", "--run", "runs/mine", "--port", "0", "--no-browser"]) == 0
    assert launched == [("runs/mine", "127.0.0.1", 0, False, False)]
    assert capsys.readouterr().out == "", "the address, which the server prints, is not lost among scores"


def test_where_no_run_is_named_the_packaged_model_is_shown(
    launched: list[Launched], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    finish(tmp_path / "package" / "everyday", fitted=False)
    monkeypatch.setattr("seq2see.pretrained.HOME", tmp_path / "package")
    monkeypatch.setattr("seq2see.demo_run.WORKER", ["/nothing/to/be/started"])
    assert cli.main(["demo", "--port", "0"]) == 0
    assert launched == [("everyday", "127.0.0.1", 0, True, False)]
    assert capsys.readouterr().out == "" and [path.name for path in tmp_path.iterdir()] == ["package"]


def test_a_folder_of_something_else_is_left_alone(launched: list[Launched], capsys: pytest.CaptureFixture[str]) -> None:
    Path("opus").mkdir()
    Path("opus/config.json").write_text("{}")
    assert cli.main(["demo", "--run", "opus", "--port", "0"]) == 1
    assert "seq2see serve opus" in capsys.readouterr().err
    assert launched == []


def test_a_folder_that_cannot_be_made_is_told_before_any_training(
    launched: list[Launched], capsys: pytest.CaptureFixture[str]
) -> None:
    Path("notes.txt").touch()
    assert cli.main(["demo", "--run", "notes.txt", "--port", "0"]) == 1
    assert capsys.readouterr().err == (
        "seq2see: error: cannot create the folder notes.txt (File exists); choose another with --run\n"
    )
    assert launched == []


def test_a_taken_default_port_gives_the_next_one(
    launched: list[Launched], taken: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    finish(Path("runs/storybook"))
    monkeypatch.setattr(demo, "FIRST_PORT", taken)
    assert cli.main(["demo", "--run", "runs/storybook"]) == 0
    ((_, _, port, *_),) = launched
    assert taken < port < taken + demo.PORTS_TRIED
    assert f"port {taken} is in use, using {port}" in capsys.readouterr().out


def test_a_taken_port_that_was_asked_for_is_told_before_any_training(
    launched: list[Launched], taken: int, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["demo", "--port", str(taken)]) == 1
    assert f"port {taken} of 127.0.0.1 is in use" in capsys.readouterr().err
    assert launched == []


# --- the training, watched


@pytest.fixture
def training(launched: list[Launched]) -> Iterator[DemoRun]:
    made = DemoRun(Path("here/run"))
    yield made
    made.stop()


def until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_what_the_training_tells_is_read(training: DemoRun) -> None:
    assert training.record()["state"] == "starting" and training.needed and not training.finished
    training.start()
    until(lambda: training.record() == {"state": "learning", "step": 7})
    Path("here/go").touch()
    training.wait()
    assert training.finished and training.needed, "what is read off the maps is to be fitted still"


def test_a_training_that_fails_is_told(training: DemoRun) -> None:
    Path("here").mkdir()
    Path("here/go").write_text("fail")
    training.start()
    with pytest.raises(UserError, match="code 1"):
        training.wait()


def test_it_is_told_to_end_with_the_demo(training: DemoRun) -> None:
    training.start()
    until(lambda: training.record()["state"] == "learning")
    training.stop()
    assert Path("here/ended").read_text() == "by SIGTERM"


def test_it_ends_when_the_demo_is_killed(tmp_path: Path) -> None:
    """Nobody stops it then: its stdin closes."""
    code = ("import sys, pathlib, os, time\nimport seq2see.demo_run as one\n"
            f"one.WORKER = [sys.executable, '-c', {LEARNER!r}]\n"
            "training = one.DemoRun(pathlib.Path('run'))\ntraining.start()\n"
            "while training.record()['state'] != 'learning': time.sleep(0.02)\n"
            "os.kill(os.getpid(), 9)")
    subprocess.run([sys.executable, "-c", code], cwd=tmp_path, timeout=100)
    until(lambda: (tmp_path / "ended").exists())


def test_a_record_is_of_the_weights_as_they_are(tmp_path: Path) -> None:
    from types import SimpleNamespace

    from tiny import seq2see

    from seq2see.demo_run import SENTENCE
    from seq2see.demo_worker import MAX_TOKENS, ProgressReporter
    from seq2see.lens import word_map
    from seq2see.translate.translator import Translator

    model, tokenizer = seq2see()
    model.train()
    state = SimpleNamespace(log_history=[], global_step=0, max_steps=10)
    telling = ProgressReporter(tmp_path / "record.json")
    telling.on_train_begin(None, state, None)
    state.global_step = 1
    telling.on_log(None, state, None, logs={"loss": 7.5})
    telling.on_step_end(None, state, None, model=model, processing_class=tokenizer)
    record = json.loads((tmp_path / "record.json").read_text("utf-8"))
    assert model.training
    translator = Translator(model.eval(), tokenizer)
    result = translator(SENTENCE, num_beams=1, max_new_tokens=MAX_TOKENS)
    [trace] = translator.look(result)
    assert (record["state"], record["step"], record["steps"]) == ("learning", 1, 10)
    assert record["seconds_left"] is None, "one step, the slowest, does not tell"
    assert record["losses"] == [[1, 7.5]] and record["translation"] == result.text
    shown = word_map(trace, "cross")
    assert record["columns"] == [unit.text for unit in shown.columns]
    expected = (shown.maps[1, 0] * 255).round().astype(int).ravel().tolist()
    assert record["maps"][1][0] == expected
    before = (tmp_path / "record.json").stat().st_mtime_ns
    telling.on_step_end(None, state, None, model=model, processing_class=tokenizer)
    assert (tmp_path / "record.json").stat().st_mtime_ns == before, "not at every step"
