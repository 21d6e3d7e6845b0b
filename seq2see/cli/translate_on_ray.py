"""`seq2see translate --ray ADDRESS INPUT OUTPUT`: the files of a folder, on all machines of a Ray cluster.

A shard is a plain task, which reads its lines and writes its translation itself: only names travel.  A task whose
process or machine is lost is done again, elsewhere.  A process keeps the model from task to task.
"""

import argparse
import os
import signal
import socket
import sys
import threading
from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

from tqdm.auto import tqdm

from seq2see import __version__
from seq2see.cli.lines import LINES_AT_ONCE, line_by_line
from seq2see.cli.shards import Job, Shard, join, plan, read, record, unfinished, unjoined, write
from seq2see.cli.translate import one_line
from seq2see.errors import UserError
from seq2see.folders import resolve_folder
from seq2see.pretrained import is_packaged
from seq2see.translate import Translation, Translator
from seq2see.translate.loaded_checkpoint import fingerprint

REACH_SECONDS = 10  # for a connection to the cluster
AHEAD = 4  # tasks handed to Ray for each that can run
LOSSES = 5  # of one shard: it may be what kills the processes
NAMED = 5  # shards in a message


@dataclass(frozen=True)
class Model:
    """What a worker loads; it must be the same on each machine."""

    run: str
    weights: str  # their fingerprint
    engine: str
    device: str
    cpus: int
    trusted: bool
    version: str = __version__


def run(args: argparse.Namespace) -> None:
    """`args.ray` and the options of `translate`."""
    import ray

    if args.calibrated:
        raise UserError("--calibrated is not for --ray", exit_code=2)
    address, *folders = args.ray
    source, output = (Path(os.path.abspath(one)) for one in folders)
    model, targets, options = read_options(args)
    key = repr((__version__, model.weights, model.engine, targets, options))
    jobs = unjoined(plan(source, output, lines=args.shard_lines, key=key), output)
    if not jobs:
        print(f"{output} has a translation of every file already", file=sys.stderr, flush=True)
        return
    with connected(address):
        if not any(one["Resources"].get("CPU", 0) >= args.cpus for one in machines()):
            raise UserError(f"no machine of the cluster has {args.cpus} CPU: add one with ray start, or set --cpus")
        record(jobs, output)
        task = ray.remote(num_cpus=args.cpus, num_gpus=int(args.device == "cuda"), max_calls=0, max_retries=0)(
            translate_shard)
        Work(jobs, output, lambda shard: task.remote(shard, model, targets, options), args.cpus).run()


def read_options(args: argparse.Namespace) -> tuple[Model, list[str | None], dict[str, Any]]:
    """The model, the target languages, and the options of each translation."""
    folder = resolve_folder(args.run, trust_remote_code=args.trust_remote_code)
    is_path = os.path.isdir(args.run) and not is_packaged(folder)  # a model of the package may lie elsewhere there
    name = os.path.abspath(args.run) if is_path else args.run
    model = Model(name, fingerprint(folder), args.engine, args.device, args.cpus, args.trust_remote_code)
    targets = [None] if args.target is None else [one.strip() for one in args.target.split(",")]
    options = {"source": args.source, "num_beams": args.num_beams, "keep": args.keep}
    if path := vars(args).get("glossary"):
        from seq2see.translate.glossary import read_glossary

        options["glossary"] = read_glossary(path)
    return model, targets, options


# --- in a worker


def translate_shard(shard: Shard, model: Model, targets: list[str | None], options: Mapping[str, Any]) -> None:
    """Write a shard's translation, a line for each of its lines, with a column for each target."""
    if shard.finished.exists():  # by a task that was lost before it could say so
        return
    translator = loaded(model)

    def translated(texts: list[str]) -> list[tuple[Translation, ...]]:
        return [*zip(*(translator(texts, target=target, **options) for target in targets), strict=True)]

    def lines() -> Iterator[str]:
        for start in range(0, len(given), LINES_AT_ONCE):
            for results in line_by_line(translated, given[start : start + LINES_AT_ONCE]):
                yield "\t".join(one_line(result, alone=len(targets) == 1) for result in results)

    for target in targets:
        translator([], target=target, **options)  # a wrong language is not the fault of a line
    given = read(shard)
    try:
        write(shard, lines())
    except UserError as error:
        raise UserError(f"{shard.file}, {error}") from error


@lru_cache(maxsize=1)
def loaded(model: Model) -> Translator:
    """The model, loaded once in each process; UserError if this machine has another one, or another version."""
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    here = socket.gethostname()
    if model.version != __version__:
        raise UserError(f"{here} has seq2see {__version__}, and the command is of {model.version}: install the same")
    translator = Translator.from_pretrained(model.run, engine=model.engine, threads=model.cpus, device=model.device,
                                            trust_remote_code=model.trusted)
    if translator.folder is None or fingerprint(translator.folder) != model.weights:
        raise UserError(f"{model.run} has other weights on {here}: put the same model on each machine")
    return translator


# --- where the command runs


