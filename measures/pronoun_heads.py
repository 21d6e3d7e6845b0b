"""What every head does for the pronoun, by intervention, and the roles that its maps suggest.

Measured on storybook's held-out combinations: everything is chosen on one half and reported on the other.  Pronouns
are scored with teacher forcing, at the step where *il* and *elle* diverge, which makes hundreds of control sets of
heads affordable; chrF with greedy translation.  Every figure has a 95 % interval, by bootstrap over sentences.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, combinations, product
from math import comb, prod
from random import Random
from typing import Any, Literal

import numpy as np
import torch
from sacrebleu import sentence_chrf
from tqdm.auto import tqdm

from seq2see.errors import UserError
from ..lens.changes.choices import Ablations, MinimalPairs
from ..lens.changes.interventions import ablate, mean_outputs
from ..lens.records.intervals import Estimate, roc_auc, roc_auc_interval, share_interval
from ..passes.hooks import Head, all_heads
from ..storybook import StoryPair
from ..storybook.senses import noun_forms
from ..translate.translator import Translator
from .aligner import Aligner
from .gold import groups_of, minimal_pairs, pronoun_choice, story_ids, to_gold
from .head_roles import estimate, measure_roles

LARGEST = 3  # heads of a small set
NEEDED = 0.75  # a set carries the pronoun if without it the AUC of il and elle is at most this (0.5: chance)
ENOUGH = 0.5  # a set carries the pronoun if patching it from the other sentence flips at least this share of pronouns
TRANSLATED = 200  # sentences of the test half for chrF
DRAWS = 200  # sets of a control, where there are more
FEW = 19  # with fewer sets no p could be as low as 0.05

Alike = Literal["layers", "kinds", "any"]
Set = tuple[Head, ...]


class Half:
    """The contrast sentences of one half: their choices, which ones are *il*, and the minimal pairs among them."""

    def __init__(self, aligner: Aligner, stories: Sequence[StoryPair], means: Mapping[Head, torch.Tensor]):
        contrasts = [story for story in stories if story.kind == "contrast"]  # in others a single word may decide
        model, languages = aligner.model, (aligner.source, aligner.target)
        made = [pronoun_choice(story, model, aligner.tokenizer, languages) for story in contrasts]
        choices = [one for _, one in made]
        self.is_il = np.array([name == "il" for name, _ in made])
        self.ablations = Ablations(model, choices, means)
        pairs = minimal_pairs(contrasts, choices)
        if not pairs or self.is_il.all() or not self.is_il.any():
            raise UserError(f"there is no minimal pair of equal length among {len(stories)} sentences; use more"
                            " sentences (--sentences 300), or a model with tokens for French words")
        self.pairs = MinimalPairs(model, [(choices[a], choices[b]) for a, b in pairs])
        self.pair_is_il = self.is_il[[a for a, _ in pairs]]
        self.own = self.pairs.margins()
        self._flipped: dict[tuple[Head, ...], np.ndarray] = {}
        self.groups = groups_of(contrasts)  # variants of a sentence
        self.pair_groups = [self.groups[a] for a, _ in pairs]

    def auc(self, heads: Sequence[Head] = ()) -> float:
        """The AUC of il and elle without these heads."""
        return roc_auc(self.ablations.margins(heads), self.is_il)

    def auc_interval(self, *sets: Sequence[Head]) -> tuple[float, float]:
        """The interval of the mean of `auc` over some sets."""
        return roc_auc_interval(np.stack(list(map(self.ablations.margins, sets))), self.is_il, self.groups)

    def auc_estimate(self, heads: Sequence[Head]) -> Estimate:
        return Estimate(self.auc(heads), *self.auc_interval(heads))

    def without(self, heads: Sequence[Head] = ()) -> dict[str, Any]:
        """The effect of ablating these heads: the mean drop of the margin, log p(right) - log p(wrong); the AUC of il
        and elle; how often each is right."""
        margins = self.ablations.margins(heads)
        sides = {"il": self.is_il, "elle": ~self.is_il}
        return {"drop": estimate(self.ablations.margins() - margins, self.groups), "apart": self.auc_estimate(heads),
                "right": {name: estimate(margins > 0, self.groups, side) for name, side in sides.items()}}

    def flip_rates(self, heads: Sequence[Head]) -> dict[str, Estimate | None]:
        """The share of right pronouns, for each of them, that flips if these heads are patched from the other sentence;
        None if none was right."""
        flips = self._flips(heads)
        sides = {"il": self.pair_is_il, "elle": ~self.pair_is_il}
        return {name: estimate(flips, self.pair_groups, side & (self.own > 0)) for name, side in sides.items()}

    def flip_share(self, heads: Sequence[Head]) -> float:
        """The flip rate of both pronouns together; 0 if none was right."""
        flips = self._flips(heads)[self.own > 0]
        return float(flips.mean()) if len(flips) else 0.0

    def flip_estimate(self, *sets: Sequence[Head]) -> Estimate | None:
        """The mean of `flip_share` over some sets; None if none was right."""
        return estimate(np.mean(list(map(self._flips, sets)), axis=0), self.pair_groups, self.own > 0)

    def _flips(self, heads: Sequence[Head]) -> np.ndarray:
        key = tuple(sorted(heads))
        if key not in self._flipped:
            self._flipped[key] = self.pairs.margins(heads=key) < 0
        return self._flipped[key]


def measure_heads(translator: Translator, aligner: Aligner, dev_stories: Sequence[StoryPair],
                  test_stories: Sequence[StoryPair]) -> dict[str, Any]:
    """The full report on storybook, as plain data."""
    report, test = measure_pronouns(aligner, dev_stories, test_stories)
    dev, every = Half(aligner, dev_stories, test.ablations.means), all_heads(aligner.model)
    with translator.by_torch() as by_torch:  # heads are ablated in the PyTorch model
        chrf = _chrf(by_torch, aligner, test_stories[:TRANSLATED], every, test.ablations.means)
    return report | {
        "pronouns": {"dev": len(dev.is_il), "test": len(test.is_il)},
        "translated": min(TRANSLATED, len(test_stories)),
        "whole": report["whole"] | {"chrf": chrf[None]},
        "heads": [row | {"chrf": chrf[row["head"]]} for row in report["heads"]],
        "needed": _needed(every, dev, test), "largest": LARGEST,
        "enough": _enough(every, dev, test),
    }


def measure_pronouns(aligner: Aligner, dev_stories: Sequence[StoryPair],
                     test_stories: Sequence[StoryPair]) -> tuple[dict[str, Any], Half]:
    """The quick part of `measure_heads`: the effect of each single head on the pronoun, and its roles; no sets of
    heads, no translations.  Also the test half."""
    model, tokenizer, languages = aligner.model, aligner.tokenizer, (aligner.source, aligner.target)
    ids = [story_ids(story, model, tokenizer, languages) for story in dev_stories]
    test = Half(aligner, test_stories, mean_outputs(model, *map(list, zip(*ids, strict=True))))
    report = measure_roles(aligner, *(list(map(to_gold, some)) for some in (dev_stories, test_stories)),
                           groups=groups_of(test_stories))
    rows = [
        row | test.without([row["head"]]) | {"turned": test.flip_rates([row["head"]])}  # patched, from the other one
        for row in _progress(report["heads"], "One head at a time")
    ]
    return report | {
        "pronouns": {"test": len(test.is_il)}, "pairs": len(test.own), "nouns": noun_forms(),
        "whole": test.without(),
        "heads": sorted(rows, key=lambda row: row["drop"].value, reverse=True),
    }, test


def _chrf(
    translator: Translator, aligner: Aligner, stories: Sequence[StoryPair], every: Sequence[Head],
    means: Mapping[Head, torch.Tensor],
) -> dict[Head | None, Estimate | None]:
    """Mean chrF of greedily translated sentences with each head replaced by its mean, and (None) without ablation."""
    sources, groups = [story.source for story in stories], groups_of(stories)
    found: dict[Head | None, Estimate | None] = {}
    for head in _progress([None, *every], "Translating without each head"):
        with ablate(translator.model, [head] if head else [], replace="mean", means=means):
            results = translator(sources, source=aligner.source, target=aligner.target, num_beams=1)
        each = [sentence_chrf(one.text, [story.target]).score for one, story in zip(results, stories, strict=True)]
        found[head] = estimate(np.array(each), groups)
    return found


# --- sets of heads: a small one is found greedily, and tested beside others of the same kind (Voita et al. 2019)


def greedy(heads: Sequence[Head], size: int, worth: Callable[[Set], tuple[float, ...]]) -> list[Set]:
    """Sets of 1, 2, ... `size` heads, each the previous one plus the head that maximises `worth`."""
    sets: list[Set] = [()]
    for _ in range(min(size, len(heads))):
        sets.append(max(((*sets[-1], head) for head in heads if head not in sets[-1]), key=worth))
    return sets[1:]


@dataclass(frozen=True)
class Control:
    """The effect of a set of heads beside those of `draws` other sets: all `possible` ones, or a random sample.

    Each figure has its 95 % interval over sentences.  `p` is (1 + sets with at least that effect) / (1 + draws); it is
    exact if all sets were tried, and else `p_ends` is its interval over samples.  `overlapping`: the other sets may
    share heads with it.  `mean` and `most` are None if there is no other set.
    """

    alike: Alike
    effect: Estimate
    mean: Estimate | None
    most: Estimate | None
    draws: int
    possible: int
    p: float
    p_ends: tuple[float, float] | None
    overlapping: bool

    @property
    def exact(self) -> bool:
        return self.draws == self.possible


def control(
    chosen: Sequence[Head], heads: Sequence[Head], effect: Callable[[Set], float],
    interval: Callable[[Sequence[Set]], tuple[float, float]], *, alike: Alike, draws: int = DRAWS,
) -> Control:
    """The effect of `chosen` beside that of sets of as many other heads.

    The other sets match its kinds and layers ("layers"), its kinds only ("kinds"), or nothing ("any").  Where fewer
    than FEW share no head with it, they are all sets but itself.  All are tried if there are at most `draws`, else a
    random sample without repeats.  `interval` gives the interval of the mean effect of some sets.
    """
    itself, wanted = tuple(sorted(chosen)), Counter(_cell(head, alike) for head in chosen)
    apart, every = ([[head for head in some if _cell(head, alike) == cell] for cell in wanted]
                    for some in ([head for head in heads if head not in chosen], heads))
    few, possible = (prod(map(comb, map(len, pools), wanted.values())) for pools in (apart, every))
    overlapping = few < FEW and possible - 1 > few
    pools, possible = (every, possible - 1) if overlapping else (apart, few)
    if possible <= draws:
        parts = product(*map(combinations, pools, wanted.values()))
        sets = [one for part in parts if (one := tuple(sorted(chain(*part)))) != itself]
    else:
        rng, drawn = Random(0), {itself: None}
        while len(drawn) <= draws:
            drawn[tuple(sorted(chain(*map(rng.sample, pools, wanted.values()))))] = None
        sets = [*drawn][1:]
    found = np.array(list(map(effect, sets)))
    own = effect(itself)
    mean = Estimate(float(found.mean()), *interval(sets)) if sets else None
    most = Estimate(float(found.max()), *interval([sets[int(found.argmax())]])) if sets else None
    as_large = int((found >= own - 1e-12).sum())
    ends = None if len(sets) == possible else share_interval(as_large, len(sets))
    return Control(alike, Estimate(own, *interval([itself])), mean, most, len(sets), possible,
                   (1 + as_large) / (1 + len(sets)), ends, overlapping)


def _cell(head: Head, alike: Alike) -> tuple[str, int]:
    """What a head in another set must share with the one it replaces."""
    return ("" if alike == "any" else head.kind), (head.layer if alike == "layers" else 0)


def _needed(every: Sequence[Head], dev: Half, test: Half) -> dict[str, Any]:
    """The smallest set whose ablation confuses the pronouns of the development half, or else the largest one tried;
    reported on the test half.  None is needed for what the whole model cannot do."""
    sets = greedy(every, LARGEST, lambda chosen: (-dev.auc(chosen), -float(dev.ablations.margins(chosen).mean())))
    chosen = next((one for one in sets if dev.auc(one) <= NEEDED), sets[-1])

    def confused(some: Sequence[Set]) -> tuple[float, float]:
        low, high = test.auc_interval(*some)
        return 1 - high, 1 - low

    return {
        "set": chosen, **test.without(chosen), "turned": test.flip_estimate(chosen),
        "holds": test.auc() > NEEDED >= test.auc(chosen), "limit": NEEDED,
        "controls": _controls(chosen, every, lambda sampled: 1 - test.auc(sampled), confused, "Ablating other sets"),
    }


def _enough(every: Sequence[Head], dev: Half, test: Half) -> dict[str, Any]:
    """The smallest set that flips the pronouns of the development half when patched; reported on the test half."""
    sets = greedy(every, LARGEST, lambda chosen: (dev.flip_share(chosen),))
    chosen = next((one for one in sets if dev.flip_share(one) >= ENOUGH), sets[-1])

    def share(some: Sequence[Set]) -> tuple[float, float]:
        found = test.flip_estimate(*some)
        return (found.low, found.high) if found else (0.0, 1.0)  # unknown if no pronoun was right

    return {
        "set": chosen, "turned": test.flip_rates(chosen), "share": test.flip_estimate(chosen),
        "apart": test.auc_estimate(chosen),
        "holds": test.flip_share(chosen) >= ENOUGH,
        "controls": _controls(chosen, every, test.flip_share, share, "Patching other sets"),
    }


def _controls(chosen: Sequence[Head], every: Sequence[Head], effect: Callable[[Set], float],
              interval: Callable[[Sequence[Set]], tuple[float, float]], title: str) -> list[Control]:
    return [control(chosen, every, effect, interval, alike=alike)
            for alike in _progress(("layers", "kinds", "any"), title)]


def _progress(items: Any, title: str) -> Any:
    """A progress bar if stderr is a terminal."""
    return tqdm(items, desc=title, disable=None, leave=False, dynamic_ncols=True)
