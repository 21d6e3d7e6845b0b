"""Lesson 3: dividing scores by the square root of the width keeps the softmax alive."""

from dataclasses import dataclass

import numpy as np
import torch
from matplotlib.figure import Figure

from ..lens.forcing import encode_source, looking
from .drawing import BLUE, ORANGE, SOFT, new_figure
from .lesson import Finding, Table, Verdict, found, overall
from .workbench import Workbench

TITLE = "Scaling"
CLAIM = ("Without a scale the scores grow with the width of the vectors and the softmax stops passing gradients on;"
         " divided by √d they keep a variance of about 1.")  # fmt: skip
HOW = """Queries and keys are drawn at random, every component with mean 0 and variance 1, in widths d from 4 to 1,024.
A query meets 16 keys. The variance of its scores is measured with and without the division by √d, and so is how much of
a change of the scores gets through the softmax: the Frobenius norm of its Jacobian, diag(p) − p pᵀ, in the median row.

The same variance is then measured where it matters: in every head of the encoder of the trained model, over all pairs
of pieces of unseen sentences, and in the same network before training. It is taken around the mean of each row, which
the softmax does not see."""
TRY = ("Divide by d instead of √d: the variance of the scores falls as 1/d, and every word gets nearly the same weight."
       " In `modeling/attention.py` it is one line.")

WIDTHS = (4, 16, 64, 256, 1024)
KEYS = 16
NEAR_ONE = 0.1  # a variance this far from 1 at most is "about 1"
AS_WIDTH = 0.1  # as a share: unscaled variance over d must be 1 within this
DEAD = 0.1  # a Jacobian below this share of its size at the smallest width passes next to nothing
ALIVE = 0.8  # and above this share it is as alive as it was
EXACT = 1e-8
TRAINED_NEAR_ONE = 2.0  # a factor: heads with a variance from 1/2 to 2 count as "around 1"

NOTED_SOFTMAX = (0.03511903, 0.25949646, 0.70538451)  # of 2, 4, 5
NOTED_SCORES = (4.2, 0.1, 0.5, 2.5, -1.5)
NOTED_SCALED = (2.1, 0.05, 0.25, 1.25, -0.75)
NOTED_WEIGHTS = (0.45, 0.1, 0.15, 0.2, 0.1)
ROUNDED = 0.05  # the most that a weight may be off for a row of this coarseness to be a rounded softmax


@dataclass(frozen=True)
class Result:
    widths: tuple[int, ...]
    variance: np.ndarray  # [2,W,seeds]: of scores, unscaled and scaled
    jacobian: np.ndarray  # [2,W,seeds]: Frobenius norm of the median row
    mean_jacobian: np.ndarray  # [2,W,seeds]: and the mean over rows
    largest: np.ndarray  # [2,W,seeds]: mean of the largest weight of a row
    softmax: tuple[float, ...]  # of 2, 4, 5
    scaled: tuple[float, ...]  # the notes' five scores over 2
    weights: tuple[float, ...]  # and their softmax
    untrained_heads: np.ndarray  # [L,H] variance of scaled scores
    trained_heads: np.ndarray  # [L,H]


def softmax(scores: np.ndarray) -> np.ndarray:
    """Each row made positive and of sum 1; what is subtracted cancels, and keeps exp from overflowing."""
    powers = np.exp(scores - scores.max(-1, keepdims=True))
    shares: np.ndarray = powers / powers.sum(-1, keepdims=True)
    return shares


def jacobian_sizes(weights_NK: np.ndarray) -> np.ndarray:
    """Frobenius norm of each row's diag(p) - p p^T, the derivative of the softmax: 0 where one weight has it all."""
    squares_N = (weights_NK**2).sum(-1)
    cubes_N = (weights_NK**3).sum(-1)
    sizes_N: np.ndarray = np.sqrt(np.maximum(squares_N - 2 * cubes_N + squares_N**2, 0))
    return sizes_N


def random_scores(rng: np.random.Generator, *, width: int, queries: int) -> np.ndarray:
    """Dot products of random queries with KEYS random keys each, [queries, KEYS]."""
    query_ND = rng.standard_normal((queries, width))
    key_NKD = rng.standard_normal((queries, KEYS, width))
    scores_NK: np.ndarray = np.einsum("nd,nkd->nk", query_ND, key_NKD)
    return scores_NK


