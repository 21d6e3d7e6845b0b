"""`training.push_to_hub`: refused at once where it cannot work, whole where it does, and never the end of a run."""

import shutil
from fnmatch import fnmatch
from pathlib import Path
from types import SimpleNamespace

import httpx2
import pytest
from huggingface_hub.errors import HfHubHTTPError, LocalTokenNotFoundError

from seq2see.modeling.loading import load_checkpoint
from .conftest import last_error, train


class Hub:
    """A folder in the place of the Hub; `broken` calls raise."""

    def __init__(self, folder: Path):
        self.folder, self.broken, self.error = folder, set(), None

    def __call__(self) -> "Hub":
        return self

    def reached(self, call: str) -> None:
        if call in self.broken:
            raise self.error

    def whoami(self, token):
        self.reached("whoami")
        assert token == "hf_secret"

    def create_repo(self, name, **_):
        self.reached("create_repo")
        return SimpleNamespace(repo_id=f"me/{name}")

    def upload_folder(self, *, repo_id, folder_path, ignore_patterns, **_):
        self.reached("upload_folder")
        for item in folder_path.rglob("*"):
            name = str(item.relative_to(folder_path))
            if item.is_file() and not any(fnmatch(name, pattern) for pattern in ignore_patterns):
                (self.folder / repo_id / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(item, self.folder / repo_id / name)


@pytest.fixture
def hub(tmp_path, monkeypatch) -> Hub:
    hub = Hub(tmp_path / "hub")
    monkeypatch.setattr("seq2see.training.hub.HfApi", hub)
    monkeypatch.setattr("transformers.trainer.hf_api", hub)
    return hub


def push(toy_file, tmp_path) -> int:
    return train(f"data.path={toy_file}", f"training.output_dir={tmp_path / 'run'}", "training.max_steps=4",
                 "training.push_to_hub=true", "training.hub_token=hf_secret")


UNKNOWN = httpx2.Response(401, request=httpx2.Request("GET", "https://huggingface.co"))
REFUSED = HfHubHTTPError("401 Client Error: Unauthorized", response=UNKNOWN)


@pytest.mark.parametrize("error", [httpx2.ConnectError("no route"), LocalTokenNotFoundError("no token found"), REFUSED],
                         ids=lambda error: type(error).__name__)
def test_a_hub_that_cannot_be_reached_is_one_line_before_anything_is_prepared(hub, toy_file, tmp_path, capsys, error):
    hub.broken, hub.error = {"whoami"}, error
    assert push(toy_file, tmp_path) == 1
    line = last_error(capsys)
    assert line.startswith(f"seq2see: error: training.push_to_hub: the Hub refuses this run ({error})")
    assert "hf auth login" in line and not (tmp_path / "run").exists()


def test_what_is_pushed_is_the_finished_run_with_its_code(hub, toy_file, tmp_path):
    """The token stays here."""
    assert push(toy_file, tmp_path) == 0
    there = hub.folder / "me" / "run"
    names = {item.name for item in there.iterdir()}
    assert {"README.md", "metrics.json", "run.yaml", "manifest.json", "modeling_seq2see.py", "layers.py"} <= names
    assert not list(there.glob("checkpoint-*")) and "hf_secret" not in (there / "run.yaml").read_text("utf-8")
    load_checkpoint(there)


def test_a_push_that_fails_costs_a_line_and_not_the_run(hub, toy_file, tmp_path, capsys):
    hub.broken, hub.error = {"upload_folder"}, httpx2.ConnectError("no route to host")
    assert push(toy_file, tmp_path) == 0
    run = tmp_path / "run"
    told = [line for line in capsys.readouterr().err.splitlines() if "was not pushed" in line]
    assert len(told) == 1 and "(no route to host); it is kept here" in told[0]
    left_out = " ".join(f"--exclude '{pattern}'" for pattern in ("checkpoint-*", "ctranslate2-*", "moments/*", ".*"))
    assert told[-1].endswith(f"hf upload me/run {run} . {left_out}")
    assert (run / "metrics.json").is_file()
    load_checkpoint(run)
