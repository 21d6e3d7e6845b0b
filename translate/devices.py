"""The device that runs a model, and the cores that this process may run on.

`auto` is a CUDA GPU if the library finds one, otherwise the CPU.  `mps`, Apple's GPU, is used only on request.
"""

import ctypes
import os
import sys
from typing import Literal

from seq2see.errors import UserError
from seq2see.importing import IMPORTS

Device = Literal["auto", "cpu", "cuda", "mps"]


def torch_device(wanted: Device) -> str:
    """The device for PyTorch.

    Raises UserError for a device that PyTorch cannot find.
    """
    with IMPORTS:
        import torch

    return _chosen(wanted, "PyTorch", cuda=torch.cuda.is_available(), mps=torch.backends.mps.is_available())


def ctranslate2_device(wanted: Device) -> str:
    """The device for CTranslate2.

    Raises UserError for a device that CTranslate2 cannot find.
    """
    return _chosen(wanted, "CTranslate2, which needs CUDA 12,", cuda=_ctranslate2_finds_cuda())


def ctranslate2_finds(device: Device) -> bool:
    """Whether CTranslate2 can run on the device."""
    return device in ("auto", "cpu") or (device == "cuda" and _ctranslate2_finds_cuda())


def _ctranslate2_finds_cuda() -> bool:
    """Whether there is a GPU and the library of CUDA 12, which CTranslate2 loads at its first translation.

    PyTorch 2.13 brings only the library of CUDA 13.
    """
    with IMPORTS:
        import ctranslate2

    if ctranslate2.get_cuda_device_count() == 0:
        return False
    try:
        ctypes.CDLL("cublas64_12.dll" if sys.platform == "win32" else "libcublas.so.12", winmode=0)
    except OSError:
        return False
    return True


def _chosen(wanted: Device, library: str, *, cuda: bool, mps: bool = False) -> str:
    device = wanted if wanted != "auto" else "cuda" if cuda else "cpu"
    if not {"cpu": True, "cuda": cuda, "mps": mps}[device]:
        raise UserError(f"device {device}: {library} finds none here; use cpu or auto", exit_code=2)
    return device


def usable_cores() -> int:
    """The number of cores that this process may run on."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
