"""What every head does for the pronoun, by intervention, beside the roles that its maps claim.

Measured on storybook's held-out combinations: everything is chosen on one half and reported on the other.  Pronouns
are scored by teacher forcing, at the step where *il* and *elle* part, which makes hundreds of other sets of heads
affordable; chrF by greedy translation.  Every figure has its 95 % interval, by bootstrap over sentences.
"""

import dataclasses
import json
import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from sacrebleu import sentence_chrf
from tqdm.auto import tqdm
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from seq2see.atomic import atomic_write
from seq2see.errors import UserError
from ..lens import trace_texts
from ..lens.choices import MinimalPairs
from ..lens.effects import Ablations, Control, Set, control, greedy
from ..lens.heads import RoleScore, heads_of_roles, measure, roles_of_heads
from ..lens.hooks import Head, all_heads, supervised_heads
from ..lens.intervals import Figure, interval, roc_auc, roc_auc_interval
from ..lens.interventions import ablate, mean_outputs
from ..lens.kinds import KINDS, Kind, MapName
from ..lens.summary import spread
from ..lens.teacher_forcing import encode_source, encode_target
from ..lens.trace import Trace
from ..storybook import StoryPair
from ..translate.translator import Translator
from .gold import choice, groups_of, halves, minimal_pairs, to_gold

LARGEST = 3  # heads of a small set
NEEDED = 0.75  # without a set that carries the pronoun, il and elle are told apart no better than this (0.5: chance)
ENOUGH = 0.5  # a set that carries the pronoun turns at least this share of pronouns when put in from the other sentence
TRANSLATED = 200  # sentences of the test half that chrF is taken on
SPREAD = ("distance", "entropy", "evenness", "across", "across_even")  # what is told of a head's reach


class Half:
    """The contrast sentences of one half: their choices, which are *il*, and the minimal pairs among them."""

    def __init__(self, translator: Translator, stories: Sequence[StoryPair], means: dict[Head, torch.Tensor]):
        made = [(story, one) for story in stories if (one := choice(story, translator.model, translator.tokenizer))]
        choices = [one for _, (_, one) in made]
        self.is_il = np.array([name == "il" for _, (name, _) in made])
        self.ablations = Ablations(translator.model, choices, means)
        pairs = minimal_pairs([story for story, _ in made], choices)
        if not pairs or self.is_il.all() or not self.is_il.any():
            raise UserError(f"of {len(stories)} sentences no two differ in the pronoun and have as many tokens for this"
                            " model: take more of them, --sentences 300, or a vocabulary with tokens for French words")
        self.pairs = MinimalPairs(translator.model, [(choices[a], choices[b]) for a, b in pairs])
        self.pair_is_il = self.is_il[[a for a, _ in pairs]]
        self.own = self.pairs.margins()
        self._turned: dict[tuple[Head, ...], np.ndarray] = {}
        self.groups = groups_of([story for story, _ in made])  # variants of a sentence
        self.pair_groups = [self.groups[a] for a, _ in pairs]

    def apart(self, heads: Sequence[Head] = ()) -> float:
        """How well il and elle are told apart without these heads."""
        return roc_auc(self.ablations.margins(heads), self.is_il)

    def apart_interval(self, *sets: Sequence[Head]) -> tuple[float, float]:
        """Of the mean of `apart` over some sets."""
        return roc_auc_interval(np.stack(list(map(self.ablations.margins, sets))), self.is_il, self.groups)

    def apart_figure(self, heads: Sequence[Head]) -> Figure:
        return Figure(self.apart(heads), *self.apart_interval(heads))

    def without(self, heads: Sequence[Head] = ()) -> dict[str, Any]:
        """What is lost without these heads: the mean drop of the margin, log p(right) - log p(wrong); how well il and
        elle are told apart; how often each is right."""
        margins = self.ablations.margins(heads)
        sides = {"il": self.is_il, "elle": ~self.is_il}
        return {"drop": estimate(self.ablations.margins() - margins, self.groups), "apart": self.apart_figure(heads),
                "right": {name: estimate(margins > 0, self.groups, side) for name, side in sides.items()}}

    def turned(self, heads: Sequence[Head]) -> dict[str, Figure | None]:
        """Of the pronouns that were right, by which they were, the share that turns with the other sentence's heads
        put in; None where none was right."""
        turned = self._turning(heads)
        sides = {"il": self.pair_is_il, "elle": ~self.pair_is_il}
        return {name: estimate(turned, self.pair_groups, side & (self.own > 0)) for name, side in sides.items()}

    def turned_share(self, heads: Sequence[Head]) -> float:
        """Of both pronouns together; 0 where none was right."""
        return _share(self._turning(heads)[self.own > 0]) or 0.0

    def turned_figure(self, *sets: Sequence[Head]) -> Figure | None:
        """The mean of `turned_share` over some sets; None where none was right."""
        return estimate(np.mean(list(map(self._turning, sets)), axis=0), self.pair_groups, self.own > 0)

    def _turning(self, heads: Sequence[Head]) -> np.ndarray:
        key = tuple(sorted(heads))
        if key not in self._turned:
            self._turned[key] = self.pairs.margins(heads=key) < 0
        return self._turned[key]


