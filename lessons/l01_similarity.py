"""Lesson 1: the dot product and the cosine as measures of likeness."""

import math
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from statistics import median

import numpy as np
import torch
from matplotlib.figure import Figure
from transformers import PreTrainedModel

from ..lens.forcing import chosen_log_probs, encode_source, forced_pass, looking
from ..modeling.attention import MultiHeadAttention
from .drawing import BLUE, GREEN, ORANGE, SOFT, new_figure
from .old import Table, Verdict, found, overall
from .workbench import Workbench

TITLE = "Similarity"
CLAIM = ("Attention compares words by the dot product and not by the cosine, which keeps only the direction and loses"
         " how similar two words are; the dot product is also much faster.")  # fmt: skip
HOW = """Three vectors in the plane have the notes' two dot products, 26 and 11; their cosines are computed too. Then
the word vectors of the trained model are compared both ways, and their lengths with how often the pieces occur, English
and French pieces apart.

In the trained model every query and key is made as long as the average one of its head in the sentence, so that scores
become cosines times a constant, and the loss on unseen sentences is measured again. At last all pairs of some vectors
are compared with a clock running: pair by pair, and as one matrix product, for which the vectors are normalised once.

The picture shows the three vectors, and the length of the model's word vectors against their counts, of one piece in
four."""
TRY = "Double the vector A until A·C passes B·C: its cosine with C has been the larger one all the time."

A, B, C = (1.0, 2.0), (6.0, 2.0), (3.0, 4.0)
NOTED = (26.0, 11.0)  # B·C and A·C in the notes
LENGTHS = (0.5, 1.0, 2.0, 4.0)  # of a query, when its weights are shown
EXACT = 1e-12
AGREE = 0.95  # share of words whose nearest word must be the same by both, for the two to be one measure
CARRIES = 3.0  # standard errors by which a rank correlation must differ from that of unrelated figures
MATTERS = 0.05  # as a share: a loss higher by this much says that lengths matter
MUCH_FASTER = 1.5  # times
DRAWN = 4  # one piece in so many is a dot in the picture: more of them make the page heavy and say no more


@dataclass(frozen=True)
class Result:
    dots: tuple[float, float]  # B·C, A·C
    cosines: tuple[float, float]
    doubled: tuple[float, float]  # 2B·C over B·C, and the change of the cosine
    weights: np.ndarray  # [lengths,2]: what a query along C of each length gives B and A
    words: int
    same_nearest: float  # share of words with the same nearest word by both measures
    itself: tuple[float, float]  # share of words nearest to themselves: by dot product, by cosine
    counts: np.ndarray  # [words] how often each piece occurs
    lengths: np.ndarray  # [words] of its vector
    english: np.ndarray  # [words] whether more often on the English side
    rank_correlations: tuple[float, float]  # of count and length: English, French
    untrained: tuple[float, float]  # the same before training
    losses: tuple[float, float]  # per piece: as trained, and with equal lengths
    seconds: np.ndarray  # [ways,2]: dot product, cosine


def dot(x: Sequence[float], y: Sequence[float]) -> float:
    return sum(a * b for a, b in zip(x, y, strict=True))


def cosine(x: Sequence[float], y: Sequence[float]) -> float:
    """The dot product of the directions alone."""
    return dot(x, y) / math.sqrt(dot(x, x) * dot(y, y))


SHOWN = (dot, cosine)


