"""The role of each head: chosen on the development half of the data, reported on the test half.

A role's score is the mean share of a head's attention on the cells that the role names (`roles.py`).  A score is
meaningful only in comparison with baselines:

    uniform      a head that spreads its weight evenly over what is not masked
    positional   a head that always looks at the same place: the best fixed distance from the row (from the diagonal in
                 cross-attention), or from the start or the end, chosen on the development half.  No mixture of places
                 scores higher.  Not for places (previous, first, ...), where it would be the role itself
    rival        for antecedents: the head's own attention to competing nouns.  A head that looks at all nouns alike
                 does not resolve the pronoun

A role holds only if its whole interval on the test half lies above these baselines, and its score at least LEAST above.
Attention shows where a head looked, not its effect; see `interventions.py` for effects.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...passes.attention_kinds import KINDS, Kind, MapName
from ...passes.hooks import Head
from ..data.summary import uniform_map
from ..data.word_maps import by_units, map_units
from ..records.intervals import interval
from ..records.roles import CONTENTS, ROLES, GoldPair
from ..trace import Trace
from .role_masks import diagonal, rival_mask, role_masks

# N sentences, L layers, H heads, R rows, C columns

LEAST = 0.1  # how far above its baselines a score must be for a role to hold
Place = tuple[str, int]  # a fixed place: ("offset" | "start" | "end", how far)


@dataclass(frozen=True)
class RoleScore:
    """A head's score in a role on the test half: mean over sentences, 95 % bootstrap interval, and baselines.

    `rival` is for antecedents, `positional` for content roles only.  `intervals` has the intervals of the baselines by
    name.  `supervised`: the head was trained with gold links.
    """

    head: Head
    role: str
    score: float
    low: float
    high: float
    uniform: float
    positional: float | None
    rival: float | None
    sentences: int
    holds: bool
    intervals: Mapping[str, tuple[float, float]]
    supervised: bool = False

    @property
    def supervision(self) -> str:
        """A note to print after the head's name."""
        return " (supervised: trained with gold links)" if self.supervised else ""

    @property
    def floor(self) -> float:
        """The score of a head that uses nothing of the sentence."""
        return max(self.uniform, self.positional or 0.0)

    @property
    def decidable(self) -> bool:
        """Whether any head could have the role here: a perfect head must score at least LEAST above the floor."""
        return self.floor + LEAST < 1

    @property
    def baseline(self) -> float:
        return max(self.floor, self.rival or 0.0)

    @property
    def baselines(self) -> dict[str, tuple[float, float, float]]:
        """Each baseline with its interval: (value, low, high)."""
        return {name: (getattr(self, name), *ends) for name, ends in self.intervals.items()}


@dataclass(frozen=True, eq=False)
class Occurrences:
    """The sentences of one half of the data in which a role occurs, in one kind of attention.

    `scores` is [N,L,H].  The baselines are `uniform` [N], `places` with the score of each fixed place, and `rivals`
    [N,L,H], which is None except for antecedents.  `supervised` are the heads (layer, head) that were trained with gold
    links.
    """

    scores: np.ndarray
    uniform: np.ndarray
    rivals: np.ndarray | None
    places: Sequence[Counter[Place]]
    groups: Sequence[str]
    supervised: Collection[MapName]


Measured = dict[tuple[Kind, str], Occurrences]


def measure(
    traces: Iterable[Trace], gold: Iterable[GoldPair], *, supervised: Collection[MapName] = ()
) -> Measured:
    """Score every head in every role on each sentence, from its raw weights.

    The traces are those of the gold targets.  `supervised` are the cross-attention heads (layer, head) that were
    trained with gold links.
    """
    found: dict[tuple[Kind, str], list[tuple[Any, ...]]] = defaultdict(list)
    for number, (trace, pair) in enumerate(zip(traces, gold, strict=True)):
        for kind in KINDS:
            rows, columns = map_units(trace, kind)
            maps, even = (by_units(own, rows, columns) for own in (trace.maps(kind), uniform_map(trace, kind)))
            for role, mask in role_masks(kind, rows, columns, pair, visible=even > 0).items():
                named = np.flatnonzero(mask.any(-1))
                rival = rival_mask(kind, rows, columns, pair, visible=even > 0) if role == "antecedent" else None
                found[kind, role].append((
                    _score(maps, mask, named), float(_score(even, mask, named)),
                    None if rival is None else _score(maps, rival, named),
                    _places(kind, mask) if role in CONTENTS else Counter(), pair.group or f"sentence {number}",
                ))
    measured: Measured = {}
    for (kind, role), each in found.items():
        scores, uniforms, rivals, places, groups = zip(*each, strict=True)
        measured[kind, role] = Occurrences(
            np.stack(scores), np.array(uniforms), np.stack(rivals) if role == "antecedent" else None, places, groups,
            supervised if kind == "cross" else (),
        )
    return measured


