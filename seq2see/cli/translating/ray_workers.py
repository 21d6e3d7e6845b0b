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
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

from seq2see import __version__
from seq2see.cli.lines import LINES_AT_ONCE, line_by_line
from seq2see.cli.translating.line_shards import (
    FileJob,
    Shard,
    checksum,
    join,
    plan,
    read,
    record,
    unfinished,
    unjoined,
    write,
)
from seq2see.cli.translating.request import TranslationRequest, check
from seq2see.errors import UserError
from seq2see.folders import resolve_folder
from seq2see.pretrained import is_packaged
from seq2see.training.progress import Progress
from seq2see.translate.loaded_checkpoint import fingerprint

ARGUMENTS = ("run", "engine", "device", "trust_remote_code", "source", "target", "num_beams", "keep", "glossary",
             "alternatives", "check", "alignments", "calibrated", "jsonl")  # that reach the workers
REACH_SECONDS = 10  # for a connection to the cluster
JOIN_SECONDS = 60  # until Ray takes it
AHEAD = 4  # tasks handed to Ray for each that can run
LOSSES = 5  # of one shard: it may be what kills the processes
NAMED = 5  # shards in a message


@dataclass(frozen=True)
class Wanted:
    """What a worker loads; each machine must have the same."""

    arguments: tuple[tuple[str, Any], ...]  # of the command, as `TranslationRequest.of` takes them
    weights: str  # the fingerprint of the model's
    cpus: int
    version: str = __version__

    @classmethod
    def of(cls, args: argparse.Namespace) -> "Wanted":
        """With paths that hold on each machine; UserError if there is no such model."""
        folder = resolve_folder(args.run, trust_remote_code=args.trust_remote_code)
        given = {name: getattr(args, name) for name in ARGUMENTS}
        if os.path.isdir(args.run) and not is_packaged(folder):  # a model of the package may lie elsewhere there
            given["run"] = os.path.abspath(args.run)
        if args.glossary:
            given["glossary"] = os.path.abspath(args.glossary)
        return cls(tuple(given.items()), fingerprint(folder), args.cpus)

    def key(self) -> str:
        """What a translation depends on besides its lines."""
        given = {name: value for name, value in self.arguments if name not in ("run", "device")}
        if given["glossary"]:
            given["glossary"] = checksum(Path(given["glossary"]).read_bytes())
        return repr((self.version, self.weights, given))


def run(args: argparse.Namespace) -> None:
    """`args.ray`, `args.shard_lines`, `args.cpus`, and the options of `translate`."""
    import ray

    if args.files:
        raise UserError(f"--ray translates the files of the folder INPUT; omit {args.files[0]}", exit_code=2)
    check(args)
    address, *folders = args.ray
    source, output = (Path(os.path.abspath(one)) for one in folders)
    wanted = Wanted.of(args)
    jobs = unjoined(plan(source, output, lines=args.shard_lines, key=wanted.key()), output)
    if not jobs:
        print(f"{output} already has a translation of every file", file=sys.stderr, flush=True)
        return
    with connected(address):
        if not any(one["Resources"].get("CPU", 0) >= args.cpus for one in machines()):
            raise UserError(f"no machine of the cluster has {args.cpus} CPUs; add a machine with ray start, or lower"
                            " --cpus")
        record(jobs, output)
        task = ray.remote(num_cpus=args.cpus, num_gpus=int(args.device == "cuda"), max_calls=0, max_retries=0)(
            translate_shard)
        Work(jobs, output, lambda shard: task.remote(shard, wanted), args.cpus).run()


# --- in a worker


def translate_shard(shard: Shard, wanted: Wanted) -> None:
    """Write a shard's translation, a line for each of its lines."""
    if shard.finished.exists():  # by a task that was lost before it could say so
        return
    request, given = loaded(wanted), read(shard)

    def lines() -> Iterator[str]:
        for start in range(0, len(given), LINES_AT_ONCE):
            for _, line in line_by_line(request.translated, given[start : start + LINES_AT_ONCE]):
                yield line

    try:
        write(shard, lines())
    except UserError as error:
        raise UserError(f"{shard.file}, {error}") from error


