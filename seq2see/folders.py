"""Where a checkpoint is: a local or packaged folder, or a download from the Hub; what lies in it; names of what verbs
write.  Imports nothing heavy."""

import os
import re
import shlex
from importlib.resources import files
from pathlib import Path
from typing import Any

from seq2see.errors import UserError, nearest
from seq2see.json_files import read_json
from seq2see.manifest import check_manifest
from seq2see.pretrained import NAMES, check_packaged, is_packaged, packaged_folder

RUNS = "runs"  # where `seq2see train` puts runs, below the current folder
LESSONS_RECORD = "lessons.json"  # `seq2see lessons` writes it to its folder, and a server shows it
LESSONS_FORMAT = 3  # of that record: a server and a page show no other
LESSONS_MODEL = "storybook"  # whose lessons the package has
# What a checkpoint needs: text and tensors, no code, and no sub-folders.  Of an export these patterns match half.
_FILES = ["*.json", "*.safetensors", "*.spm", "*.model", "*.txt", "*.md", "*.yaml"]
_PICKLED = ["pytorch_model.bin", "pytorch_model-*.bin"]  # downloaded only where there are no safetensors
_DISTRIBUTED = ".metadata"  # for which transformers would load other weights than `weight_files` names
_ADAPTER = "adapter_config.json"
_MERGE = """\
from peft import AutoPeftModelForSeq2SeqLM as P; from transformers import AutoTokenizer as T; \
P.from_pretrained({adapter!r}).merge_and_unload().save_pretrained({out!r}); \
T.from_pretrained({tokenizer!r}).save_pretrained({out!r})"""
POINTER, MOST_POINTER = b"version https://git-lfs", 1024  # how a pointer of Git LFS begins, and its most bytes
_WEIGHTS = ("model.safetensors", "pytorch_model.bin")  # in the order in which transformers looks for them
_OTHER_WEIGHTS = ("*.h5", "*.msgpack", "*.onnx", "*.gguf", "*.npz")  # TensorFlow's, Flax's and so on
_NEVER_EMPTY = (".safetensors", ".bin", ".model", ".spm")


def packaged_lessons() -> bytes:
    """The record of the lessons on the packaged model (`lessons/record.py`), gzipped."""
    return files("seq2see.lessons").joinpath(f"{LESSONS_RECORD}.gz").read_bytes()


def local_folder(name: str | Path) -> Path | None:
    """The folder of that name, or None if it can only be a Hub id such as `org/model`.

    A local run takes precedence over a packaged model.  A name that begins with a local folder or with `runs/` is a
    path, and never looked up on the Hub.

    Raises:
        UserError: there is no such folder, and the name is not a valid Hub id.
    """
    if packaged := packaged_folder(name):
        return packaged
    folder = Path(name)
    if folder.is_dir():
        return folder
    if folder.exists():
        raise UserError(f"{name} is a file; give the folder of a checkpoint")
    ours = folder.parts[:1] == (RUNS,)
    if ours or folder.parent.is_dir() or not re.fullmatch(r"[\w.-]+/[\w.-]+", str(name)):
        raise UserError(f"there is no folder {name}{advice(name)}")
    return None


def is_finished(run: Path) -> bool:
    """Whether a training has ended there: a run's metrics are the last thing that it writes."""
    return (run / "metrics.json").is_file() and (run / "model.safetensors").is_file()


def is_download(folder: Path) -> bool:
    """Whether a folder is a download from the Hub, all of whose files are those of the Hub."""
    return folder.parent.name == "snapshots" and folder.parent.parent.name.startswith("models--")


