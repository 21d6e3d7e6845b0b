"""`seq2see env`: the machine and package versions for a bug report, as plain text."""

import argparse
import os
import platform
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import seq2see

PACKAGES = (
    *("transformers", "tokenizers", "datasets", "accelerate", "safetensors", "huggingface_hub", "sacrebleu"),
    *("sacremoses", "numpy", "gradio", "fastapi", "uvicorn", "pydantic", "ctranslate2", "peft", "ray", "mcp"),
    *("matplotlib", "tensorboard"),
)


def run(args: argparse.Namespace) -> None:
    """Print one `name  value` line per fact."""
    facts = {
        "seq2see": f"{seq2see.__version__} in {Path(seq2see.__file__).parent}",
        "python": f"{platform.python_version()} in {sys.prefix}",
        "platform": platform.platform(),
        **torch_facts(),
        **{name: installed_version(name) for name in PACKAGES},
    }
    for name, value in facts.items():
        print(f"{name:<16} {value}")


def installed_version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"


def torch_facts() -> dict[str, str]:
    """The build of torch, and CPU, threads and GPU as it sees them, or why it cannot be imported."""
    cores = f"{os.cpu_count()} cores"
    try:
        import torch
    except (ImportError, OSError) as error:  # OSError: a shared library is missing or broken
        gpu = f"unknown, torch cannot be imported: {error}"
        return {"cpu": cores, "gpu": gpu, "torch": installed_version("torch")}
    gpu = "none"
    if torch.cuda.is_available():
        card = torch.cuda.get_device_properties(0)
        gibibytes = card.total_memory / 2**30
        gpu = f"{torch.cuda.device_count()} x {card.name}, {gibibytes:.0f} GiB, CUDA {torch.version.cuda}"
    elif torch.backends.mps.is_available():
        gpu = "Apple MPS"
    return {"cpu": f"{cores}, torch uses {torch.get_num_threads()} threads", "gpu": gpu, "torch": torch.__version__}
