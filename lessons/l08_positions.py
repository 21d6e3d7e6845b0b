"""Lesson 8: attention sees a set of words; positions give it a sentence."""

import copy
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from matplotlib.figure import Figure
from transformers import PreTrainedModel

from ..lens import trace_texts
from ..lens.forcing import encode_source, encode_target
from ..measures.gold import NOUN_ROLES, in_halves
from ..modeling.positions import sinusoids
from ..storybook import StoryPair
from ..tokenizer.words import split_words
from .drawing import BLUE, ORANGE, heatmap, new_figure
from .old import Look, Table, Verdict, found, overall
from .small import Recipe, quality, task_of, trained, translate
from .workbench import Workbench

TITLE = "Positions"
CLAIM = ("Attention by itself knows nothing of word order; a fixed vector added to each embedding says where a word"
         " stands, and tells two equal words apart.")  # fmt: skip
HOW = """The trained model is copied and its table of positions filled with zeros. Then the pieces of a sentence are
shuffled. If the encoder knows nothing of order, the same vectors must come out, shuffled, and the decoder must say the
same with the same confidence. In the decoder the pieces written so far are shuffled, all but the last, and the last
state is compared after each layer.

Storybook has sentences of the very same words in another order, *The goat chased the wolf ...* and *The wolf chased the
goat ...*. How many of them are translated differently? And a small Transformer is trained with and without positions,
three seeds each, on sentences whose words mostly say by themselves who does what.

Of the sinusoids: does the dot product of two positions depend on their distance alone, and is a shift by k positions
one linear map for all? Do the word vectors leave the directions in which positions lie free? Can the position still be
read off the encoder's output (by ridge regression, fitted on some sentences and tried on others, of which none is a
variant of the former), and off that of the same network untrained?

At last two equal words: for each *the* that has a twin in its sentence, how much the encoder's heads look at its own
noun and how much at the other's, in the same sentences and with positions taken away. The picture shows the dot
products of positions, and how far the decoder's last state moves when what it has written is shuffled."""
TRY = "Swap two nouns in `seq2see look`: *The goat chased the wolf*, *The wolf chased the goat*. The same words."

SAME = 1e-4  # share of a vector's length that is rounding
MOVED = 0.01  # share that is a difference
WORSE = 0.5  # of pairs that order tells apart, and of exact translations
ROUNDING = 1e-5
READ_OFF = 0.8  # R² of positions read off the encoder's output
APART = 0.5  # of the words' variance that lies evenly in any so many directions
CONCERNED = 2.0  # times as much on its own noun as on the other's
SHOWN_POSITIONS = 24


@dataclass(frozen=True)
class Result:
    encoder_moved: tuple[float, float]  # of encoder states, with positions and without, when pieces are shuffled
    output_moved: tuple[float, float]  # largest change of a next-piece probability
    decoder_moved: np.ndarray  # [2,L]: of the last decoder state after each layer, with positions and without
    told_apart: tuple[float, float]  # share of pairs of the same words that are translated differently
    pairs: int
    exact: np.ndarray  # [2,seeds] percent: with positions, without
    chrf: np.ndarray  # [2,seeds]
    source: str
    written: tuple[str, str]  # by the first seed's two models
    by_distance: float  # largest spread of dot products at one distance, over the length squared
    shift: float  # largest error of the shift as a rotation
    dots: np.ndarray  # [P,P] of the first positions, over the length squared
    dimensions: int  # that hold 99 % of the variance of 40 positions
    overlap: float  # share of the word vectors' variance that lies in those
    width: int
    read_off: tuple[float, float, float]  # R² of the position from the encoder's output: as it is, without, untrained
    twins: tuple[float, float]  # mean length of the difference between two equal words: with positions, without
    nouns: np.ndarray  # [2,2]: weight on own and other noun; with positions, without
    sentences: int


