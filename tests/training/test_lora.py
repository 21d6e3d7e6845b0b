"""LoRA: the adapter learns, the rest stays to the bit, and the finished model is base and adapter in one."""

import shutil
import sys
from pathlib import Path

import pytest
import torch
from peft import PeftModel
from safetensors.torch import load_file

from seq2see.cli.command import main
from seq2see.modeling.loading import load_checkpoint
from seq2see.tokenizer.tokenization_seq2see import Seq2SeeTokenizer
from seq2see.training.config import load_config
from seq2see.training.corpora import load_corpus
from seq2see.training.finetuning import start_from
from seq2see.training.lora import MATRICES

RANK = 3
NEW = [  # what a model that is fine-tuned has already
    "tokenizer.vocab_size=400", "model.d_model=16", "model.encoder_layers=1", "model.decoder_layers=1",
    "model.encoder_ffn_dim=32", "model.decoder_ffn_dim=32",
]  # fmt: skip
SETTINGS = [
    "training.max_tokens=300", "training.num_train_epochs=1",
    "training.use_cpu=true", "training.ema_decay=0.5", "training.learning_rate=0.02", "training.warmup_steps=1",
    "evaluation.eval_samples=10", "evaluation.max_length=20", "evaluation.num_beams=1", "data.val_fraction=0.1",
]  # fmt: skip


def train(*overrides: str) -> int:
    new = not any(item.startswith("model.init_from=") for item in overrides)
    return main(["train", "finetune", "--no-measures", *(NEW if new else ()), *SETTINGS, *overrides])


@pytest.fixture(scope="module")
def base(tmp_path_factory, toy_file) -> Path:
    folder = tmp_path_factory.mktemp("lora") / "base"
    assert train(f"data.path={toy_file}", f"training.output_dir={folder}") == 0
    return folder


@pytest.fixture(scope="module")
def run(tmp_path_factory, base, toy_file) -> Path:
    """The base fine-tuned by an adapter, checkpoints at every third step."""
    folder = tmp_path_factory.mktemp("lora") / "run"
    steps = ["training.save_strategy=steps", "training.eval_strategy=steps", "training.save_steps=3",
             "training.eval_steps=3", "training.save_total_limit=9", "model.dropout=0.2"]  # fmt: skip
    assert train(f"model.init_from={base}", f"model.lora={RANK}", f"data.path={toy_file}", *steps,
                 f"training.output_dir={folder}") == 0  # fmt: skip
    return folder


def is_matrix(name: str) -> bool:
    return name.endswith(".weight") and name.split(".")[-2] in MATRICES


def logits(model) -> torch.Tensor:
    torch.manual_seed(0)
    ids = torch.randint(40, 300, (3, 7))
    with torch.no_grad():
        return model(input_ids=ids, decoder_input_ids=ids).logits


def test_only_what_has_an_adapter_has_changed_and_only_by_its_rank(base, run):
    before, after = load_file(base / "model.safetensors"), load_file(run / "model.safetensors")
    assert before.keys() == after.keys()
    assert sum(map(is_matrix, before)) == 6 + 10  # of one encoder and one decoder layer
    for name, weight in after.items():
        if is_matrix(name):
            values = torch.linalg.svdvals((weight - before[name]).double())
            assert values[RANK - 1] > 1e-4 and values[RANK:].max() < 1e-6 * values[0], name
        else:
            assert torch.equal(weight, before[name]), name
    assert (run / "tokenizer.json").read_bytes() == (base / "tokenizer.json").read_bytes()


def test_what_is_added_is_twice_the_product_of_the_two_narrow_matrices(base, run):
    """Also where the merged model and peft would agree on another scale: the learning rates of recipes are for this."""
    before, after = load_file(base / "model.safetensors"), load_file(run / "model.safetensors")
    adapter = load_file(run / "adapter" / "adapter_model.safetensors")
    for name in filter(is_matrix, before):
        a, b = (adapter[f"base_model.model.{name.removesuffix('.weight')}.lora_{side}.weight"] for side in "AB")
        torch.testing.assert_close(after[name], before[name] + 2 * b @ a, rtol=1e-4, atol=1e-5)


def test_the_finished_model_is_base_and_adapter_in_one(base, run):
    alone, merged = load_checkpoint(base), load_checkpoint(run)
    assert not torch.allclose(logits(alone), logits(merged), atol=0.05)
    adapted = PeftModel.from_pretrained(alone, run / "adapter").eval()
    torch.testing.assert_close(logits(adapted), logits(merged), rtol=1e-4, atol=1e-5)
    assert len({item.stat().st_mode for item in [*run.glob("*.*"), *run.glob("adapter/*")] if item.is_file()}) == 1
    saved = load_file(run / "adapter" / "adapter_model.safetensors")
    assert len(saved) == 2 * 16 and all("lora_" in name for name in saved)
    assert {item.name for item in (run / "adapter").iterdir()} == {"adapter_model.safetensors", "adapter_config.json"}


