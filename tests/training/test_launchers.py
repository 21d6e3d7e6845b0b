"""Several processes started by torchrun or accelerate: they end well, and one of them speaks for all."""

import re
import subprocess
import sys

import pytest

from seq2see.modeling.loading import load_checkpoint

SETTINGS = [
    "tokenizer.vocab_size=400", "model.d_model=16", "model.encoder_layers=1", "model.decoder_layers=1",
    "model.encoder_ffn_dim=32", "model.decoder_ffn_dim=32", "training.max_tokens=300", "training.max_steps=3",
    "training.use_cpu=true", "training.logging_steps=1", "training.eval_strategy=steps", "training.eval_steps=3",
    "training.save_strategy=steps", "training.save_steps=3", "evaluation.eval_samples=10", "evaluation.max_length=20",
    "evaluation.num_beams=1", "data.val_fraction=0.1",
]  # fmt: skip
LAUNCHERS = {
    "torchrun": ["torch.distributed.run", "--nproc-per-node=2", "--rdzv-backend=c10d", "--rdzv-endpoint=127.0.0.1:0",
                 "--local-addr=127.0.0.1"],
    "accelerate": ["accelerate.commands.launch", "--multi_gpu", "--num_processes=2", "--num_machines=1",
                   "--mixed_precision=no", "--dynamo_backend=no", "--main_process_port=0"],
}  # fmt: skip


@pytest.mark.parametrize("launcher", LAUNCHERS)
def test_two_processes_end_well_and_one_speaks(toy_file, tmp_path, launcher):
    run = tmp_path / "run"
    done = subprocess.run(
        [sys.executable, "-m", *LAUNCHERS[launcher], "-m", "seq2see", "train", "finetune", "--no-measures", *SETTINGS,
         f"data.path={toy_file}", f"training.output_dir={run}"],
        capture_output=True, text=True, timeout=200,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    said = [re.match(r"step \d/3  \w+|\w+", line) for line in done.stderr.splitlines()]
    assert [match and match[0] for match in said] == [
        "run", "reading", "180", "vocabulary", "model",
        "step 1/3  loss", "step 2/3  loss", "step 3/3  loss", "step 3/3  eval_loss",
        "step 3/3  train_runtime", "finished",
    ], done.stderr  # fmt: skip
    assert "training on 2 x cpu" in done.stderr
    assert [line.split()[0] for line in done.stdout.splitlines()] == [str(run), "BLEU", "chrF2"]
    assert load_checkpoint(run).config.d_model == 16