def compute(bench: Workbench) -> Result:
    twice = tuple(2 * b for b in B)
    powers = np.exp([[length * dot(vector, C) / dot(C, C) ** 0.5 for vector in (B, A)] for length in LENGTHS])
    ids, counts, english = counted_words(bench)
    bench.seed(0)
    begun_ND, vectors_ND = (vectors(model, ids) for model in (type(bench.model)(bench.model.config), bench.model))
    directions_ND = vectors_ND / np.linalg.norm(vectors_ND, axis=1, keepdims=True)
    dots_NN, cosines_NN = vectors_ND @ vectors_ND.T, directions_ND @ directions_ND.T
    lengths = np.linalg.norm(vectors_ND, axis=1)
    return Result(
        dots=(dot(B, C), dot(A, C)),
        cosines=(cosine(B, C), cosine(A, C)),
        doubled=(dot(twice, C) / dot(B, C), cosine(twice, C) - cosine(B, C)),
        weights=powers / powers.sum(-1, keepdims=True),
        words=len(counts),
        same_nearest=float((nearest(dots_NN) == nearest(cosines_NN)).mean()),
        itself=(float((dots_NN.argmax(1) == np.arange(len(counts))).mean()),
                float((cosines_NN.argmax(1) == np.arange(len(counts))).mean())),
        counts=counts,
        lengths=lengths,
        english=english,
        rank_correlations=by_language(counts, lengths, english),
        untrained=by_language(counts, np.linalg.norm(begun_ND, axis=1), english),
        losses=(loss(bench), loss(bench, equal=True)),
        seconds=clock(bench),
    )  # fmt: skip


def counted_words(bench: Workbench) -> tuple[list[int], np.ndarray, np.ndarray]:
    """The pieces that the corpus has five times or more, how often, and whether rather in English."""
    source: Counter[int] = Counter()
    target: Counter[int] = Counter()
    for pair in bench.corpus.train:
        source.update(bench.tokenizer.encode_source(pair.source)[:-1])
        target.update(bench.tokenizer.encode_target(pair.target, language="fr")[1:-1])
    count = source + target
    ids = sorted(id for id, times in count.items() if times >= 5)
    return ids, np.array([count[id] for id in ids]), np.array([source[id] > target[id] for id in ids])


def vectors(model: PreTrainedModel, ids: list[int]) -> np.ndarray:
    """The rows of the embedding matrix [N,D]."""
    rows_ND: np.ndarray = model.get_input_embeddings().weight[ids].detach().double().numpy()
    return rows_ND


def by_language(counts: np.ndarray, lengths: np.ndarray, english: np.ndarray) -> tuple[float, float]:
    """Rank correlation of the English pieces, and of the others."""
    return rank_correlation(counts[english], lengths[english]), rank_correlation(counts[~english], lengths[~english])


def nearest(likeness_NN: np.ndarray) -> np.ndarray:
    """The most alike other one of each."""
    others_NN = likeness_NN.copy()
    np.fill_diagonal(others_NN, -np.inf)
    nearest_N: np.ndarray = others_NN.argmax(1)
    return nearest_N


def rank_correlation(x: np.ndarray, y: np.ndarray) -> float:
    """Spearman's."""
    return float(np.corrcoef(ranks(x), ranks(y))[0, 1])


def ranks(values: np.ndarray) -> np.ndarray:
    """Equal values share the mean of their ranks."""
    _, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
    mean: np.ndarray = np.cumsum(counts) - (counts - 1) / 2
    return mean[inverse]


def loss(bench: Workbench, *, equal: bool = False) -> float:
    """Cross-entropy per target piece on unseen sentences, with lengths as they are or made equal."""
    total, pieces = 0.0, 0
    with looking(bench.model), equal_lengths(bench.model) if equal else ExitStack():
        for pair in bench.corpus.test[: bench.pick(100, 8)]:
            target = bench.tokenizer.encode_target(pair.target, language="fr")
            output, ids_BT = forced_pass(bench.model, [encode_source(bench.tokenizer, pair.source)], [target])
            total -= float(chosen_log_probs(output.logits, ids_BT)[0, 1:].sum())  # the tag is given
            pieces += len(target) - 1
    return total / pieces


