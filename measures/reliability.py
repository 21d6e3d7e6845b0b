"""Reliability: the expected calibration error, and a plot of its bins."""

import logging
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from ..lens.records.calibration import (
    BANDS,
    LEAST_IN_BAND,
    LEAST_SHOWN,
    LEAST_SURE,
    LISTED,
    MOST_OFF,
    OFF_BAND,
    SURE,
    Band,
    Bin,
    Calibration,
    Calibrator,
    LanguageCalibration,
    Reliability,
    SentenceCalibration,
)
from ..lens.records.intervals import Estimate, middle, resampled
from ..training.curve import BLUE, GREY, ORANGE, STYLE

# N tokens, S sentences, B bins, D resampled sets of sentences

BINS = 15
PICTURE = "reliability.png"  # beside the run
CARD = """\
ECE is the expected calibration error of the model's first choice at each step, given the reference up to that step. It
is the mean difference between the confidence of the first choice and the share of first choices that equal the
reference token, over 15 bins of equal size. Parentheses: 95 % intervals; resampling
raises the error a little, so an interval may begin above it.

These pairs were not used for fitting: {measured_on}. Seq2See shows probabilities that are calibrated with
`calibration.json`. `generate` returns the model's own probabilities.

{tokens}

![Accuracy of tokens against their confidence, before and after calibration]({picture})
{sentences}"""
SENTENCES = """
The next table is about the calibrated probability that the best translation equals the reference. Each column after
*corpus* is a range of this probability. A cell has the mean probability, then the share of translations that equal the
reference, then the number of translations in parentheses. Each source sentence has one reference. The sentences were
not used for fitting.

{rows}

{verdicts}
"""


def reliability(calibrator: Calibrator, *, confidence_N: np.ndarray, right_N: np.ndarray, nll_N: np.ndarray,
                sentence_N: np.ndarray, unlikely: Bin | None = None) -> Reliability:
    """The reliability of a calibrator, from the confidences of tokens and whether each is the reference's (`right_N`):

        ECE = sum over bins of  (tokens of the bin / N) |share of them that are right - their mean confidence|

    (Guo et al. 2017, eq. 3) over bins of equally many tokens, since most tokens are confident (Nixon et al. 2019).
    Intervals come from a bootstrap over sentences with fixed bins.  With finitely many tokens even a perfect model has
    an ECE slightly above 0, and resampling adds a little more.
    """
    ece, bins = calibration_error(confidence_N, right_N, sentence_N)
    return Reliability(calibrator, ece, Estimate.of(nll_N, sentence_N), bins,
                       bands_of(confidence_N, right_N, sentence_N), unlikely)


def unlikely_of(log_probs_NV: np.ndarray, token_N: np.ndarray) -> Bin:
    """The candidates, LISTED of each step, with a probability below LEAST_SHOWN; right: the token of the reference."""
    best_NK = np.argpartition(-log_probs_NV, min(LISTED, log_probs_NV.shape[1]) - 1)[:, :LISTED]
    p_NK = np.exp(np.take_along_axis(log_probs_NV, best_NK, 1))
    chosen_NK = p_NK < LEAST_SHOWN
    size, right_NK = int(chosen_NK.sum()), best_NK == token_N[:, None]
    return Bin(size, float(p_NK[chosen_NK].sum() / max(size, 1)), float(right_NK[chosen_NK].sum() / max(size, 1)))


def bands_of(confidence_N: np.ndarray, right_N: np.ndarray, group_N: np.ndarray) -> tuple[Band, ...]:
    """The tokens of each of BANDS; those of one sentence are resampled together."""
    band_N = np.searchsorted(BANDS, confidence_N, side="right") - 1
    found = []
    for band in range(len(BANDS)):
        own_N = band_N == band
        if not own_N.any():
            found.append(Band(0, 0.0, 0.0, 0.0, 0.0))
            continue
        _, group = np.unique(group_N[own_N], return_inverse=True)
        right = Estimate.of(right_N[own_N].astype(float), group)
        found.append(Band(int(own_N.sum()), float(confidence_N[own_N].mean()), right.value, right.low, right.high))
    return tuple(found)


