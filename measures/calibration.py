"""Fits and measures the calibration of a run (`lens/calibration.py`) on sentence pairs that it was not trained on.

With teacher forcing, the model predicts each token of a reference and is right if its most probable token is the
reference's (Müller et al.  2019).  What is fitted on the validation pairs is measured on the test pairs; without those,
or on files, one half is fitted on and the other measured.  No source sentence is in both.

A temperature is fitted to the model's own probabilities, to those with label smoothing undone (its e is known from the
run's settings), and to those with smoothing of 1 undone: a network's smoothing is uneven, and what it leaves on
thousands of unlikely tokens is confidence that its best token lacks.  Each fit minimises the cross-entropy of
confidence and "right"; the fit with the least is used.  All languages share it, as they share the network that was
smoothed: three times the tokens, a third of the noise.

For a whole hypothesis the useful number is the probability that a reference reads exactly the same.  The product over
its tokens is not that: many sentences have several good translations, and the beam chooses what the model overrates or
underrates.  So a second calibration (`SentenceCalibrator`), also one for all languages, maps the log-probability and
length of the best few hypotheses to whether they equal the reference.  It needs no pass through the network.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
import torch.nn.functional as functional
from tqdm.auto import tqdm

from seq2see.errors import UserError
from ..lens.calibration import (
    FILE,
    WAYS,
    Calibration,
    Calibrator,
    LanguageCalibration,
    Reliability,
    SentenceCalibrator,
    SentenceReliability,
    Way,
    sentence_inputs,
    unsmoothed,
)
from ..lens.intervals import mean_figure
from ..lens.teacher_forcing import encode_target, eval_mode, forced_batches
from ..training.checkpoints import find_record
from ..training.config import RunConfig, TrainingFields, load_record
from ..training.pairs import load_split, sentence_key
from ..training.pairs import place as hash_fraction
from ..training.reading import find_part, is_nowhere
from ..translate.loaded_checkpoint import fingerprint
from ..translate.measurements import NOTHING
from ..translate.translator import Translator
from .alignment import language_pair, output_path
from .pairs import LinkedFiles, TextPair, read_pairs
from .reliability import calibration_error, reliability

# N tokens of some sentences, V vocabulary, G temperatures tried

INVERSE = np.linspace(0.5, 2.5, 21)  # [G]: 1 / temperature; between them a polynomial is fitted
FITTED, MEASURED = 10_000, 20_000  # maximum tokens per language
SENTENCES = 3_000  # maximum to translate per language and half
ALTERNATIVES = 4  # hypotheses of each
AT_ONCE = 128  # sentences translated together
LEAST_HYPOTHESES = 100  # to fit on, and to measure on in each language
WEIGHT_DECAY = 1e-6  # keeps the fit finite where probability separates right from wrong
PERFECT = 20  # perfect calibrations whose errors are averaged
LEAST = 500  # tokens to fit on, and to measure on in each language; one with fewer is not calibrated
LEAST_PROBABILITY = 1e-6  # a token cannot cost more, be it as certain as float32 has it

Languages = tuple[str, str]
Halves = tuple[list[TextPair], list[TextPair]]  # to fit on, to measure on


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


def calibrate(
    translator: Translator, run: str, files: LinkedFiles | None = None, *, source: str | None = None,
    target: str | None = None, limit: int | None = None,
) -> Calibration:
    """Fit and measure on the given files or on the run's own held-out pairs, for each target language or `target`.

    `limit`: the most pairs of a language to fit on, and to measure on.  UserError if there are too few.
    """
    folder = output_path(run, FILE).parent
    translator.measured_files = NOTHING  # it is fitted anew, even if the present one is damaged
    by_languages, name = calibration_pairs(translator, folder, files, source=source, target=target)
    by_languages = {key: (fitted[:limit], held[:limit]) for key, (fitted, held) in by_languages.items()}
    forced = {languages: (_forced(translator, languages, fitted), _forced(translator, languages, held))
              for languages, (fitted, held) in by_languages.items()}
    smoothing = smoothing_of(folder)
    compared = compare(translator, forced, smoothing=smoothing)
    if not compared:
        raise UserError(f"{name}: too few sentence pairs for calibration: fitting and measuring each need {LEAST}"
                        " tokens; give more with --src FILE --tgt FILE")
    fitted, held = ([hypotheses_of(translator, languages, by_languages[languages][half][:SENTENCES])
                     for languages in tqdm(compared, desc="Translating", disable=None, leave=False)] for half in (0, 1))
    sentences = fit_sentences(fitted, smoothing=smoothing)
    found = {languages[1]: replace(tokens, sentences=sentence_reliability(sentences, own)
                                   if sentences and len(own.equal_S) >= LEAST_HYPOTHESES else None)
             for (languages, tokens), own in zip(compared.items(), held, strict=True)}
    return Calibration(name, found, fingerprint(folder), sentences)


def smoothing_of(folder: Path) -> float:
    """The label smoothing that a run was trained with; 0 if unknown."""
    record = find_record(folder, "run.yaml")
    if record is None:
        return 0.0
    return float(load_record(record).training.get("label_smoothing_factor", TrainingFields.label_smoothing_factor))


def calibration_pairs(
    translator: Translator, folder: Path, files: LinkedFiles | None = None, *, source: str | None = None,
    target: str | None = None,
) -> tuple[dict[Languages, Halves], str]:
    """The pairs to fit on and those to measure on by language pair, each in random order, and a name for them."""
    languages = language_pair(translator, source, target)
    if files:
        kept = [pair for pair in read_pairs(files.source, files.target) if all(text.strip() for text in pair)]
        return {languages: _halves(kept)}, f"{Path(files.source).name} and {Path(files.target).name}"
    record = find_record(folder, "run.yaml")
    if record is None:
        raise UserError(f"{folder} has no run.yaml that names its training data: give --src FILE and --tgt FILE,"
                        " sentences that it was not trained on", exit_code=2)  # fmt: skip
    config = load_record(record)
    for part in config.data.parts():
        if is_nowhere(part):
            raise UserError(f"{folder} was trained on {part.path}, which is not here; give --src FILE and --tgt FILE,"
                            " sentences that it was not trained on")  # fmt: skip
    val, test = (_split(config, side, target) for side in ("val", "test"))
    if set(val) <= set(test):
        return {key: (_shuffled(val[key]), _shuffled(test[key])) for key in val}, "the validation and test pairs"
    return {key: _halves(pairs) for key, pairs in val.items()}, "the validation pairs"


def _split(config: RunConfig, side: str, target: str | None) -> dict[Languages, list[TextPair]]:
    """The pairs of one side of the run's data by language pair; none of them if a part of the data has no such side."""
    found: dict[Languages, list[TextPair]] = {}
    for part in config.data.parts():
        if side == "test" and not part.test_fraction and not find_part(part, "test", optional=("test",)):
            return {}
        for pair in load_split(part, side, seed=config.training.get("seed", 0)):
            if target in (None, pair.target_language):
                found.setdefault((pair.source_language, pair.target_language), []).append((pair.source, pair.target))
    return found


