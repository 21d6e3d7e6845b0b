"""`seq2see demo`: from nothing to the page. Trains storybook's model if it is not there yet, then shows it."""

import argparse
import json
import socket
from pathlib import Path

from seq2see.errors import UserError

FIRST_PORT = 7860  # Gradio's own
PORTS_TRIED = 100


def demo(args: argparse.Namespace) -> int:
    """The command: `args.run`, `args.host`, `args.port` (None: the first free one), `args.no_browser`."""
    from seq2see.serve.page import launch  # first: a missing gradio is told before minutes of training, not after

    run = Path(args.run)
    port = choose_port(args.host, args.port)
    if not is_finished(run):
        train_storybook(run)
    print_summary(run)
    launch(str(run), host=args.host, port=port, open_browser=not args.no_browser)
    return 0


def is_finished(run: Path) -> bool:
    """A run's metrics are the last thing that training writes."""
    return (run / "metrics.json").is_file() and (run / "model.safetensors").is_file()


def train_storybook(run: Path) -> None:
    """Train the packaged configuration into `run`, going on where an interrupted training stopped."""
    from seq2see.training.config import load_config
    from seq2see.training.run import run_experiment

    begun = (run / "run.yaml").is_file()
    if run.is_dir() and any(run.iterdir()) and not begun:
        raise UserError(f"{run} holds something that is not a run of ours; show it with `seq2see serve {run}`,"
                        " or give demo another folder by --run FOLDER")
    print(f"{run}: {'going on with' if begun else 'starting'} the training; it takes a few minutes, once", flush=True)
    overrides = [f"training.output_dir={json.dumps(str(run))}", f"training.resume={json.dumps(begun)}"]
    run_experiment(load_config("storybook", overrides))


def print_summary(run: Path) -> None:
    """What the run's own evaluation found: BLEU, chrF and, by family, exact matches and right pronouns."""
    from seq2see.training.evaluation import print_scores

    for split, scores in json.loads((run / "metrics.json").read_text("utf-8"))["evaluation"].items():
        print_scores(f"{run} on {split}", scores)


def choose_port(host: str, port: int | None) -> int:
    """The port asked for, which must be free, or the first free one from 7860 on."""
    if port is not None:
        if not is_free(host, port):
            raise UserError(f"port {port} of {host} cannot be used: it is taken or not allowed; give another --port")
        return port
    for candidate in range(FIRST_PORT, FIRST_PORT + PORTS_TRIED):
        if is_free(host, candidate):
            if candidate != FIRST_PORT:
                print(f"port {FIRST_PORT} is taken, using {candidate}", flush=True)
            return candidate
    raise UserError(f"no free port on {host} from {FIRST_PORT} to {FIRST_PORT + PORTS_TRIED - 1}; give one by --port")


def is_free(host: str, port: int) -> bool:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # as the server does: one that just ended is free
        try:
            probe.bind((host, port))
        except OSError:
            return False
    return True
