"""`seq2see demo`: open the page with a packaged model, or with a run.  If the run's folder holds none yet, storybook's
model is trained in it first, as `seq2see train storybook` does.
"""

import argparse
import json
import sys
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path

from seq2see.cli.train import train
from seq2see.errors import UserError
from seq2see.folders import RUNS, advice, is_finished
from seq2see.pretrained import NAMES, packaged_folder
from seq2see.training.config import load_config, load_record

FIRST_PORT = 7860  # Gradio's own
PORTS_TRIED = 100


def run(args: argparse.Namespace) -> int:
    """The command: `args.run`, `args.host`, `args.port` (None: the first free one), `args.no_browser`."""
    from seq2see.serve.server import Server
    from seq2see.serve.settings import LOOPBACK, ServerSettings
    from seq2see.translate.translator import Translator

    port = free_port(args.host) if args.port is None else args.port
    packaged = packaged_folder(args.run)
    run = packaged or Path(args.run)
    is_name = run.name == args.run  # and no path
    if not packaged and not run.exists() and (is_name or not (run.parent.is_dir() or run.parent.name == RUNS)):
        raise UserError(f"there is no folder {run}{advice(run)} (to train storybook in a new folder: --run"
                        f" {RUNS}/{run.name})", exit_code=2)
    if not packaged and not is_finished(run) and (code := train_storybook(run)):
        return code
    settings = ServerSettings(run_lessons=args.host in LOOPBACK)
    # A packaged model is served with the others: examples and typed text each use the model that suits them.
    others = [name for name in NAMES if packaged and name != packaged.name]
    loaders: dict[str, Callable[[], Translator]] = {run.resolve().name: partial(Translator.from_pretrained, args.run)}
    loaders |= {name: partial(Translator.from_pretrained, name) for name in others}
    print(f"Loading the model{'s' if others else ''} ...", file=sys.stderr, flush=True)
    Server(loaders, host=args.host, port=port, open_browser=not args.no_browser, settings=settings).run()
    return 0


def train_storybook(run: Path) -> int:
    """Train storybook's model in a folder, or resume its training; returns the exit code.

    Raises UserError for a folder that holds something else.
    """
    begun = (run / "run.yaml").is_file() and load_record(run / "run.yaml").data.path == "storybook"
    run.mkdir(parents=True, exist_ok=True)
    if any(item.name != ".lock" for item in run.iterdir()) and not begun:
        raise UserError(f"{run} is not empty and has no storybook run; show a finished model with `seq2see serve"
                        f" {run}`, or give another folder with --run FOLDER")
    print(f"{run}: {'resuming' if begun else 'starting'} the training, which takes a few minutes and happens only once",
          flush=True)
    overrides = [f"training.output_dir={json.dumps(str(run))}", f"training.resume={json.dumps(begun)}"]
    return train(load_config("storybook", overrides), resume="repeat the command")


def free_port(host: str) -> int:
    """The first free port from 7860."""
    from seq2see.serve.server import bind

    for port in range(FIRST_PORT, FIRST_PORT + PORTS_TRIED):
        with suppress(UserError):
            bind(host, port).close()
            if port != FIRST_PORT:
                print(f"port {FIRST_PORT} is in use, using {port}", flush=True)
            return port
    raise UserError(f"no free port on {host} from {FIRST_PORT} to {FIRST_PORT + PORTS_TRIED - 1}; choose another"
                    " with --port")
