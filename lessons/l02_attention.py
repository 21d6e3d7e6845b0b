"""Lesson 2: attention without parameters, and what it needs in order to learn."""

import numpy as np
import torch

from ..passes.forced_pass import eval_with_eager_attention, forced_pass
from ..tokenizer.encoding import encode_source
from . import lookup
from .by_hand import softmax
from .figures import likeness
from .lesson import Check, Checks, CurvePanel, Exhibits, Figures, MapPanel, Table, Workbench, over_seeds

# N words, D width

MONEY, RIVER = ("money", "bank", "grows"), ("river", "bank", "flows")
VECTORS = {
    "money": (0.9, 0.1, 0.0, 0.3), "grows": (0.5, 0.3, 0.6, 0.1), "bank": (0.6, 0.2, 0.1, 0.7),
    "river": (0.1, 0.9, 0.2, 0.4), "flows": (0.0, 0.6, 0.7, 0.3),
}
ENTRIES = (2.0, 3.0, 5.0)
SCALES = (1, 2, 4, 8, 16, 32, 64)
SIZES = (2, 4, 6, 8, 10, 14, 28)  # of query, key and value together
MATRICES = ("one matrix", "query = key", "key = value", "three matrices")

EXACT = 1e-6
MOSTLY = 0.5  # share of words that must give themselves the most
NEGLIGIBLE = 0.1  # what is left for all others together
DISTINCT = 0.999  # a cosine below this tells two vectors apart
LOOKED_UP = 1e-3  # error at the largest scale
BETTER = 0.05  # share of right answers that counts as a difference
SUFFICES = 0.95  # share of the best right answers


