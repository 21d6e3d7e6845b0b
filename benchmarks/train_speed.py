"""Training speed on a CPU compared with the stock Trainer: real target tokens per second, in one run on one machine.

    python benchmarks/train_speed.py --data FOLDER         FOLDER with train.en, train.de ...; without it: storybook
    python benchmarks/train_speed.py --quick               one short round of three contenders
    python benchmarks/train_speed.py --only ours stock 'no bf16'

`ours` is the command `seq2see train multi30k-en-de` as a user runs it, except for three settings (below), or with
another precision or number of processes (`variant`); `stock` is a MarianMTModel of the same shape with transformers'
Seq2SeqTrainer; `tuned` is the same with every helpful setting that needs no code.  The fastest of their settings
counts.  Contenders take turns, each in fresh processes.  The clock runs from the end of one update to the end of a
later one, without start, evaluation and saving.  Memory is the peak resident memory, summed over the processes.  On a
busy machine tokens per second of CPU time are more reliable, except where threads spin while they wait.

Equal: pairs, tokenizer, shape, dropout, label smoothing, optimizer, schedule, clipping, pairs in an update on the mean.
What Marian has no counterpart for, Muon, is off, whatever the recipe says.
Not equal: Marian is post-norm, cannot be otherwise, and so lacks our two last norms; the stock sampler looks at source
lengths alone; we average the weights (`ema_decay`) and log every update, Marian does neither; our memory includes the
training of the tokenizer.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil
from _frame import arguments, end, show, turns

RECIPE = "multi30k-en-de"
OFF = ("training.optim=adamw_torch_fused",)
WARM_UP = 5  # updates before the clock starts
WANTED = {"end to end": 3.0, "end to end, tuned peer": 1.8}
QUICK = ["ours", "stock float32", "tuned float32 ranks"]  # one of each group
HOPELESS = 0.85  # a setting of the peer slower than this share of its best one is not repeated
MALLOC = {"MALLOC_MMAP_THRESHOLD_": "4294967296", "MALLOC_TRIM_THRESHOLD_": "8589934592", "MALLOC_TOP_PAD_": "67108864"}
# What the peer takes from our model and training arguments.
SHAPE = (
    "d_model", "encoder_layers", "decoder_layers", "encoder_attention_heads", "decoder_attention_heads",
    "encoder_ffn_dim", "decoder_ffn_dim", "dropout", "attention_dropout", "activation_dropout", "scale_embedding",
    "activation_function", "vocab_size", "pad_token_id", "eos_token_id", "decoder_start_token_id",
    "max_position_embeddings",
)
TRAINING = (
    "learning_rate", "lr_scheduler_type", "warmup_steps", "optim", "adam_beta1", "adam_beta2", "adam_epsilon",
    "weight_decay", "max_grad_norm", "label_smoothing_factor",
)


@dataclass(frozen=True)
class Contender:
    name: str
    group: str  # ours, variant, stock, tuned
    what: str
    overrides: tuple[str, ...] = ()  # of our command
    variables: dict[str, str] = field(default_factory=dict)
    peer: dict[str, Any] = field(default_factory=dict)  # bf16, attention, ranks; empty for our command


@dataclass(frozen=True)
class Bench:
    """What all runs share; `folder` holds the training text, and the peer's tokenizer and encoded pairs."""

    folder: Path
    overrides: list[str]
    steps: int  # timed updates
    shape: dict[str, Any]
    training: dict[str, Any]
    batch_size: int  # mean number of pairs in an update
    max_tokens: int
    lengths: Any  # [N, 2], of `EncodedPairs`
    target_lengths: list[int]


@dataclass(frozen=True)
class Run:
    tokens_per_second: float
    tokens_per_processor_second: float  # of all threads, including waiting ones
    memory_mib: float


