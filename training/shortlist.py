"""A vocabulary shortlist: which target tokens a source token may become, so that an engine need not score them all.

IBM Model 1 (Brown et al. 1993, section 4) on the training pairs says how likely each is.  CTranslate2 then computes the
output layer for the candidates of the sources at hand alone; what is no candidate cannot be said.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from ..tokenizer.layout import FIRST_LEARNT
from .batching import EncodedPair
from .pairs import evenly_spaced

FILE = "shortlist.json"
ITERATIONS = 4
FREQUENT = 500  # target tokens that are always candidates, as tags, bytes and `</s>` are
MOST_PAIRS = 50_000  # that are looked at, evenly drawn


def write_shortlist(folder: Path, pairs: Sequence[EncodedPair], *, size: int) -> None:
    """`shortlist.json`: the ids that are always candidates, and by each source id its others."""
    always, candidates = shortlist(pairs, size=size)
    content = {"always": always, "candidates": candidates}
    (folder / FILE).write_text(json.dumps(content, separators=(",", ":")) + "\n", "utf-8")


def shortlist(pairs: Sequence[EncodedPair], *, size: int) -> tuple[list[int], dict[int, list[int]]]:
    """Ids that are always candidates, and for each source id itself (names are copied) and its `size` likeliest."""
    pairs = [pairs[index] for index in evenly_spaced([pair.labels[0] for pair in pairs], MOST_PAIRS)]
    counts = np.bincount(np.concatenate([pair.labels for pair in pairs]), minlength=FIRST_LEARNT)
    frequent = np.argsort(-counts, kind="stable")[:FREQUENT]
    always = {*range(FIRST_LEARNT), *map(int, frequent[counts[frequent] > 0])}
    source_N, target_N, probability_N = model_1(pairs)
    order = np.lexsort((-probability_N, source_N))
    source_N, target_N = source_N[order], target_N[order]
    candidates = {}
    sources, starts = np.unique(source_N, return_index=True)
    for source, targets in zip(sources.tolist(), np.split(target_N, starts[1:]), strict=True):
        likely = targets[:size].tolist()
        candidates[source] = [target for target in dict.fromkeys([source, *likely]) if target not in always]
    return sorted(always), candidates


def model_1(pairs: Sequence[EncodedPair], *, iterations: int = ITERATIONS) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """IBM Model 1: for each source and target that stand in one pair, the probability of the target given the source.

    Returns sources, targets and probabilities [N], by source and target; those of a source sum to 1.  It begins with
    even odds.
    """
    # M: a target position of a pair with one of its source positions; the sources of one position follow one another
    source_M = np.concatenate([np.tile(pair.source, len(pair.labels)) for pair in pairs]).astype(np.int64)
    target_M = np.concatenate([np.repeat(pair.labels, len(pair.source)) for pair in pairs]).astype(np.int64)
    lengths = np.repeat([len(pair.source) for pair in pairs], [len(pair.labels) for pair in pairs])
    starts = np.concatenate([[0], np.cumsum(lengths)[:-1]])
    vocabulary = int(target_M.max()) + 1
    key_N, which_M = np.unique(source_M * vocabulary + target_M, return_inverse=True)
    source_N = key_N // vocabulary
    probability_N = np.ones(len(key_N))
    for _ in range(iterations):
        weight_M = probability_N[which_M]
        weight_M /= np.repeat(np.add.reduceat(weight_M, starts), lengths)
        count_N = np.bincount(which_M, weights=weight_M, minlength=len(key_N))
        probability_N = count_N / np.bincount(source_N, weights=count_N)[source_N]
    return source_N, key_N % vocabulary, probability_N
