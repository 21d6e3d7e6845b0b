"""Pairs with the model's own translations: fine-tuning on them and on other data forgets less.

A corpus translates one thing in many ways, which changes the weights even where the model is right. The model's own
greedy translations do not (sequence-level self-distillation: Kim and Rush 2016, arXiv:1606.07947).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby

from sacrebleu.metrics import CHRF

from ...translate import Translator
from .variation import Pair

CLOSE = 75  # chrF2 from which the reference stands: the model says nearly the same
USABLE = 45  # chrF2 from which it stands where the model's translation is doubtful; below, the pair is left out
SHORT = 0.6  # of the reference's length: a shorter translation is doubtful


def kept(pairs: Sequence[Pair], model: Translator, counts: Counter[str]) -> Iterator[Pair]:
    """The pairs with the translations of `model`, or with their references, by language; `counts` gets how many."""
    near = CHRF()
    for language, some in groupby(sorted(pairs, key=lambda pair: pair[2]), key=lambda pair: pair[2]):
        sources, references = zip(*(pair[:2] for pair in some), strict=True)
        results = model(list(sources), target=language, num_beams=1)
        for source, reference, result in zip(sources, references, results, strict=True):
            own = result.text
            score = near.sentence_score(own, [reference]).score
            doubtful = result.invented_words or len(own) < SHORT * len(reference)
            if doubtful and score < USABLE:
                counts[f"pairs to {language} whose translation is doubtful and unlike the reference"] += 1
            elif doubtful or score >= CLOSE:
                counts[f"pairs to {language} with their reference"] += 1
                yield source, reference, language
            else:
                counts[f"pairs to {language} with the model's translation"] += 1
                yield source, own, language
