"""Calibrated probabilities: of the tokens with 80 % confidence, 80 % agree with the reference.

Training with label smoothing e (Szegedy et al. 2016) teaches a model to give (1 - e) p + e / V where p is right.  The
model may also be overconfident or underconfident, and the one where it is sure, the other where it is not.  All are
corrected, in this order:

    u  =  max(p - e / V, SMOOTHING_FLOOR p)            the smoothing; no token becomes impossible
    p' =  u ** (1 / T) / sum of the same     temperature scaling (Guo et al. 2017)
    logit c  =  f(logit (max u / sum of u))  the confidence, by a curve; the others share the rest as in p'

Without a curve the confidence is max p'.  The order of the tokens stays: c is at least what the second token gets.  The
smoothing of a network is not quite even.  With e = 1 instead of the training's, each token loses the probability of a
random token.
`measures/calibration_fitting.py` chooses e and fits the others.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal, NamedTuple, get_args

import numpy as np

from seq2see.rules import SMOOTHING_FLOOR
from .intervals import Estimate
from .plain_json import Count, Measurement, Number, Share

# N steps, V vocabulary

FILE = "calibration.json"  # beside the run it was fitted on
MOST_CERTAIN = 0.999  # p' of a hypothesis
SURE = 0.8  # P from which a chance is checked before it is shown
MOST_OFF = 0.03  # of the mean of these P from the share that is right
LEAST_SURE = 50  # translations with such a P that check it

Way = Literal["raw", "temperature", "smoothing", "both", "chance"]  # what is corrected; chance: both, with e = 1
WAYS: tuple[Way, ...] = get_args(Way)


@dataclass(frozen=True)
class Calibrator:
    """Calibrates the probabilities of each step: removes the effect of label `smoothing` e and divides the logits by
    `temperature` T.  With a `curve`, the best token has its log-odds without T, changed by the curve.

    The curve is a list of points (log-odds, calibrated log-odds), joined by lines; beyond an end the log-odds shift by
    as much as there.  See Szegedy et al. 2016 and Guo et al. 2017.  Raises ValueError for a smoothing outside 0 to 1, a
    temperature that is not above 0, or a curve whose points are not in order or which falls.
    """

    smoothing: float = 0.0
    temperature: float = 1.0
    curve: tuple[tuple[Number, Number], ...] = ()

    def __post_init__(self) -> None:
        rises = all(x < next_x and y <= next_y for (x, y), (next_x, next_y) in pairwise(self.curve))
        if not (0 <= self.smoothing <= 1 and self.temperature > 0 and rises):
            raise ValueError(f"smoothing is {self.smoothing}, temperature {self.temperature}, curve {self.curve}")

    def __call__(self, log_probs_NV: np.ndarray) -> np.ndarray:
        """Calibrated log-probabilities [N,V], from the model's log-probabilities or logits."""
        bare_NV = unsmoothed(log_probs_NV, self.smoothing)
        scaled_NV = bare_NV / self.temperature
        if self.curve:
            best_N1 = bare_NV.argmax(-1)[:, None]
            own_N1 = np.take_along_axis(bare_NV, best_N1, 1)
            for others_NV in (bare_NV, scaled_NV):
                np.put_along_axis(others_NV, best_N1, -np.inf, 1)
            changed_N1 = log_sum(scaled_NV) + curved(self.curve, own_N1 - log_sum(bare_NV))
            np.put_along_axis(scaled_NV, best_N1, np.maximum(changed_N1, scaled_NV.max(-1, keepdims=True)), 1)
        return np.asarray(scaled_NV - log_sum(scaled_NV))


def curved(curve: Sequence[tuple[float, float]], odds: np.ndarray) -> np.ndarray:
    """The log-odds of confidences, changed by a curve of at least one point."""
    before, after = np.array(curve).T
    return np.asarray(np.interp(odds, before, after) + odds - np.clip(odds, before[0], before[-1]))


