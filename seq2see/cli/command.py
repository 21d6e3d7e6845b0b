"""The `seq2see` command: parses the arguments, runs one verb, and turns errors into one line and an exit code.

`parser.py` declares the arguments.  Each verb is `run` in a module of its own name, imported only when it runs, so that
`--help` answers at once.
Exit codes: 0 success, 1 failure, 2 usage error, 130 Ctrl-C, 141 the reader of our output has gone, 143 SIGTERM.
"""

import atexit
import gc
import io
import os
import re
import signal
import sys
import threading
import traceback
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from types import FrameType
from typing import NoReturn

from seq2see.cli.parser import build_parser, parse
from seq2see.errors import UserError

# What PyTorch, CUDA and oneDNN say where Python has a MemoryError.
OUT_OF_MEMORY = re.compile(
    r"can't allocate memory|not enough memory|CUDA out of memory|could not create a (?:memory|primitive)")
# What to install with pip if a module is missing: a package, or an extra.
PACKAGE_OF = {
    **{name: name for name in (
        "torch", "transformers", "tokenizers", "datasets", "filelock", "accelerate", "matplotlib", "sacrebleu",
        "sacremoses", "sentencepiece", "protobuf", "regex", "sentencex", "numpy", "safetensors", "huggingface_hub",
        "langcodes", "psutil", "pydantic",
    )},
    "yaml": "pyyaml", "ahocorasick_rs": "ahocorasick-rs",
    **dict.fromkeys(("gradio", "fastapi", "jinja2", "starlette", "uvicorn",
                     "uvloop", "prometheus_client", "py3langid"),
                    "'seq2see[serve]'"),
    **dict.fromkeys(("lxml", "polib"), "'seq2see[files]'"),
    **dict.fromkeys(("ray", "cloudpickle", "grpc"), "'seq2see[ray]'"),
    "ctranslate2": "'seq2see[fast]'",
    "peft": "'seq2see[lora]'",
    "tensorboard": "'seq2see[tensorboard]'",
    "mcp": "'seq2see[mcp]'",
}

# How often a torch thread polls for work before it sleeps, with GNU's OpenMP, as on Linux.  At the default of 300,000
# a training in two threads is 3 % faster on an idle machine, and twenty times slower beside one busy program.
SPINS = "3000"


def prepare_process() -> None:
    """Set up what every verb needs before anything heavy is imported: no telemetry, no chatter, UTF-8 streams."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:  # closed by the parent process: the next file opened would get its number
            setattr(sys, name, open(os.devnull, mode))  # noqa: SIM115
    os.environ.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")
    os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")  # its threads would compete with the engine for cores
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
    atexit.register(gc.freeze)  # skips a last garbage collection over all imports as the process ends


def debugging() -> bool:
    return os.environ.get("SEQ2SEE_DEBUG", "") not in ("", "0")


@contextmanager
def catch_signals() -> Iterator[list[int]]:
    """Inside, SIGINT and SIGTERM, unless ignored, raise the exception that ends the process, and are recorded: a
    library interrupted in C may raise its own instead, as Ray its SystemExit(1).  During an import they end the
    process at once: the exception could be lost there, or end it as a crash."""
    received: list[int] = []

    def note(number: int, frame: FrameType | None) -> NoReturn:
        received.append(number)
        if any(one.f_globals.get("__name__") == "importlib._bootstrap" for one, _ in traceback.walk_stack(frame)):
            if number == signal.SIGINT:
                print_error("interrupted")
            os._exit(128 + number)
        raise KeyboardInterrupt if number == signal.SIGINT else SystemExit(128 + number)

    in_main_thread = threading.current_thread() is threading.main_thread()
    numbers = (signal.SIGINT, signal.SIGTERM) if in_main_thread else ()
    before = {number: signal.getsignal(number) for number in numbers}
    for number, handler in before.items():
        if handler is not signal.SIG_IGN:
            signal.signal(number, note)
    try:
        yield received
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def describe(error: Exception) -> str:
    """One line for the user: what is wrong, where, and how to fix it."""
    if isinstance(error, UserError):
        return f"error: {error}"
    if isinstance(error, ModuleNotFoundError) and (module := (error.name or "").partition(".")[0]) in PACKAGE_OF:
        return f"error: {module} is missing: pip install {PACKAGE_OF[module]}"
    if isinstance(error, OSError):
        where = f": {os.fsdecode(error.filename)}" if isinstance(error.filename, str | bytes) else ""
        return f"error: {error.strerror or error}{where}"
    if isinstance(error, UnicodeDecodeError):
        return f"error: the input is not UTF-8 ({error}): convert it, for example with iconv -f LATIN1 -t UTF-8"
    if isinstance(error, MemoryError) or OUT_OF_MEMORY.search(str(error)):
        return ("error: out of memory; close other programs or, if this is a training, take smaller batches:"
                f" training.gradient_accumulation_steps=4 ({type(error).__name__}: {error})")
    advice = "rerun with SEQ2SEE_DEBUG=1 for the traceback, and report it with the output of `seq2see env`"
    return f"internal error: {type(error).__name__}: {error} ({advice})"


def print_error(message: str) -> None:
    print(f"seq2see: {' '.join(message.split())}", file=sys.stderr, flush=True)


def drop_output() -> None:
    """Discard unwritten output: Python flushes at exit and would fail a second time."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)


def main(argv: list[str] | None = None) -> int:
    """Run the command line `argv` (default: the process's own) and return the exit code."""
    prepare_process()
    with catch_signals() as received:
        try:
            try:
                parser = build_parser()
                args = parse(parser, argv)
                if "name" not in args:
                    parser.print_help(sys.stderr)
                    return 2
                return import_module(f"seq2see.cli.{args.name}").run(args) or 0
            finally:
                sys.stdout.flush()  # raises BrokenPipeError here, where it can be handled, if the reader has gone
        except KeyboardInterrupt:
            print_error("interrupted")
            return 130
        except SystemExit:
            if not received:
                raise
            return 128 + received[0]
        except BrokenPipeError:
            drop_output()
            return 141
        except Exception as error:
            if debugging():
                traceback.print_exception(error)
            print_error("interrupted" if received else describe(error))
            drop_output()
            return 128 + received[0] if received else error.exit_code if isinstance(error, UserError) else 1
