"""A checkpoint into torch, with its transformers tokenizer."""

from threading import Lock

from transformers import AutoTokenizer, PreTrainedModel, PreTrainedTokenizerBase

from seq2see.errors import UserError
from seq2see.modeling.loading import load_checkpoint
from seq2see.serve.checkpoint import Checkpoint
from seq2see.tokenizer.tokenization_seq2see import Seq2SeeTokenizer

LOADING = Lock()  # transformers creates models by switches of the whole process: one at a time


def load(checkpoint: Checkpoint, *, trust_remote_code: bool) -> tuple[PreTrainedModel, PreTrainedTokenizerBase]:
    """UserError where either cannot be read, or they do not belong together."""
    folder = checkpoint.folder
    with LOADING:
        model = load_checkpoint(folder, trust_remote_code=trust_remote_code)
    try:
        if checkpoint.model_type == "seq2see":
            tokenizer: PreTrainedTokenizerBase = Seq2SeeTokenizer.from_pretrained(folder)
        else:
            tokenizer = AutoTokenizer.from_pretrained(folder, trust_remote_code=trust_remote_code)
    except Exception as error:  # whatever a damaged tokenizer.json makes transformers raise
        reason = (str(error).strip() or type(error).__name__).splitlines()[0]
        raise UserError(f"the tokenizer in {folder} cannot be read: {reason}") from error
    check_sizes(model, tokenizer, name=checkpoint.name)
    return model, tokenizer


def check_sizes(model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, *, name: str) -> None:
    pieces, rows = len(tokenizer), model.get_input_embeddings().num_embeddings
    if pieces > rows:
        raise UserError(f"{name}: {pieces} pieces in the tokenizer, {rows} in the model: they do not belong together")
