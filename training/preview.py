"""`seq2see train CONFIG --dry-run`: what would be trained, and on what, without training.

Nothing is written but the cache, in which the training finds the corpus again.  What is printed is YAML: the resolved
configuration, and the rest as comments, so that it can be kept as a file.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import transformers

from seq2see.errors import UserError
from ..tokenizer.tokenization_seq2see import Seq2SeeTokenizer
from .batching import EncodedPairs, plan_epoch
from .checks import check_output
from .config import RunConfig
from .run import prepare
from .starting import training_set
from .unknown_tokens import unknown_remark


def preview(config: RunConfig) -> None:
    """Print what would be trained, and on what."""
    transformers.logging.set_verbosity_error()
    prepared = prepare(config, dry_run=True)
    train, model, arguments = training_set(prepared, config), prepared.model, prepared.arguments
    batches = plan_epoch(train.lengths(), max_tokens=arguments.max_tokens, seed=arguments.seed, epoch=0)
    steps = arguments.max_steps if arguments.max_steps > 0 else math.ceil(arguments.num_train_epochs * len(batches))
    how = f"resume from {prepared.checkpoint}" if prepared.checkpoint else "start"
    start = f"the run in {config.output} would {how}"
    if not arguments.resume:
        try:
            check_output(config.output)
        except UserError as error:
            start = f"this training would not start: {error}"
    print(config.to_yaml())
    for line in [
        f"model: {model.num_parameters():,} parameters ({model.num_parameters(only_trainable=True):,} trained),"
        f" vocabulary of {len(prepared.tokenizer):,} tokens",
        f"steps: {steps:,} (one batch each); an epoch of {len(train.pairs):,} pairs has {len(batches):,} batches",
        *filter(None, [arguments.warm_up_remark(steps), unknown_remark(train.pairs, prepared.tokenizer)]),
        *describe_examples(train.pairs, prepared.tokenizer),
        f"dry run, nothing was trained; {start}",
    ]:
        print(f"# {line}")


def describe_examples(train: EncodedPairs, tokenizer: Seq2SeeTokenizer) -> Iterator[str]:
    """The first, the middle and the last pair, and their tokens; a token that begins a word shows its space as ▁."""
    for index in sorted({0, len(train) // 2, len(train) - 1}):
        pair, item = train.pairs[index], train[index]
        yield f"pair {index + 1:,}:"
        for text, ids in ((pair.source, item.source), (pair.target, item.labels)):
            yield f"  {visible(text)}"
            yield "  " + " ".join(visible(token).replace(" ", "▁") for token in tokenizer.convert_ids_to_tokens(ids))


def visible(text: str) -> str:
    """The text on one line, with what cannot be seen written as Python has it (`\\n`, `\\u200d`)."""
    return "".join(letter if letter.isprintable() else repr(letter)[1:-1] for letter in text)
