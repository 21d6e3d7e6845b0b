"""Fits and measures the calibration of a model (`lens/records/calibration.py`) on sentence pairs that it was not
trained on.

With teacher forcing, the model predicts each token of a reference and is right if its most probable token is the
reference's (Müller et al.  2019).  `held_out_pairs.py` says which pairs are fitted on, and which are measured on.

Three sets are fitted: the model's own probabilities, those with label smoothing undone (its e is known from the run's
settings), and those with smoothing of 1 undone, since a network's smoothing is uneven, and what it leaves on thousands
of unlikely tokens is confidence that its best token lacks.  No one temperature holds where the model is sure
and where it is not, so the confidence follows a curve instead: ordered by confidence, the tokens are cut into groups of
equal size, and each group is a point, from the log-odds of its mean confidence to those of its share that is right
(histogram binning, Zadrozny and Elkan 2001, with lines between).  The temperature then shapes the other tokens; it is
fitted where one of them is the reference's.  The fit with the least cross-entropy of confidence and "right" is used.
Each language has its own, as a model is not equally sure of itself in all.

For a whole translation the useful number is the chance that a reference reads exactly the same.  The product over
its tokens is not that: many sentences have several good translations, and the beam chooses what the model overrates or
underrates.  So a second calibration (`SentenceCalibrator`), one for each language since languages differ in how many
good translations a sentence has, maps the log-probability and length of the best hypothesis to whether it equals the
reference.  It needs no pass through the network.  It is shown only if it holds where it is sure (`SentenceCheck`).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import itemgetter
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
import torch.nn.functional as functional
from tqdm.auto import tqdm

from seq2see.errors import UserError
from ..lens.measurements import NOTHING
from ..lens.records.calibration import (
    SURE,
    WAYS,
    Bin,
    Calibration,
    Calibrator,
    LanguageCalibration,
    Reliability,
    SentenceCalibration,
    SentenceCalibrator,
    SentenceCheck,
    Way,
    curved,
    sentence_inputs,
    together,
    unsmoothed,
)
from ..passes.forced_pass import eval_mode, forced_batches
from ..training.checkpoints import find_record
from ..training.config import TrainingFields, load_record
from ..training.pairs import sentence_key
from ..translate.loaded_checkpoint import fingerprint
from ..translate.translator import Translator
from .held_out_pairs import HeldOutPairs, Languages, encoded
from .parallel_files import TextPair
from .reliability import reliability, unlikely_of

# N tokens of some sentences, V vocabulary, G temperatures tried, P points of a curve

INVERSE = np.arange(5, 26) / 10  # [G]: 1 / temperature
FITTED, MEASURED = 30_000, 20_000  # maximum tokens per language
SENTENCES = 12_000  # maximum to translate per corpus, to fit on and to check on
BANDS = np.array([0, 0.2, 0.4, 0.6, SURE])  # where bands of chances begin
AT_ONCE = 128  # sentences translated together
LEAST_HYPOTHESES = 100  # to fit on
WEIGHT_DECAY = 1e-6  # keeps the fit finite where probability separates right from wrong
LEAST = 500  # tokens to fit on, and to measure on in each language; one with fewer is not calibrated
POINTS = 10  # of a curve, at most
LEAST_AT_A_POINT = 500  # tokens
LEAST_WRONG = 100  # tokens to fit a temperature on
LEAST_PROBABILITY = 1e-6  # a token cannot cost more, be it as certain as float32 has it


@dataclass(frozen=True)
class Forced:
    """A source and a translation as ids, the first `given` of them forced; `group` identifies the source."""

    source: tuple[int, ...]
    target: tuple[int, ...]
    given: int
    group: int


@dataclass(frozen=True)
class Predictions:
    """What a model predicts for the tokens of some sentences: log-probabilities of the vocabulary, the actual token,
    and the sentence's index."""

    log_probs_NV: np.ndarray
    token_N: np.ndarray
    sentence_N: np.ndarray


