"""A copy of a checkpoint whose weights are a pickle, as safetensors: `seq2see export MODEL --format safetensors`.

Nothing else in this package opens a pickle.  Here torch opens it with `weights_only`, which builds tensors and calls no
other code.  The result is then checked and loaded like every checkpoint.
"""

import shutil
import tempfile
from pathlib import Path

from seq2see.errors import UserError, as_user_error
from seq2see.folders import PICKLES
from seq2see.importing import IMPORTS
from seq2see.vetting import check_config, check_files
from .loaded_checkpoint import load

COPIED = (".json", ".spm", ".model", ".txt", ".md")


def write(model: Path, folder: Path) -> None:
    """Convert the checkpoint into `folder`, which appears once it is complete; UserError if it is invalid."""
    with IMPORTS:
        import torch
        from safetensors.torch import save_file

    check_files(model)
    check_config(model)
    pickles = sorted(path for pattern in PICKLES for path in model.glob(pattern))
    if not pickles:
        remedy = "; it has safetensors already: use it as it is" if any(model.glob("*.safetensors")) else ""
        raise UserError(f"{model} has no pytorch_model.bin to convert{remedy}")
    weights: dict[str, torch.Tensor] = {}
    for path in pickles:
        with as_user_error(f"{path} cannot be read as weights alone"):
            read = torch.load(path, map_location="cpu", weights_only=True)
            # A clone for each name: safetensors refuses tensors that share memory.  Transformers ties them again.
            weights |= {name: tensor.clone() for name, tensor in read.items()}
    with tempfile.TemporaryDirectory(prefix=".safetensors-", dir=folder.parent) as scratch:
        raw, made = Path(scratch) / "raw", Path(scratch) / "made"
        raw.mkdir()
        for path in model.iterdir():
            if path.suffix in COPIED and path.is_file():
                shutil.copyfile(path, raw / path.name)
        shutil.copytree(raw, made)
        save_file(weights, raw / "model.safetensors")
        try:
            loaded, _ = load(raw)
        except UserError as error:
            raise UserError(str(error).replace(str(raw), str(model))) from error
        loaded.save_pretrained(made)
        made.rename(folder)