@contextmanager
def equal_lengths(model: torch.nn.Module) -> Iterator[None]:
    """Inside, every query and key has the mean length of its head and sentence: scores are cosines times a constant."""

    def make(attention: MultiHeadAttention) -> Callable:
        def equal(module: torch.nn.Module, args: tuple, out_BTD: torch.Tensor) -> torch.Tensor:
            x_BTHE = out_BTD.unflatten(-1, (attention.num_heads, attention.head_dim))
            length_BTH1 = x_BTHE.norm(dim=-1, keepdim=True)
            return (x_BTHE / length_BTH1 * length_BTH1.mean(1, keepdim=True)).flatten(-2)

        return equal

    with ExitStack() as hooks:
        for attention in (module for module in model.modules() if type(module).__name__ == "MultiHeadAttention"):
            for projection in (attention.q_proj, attention.k_proj):
                hooks.callback(projection.register_forward_hook(make(attention)).remove)
        yield


def clock(bench: Workbench) -> np.ndarray:
    """Seconds for all pairs of vectors, pair by pair and as one product: [2 ways, dot product and cosine]."""
    bench.seed(0)
    x_ND = torch.randn(bench.pick(384, 96), 64)
    pairs = (x_ND[:, None], x_ND[None])
    ways: tuple[tuple[Callable[[], torch.Tensor], ...], ...] = (
        (lambda: (pairs[0] * pairs[1]).sum(-1), lambda: torch.cosine_similarity(*pairs, dim=-1)),
        (lambda: x_ND @ x_ND.T, lambda: by_product(x_ND)),
    )
    return np.array([[median(timed(way) for _ in range(bench.pick(15, 3))) for way in row] for row in ways])


def by_product(x_ND: torch.Tensor) -> torch.Tensor:
    """All cosines: each vector is normalised once, not once a pair."""
    direction_ND = torch.nn.functional.normalize(x_ND, dim=-1)
    return direction_ND @ direction_ND.T


def timed(work: Callable[[], torch.Tensor]) -> float:
    begun = time.perf_counter()
    work()
    return time.perf_counter() - begun


def judge(result: Result) -> Verdict:
    (bc, ac), (cos_bc, cos_ac) = result.dots, result.cosines
    change, cosine_change = result.doubled
    before, after = result.losses
    slower = result.seconds[:, 1] / result.seconds[:, 0]
    sides = (result.english.sum(), (~result.english).sum())
    chances = [CARRIES / math.sqrt(size) for size in sides]
    english, french = result.rank_correlations
    turned = (bc > ac) != (cos_bc > cos_ac)
    findings = (
        found("Of two vectors the one with the larger dot product, 26 against 11, is the more similar.",
              result.dots == NOTED and not turned,
              f"With A, B, C as drawn B·C = {bc:.0f} and A·C = {ac:.0f}, but the cosines are {cos_bc:.3f} and"
              f" {cos_ac:.3f}: B wins by its length, A points more nearly the way of C. Which is more similar depends"
              " on the measure, and the two numbers alone do not tell."),
        found("The cosine keeps the direction and loses the length.",
              abs(change - 2) < EXACT and abs(cosine_change) < EXACT,
              f"B made twice as long: its dot product with C is {change:.0f} times what it was, its cosine changes by"
              f" {abs(cosine_change):.0e} (allowed: {EXACT:.0e})."),
        found("The choice of measure makes a difference to real word vectors.", result.same_nearest < AGREE,
              f"Of {result.words:,} pieces {result.same_nearest:.0%} have the same nearest other piece by both measures"
              f" (no difference means {AGREE:.0%} or more). By the dot product {result.itself[0]:.0%} are nearest to"
              f" themselves, by the cosine {result.itself[1]:.0%}, as they must be."),
        found("The length of a word's vector carries something.",
              abs(english) > chances[0] and abs(french) > chances[1],
              f"Its rank correlation with the count of the piece is {english:+.2f} for {sides[0]:,} English pieces and"
              f" {french:+.2f} for {sides[1]:,} French ones (by chance alone within ±{chances[0]:.2f} and"
              f" ±{chances[1]:.2f}, {CARRIES:.0f} standard errors)."),
        found("Word vectors begin at random: what they hold, they have learnt.",
              all(abs(before) < chance < abs(after) for before, after, chance
                  in zip(result.untrained, result.rank_correlations, chances, strict=True)),
              f"Before training the same correlations are {result.untrained[0]:+.2f} and {result.untrained[1]:+.2f}"
              " (wanted: within chance before, and beyond it after)."),
        found("Attention uses the lengths.", after > before * (1 + MATTERS),
              f"With queries and keys of equal length, without training anew, the loss per piece goes from"
              f" {before:.3f} to {after:.3f} (wanted: {MATTERS:.0%} more)."),
        found("The dot product is much faster.",
              "holds" if slower.min() > MUCH_FASTER else "holds partly" if slower.max() > MUCH_FASTER
              else "does not hold here",
              f"Pair by pair the cosine takes {slower[0]:.1f} times as long. But normalised once, and then multiplied"
              f" as one matrix, it takes {slower[1]:.2f} times as long (much means {MUCH_FASTER} or more)."),
    )  # fmt: skip
    return overall(findings, (
        f"With the lengths of queries and keys made equal the trained model's loss goes from {before:.3f} to"
        f" {after:.3f}. Dot products of {bc:.0f} and {ac:.0f} go with cosines of {cos_bc:.2f} and {cos_ac:.2f}. A"
        f" cosine takes {slower[0]:.1f} times as long as a dot product, or {slower[1]:.2f} times where each vector is"
        " normalised once."
    ))