def calibration_error(confidence_N: np.ndarray, right_N: np.ndarray,
                      group_N: np.ndarray) -> tuple[Estimate, tuple[Bin, ...]]:
    """The ECE of confidences, and its bins; what has one number in `group_N` is resampled together."""
    members = [one for one in np.array_split(np.argsort(confidence_N, kind="stable"), BINS) if len(one)]
    bins = tuple(Bin(len(one), float(confidence_N[one].mean()), float(right_N[one].mean())) for one in members)
    groups = int(group_N.max()) + 1
    gap_GB = np.stack([np.bincount(group_N[one], (right_N[one] - confidence_N[one]).astype(float), groups)
                       for one in members], axis=1)
    times_DG = resampled(groups)
    ece_D = np.abs(times_DG @ gap_GB).sum(1) / (times_DG @ np.bincount(group_N, minlength=groups))
    ece = sum(one.size * abs(one.right - one.confidence) for one in bins) / len(confidence_N)
    return Estimate(ece, *middle(ece_D)), bins


def draw_reliability(path: Path, languages: Mapping[str, LanguageCalibration]) -> None:
    """Write a PNG with one panel per language: the accuracy of each bin over its mean confidence, before and after;
    drawn without a display and in a fixed style."""
    logging.getLogger("matplotlib").setLevel(logging.ERROR)  # no messages about its font cache
    import matplotlib.style
    from matplotlib.figure import Figure
    from matplotlib.ticker import PercentFormatter

    with matplotlib.style.context(["default", STYLE]):
        canvas = Figure(figsize=(max(4.2 * len(languages), 5), 4.6), dpi=100, layout="constrained")
        axes = canvas.subplots(1, len(languages), squeeze=False, sharey=True)[0]
        for axis, (language, measured) in zip(axes, languages.items(), strict=True):
            axis.plot([0, 1], [0, 1], color=GREY, linestyle=(0, (2, 2)), linewidth=1.2, zorder=1)
            kept = measured.kept
            for own, name, colour in ((measured.ways["raw"], "the model's own", ORANGE), (kept, "calibrated", BLUE)):
                axis.plot([one.confidence for one in own.bins], [one.right for one in own.bins], color=colour,
                          marker=".", label=f"{name}: ECE {own.ece.value:.1%}")
            axis.set_title(f"{language}: {measured.tokens:,} tokens" if language else f"{measured.tokens:,} tokens",
                           loc="left", fontsize=12)
            axis.set_xlabel("confidence")
            axis.xaxis.set_major_formatter(PercentFormatter(1))
            axis.set_aspect("equal")
            axis.legend(loc="upper left", frameon=False, fontsize=9.5)
        axes[0].yaxis.set_major_formatter(PercentFormatter(1))
        axes[0].set_ylabel("tokens equal to the reference")
        canvas.savefig(path, format="png", metadata={"Software": None})


def calibration_section(calibration: Calibration) -> str:
    """The figures and the plot, as the model card shows them."""
    rows = ["| language | tokens | ECE | ECE, calibrated |", "| --- | --- | --- | --- |"]
    for language, measured in calibration.languages.items():
        before, after = (f"{measured.ways[way].ece:.2%}" for way in ("raw", measured.way))
        rows.append(f"| {language} | {measured.tokens:,} | {before} | {after} |")
    return CARD.format(measured_on=calibration.measured_on, tokens="\n".join(rows), picture=PICTURE,
                       sentences=sentence_section(calibration))


def sentence_section(calibration: Calibration) -> str:
    """The reliability of whole translations by language and corpus, and whether their chance is shown."""
    whole = {language: one.sentences for language, one in calibration.languages.items() if one.sentences}
    if not whole:
        return ""
    rows = ["| to | corpus | all | below 20 % | 20 to 40 % | 40 to 60 % | 60 to 80 % | 80 % and above |",
            f"|{' --- |' * 8}"]
    for language, one in whole.items():
        rows += [f"| {language} | {check.corpus} | {' | '.join(map(_band, (check.all, *check.bands)))} |"
                 for check in one.checks]
    return SENTENCES.format(rows="\n".join(rows), verdicts="\n".join(map(_verdict, whole, whole.values())))