def calibrate(translator: Translator, corpora: Sequence[HeldOutPairs], *, measured_on: str,
              limit: int | None = None) -> Calibration:
    """Fit on the pairs of these corpora, and measure on others of them, for each target language.

    `limit`: the most pairs of a corpus to fit on, and to measure on.  UserError if there are too few.
    """
    assert translator.folder is not None
    translator.measured_files = NOTHING  # it is fitted again, even if the present one is damaged
    by_languages: dict[Languages, list[HeldOutPairs]] = {}
    for one in corpora:
        cut = replace(one, fitted=one.fitted[:limit], held=one.held[:limit])
        by_languages.setdefault(one.languages, []).append(cut)
    forced = {languages: (_forced(translator, languages, [pair for one in own if one.decides for pair in one.fitted]),
                          _forced(translator, languages, [pair for one in own if one.decides for pair in one.held]))
              for languages, own in by_languages.items()}
    smoothing = smoothing_of(translator.folder)
    compared = compare(translator, forced, smoothing=smoothing)
    if not compared:
        raise UserError(f"{measured_on}: too few sentence pairs; fitting and measuring need {LEAST} tokens each")
    found = {languages[1]: replace(tokens, sentences=calibrate_sentences(translator, by_languages[languages],
                                                                         smoothing=smoothing))
             for languages, tokens in compared.items()}
    return Calibration(measured_on, found, fingerprint(translator.folder))


def calibrate_sentences(translator: Translator, corpora: Sequence[HeldOutPairs], *,
                        smoothing: float) -> SentenceCalibration | None:
    """Fit and check the chances of whole translations, on corpora of one language pair; None for too few of them."""
    used = [one for one in corpora if one.decides and one.fitted]
    fitted = Hypotheses.joined([hypotheses_of(translator, one.languages, one.fitted[:SENTENCES]) for one in used])
    calibrator = fit_sentences(fitted, smoothing=smoothing)
    if calibrator is None:
        return None
    checks = [check_sentences(calibrator, hypotheses_of(translator, one.languages, one.held[:SENTENCES]),
                              corpus=one.name, decides=one.decides) for one in corpora if one.held]
    return SentenceCalibration(calibrator, len(fitted.equal_S), tuple(one.name for one in used), tuple(checks))


def smoothing_of(folder: Path) -> float:
    """The label smoothing that a run was trained with; 0 if unknown."""
    record = find_record(folder, "run.yaml")
    if record is None:
        return 0.0
    return float(load_record(record).training.get("label_smoothing_factor", TrainingFields.label_smoothing_factor))


def compare(
    translator: Translator, forced: Mapping[Languages, tuple[Sequence[Forced], Sequence[Forced]]], *,
    smoothing: float,
) -> dict[Languages, LanguageCalibration]:
    """Every way, fitted on the first sentences of each language and measured on the second; without languages that
    have too few tokens."""
    found = {}
    for languages, (fitted, held) in forced.items():
        fits = {amount: TokenFit(amount) for amount in (0.0, smoothing, 1.0)}
        pairs = tokens = 0
        for batch in predictions(translator, fitted, most=FITTED, title="Calibrating"):
            for fit in fits.values():
                fit.add(batch.log_probs_NV, batch.token_N)
            pairs = int(batch.sentence_N[-1]) + 1
            tokens += len(batch.token_N)
        if tokens < LEAST:
            continue
        least = {amount: fit.best() for amount, fit in fits.items()}
        best = {amount: calibrator for amount, (_, calibrator) in least.items()}
        ways = dict(zip(WAYS, (Calibrator(), best[0.0], Calibrator(smoothing), best[smoothing], best[1.0]),
                        strict=True))
        kept = min(least.values(), key=itemgetter(0))[1]
        way = next(way for way, calibrator in ways.items() if calibrator == kept)
        if measured := _measured(translator, held, ways, way, pairs, tokens):
            found[languages] = measured
    return found


def _measured(
    translator: Translator, forced: Sequence[Forced], ways: dict[Way, Calibrator], kept: Way, fitted_pairs: int,
    fitted_tokens: int,
) -> LanguageCalibration | None:
    """The reliability of each way on these sentences; None if there are too few tokens."""
    right, sentences, numbers = list[np.ndarray](), list[np.ndarray](), {way: list[np.ndarray]() for way in ways}
    unlikely = list[Bin]()
    for batch in predictions(translator, forced, most=MEASURED, title="Measuring"):
        right.append(batch.log_probs_NV.argmax(-1) == batch.token_N)
        sentences.append(batch.sentence_N)
        for way, calibrator in ways.items():
            log_probs_NV = calibrator(batch.log_probs_NV)
            nll_N = -log_probs_NV[np.arange(len(batch.token_N)), batch.token_N]
            numbers[way].append(np.stack([np.exp(log_probs_NV.max(-1)), nll_N]).astype(np.float64))
            if way == kept:
                unlikely.append(unlikely_of(log_probs_NV, batch.token_N))
    if sum(map(len, right)) < LEAST:
        return None
    right_N, sentence_N = np.concatenate(right), np.concatenate(sentences)
    group_N = np.unique(np.array([one.group for one in forced])[sentence_N], return_inverse=True)[1]
    reports: dict[Way, Reliability] = {}
    for way, calibrator in ways.items():
        confidence_N, nll_N = np.concatenate(numbers[way], axis=1)
        rare = together(unlikely) if calibrator == ways[kept] else None
        reports[way] = reliability(calibrator, confidence_N=confidence_N, right_N=right_N, nll_N=nll_N,
                                   sentence_N=group_N, unlikely=rare)
    return LanguageCalibration(fitted_pairs, fitted_tokens, int(sentence_N[-1]) + 1, len(right_N),
                               float(right_N.mean()), kept, reports)


