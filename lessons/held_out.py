"""What the lessons on the trained model share: unseen sentences in two halves, their traces, and head roles.

Whatever is chosen (a head, a map) is chosen on the first half and reported on the second.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property

import numpy as np
from transformers import PreTrainedModel

from ..lens import add_views, trace_texts
from ..lens.changes.choices import Choice, MinimalPairs
from ..lens.heads.role_scores import LEAST, Measured, RoleScore, measure
from ..lens.records.intervals import Estimate
from ..lens.trace import Trace
from ..measures.gold import groups_of, in_halves, minimal_pairs, pronoun_choice, to_gold
from ..passes.hooks import Stack, supervised_heads
from ..storybook import StoryPair
from ..tokenizer.tokenization_seq2see import Seq2SeeTokenizer
from .figures import head_name
from .lesson import Check, Table
from .workbench import Workbench


@cache
def halves(bench: Workbench) -> tuple[list[StoryPair], list[StoryPair]]:
    """Sentences with unseen combinations of words: one half to choose on, one to report on."""
    return in_halves(bench.corpus.test, bench.pick(None, 48))


@cache
def traces(bench: Workbench) -> tuple[list[Trace], list[Trace]]:
    """The model's traces of both halves, forced to the correct translations; without logits, to save memory."""
    dev, test = ([replace(trace, logits=None) for trace in traced(bench.model, bench.tokenizer, stories)]
                 for stories in halves(bench))
    return dev, test


def traced(model: PreTrainedModel, tokenizer: Seq2SeeTokenizer, stories: Sequence[StoryPair]) -> list[Trace]:
    return trace_texts(model, tokenizer, [story.source for story in stories], [story.target for story in stories],
                       source_language="en", target_language="fr")


@cache
def groups(bench: Workbench) -> list[str]:
    """The groups of the second half: variants of one sentence share a group."""
    return groups_of(halves(bench)[1])


@cache
def traces_with_views(bench: Workbench) -> list[Trace]:
    """Some traces of the second half, with the views norm and contributions."""
    some = traces(bench)[1][: bench.pick(200, 16)]
    return add_views(bench.model, bench.tokenizer, some, views=["norm", "contributions"])


def ids_of(some: Sequence[Trace | Choice]) -> tuple[list[Sequence[int]], list[Sequence[int]]]:
    """Their source ids and target ids."""
    return [one.source_ids for one in some], [one.target_ids for one in some]


def measured_on(model: PreTrainedModel, tokenizer: Seq2SeeTokenizer, stories: Sequence[StoryPair]) -> Measured:
    """Every head's scores in every role."""
    return measure(traced(model, tokenizer, stories), map(to_gold, stories), supervised=supervised_heads(model))


@cache
def measured(bench: Workbench) -> tuple[Measured, Measured]:
    """The same on both halves."""
    dev, test = (measure(read, map(to_gold, stories), supervised=supervised_heads(bench.model))
                 for read, stories in zip(traces(bench), halves(bench), strict=True))
    return dev, test


@dataclass(frozen=True, eq=False)
class Pronouns:
    """Sentences whose *it* becomes *il* or *elle*: the step that chooses between the two, and minimal pairs among them.

    `pairs` are (receiver, donor), by number: two sentences that differ in a word or two, of equal length, whose
    pronouns differ. `patching` replaces activations of the receiver with those of the donor.
    """

    stories: tuple[StoryPair, ...]
    choices: tuple[Choice, ...]
    pairs: tuple[tuple[int, int], ...]
    patching: MinimalPairs

    @property
    def groups(self) -> list[str]:
        return [str(story.contrast_key) for story in self.stories]

    @cached_property
    def right_P(self) -> np.ndarray:
        """In which pairs the model prefers the receiver's correct pronoun."""
        return self.patching.margins() > 0

    def flip_rate(self, **what: object) -> Estimate:
        """The share of correct pronouns that flip when `what` is patched from the other sentence."""
        flipped_P = self.patching.margins(**what) < 0  # type: ignore[arg-type]
        groups = [self.groups[receiver] for (receiver, _), right in zip(self.pairs, self.right_P, strict=True) if right]
        return Estimate.of(flipped_P[self.right_P], groups)

    def flips_by_layer(self, stack: Stack, layers: int,
                       where: Mapping[str, Sequence[Sequence[int]]]) -> dict[str, list[Estimate]]:
        """The same for the states at some positions of each pair, by name and layer."""
        return {name: [self.flip_rate(layers=[(stack, layer)], where=[{stack: list(one)} for one in of])
                       for layer in range(layers)] for name, of in where.items()}


@cache
def pronouns(bench: Workbench) -> tuple[Pronouns, Pronouns]:
    """The pronouns of the contrast and easy sentences of both halves."""
    dev, test = (_pronouns(bench, stories, bench.pick(most, 12)) for stories, most in
                 zip(halves(bench), (80, 160), strict=True))
    return dev, test


def _pronouns(bench: Workbench, stories: Sequence[StoryPair], most: int) -> Pronouns:
    chosen = tuple(story for story in stories if story.kind in ("contrast", "easy"))
    choices = [pronoun_choice(story, bench.model, bench.tokenizer)[1] for story in chosen]
    pairs = minimal_pairs(list(chosen), choices)
    pairs = pairs[:: max(1, len(pairs) // most)][:most]
    patching = MinimalPairs(bench.model, [(choices[receiver], choices[donor]) for receiver, donor in pairs])
    return Pronouns(chosen, tuple(choices), tuple(pairs), patching)


def clearest(roles: Iterable[RoleScore]) -> RoleScore | None:
    """The head that is furthest above its baseline."""
    return max(roles, key=lambda one: one.score - one.baseline, default=None)


def role_table(caption: str, roles: Iterable[RoleScore], names: Mapping[str, str] | None = None, *,
               folded: bool = False) -> Table:
    """A row for each head in a role; `names` has other words for some roles."""
    return Table(
        caption, ("role", "head", "share of its attention", "uniform", "best fixed position", "wrong nouns"),
        [((names or {}).get(one.role, one.role), f"{head_name(one.head)}{one.supervision}",
          f"{Estimate(one.score, one.low, one.high):.1%}",
          *("–" if share is None else f"{share:.1%}" for share in (one.uniform, one.positional, one.rival)))
         for one in roles], folded)


def role_checks(one: RoleScore | None) -> list[Check]:
    """Whether a head has its role; None: not decidable here."""
    margin, above = (one.score - one.baseline, one.low - one.floor) if one else (math.nan, math.nan)
    return [Check(margin, "≥", LEAST, "margin over the best baseline"),
            Check(above, ">", 0, "lower end of the interval minus the uninformed baselines")]


def named(one: RoleScore | None) -> str:
    """The head of a role in words."""
    if one is None:
        return "Not decidable here: the role does not occur, or a head without information would already look there."
    return (f"The best head is {head_name(one.head)}{one.supervision}. It gives"
            f" {Estimate(one.score, one.low, one.high):.0%} of its attention there. The best baseline,"
            f" {compared(one)}, gives {one.baseline:.0%}.")


def compared(one: RoleScore) -> str:
    """The best baseline in words."""
    if one.baseline == one.rival:
        return "the attention of this head to the wrong nouns"
    return "equal attention to all words" if one.baseline == one.uniform else "attention to one fixed position"
