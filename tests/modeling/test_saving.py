"""Saving and loading: equal logits with and without the package, tied weights once, and what is refused."""

import json
import math
import os
import pickle
import re
import shutil

import pytest
import torch
from safetensors.torch import load_file, save_file
from transformers import AutoModelForSeq2SeqLM

from seq2see import Seq2SeeForConditionalGeneration, Translator, load_checkpoint
from seq2see.errors import UserError
from .conftest import make_batch, make_model


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    folder = tmp_path_factory.mktemp("saved")
    model = make_model()
    model.generation_config.forced_bos_token_id = 9
    model.save_pretrained(folder)
    torch.save(model(**make_batch()).logits, folder.parent / "logits.pt")
    return folder


def test_embeddings_are_saved_once_and_the_sinusoids_not_at_all(saved):
    names = load_file(saved / "model.safetensors").keys()
    assert [name for name in names if re.search("embed|shared|lm_head|table", name)] == ["model.shared.weight"]


@pytest.mark.parametrize("kind", [Seq2SeeForConditionalGeneration, AutoModelForSeq2SeqLM])
def test_loading_gives_equal_logits(saved, kind):
    model = kind.from_pretrained(saved, attn_implementation="eager")
    assert torch.equal(model(**make_batch()).logits, torch.load(saved.parent / "logits.pt"))
    assert model.generation_config.forced_bos_token_id == 9


def test_weights_stored_in_half_precision_are_loaded_in_float32_and_ready_to_use(tmp_path):
    """A network that was saved while it trained, too, drops nothing when it is loaded."""
    make_model(dropout=0.5).half().train().save_pretrained(tmp_path)
    stored = load_file(tmp_path / "model.safetensors")
    assert {weight.dtype for weight in stored.values()} == {torch.float16}
    loaded, plain = load_checkpoint(tmp_path), make_model(seed=1)
    assert {weight.dtype for weight in loaded.parameters()} == {torch.float32}
    plain.load_state_dict(stored, strict=False)  # which copies numbers and keeps float32
    torch.testing.assert_close(loaded(**make_batch()).logits, plain(**make_batch()).logits)


def _edit_weights(folder, change):
    weights = load_file(folder / "model.safetensors")
    change(weights)
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})


def _edit_config(folder, **values):
    path = folder / "config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | values))


NAME = "model.decoder.layers.1.fc1.weight"
DAMAGES = [
    (lambda f: _edit_weights(f, lambda w: w.pop(NAME)), f"tensors are missing: {NAME}"),
    (lambda f: _edit_weights(f, lambda w: w.update({NAME: torch.zeros(3, 3)})),
     f"wrong shape: {NAME} (expected [24, 16], got [3, 3])"),
    (lambda f: _edit_weights(f, lambda w: w[NAME].fill_(math.nan)), f"infinity or numbers beyond 1e+12: {NAME}"),
    (lambda f: _edit_weights(f, lambda w: w[NAME][0].fill_(-3e38)), f"beyond 1e+12: {NAME}"),
    (lambda f: os.truncate(f / "model.safetensors", 20_000), "possibly incomplete"),
    (lambda f: (f / "model.safetensors").unlink(), "has no weights: expected model.safetensors"),
    (lambda f: _edit_config(f, encoder_ffn_dim=24 * 2), "wrong shape: model.encoder.layers.0.fc1"),
    (lambda f: _edit_config(f, encoder_layers=256), "tensors are missing: model.encoder.layers.1"),
]


@pytest.mark.few(3)
@pytest.mark.parametrize(("damage", "message"), DAMAGES)
def test_a_damaged_checkpoint_is_refused_in_one_line(saved, tmp_path, damage, message):
    folder = shutil.copytree(saved, tmp_path / "damaged")
    damage(folder)
    with pytest.raises(UserError) as raised:
        load_checkpoint(folder)
    assert message in str(raised.value)
    assert "\n" not in str(raised.value) and str(folder) in str(raised.value)


class Evil:
    """Whoever unpickles it makes a file."""

    def __init__(self, path):
        self.path = str(path)

    def __reduce__(self):
        return os.mkdir, (self.path,)


def test_nothing_is_unpickled(saved, tmp_path):
    folder, sentinel = tmp_path / "evil", tmp_path / "sentinel"
    shutil.copytree(saved, folder)
    for name in ("pytorch_model.bin", "model.pt", "optimizer.pt", "scheduler.pt", "rng_state.pth", "training_args.bin"):
        (folder / name).write_bytes(pickle.dumps(Evil(sentinel)))
    load_checkpoint(folder)
    (folder / "model.safetensors").unlink()
    with pytest.raises(UserError, match="cannot be loaded from pytorch_model.bin"):
        load_checkpoint(folder)
    assert not sentinel.exists()


def test_code_of_a_folder_is_neither_run_nor_asked_about(saved, tmp_path, monkeypatch, own_modules):
    """Neither the model's configuration nor the tokenizer's may ask for it."""
    folder, sentinel = tmp_path / "evil", tmp_path / "sentinel"
    shutil.copytree(saved, folder)
    (folder / "evil.py").write_text(f"import os; os.mkdir({str(sentinel)!r})")
    auto_map = {"AutoConfig": "evil.C", "AutoModelForSeq2SeqLM": "evil.M", "AutoTokenizer": ["evil.T", None]}
    _edit_config(folder, model_type="evil", auto_map=auto_map, trust_remote_code=True)
    (folder / "tokenizer_config.json").write_text(json.dumps({"tokenizer_class": "T", "auto_map": auto_map}))
    monkeypatch.setattr("builtins.input", lambda *_: pytest.fail("asked whether to run the code"))
    for load in (load_checkpoint, lambda folder: Translator.from_pretrained(folder, engine="torch").model):
        with pytest.raises(UserError):
            load(folder)
    assert not sentinel.exists()


def test_the_attention_is_not_chosen_by_a_file(saved, tmp_path):
    shutil.copytree(saved, tmp_path / "evil")
    evil = {"attn_implementation": "evil/kernel", "_attn_implementation": "evil/kernel"}
    _edit_config(tmp_path / "evil", **evil, _attn_implementation_internal="evil/kernel")
    assert load_checkpoint(tmp_path / "evil").config._attn_implementation == "sdpa"


def test_a_run_that_was_not_made_is_never_looked_for_on_the_hub(tmp_path, monkeypatch):
    """And the message names the command that makes it."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("huggingface_hub.snapshot_download", lambda *_, **__: pytest.fail("asked the Hub"))
    with pytest.raises(UserError, match="there is no folder runs/multi30k-en-de; .* seq2see train multi30k-en-de$"):
        load_checkpoint("runs/multi30k-en-de")
