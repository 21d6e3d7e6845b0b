"""One trajectory: the same weights whatever the accumulation, the number of processes, or an interruption."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file
from torch.nn import functional as F
from transformers import DataCollatorForSeq2Seq, Seq2SeqTrainer, Seq2SeqTrainingArguments

from seq2see.errors import UserError
from seq2see.training.config import load_config
from seq2see.training.run import run_experiment

TINY = """\
data: {path: PATH, source: en, target: fr, val_fraction: 0.1}
tokenizer: {vocab_size: 400}
model: {d_model: 16, encoder_layers: 1, decoder_layers: 1, encoder_attention_heads: 2, decoder_attention_heads: 2,
  encoder_ffn_dim: 32, decoder_ffn_dim: 32, dropout: 0.0}
training: {max_tokens: 250, num_train_epochs: 2, warmup_steps: 4, save_strategy: steps, save_steps: 3, use_cpu: true,
  eval_strategy: steps, eval_steps: 3, disable_tqdm: true, ema_decay: 0.9, save_total_limit: 9, bf16: false}
evaluation: {eval_samples: 10, num_beams: 1, max_length: 40}
"""


@pytest.fixture
def config_file(toy_file, tmp_path) -> Path:
    path = tmp_path / "toy.yaml"
    path.write_text(TINY.replace("PATH", str(toy_file)), "utf-8")
    return path


def losses(trainer) -> list[float]:
    trainer.train()
    return [entry["loss"] for entry in trainer.state.log_history if "loss" in entry]


def assert_same_weights(one: dict, other: dict, *, exactly: bool = False) -> None:
    assert one.keys() == other.keys()
    for name in one:
        tolerance = {"rtol": 0, "atol": 0} if exactly else {"rtol": 1e-4, "atol": 2e-5}
        torch.testing.assert_close(one[name], other[name], **tolerance)


def test_eight_by_one_two_by_four_and_one_by_eight_follow_one_trajectory(make_trainer):
    """Optimizer SGD, so that a wrong scale of the gradient shows in full; label smoothing on."""
    runs = []
    for accumulation in (1, 4, 8, 13):  # 13: more micro-batches than some batches have pairs
        trainer = make_trainer(
            gradient_accumulation_steps=accumulation, optim="sgd", learning_rate=0.5, label_smoothing_factor=0.1
        )
        runs.append((losses(trainer), trainer.model.state_dict()))
    assert runs[0][0][0] > runs[0][0][-1]
    for history, weights in runs[1:]:
        assert history == pytest.approx(runs[0][0], rel=1e-5)
        assert_same_weights(runs[0][1], weights)


def test_loss_is_smoothed_cross_entropy_per_token_at_real_positions(make_trainer):
    """Against the definition, written out: -(1-e) log p(y) - e mean log p, averaged over labels that are not -100."""
    trainer = make_trainer(label_smoothing_factor=0.2)
    inputs = trainer.collate([trainer.train_dataset[index] for index in range(5)])
    log_p = F.log_softmax(trainer.model(**{k: v for k, v in inputs.items() if k != "labels"}).logits, dim=-1)
    total, count = 0.0, 0
    for row, labels in zip(log_p, inputs["labels"].tolist(), strict=True):
        for scores, label in zip(row, labels, strict=True):
            if label != -100:
                total -= 0.8 * scores[label] + 0.2 * scores.mean()
                count += 1
    assert (inputs["labels"] == -100).any()
    torch.testing.assert_close(trainer.compute_loss(trainer.model, inputs), total / count)
    torch.testing.assert_close(trainer.compute_loss(trainer.model, inputs, num_items_in_batch=7), total / 7)


def test_transformers_own_trainer_gives_the_same_trajectory(make_trainer, pairs, tmp_path):
    """The stock Seq2SeqTrainer and collator, eight pairs a batch, against ours on the same batches."""
    ours = make_trainer(optim="sgd", learning_rate=0.5, lr_scheduler_type="constant", max_tokens=10_000, max_steps=3)
    stock_model = make_trainer().model
    tokenizer = ours.processing_class
    rows = [
        {"input_ids": item.source.tolist(), "attention_mask": [1] * len(item.source), "labels": item.labels.tolist()}
        for item in (ours.train_dataset[index] for index in range(len(ours.train_dataset)))
    ]
    stock = Seq2SeqTrainer(
        stock_model,
        Seq2SeqTrainingArguments(
            output_dir=str(tmp_path / "stock"), per_device_train_batch_size=15, gradient_accumulation_steps=4,
            max_steps=3, optim="sgd", learning_rate=0.5, lr_scheduler_type="constant",
            label_smoothing_factor=0.1, logging_steps=1,
            report_to="none", use_cpu=True, save_strategy="no", disable_tqdm=True, warmup_steps=2,
        ),
        train_dataset=rows,
        data_collator=DataCollatorForSeq2Seq(tokenizer, model=stock_model),
    )
    # One batch holds all sixty pairs: order plays no part.
    assert losses(stock) == pytest.approx(losses(ours), rel=1e-4)
    assert_same_weights(stock_model.state_dict(), ours.model.state_dict())


def test_one_process_and_two_give_the_same_model(config_file, tmp_path):
    """Optimizer SGD: Adam would turn the rounding error in gradients that are zero (of key biases) into full steps."""
    settings = ["training.optim=sgd", "training.learning_rate=0.5"]
    one, two = tmp_path / "one", tmp_path / "two"
    command = f"""
