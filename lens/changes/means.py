"""The means that replace heads and feed-forward layers that are switched off.

They are computed from the model's present weights and kept until the weights change.  Inside an intervention they are
computed again and not kept.
"""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

import torch
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from ...passes.hooks import Head, intervened
from ...passes.weights_checksum import checksum
from ...tokenizer.encoding import encode_source, encode_target
from ...tokenizer.tagging import tagging
from ..data.trace_data import TraceData
from .interventions import mean_feed_forward, mean_outputs

EXAMPLES = "examples.json"  # beside a packaged model: sentences with its translations

Means = dict[Head, torch.Tensor]
Ids = tuple[tuple[int, ...], ...]
Mean = TypeVar("Mean")  # by head or by layer
Taken = Callable[[PreTrainedModel, Sequence[Sequence[int]], Sequence[Sequence[int]]], Mean]
# For each model the checksum of its weights, and the means of these by what is taken and the sentences it is over.
_KNOWN: WeakKeyDictionary[PreTrainedModel, tuple[int, dict[tuple[Taken, Ids, Ids], Any]]] = WeakKeyDictionary()


def head_means(
    model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, trace: TraceData, folder: Path | None
) -> tuple[Means, int]:
    """The mean output of each head, and the number of sentences it is averaged over.

    The sentences are the examples in the folder of a packaged model (`Translator.folder`).  Without such examples, the
    mean is over this trace only, and the number is 0.
    """
    return _over_examples(mean_outputs, model, tokenizer, trace, folder)


def feed_forward_means(
    model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, trace: TraceData, folder: Path | None
) -> tuple[dict[int, torch.Tensor], int]:
    """The mean output of each feed-forward layer of the decoder, over the sentences of `head_means`."""
    return _over_examples(mean_feed_forward, model, tokenizer, trace, folder)


def _over_examples(
    taken: Taken[Mean], model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, trace: TraceData,
    folder: Path | None,
) -> tuple[Mean, int]:
    texts = _examples(folder, f"{trace.source_language}-{trace.target_language}")
    if not texts:
        return taken(model, [trace.source_ids], [trace.target_ids]), 0
    first = trace.target_ids[0] if trace.given and trace.target[0].special else None  # a tag, no prefix
    tags = tagging(model.config, tokenizer, trace.source_language, trace.target_language)
    sources = tuple(tuple(encode_source(tokenizer, source, tagging=tags)) for source, _ in texts)
    targets = tuple(tuple(encode_target(tokenizer, target, language=trace.target_language, first=first))
                    for _, target in texts)
    return (taken(model, sources, targets) if intervened(model) else _kept(taken, model, sources, targets)), len(texts)


def _kept(taken: Taken[Mean], model: PreTrainedModel, sources: Ids, targets: Ids) -> Mean:
    weights = checksum(model)
    if model not in _KNOWN or _KNOWN[model][0] != weights:
        _KNOWN[model] = weights, {}
    known = _KNOWN[model][1]
    if (taken, sources, targets) not in known:
        known[taken, sources, targets] = taken(model, sources, targets)
    found: Mean = known[taken, sources, targets]
    return found


def _examples(folder: Path | None, pair: str) -> Sequence[tuple[str, str]]:
    """Sentence pairs; empty if the model has none in these languages."""
    try:
        content = json.loads((folder / EXAMPLES).read_text(encoding="utf-8")) if folder else {}
        return [(source, target) for source, target in zip(content["sentences"], content["torch"][pair], strict=True)
                if target]
    except (OSError, ValueError, KeyError, TypeError):
        return []
