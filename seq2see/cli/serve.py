"""The verb `serve`: models for clients and on a page."""

import argparse
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from seq2see.translate import Translator


def run(args: argparse.Namespace) -> None:
    """`args.run`, names or folders of models; `args.engine`, `args.host`, `args.port`; `args.config`, a YAML file, and
    `args.set`, settings as key=value: serves until Ctrl-C or SIGTERM."""
    from seq2see.serve.server import Server, bind
    from seq2see.serve.settings import read_settings

    settings = read_settings(args.config, args.set)
    bind(args.host, args.port).close()  # a port in use is told before seconds of imports
    if settings.page:
        import seq2see.serve.ui.page  # noqa: F401  (a missing gradio is told before a model is loaded)
    loaders = {
        name: partial(Translator.from_pretrained, run, engine=args.engine, device=args.device)
        for name, run in _names(args.run).items()
    }
    Server(loaders, host=args.host, port=args.port, settings=settings).run()


def _names(runs: Sequence[str]) -> dict[str, str]:
    """What each model is called: the last part of its path, or, where two would be called the same, all of it."""
    short = [Path(run).resolve().name if Path(run).is_dir() else run.rpartition("/")[2] for run in runs]
    names = [name if short.count(name) == 1 else run for name, run in zip(short, runs, strict=True)]
    return dict(zip(names, runs, strict=True))
