"""Checks a checkpoint's folder before transformers opens it: `vet`.

A downloaded folder is untrusted data.  Its files decide how much memory a library takes, which files it opens and which
patterns it runs; all of that is checked here first, and errors name file and field.  It needs no torch and takes
milliseconds; safetensors itself checks the headers of weights.  Before it takes memory, `loading.py` compares the model
that the config describes with the tensors that are there; what only the loaded model shows (NaN) it checks then.

No code from the folder runs: only safetensors are weights, nothing is unpickled, no other folder is read.
`seq2see export --format safetensors` converts other weights (`translate/convert.py`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from seq2see.errors import UserError
from seq2see.json_files import read_json
from seq2see.manifest import check_manifest
from seq2see.pretrained import check_packaged, is_packaged
from seq2see.vetting_tokenizer import MAX_VOCAB, vet_tokenizer

TABLE = 2**24  # numbers in a computed position table: positions times width
SLOW_TABLE = 2**22  # the same, for models whose table transformers fills number by number
FLOATS = ("F64", "F32", "F16", "BF16")  # types of stored weights
READ = {".json", ".safetensors", ".spm", ".model", ".txt", ".jinja", ".py"}  # files that libraries read

MAX_COUNT = 1_024  # of fields `num_...`, `..._layers`, `..._heads`; sizes are compared with the weights by `loading.py`
# Not allowed in config.json: fields that take weights from another file or library.
FORBIDDEN = {
    "quantization_config": "quantised weights are not supported; save them in float32",
    "transformers_weights": "weights must be in model.safetensors",
}
# The settings of generation_config.json that are used, in config.json for older models.  Numbers: minimum, maximum.
WHOLE = {
    "num_beams": (1, 64),
    "max_length": (2, 2**20),  # with the start token
    "min_length": (0, 2**20),
    "source_sentences": (1, 2**16),
    "source_pieces": (1, 2**20),
    "no_repeat_ngram_size": (0, 100),
}
NUMBERS = {"length_penalty": (-10, 10), "repetition_penalty": (0.1, 10), **WHOLE}
CHOICES = {"early_stopping": (True, False, "never"), "renormalize_logits": (True, False)}
# Token ids: how deeply they are nested in lists.
IDS = {
    **dict.fromkeys(("pad_token_id", "bos_token_id", "decoder_start_token_id", "forced_bos_token_id"), (0,)),
    **dict.fromkeys(("eos_token_id", "forced_eos_token_id"), (0, 1)),
    **dict.fromkeys(("suppress_tokens", "begin_suppress_tokens"), (1,)),
    "bad_words_ids": (2,),
}
MAY_BE_EMPTY = ("suppress_tokens", "begin_suppress_tokens")


def vet(folder: Path) -> None:
    """UserError, naming file and field, unless the folder is safe to open.

    An unchanged folder that has passed before is not checked again.
    """
    _vet(folder, _state(folder))


def _state(folder: Path) -> tuple[tuple[str, int, int, int], ...]:
    """A value that changes when a file or the target of a link does."""
    found = [(path.name, path.stat() if path.exists() else path.lstat()) for path in folder.iterdir()]
    return tuple(sorted((name, s.st_size, s.st_mtime_ns, s.st_ino) for name, s in found))


@lru_cache(maxsize=64)
def _vet(folder: Path, state: object) -> None:
    check_files(folder)
    check_packaged(folder) if is_packaged(folder) else check_manifest(folder)
    config = check_config(folder)
    if (generation := folder / "generation_config.json").exists():
        _check_settings(generation, read_json(generation), vocab_size=config.get("vocab_size"))
    check_weights(folder, config)
    vocab_size = config.get("vocab_size")
    vet_tokenizer(folder, vocab_size=vocab_size if isinstance(vocab_size, int) else None)


def check_files(folder: Path) -> None:
    """Only regular files, in this folder or in the Hub cache that it belongs to."""
    homes = [folder.resolve()]
    if homes[0].parent.name == "snapshots":  # of huggingface_hub: links to ../../blobs
        homes.append(homes[0].parent.parent / "blobs")
    for path in folder.iterdir():
        if path.suffix not in READ and not (path.is_symlink() and path.is_dir()):
            continue
        if path.is_symlink():
            try:
                target = path.resolve(strict=True)
            except (OSError, RuntimeError) as error:  # Python 3.11 and 3.12 raise RuntimeError for a link to itself
                raise UserError(f"{path} is a broken link: remove it") from error
            if not any(target.is_relative_to(home) for home in homes):
                raise UserError(f"{path} links outside its folder: replace it with the file itself")
        if path.exists() and not (path.is_file() or path.is_dir()):
            raise UserError(f"{path} is not a regular file: remove it")
    if (folder / "adapter_config.json").exists():
        raise UserError(f"{folder} has an adapter_config.json: merge the adapter into its base model")


def check_config(folder: Path) -> dict[str, Any]:
    path = folder / "config.json"
    if not path.is_file():
        raise UserError(f"{folder} has no config.json: it is empty, incomplete, or not a checkpoint")
    config = read_json(path)
    if not isinstance(config.get("model_type"), str):
        raise UserError(f"{path} has no model_type: expected the config of a transformers model")
    for key, why in FORBIDDEN.items():
        if config.get(key) is not None:
            raise UserError(f"{path}: {key} is not allowed: {why}")
    for key, value in _numbers(config):
        if isinstance(value, int | float):
            counts = re.search(r"^num_|_layers$|_heads$|_experts$", key)
            low, high = (0, MAX_COUNT) if counts else (-(2**31), 2**31)
            if not low <= value <= high:
                raise UserError(f"{path}: {key}: expected a number from {low} to {high}, got {_short(value)}")
    pairs = config.get("language_pairs") or []
    if not (isinstance(pairs, list) and all(_is_pair(pair) for pair in pairs)):
        raise UserError(f'{path}: language_pairs: expected pairs of codes such as ["en", "fr"], got {_short(pairs)}')
    _check_settings(path, config, vocab_size=config.get("vocab_size"))
    return config


def _numbers(value: Any, key: str = "") -> Iterator[tuple[str, Any]]:
    """Every leaf of a config with its key; items of a list have the key of the list."""
    if isinstance(value, Mapping):
        for name, one in value.items():
            yield from _numbers(one, name)
    elif isinstance(value, list):
        for one in value:
            yield from _numbers(one, f"{key}[]")
    elif value is not None:
        yield key, value


def _is_pair(pair: Any) -> bool:
    return isinstance(pair, list) and len(pair) == 2 and all(isinstance(code, str) for code in pair)


def _short(value: Any) -> str:
    text = "a huge number" if isinstance(value, int) and value.bit_length() > 200 else repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def _check_settings(path: Path, settings: Mapping[str, Any], *, vocab_size: Any) -> None:
    """Generation settings: each has its type and a value in bounds, and token ids are in the vocabulary."""
    most = vocab_size if type(vocab_size) is int else MAX_VOCAB
    ids = f"ids from 0 to {most - 1}"

    def are_ids(value: Any, depth: int) -> bool:
        if depth:
            return isinstance(value, list) and all(one != [] and are_ids(one, depth - 1) for one in value)
        return type(value) is int and 0 <= value < most

    for key, value in settings.items():
        if value is None or (value == [] and key in MAY_BE_EMPTY):
            continue
        if key in NUMBERS:
            (low, high), whole = NUMBERS[key], key in WHOLE
            fits = (type(value) is int or (type(value) is float and not whole)) and low <= value <= high
            expected = f"a {'whole ' * whole}number from {low} to {high}"
        elif key in CHOICES:
            fits, expected = value in CHOICES[key], " or ".join(str(choice).lower() for choice in CHOICES[key])
        elif key in IDS:
            fits, expected = value != [] and any(are_ids(value, depth) for depth in IDS[key]), ids
        else:
            continue
        if not fits:
            raise UserError(f"{path}: {key}: expected {expected}, got {_short(value)}")


def check_weights(folder: Path, config: Mapping[str, Any]) -> None:
    """Weights are in safetensors files of this folder, and a computed position table has a bounded size."""
    shapes: dict[str, list[int]] = {}
    for path in weight_files(folder):
        shapes |= read_header(path)
    positions, width = config.get("max_position_embeddings"), config.get("d_model")
    if isinstance(positions, int) and isinstance(width, int):
        stored = any(len(shape) == 2 and shape[0] >= positions and shape[1] == width and "position" in name
                     for name, shape in shapes.items())  # fmt: skip
        most = TABLE if config["model_type"] == "seq2see" else SLOW_TABLE
        if positions * width > most and not stored:
            path = folder / "config.json"
            raise UserError(f"{path}: max_position_embeddings {positions} times d_model {width} is more than {most:,}")


def weight_files(folder: Path) -> list[Path]:
    """The safetensors files that transformers loads: model.safetensors, or those that the index names."""
    index, whole = folder / "model.safetensors.index.json", folder / "model.safetensors"
    if whole.is_file():
        return [whole]
    if not index.is_file():
        raise UserError(f"{folder} has no model.safetensors; if the model has a pytorch_model.bin, convert that:"
                        f" seq2see export {_name_of(folder)} --format safetensors --out NEW_FOLDER")
    names = read_json(index).get("weight_map")
    if not isinstance(names, dict) or not names or not all(isinstance(name, str) for name in names.values()):
        raise UserError(f"{index} is not a valid weight index: expected a weight_map from tensors to files")
    files = sorted(set(names.values()))
    for file in files:
        if Path(file).name != file or not file.endswith(".safetensors") or not (folder / file).is_file():
            raise UserError(f"{index} names {file!r}, which is not a weight file in {folder}")
    return [folder / file for file in files]


def _name_of(folder: Path) -> str:
    """What a command calls a folder: the Hub id of a download, `.../models--OWNER--NAME/snapshots/COMMIT`."""
    if folder.parent.name != "snapshots":
        return str(folder)
    return folder.parent.parent.name.removeprefix("models--").replace("--", "/")


def read_header(path: Path) -> dict[str, list[int]]:
    """The shape of every tensor in a safetensors file; UserError if the file is invalid."""
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(path, framework="numpy") as file:  # reads and checks the header alone
            tensors = {name: file.get_slice(name) for name in file.keys()}  # noqa: SIM118
            for name, tensor in tensors.items():
                if tensor.get_dtype() not in FLOATS:
                    raise UserError(f"{path}: tensor {name} is of type {tensor.get_dtype()}; expected one of"
                                    f" {', '.join(FLOATS)}")
            return {name: tensor.get_shape() for name, tensor in tensors.items()}
    except (SafetensorError, OSError) as error:
        raise UserError(f"{path} cannot be read, possibly incomplete: {str(error)[:200]}") from error
