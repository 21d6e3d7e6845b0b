"""Lesson 15: what *it* looks at, which heads carry what it means, and the flip when one word changes."""

from dataclasses import dataclass, replace

import numpy as np
from matplotlib.figure import Figure

from ..lens import all_heads, mean_outputs
from ..lens.ablation import Head
from ..lens.by_words import word_map
from ..lens.choices import margins
from ..lens.effects import Ablations, told_apart
from ..lens.heads import RoleScore, heads_of_roles
from ..lens.kinds import KINDS, Kind
from ..lens.patching import Stack
from ..lens.what_if import WhatIf
from ..tokenizer.words import piece_spans
from . import keys
from .drawing import BLUE, GREEN, ORANGE, PURPLE, heatmap, new_figure
from .held_out import Pronouns, Share, measured, pronouns, turned
from .old import Finding, Look, Table, Verdict, Word, found, overall, undecided
from .workbench import Workbench

# L layers, H heads, N sentences, P pairs

TITLE = "It"
CLAIM = ("In *The cat did not cross the street because it was too tired* the word *it* looks at the cat, takes"
         " on what it finds there, and so stands for the cat; with *too wide* it stands for the street.")
HOW = """French has to decide: *il* for the cat (*le chat*), *elle* for the street (*la rue*). In the corpus the nouns
change places and both may be either, so that no single word tells. The model is forced to the right translation up to
the pronoun, and asked for the log-probability of *il* against *elle* there.

Where it looks is read off the maps of unseen sentences: from *it* in the encoder, from the step that writes the pronoun
in the decoder and in cross-attention. A head is said to look at what it stands for if it does so more than at the other
noun and more than a head that always looks at the best fixed place.

The notes have the keys answer a question: *I am one, and can be tired*. Whether they do is asked of each head's keys at
the nouns of unseen sentences: is a noun's key nearer to the mean key of animals and people or to that of things, the
noun itself left out of both; and the same for one and many.

What carries the decision is found by putting something of one sentence into another that differs in a word or two and
has the other pronoun: all that one head hands over, or the encoder's states at some of the words after some layer. The
pronoun has turned if the other one becomes more probable. And one head at a time is replaced by its mean over other
sentences. Heads are chosen on one half of the sentences and reported on the other. Layers and heads count from 0."""
TRY = ("`seq2see heads` does this for every head and for sets of heads, beside random sets. Then write your own minimal"
       " pairs: *The goat fled from the wolf because it was hungry*.")  # fmt: skip

# Each with the word that makes the flip, and the two nouns.
EXAMPLES = (
    ("The cat did not cross the street because it was too tired.", ("cat", "street", "cross")),
    ("The cat did not cross the street because it was too wide.", ("cat", "street", "cross")),
    ("The trophy did not fit in the suitcase because it was too big.", ("trophy", "suitcase", "fit")),
    ("The trophy did not fit in the suitcase because it was too small.", ("trophy", "suitcase", "fit")),
    ("The goat chased the wolf because it was hungry.", ("goat", "wolf", "chased")),
    ("The goat fled from the wolf because it was hungry.", ("goat", "wolf", "fled")),
)
FAMILIES = {"easy": "the cat and the street", "fit": "the trophy and the suitcase", "chase": "the goat and the wolf"}
NOTED = 0.9  # of its attention that *it* is said to give the cat, 0.1 the street, and 0 what it did not cross

FLIPS = 0.9  # share of minimal pairs with both pronouns right, from which on the flip is had
TOLD = 0.9  # share of nouns of which a key must say rightly what they are
GUESSING = 0.5
CARRIES = 0.5  # share of pronouns that one head must turn to carry them
FEW = 3  # heads that are tried together
PLACES = ("the word that changed", "the two nouns", "it", "all words")


@dataclass(frozen=True)
class Example:
    """A sentence, what the model makes of it, and where *it* looks: the largest and the mean weight of all heads of the
    encoder on the first noun, on the second and on the verb."""

    source: str
    french: str
    seen: bool  # word for word in training
    words: tuple[str, str, str]
    largest: tuple[float, ...]
    mean: tuple[float, ...]


