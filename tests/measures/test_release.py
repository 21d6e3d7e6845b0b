"""What a run becomes in the package: rounded, without this machine's paths, and the same bytes each time."""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from releasing import COMMIT, released
from safetensors.torch import load_file, save_file
from tiny import calibrate_by_hand

from seq2see import Translator, load_checkpoint
from seq2see.errors import UserError
from seq2see.json_files import read_json
from seq2see.lens import Calibrator
from seq2see.lens.heads.alignment_choice import naive_choice
from seq2see.manifest import check_manifest
from seq2see.measures import release as module
from seq2see.measures.release import commit_of, release
from seq2see.training.config import load_record
from seq2see.training.curve import draw_curve
from seq2see.translate.loaded_checkpoint import fingerprint

pytest.importorskip("ctranslate2")


@pytest.fixture(scope="module")
def run(finished_run, tmp_path_factory) -> Path:
    """A finished run with a measurement."""
    run = Path(shutil.copytree(finished_run, tmp_path_factory.mktemp("measured") / "run"))
    record = (run / "run.yaml").read_text("utf-8")
    (run / "run.yaml").write_text(record.replace("name: everyday", "name: third"), "utf-8")
    naive_choice(1, 2).save(run / "alignment.json")
    calibrate_by_hand(run, "fr", Calibrator(0.1, 0.7))
    text = (run / "alignment.json").read_text("utf-8")
    (run / "alignment.json").write_text(text.replace('"fingerprint": ""', f'"fingerprint": "{fingerprint(run)}"'))
    return run


@pytest.fixture(scope="module")
def model(run, tmp_path_factory) -> Path:
    return released(run, tmp_path_factory.mktemp("home"), "everyday") / "everyday"


