"""Fine-tuning: a model and tokenizer to start from, grown where the new pairs ask for a language it has no tag for.

A new language brings a new joint vocabulary, learnt on old and new text: its words would be long chains of bytes in
the old one.  Embeddings of tokens that both vocabularies have are copied; a new token starts from the mean of the old
tokens that spelled it, a new tag from the mean of the old tags.
"""

from __future__ import annotations

import copy
from pathlib import Path

import torch
from transformers import PreTrainedModel

from seq2see.errors import UserError
from ..modeling.loading import load_checkpoint, resolve_folder
from ..tokenizer.layout import FIRST_TAG, TAG_SLOTS
from ..tokenizer.tokenization_seq2see import Seq2SeeTokenizer, load_tokenizer, train_tokenizer
from .checkpoints import find_record
from .config import VOCABULARY, RunConfig, load_record
from .pairs import Texts, TrainingPairs, load_corpus
from .progress import report

BYTES = 256


def start_from(config: RunConfig, corpus: TrainingPairs) -> tuple[Seq2SeeTokenizer, PreTrainedModel]:
    """The tokenizer and model of `model.init_from`, able to write all of `data.target`."""
    folder = resolve_folder(str(config.model.init_from))
    model = load_checkpoint(folder)
    if config.model.dropout is not None:
        model = with_dropout(model, config.model.dropout)
    tokenizer = load_tokenizer(folder)
    languages = [*tokenizer.languages, *(item for item in config.data.targets if item not in tokenizer.languages)]
    if languages != tokenizer.languages:
        texts = [*Texts(corpus.train), *old_texts(folder, tokenizer)]
        wanted = config.tokenizer.vocab_size or max(VOCABULARY, len(tokenizer))
        grown = train_tokenizer(texts, vocab_size=wanted, languages=languages, model_type=tokenizer.model_type)
        grow_embedding(model, tokenizer, grown)
        tokenizer = grown
    elif config.tokenizer.vocab_size not in (None, len(tokenizer)):
        report(
            f"tokenizer.vocab_size has no effect: {folder} already translates to {', '.join(config.data.targets)}"
            " and keeps"
            f" its {len(tokenizer):,} tokens"
        )
    pairs = [[config.data.source, target] for target in config.data.targets]
    model.config.language_pairs = pairs + [pair for pair in model.config.language_pairs or [] if pair not in pairs]
    return tokenizer, model


def average_with_start(model: PreTrainedModel, config: RunConfig) -> None:
    """Make each weight the mean of itself and that of `model.init_from`, which gets the share `model.init_share`: the
    model forgets less (WiSE-FT: Wortsman et al. 2022, arXiv:2109.01903)."""
    before = dict(load_checkpoint(resolve_folder(str(config.model.init_from))).named_parameters())
    with torch.no_grad():
        for name, weight in model.named_parameters():
            weight.lerp_(before[name].to(weight), config.model.init_share)


def with_dropout(model: PreTrainedModel, p: float) -> PreTrainedModel:
    """The same weights and shape with another rate of dropout: a small corpus asks for more of it than a large one."""
    changed = copy.deepcopy(model.config)
    setattr(changed, "dropout_rate" if "dropout_rate" in vars(changed) else "dropout", p)  # T5's, others'
    fresh = type(model)(changed)
    fresh.load_state_dict(model.state_dict())
    fresh.generation_config = model.generation_config
    return fresh


def old_texts(folder: Path, tokenizer: Seq2SeeTokenizer) -> list[str]:
    """What the old model was trained on, where its run.yaml leads to it; else, and it says so, its tokens, often enough
    to be learnt."""
    if record := find_record(folder, "run.yaml"):
        config = load_record(record)
        try:
            corpus = load_corpus(config.data, seed=config.training.get("seed", 0))
            return list(Texts(corpus.train))
        except UserError as error:
            reason = str(error)
    else:
        reason = f"{folder} has no run.yaml that names the data"
    report(
        f"the data that model.init_from was trained on cannot be read ({reason}): the new vocabulary is learnt from the"
        " new text and the old tokens, and may split old words more; to avoid this, restore the data and start again"
    )
    tokens = tokenizer.convert_ids_to_tokens(range(FIRST_TAG + TAG_SLOTS + BYTES, len(tokenizer)))
    return [token.strip() for token in tokens] * 2


@torch.no_grad()
def grow_embedding(model: PreTrainedModel, old: Seq2SeeTokenizer, new: Seq2SeeTokenizer) -> None:
    """Give the model the rows of the new vocabulary, copied or averaged from the old ones."""
    before_VD = model.get_input_embeddings().weight.detach().clone()
    old_ids = old.get_vocab()
    spell = old.backend_tokenizer.model.tokenize
    tags = [old.tag_id(language) for language in old.languages]
    rows = []
    for index, token in enumerate(new.convert_ids_to_tokens(range(len(new)))):
        if token in old_ids:
            rows.append(before_VD[old_ids[token]])
        elif index < FIRST_TAG + TAG_SLOTS:
            rows.append(before_VD[tags].mean(0))
        else:
            rows.append(before_VD[[part.id for part in spell(token)]].mean(0))
    model.resize_token_embeddings(len(new), mean_resizing=False)
    model.get_input_embeddings().weight.copy_(torch.stack(rows))