SHOWN = (random_scores, softmax, jacobian_sizes)


def compute(bench: Workbench) -> Result:
    queries = bench.pick(2000, 300)
    variance, median, mean, largest = np.empty((4, 2, len(WIDTHS), len(bench.seeds)))
    for s, seed in enumerate(bench.seeds):
        rng = bench.seed(seed)
        for w, width in enumerate(WIDTHS):
            raw_NK = random_scores(rng, width=width, queries=queries)
            for row, scores_NK in enumerate((raw_NK, raw_NK / np.sqrt(width))):
                weights_NK = softmax(scores_NK)
                sizes_N = jacobian_sizes(weights_NK)
                variance[row, w, s], largest[row, w, s] = scores_NK.var(), weights_NK.max(-1).mean()
                median[row, w, s], mean[row, w, s] = np.median(sizes_N), sizes_N.mean()
    sources = [pair.source for pair in bench.corpus.test[: bench.pick(60, 10)]]
    bench.seed(0)
    untrained = type(bench.model)(bench.model.config)
    halves = np.array(NOTED_SCORES) / 2
    return Result(
        WIDTHS, variance, median, mean, largest, tuple(softmax(np.array([2.0, 4.0, 5.0]))), tuple(halves),
        tuple(softmax(halves)), head_variances(untrained, bench, sources), head_variances(bench.model, bench, sources),
    )


@torch.no_grad()
def head_variances(model: torch.nn.Module, bench: Workbench, sources: list[str]) -> np.ndarray:
    """The variance of the scaled scores of each encoder head around the mean of their row: [L,H]."""
    layers = [layer.self_attn for layer in model.model.encoder.layers]
    scores: list[list[torch.Tensor]] = [[] for _ in layers]

    def listen(number: int) -> torch.utils.hooks.RemovableHandle:
        def keep(module: torch.nn.Module, args: tuple) -> None:
            query_HTE, key_HSE = (module.split_heads(projection(args[0]))[0]
                                  for projection in (module.q_proj, module.k_proj))
            score_HTS = query_HTE @ key_HSE.transpose(-1, -2) * module.scaling
            scores[number].append((score_HTS - score_HTS.mean(-1, keepdim=True)).flatten(1))

        return layers[number].register_forward_pre_hook(keep)

    handles = [listen(number) for number in range(len(layers))]
    with looking(model):
        for source in sources:
            model.model.encoder(input_ids=torch.tensor([encode_source(bench.tokenizer, source)]))
    for handle in handles:
        handle.remove()
    found_LH: np.ndarray = torch.stack([torch.cat(kept, dim=1).var(1) for kept in scores]).numpy()
    return found_LH


def judge(result: Result) -> Verdict:
    raw_W, scaled_W = result.variance.mean(-1)
    alive_W = result.jacobian.mean(-1)
    growth = np.abs(raw_W / result.widths - 1).max()
    off_one = np.abs(scaled_W - 1).max()
    left, kept = alive_W[:, -1] / alive_W[:, 0]
    mean_left = result.mean_jacobian[0, -1].mean() / result.mean_jacobian[0, 0].mean()
    findings = (
        found("Unscaled, the variance of scores is d.", bool(growth <= AS_WIDTH),
              f"At d = {result.widths[-1]:,} it is {raw_W[-1]:,.0f}; variance over d is 1 within {growth:.1%}"
              f" everywhere (allowed: {AS_WIDTH:.0%})."),
        found("Scaled, it is 1 whatever d is.", bool(off_one <= NEAR_ONE),
              f"It is off 1 by at most {off_one:.3f} (allowed: {NEAR_ONE})."),
        found("Unscaled, the softmax's gradient vanishes as d grows.", bool(left < DEAD),
              f"At d = {result.widths[-1]:,} the median row has {left:.3%} of the Jacobian it has at d ="
              f" {result.widths[0]} (vanished means below {DEAD:.0%}), the mean {mean_left:.0%}: a few rows with two"
              f" near-equal scores still learn. The largest of {KEYS} weights is {result.largest[0, -1].mean():.2f}."),
        found("Scaled, the gradient stays.", bool(kept > ALIVE),
              f"{kept:.0%} is left (wanted: above {ALIVE:.0%})."),
        _noted_softmax(result), _noted_row(result), _heads(result),
    )
    return overall(findings, (
        f"From d = {result.widths[0]} to {result.widths[-1]:,} the variance of scores goes from {raw_W[0]:.1f} to"
        f" {raw_W[-1]:,.0f} unscaled and stays at {scaled_W[-1]:.2f} scaled; the softmax keeps {left:.3%} of its"
        f" gradient without the scale and {kept:.0%} with it. In the trained encoder the variance is"
        f" {result.trained_heads.mean():.2f} on average."
    ))