def compute(bench: Workbench) -> Result:
    model, blind = bench.model, without_positions(bench.model)
    stories = bench.corpus.test[: bench.pick(60, 6)]
    moves = np.array([[shuffled(one, bench, story, number) for number, story in enumerate(stories[:20])]
                      for one in (model, blind)]).mean(1)  # fmt: skip
    task = task_of(bench)
    texts = [[translate(trained(bench, Recipe(positions=positions), seed).model, task.tokenizer,
                        [story.source for story in task.test]) for seed in bench.seeds] for positions in (True, False)]
    scores = [[quality(task.test, one) for one in row] for row in texts]
    pairs = same_words(bench)
    table_PD = sinusoids(512, model.config.d_model).double().numpy()
    words_VD = model.get_input_embeddings().weight.detach().double().numpy()
    bench.seed(0)
    untrained = type(model)(model.config).eval()
    twins = [story for story in bench.corpus.test if len(own_and_other(story)) > 1][: bench.pick(80, 4)]
    return Result(
        (moves[0, 0], moves[1, 0]), (moves[0, 1], moves[1, 1]), moves[:, 2:],
        (told_apart(model, pairs), told_apart(blind, pairs)), len(pairs),
        np.array([[one.exact for one in row] for row in scores]),
        np.array([[one.chrf for one in row] for row in scores]),
        task.test[0].source, (texts[0][0][0], texts[1][0][0]),
        by_distance(table_PD), shift_error(table_PD),
        (table_PD @ table_PD.T)[:SHOWN_POSITIONS, :SHOWN_POSITIONS] / (model.config.d_model / 2),
        len(directions(table_PD[:40])), overlap(words_VD, table_PD[:40]), model.config.d_model,
        (read_off(model, bench), read_off(blind, bench), read_off(untrained, bench)),
        (apart(model, bench, twins), apart(blind, bench, twins)),
        np.array([on_nouns(model, bench, twins), on_nouns(blind, bench, twins)]), len(twins),
    )  # fmt: skip


def without_positions(model: PreTrainedModel) -> PreTrainedModel:
    """A copy whose positions are all zero."""
    blind = copy.deepcopy(model)
    for side in (blind.model.encoder, blind.model.decoder):
        side.embedder.positions.table_PD.zero_()
    return blind


@torch.no_grad()
def shuffled(model: PreTrainedModel, bench: Workbench, story: StoryPair, number: int) -> list[float]:
    """How far the encoder's states move, the decoder's probabilities, and its last state after each layer."""
    source = torch.tensor([encode_source(bench.tokenizer, story.source)])
    target = torch.tensor([[1, *encode_target(bench.tokenizer, story.target, language="fr", first=None)[:-1]]])
    rng = bench.seed(number)
    order = torch.from_numpy(rng.permutation(source.shape[1]))
    memory, mixed = (model.model.encoder(input_ids=ids).last_hidden_state for ids in (source, source[:, order]))
    moved = float((memory[:, order] - mixed).norm() / memory.norm())
    before, after = (model(encoder_outputs=(states,), decoder_input_ids=target).logits.softmax(-1)
                     for states in (memory, mixed))  # fmt: skip
    prefix = torch.cat([torch.from_numpy(rng.permutation(target.shape[1] - 1)), torch.tensor([target.shape[1] - 1])])
    layers = [model.model.decoder(input_ids=ids, encoder_hidden_states=memory, output_hidden_states=True).hidden_states
              for ids in (target, target[:, prefix])]  # fmt: skip
    last = [float((a[0, -1] - b[0, -1]).norm() / a[0, -1].norm()) for a, b in zip(*layers, strict=True)]
    return [moved, float((before - after).abs().max()), *last[1:]]


def same_words(bench: Workbench) -> list[tuple[list[int], list[int]]]:
    """Pairs of sources that have the same pieces in another order."""
    groups: dict[tuple[int, ...], list[list[int]]] = defaultdict(list)
    for story in (*bench.corpus.test, *bench.corpus.val):
        ids = encode_source(bench.tokenizer, story.source.casefold())
        groups[tuple(sorted(ids))].append(ids)
    return [(group[0], group[1]) for group in groups.values() if len(group) > 1][: bench.pick(40, 4)]


