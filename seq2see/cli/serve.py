"""The verb `serve`: serves models over HTTP, with a page."""

import argparse
import signal
import sys
import threading
from collections.abc import Sequence
from functools import partial
from pathlib import Path


def run(args: argparse.Namespace) -> None:
    """`args.run`, names or folders of models; `args.engine`, `args.host`, `args.port`; `args.config`, a YAML file, and
    `args.set`, settings as key=value.  Serves until Ctrl-C or SIGTERM."""
    if hangups := hangups_are_free():
        signal.signal(signal.SIGHUP, signal.SIG_IGN)  # until the server takes it
    from seq2see.serve.server import Server, bind
    from seq2see.serve.settings import read_settings
    from seq2see.translate import Translator

    settings = read_settings(args.config, args.set)
    bind(args.host, args.port).close()  # fails on a port in use before seconds of imports
    loaders = {
        name: partial(Translator.from_pretrained, run, engine=args.engine, device=args.device,
                      trust_remote_code=args.trust_remote_code)
        for name, run in _names(args.run).items()
    }
    Server(loaders, host=args.host, port=args.port, settings=settings, hangups=hangups).run()


def hangups_are_free() -> bool:
    """Whether SIGHUP may mean a reload: in a terminal it says that this was closed, and nohup ignores it."""
    return (sys.platform != "win32" and threading.current_thread() is threading.main_thread()
            and signal.getsignal(signal.SIGHUP) is signal.SIG_DFL and not (sys.stdin and sys.stdin.isatty()))


def _names(runs: Sequence[str]) -> dict[str, str]:
    """The name of each model: the last part of its path, or the whole path if that is ambiguous."""
    short = [Path(run).resolve().name if Path(run).is_dir() else run.rpartition("/")[2] for run in runs]
    names = [name if short.count(name) == 1 else run for name, run in zip(short, runs, strict=True)]
    return dict(zip(names, runs, strict=True))