def tables(result: Result) -> tuple[Table, ...]:
    return (
        Table.of("A = (1, 2), B = (6, 2), C = (3, 4)", ("", "dot product", "cosine"),
                 [("B and C", *(values[0] for values in (result.dots, result.cosines))),
                  ("A and C", *(values[1] for values in (result.dots, result.cosines)))]),
        Table.of("What a query in the direction of C gives to B and A, after the softmax: its length says how sharply"
                 " it chooses, and not what", ("its length", "weight of B", "weight of A"),
                 [(length, *row) for length, row in zip(LENGTHS, result.weights, strict=True)]),
        Table.of("Milliseconds for all pairs of vectors of width 64", ("", "dot product", "cosine", "times"),
                 [(name, *(1000 * row), row[1] / row[0])
                  for name, row in zip(("pair by pair", "as one matrix product"), result.seconds, strict=True)]),
    )  # fmt: skip


def look(result: Result) -> None:
    """There is no map to open."""
    return None


def draw(result: Result) -> Figure:
    figure, (left, right) = new_figure(2)
    for name, (x, y), colour in (("A", A, ORANGE), ("B", B, BLUE), ("C", C, GREEN)):
        left.annotate("", (x, y), (0, 0), arrowprops={"arrowstyle": "-|>", "color": colour, "linewidth": 2,
                                                      "shrinkA": 0, "shrinkB": 0})
        left.text(x + 0.15, y + 0.1, name, color=colour, weight="bold")
    left.set_xlim(-0.3, 7)
    left.set_ylim(-0.3, 5)
    left.set_aspect("equal")
    left.set_title("B·C = 26, A·C = 11")
    left.set_xlabel(f"cosines {result.cosines[0]:.2f} and {result.cosines[1]:.2f}")
    for name, side, colour in (("English", result.english, BLUE), ("French", ~result.english, ORANGE)):
        right.scatter(result.counts[side][::DRAWN], result.lengths[side][::DRAWN], s=9, color=colour, alpha=0.5,
                      linewidths=0, label=name)
    right.legend(fontsize=8, markerscale=2)
    right.set_xscale("log")
    right.set_xlabel("count of the piece in the corpus")
    right.set_title("Length of its vector")
    right.tick_params(which="minor", color=SOFT)
    return figure