@dataclass(frozen=True)
class Result:
    examples: tuple[Example, ...]
    flips: dict[str, Share]  # by family: minimal pairs whose pronouns are both right
    looks: dict[Kind, RoleScore]  # the head that looks most at the antecedent, on the other half
    heads: tuple[Head, ...]
    turned: tuple[Share, ...]  # by head: pronouns that turn with what the head did for the other sentence
    right: tuple[Share, ...]  # by head: pronouns that are right without it
    costs: tuple[Share, ...]  # by head: how many fewer than with it
    apart: tuple[float, ...]  # and how well the two are told apart, 0.5 by chance
    whole: Share  # right with all heads
    best: tuple[int, ...]  # the heads that turned most on the first half, the first of them first
    together: Share  # pronouns that turn with all of these
    by_place: dict[str, tuple[Share, ...]]  # of PLACES: pronouns that turn, by encoder layer
    pairs: int
    alive: keys.Told  # by the key of a noun: whether it is an animal or a person
    one: keys.Told  # and whether it is in the singular


def places(bench: Workbench, pronoun: Pronouns) -> dict[str, list[dict[Stack, list[int]]]]:
    """For each of PLACES and each pair its source pieces."""
    found_at: dict[str, list[dict[Stack, list[int]]]] = {name: [] for name in PLACES}
    for receiver, donor in pronoun.pairs:
        ids, others = (pronoun.choices[number].source_ids for number in (receiver, donor))
        story = pronoun.stories[receiver]
        pieces = piece_spans(bench.tokenizer, list(ids), story.source, language="en")
        it = {one.pronoun for one in story.antecedents}
        nouns = {word for word, role in story.roles if role in ("agent", "patient", "recipient")}
        chosen = {
            "the word that changed": [i for i, piece in enumerate(ids) if piece != others[i]],
            "the two nouns": [i for i, piece in enumerate(pieces) if piece.word in nouns],
            "it": [i for i, piece in enumerate(pieces) if piece.word in it],
            "all words": list(range(len(ids))),
        }
        for name, positions in chosen.items():
            found_at[name].append({"encoder": positions})
    return found_at


SHOWN = (turned,)


def compute(bench: Workbench) -> Result:
    dev, test = pronouns(bench)
    heads = all_heads(bench.model)
    bench.say("putting each head of one sentence into another")
    dev_own, own = dev.patching.margins(), test.patching.margins()
    on_dev = [turned(dev, dev_own, heads=[head]).value for head in heads]
    best = tuple(map(int, np.argsort(-np.nan_to_num(on_dev), kind="stable")[:FEW]))
    by_head = tuple(turned(test, own, heads=[head]) for head in heads)
    bench.say("taking each head away")
    few = _some(test, bench.pick(200, 16))
    ablations = Ablations(bench.model, few.choices, _means(bench, dev))
    without = [ablations.margins([head]) for head in heads]
    whole = ablations.margins() > 0
    where = places(bench, test)
    layers = range(bench.model.config.encoder_layers)
    dev_roles, test_roles = measured(bench)
    return Result(
        examples=tuple(_example(bench, *example) for example in EXAMPLES),
        flips={family: _flips(bench, test, family) for family in FAMILIES},
        looks={one.head.kind: one for one in heads_of_roles(dev_roles, test_roles) if one.role == "antecedent"},
        heads=tuple(heads), turned=by_head,
        right=tuple(Share.of(margin > 0, few.groups) for margin in without),
        costs=tuple(Share.of(whole.astype(float) - (margin > 0), few.groups) for margin in without),
        apart=tuple(_apart(margin, few.is_il) for margin in without),
        whole=Share.of(whole, few.groups),
        best=best,
        together=turned(test, own, heads=[heads[i] for i in best]),
        by_place={name: tuple(turned(test, own, layers=[("encoder", layer)], where=where[name]) for layer in layers)
                  for name in PLACES},
        pairs=len(own),
        alive=keys.told_by_keys(bench, keys.alive),
        one=keys.told_by_keys(bench, keys.one),
    )


