"""Loads checkpoints: any encoder-decoder of transformers with its own `from_pretrained`, and with additional checks.

transformers silently replaces missing tensors by random numbers, takes any amount of memory, and reports an error as a
page of traceback.  `load_checkpoint` rejects weights that are missing or not finite, and a model that does not fit into
memory.  Its error is one line that names the file and the tensor.
"""

import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from zipfile import is_zipfile

import torch
from huggingface_hub.errors import StrictDataclassError
from safetensors.torch import load_file
from transformers import AutoConfig, AutoModelForSeq2SeqLM, PreTrainedConfig, PreTrainedModel
from transformers.initialization import no_init_weights
from transformers.utils import logging

from seq2see.errors import UserError
from seq2see.folders import RUNS as RUNS
from seq2see.folders import check_folder, weight_files
from seq2see.folders import resolve_folder as resolve_folder
from seq2see.memory import check_memory

_LAYER = re.compile(r"(.*?\.)\d+\.")
LARGEST = 1e12  # larger weights come from flipped bits, not from training: their squares overflow


def load_checkpoint(name: str | Path, *, trust_remote_code: bool = False) -> PreTrainedModel:
    """Load an encoder-decoder in float32 and evaluation mode.

    Args:
        name: a folder written by `save_pretrained`, or a Hub id.  The weights may have any floating-point type, in one
            file or in shards.  They are read from safetensors files or, if there are none, from `pytorch_model.bin`,
            where torch loads nothing but tensors.
        trust_remote_code: whether to run the model code in the folder.  No file can turn this on.

    Raises:
        UserError: a folder that does not exist; a damaged or invalid file; a checkpoint of a LoRA training; a model
            that is not an encoder-decoder, or too large for the memory; tensors that are missing, not finite, or of the
            wrong shape.
    """
    folder = resolve_folder(name, trust_remote_code=trust_remote_code)
    check_folder(folder)
    config = load_config(folder, trust_remote_code=trust_remote_code)
    weights = weight_files(folder)
    if quantised := getattr(config, "quantization_config", None):
        raise UserError(f"the weights in {folder} are quantised ({_method(quantised)}), which Seq2See does not read:"
                        " use the model that they were made from")
    try:
        with _transformers_quiet():
            described = _described(folder, config, trust_remote_code=trust_remote_code)
            check_memory(4 * described.num_parameters() + _read_whole(weights), f"the model in {folder}")
            model, report = AutoModelForSeq2SeqLM.from_pretrained(
                folder,
                config=config,
                dtype=torch.float32,
                attn_implementation="sdpa" if described._supports_sdpa else "eager",  # only eager: FSMT, LED, NLLB-MoE
                local_files_only=True,
                weights_only=True,
                ignore_mismatched_sizes=True,  # refused below, by name
                output_loading_info=True,
                trust_remote_code=trust_remote_code,
            )
    except UserError:
        raise
    except Exception as error:  # transformers may raise anything for a damaged or foreign folder
        _refuse_shapes(folder, weights, described)
        raise UserError(
            f"the model in {folder} cannot be loaded from {weights[0].name}, possibly incomplete: {_first_line(error)}"
        ) from error
    if any(".lora_A." in name for name in report["unexpected_keys"]):
        raise UserError(f"{folder} is a checkpoint of a LoRA training, which merges its adapter when it ends; use the"
                        " finished run, or repeat the training's command with training.resume=true")
    _refuse(folder, "tensors are missing", report["missing_keys"])
    _refuse(folder, "tensors have the wrong shape", (f"{name} (expected {list(wanted)}, got {list(stored)})"
                                                     for name, stored, wanted in report["mismatched_keys"]))
    _refuse(folder, "config.json has fewer layers than the weights", _of_more_layers(report["unexpected_keys"], model))
    wild = (name for name, tensor in model.state_dict().items() if not (tensor.abs() < LARGEST).all())
    _refuse(folder, f"tensors hold NaN, infinity or numbers beyond {LARGEST:g}", wild)
    model.eval()
    _predict_something(folder, model)
    return model


def _described(folder: Path, config: PreTrainedConfig, *, trust_remote_code: bool) -> PreTrainedModel:
    """The model of a config on the meta device, which takes no memory.

    Raises UserError if the config is invalid.
    """
    try:
        with torch.device("meta"), no_init_weights():
            described: PreTrainedModel = AutoModelForSeq2SeqLM.from_config(
                config, attn_implementation="eager", trust_remote_code=trust_remote_code
            )
    except Exception as error:  # each model has its own conditions
        raise UserError(f"{folder / 'config.json'} describes no working model: {_first_line(error)}") from error
    return described