def told_apart(model: PreTrainedModel, pairs: Sequence[tuple[list[int], list[int]]]) -> float:
    """The share of pairs that are translated differently."""
    differ = 0
    for pair in pairs:
        first, second = (model.generate(torch.tensor([ids]), num_beams=1, max_length=40)[0].tolist() for ids in pair)
        differ += first != second
    return differ / len(pairs) if pairs else float("nan")


def by_distance(table_PD: np.ndarray) -> float:
    """How much dot products at one distance differ, at most, in shares of a position's squared length."""
    dots_PP = table_PD @ table_PD.T
    spread = max(float(np.ptp(np.diagonal(dots_PP, offset))) for offset in range(len(dots_PP) - 1))
    return spread / float(dots_PP[0, 0])


def shift_error(table_PD: np.ndarray, by: int = 5) -> float:
    """How far one rotation, the same for all, misses the position `by` later."""
    angle_E = by / 10_000.0 ** (np.arange(0, table_PD.shape[1], 2) / table_PD.shape[1])
    sine_PE, cosine_PE = table_PD[:-by, 0::2], table_PD[:-by, 1::2]
    moved_PD = np.empty_like(table_PD[by:])
    moved_PD[:, 0::2] = sine_PE * np.cos(angle_E) + cosine_PE * np.sin(angle_E)
    moved_PD[:, 1::2] = cosine_PE * np.cos(angle_E) - sine_PE * np.sin(angle_E)
    return float(np.abs(moved_PD - table_PD[by:]).max())


SHOWN = (without_positions, by_distance, shift_error)


def directions(table_PD: np.ndarray) -> np.ndarray:
    """The directions [K,D] that hold 99 % of the variance of these positions."""
    _, sizes, found_DD = np.linalg.svd(table_PD - table_PD.mean(0), full_matrices=False)
    count = int((np.cumsum(sizes**2) / (sizes**2).sum() < 0.99).sum()) + 1
    kept_KD: np.ndarray = found_DD[:count]
    return kept_KD


def overlap(words_VD: np.ndarray, table_PD: np.ndarray) -> float:
    """The share of the words' variance that lies in the directions of these positions."""
    centred_VD = words_VD - words_VD.mean(0)
    return float(((centred_VD @ directions(table_PD).T) ** 2).sum() / (centred_VD**2).sum())


@torch.no_grad()
def read_off(model: PreTrainedModel, bench: Workbench) -> float:
    """R² of the position, read by ridge regression off the encoder's output, on sentences it was not fitted on."""
    halves = [[model.model.encoder(input_ids=torch.tensor([encode_source(bench.tokenizer, story.source)]))
               .last_hidden_state[0, :-1].double().numpy() for story in half]
              for half in in_halves(bench.corpus.test, bench.pick(100, 6))]  # fmt: skip
    (x, y), (x_test, y_test) = ((np.concatenate([np.c_[part, np.ones(len(part))] for part in half]),
                                 np.concatenate([np.arange(len(part)) for part in half])) for half in halves)
    weights = np.linalg.solve(x.T @ x + np.eye(x.shape[1]), x.T @ y)
    return float(1 - ((x_test @ weights - y_test) ** 2).sum() / ((y_test - y_test.mean()) ** 2).sum())


def own_and_other(story: StoryPair) -> list[tuple[int, int, int]]:
    """For each lower-case *the* of a noun phrase: its word, its noun, and the noun of another *the* in the sentence."""
    words = [word.text for word in split_words(story.source, language="en")]
    nouns = sorted(number for number, role in story.roles if role in NOUN_ROLES)
    owned = {next((noun for noun in nouns if noun > number), -1): number
             for number, word in enumerate(words) if word == "the"}  # fmt: skip
    owned.pop(-1, None)
    return [(the, noun, other) for noun, the in owned.items() for other in owned if other != noun]