@lru_cache(maxsize=1)
def loaded(wanted: Wanted) -> TranslationRequest:
    """The model and the options, loaded once in each process; UserError for a wrong option, or if this machine has
    another model or another version of Seq2See."""
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    here = socket.gethostname()
    if wanted.version != __version__:
        raise UserError(f"{here} has seq2see {__version__}, the command has {wanted.version}; install the same version")
    request = TranslationRequest.of(argparse.Namespace(**dict(wanted.arguments)), threads=wanted.cpus)
    folder = request.translator.folder
    if folder is None or fingerprint(folder) != wanted.weights:
        raise UserError(f"{request.translator.name} has other weights on {here}; copy the same model to each machine")
    return request


# --- where the command runs


@contextmanager
def connected(address: str) -> Iterator[None]:
    """Inside, Ray is connected to the cluster; UserError if it cannot be reached in time.

    `ray.init` would try for two minutes and then end the process.  So the connection is tested first, and what may
    still be wrong, such as Ray's password, has its time too: it can be stopped in no other way than with the process.
    """
    import grpc
    import ray
    from ray.exceptions import RayError

    if "://" in address:
        raise UserError(f"--ray {address}: expected HOST:PORT or auto", exit_code=2)
    failure = (f"cannot reach Ray at {address}; start it with ray start --head, and run this command on a machine of"
               " the cluster")
    if address != "auto":
        try:
            grpc.channel_ready_future(grpc.insecure_channel(address)).result(timeout=REACH_SECONDS)
        except grpc.FutureTimeoutError:
            raise UserError(failure) from None
    late = threading.Timer(JOIN_SECONDS, end_process, (f"{failure}; if the cluster needs a password, set"
                                                       " RAY_AUTH_MODE=token",))
    late.daemon = True
    late.start()
    handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        ray.init(address=address, logging_level="ERROR", log_to_driver=False, configure_logging=False)
    except (ConnectionError, RuntimeError, ValueError, RayError) as error:
        raise UserError(f"{failure} ({str(error).partition('.')[0]})") from error
    finally:
        late.cancel()
    if threading.current_thread() is threading.main_thread():
        for number, handler in handlers.items():  # Ray's own end the process otherwise than ours
            signal.signal(number, handler)
    try:
        yield
    finally:
        ray.shutdown()


def end_process(message: str) -> None:
    print(f"seq2see: error: {message}", file=sys.stderr, flush=True)
    os._exit(1)


@dataclass
class Work:
    """Hands shards to Ray, and joins the files that are finished."""

    jobs: list[FileJob]
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
        self.progress = Progress("", lines, "lines", done=lines - sum(shard.lines for shard in self.waiting))
        try:
            for done, shard in enumerate(self._finished(), shards - len(self.waiting) + 1):
                self.progress.name = f"{done:,} of {shards:,} shards"
                self.progress.advance(shard.lines)
                folder = shard.finished.parent
                left[folder].discard(shard)
                if not left[folder]:
                    join(jobs[folder], self.output)
            self.progress.end()
        finally:
            self.progress.clear()
        if self.lost:
            gone = [name for id, name in self.seen.items() if id not in {one["NodeID"] for one in machines()}]
            print(f"{', '.join(gone) or 'a process'} was lost; its shards were translated again: {named([*self.lost])}",
                  file=sys.stderr, flush=True)

    def _finished(self) -> Iterator[Shard]:
        """Each shard as it is finished."""
        import ray

        running: dict[Any, Shard] = {}
        while self.waiting or running:
            there = machines()
            self.seen |= {node["NodeID"]: f"{node['NodeManagerHostname']} ({node['NodeID'][:8]})" for node in there}
            cpus = sum(node["Resources"].get("CPU", 0) for node in there)
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
            self.progress.clear()
            print(f"lost, will be translated again: {shard} ({type(error).__name__})", file=sys.stderr, flush=True)
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