def _band(one: Bin) -> str:
    return f"{one.confidence:.1%}, {one.right:.1%} ({one.size:,})" if one.size else "none"


def _verdict(language: str, found: SentenceCalibration) -> str:
    """Whether the chance is shown, and why not."""
    to = f"To {language}: f" if language else "F"
    begin = f"- {to}itted on {found.fitted:,} translations of {', '.join(found.fitted_on)}."
    if found.holds:
        return f"{begin} Seq2See shows this probability."
    faults = [f"On {one.corpus}, {one.bands[-1].size:,} translations have a probability of at least {SURE:.0%}"
              + (f" (mean {one.bands[-1].confidence:.1%}; {one.bands[-1].right:.1%} equal the reference)."
                 if one.bands[-1].size else ".") for one in found.checks if one.decides and not one.holds]
    return f"{begin} Seq2See does not show this probability." \
           f" {' '.join(faults) or 'There are no pairs to check it on.'} To show it, Seq2See" \
           f" requires at least {LEAST_SURE} translations with a probability of at least {SURE:.0%}." \
           f" Their mean probability may differ by at most {100 * MOST_OFF:.0f} points from the share that equals" \
           " the reference."


def describe(calibration: Calibration) -> str:
    """The figures for the terminal: one paragraph per language, then whole translations."""
    tokens = (_paragraph(language, one) for language, one in calibration.languages.items())
    return "\n\n".join([*tokens, sentence_section(calibration).strip()]).rstrip()


def _paragraph(language: str, measured: LanguageCalibration) -> str:
    to = f"to {language}: " if language else ""
    lines = [f"{to}fitted on {measured.fitted_pairs:,} pairs, measured on {measured.tokens:,} tokens of"
             f" {measured.pairs:,} other pairs; {measured.right:.1%} of the tokens are the model's first choice",
             f"  {'':<48}ECE                      nats per token"]
    kept = measured.kept
    for one in dict.fromkeys(measured.ways.values()):  # without smoothing there are only two
        ece = "{:.2%} [{:.2%}, {:.2%}]".format(*one.ece)
        nll = "{:.3f} [{:.3f}, {:.3f}]".format(*one.nll)
        lines.append(f"  {_described(one.calibrator):<48}{ece:<25}{nll}" + ("  kept" if one == kept else ""))
    lines += _bands(kept.bands)
    if rare := kept.unlikely:
        lines += [f"  candidates, {LISTED} of each step, with a probability below {LEAST_SHOWN:.1%}: {rare.size:,},"
                  f" mean {rare.confidence:.4%}, {rare.right:.4%} are the reference's"]
    return "\n".join(lines)


def _bands(bands: Sequence[Band]) -> list[str]:
    """A line for each band of confidence; whether it holds is said of those with enough tokens."""
    if not bands:
        return []
    lines = [f"  confidence of tokens, share that is right, number of tokens; a band of {LEAST_IN_BAND:,} holds if"
             f" these differ by at most {100 * OFF_BAND:g} points, or within the interval"]
    for low, high, one in zip(BANDS, (*BANDS[1:], 1.0), bands, strict=True):
        said = {None: "", True: "  holds", False: "  does not hold"}[one.holds]
        lines.append(f"  {f'{low:.0%} to {high:.0%}':<14}{one.confidence:>8.1%}{one.right:>8.1%}"
                     f" [{one.low:.1%}, {one.high:.1%}]{one.size:>9,}{said}")
    return lines


def _described(calibrator: Calibrator) -> str:
    parts = [f"label smoothing {calibrator.smoothing:g} removed"] if calibrator.smoothing else []
    parts += [f"temperature {calibrator.temperature:.3f}"] if calibrator.temperature != 1 else []
    parts += [f"{len(calibrator.curve)}-point curve"] if calibrator.curve else []
    return ", ".join(parts) or "the model's own"