def apart(model: PreTrainedModel, bench: Workbench, stories: Sequence[StoryPair]) -> float:
    """How far the states of two equal words are apart, in shares of their length, after the encoder."""
    distances = []
    for story in stories:
        ids = encode_source(bench.tokenizer, story.source)
        repeated = next((piece for piece in ids if ids.count(piece) > 1), None)
        if repeated is None:
            continue
        with torch.no_grad():
            states = model.model.encoder(input_ids=torch.tensor([ids])).last_hidden_state[0]
        first = ids.index(repeated)
        second = ids.index(repeated, first + 1)
        distances.append(float((states[first] - states[second]).norm() / states[first].norm()))
    return float(np.mean(distances)) if distances else float("nan")


def on_nouns(model: PreTrainedModel, bench: Workbench, stories: Sequence[StoryPair]) -> tuple[float, float]:
    """The weight of *the* on its own noun and on the other's, mean over the encoder's heads."""
    traces = trace_texts(model, bench.tokenizer, [story.source for story in stories],
                         [story.target for story in stories], source_language="en", target_language="fr")  # fmt: skip
    weights = []
    for trace, story in zip(traces, stories, strict=True):
        by_piece = trace.maps("encoder").mean((0, 1))
        word = np.array([-1 if piece.word is None else piece.word for piece in trace.source])
        for the, own, other in own_and_other(story):
            row = by_piece[word == the].mean(0)
            weights.append((float(row[word == own].sum()), float(row[word == other].sum())))
    own_weight, other_weight = np.array(weights).mean(0)
    return float(own_weight), float(other_weight)


def judge(result: Result) -> Verdict:
    exact = result.exact.mean(1)
    blind = result.encoder_moved[1] < SAME and result.output_moved[1] < SAME
    own, other = result.nouns[0]
    findings = (
        found("Without positions the encoder sees a set.", blind and result.encoder_moved[0] > MOVED,
              f"With positions, shuffling a sentence moves the encoder's states by {result.encoder_moved[0]:.0%} of"
              f" their length; without, by {result.encoder_moved[1]:.0e}, and no probability of the decoder by more"
              f" than {result.output_moved[1]:.0e} (allowed: {SAME:.0e})."),
        found("Without positions the decoder sees a set too.", bool(result.decoder_moved[1].max() < SAME),
              f"Shuffle what it has written, and its last state moves by {result.decoder_moved[1, 0]:.0e} after the"
              f" first layer, but by {result.decoder_moved[1, -1]:.0%} after the last (allowed: {SAME:.0e}). The causal"
              " mask knows order: from the second layer on, each word has read those before it."),
        found("Without positions, other orders of the same words mean the same.",
              result.told_apart[1] == 0 and result.told_apart[0] > WORSE,
              f"Of {result.pairs} pairs of such sentences the model translates {result.told_apart[0]:.0%} differently"
              f" with positions (wanted: more than {WORSE:.0%}) and {result.told_apart[1]:.0%} without."),
        found("A model trained without positions translates badly.", bool(exact[1] < WORSE * exact[0]),
              f"Trained without, the small model translates {exact[1]:.1f} % of unseen sentences exactly, with them"
              f" {exact[0]:.1f} % (badly: below {WORSE:.0%} of that). Here the words mostly say who does what."),
        found("A sinusoid says how far words are apart, and a shift is one linear map.",
              result.by_distance < ROUNDING and result.shift < ROUNDING,
              f"At one distance, dot products of positions differ by {result.by_distance:.0e} of their length squared;"
              f" one rotation moves every position five on, {result.shift:.0e} off at most (allowed: {ROUNDING:.0e},"
              " rounding)."),
        found("The position is still there when the encoder is done.", result.read_off[0] > READ_OFF,
              f"A straight line through its output explains {result.read_off[0]:.0%} of the variance of the position"
              f" (wanted: {READ_OFF:.0%}), without positions {max(result.read_off[1], 0):.0%}; with positions and"
              f" before any training it is {max(result.read_off[2], 0):.0%} already."),
        found("Words and positions are kept apart.", result.overlap < APART * result.dimensions / result.width,
              f"99% of the variance of the first 40 positions lies in {result.dimensions} of {result.width} directions,"
              f" and there {result.overlap:.0%} of the variance of the word vectors; evenly it would be"
              f" {result.dimensions / result.width:.0%} (kept apart: below {APART:.0%} of that). Their tables are"
              " separate, but their sum is one vector."),
        found("Positions tell two equal words apart.", result.twins[0] > MOVED > SAME > result.twins[1],
              f"Two equal words of a sentence are {result.twins[0]:.0%} of their length apart after the encoder;"
              f" without positions, {result.twins[1]:.0e}."),
        found("Of two *the*, each looks at its own noun rather than the other's.", bool(own > CONCERNED * other),
              f"Mean over heads: {own:.1%} of its weight on its own noun and {other:.1%} on the other's (wanted:"
              f" {CONCERNED:.0f} times as much); without positions {result.nouns[1, 0]:.1%} and"
              f" {result.nouns[1, 1]:.1%}."),
    )  # fmt: skip
    return overall(findings, (
        f"Without positions the encoder gives shuffled words the same vectors (to {result.encoder_moved[1]:.0e}), and"
        f" {result.told_apart[1]:.0%} of sentences with the same words are told apart instead of"
        f" {result.told_apart[0]:.0%}. The decoder is not so blind: from its second layer on, the mask tells it order."
    ))


