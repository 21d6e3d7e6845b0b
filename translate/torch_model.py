"""The torch model of a checkpoint, with its transformers tokenizer."""

from __future__ import annotations

from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

from seq2see.errors import UserError, as_user_error

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

    Loaded = tuple[PreTrainedModel, PreTrainedTokenizerBase]

SELF_TEST = "One cat, 2 dogs."
LOADING = Lock()  # transformers creates models by switches of the whole process: one at a time


def load(folder: Path, *, trust_remote_code: bool = False) -> Loaded:
    """A checkpoint in torch, with its transformers tokenizer; UserError where either cannot be read, or they do not
    belong together."""
    from transformers import AutoTokenizer

    from ..lens.forcing import decode_target, encode_source
    from ..modeling.loading import load_checkpoint
    from ..tokenizer.tokenization_seq2see import load_tokenizer

    with LOADING:
        model = load_checkpoint(folder, trust_remote_code=trust_remote_code)
    with as_user_error(f"the tokenizer in {folder} cannot be read"):
        tokenizer: PreTrainedTokenizerBase = load_tokenizer(folder) if model.config.model_type == "seq2see" else (
            AutoTokenizer.from_pretrained(folder, trust_remote_code=trust_remote_code, local_files_only=True))
    check_sizes(model, tokenizer, name=str(folder))
    with as_user_error(f"the tokenizer in {folder} does not work"):
        ids = encode_source(tokenizer, SELF_TEST)
        decode_target(tokenizer, ids)
    if not all(isinstance(id, int) and 0 <= id < model.get_input_embeddings().num_embeddings for id in ids):
        raise UserError(f"the tokenizer in {folder} does not work: it makes pieces that the model does not have")
    return model, tokenizer


def check_sizes(model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, *, name: str) -> None:
    pieces, rows = len(tokenizer), model.get_input_embeddings().num_embeddings
    if pieces > rows:
        raise UserError(f"{name}: {pieces} pieces in the tokenizer, {rows} in the model: they do not belong together")