class TokenFit:
    """The calibrator after undoing smoothing, for tokens that come in batches: the curve of the most probable token's
    confidence and, where it is not the actual one, the temperature that makes the actual one likeliest."""

    def __init__(self, smoothing: float):
        self.smoothing = smoothing
        self.confidences, self.rights = list[np.ndarray](), list[np.ndarray]()
        self.loss_G = np.zeros(len(INVERSE))

    def add(self, log_probs_NV: np.ndarray, token_N: np.ndarray) -> None:
        """Add the model's log-probabilities or logits, and the actual tokens."""
        bare_NV = unsmoothed(log_probs_NV, self.smoothing)
        bare_NV -= bare_NV.max(-1, keepdims=True)
        own_N, right_N = bare_NV[np.arange(len(token_N)), token_N], log_probs_NV.argmax(-1) == token_N
        for g, inverse in enumerate(INVERSE):
            sum_N, weight_N = np.exp(bare_NV * inverse).sum(-1, dtype=np.float64), np.exp(inverse * own_N)
            self.loss_G[g] += np.log(np.maximum(sum_N - 1, weight_N) / weight_N)[~right_N].sum()  # 1: of the best token
            if inverse == 1:
                self.confidences.append(1 / sum_N)
        self.rights.append(right_N)

    def best(self) -> tuple[float, Calibrator]:
        """The cross-entropy of calibrated confidence and "right", and the calibrator."""
        confidence_N, right_N = np.concatenate(self.confidences), np.concatenate(self.rights)
        curve = fit_curve(confidence_N, right_N)
        shown_N = 1 / (1 + np.exp(-curved(curve, log_odds(confidence_N))))
        enough = np.count_nonzero(~right_N) >= LEAST_WRONG
        temperature = 1 / float(INVERSE[self.loss_G.argmin()]) if enough else 1.0
        return float(cross_entropy(shown_N, right_N)), Calibrator(self.smoothing, temperature, curve)


def cross_entropy(confidence: np.ndarray, right: np.ndarray) -> np.ndarray:
    """The sum over the first axis."""
    return np.asarray(-np.log(np.maximum(np.where(right, confidence, 1 - confidence), LEAST_PROBABILITY)).sum(0))


def log_odds(share: np.ndarray) -> np.ndarray:
    """ln(p / (1 - p)), finite."""
    share = np.clip(share, LEAST_PROBABILITY, 1 - LEAST_PROBABILITY)
    return np.asarray(np.log(share / (1 - share)))


