"""The one door through which weights come in.

`from_pretrained` is lenient: a tensor that is missing from a checkpoint is silently replaced by random numbers, and a
config may ask for any amount of memory.  `load_checkpoint` takes the same folders and refuses what cannot be right, in
one line that names the file and the tensor.  It serves any transformers encoder-decoder, not Seq2See alone.
"""

import json
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import torch
from huggingface_hub import snapshot_download
from huggingface_hub.errors import HfHubHTTPError, HFValidationError, StrictDataclassError
from safetensors import SafetensorError
from transformers import AutoConfig, AutoModelForSeq2SeqLM, PreTrainedConfig, PreTrainedModel
from transformers.utils import logging

from seq2see.errors import UserError
from seq2see.manifest import check_manifest

from .configuration_seq2see import LIMITS

# The same bounds under the names that T5 gives its sizes.
_ALL_LIMITS = LIMITS | {
    "num_layers": 256,
    "num_decoder_layers": 256,
    "num_heads": 256,
    "d_kv": 8_192,
    "d_ff": 65_536,
    "decoder_vocab_size": 2**20,
}
# What a checkpoint needs: text and tensors, nothing that runs when it is opened.
_FILES = ["*.json", "*.safetensors", "*.spm", "*.model", "*.txt", "*.md", "*.yaml"]


def resolve_folder(name: str | Path, *, trust_remote_code: bool = False) -> Path:
    """The local folder of a checkpoint: `name` itself, or the download of a Hub id such as `org/model`.

    A name whose first part is a folder here (`runs/typo`) is a path, and is never looked for on the Hub.

    Raises:
        UserError: there is no such folder, and no such model on the Hub or no way to reach it.
    """
    folder = Path(name)
    if folder.is_dir():
        return folder
    if folder.exists():
        raise UserError(f"{name} is a file; expected the folder of a checkpoint")
    if not re.fullmatch(r"[\w.-]+/[\w.-]+", str(name)) or folder.parent.is_dir():
        raise UserError(
            f"there is no folder {name}; give the folder of a trained model, or train one: seq2see train storybook"
        )
    try:
        return Path(snapshot_download(str(name), allow_patterns=[*_FILES, "*.py"] if trust_remote_code else _FILES))
    except (HfHubHTTPError, HFValidationError, OSError) as error:
        reason = str(error).strip().partition("\n")[0]
        raise UserError(
            f"there is no folder {name}, and the Hub did not give a model of that name: {reason}"
        ) from error


def load_checkpoint(name: str | Path, *, trust_remote_code: bool = False) -> PreTrainedModel:
    """Load an encoder-decoder in float32, ready to use (`eval`), or refuse it.

    Args:
        name: a folder written by `save_pretrained`, or a Hub id.
        trust_remote_code: run the model code that the folder ships.  Never read from a file.

    Raises:
        UserError: no such folder; no or broken config.json; a size out of bounds; not an encoder-decoder; no
            safetensors weights; tensors missing, left over, of the wrong shape or not finite.
    """
    folder = resolve_folder(name, trust_remote_code=trust_remote_code)
    check_manifest(folder)
    config = _load_config(folder, trust_remote_code=trust_remote_code)
    _check_weight_files(folder)
    try:
        with _transformers_quiet():
            model, report = AutoModelForSeq2SeqLM.from_pretrained(
                folder,
                config=config,
                dtype=torch.float32,
                attn_implementation="sdpa",
                use_safetensors=True,
                local_files_only=True,
                ignore_mismatched_sizes=True,  # reported below instead of raised in ten lines
                output_loading_info=True,
                trust_remote_code=trust_remote_code,
            )
    except (SafetensorError, OSError, ValueError, RuntimeError) as error:
        raise UserError(
            f"the weights in {folder} cannot be read, perhaps half written: {_first_line(error)}"
        ) from error
    _refuse(folder, "tensors are missing", report["missing_keys"])
    _refuse(folder, "tensors have the wrong shape", (_describe_mismatch(entry) for entry in report["mismatched_keys"]))
    _refuse(folder, "tensors do not belong to this model", report["unexpected_keys"])
    _refuse(
        folder, "tensors hold NaN or infinity", (k for k, t in model.state_dict().items() if not t.isfinite().all())
    )
    return model.eval()


@contextmanager
def _transformers_quiet() -> Iterator[None]:
    """No progress bar for a second's work, and no report of what is refused below in one line."""
    verbosity, bar = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        logging.set_verbosity(verbosity)
        if bar:
            logging.enable_progress_bar()


def _load_config(folder: Path, *, trust_remote_code: bool) -> PreTrainedConfig:
    path = folder / "config.json"
    if not path.is_file():
        raise UserError(f"{folder} has no config.json: it is empty, half written, or not a checkpoint")
    try:
        raw = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, OSError) as error:
        raise UserError(f"{path} is not valid JSON: {_first_line(error)}") from error
    if not isinstance(raw, dict) or "model_type" not in raw:
        raise UserError(f"{path} has no model_type: it is not the config of a transformers model")
    for key, largest in _ALL_LIMITS.items():
        value = raw.get(key)
        if value is not None and not (type(value) is int and 1 <= value <= largest):
            raise UserError(f"{path}: {key}: expected a whole number from 1 to {largest}, got {value!r}")
    try:
        config = AutoConfig.from_pretrained(folder, local_files_only=True, trust_remote_code=trust_remote_code)
    except (StrictDataclassError, ValueError, TypeError, OSError) as error:
        raise UserError(f"{path}: {_first_line(error, last=isinstance(error, StrictDataclassError))}") from error
    if not config.is_encoder_decoder:
        raise UserError(
            f"{path}: {config.model_type} is not an encoder-decoder; expected one, such as Seq2See, Marian, BART or T5"
        )
    return config


def _check_weight_files(folder: Path) -> None:
    """The safetensors files that the folder names exist, inside it."""
    index = folder / "model.safetensors.index.json"
    if not index.is_file():
        if not (folder / "model.safetensors").is_file():
            raise UserError(
                f"{folder} has no model.safetensors: it is half written, or saved in a format that is not loaded here"
            )
        return
    try:
        names = set(json.loads(index.read_text(encoding="utf-8"))["weight_map"].values())
    except (ValueError, KeyError, AttributeError, OSError) as error:
        raise UserError(f"{index} is not a valid index of weights: {_first_line(error)}") from error
    for file in sorted(names):
        if Path(file).name != file or not (folder / file).is_file():
            raise UserError(f"{index} names {file}, which is not a file of {folder}")


def _refuse(folder: Path, what: str, tensors: Iterable[str]) -> None:
    names = sorted(tensors)
    if names:
        more = f" and {len(names) - 3} more" if len(names) > 3 else ""
        raise UserError(
            f"{folder}: {what}: {', '.join(names[:3])}{more}; the checkpoint is damaged or of another model"
        )


def _describe_mismatch(entry: tuple) -> str:
    name, found, expected = entry
    return f"{name} (expected {list(expected)}, got {list(found)})"


def _first_line(error: BaseException, *, last: bool = False) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()] or [type(error).__name__]
    return lines[-1 if last else 0][:300]
