"""`seq2see` commands as processes of their own that import nothing: forked from one that has imported everything.

    python -S tests/forked.py SOCKET ARGUMENT ...

is `python -m seq2see ARGUMENT ...` in this folder and environment, with these streams, this exit code and this SIGTERM.
It spares the seconds that every process takes to import torch, datasets or gradio.  The process that forks computes
nothing itself: a pool of threads would not survive the fork.
"""

import json
import os
import signal
import socket
import subprocess
import sys
import time
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
VERBS = ("align", "demo", "evaluate", "export", "look", "score", "serve", "train", "translate")
IMPORTS = (
    *(f"seq2see.cli.{verb}" for verb in VERBS),
    "seq2see.lens",
    "seq2see.serve.server",
    "seq2see.serve.ui.page",
    "seq2see.training.run",
    "seq2see.translate.ctranslate2_engine",
    "seq2see.translate.torch_engine",
)


@contextmanager
def fork_server(path):
    """The words of a command line that begin a `seq2see` command, inside the context."""
    if sys.platform != "linux":  # macOS lets no process fork safely that has loaded its libraries
        yield [sys.executable, "-m", "seq2see"]
        return
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    with subprocess.Popen([sys.executable, __file__, str(path)], env=environment) as server:
        try:
            while not path.exists():
                assert server.poll() is None, "the process that forks has ended"
                time.sleep(0.05)
            yield [sys.executable, "-S", __file__, str(path)]
        finally:
            server.kill()


def serve(path):
    """Fork a process for each client."""
    from seq2see.cli.command import prepare_process

    prepare_process()
    for name in IMPORTS:
        import_module(name)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # leaves no zombies
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(f"{path}.new")
        listener.listen()
        os.rename(f"{path}.new", path)
        while True:
            client, _ = listener.accept()
            if os.fork() == 0:
                listener.close()
                raise SystemExit(run(client))
            client.close()


def run(client):
    """The command of a client, in a process that was forked for it; returns the exit code."""
    from seq2see.cli.command import main

    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    message, streams, *_ = socket.recv_fds(client, 2**20, 3)
    while not message.endswith(b"\n"):
        message += client.recv(2**20)
    words, folder, environment = json.loads(message)
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    sys.stdin, sys.stdout, sys.stderr = open(0), open(1, "w"), open(2, "w")  # noqa: SIM115
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(folder)
    client.sendall(b"%d\n" % os.getpid())
    try:
        code = main(words)
    except SystemExit as stopped:
        code = stopped.code if isinstance(stopped.code, int) else stopped.code is not None
    client.sendall(b"%d\n" % code)
    return int(code)


def ask(path, words):
    """Have the server fork; returns the exit code."""
    with socket.socket(socket.AF_UNIX) as server:
        server.connect(path)
        message = json.dumps([words, os.getcwd(), dict(os.environ)]).encode() + b"\n"
        socket.send_fds(server, [message], [0, 1, 2])
        with server.makefile("r") as answer:
            process = int(answer.readline())
            signal.signal(signal.SIGTERM, lambda *_: os.kill(process, signal.SIGTERM))
            return int(answer.readline() or 1)  # nothing: it was killed


if __name__ == "__main__":
    if len(sys.argv) == 2:
        serve(sys.argv[1])
    raise SystemExit(ask(sys.argv[1], sys.argv[2:]))