def _score(maps: np.ndarray, cells: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """The share on these cells, averaged over some rows: [...,R,C] to [...]."""
    return (maps * cells).sum(-1)[..., rows].mean(-1)


def _places(kind: Kind, mask: np.ndarray) -> Counter[Place]:
    """The score of a head that always looks at one place, for every place."""
    rows, last = np.count_nonzero(mask.any(-1)), mask.shape[1] - 1
    middle = diagonal(*mask.shape) if kind == "cross" else np.arange(len(mask))
    hits: Counter[Place] = Counter()
    for r, c in np.argwhere(mask).tolist():
        hits.update([("offset", int(c - middle[r])), ("start", c), ("end", last - c)])
    return Counter({place: count / rows for place, count in hits.items()})


def roles_of_heads(dev: Measured, test: Measured) -> dict[Head, list[RoleScore]]:
    """For every head, its roles at least LEAST above the baselines on `dev`, clearest first, with their scores on
    `test`.
    """
    chosen: dict[Head, list[tuple[float, str]]] = {}
    for key in dev.keys() & test.keys():
        for head, above in _above(dev, key).items():
            chosen.setdefault(head, []).extend([(above, key[1])] if above >= LEAST else [])
    return {
        head: [role_score(head, role, dev, test) for _, role in sorted(roles, reverse=True)]
        for head, roles in sorted(chosen.items())
    }


def heads_of_roles(dev: Measured, test: Measured) -> list[RoleScore]:
    """For every role and kind, the head furthest above its baselines on `dev`, with its score on `test`."""
    keys = [(kind, role) for kind in KINDS for role in ROLES if (kind, role) in dev.keys() & test.keys()]
    best = {key: max(_above(dev, key).items(), key=lambda item: item[1])[0] for key in keys}
    return [role_score(best[key], key[1], dev, test) for key in keys]


def _above(dev: Measured, key: tuple[Kind, str]) -> dict[Head, float]:
    own, positional = dev[key], _positional(dev, dev, key)
    floor = max(own.uniform.mean(), 0.0 if positional is None else positional.mean())
    above = own.scores.mean(0) - (floor if own.rivals is None else np.maximum(floor, own.rivals.mean(0)))
    return {Head(key[0], layer, head): float(above[layer, head]) for layer, head in np.ndindex(*above.shape)}


def _positional(dev: Measured, test: Measured, key: tuple[Kind, str]) -> np.ndarray | None:
    """[N]: the `test` scores of the fixed place that is best on `dev`; None for a role that is itself a place."""
    if key[1] not in CONTENTS:
        return None
    total: Counter[Place] = Counter()
    for hits in dev[key].places:
        total.update(hits)
    [(place, _)] = total.most_common(1)
    return np.array([hits[place] for hits in test[key].places], dtype=float)


def role_score(head: Head, role: str, dev: Measured, test: Measured) -> RoleScore:
    """One head in one role, on the test half."""
    own = test[head.kind, role]
    scores, groups = own.scores[:, head.layer, head.head], own.groups
    others = {"uniform": own.uniform}
    if (positional := _positional(dev, test, (head.kind, role))) is not None:
        others["positional"] = positional
    picks_out = True
    if own.rivals is not None:
        away = others["rival"] = own.rivals[:, head.layer, head.head]
        picks_out = interval(scores - away, groups)[0] > 0
    means = {name: float(values.mean()) for name, values in others.items()}
    low, high = interval(scores, groups)
    floor = max(means["uniform"], means.get("positional", 0.0))
    holds = low > floor and scores.mean() >= max(means.values()) + LEAST and picks_out
    return RoleScore(
        head, role, float(scores.mean()), low, high, means["uniform"], means.get("positional"), means.get("rival"),
        len(scores), bool(holds), {name: interval(values, groups) for name, values in others.items()},
        (head.layer, head.head) in own.supervised,
    )
