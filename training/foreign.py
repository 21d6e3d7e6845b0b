"""Fine-tuning of any encoder-decoder of transformers: it keeps its tokenizer, its tags and how it generates.

    Marian, BART, Pegasus            the pair of the data is the model's own, or becomes it
    multilingual Marian, NLLB,       the languages of the data are found among the model's, and the trained pair becomes
    M2M-100, mBART                   the default
    T5, mT5, ByT5                    the prefix of the pair; a pair without one is given it
"""

from __future__ import annotations

import copy
from dataclasses import replace
from pathlib import Path
from typing import Any

from transformers import PreTrainedModel

from seq2see.errors import UserError
from ..modeling.loading import load_checkpoint
from ..tokenizer.language_pairs import LanguagePairs, Pair
from ..tokenizer.tagging import STARTS_FROM_TAG, T5, language_pairs, new_task_prefix, tagging, tags_before
from ..translate.loaded_checkpoint import check_sizes
from ..translate.tokenizer_files import build_tokenizer
from .config import RunConfig
from .finetuning import with_dropout
from .pair_encoding import TaggedEncoder

# Settings that have no effect without beams, or without sampling: transformers refuses to save them.
OF_BEAMS = ("early_stopping", "length_penalty")
OF_SAMPLING = ("temperature", "top_k", "top_p", "min_p", "top_h", "typical_p", "epsilon_cutoff", "eta_cutoff")


class ForeignStart:
    """A model that is not ours, with its tokenizer; see `starting.Start`."""

    ours, new_vocabulary = False, False

    def __init__(self, tokenizer: Any, model: PreTrainedModel, pairs: dict[str, Pair]):
        """`pairs`: the model's codes of source and target, by target language as the data name it."""
        self.tokenizer, self.model, self.pairs = tokenizer, model, pairs
        self.first = next(iter(pairs.values()))
        _make_default(tokenizer, model, self.first)
        tags = {target: tagging(model.config, tokenizer, *pair) for target, pair in pairs.items()}
        forced = model.generation_config.forced_bos_token_id  # without tags: what every translation begins with (BART)
        self.encoder = TaggedEncoder(tokenizer, {
            target: replace(tag, first=forced) if tag.first is None else tag for target, tag in tags.items()
        })
        model.generation_config.forced_bos_token_id = next(iter(self.encoder.tagging.values())).first
        self._special = {name: getattr(model.config, name, None) for name in
                         ("pad_token_id", "bos_token_id", "eos_token_id")}
        self._generation = copy.deepcopy(model.generation_config)

    @classmethod
    def open(cls, folder: Path, config: RunConfig) -> ForeignStart:
        """UserError for a folder that cannot be loaded, and for languages that the model does not have."""
        model = load_checkpoint(folder)
        tokenizer = build_tokenizer(folder, model.config.model_type)
        check_sizes(model, tokenizer, name=str(folder))
        known = language_pairs(model.config, tokenizer)
        pairs = {target: _own_pair(model, known, config, target) for target in config.data.targets}
        for pair in reversed(pairs.values()):
            _make_known(model, known, pair)
        if config.model.dropout is not None:
            model = with_dropout(model, config.model.dropout)
        return cls(tokenizer, model, pairs)

    @property
    def positions(self) -> int | None:
        """The most tokens of a side; None: no limit (T5)."""
        return getattr(self.model.config, "max_position_embeddings", None)

    def set_generation(self, config: RunConfig) -> None:
        """As the model generated before, but for the first language, and for what the configuration asks for: the
        Trainer has put its tokenizer's special tokens there."""
        for name, id in self._special.items():
            setattr(self.model.config, name, id)
        self.model.generation_config = copy.deepcopy(self._generation)
        options = {name: value for name in ("num_beams", "length_penalty", "max_length")
                 if (value := getattr(config.generation, name)) is not None}
        generation = self.model.generation_config
        generation.update(**options)
        unused = OF_BEAMS * (generation.num_beams in (None, 1)) + OF_SAMPLING * (not generation.do_sample)
        generation.update(**dict.fromkeys(unused))


def _own_pair(model: PreTrainedModel, known: LanguagePairs, config: RunConfig, target: str) -> Pair:
    """The model's codes for a pair of the data; UserError for one that it cannot learn."""
    pair = config.data.source, target
    if not known:
        return pair
    try:
        return known.find(*pair)
    except UserError as error:
        if _learns_tasks(model):
            return pair
        raise UserError(
            f"{config.data.path} is from {pair[0]} to {pair[1]}: {error}; use language codes of the model for the"
            " names of the columns, or for data.source and data.target",
            exit_code=2,
        ) from None


def _learns_tasks(model: PreTrainedModel) -> bool:
    """Whether languages are told in words, so that another pair is only another prefix."""
    return model.config.model_type in T5 and bool(getattr(model.config, "task_specific_params", None))


def _make_known(model: PreTrainedModel, known: LanguagePairs, pair: Pair) -> None:
    """Have the configuration name the pair, first of all, where neither it nor the tokenizer does."""
    source, target = pair
    config = model.config
    if config.model_type in T5 and (_learns_tasks(model) or not known):
        tasks, name = dict(getattr(config, "task_specific_params", None) or {}), f"translation_{source}_to_{target}"
        own = tasks.pop(name, None) or {"prefix": new_task_prefix(source, target)}
        config.task_specific_params = {name: own, **tasks}
    elif not known:
        named = getattr(config, "language_pairs", None) or []
        config.language_pairs = [[source, target], *(one for one in named if one != [source, target])]


def _make_default(tokenizer: Any, model: PreTrainedModel, pair: Pair) -> None:
    """Set a tokenizer of many languages to the pair, so that plain transformers translates it too, as far as it knows
    a default: not of tags before a source, which are written there."""
    if tags_before(model.config, tokenizer):
        tokenizer.target_lang = tokenizer.init_kwargs["target_lang"] = pair[1]
    if not hasattr(tokenizer, "src_lang"):
        return
    tokenizer.src_lang, tokenizer.tgt_lang = pair
    tokenizer.init_kwargs.update(src_lang=pair[0], tgt_lang=pair[1])
    if type(tokenizer).__name__ in STARTS_FROM_TAG:
        start = tokenizer.convert_tokens_to_ids(pair[1])
        model.config.decoder_start_token_id = model.generation_config.decoder_start_token_id = start
