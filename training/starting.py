"""What a training starts from, and its training set.

New weights or a Seq2See model (`Start`), or any other encoder-decoder (foreign.py).
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from transformers import PreTrainedModel

from seq2see.errors import UserError
from ..modeling.loading import resolve_folder
from ..tokenizer.tokenization_seq2see import load_tokenizer
from .arguments import Seq2SeeTrainingArguments
from .batching import EncodedPairs
from .building import make_model, set_generation
from .config import RunConfig
from .foreign import ForeignStart
from .guided_alignment import guides_of, training_links
from .joining import JoinedPairs
from .origin import model_type
from .pair_encoding import PairEncoder
from .pairs import TrainingPairs


class Start:
    """A Seq2See model and tokenizer, new or fine-tuned.

    Attributes:
        ours: a Seq2See model, which learns texts of several pairs, keeps the words that it has seen, and may have
            another vocabulary than the model it started from.
        new_vocabulary: it has one.
    """

    ours = True

    def __init__(self, tokenizer: Any, model: PreTrainedModel, *, new_vocabulary: bool = False):
        self.tokenizer, self.model, self.new_vocabulary = tokenizer, model, new_vocabulary

    @property
    def encoder(self) -> PairEncoder:
        return PairEncoder(self.tokenizer)

    @property
    def positions(self) -> int:
        """The most tokens of a side."""
        return int(self.model.config.max_position_embeddings)

    def set_generation(self, config: RunConfig) -> None:
        """Say how the model translates, before the Trainer fills in what is unset and again after it."""
        set_generation(self.model, self.tokenizer, config)


@dataclass(frozen=True)
class Prepared:
    """All that training starts from."""

    arguments: Seq2SeeTrainingArguments
    checkpoint: Path | None
    corpus: TrainingPairs
    start: Start | ForeignStart
    adapter: Any  # peft's PeftModel around the model, or None

    @property
    def tokenizer(self) -> Any:
        return self.start.tokenizer

    @property
    def model(self) -> PreTrainedModel:
        return self.start.model


def open_start(config: RunConfig, corpus: TrainingPairs, checkpoint: Path | None) -> Start | ForeignStart:
    """New weights, those of `model.init_from`, or those of the checkpoint to resume from."""
    folder = resolve_folder(config.model.init_from) if config.model.init_from else None
    if folder and model_type(folder) != "seq2see":
        return ForeignStart.open(folder, config)  # a checkpoint's weights are the Trainer's to load
    tokenizer, model = make_model(config, corpus, checkpoint)
    new = folder is not None and load_tokenizer(folder).languages != tokenizer.languages
    if new and config.model.init_share:
        raise UserError(f"model.init_share is {config.model.init_share}, but {folder} gets another vocabulary for new"
                        " languages; omit it", exit_code=2)
    return Start(tokenizer, model, new_vocabulary=new)


def training_set(prepared: Prepared, config: RunConfig) -> JoinedPairs:
    """The training pairs as tokens, with links where a head is guided, a share of them joined into texts."""
    arguments, pairs, tokenizer = prepared.arguments, prepared.corpus.train, prepared.tokenizer
    longest, guides = prepared.start.positions, None
    if arguments.guided_weight:
        guides = guides_of(pairs, training_links(config, arguments, pairs), tokenizer)
    encoded = EncodedPairs(pairs, prepared.start.encoder, max_length=longest, guides=guides)
    most = min(longest or arguments.max_tokens, arguments.max_tokens)
    share = config.data.joined if prepared.start.ours else 0
    return JoinedPairs(encoded, share=share, max_length=most, seed=arguments.seed)
