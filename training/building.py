"""Tokenizer and Seq2See model: a checkpoint's, the start of a fine-tuning, or new ones."""

from __future__ import annotations

import inspect
from pathlib import Path

import tokenizers
from huggingface_hub.errors import StrictDataclassError
from transformers import GenerationConfig, PreTrainedModel

from seq2see.errors import UserError
from ..modeling import Seq2SeeConfig, Seq2SeeForConditionalGeneration
from ..modeling.loading import load_checkpoint
from ..tokenizer.layout import tag_slots
from ..tokenizer.subwords import train_backend
from ..tokenizer.tokenization_seq2see import Seq2SeeTokenizer, train_tokenizer
from ..tokenizer.unigram import unigram
from ..tokenizer.unigram_learning import learn
from .cache import fingerprint, get_or_build
from .config import SHAPE, VOCABULARY, GenerationSection, RunConfig
from .finetuning import start_from
from .pairs import Texts, TrainingPairs
from .progress import report, watched

DEFAULTS = GenerationSection()


def make_model(config: RunConfig, corpus: TrainingPairs, checkpoint: Path | None) -> tuple[Seq2SeeTokenizer,
                                                                                           PreTrainedModel]:
    """Tokenizer and model: of the checkpoint, fine-tuned from another model, or new."""
    if checkpoint:
        tokenizer = Seq2SeeTokenizer.from_pretrained(checkpoint)
        if config.model.lora:  # the checkpoint holds matrices and adapter apart, for the Trainer to load
            return tokenizer, Seq2SeeForConditionalGeneration(Seq2SeeConfig.from_pretrained(checkpoint))
        return tokenizer, load_checkpoint(checkpoint)
    if config.model.init_from:
        return start_from(config, corpus)
    tokenizer = learn_tokenizer(config, corpus)
    shape = {key: getattr(config.model, key) for key in SHAPE} | {"dropout": config.model.dropout}
    pairs = [[config.data.source, target] for target in config.data.targets]
    try:
        return tokenizer, Seq2SeeForConditionalGeneration(
            Seq2SeeConfig(vocab_size=len(tokenizer), language_pairs=pairs, **shape)
        )
    except (StrictDataclassError, ValueError) as error:
        raise UserError(f"model section: {str(error).strip().splitlines()[-1].strip()}", exit_code=2) from error


def learn_tokenizer(config: RunConfig, corpus: TrainingPairs) -> Seq2SeeTokenizer:
    """Learnt once from a corpus and kept beside it: each process of a run would learn the same."""
    size, languages = config.tokenizer.vocab_size or VOCABULARY, sorted(config.data.targets)
    kind = config.tokenizer.model_type
    made_by = (train_backend, unigram, learn, tag_slots, Seq2SeeTokenizer, Texts)
    code = [Path(inspect.getfile(item)).read_text("utf-8") for item in made_by]
    texts = Texts(corpus.train)
    total = 2 * min(len(texts.pairs), texts.most)
    report(f"vocabulary of {size:,} tokens")
    folder = get_or_build(
        corpus.train.folder / f"tokenizer-{fingerprint(code, tokenizers.__version__, size, languages, kind)}",
        lambda folder: train_tokenizer(
            watched(texts, "learning a vocabulary, texts", total), vocab_size=size, languages=languages,
            model_type=kind,
        ).save_pretrained(folder),
    )
    return Seq2SeeTokenizer.from_pretrained(folder)


def set_generation(model: PreTrainedModel, tokenizer: Seq2SeeTokenizer, config: RunConfig) -> None:
    """Say how the model translates, before the Trainer fills in what is unset."""
    tokenizer.tgt_lang = config.data.targets[0]
    model.config.blank_token_ids = tokenizer.blank_token_ids
    before, options = model.generation_config, config.generation
    beams: int = options.num_beams or before.num_beams or DEFAULTS.num_beams or 1
    penalty = before.length_penalty if options.length_penalty is None else options.length_penalty
    penalty = DEFAULTS.length_penalty if penalty is None else penalty
    longest = options.max_length or before.max_length or DEFAULTS.max_length
    only_with_beams = {"early_stopping": True, "length_penalty": penalty} if beams > 1 else {}
    model.generation_config = GenerationConfig(
        pad_token_id=model.config.pad_token_id,
        bos_token_id=model.config.bos_token_id,
        eos_token_id=model.config.eos_token_id,
        decoder_start_token_id=model.config.decoder_start_token_id,
        forced_bos_token_id=tokenizer.tag_id(config.data.targets[0]),
        num_beams=beams,
        max_length=min(longest, model.config.max_position_embeddings),
        **only_with_beams,
    )
