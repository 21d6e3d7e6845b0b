"""`training.push_to_hub`: refused at once where it cannot work, whole where it does, and never the end of a run."""

import shutil
from fnmatch import fnmatch
from pathlib import Path
from types import SimpleNamespace

import httpx2
import pytest
import yaml
from huggingface_hub.errors import HfHubHTTPError, LocalTokenNotFoundError

from seq2see.cli.command import main
from seq2see.modeling.loading import load_checkpoint

SETTINGS = [
    "--no-measures",
    "tokenizer.vocab_size=400", "model.d_model=16", "model.encoder_layers=1", "model.decoder_layers=1",
    "model.encoder_ffn_dim=32", "model.decoder_ffn_dim=32", "training.max_tokens=300", "training.num_train_epochs=2",
    "training.use_cpu=true", "training.ema_decay=0.9", "evaluation.eval_samples=10", "evaluation.max_length=20",
    "evaluation.num_beams=1", "data.val_fraction=0.1", "training.push_to_hub=true", "training.hub_token=hf_secret",
]  # fmt: skip


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


def train(toy_file, tmp_path, *overrides) -> int:
    return main(["train", "finetune", *SETTINGS, f"data.path={toy_file}", f"training.output_dir={tmp_path / 'run'}",
                 *overrides])  # fmt: skip


UNKNOWN = httpx2.Response(401, request=httpx2.Request("GET", "https://huggingface.co"))
REFUSED = HfHubHTTPError("401 Client Error: Unauthorized", response=UNKNOWN)
CODE = {f"{name}.py" for name in ("attention", "configuration_seq2see", "layers", "modeling_seq2see", "positions")}


@pytest.mark.parametrize("error", [
    httpx2.ConnectError("[Errno -3] Temporary failure in name resolution"), LocalTokenNotFoundError("no token found"),
    ConnectionError("offline mode is enabled"), REFUSED,
], ids=lambda error: type(error).__name__)  # fmt: skip
def test_a_hub_that_cannot_be_reached_is_one_line_before_anything_is_prepared(hub, toy_file, tmp_path, capsys, error):
    hub.broken, hub.error = {"whoami"}, error
    assert train(toy_file, tmp_path) == 1
    *_, line = capsys.readouterr().err.splitlines()
    assert line.startswith(f"seq2see: error: training.push_to_hub: the Hub does not take this run ({error})")
    assert "hf auth login" in line and not (tmp_path / "run").exists()


def test_offline_is_told_by_the_library_itself(toy_file, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    assert train(toy_file, tmp_path) == 1
    assert "the Hub does not take this run (Cannot reach " in capsys.readouterr().err.splitlines()[-1]


def test_what_is_pushed_is_the_finished_run_with_its_code(hub, toy_file, tmp_path):
    """The token stays here."""
    assert train(toy_file, tmp_path) == 0
    there = hub.folder / "me" / "run"
    names = {item.name for item in there.iterdir()}
    assert {"README.md", "metrics.json", "run.yaml", "manifest.json", "model.safetensors", *CODE} <= names
    assert not list(there.glob("checkpoint-*")) and "hf_secret" not in (there / "run.yaml").read_text("utf-8")
    assert yaml.safe_load((there / "run.yaml").read_text("utf-8"))["training"]["push_to_hub"] is True
    load_checkpoint(there)


def test_a_push_that_fails_costs_a_line_and_not_the_run(hub, toy_file, tmp_path, capsys):
    hub.broken, hub.error = {"upload_folder"}, httpx2.ConnectError("no route to host")
    assert train(toy_file, tmp_path) == 0
    run = tmp_path / "run"
    told = [line for line in capsys.readouterr().err.splitlines() if "was not pushed" in line]
    assert len(told) == 1 and "(no route to host), and is kept here" in told[0]
    assert told[-1].endswith(f"hf upload me/run {run} . --exclude 'checkpoint-*' --exclude 'moments/*' --exclude '.*'")
    assert (run / "metrics.json").is_file()
    load_checkpoint(run)