@contextmanager
def connected(address: str) -> Iterator[None]:
    """Inside, Ray is connected to the cluster; UserError if it cannot be reached in time.

    `ray.init` would try for two minutes and then end the process, so the connection is tested first.
    """
    import grpc
    import ray

    if "://" in address:
        raise UserError(f"--ray {address}: expected HOST:PORT or auto", exit_code=2)
    failure = f"cannot reach Ray at {address}: start it there (ray start --head), and run this on one of its machines"
    if address != "auto":
        try:
            grpc.channel_ready_future(grpc.insecure_channel(address)).result(timeout=REACH_SECONDS)
        except grpc.FutureTimeoutError:
            raise UserError(failure) from None
    handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        ray.init(address=address, logging_level="ERROR", log_to_driver=False, configure_logging=False)
    except (ConnectionError, RuntimeError, ValueError) as error:
        raise UserError(f"{failure} ({str(error).partition('.')[0]})") from error
    if threading.current_thread() is threading.main_thread():
        for number, handler in handlers.items():  # Ray's own end the process otherwise than ours
            signal.signal(number, handler)
    try:
        yield
    finally:
        ray.shutdown()


@dataclass
class Work:
    """Hands shards to Ray, and joins the files that are finished."""

    jobs: list[Job]
    output: Path
    start: Callable[[Shard], Any]  # hands a shard to Ray: its reference
    cpus: int  # of a task
    waiting: deque[Shard] = field(default_factory=deque)
    lost: Counter[Shard] = field(default_factory=Counter)  # how often each was lost
    seen: dict[str, str] = field(default_factory=dict)  # the name of each machine, by its id

    def run(self) -> None:
        """Until every file is translated.  What was lost is said at once and, in all, at the end."""
        jobs = {job.folder: job for job in self.jobs}
        left = {folder: set(unfinished(job)) for folder, job in jobs.items()}
        self.waiting.extend(shard for job in self.jobs for shard in job.shards if shard in left[job.folder])
        for folder in [folder for folder, shards in left.items() if not shards]:
            join(jobs[folder], self.output)
        shards = sum(len(job.shards) for job in self.jobs)
        lines = sum(shard.lines for job in self.jobs for shard in job.shards)
        with tqdm(total=lines, initial=lines - sum(shard.lines for shard in self.waiting), unit=" lines",
                  mininterval=1 if sys.stderr.isatty() else 30) as bar:
            for done, shard in enumerate(self._finished(), shards - len(self.waiting) + 1):
                bar.set_description_str(f"{done:,} of {shards:,} shards", refresh=False)
                bar.update(shard.lines)
                folder = shard.finished.parent
                left[folder].discard(shard)
                if not left[folder]:
                    join(jobs[folder], self.output)
        if self.lost:
            gone = [name for id, name in self.seen.items() if id not in {one["NodeID"] for one in machines()}]
            print(f"{', '.join(gone) or 'a process'} was lost; done again elsewhere: {named([*self.lost])}",
                  file=sys.stderr, flush=True)

    def _finished(self) -> Iterator[Shard]:
        """Each shard as it is finished."""
        import ray

        running: dict[Any, Shard] = {}
        while self.waiting or running:
            there = machines()
            self.seen |= {one["NodeID"]: f"{one['NodeManagerHostname']} ({one['NodeID'][:8]})" for one in there}
            cpus = sum(one["Resources"].get("CPU", 0) for one in there)
            while self.waiting and len(running) < AHEAD * max(1, cpus // self.cpus):
                shard = self.waiting.popleft()
                running[self.start(shard)] = shard
            ready, _ = ray.wait([*running], num_returns=1, timeout=1)
            for reference in ready:
                shard = running.pop(reference)
                if self._is_done(reference, shard):
                    yield shard

    def _is_done(self, reference: Any, shard: Shard) -> bool:
        """Whether it is finished; otherwise it was lost, and waits again.  UserError, or another of the command's
        errors, if the task failed by itself: it would fail again."""
        import ray
        from ray.exceptions import RayError, RayTaskError

        try:
            ray.get(reference)
            return True
        except RayTaskError as error:
            if isinstance(error.cause, UserError | OSError | ModuleNotFoundError):
                raise error.cause from None
            reason = str(error.cause).strip().partition("\n")[0]
            raise UserError(f"{shard} failed: {type(error.cause).__name__}: {reason}") from error
        except RayError as error:
            self.lost[shard] += 1
            tqdm.write(f"lost, and done again: {shard} ({type(error).__name__})", file=sys.stderr)
            if self.lost[shard] > LOSSES:
                raise UserError(f"{shard}: its process was lost {LOSSES + 1} times, possibly out of memory; finished"
                                " shards are kept") from error
            self.waiting.appendleft(shard)
            return False


def machines() -> list[dict[str, Any]]:
    """What Ray knows of each machine that is alive."""
    import ray

    return [one for one in ray.nodes() if one["Alive"]]


def named(shards: Sequence[Shard]) -> str:
    """Some of them."""
    return "; ".join(map(str, shards[:NAMED])) + f"; {len(shards) - NAMED:,} more" * (len(shards) > NAMED)