def _refuse_shapes(folder: Path, weights: Iterable[Path], described: PreTrainedModel) -> None:
    """Raises UserError for tensors of another shape than in the config, where loading them failed before that was seen.
    """
    expected, wrong = described.state_dict(), []
    for path in weights:
        with suppress(Exception):  # not readable: reported by the caller
            stored = load_file(path) if path.suffix == ".safetensors" else torch.load(path, "meta", weights_only=True)
            wrong += [f"{name} (expected {[*expected[name].shape]}, got {[*tensor.shape]})"
                      for name, tensor in stored.items() if name in expected and tensor.shape != expected[name].shape]
    _refuse(folder, "tensors have the wrong shape", wrong)


def _of_more_layers(names: Iterable[str], model: PreTrainedModel) -> Iterator[str]:
    """The tensors of layers that the model does not have, unlike tensors that older versions had in a layer."""
    known = {found[0] for name in model.state_dict() if (found := _LAYER.match(name))}
    stacks = {re.sub(r"\d+\.$", "", layer) for layer in known}
    for name in names:
        if (found := _LAYER.match(name)) and found[0] not in known and found[1] in stacks:
            yield name


def _method(quantised: Any) -> str:
    return str(quantised.get("quant_method") if isinstance(quantised, dict) else quantised.quant_method)


def _read_whole(weights: Iterable[Path]) -> int:
    """The size in bytes of the largest file that is read into memory, not mapped: a pickle from before PyTorch 1.6."""
    return max((path.stat().st_size for path in weights if path.suffix == ".bin" and not is_zipfile(path)), default=0)


def _predict_something(folder: Path, model: PreTrainedModel) -> None:
    """Self-test: one decoding step for a source of one token must give finite logits."""
    start = torch.tensor([[model.generation_config.decoder_start_token_id or 0]])
    try:
        with torch.no_grad():
            logits = model(input_ids=torch.zeros_like(start), decoder_input_ids=start).logits
    except Exception as error:  # some inconsistencies of a config only show here
        raise UserError(f"the model in {folder} does not work: {_first_line(error)}") from error
    if not logits.isfinite().all():
        raise UserError(f"the model in {folder} predicts NaN or infinity: its weights are damaged; copy them again")


@contextmanager
def _transformers_quiet() -> Iterator[None]:
    """Hides the progress bar of a load of seconds, and reports of problems that are raised below."""
    verbosity, bar = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        logging.set_verbosity(verbosity)
        if bar:
            logging.enable_progress_bar()


def load_config(folder: Path, *, trust_remote_code: bool = False) -> PreTrainedConfig:
    """The config of an encoder-decoder.

    Raises UserError for another type of model.
    """
    path = folder / "config.json"
    try:
        config = AutoConfig.from_pretrained(folder, local_files_only=True, trust_remote_code=trust_remote_code)
    except Exception as error:  # each model type raises its own errors
        own = "" if trust_remote_code or "auto_map" not in path.read_text("utf-8") else (
            "; its folder has code of its own, which --trust-remote-code runs")
        raise UserError(f"{path}: {_first_line(error, last=isinstance(error, StrictDataclassError))}{own}") from error
    known = trust_remote_code or type(config) in AutoModelForSeq2SeqLM._model_mapping
    if not (config.is_encoder_decoder and known):
        kind = next(iter(config.architectures or ()), config.model_type)
        raise UserError(f"{path}: {kind} is not an encoder-decoder of text; expected one, such as Seq2See,"
                        " Marian, BART or T5")
    config.transformers_weights = None  # the weights that are loaded are those that `weight_files` names
    return config


def _refuse(folder: Path, what: str, tensors: Iterable[str]) -> None:
    names = sorted(tensors)
    if names:
        more = f" and {len(names) - 3} more" if len(names) > 3 else ""
        raise UserError(
            f"{folder}: {what}: {', '.join(names[:3])}{more}; the checkpoint is damaged or belongs to another model"
        )


def _first_line(error: BaseException, *, last: bool = False) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()] or [type(error).__name__]
    return lines[-1 if last else 0][:300]
