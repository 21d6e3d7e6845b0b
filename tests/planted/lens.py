"""Faults of looking inside: interventions, views, links, calibration, faithfulness, roles and lessons."""

from dataclasses import replace
from typing import Any

import numpy as np

from . import fault

ALIGNMENT, CALIBRATION, HEADS = "lens/test_alignment.py", "lens/test_calibration.py", "lens/test_heads.py"
INTERVENTIONS, TRUST = "lens/test_interventions.py", "lens/test_trust.py"


@fault("a head's columns are another head's", "lens.hooks:AttentionSite.columns", INTERVENTIONS)
def _(original: Any, self: Any, heads: Any) -> Any:
    return original(self, [self.heads - 1 - head for head in heads])


@fault("the mean of a head counts padding", "lens.interventions:real_positions", INTERVENTIONS)
def _(original: Any, sequences: Any) -> Any:
    return original([max(sequences, key=len)] * len(sequences))


@fault("a patch reaches every position", "lens.interventions:patch", INTERVENTIONS)
def _(original: Any, model: Any, donor: Any, *, where: Any = None, **what: Any) -> Any:
    return original(model, donor, **what)


@fault("a head's temperature works upside down", "lens.interventions:steer", "lens/test_what_if.py")
def _(original: Any, model: Any, *, temperatures: Any = None, weights: Any = None) -> Any:
    turned = {head: 1 / value if value > 0 else value for head, value in (temperatures or {}).items()}
    return original(model, temperatures=turned, weights=weights)


@fault("a word's row is the sum of its tokens' rows", "lens.by_words:mean_rows", "lens/test_by_words.py")
def _(original: Any, maps: Any, rows: Any) -> Any:
    return np.add.reduceat(maps, [row.pieces[0] for row in rows], axis=-2)


@fault("rollout forgets the residual of the target", "lens.attention_blocks:halved", "lens/test_views.py")
def _(original: Any, trace: Any) -> Any:
    layers = original(trace)
    return replace(layers, residual=np.zeros_like(layers.residual))


@fault("a saved trace is rounded", "lens.files:save", "lens/test_files.py")
def _(original: Any, trace: Any, path: Any) -> None:
    original(replace(trace, log_probs=trace.log_probs.astype(np.float16).astype(np.float32)), path)


@fault("smoothing is undone as if the vocabulary had one token", "lens.calibration:unsmoothed", CALIBRATION)
def _(original: Any, log_probs: Any, smoothing: float) -> Any:
    return original(log_probs, smoothing * log_probs.shape[-1])


@fault("the fitted temperature is the inverse one", "measures.calibration:TemperatureFit.best",
       "measures/test_calibration.py")  # fmt: skip
def _(original: Any, self: Any) -> float:
    return float(1 / original(self))


@fault("variants of a sentence count as independent", "lens.intervals:group_numbers", f"{ALIGNMENT} {TRUST}")
def _(original: Any, count: int, groups: Any) -> Any:
    return original(count, None)


@fault("the alignment error counts possible links as sure", "lens.intervals:error_rate", ALIGNMENT)
def _(original: Any, counts: Any) -> Any:
    return original(counts[..., [0, 1, 3, 3]])


@fault("links have source and target exchanged", "lens.alignment:AlignmentChoice.links", ALIGNMENT)
def _(original: Any, self: Any, trace: Any) -> Any:
    return frozenset((j, i) for i, j in original(self, trace))


@fault("tau compares words below the noise floor", "lens.faithfulness:kendall", TRUST)
def _(original: Any, maps: Any, drops: Any, *, least: float = 0.0) -> Any:
    return original(maps, drops)


@fault("the best map is chosen where it is reported", "lens.faithfulness:measure_trust", TRUST)
def _(original: Any, dev: Any, test: Any, *, dev_gold: Any, test_gold: Any, **how: Any) -> Any:
    test = list(test)
    return original(test, test, dev_gold=test_gold, test_gold=test_gold, **how)
