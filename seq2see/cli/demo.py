"""`seq2see demo`: from nothing to the page, on a model of the package.  On a folder that holds no run yet, storybook's
model is trained there behind the page, which is there at once, and watched from it (`demo_run.py`); then it is served.
"""

import argparse
import json
import socket
from collections.abc import Callable
from functools import partial
from importlib.util import find_spec
from pathlib import Path

from seq2see.demo_run import Learning
from seq2see.errors import UserError
from seq2see.pretrained import NAMES, packaged_folder
from seq2see.training.packaged import is_begun, is_finished

FIRST_PORT = 7860  # Gradio's own
PORTS_TRIED = 100


def run(args: argparse.Namespace) -> None:
    """The command: `args.run`, `args.host`, `args.port` (None: the first free one), `args.no_browser`."""
    if find_spec("gradio") is None:  # it is imported only when the browser is open already
        raise ModuleNotFoundError("no gradio", name="gradio")
    from seq2see.serve.server import Server
    from seq2see.serve.settings import LOOPBACK, ServerSettings
    from seq2see.translate.translator import Translator

    port = choose_port(args.host, args.port)
    packaged = packaged_folder(args.run)
    run = packaged or Path(args.run)
    if not packaged and not is_finished(run):
        is_begun(run)  # that it holds something else is told before the page is there, as what cannot be written is
        try:
            run.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise UserError(f"cannot make the folder {run} ({error.strerror}); give another by --run") from error
    learning = Learning(run)
    known = packaged is not None or learning.finished

    def load() -> Translator:
        if not packaged and learning.needed:
            learning.start()
            learning.wait()
        translator = Translator.from_pretrained(args.run)
        if known:
            print_summary(run)
        return translator

    try:
        settings = ServerSettings(run_lessons=args.host in LOOPBACK)
        # A packaged model has the others beside it: examples and typed text each have the model that does them best.
        others = [name for name in NAMES if packaged and name != packaged.name]
        loaders: dict[str, Callable[[], Translator]] = {run.resolve().name: load}
        loaders |= {name: partial(Translator.from_pretrained, name) for name in others}
        Server(loaders, host=args.host, port=port, open_browser=not args.no_browser,
               settings=settings, learning=None if known else learning.record).run()
    finally:
        learning.stop()


def print_summary(run: Path) -> None:
    """What the run's own evaluation found: BLEU, chrF and, by family, exact matches and right pronouns."""
    from seq2see.training.scores import print_scores

    for split, scores in json.loads((run / "metrics.json").read_text("utf-8"))["evaluation"].items():
        print_scores(f"{run} on {split}", scores)


def choose_port(host: str, port: int | None) -> int:
    """The port asked for, if nobody listens there, or the first such from 7860 on."""
    if port is not None:
        if is_taken(host, port):
            raise UserError(f"port {port} of {host} is taken; give another --port, or none to have a free one chosen")
        return port
    for candidate in range(FIRST_PORT, FIRST_PORT + PORTS_TRIED):
        if not is_taken(host, candidate):
            if candidate != FIRST_PORT:
                print(f"port {FIRST_PORT} is taken, using {candidate}", flush=True)
            return candidate
    raise UserError(f"no free port on {host} from {FIRST_PORT} to {FIRST_PORT + PORTS_TRIED - 1}; give one by --port")


def is_taken(host: str, port: int) -> bool:
    with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.settimeout(1)
        return probe.connect_ex((host, port)) == 0
