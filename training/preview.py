"""`seq2see train CONFIG --dry-run`: what would be trained, and on what, without training.

Nothing is written but the cache, in which the training finds the corpus again.

What is printed is YAML: the resolved configuration, and the rest as comments, so that it can be kept as a file.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
import transformers

from ..tokenizer.tokenization_seq2see import Seq2SeeTokenizer
from .batching import EncodedPairs, plan_epoch
from .building import Prepared, training_set
from .config import RunConfig
from .joining import JoinedPairs
from .run import prepare

EXAMPLES = 3


def preview(config: RunConfig) -> None:
    """Print what would be trained, and on what."""
    transformers.logging.set_verbosity_error()
    prepared = prepare(config, config.output, dry_run=True)
    model, tokenizer = prepared.model, prepared.tokenizer
    train = training_set(prepared, config)
    print(config.to_yaml())
    for line in [
        f"model: {model.num_parameters():,} parameters, of which {model.num_parameters(only_trainable=True):,} are"
        f" trained; {len(tokenizer):,} tokens",
        *describe_work(prepared, train),
        *describe_examples(train.pairs, tokenizer),
        f"nothing was trained; the run's folder would be {config.output}",
    ]:
        print(f"# {line}")


def describe_work(prepared: Prepared, train: JoinedPairs) -> Iterator[str]:
    """Batches and steps, as the trainer will plan them."""
    arguments, lengths = prepared.arguments, train.lengths()
    batches = plan_epoch(lengths, max_tokens=arguments.max_tokens, seed=arguments.seed, epoch=0)
    per_epoch = len(batches)
    steps = arguments.max_steps if arguments.max_steps > 0 else math.ceil(arguments.num_train_epochs * per_epoch)
    yield (
        f"steps: {steps:,}, each one batch; {per_epoch:,} batches in an epoch of {len(train.pairs):,} pairs"
        f" ({steps / per_epoch:.4g} epochs)"
    )
    shapes = np.array([[len(batch), lengths[batch, 0].max()] for batch in batches])
    yield (
        f"  a batch has {shapes[:, 0].min()} to {shapes[:, 0].max()} examples and on average"
        f" {train.lengths_R2[:, 1].sum() / per_epoch:,.0f} target tokens, of at most {arguments.max_tokens:,} with"
        f" padding; the longest side has {shapes[:, 1].max()}"
    )
    if prepared.checkpoint:
        yield f"  some are done: training would go on from {prepared.checkpoint}"


def describe_examples(train: EncodedPairs, tokenizer: Seq2SeeTokenizer) -> Iterator[str]:
    """The first, the middle and the last pair, and their tokens; a token that begins a word shows its space as ▁."""
    for number in range(min(EXAMPLES, len(train))):
        index = number * (len(train) - 1) // max(EXAMPLES - 1, 1)
        pair, item = train.pairs[index], train[index]
        yield f"pair {index + 1:,}:"
        for text, ids in ((pair.source, item.source), (pair.target, item.labels)):
            yield f"  {visible(text)}"
            yield "  " + " ".join(visible(token).replace(" ", "▁") for token in tokenizer.convert_ids_to_tokens(ids))


def visible(text: str) -> str:
    """The text on one line, with what cannot be seen written as Python has it (`\\n`, `\\u200d`)."""
    return "".join(letter if letter.isprintable() else repr(letter)[1:-1] for letter in text)