def _halves(pairs: Sequence[TextPair]) -> Halves:
    found = _shuffled(pairs)
    cut = next((number for number, pair in enumerate(found) if _place(pair) >= 0.5), len(found))
    return found[:cut], found[cut:]


def _shuffled(pairs: Sequence[TextPair]) -> list[TextPair]:
    return sorted(pairs, key=_place)


def _place(pair: TextPair) -> float:
    """A fixed number in [0, 1) for each source sentence."""
    return hash_fraction(f"calibration {sentence_key(pair[0])}")


def compare(
    translator: Translator, forced: Mapping[Languages, tuple[Sequence[Forced], Sequence[Forced]]], *,
    smoothing: float,
) -> dict[Languages, LanguageCalibration]:
    """Every way, fitted on the first sentences of all languages and measured on the second of each; without languages
    that have too few tokens."""
    fits = {amount: TopTokenFit(amount) for amount in (0.0, smoothing, 1.0)}
    pairs, tokens = dict.fromkeys(forced, 0), dict.fromkeys(forced, 0)
    for languages, (fitted, _) in tqdm(forced.items(), desc="Calibrating", disable=None, leave=False):
        for batch in predictions(translator, fitted, most=FITTED):
            for fit in fits.values():
                fit.add(batch.log_probs_NV, batch.token_N)
            pairs[languages] = int(batch.sentence_N[-1]) + 1
            tokens[languages] += len(batch.token_N)
    if sum(tokens.values()) < LEAST:
        return {}
    best = {amount: Calibrator(amount, fit.temperature()) for amount, fit in fits.items()}
    ways = dict(zip(WAYS, (Calibrator(), best[0.0], Calibrator(smoothing), best[smoothing], best[1.0]), strict=True))
    kept = best[min(fits, key=lambda amount: fits[amount].loss_G.min())]
    way = next(way for way, calibrator in ways.items() if calibrator == kept)
    found = {}
    for languages, (_, held) in tqdm(forced.items(), desc="Measuring", disable=None, leave=False):
        if measured := _measured(translator, held, ways, way, pairs[languages], tokens[languages]):
            found[languages] = measured
    return found


