"""`seq2see demo`: open the page with a packaged model, or with a run.  If the run's folder holds none yet, storybook's
model is trained in it first (`demo_run.py`).
"""

import argparse
import sys
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path

from seq2see.demo_run import DemoRun
from seq2see.errors import UserError
from seq2see.folders import RUNS, advice
from seq2see.pretrained import NAMES, packaged_folder
from seq2see.training.storybook_run import is_begun, is_finished

FIRST_PORT = 7860  # Gradio's own
PORTS_TRIED = 100


def run(args: argparse.Namespace) -> None:
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
    if not packaged and not is_finished(run):
        is_begun(run)  # raises, before any training, if it holds something else; so does the next line
        run.mkdir(parents=True, exist_ok=True)
    demo = DemoRun(run)

    def load() -> Translator:
        if not packaged and demo.needed:
            demo.start()
            demo.wait()
        return Translator.from_pretrained(args.run)

    try:
        settings = ServerSettings(run_lessons=args.host in LOOPBACK)
        # A packaged model is served with the others: examples and typed text each use the model that suits them.
        others = [name for name in NAMES if packaged and name != packaged.name]
        loaders: dict[str, Callable[[], Translator]] = {run.resolve().name: load}
        loaders |= {name: partial(Translator.from_pretrained, name) for name in others}
        if packaged or not demo.needed:  # a training reports its own progress
            print(f"Loading the model{'s' if others else ''} ...", file=sys.stderr, flush=True)
        Server(loaders, host=args.host, port=port, open_browser=not args.no_browser,
               settings=settings).run()
    finally:
        demo.stop()


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
