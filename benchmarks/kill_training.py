"""Kills trainings at random moments and resumes them: do they end with the weights of an uninterrupted one?

    python benchmarks/kill_training.py                       30 trials in one process, 3 in two that train together
    python benchmarks/kill_training.py --quick               3 trials in one process, each killed once
    python benchmarks/kill_training.py --trials 5 --pairs 2  number of trials in one and in two processes

A trial is killed twice, by SIGKILL: at a moment drawn from the length of a whole training, start and end included, and
inside a save, at a moment drawn from its length; odd trials in this order, even ones in the other.  Then it runs to its
end.  Compared are the finished model and the last checkpoint's averaged and raw weights, to the bit.  Everything random
is on: dropout, joined texts, batches by length; averaged weights, the best checkpoint kept, two processes that
load the data.  In a pair of processes one of them is drawn to be killed, and the other must end by itself within a
minute.
"""

from __future__ import annotations

import gc
import hashlib
import os
import random
import signal
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from _frame import arguments, end, timed

WORDS = ["dog", "cat", "bird", "horse", "sees", "hears", "small", "big", "never", "often", "today", "here", "the", "a"]
SETTINGS = [
    "tokenizer.vocab_size=400", "data.joined=0.5", "model.d_model=16", "model.encoder_layers=1",
    "model.decoder_layers=1", "model.encoder_ffn_dim=32", "model.decoder_ffn_dim=32", "model.dropout=0.3",
    "training.max_tokens=300", "training.num_train_epochs=2", "training.use_cpu=true", "training.ema_decay=0.9",
    "training.dataloader_num_workers=2", "training.eval_strategy=steps", "training.eval_steps=3",
    "training.save_strategy=steps", "training.save_steps=3", "training.load_best_model_at_end=true",
    "evaluation.eval_samples=5", "generation.num_beams=1", "generation.max_length=12", "data.val_fraction=0.1",
]  # fmt: skip
A_SAVE = 0.05  # seconds, approximately
A_MINUTE = 60
Moment = tuple[float, int | None]  # seconds after the start or, if it is not None, after the beginning of that save


def write_corpus(path: Path) -> None:
    rng = random.Random(0)
    rows = {" ".join(rng.choices(WORDS, k=rng.randint(2, 9))) for _ in range(140)}
    path.write_text("en\tfr\n" + "".join(f"{row}\t{row[::-1]}\n" for row in sorted(rows)), "utf-8")


def experiment(run: Path, corpus: Path, *, processes: int) -> Any:
    from seq2see.training.config import load_config

    here = [f"data.path={corpus}", f"training.output_dir={run}", f"training.cpu_processes={processes}"]
    return load_config("finetune", [*SETTINGS, *here, "training.resume=true"])