def _measured(
    translator: Translator, forced: Sequence[Forced], ways: dict[Way, Calibrator], kept: Way, fitted_pairs: int,
    fitted_tokens: int,
) -> LanguageCalibration | None:
    """The reliability of each way on these sentences; None if there are too few tokens."""
    right, sentences, numbers = list[np.ndarray](), list[np.ndarray](), {way: list[np.ndarray]() for way in ways}
    for batch in predictions(translator, forced, most=MEASURED):
        right.append(batch.log_probs_NV.argmax(-1) == batch.token_N)
        sentences.append(batch.sentence_N)
        for way, calibrator in ways.items():
            log_probs_NV = calibrator(batch.log_probs_NV)
            nll_N = -log_probs_NV[np.arange(len(batch.token_N)), batch.token_N]
            numbers[way].append(np.stack([np.exp(log_probs_NV.max(-1)), nll_N]).astype(np.float64))
    if sum(map(len, right)) < LEAST:
        return None
    right_N, sentence_N = np.concatenate(right), np.concatenate(sentences)
    group_N = np.unique(np.array([one.group for one in forced])[sentence_N], return_inverse=True)[1]
    reports: dict[Way, Reliability] = {}
    for way, calibrator in ways.items():
        confidence_N, nll_N = np.concatenate(numbers[way], axis=1)
        reports[way] = reliability(calibrator, confidence_N=confidence_N, right_N=right_N, nll_N=nll_N,
                                   sentence_N=group_N)
    return LanguageCalibration(fitted_pairs, fitted_tokens, int(sentence_N[-1]) + 1, len(right_N),
                               float(right_N.mean()), kept, reports)


class TopTokenFit:
    """The temperature after undoing smoothing that minimises the cross-entropy of the most probable token's confidence
    and whether it is right, for tokens that come in batches."""

    def __init__(self, smoothing: float):
        self.smoothing = smoothing
        self.loss_G = np.zeros(len(INVERSE))

    def add(self, log_probs_NV: np.ndarray, token_N: np.ndarray) -> None:
        """Add the model's log-probabilities or logits, and the actual tokens."""
        bare_NV, right_N = unsmoothed(log_probs_NV, self.smoothing), log_probs_NV.argmax(-1) == token_N
        bare_NV -= bare_NV.max(-1, keepdims=True)
        for number, inverse in enumerate(INVERSE):
            confidence_N = 1 / np.exp(bare_NV * inverse).sum(-1, dtype=np.float64)
            of_event_N = np.where(right_N, confidence_N, 1 - confidence_N)
            self.loss_G[number] -= np.log(np.maximum(of_event_N, LEAST_PROBABILITY)).sum()

    def temperature(self) -> float:
        """The minimum of the polynomial through the best point and its four neighbours."""
        at = min(max(int(self.loss_G.argmin()), 2), len(INVERSE) - 3)
        near, between = slice(at - 2, at + 3), np.linspace(INVERSE[at - 2], INVERSE[at + 2], 4001)
        curve = np.polyfit(INVERSE[near] - INVERSE[at], self.loss_G[near], 4)
        return float(1 / between[np.polyval(curve, between - INVERSE[at]).argmin()])


