"""The same seed gives the same weights on the same machine, to the bit; another seed gives others."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from seq2see.training.config import load_config
from seq2see.training.run import run_experiment

SETTINGS = [
    "tokenizer.vocab_size=400", "model.d_model=16", "model.encoder_layers=1", "model.decoder_layers=1",
    "model.encoder_ffn_dim=32", "model.decoder_ffn_dim=32", "model.dropout=0.3", "training.max_tokens=300",
    "training.num_train_epochs=1", "training.use_cpu=true", "training.ema_decay=0.9", "evaluation.eval_samples=10",
    "evaluation.max_length=20", "evaluation.num_beams=1", "data.val_fraction=0.1",
]  # fmt: skip


@pytest.fixture
def settings(toy_file) -> list[str]:
    return [*SETTINGS, f"data.path={toy_file}"]


def weights(folder: Path) -> bytes:
    return (folder / "model.safetensors").read_bytes()


def test_the_same_seed_gives_the_same_weights_wherever_it_runs(settings, tmp_path):
    """Here, and in a process of its own, whose sets have another order; dropout on."""
    here, there, other = (tmp_path / name for name in ("here", "there", "other"))
    run_experiment(load_config("finetune", [*settings, f"training.output_dir={here}"]))
    subprocess.run(
        [sys.executable, "-m", "seq2see", "train", "finetune", *settings, f"training.output_dir={there}"],
        check=True, capture_output=True, env={**os.environ, "PYTHONHASHSEED": "12345"},
    )  # fmt: skip
    assert weights(here) == weights(there)
    assert (here / "tokenizer.json").read_bytes() == (there / "tokenizer.json").read_bytes()
    run_experiment(load_config("finetune", [*settings, f"training.output_dir={other}", "training.seed=1"]))
    assert weights(here) != weights(other)


def test_the_same_seed_gives_the_same_weights_in_two_processes_too(settings, tmp_path):
    """Each process has dropout masks of its own, and they are the same masks each time."""
    one, two = (tmp_path / name for name in ("one", "two"))
    for folder in (one, two):
        settings_here = [*settings, f"training.output_dir={folder}", "training.cpu_processes=2"]
        run_experiment(load_config("finetune", settings_here))
    assert weights(one) == weights(two)
