"""Fitting and measuring a calibration: on distributions known exactly, and on what a small net itself draws."""

import json
import math
import random
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from sklearn.calibration import calibration_curve

from seq2see import Translator
from seq2see.cli import command as cli
from seq2see.lens.records.calibration import Calibration, Calibrator, SentenceCalibrator, SentenceCheck, curved
from seq2see.measures.calibration_fitting import (
    LEAST_HYPOTHESES,
    POINTS,
    Forced,
    Hypotheses,
    TokenFit,
    check_sentences,
    compare,
    fit_curve,
    fit_sentences,
    hypotheses_of,
    predictions,
    smoothing_of,
)
from seq2see.measures.reliability import BINS, reliability, unlikely_of
from seq2see.training.config import load_config

# N tokens, V vocabulary


def known(tokens: int = 30_000, vocabulary: int = 30, *, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """True log-probabilities [N,V], and tokens drawn from them."""
    rng = np.random.default_rng(seed)
    logits_NV = rng.normal(size=(tokens, vocabulary)) * rng.uniform(0.5, 4, size=(tokens, 1))
    true_NV = logits_NV - np.log(np.exp(logits_NV).sum(-1, keepdims=True))
    return true_NV, (true_NV + rng.gumbel(size=true_NV.shape)).argmax(-1)


def ece_of(calibrator: Calibrator, log_probs_NV: np.ndarray, token_N: np.ndarray) -> float:
    found_NV = calibrator(log_probs_NV)
    numbers = np.arange(len(token_N))
    return reliability(calibrator, confidence_N=np.exp(found_NV.max(-1)), right_N=found_NV.argmax(-1) == token_N,
                       nll_N=-found_NV[numbers, token_N], sentence_N=numbers // 10).ece.value


@pytest.mark.few(1)
@pytest.mark.parametrize(("smoothing", "temperature"), [
    (0.0, 1 / 0.7), (0.1, 1 / 1.2),
    *(pytest.param(*one, marks=pytest.mark.long) for one in ((0.0, 1 / 1.6), (0.1, 1.0), (0.2, 1 / 0.7))),
])
def test_the_true_parameters_are_found_and_the_error_goes(smoothing: float, temperature: float) -> None:
    true_NV, token_N = known()
    flat_NV = true_NV * temperature
    p_NV = np.exp(flat_NV) / np.exp(flat_NV).sum(-1, keepdims=True)
    model_NV = np.log((1 - smoothing) * p_NV + smoothing / p_NV.shape[1])
    fit = TokenFit(smoothing)
    for part in np.array_split(np.arange(len(token_N)), 7):
        fit.add(model_NV[part], token_N[part])
    _, found = fit.best()
    assert abs(1 / found.temperature - 1 / temperature) < 0.15 and found.smoothing == smoothing
    assert len(found.curve) == POINTS
    assert ece_of(Calibrator(), model_NV, token_N) > 0.03
    assert ece_of(found, model_NV, token_N) < 0.01


@pytest.mark.parametrize("true", [
    lambda odds: 0.7 * odds + 0.5, lambda odds: odds, lambda odds: odds / 2 + 0.06 * odds * abs(odds) + 0.2,
])
def test_the_curve_of_confidences_is_found(true) -> None:
    rng = np.random.default_rng(4)
    odds_N = rng.normal(1, 2, size=60_000)
    right_N = rng.uniform(size=len(odds_N)) < 1 / (1 + np.exp(-true(odds_N)))
    curve = fit_curve(1 / (1 + np.exp(-odds_N)), right_N)
    share_N, true_N = (1 / (1 + np.exp(-one)) for one in (curved(curve, odds_N), true(odds_N)))
    assert len(curve) == POINTS and abs(share_N - true_N)[np.abs(odds_N) < 4].mean() < 0.012


def test_a_curve_of_few_or_equal_confidences_has_few_points() -> None:
    right_N = np.arange(1_200) % 4 > 0
    assert [len(fit_curve(np.linspace(0.2, 0.9, size), right_N[:size])) for size in (40, 1_200)] == [1, 2]
    [(before, after)] = fit_curve(np.full(1_200, 0.5), right_N)
    assert (before, after) == (0, pytest.approx(math.log(3), abs=0.01))
    sure = fit_curve(np.repeat([0.0, 1.0], 600), np.repeat([False, True], 600))
    assert np.isfinite(sure).all() and sure[0][1] < -6 and sure[1][1] > 6
    tied = fit_curve(np.repeat([0.2, 0.5, 0.9, 0.95], [3000, 3000, 3000, 999]), np.arange(9_999) % 3 > 0)
    assert np.isfinite(tied).all() and Calibrator(curve=tied).curve == tied
    near = fit_curve(1 - np.logspace(-3, -12, 5_000), np.ones(5_000, bool))
    assert len(near) > 1 and Calibrator(curve=near).curve == near
    falls = fit_curve(np.linspace(0.2, 0.9, 1_200), right_N[::-1] | (np.arange(1_200) < 600))
    assert falls[0][1] == falls[1][1], "it may not fall"


def test_a_band_holds_where_the_confidence_is_the_share_that_is_right() -> None:
    rng = np.random.default_rng(3)
    confidence_N = np.repeat([0.2, 0.6, 0.8, 0.95, 0.995], [6_000, 6_000, 4_000, 6_000, 6_000])
    right_N = rng.uniform(size=len(confidence_N)) < confidence_N - 0.04 * (confidence_N > 0.5)
    numbers = np.arange(len(confidence_N))
    found = reliability(Calibrator(), confidence_N=confidence_N, right_N=right_N, nll_N=-np.log(confidence_N),
                        sentence_N=numbers // 5).bands
    assert [one.size for one in found] == [6_000, 0, 6_000, 4_000, 6_000, 6_000]
    assert [one.holds for one in found] == [True, None, False, None, False, False], "4,000 tokens decide nothing"
    assert found[4].right == pytest.approx(0.91, abs=0.01) and found[4].low < found[4].right < found[4].high


def test_candidates_below_a_thousandth_are_counted_with_those_that_are_right() -> None:
    p_V = np.array([0.9979, 0.0009, 0.0007, 0.0005])
    found = unlikely_of(np.log(np.tile(p_V, (10, 1))), np.array([0] * 8 + [1, 3]))
    assert found == pytest.approx((30, 0.0007, 2 / 30))


def test_the_error_is_that_of_another_formulation() -> None:
    rng = np.random.default_rng(1)
    tokens = 40 * BINS
    confidence_N = rng.permutation(np.linspace(0.05, 0.99, tokens))
    right_N = rng.uniform(size=tokens) < 0.3 + 0.4 * confidence_N  # below it where it is sure, above it where not
    found = reliability(Calibrator(), confidence_N=confidence_N, right_N=right_N, nll_N=-np.log(confidence_N),
                        sentence_N=np.arange(tokens) // 6)
    right, confidence = calibration_curve(right_N, confidence_N, n_bins=BINS, strategy="quantile")
    assert found.ece.value == pytest.approx(np.abs(right - confidence).mean(), abs=0.004), "a bin's end may be shared"
    assert found.ece.low < found.ece.value < found.ece.high
    assert found.nll.value == pytest.approx(-np.log(confidence_N).mean())
    assert [one.size for one in found.bins] == [40] * BINS


@pytest.fixture(scope="module")
def sources() -> list[str]:
    rng = random.Random(0)
    words = ["the", "cat", "dog", "did", "not", "cross", "a", "street", "because", "it", "was", "too", "tired", "big"]
    return [f"{' '.join(rng.choices(words, k=rng.randint(3, 7))).capitalize()}." for _ in range(150)]


def drawn(translator: Translator, sources: list[str], temperature: float) -> list[Forced]:
    results = translator(sources, target="fr", temperature=temperature, top_k=0)
    return [
        Forced(tuple(translator.codec.encode([text])[0]), one.hypotheses[0].token_ids, one.hypotheses[0].given, number)
        for number, (text, one) in enumerate(zip(sources, results, strict=True))
    ]


@pytest.mark.few(1)
@pytest.mark.parametrize("temperature", [1.0, 0.6])
def test_of_what_a_net_draws_itself_the_temperature_is_known(
    translator: Translator, sources: list[str], temperature: float
) -> None:
    forced = drawn(translator, sources, temperature)
    languages = ("en", "fr")
    found = compare(translator, {languages: (forced[:70], forced[70:])}, smoothing=0.0)[languages]
    assert (found.fitted_pairs, found.pairs) == (70, 80)
    assert found.tokens == sum(len(one.target) - one.given for one in forced[70:])
    assert abs(1 / found.ways["both"].calibrator.temperature - 1 / temperature) < 0.18
    assert found.ways["both"].ece.value < 0.04
    assert (found.ways["raw"].ece.value > 0.08) == (temperature != 1.0)
    assert temperature == 1.0 or found.kept.ece.value < found.ways["raw"].ece.value / 2
    assert found.ways["raw"] == found.ways["smoothing"] and found.ways["temperature"] == found.ways["both"]


def test_each_language_has_its_own_fit(translator: Translator, sources: list[str]) -> None:
    forced = drawn(translator, sources, 0.6)
    first, second, few = ("en", "fr"), ("en", "de"), ("en", "es")
    parts = {first: (forced[:30], forced[60:105]), second: (forced[30:60], forced[105:]), few: ([], forced[:2])}
    found = compare(translator, parts, smoothing=0.1)
    assert list(found) == [first, second], "too few tokens to fit"
    assert found[first].kept.calibrator != found[second].kept.calibrator
    assert [found[one].pairs for one in parts if one in found] == [45, 45]
    [alone] = compare(translator, {second: parts[second]}, smoothing=0.1).values()
    assert alone == found[second]


def test_steps_are_the_tokens_that_were_a_choice(translator: Translator, sources: list[str]) -> None:
    """Whatever shares a batch."""
    forced = drawn(translator, sources[:9], 1.0)
    batches = list(predictions(translator, forced))
    token_N = np.concatenate([batch.token_N for batch in batches])
    sentence_N = np.concatenate([batch.sentence_N for batch in batches])
    for number, one in enumerate(forced):
        assert tuple(token_N[sentence_N == number]) == one.target[one.given :]
        [alone] = predictions(translator, [one])
        together_NV = np.concatenate([batch.log_probs_NV for batch in batches])[sentence_N == number]
        assert np.allclose(alone.log_probs_NV, together_NV, atol=1e-4)


@pytest.fixture
def run(tmp_path: Path, folder: Path) -> Path:
    """A run of the tiny model, whose settings say how it was smoothed, and its card."""
    made = tmp_path / "run"
    made.mkdir()
    for file in filter(Path.is_file, folder.iterdir()):  # an export that another test has made is none
        (made / file.name).write_bytes(file.read_bytes())
    (made / "README.md").write_text("# A card\n", "utf-8")
    return made


@pytest.fixture
def table(tmp_path: Path, sources: list[str]) -> str:
    """A table of pairs, one of whose sources has two translations."""
    pairs = [(text, text[::-1]) for text in sources] + [(sources[0], "La.")]
    path = tmp_path / "dev.tsv"
    path.write_text("en\tde\n" + "".join(f"{text}\t{translation}\n" for text, translation in pairs), "utf-8")
    return str(path)


def test_the_command_leaves_the_calibration_its_picture_and_a_section_of_the_card(
    run: Path, table: str, capsys: pytest.CaptureFixture[str]
) -> None:
    argv = ["measure", str(run), "--data", table]
    assert cli.main(argv) == 0
    printed, found = capsys.readouterr().out, Calibration.load(run / "calibration.json")
    assert list(found.languages) == ["de"] and found.measured_on == "dev.tsv"
    own = found.languages["de"]
    assert own.fitted_pairs + own.pairs == 149, "without the source that has two translations"
    assert f"{own.kept.ece.value:.2%}" in printed and "calibration.json" in printed
    assert (run / "reliability.png").read_bytes().startswith(b"\x89PNG")
    card = (run / "README.md").read_text("utf-8")
    assert card.startswith("# A card\n") and "](reliability.png)" in card
    assert f"{own.ways['raw'].ece.value:.2%}" in card
    assert cli.main(argv) == 0
    assert (run / "README.md").read_text("utf-8") == card, "a second time replaces it"
    assert Translator.from_pretrained(run, engine="torch").calibration == found
    weights = json.loads((run / "calibration.json").read_text("utf-8"))
    (run / "calibration.json").write_text(json.dumps(weights | {"weights": "another"}), "utf-8")
    assert Translator.from_pretrained(run, engine="torch").calibration is None


def test_best_hypotheses_are_compared_with_their_reference(run: Path, sources: list[str]) -> None:
    settings = json.loads((run / "generation_config.json").read_text("utf-8"))
    settings |= {"forced_eos_token_id": settings["eos_token_id"], "max_length": 5}
    (run / "generation_config.json").write_text(json.dumps(settings), "utf-8")
    loaded = Translator.from_pretrained(run, engine="torch")
    sources = [" ".join(text.split()[:3]) for text in sources[:10]]  # a longer one would be translated in parts

    def finished(*args, **how):  # what an end is forced on is not
        return [replace(result, hypotheses=tuple(replace(one, finished=True) for one in result.hypotheses))
                for result in loaded(*args, **how)]

    results = finished(sources, target="de")
    pairs = [(text, one.text if number < 4 else "?")
             for number, (text, one) in enumerate(zip(sources, results, strict=False))]
    found = hypotheses_of(finished, ("en", "de"), pairs)
    written = [(one.log_prob, len(one.token_ids) - one.given, one.text == reference)
               for (_, reference), result in zip(pairs, results, strict=True) for one in result.hypotheses]
    assert np.array(written) == pytest.approx(np.stack(found, axis=1), abs=1e-4) and found.equal_S.sum() == 4


def drawn_hypotheses(count: int, *, seed: int) -> tuple[Hypotheses, SentenceCalibrator]:
    """Hypotheses of a model with smoothing 0.1, and the calibrator that decided which of them are right."""
    rng, true = np.random.default_rng(seed), SentenceCalibrator(0.1, 0.6, 2.5, -0.8)
    tokens_S = rng.integers(4, 20, count)
    log_prob_S = np.log(rng.uniform(0.01, 0.95, count)) + tokens_S * math.log(0.9)
    p_S = np.array([true(*one) for one in zip(log_prob_S, tokens_S, strict=True)])
    return Hypotheses(log_prob_S, tokens_S, (rng.random(count) < p_S).astype(float)), true


def test_the_calibration_of_hypotheses_is_found_and_measured() -> None:
    fitted, true = drawn_hypotheses(40_000, seed=1)
    parts = [Hypotheses(*(column[half::2] for column in fitted)) for half in (0, 1)]  # two corpora
    found = fit_sentences(Hypotheses.joined(parts), smoothing=0.1)
    assert found is not None and (found.a, found.b, found.bias) == pytest.approx((true.a, true.b, true.bias), abs=0.15)
    held, _ = drawn_hypotheses(20_000, seed=2)

    def checked(calibrator: SentenceCalibrator) -> SentenceCheck:
        return check_sentences(calibrator, held, corpus="test.tsv", decides=True)

    measured, wrong = checked(found), checked(SentenceCalibrator(0.1, 1.0, 1.0, 0.0))
    assert measured.holds and not wrong.holds, "the latter is the product over the tokens"
    assert measured.all.size == 20_000 == sum(one.size for one in measured.bands)
    p_S = np.array([found(*one) for one in zip(held.log_prob_S, held.tokens_S, strict=True)])
    for low, high, band in zip((0, 0.2, 0.4, 0.6, 0.8), (0.2, 0.4, 0.6, 0.8, 1.01), measured.bands, strict=True):
        inside_S = (p_S >= low) & (p_S < high)
        assert band == pytest.approx((inside_S.sum(), p_S[inside_S].mean(), held.equal_S[inside_S].mean()))
        assert band.right == pytest.approx(band.confidence, abs=0.04)
    few = Hypotheses(*(column[:LEAST_HYPOTHESES - 1] for column in fitted))
    assert fit_sentences(few, smoothing=0.1) is None
    nothing = Hypotheses(*(column[:0] for column in fitted))
    empty = check_sentences(found, nothing, corpus="test.tsv", decides=False)
    assert (empty.corpus, empty.decides, empty.all) == ("test.tsv", False, (0, 0, 0))


def test_the_run_says_how_its_labels_were_smoothed(tmp_path: Path) -> None:
    assert smoothing_of(tmp_path) == 0, "nothing says so"
    config = load_config("storybook", ["training.label_smoothing_factor=0.3"])
    for kept, factor in ((config, 0.3), (replace(config, training={}), 0.1)):  # 0.1 is the default
        (tmp_path / "run.yaml").write_text(kept.to_yaml(), "utf-8")
        assert smoothing_of(tmp_path) == factor


def test_what_cannot_be_measured_is_refused_in_one_line(
    run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def told(*argv: str) -> str:
        assert cli.main(["measure", str(run), *argv]) in (1, 2)
        return capsys.readouterr().err

    assert "has no run.yaml, so its own pairs are unknown; give --data FILE" in told()
    assert "x.tsv is not a file of sentence pairs" in told("--data", "x.tsv")
    bare = tmp_path / "bare.tsv"
    bare.write_text("The cat.\tDas.\n", "utf-8")
    assert "does not name its languages, and the model has several; give --to LANGUAGE" in told("--data", str(bare))
    assert "not measured: calibration (it needs 60 sentences for choosing" in told("--data", str(bare), "--to", "de")
    named = tmp_path / "named.tsv"
    named.write_text("en\tit\nThe cat.\tIl gatto.\n", "utf-8")
    assert "expected a header with the columns en, " in told("--data", str(named))
    (run / "run.yaml").write_text(load_config("storybook", ["data.path=/no/where.tsv"]).to_yaml(), "utf-8")
    assert "was trained on /no/where.tsv, which does not exist here" in told()
    assert "does not translate to es" in told("--to", "es")

