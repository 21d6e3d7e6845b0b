"""A model as the Hub has OPUS-MT's is refused with the command that converts it, and then is used like any other."""

import os
import pickle
import shlex

import pytest
import tiny
import torch
from safetensors import safe_open

from seq2see import Translator
from seq2see.cli.command import main
from seq2see.errors import UserError

TEXT = tiny.SENTENCES[0]


@pytest.fixture
def model(tmp_path):
    (tmp_path / "opus-mt-en-fr").mkdir()
    return tiny.opus_mt(tmp_path / "opus-mt-en-fr")


def convert(folder, out):
    return main(["export", str(folder), "--format", "safetensors", "--out", str(out)])


def test_the_error_names_the_command_and_then_the_model_works(model, tmp_path, monkeypatch, capsys):
    with pytest.raises(UserError, match="has no model.safetensors") as refused:
        Translator.from_pretrained(model)
    _, _, command = str(refused.value).partition(": seq2see ")
    monkeypatch.chdir(tmp_path)
    assert main(shlex.split(command)) == 0 and capsys.readouterr().out == "NEW_FOLDER\n"
    state = torch.load(model / "pytorch_model.bin", weights_only=True)
    for engine in ("torch", "ctranslate2"):
        translator = Translator.from_pretrained("NEW_FOLDER", engine=engine)
        [trace] = translator.look(translator(TEXT))
        assert trace.maps("cross").shape[:2] == (3, 2)
        assert translator.model.generation_config.num_beams == 2 and translator.language_pairs == [("en", "fr")]
    loaded = translator.model.state_dict()
    assert all(torch.equal(loaded[name], tensor) for name, tensor in state.items())


def test_a_tied_matrix_is_stored_once(model, tmp_path):
    assert convert(model, tmp_path / "new") == 0
    with safe_open(tmp_path / "new" / "model.safetensors", "pt") as file:
        assert sum(file.get_slice(name).get_shape()[0] > 40 for name in file.keys() if "embed_tokens" in name) <= 1  # noqa: SIM118


def test_a_model_with_safetensors_needs_no_conversion(model, tmp_path, capsys):
    assert convert(model, tmp_path / "new") == 0
    assert convert(tmp_path / "new", tmp_path / "again") == 1
    assert "it has safetensors already: use it as it is" in capsys.readouterr().err
    assert not (tmp_path / "again").exists()


def test_a_download_is_named_by_its_hub_id(model, tmp_path, monkeypatch, capsys):
    snapshot = tmp_path / "models--org--opus-mt" / "snapshots" / "0123"
    asked = []

    def download(name, *, allow_patterns, **more):
        asked.append(allow_patterns)
        snapshot.parent.mkdir(parents=True, exist_ok=True)
        return model.rename(snapshot) if not snapshot.exists() else snapshot

    monkeypatch.setattr("huggingface_hub.snapshot_download", download)
    assert main(["look", "org/opus-mt", TEXT]) == 1
    assert "seq2see export org/opus-mt --format safetensors" in capsys.readouterr().err
    assert convert("org/opus-mt", tmp_path / "new") == 0
    assert ["pytorch_model.bin" in patterns for patterns in asked] == [False, True]


class Evil:
    def __reduce__(self):
        return os.mkdir, ("sentinel",)


@pytest.mark.parametrize(("spoil", "said"), [
    (lambda file: file.write_bytes(pickle.dumps({"a": Evil()})), "pytorch_model.bin cannot be read as weights alone"),
    (lambda file: os.truncate(file, 1_000), "pytorch_model.bin cannot be read as weights alone"),
    (lambda file: torch.save({}, file), "opus-mt-en-fr/config.json describes a model of"),
    (lambda file: torch.save({"a": 1}, file), "pytorch_model.bin cannot be read as weights alone"),
    (lambda file: file.unlink(), "has no pytorch_model.bin"),
])  # fmt: skip
def test_invalid_weights_run_no_code_and_leave_nothing(model, tmp_path, monkeypatch, capsys, spoil, said):
    monkeypatch.chdir(tmp_path)
    spoil(model / "pytorch_model.bin")
    assert convert(model, "new") == 1
    error = capsys.readouterr().err
    assert said in error and error.count("\n") == 1
    assert [path.name for path in tmp_path.iterdir()] == ["opus-mt-en-fr"]