def unsmoothed(log_probs_NV: np.ndarray, smoothing: float) -> np.ndarray:
    """Log-probabilities without label smoothing, up to a constant for each step."""
    log_probs_NV = log_probs_NV - log_sum(log_probs_NV)
    if not smoothing:
        return log_probs_NV
    with np.errstate(over="ignore"):  # for an impossible token
        share_NV = np.exp(math.log(smoothing) - math.log(log_probs_NV.shape[-1]) - log_probs_NV)
    return np.asarray(log_probs_NV + np.log(np.maximum(1 - share_NV, SMOOTHING_FLOOR)))


def log_sum(values_NV: np.ndarray) -> np.ndarray:
    """[N,1]: the logarithm of the sum of the exponentials."""
    best_N1 = values_NV.max(-1, keepdims=True)
    return np.asarray(best_N1 + np.log(np.exp(values_NV - best_N1).sum(-1, keepdims=True)))


class Bin(NamedTuple):
    """Tokens or translations of similar confidence: their number, their mean confidence, and the share that is right.
    """

    size: Count
    confidence: Share
    right: Share


def together(bins: Sequence[Bin]) -> Bin:
    """One bin of the members of several."""
    size = sum(one.size for one in bins)
    return Bin(size, *(sum(one.size * one[i] for one in bins) / max(size, 1) for i in (1, 2)))


BANDS = (0.0, 0.3, 0.5, 0.7, 0.9, 0.99)  # where bands of the confidence of tokens begin
LEAST_IN_BAND = 5_000  # tokens that decide whether a band holds
OFF_BAND = 0.015  # of the mean confidence from the share that is right
OFF_END = 0.005  # the same for the highest band, which pages call *over 99 %*
LEAST_SHOWN = 0.001  # below it a page says *under 0.1 %*
LISTED = 20  # candidates of a step


class Band(NamedTuple):
    """Tokens whose confidence is in a band: their number, their mean confidence, the share that is right, and the 95 %
    interval of this share.
    """

    size: Count
    confidence: Share
    right: Share
    low: Share
    high: Share

    @property
    def holds(self) -> bool | None:
        """Whether the confidence is within OFF_BAND of the share, or within its interval; None for too few tokens."""
        if self.size < LEAST_IN_BAND:
            return None
        return abs(self.confidence - self.right) <= OFF_BAND or self.low <= self.confidence <= self.high


@dataclass(frozen=True)
class Reliability:
    """The reliability of one calibration method on held-out sentences.

    It has the expected calibration error with its bins, and the mean negative log-likelihood of a reference token in
    nats.  Both have 95 % intervals.  `bands` are those that begin at BANDS; `unlikely` are the candidates, LISTED of
    each step, with a probability below LEAST_SHOWN.
    """

    calibrator: Calibrator
    ece: Estimate
    nll: Estimate
    bins: tuple[Bin, ...]
    bands: tuple[Band, ...] = ()
    unlikely: Bin | None = None


@dataclass(frozen=True)
class SentenceCalibrator:
    """The probability P that the best hypothesis equals the reference.

    It is computed from the hypothesis's log-probability log p, under the model's own probabilities, and its number of
    tokens n:

        log p'          =  log p - n log(1 - e)                   without the loss from smoothing e at each token
        log P / (1 - P) =  a log p' - b log(1 - p') + bias        beta calibration (Kull et al. 2017)
    """

    smoothing: Share
    a: Number
    b: Number
    bias: Number

    def __call__(self, log_prob: float, tokens: int) -> float:
        return self.chances([log_prob], [tokens])[0]

    def chances(self, log_probs: Sequence[float], tokens: Sequence[int]) -> list[float]:
        """P for each of several hypotheses."""
        inputs_S2 = sentence_inputs(np.array(log_probs), np.array(tokens), self.smoothing)
        return [(1 + math.tanh((self.a * seen + self.b * missed + self.bias) / 2)) / 2
                for seen, missed in inputs_S2.tolist()]