def contents(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_it_holds_what_is_needed_to_use_it_and_nothing_else(model):
    [export] = model.glob("ctranslate2-int8-*")
    assert {path.name for path in model.iterdir()} == {
        "model.safetensors", "config.json", "generation_config.json", "tokenizer.json", "tokenizer_config.json",
        "seen_words.json", "run.yaml", "metrics.json", "README.md", "curve.png", "alignment.json", "examples.json",
        "calibration.json", "reliability.png", "manifest.json", export.name,
    }
    for folder in (model, export):
        check_manifest(folder)
    modes = {path.stat().st_mode & 0o666 for path in model.rglob("*")}
    assert modes == {model.stat().st_mode & 0o666}, "whoever may read the folder may read all of it"


def test_its_curve_has_its_own_name_and_not_the_runs(run, model, tmp_path):
    training, record = read_json(model / "metrics.json")["training"], load_record(run / "run.yaml")
    drawn = {}
    for name in ("everyday", record.name):
        draw_curve(tmp_path / name, training, name=name, label_smoothing=record.training["label_smoothing_factor"])
        drawn[name] = (tmp_path / name).read_bytes()
    assert drawn["everyday"] == (model / "curve.png").read_bytes() != drawn["third"]


@pytest.mark.long
def test_the_same_run_makes_the_same_bytes(run, model, tmp_path):
    again = release(run, "everyday", commit=COMMIT, home=tmp_path)
    assert contents(again) == contents(model)
    assert [path.name for path in tmp_path.iterdir()] == ["everyday"]


def test_its_weights_are_the_runs_rounded_and_load_as_float32(run, model):
    trained, kept = load_file(run / "model.safetensors"), load_file(model / "model.safetensors")
    assert {name: weight.half() for name, weight in trained.items()}.keys() == kept.keys()
    assert all(torch.equal(trained[name].half(), kept[name]) for name in kept)
    assert any(not torch.equal(trained[name], kept[name].float()) for name in kept)
    config = json.loads((model / "config.json").read_text())
    assert config["dtype"] == "float32" and "auto_map" not in config
    loaded = load_checkpoint(model).state_dict()
    assert {weight.dtype for weight in loaded.values()} == {torch.float32}
    assert all(torch.equal(loaded[name], kept[name].float()) for name in kept)


def test_it_names_data_by_their_names_and_no_path_of_this_machine(run, finished_run, model):
    for name, content in contents(model).items():
        for path in (finished_run.parent, run.parent):
            assert f"{path}/".encode() not in content, name
    assert f"{finished_run.parent}/" in (run / "run.yaml").read_text()
    record = (model / "run.yaml").read_text()
    assert "path: pairs.jsonl" in record and "output_dir: run\n" in record


def test_it_says_what_it_was_made_from(run, model):
    metrics, before = (json.loads((folder / "metrics.json").read_text()) for folder in (model, run))
    told = metrics.pop("release")
    assert told.pop("rounding") == pytest.approx(0, abs=module.MOST_CHANGE)
    assert told == {"version": module.__version__, "commit": COMMIT, "seed": 0}
    assert metrics["evaluation"] == before["evaluation"]
    card = (model / "README.md").read_text()
    assert COMMIT in card and 'from_pretrained(\'everyday\')' in card and "trust_remote_code" not in card
    assert card.count("](reliability.png)") == 1 and "| fr | 10 | 10.00% (5.00% to 20.00%) |" in card


def test_what_was_measured_of_the_run_is_of_the_rounded_weights_too(run, model):
    assert fingerprint(run) != fingerprint(model)
    assert Translator.from_pretrained(model).alignment.fingerprint == fingerprint(model)


@pytest.fixture
def copy(run, tmp_path) -> Path:
    folder = Path(shutil.copytree(run, tmp_path / "copy"))
    (folder / "manifest.json").unlink()
    return folder


def test_what_was_measured_of_other_weights_is_refused(copy, tmp_path):
    (copy / "trust.json").write_text(json.dumps({"weights": "0" * 16}))
    with pytest.raises(UserError, match=r"trust\.json was measured with other weights; repeat the measurement, or"):
        release(copy, "everyday", commit=COMMIT, home=tmp_path)


def test_a_run_that_is_not_finished_is_refused(copy, monkeypatch, capsys):
    (copy / "metrics.json").unlink()
    monkeypatch.setattr(sys, "argv", ["release", str(copy), "everyday", "--allow-dirty"])
    assert module.main() == 1
    assert re.fullmatch(r"error: \S+/copy is not a finished run: .*\n", capsys.readouterr().err)


def test_weights_too_large_for_float16_are_refused(copy, tmp_path):
    weights = load_file(copy / "model.safetensors")
    weights["model.encoder.layers.0.fc1.weight"][0, 0] = 70_000.0
    save_file(weights, copy / "model.safetensors", {"format": "pt"})
    with pytest.raises(UserError, match=r"fc1\.weight has numbers too large for float16"):
        release(copy, "everyday", commit=COMMIT, home=tmp_path)


@pytest.mark.few(1)
@pytest.mark.parametrize(("limit", "value", "said"), [
    ("MOST_BYTES", 1000, r"export of everyday would have [\d,]+ bytes; expected at most 1,000"),
    ("MOST_CHANGE", 1e-9, r"float16 changes the log-probability of a translation by [\d.]+; expected at most 1e-09"),
])
def test_what_is_beyond_a_limit_is_refused_and_what_was_there_stays(run, model, limit, value, said, monkeypatch):
    before = contents(model.parent)
    monkeypatch.setattr(module, limit, value)
    with pytest.raises(UserError, match=said):
        release(run, "everyday", commit=COMMIT, home=model.parent)
    assert contents(model.parent) == before


def test_only_what_is_committed_is_released(tmp_path):
    def git(*arguments: str) -> str:
        identity = ("-c", "user.name=a", "-c", "user.email=a@example.org")
        command = ["git", "-C", str(tmp_path), *identity, *arguments]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()

    with pytest.raises(UserError, match="is not a git checkout"):
        commit_of(tmp_path, allow_dirty=True)
    git("init")
    (tmp_path / "code.py").write_text("1")
    git("add", ".")
    git("commit", "-m", "one")
    head = git("rev-parse", "HEAD")
    models = tmp_path / "seq2see" / "pretrained"
    (models / "everyday").mkdir(parents=True)
    (models / "everyday" / "config.json").write_text("{}")
    assert commit_of(tmp_path, allow_dirty=False) == head, "a model that was just released is no change"
    (models / "__init__.py").write_text("")
    with pytest.raises(UserError, match=r"uncommitted changes \(\?\? seq2see/.*--allow-dirty"):
        commit_of(tmp_path, allow_dirty=False)
    assert commit_of(tmp_path, allow_dirty=True) == f"{head}, with changes"