def fit_curve(confidence_N: np.ndarray, right_N: np.ndarray) -> tuple[tuple[float, float], ...]:
    """The curve from the log-odds of confidences to those of the share that is right: a point for each of at most
    POINTS groups of equal size.  Equal confidences are in one group; no point is lower than the one before."""
    confidence_N = np.clip(confidence_N, LEAST_PROBABILITY, 1 - LEAST_PROBABILITY)
    count = min(max(len(confidence_N) // LEAST_AT_A_POINT, 1), POINTS)
    starts = np.unique(np.quantile(confidence_N, np.arange(1, count) / count, method="higher"))
    group_N = np.searchsorted(starts[starts > confidence_N.min()], confidence_N, side="right")
    size_P = np.bincount(group_N)
    before_P = log_odds(np.bincount(group_N, confidence_N) / size_P)
    after_P = np.maximum.accumulate(log_odds((np.bincount(group_N, right_N) + 0.5) / (size_P + 1)))
    return tuple(zip(before_P.tolist(), after_P.tolist(), strict=True))


def _forced(translator: Translator, languages: Languages, pairs: Sequence[TextPair]) -> list[Forced]:
    """The pairs as ids, without those longer than the model's positions."""
    groups, found = dict[str, int](), []
    for (text, _), source, target, given in encoded(translator, languages, pairs):
        group = groups.setdefault(sentence_key(text), len(groups))
        found.append(Forced(tuple(source), tuple(target), given, group))
    return found


def predictions(translator: Translator, forced: Sequence[Forced], *, most: float = math.inf,
                title: str = "") -> Iterator[Predictions]:
    """Those for the tokens of the sentences, in whole batches, up to about `most` tokens, behind a progress bar."""
    sources, targets = [one.source for one in forced], [one.target for one in forced]
    tokens, whole = 0, sum(len(one.target) - one.given for one in forced)
    with translator.inside() as (model, _), eval_mode(model), progress_bar(min(most, whole), title) as bar:
        for batch, output, _ in forced_batches(model, sources, targets):
            chosen = [(row, step) for row, i in enumerate(batch) for step in range(forced[i].given, len(targets[i]))]
            rows, at = (list(one) for one in zip(*chosen, strict=True))
            tokens += len(chosen)
            bar.update(len(chosen))
            yield Predictions(
                output.logits[rows, at].float().cpu().numpy(),
                np.array([targets[batch[row]][step] for row, step in chosen]),
                np.array([batch[row] for row in rows]),
            )
            if tokens >= most:
                return


def progress_bar(total: float, title: str) -> tqdm:
    return tqdm(total=total, desc=title, disable=None, leave=False, dynamic_ncols=True)


class Hypotheses(NamedTuple):
    """The best hypotheses of several sources: log-probabilities, numbers of tokens, whether they equal the reference.
    """

    log_prob_S: np.ndarray
    tokens_S: np.ndarray
    equal_S: np.ndarray

    @classmethod
    def joined(cls, parts: Sequence[Hypotheses]) -> Hypotheses:
        return cls(*(np.concatenate([part[column] for part in parts] or [np.empty(0)]) for column in range(3)))


def hypotheses_of(translator: Translator, languages: Languages, pairs: Sequence[TextPair]) -> Hypotheses:
    """The best hypotheses for these texts, without those that reach the maximum length and without texts that are
    translated in parts."""
    found = list[tuple[float, int, bool]]()
    for start in tqdm(range(0, len(pairs), AT_ONCE), desc="Translating", disable=None, leave=False, dynamic_ncols=True):
        some = pairs[start : start + AT_ONCE]
        results = translator([text for text, _ in some], source=languages[0], target=languages[1])
        found += [(one.log_prob, one.tokens, one.text == reference)
                  for (_, reference), result in zip(some, results, strict=True) if not result.segments
                  for one in result.hypotheses[:1] if one.finished]
    return Hypotheses(*np.array(found, float).reshape(-1, 3).T)


def fit_sentences(fitted: Hypotheses, *, smoothing: float) -> SentenceCalibrator | None:
    """The calibrator of maximum likelihood; None for too few hypotheses."""
    log_prob_S, tokens_S, equal_S = fitted
    if len(equal_S) < LEAST_HYPOTHESES:
        return None
    inputs_S2 = torch.from_numpy(sentence_inputs(log_prob_S, tokens_S, smoothing))
    inputs_S3 = torch.cat([inputs_S2, torch.ones(len(inputs_S2), 1)], dim=1)
    weights_3 = torch.ones(3, dtype=torch.float64, requires_grad=True)
    optimizer = torch.optim.LBFGS([weights_3], max_iter=200, line_search_fn="strong_wolfe")

    def loss() -> torch.Tensor:
        optimizer.zero_grad()
        found = functional.binary_cross_entropy_with_logits(inputs_S3 @ weights_3, torch.from_numpy(equal_S))
        found = found + WEIGHT_DECAY * weights_3.square().sum()
        found.backward()
        return found

    optimizer.step(loss)
    return SentenceCalibrator(smoothing, *weights_3.tolist())


def check_sentences(calibrator: SentenceCalibrator, held: Hypotheses, *, corpus: str, decides: bool) -> SentenceCheck:
    """How far chances agree with the share of translations that equal the reference."""
    p_S = np.array([calibrator(*one) for one in zip(held.log_prob_S, held.tokens_S, strict=True)])
    band_S = np.searchsorted(BANDS, p_S, side="right") - 1

    def bin_of(chosen_S: np.ndarray) -> Bin:
        size = int(chosen_S.sum())
        return Bin(size, float(p_S[chosen_S].sum() / max(size, 1)), float(held.equal_S[chosen_S].sum() / max(size, 1)))

    bands = tuple(bin_of(band_S == band) for band in range(len(BANDS)))
    return SentenceCheck(corpus, decides, bin_of(band_S >= 0), bands)
