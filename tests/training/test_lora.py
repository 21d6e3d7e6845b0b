"""LoRA: the adapter learns, the rest stays to the bit, and the finished model is base and adapter in one."""

import shutil
import sys
from pathlib import Path

import pytest
import torch
from peft import PeftModel
from safetensors.torch import load_file

from seq2see.errors import UserError
from seq2see.modeling.loading import load_checkpoint
from seq2see.tokenizer.tokenization_seq2see import Seq2SeeTokenizer
from seq2see.training.config import load_config
from seq2see.training.finetuning import start_from
from seq2see.training.pairs import load_corpus
from .conftest import SETTINGS, last_error, train

RANK = 3
MATRICES = {"q_proj", "k_proj", "v_proj", "out_proj", "fc1", "fc2"}
QUICK = ["training.num_train_epochs=1", "training.ema_decay=0.5", "training.learning_rate=0.02",
         "training.warmup_steps=1"]


@pytest.fixture(scope="module")
def base(tmp_path_factory, toy_file) -> Path:
    folder = tmp_path_factory.mktemp("lora") / "base"
    assert train(*QUICK, f"data.path={toy_file}", f"training.output_dir={folder}") == 0
    return folder


@pytest.fixture(scope="module")
def settings(base, toy_file) -> list[str]:
    """The base fine-tuned by an adapter, checkpoints at every third step."""
    return [*QUICK, f"model.init_from={base}", f"model.lora={RANK}", f"data.path={toy_file}", "model.dropout=0.2",
            "training.save_strategy=steps", "training.eval_strategy=steps", "training.save_steps=3",
            "training.eval_steps=3", "training.save_total_limit=9"]


@pytest.fixture(scope="module")
def run(tmp_path_factory, settings) -> Path:
    folder = tmp_path_factory.mktemp("lora") / "run"
    assert train(*settings, f"training.output_dir={folder}") == 0
    return folder


def is_matrix(name: str) -> bool:
    return name.endswith(".weight") and name.split(".")[-2] in MATRICES


def assert_is_base_and_adapter(base, run: Path) -> None:
    """The finished model computes what peft does with the two, and something else than the base."""
    torch.manual_seed(0)
    ids = torch.randint(40, 300, (3, 7))
    with torch.no_grad():
        alone, merged = (model(input_ids=ids, decoder_input_ids=ids).logits for model in (base, load_checkpoint(run)))
        adapted = PeftModel.from_pretrained(base, run / "adapter").eval()(input_ids=ids, decoder_input_ids=ids).logits
    assert not torch.allclose(alone, merged, atol=0.05)
    torch.testing.assert_close(adapted, merged, rtol=1e-4, atol=1e-5)


def test_only_what_has_an_adapter_has_changed_and_only_by_its_rank(base, run):
    """And it is twice the product of the two narrow matrices: the learning rates of recipes are for this scale."""
    before, after = load_file(base / "model.safetensors"), load_file(run / "model.safetensors")
    adapter = load_file(run / "adapter" / "adapter_model.safetensors")
    assert before.keys() == after.keys()
    assert sum(map(is_matrix, before)) == 6 + 10 == len(adapter) / 2  # of one encoder and one decoder layer
    for name, weight in after.items():
        if is_matrix(name):
            a, b = (adapter[f"base_model.model.{name.removesuffix('.weight')}.lora_{side}.weight"] for side in "AB")
            assert a.shape[0] == RANK and b.abs().max() > 1e-4
            torch.testing.assert_close(weight, before[name] + 2 * b @ a, rtol=1e-4, atol=1e-5)
        else:
            assert torch.equal(weight, before[name]), name
    assert (run / "tokenizer.json").read_bytes() == (base / "tokenizer.json").read_bytes()


def test_the_finished_model_is_base_and_adapter_in_one(base, run):
    assert_is_base_and_adapter(load_checkpoint(base), run)
    assert {item.name for item in (run / "adapter").iterdir()} == {"adapter_model.safetensors", "adapter_config.json"}


def test_a_checkpoint_says_how_to_get_a_model_from_it(run):
    with pytest.raises(UserError, match="checkpoint-3 is a checkpoint of a LoRA training.*training.resume=true"):
        load_checkpoint(run / "checkpoint-3")


@pytest.mark.long
def test_resuming_is_exact(run, settings, tmp_path):
    resumed = tmp_path / "run"
    shutil.copytree(run / "checkpoint-3", resumed / "checkpoint-3")
    assert train("training.resume=true", f"training.output_dir={resumed}", *settings) == 0
    assert (resumed / "model.safetensors").read_bytes() == (run / "model.safetensors").read_bytes()


@pytest.mark.long
def test_a_new_language_trains_its_embeddings_too(base, tmp_path):
    """The new vocabulary's rows are learnt with the adapter, saved beside it, and all else stays."""
    words = {"dog": "कुत्ता", "cat": "बिल्ली", "the": "यह", "a": "एक", "sees": "देखता", "big": "बड़ा"}
    rows = [f"{a} {b} {c}\t{words[a]} {words[b]} {words[c]}" for a in words for b in words for c in words]
    data = tmp_path / "hi.tsv"
    data.write_text("en\thi\n" + "\n".join(rows) + "\n", "utf-8")
    settings = [*QUICK, f"model.init_from={base}", f"model.lora={RANK}", f"data.path={data}", "data.target=hi",
                "tokenizer.vocab_size=500"]
    assert train(*settings, f"training.output_dir={tmp_path / 'run'}") == 0
    config = load_config("finetune", [*SETTINGS, *settings])
    tokenizer, start = start_from(config, load_corpus(config.data))
    before, after = start.state_dict(), load_checkpoint(tmp_path / "run").state_dict()
    for name in before:
        if not (is_matrix(name) or "shared" in name or "embed_tokens" in name or "lm_head" in name):
            assert torch.equal(after[name], before[name]), name
    assert len(Seq2SeeTokenizer.from_pretrained(tmp_path / "run")) == len(tokenizer)
    token = tokenizer.encode_target("कुत्ता", language="hi")[1]
    moved = (after["model.shared.weight"] - before["model.shared.weight"]).abs().amax(1)
    assert moved[token] > 1e-3 and moved[tokenizer.tag_id("hi")] > 1e-3
    assert_is_base_and_adapter(start.eval(), tmp_path / "run")


@pytest.mark.parametrize(("overrides", "code", "message"), [
    (["model.lora=4"], 2, "model.init_from=FOLDER"),
    (["model.lora=4", "model.init_from=BASE"], 1, "pip install 'seq2see[lora]'"),
])
def test_bad_use_is_one_line(base, toy_file, tmp_path, capsys, monkeypatch, overrides, code, message):
    if "pip" in message:
        monkeypatch.setitem(sys.modules, "peft", None)
    overrides = [item.replace("BASE", str(base)) for item in overrides]
    assert train(*overrides, f"data.path={toy_file}", f"training.output_dir={tmp_path / 'run'}") == code
    assert message in last_error(capsys) and not (tmp_path / "run").exists()