def all_contenders(cores: int, *, bf16: bool) -> list[Contender]:
    threads = {"OMP_NUM_THREADS": str(cores)}
    found = [
        Contender("ours", "ours", "seq2see train"),
        Contender("no bf16", "variant", "float32", ("training.bf16=false",)),
        Contender("no processes", "variant", f"one process of {cores} threads", ("training.cpu_processes=1",), threads),
        Contender("processes", "variant", f"{cores} processes", (f"training.cpu_processes={cores}",)),
    ]
    for precision in ("float32", "bf16")[: 1 + bf16]:
        stock = {"bf16": precision == "bf16", "attention": "sdpa", "ranks": 1}
        tuned = stock | {"attention": "eager"}
        what = f"group_by_length, {precision}"
        helped = f"{what}, eager attention, allocator variables"
        ranks = MALLOC | {"OMP_NUM_THREADS": "1"}
        found += [
            Contender(f"stock {precision}", "stock", what, (), threads, stock),
            Contender(f"tuned {precision}", "tuned", helped, (), MALLOC | threads, tuned),
            Contender(f"tuned {precision} ranks", "tuned", f"{helped}, torchrun of {cores} ranks", (), ranks,
                      tuned | {"ranks": cores}),
        ]
    return found


# --- runs


def prepare(folder: Path, *, overrides: list[str], steps: int | None) -> Bench:
    from seq2see.training.batching import EncodedPairs, plan_epoch
    from seq2see.training.building import make_model
    from seq2see.training.config import load_config
    from seq2see.training.pairs import load_corpus
    from seq2see.training.run import build_arguments

    config = load_config(RECIPE, overrides)
    corpus = load_corpus(config.data)
    (folder / "data").mkdir()
    for split, pairs in (("train", corpus.train), ("val", corpus.val[:2])):  # the command translates val at the end
        for side, language in (("source", config.data.source), ("target", config.data.targets[0])):
            text = "".join(f"{getattr(pair, side)}\n" for pair in pairs)
            (folder / "data" / f"{split}.{language}").write_text(text, "utf-8")
    overrides = [*overrides, f"data.path={folder / 'data'}"]
    config = load_config(RECIPE, overrides)
    corpus = load_corpus(config.data)
    tokenizer, model = make_model(config, corpus, None)
    arguments = build_arguments(config)
    tokenizer.save_pretrained(folder / "tokenizer")
    encoded = EncodedPairs(corpus.train, tokenizer, max_length=model.config.max_position_embeddings)
    pairs = [encoded[index] for index in range(len(encoded))]
    columns = {"input_ids": [list(map(int, pair.source)) for pair in pairs],
               "labels": [list(map(int, pair.labels)) for pair in pairs]}
    (folder / "pairs.json").write_text(json.dumps(columns), "utf-8")
    lengths = encoded.lengths()
    batch_size = round(len(encoded) / len(plan_epoch(lengths, max_tokens=arguments.max_tokens, seed=0, epoch=0)))
    return Bench(
        folder=folder,
        overrides=overrides,
        # transformers sorts this many batches at a time, longest pairs first: fewer would not be representative.
        steps=steps or max(1, min(len(encoded) // (batch_size * 4), 50)),
        shape={key: getattr(model.config, key) for key in SHAPE},
        training={key: value for key, value in arguments.to_dict().items() if key in TRAINING},
        batch_size=batch_size,
        max_tokens=arguments.max_tokens,
        lengths=lengths,
        target_lengths=list(map(len, columns["labels"])),
    )


def measure(contender: Contender, bench: Bench, *, seed: int) -> Run:
    """Train in fresh processes, timing the lines that announce updates."""
    updates, done, tail = WARM_UP + bench.steps, dict[int, tuple[float, float]](), list[str]()
    with tempfile.TemporaryDirectory(dir=bench.folder) as name:
        command = peer_command if contender.peer else our_command
        with subprocess.Popen(
            [sys.executable, *command(contender, bench, Path(name), seed)], cwd=bench.folder, text=True,
            env={**os.environ, "HF_HUB_OFFLINE": "1", "HF_DATASETS_OFFLINE": "1", **contender.variables},
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, errors="replace",
        ) as process, peak_memory(process.pid) as memory:
            for line in process.stdout or ():
                if found := re.match(rf"step (\d+)/{updates}\b", line):
                    processor = in_all(process.pid, lambda one: sum(one.cpu_times()[:2]))
                    done.setdefault(int(found[1]), (time.perf_counter(), processor))
                tail = [*tail[-60:], line]
        if process.returncode or not {WARM_UP, updates} <= done.keys():
            raise RuntimeError(f"{contender.name} ended with code {process.returncode}:\n{''.join(tail)}")
        if contender.peer:
            counts = [json.loads(path.read_text()) for path in Path(name).glob("counts-*.json")]
            tokens = [sum(ranks) for ranks in zip(*counts, strict=True)]
        else:
            tokens = planned_tokens(bench, updates, seed)
            theirs, ours = (folder / "tokenizer.json" for folder in (bench.folder / "tokenizer", Path(name) / "run"))
            if ours.read_bytes() != theirs.read_bytes():
                raise RuntimeError("seq2see train made a different tokenizer from the one given to Marian")
    timed = sum(tokens[WARM_UP:updates])
    seconds, processor = (end - start for start, end in zip(done[WARM_UP], done[updates], strict=True))
    return Run(timed / seconds, timed / processor, memory["peak"])


def our_command(contender: Contender, bench: Bench, output: Path, seed: int) -> list[str]:
    return [
        "-m", "seq2see", "train", RECIPE, *bench.overrides, *contender.overrides,
        f"training.output_dir={output / 'run'}", f"training.max_steps={WARM_UP + bench.steps}",
        f"training.seed={seed}", "training.use_cpu=true", "training.logging_steps=1", "training.disable_tqdm=true",
        "training.eval_strategy=no", "training.save_strategy=no", "training.load_best_model_at_end=false",
        "generation.num_beams=1", "generation.max_length=8",
    ]


def peer_command(contender: Contender, bench: Bench, output: Path, seed: int) -> list[str]:
    """The peer, under torchrun if it has several ranks."""
    ranks, job = contender.peer["ranks"], output / "job.json"
    training = {
        **bench.training, "seed": seed, "bf16": contender.peer["bf16"], "max_steps": WARM_UP + bench.steps,
        "per_device_train_batch_size": max(1, round(bench.batch_size / ranks)), "output_dir": str(output),
    }
    shape = {**bench.shape, "attn_implementation": contender.peer["attention"]}
    job.write_text(json.dumps({"shape": shape, "training": training, "folder": str(bench.folder)}))
    torchrun = ["-m", "torch.distributed.run", f"--nproc-per-node={ranks}", "--rdzv-backend=c10d",
                "--rdzv-endpoint=127.0.0.1:0", "--local-addr=127.0.0.1"]
    return [*(torchrun if ranks > 1 else ()), str(Path(__file__).with_name("_train_peer.py")), str(job)]


def planned_tokens(bench: Bench, updates: int, seed: int) -> list[int]:
    """Target tokens of our first updates, which are known in advance."""
    from seq2see.training.batching import plan_epoch

    tokens, epoch = list[int](), 0
    while len(tokens) < updates:
        batches = plan_epoch(bench.lengths, max_tokens=bench.max_tokens, seed=seed, epoch=epoch)
        tokens += [sum(bench.target_lengths[index] for index in batch) for batch in batches]
        epoch += 1
    return tokens


@contextlib.contextmanager
def peak_memory(pid: int) -> Iterator[dict[str, float]]:
    """Fills in `peak`: MiB of a process and its descendants together.  Shared pages count for each."""
    result, over = {"peak": 0.0}, threading.Event()

    def watch() -> None:
        while not over.wait(0.2):
            result["peak"] = max(result["peak"], in_all(pid, lambda one: one.memory_info().rss / 2**20))

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        yield result
    finally:
        over.set()
        watcher.join()


def in_all(pid: int, figure: Callable[[psutil.Process], float]) -> float:
    """The sum of a figure over a process and its descendants, those that have just ended left out."""
    figures, family = list[float](), list[psutil.Process]()
    with contextlib.suppress(psutil.NoSuchProcess):
        family = [psutil.Process(pid), *psutil.Process(pid).children(recursive=True)]
    for one in family:
        with contextlib.suppress(psutil.NoSuchProcess):
            figures.append(figure(one))
    return sum(figures)


# --- the result


def summarise(
    chosen: Sequence[Contender], runs: dict[str, list[Run]]
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """A row per contender, and how much faster ours is than the best peer and than its variants."""
    rows: list[dict[str, Any]] = [
        {
            "name": one.name,
            "group": one.group,
            "what": one.what,
            "tokens_per_second": [round(run.tokens_per_second, 1) for run in runs[one.name]],
            "median": middle([run.tokens_per_second for run in runs[one.name]]),
            "per_processor_second": middle([run.tokens_per_processor_second for run in runs[one.name]]),
            "memory_mib": round(max(run.memory_mib for run in runs[one.name])),
        }
        for one in chosen
    ]

    def best(*groups: str) -> dict[str, Any] | None:
        there = [row for row in rows if row["group"] in groups]
        return max(there, key=lambda row: (len(row["tokens_per_second"]), row["median"]), default=None)

    rivals = {"end to end": best("stock"), "end to end, tuned peer": best("stock", "tuned") if best("tuned") else None}
    rivals |= {row["name"]: row for row in rows if row["group"] == "variant"}
    ours = best("ours")
    ratios: list[dict[str, Any]] = []
    for name, rival in rivals.items():
        if ours and rival:
            # Round by round, since contenders of one round run under the same conditions.
            pairs = zip(ours["tokens_per_second"], rival["tokens_per_second"], strict=False)
            found = [round(mine / other, 3) for mine, other in pairs]
            ratios.append({
                "name": name, "ours": ours["median"], "peer": rival["median"], "unit": "target tokens/s",
                "ratio": statistics.median(found), "low": min(found), "high": max(found), "wanted": WANTED.get(name),
                "than": rival["name"],
            })
    return rows, ratios


def middle(figures: Sequence[float]) -> float:
    return round(statistics.median(figures), 1)


def main(argv: list[str]) -> None:
    from seq2see.training.arguments import has_fast_bfloat16
    from seq2see.training.processes import usable_cores

    parser = arguments(__doc__)
    parser.add_argument("--data", help="training pairs, like data.path in a recipe; default: storybook")
    parser.add_argument("--steps", type=int, help="timed updates; default: a representative number")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", nargs="+", metavar="NAME", help="groups (ours variant stock tuned) or contenders")
    parser.add_argument("--set", nargs="+", default=[], metavar="KEY=VALUE", help="override the recipe")
    args = parser.parse_args(argv)
    if args.quick:
        args.steps, args.rounds, args.only = args.steps or 10, 1, args.only or QUICK
    everybody = all_contenders(usable_cores(), bf16=has_fast_bfloat16(use_cpu=True))
    chosen = [one for one in everybody if not args.only or {one.name, one.group} & set(args.only)]
    if unknown := set(args.only or ()) - {name for one in everybody for name in (one.name, one.group)}:
        parser.error(f"unknown contender {', '.join(unknown)}; choose from {', '.join(one.name for one in everybody)}")
    runs: dict[str, list[Run]] = {one.name: [] for one in chosen}
    with tempfile.TemporaryDirectory() as folder:
        os.environ["HF_DATASETS_CACHE"] = f"{folder}/cache"
        data = [f"data.path={args.data}"] if args.data else ["data.path=storybook", "data.target=fr"]
        bench = prepare(Path(folder), overrides=[*OFF, *data, *args.set], steps=args.steps)
        for number, one in turns(chosen, args.rounds):
            if not (number and is_hopeless(one, chosen, runs)):
                runs[one.name].append(measure(one, bench, seed=number))
                print(f"round {number + 1}: {one.name}, {runs[one.name][-1]}", file=sys.stderr)
    contenders, ratios = summarise(chosen, runs)
    show([*contenders, *ratios])
    end("train_speed", ratios, contenders=contenders, data=args.data or "storybook", set=args.set,
        pairs=len(bench.lengths), updates=bench.steps, rounds=args.rounds)


def is_hopeless(one: Contender, chosen: Sequence[Contender], runs: dict[str, list[Run]]) -> bool:
    """Whether another setting of the same peer was much faster in the first round."""
    first = {other.name: runs[other.name][0].tokens_per_second for other in chosen if other.group == one.group}
    return one.group in ("stock", "tuned") and first[one.name] < HOPELESS * max(first.values())


if __name__ == "__main__":
    main(sys.argv[1:])
