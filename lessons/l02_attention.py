"""Lesson 2: attention without parameters, and what it needs in order to learn."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch
from matplotlib.figure import Figure

from ..lens.forcing import encode_source, forced_pass, looking
from ..measures.gold import in_halves, to_gold
from . import lookup
from .by_hand import softmax
from .drawing import BLUE, GREEN, ORANGE, PURPLE, SOFT, heatmap, new_figure
from .old import Finding, Table, Verdict, found, overall
from .workbench import Workbench

TITLE = "Attention, from nothing to three matrices"
CLAIM = ("Words can be mixed by nothing but their dot products, all at once and with no parameters; but then scores are"
         " symmetric and each word keeps mostly to itself, so a model that is to learn needs separate queries, keys and"
         " values, each made by a matrix.")  # fmt: skip
HOW = """First attention without parameters: the dot products of all word vectors, a softmax over each row, the weighted
sums. It is run on *money bank grows* and *river bank flows* with vectors of four components (that of *bank* is the
notes', the others are invented), and on the trained model's word embeddings: as long as its encoder takes them, but
without the positions that it adds and the norm that its heads read through. Beside it stands what that encoder's own
heads do on unseen sentences, where the corpus says which noun *it* means and which adjective is
whose; a head is chosen on one half of the sentences and measured on the other.

Then attention as a dictionary: three entries with random keys of length 1 and the values 2, 3 and 5, asked with a key
times a growing scale.

At last what learning needs. A word has a name, the name of a word that it wants, and a content of three things, all
three rotated into one vector of 28 components; it is to say the content of the word that it wants. Every way of giving
attention parameters is trained on that, with the same data, steps and readout, and three seeds; guessing gives 25%. The
notes look for places where something could be learnt and find two, before the scores and before the sum: between them
stands the softmax, which needs no parameters. The one it could have is its temperature, and that is the table's scalar.
The picture's last map has three matrices, with keys and values of every size."""
TRY = "Give a sequence 32 words instead of 8 (`NAMES` in `lessons/lookup.py`): are keys of two components still enough?"

MONEY = ("money", "bank", "grows")
RIVER = ("river", "bank", "flows")
VECTORS = {
    "money": (0.9, 0.1, 0.0, 0.3), "grows": (0.5, 0.3, 0.6, 0.1), "bank": (0.6, 0.2, 0.1, 0.7),
    "river": (0.1, 0.9, 0.2, 0.4), "flows": (0.0, 0.6, 0.7, 0.3),
}  # fmt: skip
ENTRIES = (2.0, 3.0, 5.0)
SCALES = (1, 2, 4, 8, 16, 32, 64)
SIZES = (2, 4, 6, 8, 10, 14, 28)  # of query, key and value together
GRID = (1, 2, 4, 8, 14)  # of key and value apart

EXACT = 1e-6
MOSTLY = 0.5  # share of words that must give themselves the most, and of a weight that must stay with its owner
NEGLIGIBLE = 0.1  # what is left for all others together
APART = 0.999  # a cosine below this tells two vectors apart
LOOKED_UP = 1e-3  # error at the largest scale
BETTER = 0.05  # share of right answers that counts as a difference
TIMES = 2.0  # how much more counts as another look
SUFFICES = 0.95  # share of right answers, of the best of the map


@dataclass(frozen=True)
class Result:
    scores: np.ndarray  # [3,3] of money bank grows
    weights: np.ndarray
    mixed: np.ndarray  # [3,4]
    off_one_by_one: float  # largest difference from computing each word for itself
    off_reordered: float  # and after shuffling the words
    off_symmetric: tuple[float, float]  # of scores, of weights
    bank: float  # cosine of bank's two contextual vectors
    own_first: float  # share of the model's word embeddings that give themselves the largest weight
    own_weight: tuple[float, float, float]  # mean weight of a word on itself: no parameters, divided by √d, trained
    it: tuple[float, float, float]  # mean weight of *it* on its noun, of the noun on *it*, and of an even head
    noun: tuple[float, float, float]  # the same of a noun and its adjective
    looked_up: np.ndarray  # [scales] error
    right: dict[str, np.ndarray]  # way -> [sizes,seeds]; one size where a way has none
    losses: list[float]  # of three matrices, on the way
    grid: np.ndarray  # [keys,values] mean over seeds


def attend(x_ND: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Attention with no parameters: scores [N,N], weights [N,N], and the mixed words [N,D]."""
    score_NN = x_ND @ x_ND.T
    weight_NN = softmax(score_NN)
    return score_NN, weight_NN, weight_NN @ x_ND


def attend_one(x_ND: np.ndarray, word: int) -> np.ndarray:
    """The same for one word alone: nothing of it waits for another word's result."""
    weights = softmax(np.array([x_ND[word] @ other for other in x_ND]))
    mixed_D: np.ndarray = sum(weight * other for weight, other in zip(weights, x_ND, strict=True))
    return mixed_D


def look_up(query: np.ndarray, keys_ND: np.ndarray, values_N: np.ndarray) -> float:
    """A dictionary asked softly: every value, by how well its key matches."""
    return float(softmax(keys_ND @ query) @ values_N)


SHOWN = (attend, attend_one, look_up, lookup.Attention.roles)


def compute(bench: Workbench) -> Result:
    money_ND, river_ND = (np.array([VECTORS[word] for word in words]) for words in (MONEY, RIVER))
    scores, weights, mixed = attend(money_ND)
    order = np.array([2, 0, 1])
    right, losses = ways(bench)
    copies = [(seed, key, value) for seed in bench.seeds for key in GRID for value in GRID]
    trained = bench.cached(lookup.train, "three matrices", *map(list, zip(*copies, strict=True)), steps(bench),
                           made_by=lookup.MADE_BY)
    grid = np.array(trained["right"]).reshape(-1, len(GRID), len(GRID)).mean(0)
    bank = mixed[1], attend(river_ND)[2][1]
    own_first, own_weight = own(bench)
    it, noun = both_ways(bench)
    return Result(
        scores, weights, mixed,
        off_one_by_one=float(np.abs(mixed - [attend_one(money_ND, word) for word in range(3)]).max()),
        off_reordered=float(np.abs(mixed[order] - attend(money_ND[order])[2]).max()),
        off_symmetric=(float(np.abs(scores - scores.T).max()), float(np.abs(weights - weights.T).max())),
        bank=float(bank[0] @ bank[1] / np.linalg.norm(bank[0]) / np.linalg.norm(bank[1])),
        own_first=own_first, own_weight=own_weight, it=it, noun=noun, looked_up=dictionary(bench), right=right,
        losses=losses, grid=grid,
    )  # fmt: skip


def steps(bench: Workbench) -> int:
    return bench.pick(300, 60)


def ways(bench: Workbench) -> tuple[dict[str, np.ndarray], list[float]]:
    """Share of right answers of each way, by size and seed; and the loss of three matrices while they learn."""
    right, losses = {}, []
    for way in lookup.WAYS:
        sizes = SIZES if way in WITH_MATRICES else (lookup.WIDTH,)
        copies = [(seed, size) for size in sizes for seed in bench.seeds]
        seeds, keys = map(list, zip(*copies, strict=True))
        trained = bench.cached(lookup.train, way, seeds, keys, keys, steps(bench), made_by=lookup.MADE_BY)
        right[way] = np.array(trained["right"]).reshape(len(sizes), -1)
        losses = trained["losses"]
    return right, losses


WITH_MATRICES = ("one matrix", "query = key", "key = value", "three matrices")


def dictionary(bench: Workbench) -> np.ndarray:
    """How far the answer is from the entry asked for, mean over entries and seeds, at each scale."""
    errors = np.zeros(len(SCALES))
    for seed in bench.seeds:
        keys_ND = bench.seed(seed).standard_normal((len(ENTRIES), 16))
        keys_ND /= np.linalg.norm(keys_ND, axis=1, keepdims=True)
        for s, scale in enumerate(SCALES):
            errors[s] += np.mean([abs(look_up(scale * key, keys_ND, np.array(ENTRIES)) - entry)
                                  for key, entry in zip(keys_ND, ENTRIES, strict=True)])
    return errors / len(bench.seeds)


def own(bench: Workbench) -> tuple[float, tuple[float, float, float]]:
    """How many words score themselves highest by their embeddings, without position and norm, and how much weight they
    keep: with no parameters, scaled, and in the trained encoder's heads. A sentence with a piece twice is left out."""
    first, plain, scaled, trained = [], [], [], []
    table_VD = bench.model.get_input_embeddings().weight.detach().numpy() * bench.model.config.d_model**0.5
    for pair in bench.corpus.test[: bench.pick(100, 10)]:
        ids = encode_source(bench.tokenizer, pair.source)
        if len(set(ids)) < len(ids):
            continue
        scores_NN = table_VD[ids] @ table_VD[ids].T
        first.append((scores_NN.argmax(1) == np.arange(len(ids))).mean())
        plain.append(softmax(scores_NN).diagonal().mean())
        scaled.append(softmax(scores_NN / table_VD.shape[1] ** 0.5).diagonal().mean())
        with looking(bench.model):
            maps = forced_pass(bench.model, [ids], [ids], output_attentions=True)[0].encoder_attentions
        trained.append(float(torch.stack(maps).diagonal(dim1=-2, dim2=-1).mean()))
    return float(np.mean(first)), (float(np.mean(plain)), float(np.mean(scaled)), float(np.mean(trained)))


def both_ways(bench: Workbench) -> Iterator[tuple[float, float, float]]:
    """How much *it* looks at the noun that it stands for, and a noun at its adjective: in the encoder's head that does
    so most on one half of the sentences, measured on the other; then the weight back, and that of an even head."""
    rows: dict[str, tuple[list[np.ndarray], list[np.ndarray]]] = {"it": ([], []), "noun": ([], [])}
    for half, stories in enumerate(in_halves(bench.corpus.test, bench.pick(100, 40))):
        for gold in map(to_gold, stories):
            ids = encode_source(bench.tokenizer, gold.source)
            with looking(bench.model):
                maps = forced_pass(bench.model, [ids], [ids], output_attentions=True)[0].encoder_attentions
            map_HSS = torch.cat(list(maps), dim=1)[0].numpy()
            words = [piece.word for piece in bench.tokenizer.spans(ids, gold.source, language="en")]
            pairs = {"it": [(one.source, one.antecedent) for one in gold.pronouns],
                     "noun": [(noun, adjective) for adjective, noun in gold.adjectives]}
            for name, found_here in pairs.items():
                for pair in found_here:
                    a, b = ([i for i, word in enumerate(words) if word == number] for number in pair)
                    even_H = np.full(len(map_HSS), len(b) / len(ids))
                    rows[name][half].append(np.stack([between(map_HSS, a, b), between(map_HSS, b, a), even_H]))
    for chosen_on, measured_on in rows.values():
        head = int(np.mean(chosen_on, axis=0)[0].argmax())
        there, back, even = np.mean(measured_on, axis=0)[:, head]
        yield float(there), float(back), float(even)


def between(map_HSS: np.ndarray, rows: list[int], columns: list[int]) -> np.ndarray:
    """The weight of one word on another in each head: sum over the pieces looked at, mean over those that look."""
    weight_H: np.ndarray = map_HSS[:, rows][:, :, columns].sum(-1).mean(-1)
    return weight_H


def smallest(right_S: np.ndarray, sizes: tuple[int, ...], best: float) -> int:
    """The smallest size that suffices."""
    return next(size for size, right in zip(sizes, right_S, strict=True) if right >= SUFFICES * best)


def judge(result: Result) -> Verdict:
    plain, scaled, trained = result.own_weight
    best = float(result.grid.max())
    key, value = smallest(result.grid[:, -1], GRID, best), smallest(result.grid[-1], GRID, best)
    three = result.right["three matrices"].mean(1)
    narrow = smallest(three, SIZES, float(three.max()))
    at = {way: result.right[way].mean(1)[SIZES.index(narrow) if way in WITH_MATRICES else 0] for way in lookup.WAYS}
    findings = (
        found("All words can be computed at once.", result.off_one_by_one < EXACT,
              f"Word by word and as one matrix product differ by {result.off_one_by_one:.0e} (allowed: {EXACT:.0e}); no"
              " word waits for another. The price is n² scores for n words: 9 for these three, 9,000,000 for 3,000."),
        found("Order is lost.", result.off_reordered < EXACT,
              f"Shuffled words give the same vectors, shuffled: they differ by {result.off_reordered:.0e} (allowed:"
              f" {EXACT:.0e})."),
        found("Scores are symmetric: what *it* is to *trophy*, *trophy* is to *it*.", result.off_symmetric[0] < EXACT,
              f"The scores differ from their mirror image by {result.off_symmetric[0]:.0e} (allowed: {EXACT:.0e}). The"
              f" weights do not share that: each row has a softmax of its own, and they differ by up to"
              f" {result.off_symmetric[1]:.2f}."),
        found("The same word gets another vector in another sentence.", result.bank < APART,
              f"The cosine of *bank* in the two sentences is {result.bank:.3f}, where it was 1 before (wanted: below"
              f" {APART})."),
        _degenerates(result.own_first, plain, scaled, trained),
        found("Attention is a soft dictionary, and exact lookup in the limit.", result.looked_up[-1] < LOOKED_UP,
              f"Asked with a key times {SCALES[0]} the answer is off by {result.looked_up[0]:.2f}, times {SCALES[-1]}"
              f" by {result.looked_up[-1]:.0e} (wanted: below {LOOKED_UP})."),
        found("Without parameters it cannot learn the task.", at["none"] < at["three matrices"] - BETTER,
              f"{at['none']:.0%} of answers are right, {at['three matrices']:.0%} with three matrices of size {narrow},"
              " the smallest that suffices."),
        _scaled(at),
        *(_parted(result, way, claim, narrow)
          for way, claim in (("one matrix", "One vector cannot play all three roles."),
                             ("query = key", "Query and key must differ."),
                             ("key = value", "Key and value must differ."))),
        found("Weights that begin at random are learnt.", result.losses[-1] < result.losses[0] / 2,
              f"The loss of three matrices goes from {result.losses[0]:.2f} to {result.losses[-1]:.3f} (wanted: less"
              " than half), by back-propagation alone."),
        found("A key can be smaller than the value that it stands for.", key < value,
              f"A key of {key} components suffices for a value of {value}: these get {SUFFICES:.0%} of the best"
              f" ({best:.0%}) where the other has {GRID[-1]}. To compare such keys takes {value / key:.1f} times fewer"
              " multiplications than to compare such values."),
        found("With queries and keys, *it* looks at its noun otherwise than the noun at *it*.",
              max(result.it[:2]) > TIMES * min(result.it[:2]),
              f"In the encoder head that does so most, *it* gives {result.it[0]:.1%} to the noun it stands for, and"
              f" that noun gives {result.it[1]:.1%} to *it* (wanted: {TIMES:.0f} times as much one way)."),
        found("Nouns take in their adjectives.", result.noun[0] > TIMES * result.noun[2],
              f"In the encoder head that does so most, a noun gives {result.noun[0]:.1%} to its adjective; an even head"
              f" gives {result.noun[2]:.1%} (wanted: {TIMES:.0f} times as much)."),
    )
    return overall(findings, (
        f"Without parameters attention answers {at['none']:.0%} of a task that three matrices answer"
        f" {at['three matrices']:.0%} of; one matrix for all roles answers {at['one matrix']:.0%}, query = key"
        f" {at['query = key']:.0%}, key = value {at['key = value']:.0%}, all of size {narrow}. By the model's word"
        f" embeddings a word keeps {plain:.0%} of its weight for itself without parameters and without a scale,"
        f" {scaled:.0%} with the scale, {trained:.0%} with the trained parameters."
    ))


def _degenerates(first: float, plain: float, scaled: float, trained: float) -> Finding:
    alone = 1 - NEGLIGIBLE
    return found(
        "Each word attends mostly to itself, and everything else is negligible.",
        "holds" if first > MOSTLY and min(plain, scaled) > alone else
        "holds partly" if first > MOSTLY else "does not hold here",
        f"Of the model's word embeddings, without positions and norm, {first:.0%} score themselves highest (wanted:"
        f" {MOSTLY:.0%}). They keep"
        f" {plain:.0%} of the weight without a scale, {scaled:.0%} if scores are divided by √d (wanted: above"
        f" {alone:.0%} either way). In the trained encoder, with its queries and keys, they keep {trained:.0%}.",
    )


def _scaled(at: dict[str, float]) -> Finding:
    """Two statements: that a factor gains nothing, and that matrices gain more."""
    scaled = max(at["scalar"], at["diagonal"])
    parts = scaled <= at["none"] + BETTER, scaled < at["three matrices"] - BETTER
    return found(
        "Scaling a vector does no good, and a linear map is needed.",
        "holds" if all(parts) else "holds partly" if any(parts) else "does not hold here",
        f"No parameters: {at['none']:.0%} right; a number in front: {at['scalar']:.0%}; one for each component:"
        f" {at['diagonal']:.0%}; matrices: {at['three matrices']:.0%} (a difference means {BETTER:.0%}). So scaling"
        f" does {'no' if parts[0] else 'some'} good, and matrices do {'more' if parts[1] else 'no more'}.",
    )


def _parted(result: Result, way: str, claim: str, narrow: int) -> Finding:
    """Whether three matrices are needed: at the smallest size that suffices them, and at every other."""
    three, own = result.right["three matrices"].mean(1), result.right[way].mean(1)
    good = (own > SUFFICES * three.max()) & (own >= three - BETTER)
    level = [size for size, is_good in zip(SIZES, good, strict=True) if is_good]
    at = SIZES.index(narrow)
    needed = own[at] < three[at] - BETTER
    said = f"At size {level[0]} there is no difference." if level else "It does not catch up at any size."
    return found(
        claim, bool(needed) and ("holds partly" if level else "holds"),
        f"{own[at]:.0%} against {three[at]:.0%} right, all of size {narrow} (wanted: a difference of {BETTER:.0%}"
        f" there, and no size that catches up). {said}",
    )


def tables(result: Result) -> tuple[Table, ...]:
    matrices = [(way, *map(_percent, result.right[way])) for way in WITH_MATRICES]
    plain = [(way, *map(_percent, result.right[way])) for way in lookup.WAYS if way not in WITH_MATRICES]
    sums = [(word, *row, float(row.sum())) for word, row in zip(MONEY, result.weights, strict=True)]
    return (
        Table.of("Scores of *money bank grows*: x xᵀ, 3 × 3", ("", *MONEY),
                 [(word, *row) for word, row in zip(MONEY, result.scores, strict=True)]),
        Table.of("Weights: the softmax of each row", ("", *MONEY, "sum"), sums),
        Table.of("The mixed words: weights times x, 3 × 4", ("", "1", "2", "3", "4"),
                 [(word, *row) for word, row in zip(MONEY, result.mixed, strict=True)]),
        Table.of("Right answers without matrices, in per cent (lowest–highest seed)", ("", "right"), plain),
        Table.of("Right answers by the size of query, key and value, in per cent (lowest–highest seed)",
                 ("", *map(str, SIZES)), matrices),
    )  # fmt: skip


def _percent(right_S: np.ndarray) -> str:
    """The mean of the seeds, and how far they spread where that can be seen."""
    mean, low, high = (f"{100 * value:.0f}" for value in (right_S.mean(), right_S.min(), right_S.max()))
    return mean if low == high else f"{mean} ({low}–{high})"


def look(result: Result) -> None:
    """There is no map to open."""
    return None


def draw(result: Result) -> Figure:
    figure, axes = new_figure(2, 2, height=6.2)
    heatmap(axes[0, 0], result.weights, rows=MONEY, columns=MONEY, top=1)
    axes[0, 0].set_title("Weights with no parameters")
    axes[0, 1].plot(SCALES, result.looked_up, marker="o", color=BLUE)
    axes[0, 1].set_xscale("log", base=2)
    axes[0, 1].set_xticks(SCALES, map(str, SCALES))
    axes[0, 1].set_yscale("log")
    axes[0, 1].set_xlabel("scale of the query")
    axes[0, 1].set_title("Error of the soft dictionary")
    colours = dict(zip(WITH_MATRICES, (ORANGE, PURPLE, GREEN, BLUE), strict=True))
    for way, colour in colours.items():
        right = 100 * result.right[way]
        axes[1, 0].plot(SIZES, right.mean(1), marker="o", color=colour, label=way)
        axes[1, 0].fill_between(SIZES, right.min(1), right.max(1), color=colour, alpha=0.2, linewidth=0)
    axes[1, 0].axhline(100 * result.right["none"].mean(), color=SOFT, linestyle="--", linewidth=1, label="none")
    axes[1, 0].set_xlabel("size of query, key and value")
    axes[1, 0].set_title("Right answers, per cent")
    axes[1, 0].set_ylim(20, 104)
    axes[1, 0].set_xscale("log", base=2)
    axes[1, 0].set_xticks(SIZES, map(str, SIZES))
    axes[1, 0].legend(fontsize=8, loc=(0.57, 0.45))
    heatmap(axes[1, 1], result.grid, rows=list(map(str, GRID)), columns=list(map(str, GRID)), top=1)
    axes[1, 1].set_ylabel("size of the key")
    axes[1, 1].set_xlabel("size of the value")
    axes[1, 1].set_title("Share right, three matrices")
    return figure
