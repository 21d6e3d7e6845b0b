"""Fits and measures the calibration of a run (`lens/calibration.py`) on sentence pairs that it was not trained on.

With teacher forcing, the model predicts each token of a reference and is right if its most probable token is the
reference's (Müller et al.  2019).  A temperature is fitted on the validation pairs by maximum likelihood and measured
on the test pairs; without those, or on files, on one half and the other.  No source sentence is in both.  Four ways are
compared: the model's own probabilities, a temperature alone, label smoothing undone alone (its e is known from the
run's settings), and undone before a temperature.  Each language uses the way with the lowest calibration error on the
pairs of the fit.  A temperature minimises the negative log-likelihood, which is not the calibration error: where the
smoothing explains all of the underconfidence, as on everyday, it is left out; storybook needs both.

For a whole sentence two numbers are meaningful.  The mean probability of its tokens is the share of them that a
reference would have too, given those before, and is comparable between texts.  Their product is the probability that
the reference reads exactly the same: useful if there is one good translation, as in storybook, and small if there are
many.  Models are overconfident in their own output (Wang et al. 2020) even if they are calibrated on references, so the
product is also compared with how often the best hypothesis equals the reference.
"""

import math
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
from tqdm.auto import tqdm

from seq2see.errors import UserError
from ..lens.calibration import (
    FILE,
    WAYS,
    Calibration,
    Calibrator,
    ExactMatch,
    LanguageCalibration,
    Reliability,
    Way,
    log_sum,
    unsmoothed,
)
from ..lens.teacher_forcing import batches, encode_target, eval_mode, forced_pass, vocabulary_size
from ..training.checkpoints import find_record
from ..training.config import RunConfig, TrainingFields, load_record
from ..training.pairs import load_split, sentence_key
from ..training.pairs import place as hash_fraction
from ..training.reading import find_part, is_nowhere
from ..translate.checkpoint import fingerprint
from ..translate.translator import Translator
from .alignment import language_pair, output_path
from .card import show_measurements
from .pairs import LinkedFiles, TextPair, read_pairs
from .reliability import mean_figure, reliability

# N tokens of some sentences, V vocabulary, G temperatures tried

INVERSE = np.linspace(0.5, 2.5, 15)  # [G]: 1 / temperature; between them a parabola is fitted
FITTED, MEASURED = 10_000, 20_000  # maximum tokens per language
SENTENCES = 300  # maximum to translate
AT_ONCE = 32  # translated together
LEAST = 500  # tokens to fit on, and to measure on; a language with fewer is not calibrated

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
    target: str | None = None, seconds: float | None = None,
) -> Calibration:
    """Fit and measure on the given files or on the run's own held-out pairs, for each target language or `target`;
    saves calibration.json and a picture in the run.

    `seconds`: an approximate time limit, met by using fewer sentences.  UserError if there are too few.
    """
    path = output_path(run, FILE)
    by_languages, name = calibration_pairs(translator, path.parent, files, source=source, target=target)
    smoothing = smoothing_of(path.parent)
    each = None if seconds is None else seconds / len(by_languages)
    found: dict[str, LanguageCalibration] = {}
    for languages, (fitted, held) in tqdm(by_languages.items(), desc="Calibrating", disable=None, leave=False):
        measured = _measure(translator, languages, fitted, held, smoothing=smoothing, seconds=each)
        if measured:
            found[languages[1]] = measured
    if not found:
        raise UserError(f"{name}: too few sentence pairs for calibration: fitting and measuring each need {LEAST}"
                        " tokens of a language; give more with --src FILE --tgt FILE")
    calibration = Calibration(name, found, fingerprint(path.parent))
    calibration.save(path)
    show_measurements(path.parent)
    return calibration


def calibrate_run(run: str, *, seconds: float | None = None) -> Calibration:
    """`calibrate` a finished run on its own held-out pairs, within about this many seconds."""
    return calibrate(Translator.from_pretrained(run, engine="torch"), run, seconds=seconds)


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


