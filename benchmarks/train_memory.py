"""Does the memory for training grow with the corpus?  Two synthetic corpora, a small model, 200 steps.

    python benchmarks/train_memory.py            50,000 and 1,000,000 pairs: a few minutes on two cores, Linux only
    python benchmarks/train_memory.py --quick    2,000 and 10,000 pairs, ten steps

The command's own code trains on each corpus in fresh processes, with an empty cache: reading, learning a vocabulary,
tokenising, 200 steps; then again with everything cached.  The figure is the peak resident memory of all processes
together, sampled ten times a second.  Pages shared by several processes count once (`PSS`); the plain sum (`RSS`),
which counts them for each process, is given too.  Identical runs differ by about 70 MiB: the heap grows with the shapes
of the batches, which come in random order.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import psutil
from _frame import arguments, end, show

MIB = 2**20
AIM = 300  # MiB by which the large corpus may exceed the small one
TRAIN = """
import json, sys, time
from pathlib import Path
from seq2see.training.config import load_config
from seq2see.training.processes import on_all_cores
from seq2see.training.run import prepare, train_model

config = load_config("multi30k-en-de", sys.argv[1:])
start = time.perf_counter()
with on_all_cores(config):
    output = Path(config.training["output_dir"])
    trainer = train_model(prepare(config, output), config, output)
before = time.perf_counter() - start - trainer.pace.elapsed()
print(json.dumps({"seconds_before": round(before, 1), "seconds_of_training": round(trainer.pace.elapsed(), 1)}))
"""
SETTINGS = [
    "tokenizer.vocab_size=4000", "model.d_model=32", "model.encoder_layers=1", "model.decoder_layers=1",
    "model.encoder_ffn_dim=32", "model.decoder_ffn_dim=32", "training.eval_strategy=no", "training.save_strategy=no",
    "training.load_best_model_at_end=false", "training.max_tokens=1024", "training.use_cpu=true",
]  # fmt: skip


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--processes", type=int, default=2, help="training processes (default 2)")
    args = parser.parse_args()
    sizes, steps = ((2_000, 10_000), 10) if args.quick else ((50_000, 1_000_000), 200)
    rows: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as scratch:
        for pairs in sizes:
            folder = Path(scratch) / str(pairs)
            folder.mkdir()
            write_corpus(folder / "pairs.tsv", pairs)
            for start in ("cold", "warm"):
                settings = {"max_steps": steps, "cpu_processes": args.processes}
                figures = measure(folder, *(f"training.{key}={value}" for key, value in settings.items()))
                rows.append({"name": f"{pairs:,} pairs, {start} start", "pairs": pairs, **figures})
                show(rows[-1:])
    small, large = (max(row["pss_mib"] for row in rows if row["pairs"] == pairs) for pairs in sizes)
    name = f"{sizes[1]:,} pairs beyond {sizes[0]:,}"
    rows.append({"name": name, "ours": large - small, "unit": "MiB", "wanted": AIM})
    show(rows[-1:])
    end("train_memory", rows)


def write_corpus(path: Path, pairs: int) -> None:
    """Write distinct pairs of sentences of 4 to 20 synthetic words with Zipfian frequencies."""
    rng = np.random.default_rng(0)
    syllables = [a + b for a in "bdfglmnprstvz" for b in "aeiou"]
    words = ["".join(rng.choice(syllables, size=size)) for size in rng.integers(1, 5, size=20_000)]
    shares = np.cumsum(1 / np.arange(1, len(words) + 1))
    with path.open("w", encoding="utf-8") as file:
        file.write("en\tde\n")
        for start in range(0, pairs, 1000):
            lengths = rng.integers(4, 21, size=2 * min(1000, pairs - start))
            sampled = np.searchsorted(shares, rng.random(lengths.sum()) * shares[-1])
            sides = [" ".join([words[i] for i in row]) for row in np.split(sampled, np.cumsum(lengths)[:-1])]
            file.writelines(f"{source}\t{target}\n" for source, target in zip(sides[::2], sides[1::2], strict=True))


def measure(folder: Path, *overrides: str) -> dict[str, float]:
    """Train once; returns the peak memory of the process and its children, and the seconds."""
    command = [sys.executable, "-c", TRAIN, f"data.path={folder / 'pairs.tsv'}", *SETTINGS, *overrides]
    command.append(f"training.output_dir={folder / 'run'}{time.time_ns()}")
    variables = {**os.environ, "HF_DATASETS_CACHE": str(folder / "cache"), "HF_HUB_OFFLINE": "1"}
    peak = {"pss_mib": 0, "rss_mib": 0}
    said, errors = folder / "stdout", folder / "stderr"  # files, because an unread pipe would block the child
    with (
        said.open("w") as out, errors.open("w") as err,
        subprocess.Popen(command, stdout=out, stderr=err, env=variables) as process,
    ):  # fmt: skip
        while process.poll() is None:
            now = {"pss_mib": 0, "rss_mib": 0}
            for one in [psutil.Process(process.pid), *psutil.Process(process.pid).children(recursive=True)]:
                try:
                    memory = one.memory_full_info()
                except psutil.NoSuchProcess:
                    continue
                now["pss_mib"] += memory.pss // MIB
                now["rss_mib"] += memory.rss // MIB
            peak = {name: max(value, now[name]) for name, value in peak.items()}
            time.sleep(0.1)
    if process.returncode:
        raise SystemExit(errors.read_text())
    return {**peak, **json.loads(said.read_text().splitlines()[-1])}


if __name__ == "__main__":
    main()
