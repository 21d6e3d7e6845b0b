"""Lesson 3: dividing scores by the square root of the width keeps the softmax trainable."""

import numpy as np
import torch

from ..passes.forced_pass import eval_with_eager_attention
from ..passes.hooks import capture
from ..tokenizer.encoding import encode_source
from .by_hand import softmax
from .figures import layer_name
from .lesson import Check, Checks, CurvePanel, Exhibits, Figures, Table, Workbench, over_seeds

# N queries, K keys, D width, H heads, T and S tokens, E size of one head

WIDTHS = (4, 16, 32, 64, 256, 1024)
KEYS = 16
NEAR_ONE = 0.1  # a variance this far from 1 at most is "about 1"
AS_WIDTH = 0.1  # unscaled variance over d must be 1 within this
DEAD, ALIVE = 0.1, 0.8  # share of the gradient at the smallest width: vanished, kept
FACTOR = 2.0  # a variance from 1/2 to 2 counts as "around 1"
SCORES = (2.1, 0.05, 0.25, 1.25, -0.75)  # of the slip, and the weights that it gives them
SLIPPED = (0.45, 0.1, 0.15, 0.2, 0.1)


def jacobian_sizes(weights_NK: np.ndarray) -> np.ndarray:
    """Frobenius norm of each row's diag(p) - p p^T, the derivative of the softmax: 0 where one weight is 1."""
    squares_N, cubes_N = (weights_NK**2).sum(-1), (weights_NK**3).sum(-1)
    return np.sqrt(np.maximum(squares_N - 2 * cubes_N + squares_N**2, 0))


def random_scores(rng: np.random.Generator, *, width: int, queries: int) -> np.ndarray:
    """Dot products of random queries with KEYS random keys each, [queries, KEYS]."""
    query_ND, key_NKD = rng.standard_normal((queries, width)), rng.standard_normal((queries, KEYS, width))
    return np.einsum("nd,nkd->nk", query_ND, key_NKD)


SHOWN = (random_scores, softmax, jacobian_sizes)


def measure(bench: Workbench) -> Figures:
    variance, median, mean, largest = np.empty((4, 2, len(WIDTHS), len(bench.seeds)))  # unscaled, scaled
    for s, seed in enumerate(bench.seeds):
        rng = bench.seed(seed)
        for w, width in enumerate(WIDTHS):
            raw_NK = random_scores(rng, width=width, queries=bench.pick(2000, 300))
            for row, weights_NK in enumerate(map(softmax, (raw_NK, raw_NK / np.sqrt(width)))):
                sizes_N = jacobian_sizes(weights_NK)
                variance[row, w, s] = raw_NK.var() / (1, width)[row]
                median[row, w, s], mean[row, w, s] = np.median(sizes_N), sizes_N.mean()
                largest[row, w, s] = weights_NK.max(-1).mean()
    raw_W, scaled_W = variance.mean(-1)
    left, kept = median.mean(-1)[:, -1] / median.mean(-1)[:, 0]
    bench.seed(0)
    heads = {name: head_variances(model, bench) for name, model in (
        ("untrained", type(bench.model)(bench.model.config)), ("trained", bench.model))}
    near = {name: float(((of > 1 / FACTOR) & (of < FACTOR)).mean()) for name, of in heads.items()}
    weights = softmax(np.array(SCORES))
    return Figures(
        widths=(WIDTHS[0], WIDTHS[-1]), keys=KEYS, variance=variance, jacobian=median, largest=largest,
        raw=(raw_W[0], raw_W[-1]), scaled=scaled_W[-1], off_width=np.abs(raw_W / WIDTHS - 1).max(),
        off_one=np.abs(scaled_W - 1).max(), left=left, kept=kept, mean_left=mean[0, -1].mean() / mean[0, 0].mean(),
        winner=largest[0, -1].mean(), heads=heads, near=near, lowest=heads["trained"].min(),
        highest=heads["trained"].max(), scores=SCORES, slipped=SLIPPED,
        weights=weights, slip=np.abs(weights - SLIPPED).max(),
    )


@torch.no_grad()
def head_variances(model: torch.nn.Module, bench: Workbench) -> np.ndarray:
    """The variance of the scaled scores of each encoder head around the mean of their row: [L,H]."""
    attentions = [layer.self_attn for layer in model.model.encoder.layers]
    projections = {(one, side): getattr(one, side) for one in attentions for side in ("q_proj", "k_proj")}
    scores: list[list[torch.Tensor]] = [[] for _ in attentions]
    for pair in bench.corpus.test[: bench.pick(60, 10)]:
        with eval_with_eager_attention(model), capture(projections, "out") as seen:
            model.model.encoder(input_ids=torch.tensor([encode_source(bench.tokenizer, pair.source)]))
        for one, kept in zip(attentions, scores, strict=True):
            query_HTE, key_HSE = (seen[one, side].unflatten(-1, (one.num_heads, -1))[0].transpose(0, 1)
                                  for side in ("q_proj", "k_proj"))
            score_HTS = query_HTE @ key_HSE.transpose(-1, -2) * one.scaling
            kept.append((score_HTS - score_HTS.mean(-1, keepdim=True)).flatten(1))
    return torch.stack([torch.cat(kept, dim=1).var(1) for kept in scores]).numpy()


def claims(f: Figures) -> Checks:
    return {
        "grows": [Check(f.off_width, "≤", AS_WIDTH)],
        "scaled": [Check(f.off_one, "≤", NEAR_ONE)],
        "vanishes": [Check(f.left, "<", DEAD)],
        "stays": [Check(f.kept, ">", ALIVE)],
        "heads": [Check(f.near["trained"], ">", 0.5)],
    }


def exhibits(f: Figures) -> Exhibits:
    rows = [(width, *(value for of in (f.variance, f.jacobian, f.largest) for value in of[:, w].mean(-1)))
            for w, width in enumerate(WIDTHS)]
    heads = [(layer_name(layer), before.mean(), *row)
             for layer, (before, row) in enumerate(zip(f.heads["untrained"], f.heads["trained"], strict=True))]
    variance, gradient = (dict(zip(("not scaled", "divided by √d"), map(over_seeds, of), strict=True))
                          for of in (f.variance, f.jacobian))
    return [
        Table(f"Random queries against {KEYS} random keys", (
            "d", "variance of scores", "scaled", "median Jacobian", "scaled", "largest weight", "scaled"), rows),
        Table("Variance of scaled scores in the encoder", (
            "", "before training, mean of heads",
            *(f"head {h + 1}" for h in range(f.heads["trained"].shape[1]))), heads),
        CurvePanel("Variance of scores", WIDTHS, variance, "width d", doubling=True, log=True, level=1),
        CurvePanel("Gradient through the softmax", WIDTHS, gradient, "width d", doubling=True),
    ]