def _some(pronoun: Pronouns, most: int) -> Pronouns:
    """Every so many of the sentences, without their pairs."""
    step = max(1, len(pronoun.stories) // most)
    return replace(pronoun, stories=pronoun.stories[::step], choices=pronoun.choices[::step],
                   is_il=pronoun.is_il[::step], pairs=())


def _means(bench: Workbench, pronoun: Pronouns) -> dict:
    return mean_outputs(bench.model, [one.source_ids for one in pronoun.choices],
                        [one.target_ids for one in pronoun.choices])


def _apart(margins_N: np.ndarray, is_il: np.ndarray) -> float:
    return float("nan") if is_il.all() or not is_il.any() else told_apart(margins_N, is_il)


def _flips(bench: Workbench, pronoun: Pronouns, family: str) -> Share:
    """Of any two variants of a sentence with different pronouns: whether both are right."""
    numbers = [i for i, story in enumerate(pronoun.stories) if story.family == family]
    right = dict(zip(numbers, margins(bench.model, [pronoun.choices[i] for i in numbers]) > 0, strict=True))
    both = [(pronoun.groups[a], right[a] and right[b]) for a in numbers for b in numbers
            if a < b and pronoun.groups[a] == pronoun.groups[b] and pronoun.is_il[a] != pronoun.is_il[b]]
    return Share.of([hit for _, hit in both], [group for group, _ in both])


def _example(bench: Workbench, source: str, words: tuple[str, str, str]) -> Example:
    trace = WhatIf(bench.model, bench.tokenizer, "en", "fr").as_it_is(source)
    by_words = word_map(trace, "encoder")
    names = [unit.text.casefold() for unit in by_words.rows]
    weights_LH3 = by_words.maps[:, :, names.index("it")][..., [names.index(word) for word in words]]
    return Example(source, trace.target_text, any(pair.source == source for pair in bench.corpus.train), words,
                   tuple(weights_LH3.max((0, 1)).tolist()), tuple(weights_LH3.mean((0, 1)).tolist()))


def judge(result: Result) -> Verdict:
    best, turned_by = result.heads[result.best[0]], result.turned[result.best[0]]
    it, nouns, changed, every = (result.by_place[name][-1] for name in ("it", *PLACES[1::-1], "all words"))
    lowest = min(share.low for share in result.flips.values())
    flips = ", ".join(f"{FAMILIES[family]} {share}" for family, share in result.flips.items())
    return overall((
        found("One word changes, and the pronoun flips.", lowest >= FLIPS,
              f"Of two variants of an unseen sentence both pronouns are right: {flips} (wanted: {FLIPS:.0%} at the"
              " lower end of each interval)."),
        _looks(result),
        _keys(result),
        _carries(result),
        found("In the encoder *it* takes on what it stands for, and the pronoun comes from there.", it.low >= CARRIES,
              f"The state of *it* after the encoder's last layer, put in from the other sentence, turns {it} of the"
              f" pronouns; that of the word that changed {changed}, those of the two nouns {nouns}, all states {every}"
              f" (wanted: {CARRIES:.0%} for *it*). What all do not turn, the French already written decides."),
    ), (
        f"Of {result.pairs} pronouns {turned_by.value:.0%} turn with the one head {best}, {result.together.value:.0%}"
        f" with {FEW} heads, {it.value:.0%} with the encoder's state of *it*. The most that a head looks at the right"
        f" noun is {max((one.score for one in result.looks.values()), default=0):.0%} (the notes: {NOTED:.0%}). The"
        f" lowest share of pairs of which both are right is {min(share.value for share in result.flips.values()):.0%}."
    ))


def _looks(result: Result) -> Finding:
    claim = "It looks at the noun that it stands for."
    asked = [one for one in result.looks.values() if one.decidable]
    if not asked:
        return undecided(claim, "A head that always looks at the best fixed place does so nearly as much as any could.")
    holding = [one for one in asked if one.holds]
    looks = "; ".join(
        f"{one.head}{one.taught} {one.score:.1%} ({one.low:.1%} to {one.high:.1%}) on that noun,"
        f" {one.rival or 0:.1%} on the other"
        for one in asked)
    cat = result.examples[0]
    word: Word = "holds" if len(holding) == len(asked) else "holds partly" if holding else "does not hold here"
    return found(
        claim, word,
        f"The heads that look there most, in each kind of attention where one could show it: {looks}. In the"
        f" sentence of the cat no head of the encoder gives the cat more than {cat.largest[0]:.0%}, the street more"
        f" than {cat.largest[1]:.0%} or *cross* more than {cat.largest[2]:.0%}; the notes say {NOTED:.0%}, 10% and 0%.")


def _carries(result: Result) -> Finding:
    """Whether one head is enough to turn the pronoun, and needed to get it right."""
    first = result.best[0]
    best, turned_by, cost = result.heads[first], result.turned[first], result.costs[first]
    names = ", ".join(str(result.heads[i]) for i in result.best)
    others = float(np.mean([one.value for i, one in enumerate(result.turned) if i != first]))
    enough, needed = turned_by.low >= CARRIES, cost.low > 0
    word: Word = ("holds" if enough and needed else
                  "holds partly" if enough or result.together.low >= CARRIES else "does not hold here")
    free = " Its loss costs nothing that can be measured: it is sufficient, and not necessary." if enough else ""
    return found(
        "One head carries what the pronoun stands for.", word,
        f"What {best} does for the other sentence, put in, turns {turned_by} of the pronouns, another head on average"
        f" {others:.1%}, the {FEW} heads {names} together {result.together} (wanted: {CARRIES:.0%} at the lower end, by"
        f" one head whose loss costs something; by {FEW}, or without a cost, it holds partly). Replaced by its mean,"
        f" {best} leaves {result.right[first]} of the pronouns right, of {result.whole.value:.1%} with all heads: a"
        f" cost of {cost}.{'' if needed else free}")


def _keys(result: Result) -> Finding:
    lowest = min(result.alive.low, result.one.low)
    word: Word = "holds" if lowest >= TOLD else "holds partly" if lowest > GUESSING else "does not hold here"
    return found(
        "A key says of its noun whether it can be tired, and that it is one.", word,
        f"Told by which class's mean key, of other nouns, is nearer: animals and people, and things, by {result.alive};"
        f" one, and many, by {result.one} (wanted: {TOLD:.0%} of each at the lower end; above half it holds partly).")


def tables(result: Result) -> tuple[Table, ...]:
    grid = [(str(head), str(result.turned[i]), str(result.right[i]), result.apart[i])
            for i, head in enumerate(result.heads)]
    ranked = sorted(grid, key=lambda row: row[3])[:6]
    return (
        Table.of("The sentences, and where *it* looks in the encoder: the largest and the mean weight over its heads", (
            "English", "the model's French", "in training", "first noun", "second noun", "verb"), [
                (one.source, one.french, one.seen, *(
                    f"{word}: at most {most:.0%}, mean {mean:.0%}" for word, most, mean in
                    zip(one.words, one.largest, one.mean, strict=True)))
                for one in result.examples]),
        Table.of("The six heads without which il and elle are told apart worst (1: always, 0.5: by chance)", (
            "head", "pronouns turned by it", "right without it", "told apart without it"), ranked),
        Table.of("Pronouns that turn when the encoder's states at some words are those of the other sentence", (
            "states of", *(f"after layer {layer}" for layer in range(len(result.by_place["it"])))),
            [(name, *map(str, shares)) for name, shares in result.by_place.items()]),
    )


def look(result: Result) -> Look:
    """The head that turns the pronoun most often."""
    return Look(EXAMPLES[0][0], *result.heads[result.best[0]])


def draw(result: Result) -> Figure:
    figure, (left, right) = new_figure(2, height=4.4, width_ratios=(3, 2))
    columns = max(head.head for head in result.heads) + 1
    rows = sorted({(KINDS.index(head.kind), head.layer) for head in result.heads})
    grid = np.full((len(rows), columns), np.nan)
    for head, share in zip(result.heads, result.turned, strict=True):
        grid[rows.index((KINDS.index(head.kind), head.layer)), head.head] = share.value
    heatmap(left, grid, rows=[f"{KINDS[kind]} {layer}" for kind, layer in rows],
            columns=[str(head) for head in range(columns)], top=1.0)
    left.set_title("Pronouns turned by one head", pad=22)
    for (name, shares), colour in zip(result.by_place.items(), (ORANGE, BLUE, GREEN, PURPLE), strict=True):
        layers = range(len(shares))
        values, low, high = np.array([(one.value, one.low, one.high) for one in shares]).T
        right.plot(layers, values, color=colour, marker="o", label=name)
        right.fill_between(layers, low, high, color=colour, alpha=0.15, linewidth=0)
    right.set_xticks(layers)
    right.set_xlabel("after encoder layer")
    right.set_ylim(-0.04, 1.04)
    right.set_title("Turned by the states of")
    right.legend(fontsize=8, loc="center left")
    return figure
