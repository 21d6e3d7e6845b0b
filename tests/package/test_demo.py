"""`seq2see demo` around the training and the page, which have their own tests: both are stood in for here."""

import json
import socket
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest

from seq2see import cli, demo
from seq2see.training.config import RunConfig

SCORES = {
    "pairs": 4, "exact_match": 75.0, "bleu": 61.2, "bleu_signature": "sig-b", "chrf": 70.1, "chrf_signature": "sig-c",
    "families": {"hunger": {"pairs": 4, "exact_match": 75.0, "pronoun": 98.5}},
}


class Calls:
    """What demo asked the training and the page to do."""

    def __init__(self) -> None:
        self.trained: list[RunConfig] = []
        self.shown: list[tuple[str, str, int, bool]] = []


def finish(run: Path) -> None:
    run.mkdir(parents=True, exist_ok=True)
    (run / "run.yaml").write_text("")
    (run / "model.safetensors").write_text("")
    (run / "metrics.json").write_text(json.dumps({"evaluation": {"test": SCORES}}))


@pytest.fixture
def calls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Calls:
    calls = Calls()

    def train(config: RunConfig) -> None:
        calls.trained.append(config)
        finish(Path(config.training["output_dir"]))

    def launch(loaders: Mapping[str, Callable[[], str]], *, host: str, port: int, open_browser: bool) -> None:
        [load] = loaders.values()
        calls.shown.append((load(), host, port, open_browser))

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("seq2see.training.run.run_experiment", train)
    monkeypatch.setattr("seq2see.serve.translator.Translator.from_pretrained", str)
    monkeypatch.setattr("seq2see.serve.server.launch", launch)
    return calls


@pytest.fixture
def taken() -> Iterator[int]:
    """A port that somebody listens on."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield listener.getsockname()[1]


def test_the_first_time_it_trains_and_opens_the_page(calls: Calls, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["demo", "--port", "0"]) == 0
    (config,) = calls.trained
    assert (config.data.path, config.training["output_dir"]) == ("storybook", "runs/storybook")
    assert not config.training["resume"]
    assert calls.shown == [("runs/storybook", "127.0.0.1", 0, True)]
    out = capsys.readouterr().out
    assert "sig-b" in out and "hunger" in out and "98.50" in out


def test_a_finished_run_is_shown_as_it_is(calls: Calls) -> None:
    finish(Path("runs/mine"))
    assert cli.main(["demo", "--run", "runs/mine", "--port", "0", "--no-browser"]) == 0
    assert calls.trained == []
    assert calls.shown == [("runs/mine", "127.0.0.1", 0, False)]


def test_a_training_that_was_stopped_goes_on(calls: Calls) -> None:
    finish(Path("runs/my run"))
    Path("runs/my run/metrics.json").unlink()
    assert cli.main(["demo", "--run", "runs/my run", "--port", "0"]) == 0
    (config,) = calls.trained
    assert config.training["resume"] is True and config.training["output_dir"] == "runs/my run"


def test_a_folder_of_something_else_is_left_alone(calls: Calls, capsys: pytest.CaptureFixture[str]) -> None:
    Path("opus").mkdir()
    Path("opus/config.json").write_text("{}")
    assert cli.main(["demo", "--run", "opus", "--port", "0"]) == 1
    assert "seq2see serve opus" in capsys.readouterr().err
    assert (calls.trained, calls.shown) == ([], [])


def test_a_taken_default_port_gives_the_next_one(
    calls: Calls, taken: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    finish(Path("runs/storybook"))
    monkeypatch.setattr(demo, "FIRST_PORT", taken)
    assert cli.main(["demo"]) == 0
    ((*_, port, _),) = calls.shown
    assert taken < port < taken + demo.PORTS_TRIED
    assert f"port {taken} is taken, using {port}" in capsys.readouterr().out


def test_a_taken_port_that_was_asked_for_is_told_before_any_training(
    calls: Calls, taken: int, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["demo", "--port", str(taken)]) == 1
    assert f"port {taken} of 127.0.0.1 is taken" in capsys.readouterr().err
    assert (calls.trained, calls.shown) == ([], [])
