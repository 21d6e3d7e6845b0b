"""Calibrated probabilities: of the tokens that get 80 %, 80 % are the reference's.

A model that was trained with label smoothing e (Szegedy et al. 2016) has learnt to give  (1 - e) p + e / V  where p is
right, and over or under that it is surer, or less sure, than it should be.  Both are undone, in this order:

    u  =  max(p - e / V, FLOOR p)            the smoothing; no token becomes impossible
    p' =  u ** (1 / T) / sum of the same     temperature scaling (Guo et al. 2017)

Either keeps the order of the tokens.  `measures/calibration.py` fits T and measures what it is worth.
"""

import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Literal, NamedTuple, get_args

import numpy as np

from seq2see.atomic import atomic_write
from seq2see.errors import UserError
from .intervals import Figure
from .plain_json import Count, Share, from_plain

# N steps, V vocabulary

FILE = "calibration.json"  # beside the run it was fitted on
FORMAT = {"format": "seq2see-calibration", "version": 1}
FLOOR = 0.01  # of its probability, that a token keeps which has no more than smoothing gave it

Way = Literal["raw", "temperature", "smoothing", "both"]  # what is undone
WAYS: tuple[Way, ...] = get_args(Way)
KEPT: Way = "both"  # the way that is used; measures/calibration.py says why


@dataclass(frozen=True)
class Calibrator:
    """Calibrates the steps of a model: `smoothing` is e above, `temperature` T."""

    smoothing: float = 0.0
    temperature: float = 1.0

    def __post_init__(self) -> None:
        if not (0 <= self.smoothing < 1 and self.temperature > 0):
            raise ValueError(f"smoothing is {self.smoothing}, temperature {self.temperature}")

    def __call__(self, log_probs_NV: np.ndarray) -> np.ndarray:
        """Calibrated log-probabilities [N,V] of the model's own, or of its logits: a constant a step is no matter."""
        scaled_NV = unsmoothed(log_probs_NV, self.smoothing) / self.temperature
        return np.asarray(scaled_NV - log_sum(scaled_NV))


def unsmoothed(log_probs_NV: np.ndarray, smoothing: float) -> np.ndarray:
    """Log-probabilities without label smoothing, up to a constant a step."""
    log_probs_NV = log_probs_NV - log_sum(log_probs_NV)
    if not smoothing:
        return log_probs_NV
    with np.errstate(over="ignore"):  # of an impossible token
        share_NV = np.exp(math.log(smoothing) - math.log(log_probs_NV.shape[-1]) - log_probs_NV)
    return np.asarray(log_probs_NV + np.log(np.maximum(1 - share_NV, FLOOR)))


def log_sum(values_NV: np.ndarray) -> np.ndarray:
    """[N,1]: log of the sum of the exponentials."""
    best_N1 = values_NV.max(-1, keepdims=True)
    return np.asarray(best_N1 + np.log(np.exp(values_NV - best_N1).sum(-1, keepdims=True)))


class Bin(NamedTuple):
    """Tokens of like confidence: how many, their mean confidence, and the share of them that were right."""

    tokens: Count
    confidence: Share
    right: Share


@dataclass(frozen=True)
class Reliability:
    """How far one way's confidence can be believed, on held-out sentences: the expected calibration error and the mean
    negative log-likelihood of a reference token, in nats, with their 95 % intervals, and the bins of the former."""

    calibrator: Calibrator
    ece: Figure
    nll: Figure
    bins: tuple[Bin, ...]


@dataclass(frozen=True)
class ExactMatch:
    """Of so many held-out sentences: the mean probability of the best hypothesis, as the model and as the calibrated
    one has it, and the share of hypotheses that equal the reference."""

    sentences: Count
    raw: Share
    calibrated: Share
    observed: Figure


@dataclass(frozen=True)
class LanguageCalibration:
    """Of one target language: how many sentence pairs and tokens each half had, how often the most probable token was
    the reference's, and how each way did."""

    fitted_pairs: Count
    fitted_tokens: Count
    pairs: Count
    tokens: Count
    right: Share
    ways: Mapping[Way, Reliability]
    exact_match: ExactMatch | None = None


@dataclass(frozen=True)
class Calibration:
    """What was fitted of a run, on `measured_on`, by target language.  `weights` is the fingerprint of the weights that
    were measured: of others this says nothing."""

    measured_on: str
    languages: Mapping[str, LanguageCalibration]
    weights: str = ""

    def calibrator(self, language: str) -> Calibrator | None:
        """That of a target language; None where it was not measured."""
        found = self.languages.get(language)
        return found.ways[KEPT].calibrator if found else None

    def save(self, path: str | Path) -> None:
        content = {**FORMAT, "method": KEPT, **asdict(self)}
        atomic_write(Path(path), json.dumps(content, ensure_ascii=False, indent=1) + "\n")

    @classmethod
    def load(cls, path: str | Path) -> "Calibration":
        """Read what `save` wrote; UserError for anything else."""
        try:
            content = json.loads(Path(path).read_text(encoding="utf-8"))
            if {name: content[name] for name in (*FORMAT, "method")} != {**FORMAT, "method": KEPT}:
                raise ValueError("it has another format, version or method")
            found: Calibration = from_plain(cls, {field.name: content[field.name] for field in fields(cls)})
            return found
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
            raise UserError(f"{path} is no calibration ({str(error)[:200] or 'it is damaged'}): fit it again with"
                            " seq2see calibrate RUN, or remove it") from error