def _share(flags: np.ndarray) -> float | None:
    return float(flags.mean()) if len(flags) else None


def estimate(values: np.ndarray, groups: Sequence[str], which: np.ndarray | None = None) -> Figure | None:
    """The mean of some values and its bootstrap interval over groups of sentences; None of no values."""
    which = np.ones(len(values), dtype=bool) if which is None else which
    if not which.any():
        return None
    chosen = values[which].astype(float)
    return Figure(float(chosen.mean()), *interval(chosen, np.array(groups)[which].tolist()))


def measure_heads(translator: Translator, *, limit: int | None) -> dict[str, Any]:
    """Everything that the command prints, as plain data."""
    model, tokenizer = translator.model, translator.tokenizer
    _say("writing storybook")
    dev_stories, test_stories = halves(limit)
    _say("reading attention")
    supervised = supervised_heads(model)
    (dev_roles, _), (test_roles, far) = (_look(model, tokenizer, part, supervised) for part in
                                         (dev_stories, test_stories))
    _say("mean of every head")
    means = _means(translator, dev_stories)
    dev, test = Half(translator, dev_stories, means), Half(translator, test_stories, means)
    every, roles = all_heads(model), roles_of_heads(dev_roles, test_roles)
    chrf = _chrf(translator, test_stories[:TRANSLATED], every, means)
    rows = [_alone(head, test, roles, supervised, chrf=chrf[head]) for head in _progress(every, "one head at a time")]
    report = {
        "sentences": {"dev": len(dev_stories), "test": len(test_stories)},
        "pronouns": {"dev": len(dev.is_il), "test": len(test.is_il)}, "pairs": len(test.own),
        "translated": min(TRANSLATED, len(test_stories)),
        "whole": {**test.without(), "chrf": chrf[None]},
        "heads": sorted(rows, key=lambda row: row["drop"].value, reverse=True),
        "needed": _needed(every, dev, test), "largest": LARGEST,
        "enough": _enough(every, dev, test),
        "roles": heads_of_roles(dev_roles, test_roles),
        **far,
    }
    _say("")
    return report


def measure_roles(
    translator: Translator, dev_stories: Sequence[StoryPair], test_stories: Sequence[StoryPair]
) -> dict[str, Any]:
    """Of `measure_heads` what takes seconds: what each head alone does for the pronoun, and the roles that it claims;
    no sets of heads, no translations."""
    model, tokenizer = translator.model, translator.tokenizer
    supervised = supervised_heads(model)
    dev_roles, test_roles = (measure(_traced(model, tokenizer, part), map(to_gold, part), supervised=supervised)
                             for part in (dev_stories, test_stories))
    test = Half(translator, test_stories, _means(translator, dev_stories))
    roles = roles_of_heads(dev_roles, test_roles)
    rows = [_alone(head, test, roles, supervised) for head in _progress(all_heads(model), "one head at a time")]
    return {
        "sentences": {"dev": len(dev_stories), "test": len(test_stories)},
        "pronouns": {"test": len(test.is_il)}, "pairs": len(test.own),
        "whole": test.without(),
        "heads": sorted(rows, key=lambda row: row["drop"].value, reverse=True),
        "roles": heads_of_roles(dev_roles, test_roles),
    }


def save_report(report: dict[str, Any], path: Path) -> None:
    """Leave what was measured in a file of JSON."""
    atomic_write(path, json.dumps(report, ensure_ascii=False, indent=1, default=_as_json) + "\n")


def _as_json(value: Any) -> Any:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    return np.asarray(value).tolist()


def _alone(
    head: Head, test: Half, roles: Mapping[Head, Sequence[RoleScore]], supervised: Collection[MapName],
    **more: Any,
) -> dict[str, Any]:
    """What becomes of the test half without this head, and with it put in alone; its roles that hold."""
    return {"head": head, **test.without([head]), "turned": test.turned([head]), **more,
            "roles": [one for one in roles[head] if one.holds],
            "supervised": head.kind == "cross" and head[1:] in supervised}


def _traced(
    model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, stories: Sequence[StoryPair]
) -> list[Trace]:
    try:
        return trace_texts(model, tokenizer, [story.source for story in stories], [story.target for story in stories],
                           source_language="en", target_language="fr")
    except UserError as error:
        raise UserError(f"heads are measured on storybook's sentences, which this model cannot read: {error}") from None


