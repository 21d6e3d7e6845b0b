"""Saving and loading: equal logits with and without the package, tied weights once, and a door that refuses."""

import json
import math
import os
import pickle
import re
import shutil
import subprocess
import sys

import pytest
import torch
from safetensors.torch import load_file, save_file
from transformers import AutoModelForSeq2SeqLM

from seq2see import Seq2SeeForConditionalGeneration, load_checkpoint
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


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_weights_stored_in_half_precision_are_loaded_in_float32_and_ready_to_use(tmp_path, dtype):
    """A network that was saved while it trained, too, drops nothing when it is loaded."""
    make_model(dropout=0.5).to(dtype).train().save_pretrained(tmp_path)
    stored = load_file(tmp_path / "model.safetensors")
    assert {weight.dtype for weight in stored.values()} == {dtype}
    loaded, plain = load_checkpoint(tmp_path), make_model(seed=1)
    assert {weight.dtype for weight in loaded.parameters()} == {torch.float32}
    plain.load_state_dict(stored, strict=False)  # which copies numbers and keeps float32
    torch.testing.assert_close(loaded(**make_batch()).logits, plain(**make_batch()).logits)


STRANGER = """
import sys
sys.modules["seq2see"] = None  # importing it now raises ImportError
import torch
from transformers import AutoModelForSeq2SeqLM
folder = sys.argv[1]
model = AutoModelForSeq2SeqLM.from_pretrained(folder, trust_remote_code=True, attn_implementation="eager")
assert type(model).__module__.startswith("transformers_modules"), type(model).__module__
inputs = torch.load(sys.argv[2])
assert torch.equal(model(**inputs).logits, torch.load(sys.argv[3]))
ids = model.generate(inputs["input_ids"], attention_mask=inputs["attention_mask"], max_new_tokens=5, num_beams=2)
assert (ids[:, 1] == 9).all() and ids.shape[0] == 3
assert model.generate(torch.tensor([[2]])).tolist() == [[1, 9, 2]], "an empty source"
model.save_pretrained(sys.argv[4])
print("a stranger loaded it")
"""


def test_a_stranger_without_the_package_gets_equal_logits_and_translations(saved, tmp_path):
    torch.save(make_batch(), tmp_path / "inputs.pt")
    again = tmp_path / "again"
    environment = os.environ | {"HF_MODULES_CACHE": str(tmp_path / "modules"), "HF_HUB_OFFLINE": "1"}
    command = [sys.executable, "-c", STRANGER, saved, tmp_path / "inputs.pt", saved.parent / "logits.pt", again]
    run = subprocess.run(command, capture_output=True, text=True, env=environment, cwd=tmp_path)
    assert run.stdout.strip() == "a stranger loaded it", run.stderr
    # What the stranger saves again is as complete as what was loaded.
    assert {file.name for file in again.iterdir()} >= {file.name for file in saved.iterdir()}


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
    (lambda f: _edit_weights(f, lambda w: w.update(extra=torch.zeros(1))), "do not belong to this model: extra"),
    (lambda f: _edit_weights(f, lambda w: w[NAME].fill_(math.nan)), f"infinity or numbers beyond 1e+12: {NAME}"),
    (lambda f: _edit_weights(f, lambda w: w[NAME][0].fill_(-3e38)), f"beyond 1e+12: {NAME}"),
    (lambda f: os.truncate(f / "model.safetensors", 20_000), "possibly incomplete"),
    (lambda f: (f / "model.safetensors").unlink(), "has no model.safetensors"),
    (lambda f: [file.unlink() for file in f.iterdir()], "has no config.json"),
    (lambda f: _edit_config(f, model_type=None), "config.json"),
    (lambda f: _edit_config(f, encoder_attention_heads=3), "d_model 16 is not a multiple of encoder_attention_heads 3"),
    (lambda f: _edit_config(f, d_model=8_192, vocab_size=2**20), "wrong shape: model.decoder.layer_norm.bias"),
    (lambda f: _edit_config(f, encoder_layers=256), "config.json describes a model of 4,"),
]  # fmt: skip


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
    with pytest.raises(UserError, match="has no model.safetensors"):
        load_checkpoint(folder)
    assert not sentinel.exists()


ASKED = """
import sys
from seq2see import Translator, load_checkpoint
from seq2see.errors import UserError
for load in (load_checkpoint, lambda folder: Translator.from_pretrained(folder, engine="torch").model):
    try:
        load(sys.argv[1])
    except UserError as error:
        print("refused:", error)
"""


def test_code_of_a_folder_is_neither_run_nor_asked_about(saved, tmp_path):
    """Neither the model's configuration nor the tokenizer's may ask for it; saying yes has no effect."""
    folder, sentinel = tmp_path / "evil", tmp_path / "sentinel"
    shutil.copytree(saved, folder)
    (folder / "evil.py").write_text(f"import os; os.mkdir({str(sentinel)!r})")
    auto_map = {"AutoConfig": "evil.C", "AutoModelForSeq2SeqLM": "evil.M", "AutoTokenizer": ["evil.T", None]}
    _edit_config(folder, model_type="evil", auto_map=auto_map, trust_remote_code=True)
    (folder / "tokenizer_config.json").write_text(json.dumps({"tokenizer_class": "T", "auto_map": auto_map}))
    run = subprocess.run(
        [sys.executable, "-c", ASKED, folder], input="y\ny\ny\ny\n", capture_output=True, text=True, cwd=tmp_path,
        env=os.environ | {"HF_MODULES_CACHE": str(tmp_path / "modules"), "HF_HUB_OFFLINE": "1"},
    )  # fmt: skip
    assert run.returncode == 0 and run.stdout.count("refused:") == 2 and "[y/N]" not in run.stdout + run.stderr
    assert not sentinel.exists()


def test_the_attention_is_not_chosen_by_a_file(saved, tmp_path):
    shutil.copytree(saved, tmp_path / "evil")
    evil = {"attn_implementation": "evil/kernel", "_attn_implementation": "evil/kernel"}
    _edit_config(tmp_path / "evil", **evil, _attn_implementation_internal="evil/kernel")
    assert load_checkpoint(tmp_path / "evil").config._attn_implementation == "sdpa"


@pytest.mark.parametrize("name, recipe", [("runs/multi30k-en-de", "multi30k-en-de"), ("runs/typo", "storybook")])
def test_a_run_that_was_not_made_is_never_looked_for_on_the_hub(name, recipe, tmp_path, monkeypatch):
    """And the message names the command that makes it."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("huggingface_hub.snapshot_download", lambda *_, **__: pytest.fail("asked the Hub"))
    with pytest.raises(UserError, match=rf"there is no folder {name}; .* seq2see train {recipe}$"):
        load_checkpoint(name)