def _measure(translator: Translator, languages: Languages, fitted: Sequence[TextPair], held: Sequence[TextPair], *,
             smoothing: float, seconds: float | None) -> LanguageCalibration | None:
    """None if there are too few tokens.  Fitting, choosing, measuring and translating get a quarter of the time."""
    start = time.monotonic()
    ends = [math.inf if seconds is None else start + seconds * quarter / 4 for quarter in (1, 2, 3, 4)]
    both = (_forced(translator, languages, some) for some in (fitted, held))
    found = compare(translator, *both, smoothing=smoothing, until=ends[:3])
    if found is None:
        return None
    exact = exact_match(translator, languages, held[:SENTENCES], found.kept.calibrator, until=ends[3])
    return replace(found, exact_match=exact)


def compare(
    translator: Translator, fitted: Sequence[Forced], held: Sequence[Forced], *, smoothing: float,
    until: Sequence[float] = (math.inf, math.inf, math.inf),
) -> LanguageCalibration | None:
    """Every way, fitted on some sentences and measured on others; None if either has too few tokens.  Fitting, choosing
    and measuring stop at the times in `until`."""
    fits = {amount: TemperatureFit(amount) for amount in (0.0, smoothing)}
    fitted_pairs = fitted_tokens = 0
    for batch in predictions(translator, fitted, most=FITTED, until=until[0]):
        for fit in fits.values():
            fit.add(batch.log_probs_NV, batch.token_N)
        fitted_pairs, fitted_tokens = int(batch.sentence_N[-1]) + 1, fitted_tokens + len(batch.token_N)
    if fitted_tokens < LEAST:
        return None
    ways = dict(zip(WAYS, (
        Calibrator(), Calibrator(0.0, fits[0.0].best()), Calibrator(smoothing),
        Calibrator(smoothing, fits[smoothing].best()),
    ), strict=True))  # fmt: skip
    choosing = _measured(translator, fitted[:fitted_pairs], ways, until=until[1])
    found = _measured(translator, held, ways, until=until[2])
    if choosing is None or found is None:
        return None
    way = min(WAYS, key=lambda way: choosing.reports[way].ece.value)
    return LanguageCalibration(fitted_pairs, fitted_tokens, found.pairs, found.tokens, found.right, way, found.reports)


class _Measured(NamedTuple):
    pairs: int
    tokens: int
    right: float
    reports: dict[Way, Reliability]


def _measured(
    translator: Translator, forced: Sequence[Forced], ways: dict[Way, Calibrator], *, until: float
) -> _Measured | None:
    """The reliability of each way on these sentences; None if there are too few tokens."""
    right, sentences, numbers = list[np.ndarray](), list[np.ndarray](), {way: list[np.ndarray]() for way in ways}
    for batch in predictions(translator, forced, most=MEASURED, until=until):
        right.append(batch.log_probs_NV.argmax(-1) == batch.token_N)
        sentences.append(batch.sentence_N)
        for way, calibrator in ways.items():
            numbers[way].append(_confidence_and_nll(calibrator, batch))
    if sum(map(len, right)) < LEAST:
        return None
    right_N, sentence_N = np.concatenate(right), np.concatenate(sentences)
    group_N = np.unique(np.array([one.group for one in forced])[sentence_N], return_inverse=True)[1]
    reports: dict[Way, Reliability] = {}
    for way, calibrator in ways.items():
        confidence_N, nll_N = np.concatenate(numbers[way], axis=1)
        reports[way] = reliability(calibrator, confidence_N=confidence_N, right_N=right_N, nll_N=nll_N,
                                   sentence_N=group_N)
    return _Measured(int(sentence_N[-1]) + 1, len(right_N), float(right_N.mean()), reports)


def _confidence_and_nll(calibrator: Calibrator, batch: Predictions) -> np.ndarray:
    """[2,N]: the probability of the most probable token, and the negative log-likelihood of the reference's."""
    log_probs_NV = calibrator(batch.log_probs_NV)
    chosen_N = log_probs_NV[np.arange(len(batch.token_N)), batch.token_N]
    return np.stack([np.exp(log_probs_NV.max(-1)), -chosen_N]).astype(np.float64)


