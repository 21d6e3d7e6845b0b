"""The device that runs a model, and the cores that this process may run on.

`auto` is a CUDA GPU if the library finds one, otherwise the CPU; `mps`, Apple's GPU, is used only on request.  Tested
with mocks, not on a real GPU.
"""

import os
from typing import Literal

from seq2see.errors import UserError

Device = Literal["auto", "cpu", "cuda", "mps"]


def torch_device(wanted: Device) -> str:
    """UserError for a device that PyTorch cannot find."""
    import torch

    return _chosen(wanted, "PyTorch", cuda=torch.cuda.is_available(), mps=torch.backends.mps.is_available())


def ctranslate2_device(wanted: Device) -> str:
    """UserError for a device that CTranslate2 cannot find."""
    import ctranslate2

    return _chosen(wanted, "CTranslate2", cuda=ctranslate2.get_cuda_device_count() > 0)


def _chosen(wanted: Device, library: str, *, cuda: bool, mps: bool = False) -> str:
    device = wanted if wanted != "auto" else "cuda" if cuda else "cpu"
    if not {"cpu": True, "cuda": cuda, "mps": mps}[device]:
        raise UserError(f"device {device}: {library} finds none here; use cpu or auto", exit_code=2)
    return device


def usable_cores() -> int:
    """How many cores this process may run on."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
