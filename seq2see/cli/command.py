"""The `seq2see` command: it parses, runs one verb, and turns whatever goes wrong into one line and an exit code.

What can be asked for is in `parser.py`.  Each verb is `run` in a module of its own name, imported only when it runs, so
that `--help` answers at once.
Exit codes: 0 done, 1 failed, 2 used wrongly, 130 on Ctrl-C, 141 when whoever read our output is gone, 143 on SIGTERM.
"""

import argparse
import atexit
import errno
import gc
import io
import os
import signal
import sys
import threading
import traceback
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from importlib import import_module
from types import FrameType
from typing import NoReturn

from seq2see.cli.parser import build_parser, parse
from seq2see.errors import UserError

# What pip is to install where a module is missing: a package, or an extra.
PACKAGE_OF = {
    **{name: name for name in (
        "torch", "transformers", "tokenizers", "datasets", "filelock", "accelerate", "matplotlib", "sacrebleu",
        "sacremoses", "regex", "sentencex", "numpy", "safetensors", "huggingface_hub",
    )},
    "yaml": "pyyaml",
    **dict.fromkeys(("gradio", "fastapi", "jinja2", "starlette", "pydantic", "uvicorn",
                     "uvloop", "prometheus_client", "py3langid"), "'seq2see[serve]'"),
    **dict.fromkeys(("ray", "cloudpickle"), "'seq2see[ray]'"),
    "ctranslate2": "'seq2see[fast]'",
    "peft": "'seq2see[lora]'",
    "tensorboard": "'seq2see[tensorboard]'",
    "mcp": "'seq2see[mcp]'",
}  # fmt: skip

# How often a thread of torch's looks for work before it sleeps, where OpenMP is GNU's, as on Linux.  At its default of
# 300,000 a training in two threads is 3 % faster on an idle machine, and twenty times slower beside one busy program.
SPINS = "3000"


class ClosedOutput(io.TextIOWrapper):
    """In the place of a stdout that whoever started us closed: a result that would be lost is an error."""

    def __init__(self) -> None:
        super().__init__(open(os.devnull, "rb"))  # noqa: SIM115

    def write(self, text: str) -> NoReturn:
        raise OSError(errno.EBADF, "standard output is closed")


def prepare_process() -> None:
    """Set what every verb wants before anything heavy is imported: no telemetry, no chatter, UTF-8 on every stream."""
    nothing = partial(open, os.devnull)
    for name, stand_in in (("stdin", nothing), ("stdout", ClosedOutput), ("stderr", partial(nothing, "w"))):
        if getattr(sys, name) is None:  # closed by whoever started us: the next file would get its number
            setattr(sys, name, stand_in())
    os.environ.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")
    os.environ.setdefault("GRADIO_ANALYTICS_ENABLED", "False")
    os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    if "OMP_WAIT_POLICY" not in os.environ:
        os.environ.setdefault("GOMP_SPINCOUNT", SPINS)
    if not sys.stderr.isatty():
        os.environ.setdefault("HF_HUB_DISABLE_PROGRESS_BARS", "1")
        os.environ.setdefault("HF_DATASETS_DISABLE_PROGRESS_BARS", "1")
    if not sys.warnoptions and not debugging():
        warnings.simplefilter("ignore")
    for stream, errors in ((sys.stdin, "strict"), (sys.stdout, "strict"), (sys.stderr, "backslashreplace")):
        if isinstance(stream, io.TextIOWrapper):  # not so under pytest and in notebooks
            stream.reconfigure(encoding="utf-8", errors=errors)
    atexit.unregister(gc.freeze)
    atexit.register(gc.freeze)  # or all that was imported is gone through for garbage once more as the process ends


def debugging() -> bool:
    return os.environ.get("SEQ2SEE_DEBUG", "") not in ("", "0")


@contextmanager
def listening() -> Iterator[list[int]]:
    """Inside, SIGINT and SIGTERM raise what ends us, where they are not ignored, and are noted: a library whose import
    is interrupted in C may make an error of its own of that."""
    told: list[int] = []

    def note(number: int, frame: FrameType | None) -> NoReturn:
        told.append(number)
        raise KeyboardInterrupt if number == signal.SIGINT else SystemExit(128 + number)

    in_main_thread = threading.current_thread() is threading.main_thread()
    numbers = (signal.SIGINT, signal.SIGTERM) if in_main_thread else ()
    before = {number: signal.getsignal(number) for number in numbers}
    for number, handler in before.items():
        if handler is not signal.SIG_IGN:
            signal.signal(number, note)
    try:
        yield told
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def collector_at_rest() -> Iterator[None]:
    """Inside, nothing is collected: an import makes a million objects, all of which stay, and to look among them for
    garbage takes a fifth of its time."""
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def run_verb(args: argparse.Namespace) -> int:
    """Import the verb's module and run it.

    A verb may have a check, which needs no heavy import and refuses at once what it can.
    """
    module = f"seq2see.cli.{args.name}"
    if "check" in args:
        check_module, check_name = args.check.split(":")
        getattr(import_module(check_module), check_name)(args)
    with collector_at_rest():
        imported = module in sys.modules
        run = import_module(module).run
        if not imported:
            gc.freeze()  # a training has it collect
    return run(args) or 0


def describe(error: Exception) -> str:
    """One line for the user: what is wrong, where, and how to mend it."""
    if isinstance(error, UserError):
        return f"error: {error}"
    if isinstance(error, ModuleNotFoundError) and (module := (error.name or "").partition(".")[0]) in PACKAGE_OF:
        return f"error: {module} is missing: pip install {PACKAGE_OF[module]}"
    if isinstance(error, OSError):
        where = f": {os.fsdecode(error.filename)}" if isinstance(error.filename, str | bytes) else ""
        return f"error: {error.strerror or error}{where}"
    if isinstance(error, UnicodeDecodeError):
        return f"error: the input is not UTF-8 ({error}): convert it, for example with iconv -f LATIN1 -t UTF-8"
    advice = "run again with SEQ2SEE_DEBUG=1 to see where, and send that with the output of `seq2see env`"
    return f"internal error: {type(error).__name__}: {error} ({advice})"


def complain(message: str) -> None:
    print(f"seq2see: {' '.join(message.split())}", file=sys.stderr, flush=True)


def drop_output() -> None:
    """Let what could not be written go nowhere: Python flushes at exit, and would complain of it once more."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)


def main(argv: list[str] | None = None) -> int:
    """Run the command line `argv` (default: the process's own) and return the exit code."""
    prepare_process()
    with listening() as told:
        try:
            try:
                parser = build_parser()
                args = parse(parser, argv)
                if "name" not in args:
                    parser.print_help(sys.stderr)
                    return 2
                return run_verb(args)
            finally:
                sys.stdout.flush()  # so that a reader who has gone is noticed while we can still be quiet about it
        except KeyboardInterrupt:
            complain("interrupted")
            return 130
        except BrokenPipeError:
            drop_output()
            return 141
        except Exception as error:
            if debugging():
                traceback.print_exception(error)
            complain("interrupted" if told else describe(error))
            drop_output()
            return 128 + told[0] if told else error.exit_code if isinstance(error, UserError) else 1