def _forced(translator: Translator, languages: Languages, pairs: Sequence[TextPair]) -> list[Forced]:
    """The pairs as ids, without those longer than the model's positions."""
    first = next(iter(translator.defaults.resolve(first=translator.tag(languages[1])).prefix), None)
    most, groups = translator.defaults.positions or math.inf, dict[str, int]()
    found = []
    for (text, translation), ids in zip(pairs, translator.codec.encode([pair[0] for pair in pairs]), strict=True):
        target = encode_target(translator.tokenizer, translation, language=languages[1], first=first)
        if max(len(ids), len(target)) <= most:
            group = groups.setdefault(sentence_key(text), len(groups))
            found.append(Forced(tuple(ids), tuple(target), int(first is not None), group))
    return found


def predictions(translator: Translator, forced: Sequence[Forced], *, most: float = math.inf) -> Iterator[Predictions]:
    """Those for the tokens of the sentences, in whole batches, up to about `most` tokens."""
    sources, targets = [one.source for one in forced], [one.target for one in forced]
    tokens = 0
    with translator.inside() as (model, _), eval_mode(model):
        for batch, output, _ in forced_batches(model, sources, targets):
            chosen = [(row, step) for row, i in enumerate(batch) for step in range(forced[i].given, len(targets[i]))]
            rows, at = (list(one) for one in zip(*chosen, strict=True))
            tokens += len(chosen)
            yield Predictions(
                output.logits[rows, at].float().cpu().numpy(),
                np.array([targets[batch[row]][step] for row, step in chosen]),
                np.array([batch[row] for row in rows]),
            )
            if tokens >= most:
                return


class Hypotheses(NamedTuple):
    """Hypotheses of several sources: log-probabilities, numbers of tokens, whether they equal the reference, and a
    number for each source."""

    log_prob_S: np.ndarray
    tokens_S: np.ndarray
    equal_S: np.ndarray
    group_S: np.ndarray


def hypotheses_of(translator: Translator, languages: Languages, pairs: Sequence[TextPair]) -> Hypotheses:
    """The best few hypotheses for these texts, without those that reach the maximum length and without texts that are
    translated in parts."""
    found, groups = list[tuple[float, int, bool, int]](), dict[str, int]()
    for start in range(0, len(pairs), AT_ONCE):
        some = pairs[start : start + AT_ONCE]
        results = translator([text for text, _ in some], source=languages[0], target=languages[1],
                             alternatives=ALTERNATIVES)
        for (text, reference), result in zip(some, results, strict=True):
            group = groups.setdefault(sentence_key(text), len(groups))
            found += [(one.log_prob, one.tokens, one.text == reference, group)
                      for one in result.hypotheses if one.finished and not result.segments]
    return Hypotheses(*np.array(found, float).reshape(-1, 4).T)


def fit_sentences(fitted: Sequence[Hypotheses], *, smoothing: float) -> SentenceCalibrator | None:
    """The calibrator of maximum likelihood; None for too few hypotheses."""
    log_prob_S, tokens_S, equal_S, _ = (np.concatenate(one) for one in zip(*fitted, strict=True))
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


def sentence_reliability(calibrator: SentenceCalibrator, held: Hypotheses) -> SentenceReliability:
    """How far calibrated probabilities of hypotheses agree with the share of them that equal the reference."""
    log_prob_S, tokens_S, equal_S, group_S = held
    group_S = np.unique(group_S, return_inverse=True)[1]
    p_S = np.array([calibrator(*one) for one in zip(log_prob_S, tokens_S, strict=True)])
    perfect_DS = np.random.default_rng(0).random((PERFECT, len(p_S))) < p_S
    return SentenceReliability(
        len(p_S), mean_figure(equal_S, group_S), float(np.exp(log_prob_S).mean()), float(p_S.mean()),
        calibration_error(p_S, equal_S, group_S)[0],
        float(np.mean([calibration_error(p_S, drawn_S, group_S)[0].value for drawn_S in perfect_DS])))