def _noted_softmax(result: Result) -> Finding:
    off = float(np.abs(np.subtract(result.softmax, NOTED_SOFTMAX)).max())
    return found("The softmax of 2, 4, 5 is 0.0351, 0.2595, 0.7054.", off < EXACT,
                 f"Computed anew it differs by {off:.0e} at most (allowed: {EXACT:.0e}).")


def _noted_row(result: Result) -> Finding:
    off = float(np.abs(np.subtract(result.weights, NOTED_WEIGHTS)).max())
    row = ", ".join(f"{weight:.3f}" for weight in result.weights)
    return found("The softmax of 2.1, 0.05, 0.25, 1.25, −0.75 is 0.45, 0.1, 0.15, 0.2, 0.1.", off < ROUNDED,
                 f"It is {row}: off by up to {off:.3f}, which no rounding explains (allowed: {ROUNDED}).")


def _heads(result: Result) -> Finding:
    def near(heads_LH: np.ndarray) -> float:
        return float(((heads_LH > 1 / TRAINED_NEAR_ONE) & (heads_LH < TRAINED_NEAR_ONE)).mean())

    before, after = near(result.untrained_heads), near(result.trained_heads)
    return found(
        "In a model the variance of scaled scores is around 1.", after > 0.5,
        f"{after:.0%} of the trained encoder's heads have a variance from 1/2 to 2 (wanted: more than half), and"
        f" {before:.0%} before training; trained ones reach from {result.trained_heads.min():.2f} to"
        f" {result.trained_heads.max():.1f}.",
    )


def tables(result: Result) -> tuple[Table, ...]:
    plain, scaled = result.variance.mean(-1)
    rows = [(width, plain[w], f"{scaled[w]:.3f}", *result.jacobian[:, w].mean(-1), *result.largest[:, w].mean(-1))
            for w, width in enumerate(result.widths)]
    heads = [(f"layer {layer}", float(result.untrained_heads[layer].mean()), *map(float, row))
             for layer, row in enumerate(result.trained_heads)]
    return (
        Table.of(f"Random queries against {KEYS} random keys", (
            "d", "variance of scores", "scaled", "median Jacobian", "scaled", "largest weight", "scaled"), rows),
        Table.of("Five scores, halved, and their softmax", ("score", "over 2", "softmax", "in the notes"),
                 list(zip(NOTED_SCORES, result.scaled, result.weights, NOTED_WEIGHTS, strict=True))),
        Table.of("Variance of scaled scores in the encoder", (
            "", "before training, mean of heads", *(f"head {h}" for h in range(result.trained_heads.shape[1]))), heads),
    )


def look(result: Result) -> None:
    """There is no map to open."""
    return None


def draw(result: Result) -> Figure:
    figure, (left, right) = new_figure(2)
    names = (("not scaled", ORANGE), ("divided by √d", BLUE))
    for axes, values, title in ((left, result.variance, "Variance of scores"),
                                (right, result.jacobian, "Gradient through the softmax")):
        for (name, colour), values_WS in zip(names, values, strict=True):
            axes.plot(result.widths, values_WS.mean(-1), color=colour, marker="o", label=name)
            axes.fill_between(result.widths, values_WS.min(-1), values_WS.max(-1), color=colour, alpha=0.2, linewidth=0)
        axes.set_xscale("log", base=2)
        axes.set_xticks(result.widths, [str(width) for width in result.widths])
        axes.set_xlabel("width d of queries and keys")
        axes.set_title(title)
    left.axhline(1, color=SOFT, linewidth=1, linestyle="--")
    left.set_yscale("log")
    right.set_ylim(0)
    left.legend()
    return figure
