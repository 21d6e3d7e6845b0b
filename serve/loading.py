"""A checkpoint into torch, with its transformers tokenizer."""

from threading import Lock

from transformers import AutoTokenizer, PreTrainedModel, PreTrainedTokenizerBase

from seq2see.errors import UserError, told_in_one_line
from seq2see.lens.forcing import decode_target, encode_source
from seq2see.modeling.loading import load_checkpoint
from seq2see.serve.checkpoint import Checkpoint
from seq2see.tokenizer.tokenization_seq2see import load_tokenizer

SELF_TEST = "One cat, 2 dogs."
LOADING = Lock()  # transformers creates models by switches of the whole process: one at a time


def load(checkpoint: Checkpoint, *, trust_remote_code: bool) -> tuple[PreTrainedModel, PreTrainedTokenizerBase]:
    """UserError where either cannot be read, or they do not belong together."""
    folder = checkpoint.folder
    with LOADING:
        model = load_checkpoint(folder, trust_remote_code=trust_remote_code)
    with told_in_one_line(f"the tokenizer in {folder} cannot be read"):
        if checkpoint.model_type == "seq2see":
            tokenizer: PreTrainedTokenizerBase = load_tokenizer(folder)
        else:
            tokenizer = AutoTokenizer.from_pretrained(
                folder, trust_remote_code=trust_remote_code, local_files_only=True
            )
    check_sizes(model, tokenizer, name=checkpoint.name)
    with told_in_one_line(f"the tokenizer in {folder} does not work"):
        ids = encode_source(tokenizer, SELF_TEST)
        decode_target(tokenizer, ids)
    if not all(isinstance(id, int) and 0 <= id < model.get_input_embeddings().num_embeddings for id in ids):
        raise UserError(f"the tokenizer in {folder} does not work: it makes pieces that the model does not have")
    return model, tokenizer


def check_sizes(model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, *, name: str) -> None:
    pieces, rows = len(tokenizer), model.get_input_embeddings().num_embeddings
    if pieces > rows:
        raise UserError(f"{name}: {pieces} pieces in the tokenizer, {rows} in the model: they do not belong together")