def start(run: Path, corpus: Path, *, processes: int) -> int:
    """Start or resume a training in a separate process; returns its id."""
    from seq2see.training.run import run_experiment

    config = experiment(run, corpus, processes=processes)
    gc.freeze()  # the child must not search the parent's objects for garbage, which would copy them all
    if child := os.fork():
        return child
    log = os.open(run.with_suffix(".log"), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    os.dup2(log, 1), os.dup2(log, 2)
    code = 1
    try:
        run_experiment(config)
        code = 0
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(code)


def ended(child: int) -> bool:
    return os.waitpid(child, os.WNOHANG)[0] == child


def weights(run: Path) -> list[str]:
    last = max(run.glob("checkpoint-*"), key=lambda folder: int(folder.name.rpartition("-")[2]))
    files = [run / "model.safetensors", last / "model.safetensors", last / "raw_weights.safetensors"]
    return [last.name, *(hashlib.sha256(file.read_bytes()).hexdigest() for file in files)]


def wait_for_moment(run: Path, child: int, *, after: float, save: int | None) -> bool:
    """Wait, from the given save on if there is one; False if the training ends first."""
    staging, deadline, before = run / ".saving", None if save else time.perf_counter() + after, False
    while deadline is None or time.perf_counter() < deadline:
        if ended(child):
            return False
        now = staging.is_dir()
        save = save - (now and not before) if save else save
        if deadline is None and save == 0:
            deadline = time.perf_counter() + after
        before = now
        time.sleep(0.0003)
    return True


def follower_of(process: int) -> int | None:
    """The second process of a pair, once it has started training."""
    for child in Path(f"/proc/{process}/task/{process}/children").read_text().split():
        if b"spawn_main" in Path(f"/proc/{child}/cmdline").read_bytes():
            return int(child)
    return None


def gone_within_a_minute(process: int, *, ours: bool) -> bool:
    deadline = time.monotonic() + A_MINUTE
    while time.monotonic() < deadline:
        if ended(process) if ours else not Path(f"/proc/{process}").exists():
            return True
        time.sleep(0.05)
    return False


def kill_one(child: int, *, rng: random.Random, processes: int) -> Counter[str]:
    """Kill the training, or one of a pair; counts whether the other one ended."""
    follower = follower_of(child) if processes > 1 else None
    second = follower is not None and rng.random() < 0.5
    os.kill(follower if second and follower else child, signal.SIGKILL)
    if not second:
        os.waitpid(child, 0)
    counts = Counter(kills=1)
    if follower:
        other = gone_within_a_minute(child if second else follower, ours=second)
        counts |= Counter({"second process killed": second, "the other process ended within a minute": other})
    return counts


def trial(run: Path, corpus: Path, *, rng: random.Random, moments: Sequence[Moment], processes: int) -> Counter[str]:
    counts: Counter[str] = Counter()
    for after, save in moments:
        child = start(run, corpus, processes=processes)
        if wait_for_moment(run, child, after=after, save=save):
            counts += kill_one(child, rng=rng, processes=processes)
            counts["inside a save"] += (run / ".saving").is_dir()
    os.waitpid(start(run, corpus, processes=processes), 0)
    return counts


def measure(scratch: Path, *, trials: int, kills: int, seed: int, processes: int) -> dict[str, Any]:
    from seq2see.training.run import prepare

    corpus, whole = scratch / "toy.tsv", scratch / f"whole-{processes}"
    write_corpus(corpus)
    prepare(experiment(whole, corpus, processes=1))  # fill the caches before timing
    seconds = timed(lambda: os.waitpid(start(whole, corpus, processes=processes), 0))
    expected, total, identical = weights(whole), Counter[str](), 0
    steps = int(expected[0].rpartition("-")[2])
    for number in range(trials):
        rng = random.Random(f"{seed}/{number}")
        run = scratch / f"trial-{processes}-{number}"
        moments = [(rng.uniform(0, seconds), None), (rng.uniform(0, A_SAVE), rng.randint(1, steps // 3))]
        order = moments[:: -1 if number % 2 else 1][:kills]
        counts = trial(run, corpus, rng=rng, moments=order, processes=processes)
        same = (run / "metrics.json").is_file() and weights(run) == expected
        total += counts
        identical += same
        print(f"{processes} process(es), trial {number + 1}: {'identical' if same else 'DIFFERENT'}, {dict(counts)}",
              flush=True)  # fmt: skip
        if not same:
            print(run.with_suffix(".log").read_text(errors="replace")[-3000:], file=sys.stderr)
    return {"name": f"{processes} process(es)", "ours": identical, "wanted": trials, "unit": "trials bit-identical",
            "steps": steps, **total}


def main() -> int:
    parser = arguments(__doc__)
    parser.add_argument("--trials", type=int, default=30, help="in one process (%(default)s)")
    parser.add_argument("--pairs", type=int, default=3, help="trials in two processes (%(default)s)")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    os.environ.update(OMP_NUM_THREADS="1", TOKENIZERS_PARALLELISM="false")
    import matplotlib.figure  # noqa: F401  # once, not in every training
    import torch

    torch.set_num_threads(1)
    wanted = [(3, 1)] if args.quick else [(args.trials, 1), (args.pairs, 2)]
    with tempfile.TemporaryDirectory() as folder:
        os.environ["HF_DATASETS_CACHE"] = f"{folder}/cache"
        rows = [
            measure(Path(folder), trials=trials, kills=1 if args.quick else 2, seed=args.seed, processes=processes)
            for trials, processes in wanted if trials
        ]  # fmt: skip
    end("kill_training", rows)
    return 0 if all(row["ours"] == row["wanted"] for row in rows) else 1


if __name__ == "__main__":
    raise SystemExit(main())
