"""Lesson 14: the dot product and the cosine as measures of similarity."""

import math
from collections import Counter
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import partial

import numpy as np
import torch
from transformers import PreTrainedModel

from ..passes.forced_pass import chosen_log_probs, eval_with_eager_attention, forced_pass
from ..passes.hooks import all_sites, replaced
from ..tokenizer.encoding import encode_source
from .figures import likeness, rank_correlation
from .lesson import Check, Checks, CurvePanel, Exhibits, Figures, MapPanel, Table, Workbench

# N vectors, D width, B batch, T tokens, H heads, E size of one head

A, B, C = (1.0, 2.0), (6.0, 2.0), (3.0, 4.0)
EXACT = 1e-12
AGREE = 0.95  # share of words whose nearest word must be the same by both, for the two to be one measure
CARRIES = 3.0  # standard errors by which a rank correlation must differ from that of unrelated figures
MATTERS = 1.05  # times the loss: this much more says that lengths matter
SIDES = ("English", "French")


def dot(x: Sequence[float], y: Sequence[float]) -> float:
    return sum(a * b for a, b in zip(x, y, strict=True))


def cosine(x: Sequence[float], y: Sequence[float]) -> float:
    """The dot product of the directions alone."""
    return dot(x, y) / math.sqrt(dot(x, x) * dot(y, y))


SHOWN = (dot, cosine)


def measure(bench: Workbench) -> Figures:
    twice = tuple(2 * b for b in B)
    ids, counts, english = counted_tokens(bench)
    bench.seed(0)
    untrained_ND, vectors_ND = (model.get_input_embeddings().weight[ids].detach().double().numpy()
                                for model in (type(bench.model)(bench.model.config), bench.model))
    directions_ND = vectors_ND / np.linalg.norm(vectors_ND, axis=1, keepdims=True)
    products = [x_ND @ x_ND.T for x_ND in (vectors_ND, directions_ND)]
    nearest = [np.argmax(of - 1e9 * np.eye(len(ids)), axis=1) for of in products]
    lengths = np.linalg.norm(vectors_ND, axis=1)
    sides = dict(zip(SIDES, (english, ~english), strict=True))
    chance = {name: CARRIES / math.sqrt(side.sum()) for name, side in sides.items()}
    trained, untrained = ({name: rank_correlation(counts[side], of[side]) for name, side in sides.items()}
                          for of in (lengths, np.linalg.norm(untrained_ND, axis=1)))
    losses = loss(bench), loss(bench, equal=True)
    dots, cosines = (np.array([[of(one, other) for other in (A, B, C)] for one in (A, B, C)]) for of in (dot, cosine))
    moved = abs(cosine(twice, C) - cosine(B, C))
    return Figures(
        dots=dots, cosines=cosines, doubled=dot(twice, C) / dot(B, C), moved=moved,
        kept=likeness(moved, within=EXACT), tokens=len(ids),
        same=np.mean(nearest[0] == nearest[1]),
        itself=[np.mean(of.argmax(1) == np.arange(len(ids))) for of in products], counts=counts, lengths=lengths,
        sides=sides, sizes={name: int(side.sum()) for name, side in sides.items()}, chance=chance, trained=trained,
        untrained=untrained, after=min(abs(trained[name]) / chance[name] for name in SIDES),
        before=max(abs(untrained[name]) / chance[name] for name in SIDES), losses=losses,
        worse=losses[1] / losses[0],
    )


def counted_tokens(bench: Workbench) -> tuple[list[int], np.ndarray, np.ndarray]:
    """The tokens that the corpus has five times or more, how often, and whether more often in English."""
    pairs, tokenizer = bench.corpus.train, bench.tokenizer
    source = Counter(id for pair in pairs for id in tokenizer.encode_source(pair.source)[:-1])
    target = Counter(id for pair in pairs for id in tokenizer.encode_target(pair.target, language="fr")[1:-1])
    count = source + target
    ids = sorted(id for id, times in count.items() if times >= 5)
    return ids, np.array([count[id] for id in ids]), np.array([source[id] > target[id] for id in ids])


def loss(bench: Workbench, *, equal: bool = False) -> float:
    """Cross-entropy per target token on unseen sentences, with lengths as they are or made equal."""
    total, tokens = 0.0, 0
    with eval_with_eager_attention(bench.model), equal_lengths(bench.model) if equal else nullcontext():
        for pair in bench.corpus.test[: bench.pick(100, 8)]:
            target = bench.tokenizer.encode_target(pair.target, language="fr")
            output, ids_BT = forced_pass(bench.model, [encode_source(bench.tokenizer, pair.source)], [target])
            total -= float(chosen_log_probs(output.logits, ids_BT)[0, 1:].sum())  # the tag is given
            tokens += len(target) - 1
    return total / tokens


def equal_lengths(model: PreTrainedModel) -> AbstractContextManager[None]:
    """Inside, every query and key has the mean length of its head and sentence: scores are cosines times a constant."""
    return replaced((projection, "out", partial(to_mean_length, heads=site.heads)) for site in all_sites(model)
                    for projection in (site.module.q_proj, site.module.k_proj))


def to_mean_length(x_BTD: torch.Tensor, *, heads: int) -> torch.Tensor:
    """The part of each head at the mean length over T."""
    x_BTHE = x_BTD.unflatten(-1, (heads, -1))
    length_BTH1 = x_BTHE.norm(dim=-1, keepdim=True)
    return (x_BTHE / length_BTH1 * length_BTH1.mean(1, keepdim=True)).flatten(-2)


def claims(f: Figures) -> Checks:
    return {
        "direction": [Check(abs(f.doubled - 2), "<", EXACT, "difference of the dot product's factor from 2"),
                      Check(f.moved, "<", EXACT, "cosine changes by")],
        "differ": [Check(f.same, "<", AGREE)],
        "length": [Check(f.after, ">", 1, "smaller correlation, as a multiple of chance")],
        "learnt": [Check(f.before, "<", 1, "before training, as a multiple of chance"),
                   Check(f.after, ">", 1, "after training")],
        "used": [Check(f.worse, ">", MATTERS, "ratio of the losses")],
    }


def exhibits(f: Figures) -> Exhibits:
    rows = [(name, f.sizes[name], f.untrained[name], f.trained[name], f.chance[name]) for name in SIDES]
    tenths = {name: [part.mean() for part in np.array_split(f.lengths[side][f.counts[side].argsort()], 10)]
              for name, side in f.sides.items()}
    return [
        Table("Rank correlation of a word vector's length and the token's count",
              ("", "tokens", "before training", "after training", "by chance, below"), rows),
        MapPanel("Dot products", f.dots, "ABC", "ABC"), MapPanel("Cosines", f.cosines, "ABC", "ABC", top=1),
        CurvePanel("Length of word vectors", range(1, 11), tenths, xlabel="tokens, from rare to frequent"),
    ]
