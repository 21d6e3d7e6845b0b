"""`seq2see train CONFIG --dry-run`: what would be trained, and on what, without training.

Nothing is written but the cache, in which the training finds the corpus again.

What is printed is YAML: the resolved configuration, and the rest as comments, so that it can be kept as a file.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import transformers
from transformers import PreTrainedModel

from ..tokenizer.tokenization_seq2see import Seq2SeeTokenizer
from .batching import EncodedPairs, plan_epoch
from .building import training_set
from .checks import holds_run
from .config import RunConfig
from .joining import JoinedPairs
from .lora import count_trained
from .processes import choose_count
from .run import Prepared, prepare

EXAMPLES = 3
PARTS = {"model.shared.": "embedding", "model.encoder.": "encoder", "model.decoder.": "decoder"}


def preview(config: RunConfig) -> None:
    """Print what would be trained, and on what."""
    transformers.logging.set_verbosity_error()
    prepared = prepare(config, config.output, dry_run=True)
    print(config.to_yaml())
    positions = prepared.model.config.max_position_embeddings
    train = training_set(config, prepared.arguments, prepared.corpus, prepared.tokenizer, max_length=positions)
    for line in [
        *describe_model(prepared.model, prepared.tokenizer),
        *describe_work(prepared, train, processes=choose_count(config)),
        *describe_examples(train.pairs, prepared.tokenizer),
        f"nothing was trained; the run's folder would be {config.output}",
        *describe_folder(prepared, config.output),
    ]:
        print(f"# {line}".rstrip())


def describe_model(model: PreTrainedModel, tokenizer: Seq2SeeTokenizer) -> Iterator[str]:
    """The parameters in all and by part; the embedding matrix, which three parts share, is counted once."""
    yield f"model: {model.num_parameters():,} parameters"
    counts = dict.fromkeys(PARTS, 0)
    for name, parameter in model.named_parameters():
        counts[next(part for part in PARTS if name.startswith(part))] += parameter.numel()
    layers = {"encoder": model.config.encoder_layers, "decoder": model.config.decoder_layers}
    for part, count in counts.items():
        what = PARTS[part]
        made_of = f"layers: {layers[what]}" if what in layers else f"{len(tokenizer):,} tokens x {model.config.d_model}"
        yield f"  {what:9} {count:>12,}  ({made_of})"
    if (trained := count_trained(model)) < model.num_parameters():
        yield f"  of these, {trained:,} are trained and the others kept"


def describe_work(prepared: Prepared, train: JoinedPairs, *, processes: int) -> Iterator[str]:
    """Batches and steps, as the trainer will plan them."""
    arguments, lengths = prepared.arguments, train.lengths()
    batches = plan_epoch(lengths, max_tokens=arguments.max_tokens, seed=arguments.seed, epoch=0)
    per_epoch = len(batches)
    steps = arguments.max_steps if arguments.max_steps > 0 else math.ceil(arguments.num_train_epochs * per_epoch)
    tokens = train.target_tokens
    shapes = np.array([[len(batch), lengths[batch, 0].max()] for batch in batches])
    yield (
        f"steps: {steps:,}, each one batch; {per_epoch:,} batches in an epoch of {len(train.pairs):,} pairs"
        f" ({steps / per_epoch:.4g} epochs)"
    )
    yield (
        f"  a batch has {shapes[:, 0].min()} to {shapes[:, 0].max()} examples and on average"
        f" {tokens / per_epoch:,.0f} target tokens, of at most {arguments.max_tokens:,} with padding; the longest side"
        f" has {shapes[:, 1].max()}"
    )
    hands = arguments.world_size * processes * arguments.gradient_accumulation_steps
    if hands > 1:
        yield f"  each is cut into {hands} parts: processes times gradient_accumulation_steps"
    if prepared.checkpoint:
        yield f"  some are done: training would go on from {prepared.checkpoint}"


def describe_folder(prepared: Prepared, output: Path) -> Iterator[str]:
    if holds_run(output) and not prepared.arguments.resume:
        yield "  it holds a run already: train with training.resume=true or with another training.output_dir"


def describe_examples(train: EncodedPairs, tokenizer: Seq2SeeTokenizer) -> Iterator[str]:
    """The first, the middle and the last pair, and their tokens; a token that begins a word shows its space as ▁."""
    for number in range(min(EXAMPLES, len(train))):
        index = number * (len(train) - 1) // max(EXAMPLES - 1, 1)
        pair, item = train.pairs[index], train[index]
        yield f"pair {index + 1:,}:"
        for language, text, ids in (
            (pair.source_language, pair.source, item.source), (pair.target_language, pair.target, item.labels)
        ):
            tokens = [visible(token).replace(" ", "▁") for token in tokenizer.convert_ids_to_tokens(ids)]
            yield f"  {language}  {visible(text)}"
            yield f"  {'':{len(language)}}  {' '.join(tokens)}"


def visible(text: str) -> str:
    """The text on one line, with what cannot be seen written as Python has it (`\\n`, `\\u200d`)."""
    return "".join(letter if letter.isprintable() else repr(letter)[1:-1] for letter in text)