import gc
gc.disable()  # a fifth of what follows
from seq2see.training.config import load_config
from seq2see.training.run import run_experiment
gc.freeze()
gc.enable()
run_experiment(load_config({str(config_file)!r}, {[*settings, f"training.output_dir={two}"]}))
"""
    script = tmp_path / "two_processes.py"
    script.write_text(command, "utf-8")
    launched = subprocess.run(
        [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node=2", "--rdzv-backend=c10d",
         "--rdzv-endpoint=127.0.0.1:0", "--local-addr=127.0.0.1", str(script)],
        capture_output=True, text=True, timeout=200,
    )
    assert launched.returncode == 0, launched.stderr[-3000:]
    run_experiment(load_config(str(config_file), [*settings, f"training.output_dir={one}"]))
    assert_same_weights(load_file(one / "model.safetensors"), load_file(two / "model.safetensors"))
    first, second = (json.loads((folder / "metrics.json").read_text("utf-8")) for folder in (one, two))
    assert first["evaluation"]["val"] == second["evaluation"]["val"]
    curves = [[row["eval_loss"] for row in run["training"]["log"] if "eval_loss" in row] for run in (first, second)]
    assert len(curves[0]) > 3
    assert curves[1] == pytest.approx(curves[0], rel=1e-5)


def test_processes_of_our_own_give_the_same_model_too(config_file, tmp_path):
    settings = ["training.optim=sgd", "training.learning_rate=0.5"]
    one, two = tmp_path / "one", tmp_path / "two"
    run_experiment(load_config(str(config_file), [*settings, f"training.output_dir={one}"]))
    before = dict(os.environ)
    together = [*settings, f"training.output_dir={two}", "training.cpu_processes=2"]
    run_experiment(load_config(str(config_file), together))
    assert dict(os.environ) == before and not torch.distributed.is_initialized()
    states = [torch.load(two / "checkpoint-3" / f"rng_state_{rank}.pth", weights_only=False)["cpu"] for rank in (0, 1)]
    assert not torch.equal(*states)  # each process draws dropout masks of its own
    assert_same_weights(load_file(one / "model.safetensors"), load_file(two / "model.safetensors"))


@pytest.mark.parametrize("script", [
    "raise SystemExit(9)",
    "import os, torch; print(flush=True); torch.distributed.init_process_group('gloo'); os._exit(9)",
])
def test_a_process_that_dies_is_one_line(config_file, tmp_path, monkeypatch, script):
    monkeypatch.setattr("seq2see.training.processes.FOLLOW", script)
    overrides = [f"training.output_dir={tmp_path / 'run'}", "training.cpu_processes=2"]
    with pytest.raises(UserError, match="training process ended with code 9"):
        run_experiment(load_config(str(config_file), overrides))
    assert not torch.distributed.is_initialized()


@pytest.mark.parametrize("step", [3, 6])  # within the first epoch, and in the second
def test_resuming_is_exact_to_the_bit(config_file, tmp_path, step):
    """With dropout, texts joined in each epoch, Muon and an average, an interrupted run ends with the same weights."""
    whole, stopped = tmp_path / "whole", tmp_path / "stopped"
    settings = ["model.dropout=0.3", "data.joined=0.5", "training.optim=muon", "training.muon_lr_scale=2"]
    run_experiment(load_config(str(config_file), [*settings, f"training.output_dir={whole}"]))
    stopped.mkdir()
    shutil.copytree(whole / f"checkpoint-{step}", stopped / f"checkpoint-{step}")
    run_experiment(load_config(str(config_file), [*settings, f"training.output_dir={stopped}", "training.resume=true"]))
    last = max(int(folder.name.rpartition("-")[2]) for folder in whole.glob("checkpoint-*"))
    assert last > step
    for name in ("model.safetensors", "raw_weights.safetensors"):
        resumed, uninterrupted = (load_file(folder / f"checkpoint-{last}" / name) for folder in (stopped, whole))
        assert_same_weights(resumed, uninterrupted, exactly=True)