class TemperatureFit:
    """The maximum-likelihood temperature after undoing smoothing, for tokens that come in batches."""

    def __init__(self, smoothing: float):
        self.smoothing = smoothing
        self.nll_G = np.zeros(len(INVERSE))

    def add(self, log_probs_NV: np.ndarray, token_N: np.ndarray) -> None:
        """Add the model's log-probabilities or logits, and the actual tokens."""
        bare_NV = unsmoothed(log_probs_NV, self.smoothing)
        chosen_N = bare_NV[np.arange(len(token_N)), token_N]
        for number, inverse in enumerate(INVERSE):
            self.nll_G[number] += (log_sum(bare_NV * inverse)[:, 0] - chosen_N * inverse).sum(dtype=np.float64)

    def best(self) -> float:
        """The minimum of the parabola through the best point and its neighbours: the negative log-likelihood is convex
        in the inverse temperature."""
        at = int(self.nll_G.argmin())
        if at in (0, len(INVERSE) - 1):
            return float(1 / INVERSE[at])
        before, lowest, after = self.nll_G[at - 1 : at + 2]
        shift = (before - after) / (before - 2 * lowest + after) / 2
        return float(1 / (INVERSE[at] + shift * (INVERSE[1] - INVERSE[0])))


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


def predictions(translator: Translator, forced: Sequence[Forced], *, most: float = math.inf,
                until: float = math.inf) -> Iterator[Predictions]:
    """Those for the tokens of the sentences, in whole batches, up to about `most` tokens or until that time."""
    sources, targets = [one.source for one in forced], [one.target for one in forced]
    tokens = 0
    with translator.inside() as (model, _), eval_mode(model):
        for batch in batches(sources, targets, vocabulary=vocabulary_size(model)):
            if tokens >= most or time.monotonic() > until:
                return
            output, _ = forced_pass(model, [sources[i] for i in batch], [targets[i] for i in batch])
            chosen = [(row, step) for row, i in enumerate(batch) for step in range(forced[i].given, len(targets[i]))]
            rows, at = (list(one) for one in zip(*chosen, strict=True))
            tokens += len(chosen)
            yield Predictions(
                output.logits[rows, at].float().cpu().numpy(),
                np.array([targets[batch[row]][step] for row, step in chosen]),
                np.array([batch[row] for row in rows]),
            )


def exact_match(translator: Translator, languages: Languages, pairs: Sequence[TextPair], calibrator: Calibrator, *,
                until: float = math.inf) -> ExactMatch | None:
    """The probability of the model's best hypotheses, and how many equal the reference; None if there was no time.

    Texts that are translated in parts or reach the maximum length are left out.
    """
    forced, equal, groups = list[Forced](), list[bool](), dict[str, int]()
    for start in range(0, len(pairs), AT_ONCE):
        if time.monotonic() > until:
            break
        some = pairs[start : start + AT_ONCE]
        results = translator([text for text, _ in some], source=languages[0], target=languages[1])
        for (text, reference), result in zip(some, results, strict=True):
            if result.segments or not result.hypotheses or not result.hypotheses[0].finished:
                continue
            [ids], best = translator.codec.encode([result.as_read.source_text]), result.hypotheses[0]
            group = groups.setdefault(sentence_key(text), len(groups))
            forced.append(Forced(tuple(ids), best.token_ids, best.given, group))
            equal.append(result.text == reference)
    if not forced:
        return None
    nll_2S = np.zeros((2, len(forced)))
    for batch in predictions(translator, forced):
        for nll_S, way in zip(nll_2S, (Calibrator(), calibrator), strict=True):
            np.add.at(nll_S, batch.sentence_N, _confidence_and_nll(way, batch)[1])
    raw, calibrated = np.exp(-nll_2S).mean(1).tolist()
    observed = mean_figure(np.array(equal, float), np.array([one.group for one in forced]))
    return ExactMatch(len(forced), raw, calibrated, observed)
