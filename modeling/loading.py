"""Loads checkpoints with strict checks.

`from_pretrained` is lenient: missing tensors are silently replaced by random numbers, and a config may request any
amount of memory.  `load_checkpoint` takes the same folders and refuses invalid ones in one line that names the file and
the tensor.  It supports any transformers encoder-decoder, not only Seq2See.

Files are vetted before transformers opens any (`seq2see/vetting.py`); then the model is built on the meta device and
compared with the stored tensors; then it is loaded and tested with one prediction.
"""

import math
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import torch
from huggingface_hub.errors import StrictDataclassError
from transformers import AutoConfig, AutoModelForSeq2SeqLM, PreTrainedConfig, PreTrainedModel
from transformers.initialization import no_init_weights
from transformers.utils import logging

from seq2see.errors import UserError
from seq2see.folders import RUNS as RUNS
from seq2see.folders import resolve_folder as resolve_folder
from seq2see.vetting import read_header, vet, weight_files

LARGEST = 1e12  # larger weights come from flipped bits, not from training: their squares overflow


def load_checkpoint(name: str | Path, *, trust_remote_code: bool = False) -> PreTrainedModel:
    """Load an encoder-decoder in float32 and evaluation mode.

    Args:
        name: a folder written by `save_pretrained`, or a Hub id.
        trust_remote_code: run the model code in the folder.  Never read from a file.

    Raises:
        UserError: no such folder; a damaged or invalid file; not an encoder-decoder; tensors that are missing,
            unexpected, not finite, or of the wrong shape or type.
    """
    folder = resolve_folder(name, trust_remote_code=trust_remote_code)
    vet(folder)
    config = _load_config(folder, trust_remote_code=trust_remote_code)
    try:
        with _transformers_quiet():
            described = _described(folder, config, trust_remote_code=trust_remote_code)
            model, report = AutoModelForSeq2SeqLM.from_pretrained(
                folder,
                config=config,
                dtype=torch.float32,
                attn_implementation="sdpa" if described._supports_sdpa else "eager",  # only eager: FSMT, LED, NLLB-MoE
                use_safetensors=True,
                local_files_only=True,
                output_loading_info=True,
                trust_remote_code=trust_remote_code,
            )
    except UserError:
        raise
    except Exception as error:  # transformers may raise anything for a damaged or foreign folder
        raise UserError(
            f"the model in {folder} cannot be loaded, possibly incomplete: {_first_line(error)}"
        ) from error
    _refuse(folder, "tensors are missing", report["missing_keys"])
    _refuse(folder, "tensors do not belong to this model", report["unexpected_keys"])
    wild = (name for name, tensor in model.state_dict().items() if not (tensor.abs() < LARGEST).all())
    _refuse(folder, f"tensors hold NaN, infinity or numbers beyond {LARGEST:g}", wild)
    model.eval()
    _predict_something(folder, model)
    return model


def _described(folder: Path, config: PreTrainedConfig, *, trust_remote_code: bool) -> PreTrainedModel:
    """The model of a config on the meta device; UserError if its shapes do not match the stored weights."""
    stored = {name: shape for path in weight_files(folder) for name, shape in read_header(path).items()}
    with torch.device("meta"), no_init_weights():
        described: PreTrainedModel = AutoModelForSeq2SeqLM.from_config(
            config, attn_implementation="eager", trust_remote_code=trust_remote_code
        )
    wanted = {name: list(weight.shape) for name, weight in described.named_parameters()}
    _refuse(folder, "tensors have the wrong shape", (
        f"{name} (expected {shape}, got {stored[name]})"
        for name, shape in wanted.items() if stored.get(name, shape) != shape))
    for what, asked, found, room in (
        ("tensors", len(wanted), len(stored), 100),
        ("numbers", described.num_parameters(), sum(map(math.prod, stored.values())), 2**20),
    ):
        # A shared tensor, such as the embedding of source, target and output, is stored once and counted up to four
        # times.
        if asked > 4 * found + room:
            path = folder / "config.json"
            raise UserError(f"{path} describes a model of {asked:,} {what}; the weights have {found:,}")
    return described


def _predict_something(folder: Path, model: PreTrainedModel) -> None:
    """Self-test: one decoding step for a source of one token gives finite logits."""
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
    """No progress bar for a second's work, and no report of problems that are raised below."""
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
    try:
        config = AutoConfig.from_pretrained(folder, local_files_only=True, trust_remote_code=trust_remote_code)
    except Exception as error:  # each model type raises its own errors
        raise UserError(f"{path}: {_first_line(error, last=isinstance(error, StrictDataclassError))}") from error
    if not config.is_encoder_decoder:
        raise UserError(
            f"{path}: {config.model_type} is not an encoder-decoder; expected one, such as Seq2See, Marian, BART or T5"
        )
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