def attend(x_ND: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Attention with no parameters: scores [N,N], weights [N,N], and the mixed words [N,D]."""
    score_NN = x_ND @ x_ND.T
    weight_NN = softmax(score_NN)
    return score_NN, weight_NN, weight_NN @ x_ND


def attend_one(x_ND: np.ndarray, word: int) -> np.ndarray:
    """The same for one word alone, without the result of any other word."""
    weights = softmax(np.array([x_ND[word] @ other for other in x_ND]))
    return weights @ x_ND


def look_up(query: np.ndarray, keys_ND: np.ndarray, values_N: np.ndarray) -> float:
    """A soft dictionary: every value, weighted by how well its key matches."""
    return float(softmax(keys_ND @ query) @ values_N)


SHOWN = (attend, attend_one, look_up, lookup.Attention.roles)


def measure(bench: Workbench) -> Figures:
    money_ND, river_ND = (np.array([VECTORS[word] for word in words]) for words in (MONEY, RIVER))
    scores, weights, mixed = attend(money_ND)
    order = np.array([2, 0, 1])
    one, other = mixed[1], attend(river_ND)[2][1]
    right = ways(bench)
    errors = dictionary(bench)
    off = {"parallel": np.abs(mixed - [attend_one(money_ND, word) for word in range(3)]).max(),
           "order": np.abs(mixed[order] - attend(money_ND[order])[2]).max(),
           "symmetric": np.abs(scores - scores.T).max()}
    return Figures(
        scores=scores, weights=weights, mixed=mixed, right=right, errors=errors,
        off_alone=off["parallel"], off_order=off["order"], mirrored=off["symmetric"],
        same={claim: likeness(apart, within=EXACT) for claim, apart in off.items()},
        unlike=np.abs(weights - weights.T).max(), bank=one @ other / np.linalg.norm(one) / np.linalg.norm(other),
        loose=errors[0], tight=errors[-1], scales=(SCALES[0], SCALES[-1]),
        **own(bench), **needed(right),
    )


def ways(bench: Workbench) -> dict[str, np.ndarray]:
    """Right answers [sizes,seeds] of each way to give attention parameters; one size where it has no matrices."""
    right = {}
    for way in lookup.WAYS:
        sizes = SIZES if way in MATRICES else (lookup.WIDTH,)
        seeds, widths = map(list, zip(*((seed, size) for size in sizes for seed in bench.seeds), strict=True))
        kept = bench.cached(lookup.train, way, seeds, widths, bench.pick(300, 60), made_by=lookup.MADE_BY)
        right[way] = np.array(kept).reshape(len(sizes), -1)
    return right


def needed(right: dict[str, np.ndarray]) -> dict[str, object]:
    """Right answers at the smallest size that suffices three matrices; how far other ways are behind there, and at the
    size where they come closest."""
    mean = {way: of.mean(1) for way, of in right.items()}
    three = mean["three matrices"]
    good = three >= SUFFICES * three.max()  # sizes at which three matrices suffice
    narrow = int(np.argmax(good))
    return {"size": SIZES[narrow], "at": {way: of[narrow if way in MATRICES else 0] for way, of in mean.items()},
            "behind": {way: three[narrow] - mean[way][narrow] for way in MATRICES},
            "closest": {way: (three - mean[way])[good].min() for way in MATRICES}}


def dictionary(bench: Workbench) -> np.ndarray:
    """How far the answer is from the entry asked for, mean over entries and seeds, at each scale."""
    errors = np.zeros((len(bench.seeds), len(SCALES), len(ENTRIES)))
    for s, seed in enumerate(bench.seeds):
        keys_ND = bench.seed(seed).standard_normal((len(ENTRIES), 16))
        keys_ND /= np.linalg.norm(keys_ND, axis=1, keepdims=True)
        errors[s] = [[abs(look_up(scale * key, keys_ND, np.array(ENTRIES)) - entry)
                      for key, entry in zip(keys_ND, ENTRIES, strict=True)] for scale in SCALES]
    return errors.mean((0, 2))


def own(bench: Workbench) -> dict[str, float]:
    """The share of words that score themselves highest by their embeddings; the weight that they keep without scale,
    with it, and in the trained encoder's heads. A sentence with a token twice is left out."""
    rows = []
    table_VD = bench.model.get_input_embeddings().weight.detach().numpy() * bench.model.config.d_model**0.5
    for pair in bench.corpus.test[: bench.pick(100, 10)]:
        ids = encode_source(bench.tokenizer, pair.source)
        if len(set(ids)) < len(ids):
            continue
        scores_NN = table_VD[ids] @ table_VD[ids].T
        with eval_with_eager_attention(bench.model):
            maps = forced_pass(bench.model, [ids], [ids], output_attentions=True)[0].encoder_attentions
        rows.append(((scores_NN.argmax(1) == np.arange(len(ids))).mean(), softmax(scores_NN).diagonal().mean(),
                     softmax(scores_NN / table_VD.shape[1] ** 0.5).diagonal().mean(),
                     float(torch.stack(maps).diagonal(dim1=-2, dim2=-1).mean())))
    return dict(zip(("first", "unscaled", "scaled", "trained"), map(float, np.mean(rows, axis=0)), strict=True))


def claims(f: Figures) -> Checks:
    def parted(way: str) -> list[Check]:
        return [Check(f.behind[way], ">", BETTER, "gap at this size"),
                Check(f.closest[way], ">", BETTER, "smallest gap over all sizes")]

    return {
        "parallel": [Check(f.off_alone, "<", EXACT)],
        "order": [Check(f.off_order, "<", EXACT)],
        "symmetric": [Check(f.mirrored, "<", EXACT)],
        "context": [Check(f.bank, "<", DISTINCT)],
        "itself": [Check(f.first, ">", MOSTLY, "share of words that score themselves highest"),
                   Check(min(f.unscaled, f.scaled), ">", 1 - NEGLIGIBLE, "weight on the word itself")],
        "dictionary": [Check(f.tight, "<", LOOKED_UP)],
        "nothing": [Check(f.at["three matrices"] - f.at["none"], ">", BETTER, "gain of three matrices")],
        "one": parted("one matrix"),
        "query": parted("query = key"),
        "value": parted("key = value"),
    }


def exhibits(f: Figures) -> Exhibits:
    right = {way: over_seeds(f.right[way]) for way in MATRICES}
    return [
        Table("Scores of *money bank grows*: x xᵀ, 3 × 3", ("", *MONEY),
              [(word, *row) for word, row in zip(MONEY, f.scores, strict=True)]),
        Table("Right answers by the size of query, key and value", ("", *map(str, SIZES)),
              [(way, *(f"{one:.0%}" for one in of)) for way, of in right.items()]),
        MapPanel("No parameters", f.weights, MONEY, MONEY, top=1),
        CurvePanel("Soft dictionary: error", SCALES, {"": f.errors + 1e-16}, "scale of the query", doubling=True,
                   log=True),
        CurvePanel("Right answers", SIZES, right, "size of query, key, value", doubling=True,
                   level=f.right["none"].mean()),
    ]