def test_resuming_is_exact(base, run, toy_file, tmp_path):
    resumed = tmp_path / "run"
    resumed.mkdir()
    shutil.copytree(run / "checkpoint-3", resumed / "checkpoint-3")
    shutil.copytree(run / "adapter", resumed / "adapter")  # of an earlier end, to be written over
    assert train("training.resume=true", f"training.output_dir={resumed}", *settings_of(run)) == 0
    assert (resumed / "model.safetensors").read_bytes() == (run / "model.safetensors").read_bytes()
    assert load_file(resumed / "adapter" / "adapter_model.safetensors").keys()


def settings_of(run: Path) -> list[str]:
    config = load_config(str(run / "run.yaml"))
    kept = ["save_strategy", "eval_strategy", "save_steps", "eval_steps", "save_total_limit"]
    return [f"model.init_from={config.model.init_from}", f"model.lora={RANK}", f"data.path={config.data.path}",
            f"model.dropout={config.model.dropout}", *(f"training.{key}={config.training[key]}" for key in kept)]


def test_a_new_language_trains_its_embeddings_too(base, tmp_path):
    """The new vocabulary's rows are learnt with the adapter, saved beside it, and all else stays."""
    words = {"dog": "कुत्ता", "cat": "बिल्ली", "the": "यह", "a": "एक", "sees": "देखता", "big": "बड़ा"}
    rows = [f"{a} {b} {c}\t{words[a]} {words[b]} {words[c]}" for a in words for b in words for c in words]
    data = tmp_path / "hi.tsv"
    data.write_text("en\thi\n" + "\n".join(rows) + "\n", "utf-8")
    settings = [f"model.init_from={base}", f"model.lora={RANK}", f"data.path={data}", "data.target=hi",
                "tokenizer.vocab_size=500"]  # fmt: skip
    assert train(*settings, f"training.output_dir={tmp_path / 'run'}") == 0
    config = load_config("finetune", [*SETTINGS, *settings])
    tokenizer, start = start_from(config, load_corpus(config.data))
    before, merged = start.state_dict(), load_checkpoint(tmp_path / "run")
    after = merged.state_dict()
    for name in before:
        if not (is_matrix(name) or "shared" in name or "embed_tokens" in name or "lm_head" in name):
            assert torch.equal(after[name], before[name]), name
    assert len(Seq2SeeTokenizer.from_pretrained(tmp_path / "run")) == len(tokenizer)
    piece = tokenizer.encode_target("कुत्ता", language="hi")[1]
    moved = (after["model.shared.weight"] - before["model.shared.weight"]).abs().amax(1)
    assert moved[piece] > 1e-3 and moved[tokenizer.tag_id("hi")] > 1e-3
    assert not torch.allclose(logits(start.eval()), logits(merged), atol=0.05)
    adapted = PeftModel.from_pretrained(start, tmp_path / "run" / "adapter").eval()
    torch.testing.assert_close(logits(adapted), logits(merged), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(
    ("overrides", "code", "message"),
    [
        (["model.lora=4"], 2, "model.init_from=FOLDER"),
        (["model.lora=0", "model.init_from=BASE"], 2, "model.lora is 0, expected at least 1"),
        (["model.lora=17", "model.init_from=BASE"], 1, "model.lora is 17, expected a rank of at most"),
        (["model.lora=four", "model.init_from=BASE"], 2, "model.lora is 'four'"),
    ],
)
def test_bad_use_is_one_line(base, toy_file, tmp_path, capsys, overrides, code, message):
    overrides = [item.replace("BASE", str(base)) for item in overrides]
    assert train(*overrides, f"data.path={toy_file}", f"training.output_dir={tmp_path / 'run'}") == code
    assert message in capsys.readouterr().err.splitlines()[-1]
    assert not (tmp_path / "run").exists()


def test_without_peft_one_line_says_what_to_install(base, toy_file, tmp_path, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "peft", None)
    overrides = [f"model.init_from={base}", "model.lora=4", f"data.path={toy_file}"]
    assert train(*overrides, f"training.output_dir={tmp_path / 'run'}") == 1
    assert "pip install 'seq2see[lora]'" in capsys.readouterr().err.splitlines()[-1]
