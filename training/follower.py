"""What every process of a training but the first does: the same experiment (see `processes.py`)."""

import gc
import os
import pickle
import sys
import threading

import torch

from .run import run_experiment
from .stopping import leave_signals_to_parent


def follow() -> None:
    """Run the experiment that the first process sends by standard input.  Signals are the first one's business."""
    leave_signals_to_parent()
    config = pickle.load(sys.stdin.buffer)
    threading.Thread(target=end_with_parent, daemon=True).start()
    gc.freeze()  # what was imported is never garbage, and a training has the collector look for some
    gc.enable()
    torch.set_num_threads(int(os.environ["OMP_NUM_THREADS"]))
    print("ready", flush=True)
    torch.distributed.init_process_group("gloo")
    try:
        run_experiment(config)
    except Exception as error:
        print(" ".join(str(error).split())[:300], flush=True)
        raise


def end_with_parent() -> None:
    """Once the first process is gone, training along is in vain."""
    os.read(0, 1)  # nothing comes, but the end of the pipe
    os._exit(1)