def sentence_inputs(log_prob_S: np.ndarray, tokens_S: np.ndarray, smoothing: float) -> np.ndarray:
    """[S,2]: log p' and -log(1 - p') of hypotheses."""
    log_prob_S = np.minimum(log_prob_S - tokens_S * math.log(1 - smoothing), math.log(MOST_CERTAIN))
    return np.stack([log_prob_S, -np.log(-np.expm1(log_prob_S))], axis=1)


@dataclass(frozen=True)
class SentenceCheck:
    """A check of these probabilities on the best translations of one corpus, which the fit did not use.

    It compares them with the share of translations that equal the reference: for all sentences, and in bands of P. The
    last band begins at SURE.  `decides`: the corpus is of a kind that the probabilities were fitted to.
    """

    corpus: str
    decides: bool
    all: Bin
    bands: tuple[Bin, ...]

    @property
    def holds(self) -> bool:
        """Whether there are enough confident translations, and as many of them are right as P predicts."""
        sure = self.bands[-1]
        return sure.size >= LEAST_SURE and abs(sure.confidence - sure.right) <= MOST_OFF


@dataclass(frozen=True)
class SentenceCalibration:
    """A sentence calibration: its calibrator, the number and corpora of the translations it was fitted to, and its
    checks.
    """

    calibrator: SentenceCalibrator
    fitted: Count
    fitted_on: tuple[str, ...]
    checks: tuple[SentenceCheck, ...]

    @property
    def holds(self) -> bool:
        """Whether its probabilities may be shown."""
        deciding = [one.holds for one in self.checks if one.decides]
        return bool(deciding) and all(deciding)


@dataclass(frozen=True)
class LanguageCalibration:
    """The calibration of one target language.

    It has the sentence pairs and tokens of each half, and the share of tokens for which the most probable one was the
    reference's.  `way` is the calibration method in use; `ways` has the reliability of every method.
    """

    fitted_pairs: Count
    fitted_tokens: Count
    pairs: Count
    tokens: Count
    right: Share
    way: Way
    ways: Mapping[Way, Reliability]
    sentences: SentenceCalibration | None = None

    @property
    def kept(self) -> Reliability:
        """The reliability of the method in use."""
        return self.ways[self.way]


@dataclass(frozen=True)
class Calibration(Measurement):
    """The calibration of a run for each target language, measured on the data `measured_on`.

    `weights` is the fingerprint of the only weights that the calibration is valid for.
    """

    measured_on: str
    languages: Mapping[str, LanguageCalibration]
    weights: str = ""

    header = {"format": "seq2see-calibration", "version": 4}
    what, command = "calibration", "seq2see measure RUN"

    def calibrator(self, language: str) -> Calibrator | None:
        """The calibrator of a target language; None if it was not measured."""
        found = self.languages.get(language)
        return found.kept.calibrator if found else None

    @property
    def ends(self) -> tuple[bool, bool]:
        """Whether *under 0.1 %* and *over 99 %* were found right, by the unlikely candidates and by the tokens of the
        highest band, of all languages together."""
        kept = [one.kept for one in self.languages.values()]
        low = together([one.unlikely for one in kept if one.unlikely])
        high = together([Bin(*one.bands[-1][:3]) for one in kept if one.bands])
        return (low.size >= LEAST_IN_BAND and low.right < LEAST_SHOWN,
                high.size >= LEAST_IN_BAND and abs(high.right - high.confidence) <= OFF_END)

    def sentence_calibrator(self, language: str) -> SentenceCalibrator | None:
        """The calibrator of whole translations; None if it was not measured, or if its probabilities did not pass the
        checks.
        """
        found = self.languages.get(language)
        return found.sentences.calibrator if found and found.sentences and found.sentences.holds else None


def ends_of(calibration: Calibration | None) -> tuple[bool, bool]:
    """`Calibration.ends`; without a calibration the chances are the model's own."""
    return calibration.ends if calibration else (True, True)