def tables(result: Result) -> tuple[Table, ...]:
    layers = [(f"after layer {layer}", float(result.decoder_moved[0, layer]), float(result.decoder_moved[1, layer]))
              for layer in range(result.decoder_moved.shape[1])]  # fmt: skip
    return (
        Table.of("Small models, unseen sentences", ("", "exact, %", "lowest", "highest", "chrF2"), [
            (name, float(exact.mean()), float(exact.min()), float(exact.max()), float(chrf.mean()))
            for name, exact, chrf in zip(("with positions", "without"), result.exact, result.chrf, strict=True)]),
        Table.of(result.source, ("model", "translation"), [
            ("with positions", result.written[0]), ("without", result.written[1])]),
        Table.of("How far the decoder's last state moves when what is written before it is shuffled",
                 ("", "with positions", "without"), layers),
        Table.of("The sinusoids", ("", "value"), [
            ("dimensions of a position", result.width),
            ("directions that hold 99 % of the variance of the first 40", result.dimensions),
            ("dot product of neighbours, over the length squared", float(result.dots[0, 1])),
            ("of positions 8 apart", float(result.dots[0, 8]))]),
        Table.of(f"Weight of *the* in {result.sentences} sentences with two, mean over encoder heads, %",
                 ("", "own noun", "other noun"), [
            ("with positions", *(100 * result.nouns[0])), ("without", *(100 * result.nouns[1]))]),
    )  # fmt: skip


def look(result: Result) -> Look:
    """Any map of the encoder: two words of it may be swapped."""
    return Look("The goat chased the wolf because it was hungry.", "encoder")


def draw(result: Result) -> Figure:
    figure, (left, right) = new_figure(2)
    ticks = [str(place) if place % 4 == 0 else "" for place in range(len(result.dots))]
    heatmap(left, result.dots, rows=ticks, columns=ticks, top=1.0, numbers=False)
    left.set_title("Dot products of positions")
    left.set_aspect("equal")
    layers = np.arange(result.decoder_moved.shape[1])
    for row, (name, colour) in enumerate((("with positions", BLUE), ("without", ORANGE))):
        right.bar(layers + (row - 0.5) * 0.36, 100 * result.decoder_moved[row], 0.34, color=colour, label=name)
    right.set_xticks(layers, [f"layer {layer}" for layer in layers])
    right.set_title("State moved by shuffling, %")
    right.grid(axis="x", visible=False)
    right.legend()
    return figure
