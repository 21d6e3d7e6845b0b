"""`seq2see demo`: from nothing to the page. Trains storybook's model if it is not there yet, then shows it."""

import argparse
import json
import socket
from functools import partial
from pathlib import Path

from seq2see.errors import UserError

FIRST_PORT = 7860  # Gradio's own
PORTS_TRIED = 100


def demo(args: argparse.Namespace) -> None:
    """The command: `args.run`, `args.host`, `args.port` (None: the first free one), `args.no_browser`."""
    import gradio  # noqa: F401  # first: that it is missing is told before minutes of training, not after

    from seq2see.serve.server import launch
    from seq2see.serve.translator import Translator
    from seq2see.training.packaged import is_finished, train_storybook

    run = Path(args.run)
    port = choose_port(args.host, args.port)
    if not is_finished(run):
        train_storybook(run)
    print_summary(run)
    models = {run.resolve().name: partial(Translator.from_pretrained, str(run))}
    launch(models, host=args.host, port=port, open_browser=not args.no_browser)


def print_summary(run: Path) -> None:
    """What the run's own evaluation found: BLEU, chrF and, by family, exact matches and right pronouns."""
    from seq2see.training.evaluation import print_scores

    for split, scores in json.loads((run / "metrics.json").read_text("utf-8"))["evaluation"].items():
        print_scores(f"{run} on {split}", scores)


def choose_port(host: str, port: int | None) -> int:
    """The port asked for, if nobody listens there, or the first such from 7860 on; known before minutes of training."""
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
