"""Lesson 10: what *it* attends to, which heads carry its meaning, and the flip when one word changes."""

import math
from collections.abc import Sequence

import numpy as np

from ..lens import all_heads, mean_outputs
from ..lens.changes.choices import Ablations, Choice, margins
from ..lens.heads.role_scores import heads_of_roles
from ..passes.hooks import Head
from ..tokenizer.words import token_spans
from .figures import layer_name
from .held_out import Pronouns, clearest, ids_of, measured, named, pronouns, role_checks, role_table
from .lesson import SENTENCE, Check, Checks, CurvePanel, Estimate, Exhibits, Figures, Look, Table, Workbench, head_map

# L layers, H heads, N sentences, P pairs

FAMILIES = {"easy": "the cat and the street", "fit": "the trophy and the suitcase", "chase": "the goat and the wolf"}
PLACES = ("the changed word", "the two nouns", "it", "all words")

FLIPS = 0.9  # share of minimal pairs with both pronouns correct
CARRIES = 0.5  # share of pronouns that one head must flip to carry them
FEW = 3  # heads that are tried together


def places(bench: Workbench, pronoun: Pronouns) -> dict[str, Sequence[Sequence[int]]]:
    """For each of PLACES and each pair its source tokens."""
    found_at = []
    for receiver, donor in pronoun.pairs:
        ids, others = (pronoun.choices[number].source_ids for number in (receiver, donor))
        story = pronoun.stories[receiver]
        tokens = token_spans(bench.tokenizer, list(ids), story.source, language="en")
        nouns = {word for word, role in story.roles if role in ("agent", "patient", "recipient")}
        it = {one.pronoun for one in story.antecedents}
        found_at.append(([i for i, id in enumerate(ids) if id != others[i]],
                         *([i for i, token in enumerate(tokens) if token.word in words] for words in (nouns, it)),
                         range(len(ids))))
    return dict(zip(PLACES, zip(*found_at, strict=True), strict=True))


SHOWN = (Pronouns.flip_rate,)


def measure(bench: Workbench) -> Figures:
    dev, test = pronouns(bench)
    heads = all_heads(bench.model)
    bench.report_progress("patching each head from one sentence into another")
    on_dev = [dev.flip_rate(heads=[head]).value for head in heads]
    best = [int(i) for i in np.argsort(-np.nan_to_num(on_dev), kind="stable")[:FEW]]
    flipped = [test.flip_rate(heads=[head]) for head in heads]
    bench.report_progress("ablating each head")
    step = math.ceil(len(test.choices) / bench.pick(200, 16))
    right, costs, whole = ablated(bench, heads, dev.choices, test.choices[::step], test.groups[::step])
    by_place = test.flips_by_layer("encoder", bench.model.config.encoder_layers, places(bench, test))
    looks = [one for one in heads_of_roles(*measured(bench)) if one.role == "antecedent"]
    antecedent_head = clearest(one for one in looks if one.decidable)
    flips = {title: both_right(bench, test, family) for family, title in FAMILIES.items()}
    first = best[0]
    return Figures(
        flips=flips,
        worst=min(one.low for one in flips.values()), looks=looks, heads=heads, flipped=flipped, right=right,
        costs=costs, whole=whole, best=first, head=heads[first], turned=flipped[first], cost=costs[first],
        left=right[first], others=float(np.mean([one.value for i, one in enumerate(flipped) if i != first])),
        few=[heads[i] for i in best], together=test.flip_rate(heads=[heads[i] for i in best]),
        by_place=by_place, last={name: of[-1] for name, of in by_place.items()}, pairs=len(test.pairs),
        asked=antecedent_head, said=named(antecedent_head), look=Look(SENTENCE, *heads[first]),
    )


def ablated(
    bench: Workbench, heads: Sequence[Head], dev: Sequence[Choice], test: Sequence[Choice], of: Sequence[str]
) -> tuple[list[Estimate], list[Estimate], float]:
    """The shares of correct pronouns without each head, the losses this means, and the share with all heads."""
    ablations = Ablations(bench.model, test, mean_outputs(bench.model, *ids_of(dev)))
    whole = ablations.margins() > 0
    without = [ablations.margins([head]) > 0 for head in heads]
    return ([Estimate.of(right, of) for right in without],
            [Estimate.of(whole.astype(float) - right, of) for right in without], float(whole.mean()))


def both_right(bench: Workbench, pronoun: Pronouns, family: str) -> Estimate:
    """The share of pairs of variants of a sentence, with different pronouns, in which both are correct."""
    numbers = [i for i, story in enumerate(pronoun.stories) if story.family == family]
    right = dict(zip(numbers, margins(bench.model, [pronoun.choices[i] for i in numbers]) > 0, strict=True))
    both = [(pronoun.groups[a], right[a] and right[b]) for a in numbers for b in numbers
            if a < b and pronoun.groups[a] == pronoun.groups[b]
            and pronoun.choices[a].right != pronoun.choices[b].right]
    return Estimate.of([hit for _, hit in both], [group for group, _ in both])


def claims(f: Figures) -> Checks:
    return {
        "flips": [Check(f.worst, "≥", FLIPS, "lowest lower end of an interval")],
        "looks": role_checks(f.asked),
        "sufficient": [Check(f.turned.low, "≥", CARRIES, "lower end of the interval")],
        "necessary": [Check(f.cost.low, ">", 0, "lower end of the interval")],
        "state": [Check(f.last["it"].low, "≥", CARRIES, "lower end of the interval")],
    }


def exhibits(f: Figures) -> Exhibits:
    layers = range(len(f.by_place["it"]))
    return [
        role_table("The head with the most attention on the antecedent, in each kind of attention", f.looks),
        Table("Pronouns flipped by encoder states from another sentence",
              ("states of", *(f"after {layer_name(layer)}" for layer in layers)),
              [(name, *(f"{one:.0%}" for one in of)) for name, of in f.by_place.items()]),
        head_map("Pronouns flipped by a head", f.heads, [one.value for one in f.flipped], top=1.0),
        CurvePanel("Flipped by the states of", [layer + 1 for layer in layers], f.by_place, "after layer", top=1.04),
    ]