def _look(model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, stories: Sequence[StoryPair],
          supervised: Collection[MapName]) -> tuple:
    traces, groups = _traced(model, tokenizer, stories), groups_of(stories)
    return measure(traces, map(to_gold, stories), supervised=supervised), {
        "spread": [spread(traces, kind) for kind in KINDS],
        "reach": [row for kind in KINDS for row in reach(traces, kind, groups)],
    }


def reach(traces: Sequence[Trace], kind: Kind, groups: Sequence[str]) -> list[dict[str, Any]]:
    """How far and how widely attention reaches, `spread` with intervals: of each layer the mean of its heads (`head` is
    None), and each head.  `groups` names for each sentence the one that it is a variant of."""
    each = [spread([trace], kind) for trace in traces]
    values_NLH = {name: np.array([np.broadcast_to(np.array(getattr(one, name), dtype=float), one.distance.shape)
                                  for one in each]) for name in SPREAD}  # NaN where a text is of one sentence
    layers, heads = each[0].distance.shape
    return [
        {"kind": kind, "layer": layer, "head": head, **{
            name: estimate(own_N, groups, ~np.isnan(own_N)) for name, values in values_NLH.items()
            for own_N in [values[:, layer].mean(1) if head is None else values[:, layer, head]]}}
        for layer in range(layers) for head in (None, *range(heads))
    ]


def _means(translator: Translator, stories: Sequence[StoryPair]) -> dict[Head, torch.Tensor]:
    tokenizer, first = translator.tokenizer, translator.model.generation_config.forced_bos_token_id
    targets = [encode_target(tokenizer, story.target, language="fr", first=first) for story in stories]
    return mean_outputs(translator.model, [encode_source(tokenizer, story.source) for story in stories], targets)


def _chrf(
    translator: Translator, stories: Sequence[StoryPair], every: Sequence[Head], means: dict[Head, torch.Tensor]
) -> dict[Head | None, Figure | None]:
    """Mean chrF of greedily translated sentences with each head replaced by its mean, and (None) with none."""
    sources, groups = [story.source for story in stories], groups_of(stories)
    found: dict[Head | None, Figure | None] = {}
    for head in _progress([None, *every], "translating without each head"):
        with ablate(translator.model, [head] if head else [], replace="mean", means=means):
            results = translator(sources, source="en", target="fr", num_beams=1)
        each = [sentence_chrf(one.text, [story.target]).score for one, story in zip(results, stories, strict=True)]
        found[head] = estimate(np.array(each), groups)
    return found


def _needed(every: Sequence[Head], dev: Half, test: Half) -> dict[str, Any]:
    """The smallest set found without which the pronouns are not told apart on the development half, on the test half;
    or the largest one tried, where there is none.  None is needed for what the whole model cannot do."""
    sets = greedy(every, LARGEST, lambda chosen: (-dev.apart(chosen), -float(dev.ablations.margins(chosen).mean())))
    chosen = next((one for one in sets if dev.apart(one) <= NEEDED), sets[-1])

    def confused(some: Sequence[Set]) -> tuple[float, float]:
        low, high = test.apart_interval(*some)
        return 1 - high, 1 - low

    return {
        "set": chosen, **test.without(chosen), "turned": test.turned_figure(chosen),
        "holds": test.apart() > NEEDED >= test.apart(chosen), "limit": NEEDED,
        "controls": _controls(chosen, every, lambda drawn: 1 - test.apart(drawn), confused, "other sets switched off"),
    }


def _enough(every: Sequence[Head], dev: Half, test: Half) -> dict[str, Any]:
    """The smallest set found that turns the pronouns of the development half when it is put in, on the test half."""
    sets = greedy(every, LARGEST, lambda chosen: (dev.turned_share(chosen),))
    chosen = next((one for one in sets if dev.turned_share(one) >= ENOUGH), sets[-1])

    def share(some: Sequence[Set]) -> tuple[float, float]:
        found = test.turned_figure(*some)
        return (found.low, found.high) if found else (0.0, 1.0)  # where no pronoun was right, nothing is known

    return {
        "set": chosen, "turned": test.turned(chosen), "share": test.turned_figure(chosen),
        "apart": test.apart_figure(chosen),
        "holds": test.turned_share(chosen) >= ENOUGH,
        "controls": _controls(chosen, every, test.turned_share, share, "other sets put in"),
    }


def _controls(chosen: Sequence[Head], every: Sequence[Head], effect: Callable[[Set], float],
              interval: Callable[[Sequence[Set]], tuple[float, float]], title: str) -> list[Control]:
    return [control(chosen, every, effect, interval, alike=alike)
            for alike in _progress(("layers", "kinds", "any"), title)]


def _say(what: str) -> None:
    if sys.stderr.isatty():
        print(f"\r\x1b[K{what}", end="", file=sys.stderr, flush=True)


def _progress(items: Any, title: str) -> Any:
    """A bar where stderr is a terminal, nothing elsewhere."""
    return tqdm(items, desc=title, disable=None, leave=False, dynamic_ncols=True)
