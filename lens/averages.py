"""What each head hands over on average: what stands in its place when it is switched off.

Over the sentences that lie beside a packaged model with its translations; of another model, over the text at hand.
"""

from __future__ import annotations

import json
from pathlib import Path
from weakref import WeakKeyDictionary

import torch
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from .hooks import Head
from .interventions import mean_outputs
from .teacher_forcing import encode_source, encode_target
from .trace import Trace

FILE = "examples.json"  # beside a packaged model
Means = dict[Head, torch.Tensor]

_KNOWN: WeakKeyDictionary[PreTrainedModel, dict[str, tuple[Means, int]]] = WeakKeyDictionary()


def head_means(
    model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, trace: Trace, folder: Path | None
) -> tuple[Means, int]:
    """The means, and over how many sentences they are taken; 0: over this trace alone."""
    pair = f"{trace.source_language}-{trace.target_language}"
    known = _KNOWN.setdefault(model, {})
    if pair not in known:
        texts = _examples(folder, pair)
        if not texts:
            return mean_outputs(model, [trace.source_ids], [trace.target_ids]), 0
        first = trace.target_ids[0] if trace.given else None
        sources = [encode_source(tokenizer, source) for source, _ in texts]
        targets = [encode_target(tokenizer, target, language=trace.target_language, first=first) for _, target in texts]
        known[pair] = mean_outputs(model, sources, targets), len(texts)
    return known[pair]


def _examples(folder: Path | None, pair: str) -> list[tuple[str, str]]:
    """Pairs of sentences; none where the model has none of these languages."""
    try:
        content = json.loads((folder / FILE).read_text(encoding="utf-8")) if folder else {}
        return [(source, target) for source, target in zip(content["sentences"], content["torch"][pair], strict=True)
                if target]
    except (OSError, ValueError, KeyError, TypeError):
        return []