def places(folder: Path, *, beside: str, cached: str) -> tuple[Path, ...]:
    """Where to write what is made of a model, in this order: `beside` in its folder, unless that is packaged, a
    download or read-only; `cached` in the user's cache."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "seq2see" / cached
    if is_packaged(folder) or is_download(folder.absolute()) or not os.access(folder, os.W_OK):
        return (cache,)
    return folder / beside, cache


def advice(name: str | Path) -> str:
    """The end of a message about a folder that is not there."""
    from importlib.resources import files

    known = [*NAMES, *(run.as_posix() for run in Path(RUNS).glob("*/"))]
    recipe = Path(name).name
    if Path(name).parts[:1] != (RUNS,) or not (files("seq2see.configs") / f"{recipe}.yaml").is_file():
        recipe = "storybook"
    return nearest(str(name), known, otherwise=f"give the folder of a trained model or a packaged model"
                                               f" ({', '.join(NAMES)}), or train one: seq2see train {recipe}")


def resolve_folder(name: str | Path, *, trust_remote_code: bool = False) -> Path:
    """The local folder of a checkpoint: `name` itself, a packaged model's, or the download of a Hub id.

    Models are loaded from folders only: given an id whose weights are pickled, transformers would ask a service on the
    Hub to convert them.

    Args:
        trust_remote_code: download code too.

    Raises:
        UserError: there is no such folder, and the Hub has no such model or cannot be reached.
    """
    if folder := local_folder(name):
        return folder
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HfHubHTTPError, HFValidationError

    def download(*wanted: str) -> Path:
        return Path(snapshot_download(str(name), allow_patterns=[*wanted], ignore_patterns="*/*"))

    try:
        folder = download(*_FILES, *["*.py"] * trust_remote_code)
        return folder if any(folder.glob("*.safetensors")) else download(*_PICKLED)
    except (HfHubHTTPError, HFValidationError, OSError) as error:
        reason = str(error).strip().partition("\n")[0]
        raise UserError(f"there is no folder {name}, and it cannot be downloaded from the Hub: {reason}") from error


def check_folder(folder: Path) -> dict[str, Any]:
    """The config.json of a checkpoint.

    Raises:
        UserError: the folder is no checkpoint of transformers, or a file of a packaged model or of one of our runs has
            changed.
    """
    path = folder / "config.json"
    check_packaged(folder) if is_packaged(folder) else check_manifest(folder)
    if reason := why_no_model(folder):
        raise UserError(reason)
    if (folder / _DISTRIBUTED).exists():
        raise UserError(f"{folder} has {_DISTRIBUTED}: save the model with save_pretrained; weights of a distributed"
                        " training are pickled and could run code")
    if not path.is_file():
        raise UserError(f"{folder} has no config.json: it is empty, incomplete, or not a checkpoint")
    for pointer in filter(_is_pointer, sorted(folder.iterdir())):
        raise UserError(f"{pointer} is a Git LFS pointer, not the file itself: run git lfs pull in {folder}")
    for empty in sorted(one for one in folder.iterdir() if one.suffix in _NEVER_EMPTY and not one.stat().st_size):
        raise UserError(f"{empty} is empty: copy it again")
    config = read_json(path)
    if not isinstance(config.get("model_type"), str):
        raise UserError(f"{path} has no model_type: expected the config of a transformers model")
    return config


def numbered(run: Path) -> list[Path]:
    """The folders checkpoint-N of a run, the newest first: by number, since clocks may go backwards."""
    found = [item for item in run.glob("checkpoint-*") if re.fullmatch(r"checkpoint-\d+", item.name)]
    return sorted(found, key=step_of, reverse=True)


def step_of(checkpoint: Path) -> int:
    return int(checkpoint.name.rpartition("-")[2])


def newest_model(run: Path) -> Path | None:
    """The newest checkpoint that every command can open, unlike those of an adapter."""
    from seq2see.settings_file import read_settings

    record = run / "run.yaml"
    if record.is_file() and (read_settings(record, expected="a training's settings").get("model") or {}).get("lora"):
        return None
    return next((folder for folder in numbered(run) if (folder / "config.json").is_file()), None)


def why_no_model(folder: Path) -> str | None:
    """A message about a folder that is no whole model, but an adapter, an export, weights alone or an interrupted
    training, and the command that opens or merges it; None for any other folder."""
    if (folder / _ADAPTER).exists():
        return _of_adapter(folder)
    if (folder / "model.bin").is_file() and any(folder.glob("*vocabulary.*")):
        whole = folder.parent if (folder.parent / "config.json").is_file() else "MODEL"
        return (f"{folder} is a model in CTranslate2's format, without the files that Seq2See needs: open the model"
                f" that it was made from, seq2see translate {whole}")
    if reason := unfinished(folder):
        return reason
    weights = _named(folder, "*.safetensors", "pytorch_model*.bin", *_OTHER_WEIGHTS)
    if weights and not (folder / "config.json").exists():
        return (f"{folder} has weights ({weights[0]}) but no config.json: copy the other files of the model too;"
                " Seq2See reads models of transformers")
    return None


def _named(folder: Path, *patterns: str) -> list[str]:
    return sorted(path.name for pattern in patterns for path in folder.glob(pattern))


def _of_adapter(folder: Path) -> str:
    """The message about a LoRA adapter: its run has the whole model; another one is merged into its base model."""
    if (folder.parent / "config.json").is_file() and (folder.parent / "run.yaml").is_file():
        return (f"{folder} is an adapter, which is part of the model in {folder.parent}: open that,"
                f" seq2see translate {folder.parent}")
    path = folder / _ADAPTER
    base = read_json(path).get("base_model_name_or_path") if path.is_file() else None
    if not isinstance(base, str):
        return f"{folder} has {_ADAPTER}, which names no base model: merge the adapter into its base model with peft"
    own = (folder / "tokenizer_config.json").is_file()
    merge = _MERGE.format(adapter=str(folder), out=f"{folder}-merged", tokenizer=str(folder) if own else base)
    return (f"{folder} is an adapter of {base}, not a whole model: merge the adapter into its base model, python -c"
            f" {shlex.quote(merge)}")


def unfinished(folder: Path) -> str | None:
    """A message about a run whose training was interrupted; None for any other folder."""
    if (folder / "config.json").exists() or not ((folder / "run.yaml").is_file() or numbered(folder)):
        return None
    newest = newest_model(folder)
    return (f"the training of {folder} has not finished; to finish it, repeat its command with training.resume=true"
            + (f", or use its newest checkpoint, {newest}" if newest else ""))


def _is_pointer(path: Path) -> bool:
    """Whether git, without its extension LFS, left a note in the place of a large file."""
    if not path.is_file() or path.stat().st_size > MOST_POINTER:
        return False
    with path.open("rb") as file:
        return file.read(len(POINTER)) == POINTER


def weight_files(folder: Path) -> list[Path]:
    """The files of the weights that transformers loads, whole or in shards: safetensors first, else a pickle.

    Raises:
        UserError: there are none, or an index of shards is not valid.
    """
    for whole in _WEIGHTS:
        index = folder / f"{whole}.index.json"
        if (folder / whole).is_file():
            return [folder / whole]
        if index.is_file():
            content = read_json(index)
            shards = content.get("weight_map")
            if not isinstance(shards, dict) or not all(isinstance(one, str) for one in shards.values()):
                raise UserError(f"{index} is not a valid weight index: expected a weight_map from tensors to files")
            if not isinstance(content.get("metadata"), dict):  # transformers reads it
                raise UserError(f"{index} is not a valid weight index: expected metadata")
            found = [folder / shard for shard in sorted(set(shards.values()))]
            for shard in found:
                if not shard.is_file():
                    raise UserError(f"{shard} is missing: the checkpoint is incomplete; copy it again")
            return found
    if parts := _named(folder, "*-of-*.safetensors", "*-of-*.bin"):
        missing = f"{re.sub('-[0-9]+-of-[0-9]+', '', parts[0])}.index.json"
        raise UserError(f"{folder} has parts of the weights ({parts[0]}) but no {missing}: copy it too")
    others = _named(folder, *_OTHER_WEIGHTS)
    raise UserError(f"{folder} has no weights: expected {' or '.join(_WEIGHTS)}"
                    + (f", and {others[0]} is of another format: copy one of these" if others else ""))
