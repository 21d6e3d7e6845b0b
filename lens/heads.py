"""Which head plays which role: chosen on the development half of the data, reported on the test half.

A role's score is the mean share of a head's attention on the cells that the role names (`roles.py`).  A score is
meaningful only in comparison with baselines:

    uniform      a head that spreads its weight evenly over what is not masked
    positional   a head that always looks at the same place: the best fixed distance from the row (from the diagonal in
                 cross-attention), or from the start or the end, chosen on the development half.  No mixture of places
                 scores higher.  Not for places (previous, first, ...), where it would be the role itself
    rival        for antecedents: the head's own attention to competing nouns.  A head that looks at all nouns alike
                 does not resolve the pronoun

A role holds only if its whole interval on the test half lies above these baselines and its score at least LEAST above.
Attention shows where a head looked, not what that did; see `interventions.py` for effects.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from .by_words import by_units, map_units
from .hooks import Head
from .intervals import interval
from .kinds import KINDS, Kind, MapName
from .roles import CONTENTS, ROLES, GoldPair, diagonal, rival_mask, role_masks
from .summary import uniform_map
from .trace import Trace

# N sentences, L layers, H heads, R rows, C columns

LEAST = 0.1  # how far above its baselines a score must be for a role to hold
Place = tuple[str, int]  # a fixed place: ("offset" | "start" | "end", how far)


@dataclass(frozen=True)
class RoleScore:
    """A head's score in a role on the test half: mean over sentences, 95 % bootstrap interval, and its baselines.

    `rival` is for antecedents, `positional` for content roles only.  `intervals` has those of the baselines by name.
    `supervised`: the head was trained with gold links.
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
        """A note for after the head's name."""
        return " (supervised: trained with gold links)" if self.supervised else ""

    @property
    def floor(self) -> float:
        """The score of a head that knows nothing about the sentence."""
        return max(self.uniform, self.positional or 0.0)

    @property
    def decidable(self) -> bool:
        """Whether any head could have the role here: a perfect one must be LEAST above the floor."""
        return self.floor + LEAST < 1

    @property
    def baseline(self) -> float:
        return max(self.floor, self.rival or 0.0)

    @property
    def baselines(self) -> dict[str, tuple[float, float, float]]:
        """Each baseline with its interval: (value, low, high)."""
        return {name: (getattr(self, name), *ends) for name, ends in self.intervals.items()}


@dataclass(frozen=True, eq=False)
class Measured:
    """One half of the data: for each (kind, role) the scores [N,L,H] and baselines of the sentences it occurs in."""

    scores: dict[tuple[Kind, str], np.ndarray]
    rivals: dict[Kind, np.ndarray]
    uniform: dict[tuple[Kind, str], np.ndarray]
    places: dict[tuple[Kind, str], list[Counter[Place]]]
    groups: dict[tuple[Kind, str], list[str]]
    supervised: Collection[MapName]  # cross-attention heads that were trained with gold links


def measure(
    traces: Iterable[Trace], gold: Iterable[GoldPair], *, supervised: Collection[MapName] = ()
) -> Measured:
    """Scores every head in every role on each sentence, by its raw weights.  The traces are of the gold targets.
    `supervised` are the cross-attention heads (layer, head) that were trained with gold links."""
    scores: dict[tuple[Kind, str], list[np.ndarray]] = defaultdict(list)
    uniform: dict[tuple[Kind, str], list[float]] = defaultdict(list)
    places: dict[tuple[Kind, str], list[Counter[Place]]] = defaultdict(list)
    groups: dict[tuple[Kind, str], list[str]] = defaultdict(list)
    rivals: dict[Kind, list[np.ndarray]] = defaultdict(list)
    for number, (trace, pair) in enumerate(zip(traces, gold, strict=True)):
        for kind in KINDS:
            rows, columns = map_units(trace, kind)
            maps, even = (by_units(own, rows, columns) for own in (trace.maps(kind), uniform_map(trace, kind)))
            masks = role_masks(kind, rows, columns, pair, visible=even > 0)
            for role, mask in masks.items():
                scores[kind, role].append(_score(maps, mask))
                uniform[kind, role].append(float(_score(even, mask)))
                places[kind, role].append(_places(kind, mask) if role in CONTENTS else Counter())
                groups[kind, role].append(pair.group or f"sentence {number}")
            if "antecedent" in masks:
                rival = rival_mask(kind, rows, columns, pair, visible=even > 0)
                rivals[kind].append((maps * rival).sum(-1)[..., masks["antecedent"].any(-1)].mean(-1))
    return Measured(
        {key: np.stack(values) for key, values in scores.items()},
        {kind: np.stack(values) for kind, values in rivals.items()},
        {key: np.array(values) for key, values in uniform.items()}, places, groups, supervised,
    )  # fmt: skip


def _score(maps: np.ndarray, mask: np.ndarray) -> np.ndarray:
    """The share on the role's cells, averaged over rows with any: [...,R,C] to [...]."""
    return (maps * mask).sum(-1)[..., mask.any(-1)].mean(-1)


def _places(kind: Kind, mask: np.ndarray) -> Counter[Place]:
    """The score of a head that always looks at one place, for every place."""
    rows, last = np.count_nonzero(mask.any(-1)), mask.shape[1] - 1
    middle = diagonal(*mask.shape) if kind == "cross" else np.arange(len(mask))
    hits: Counter[Place] = Counter()
    for r, c in np.argwhere(mask).tolist():
        hits.update([("offset", int(c - middle[r])), ("start", c), ("end", last - c)])
    return Counter({place: count / rows for place, count in hits.items()})


def roles_of_heads(dev: Measured, test: Measured) -> dict[Head, list[RoleScore]]:
    """For every head the roles that are at least LEAST above baseline on `dev`, clearest first, as scored on `test`."""
    chosen: dict[Head, list[tuple[float, str]]] = {}
    for key in dev.scores.keys() & test.scores.keys():
        for head, above in _above(dev, key).items():
            chosen.setdefault(head, []).extend([(above, key[1])] if above >= LEAST else [])
    return {
        head: [role_score(head, role, dev, test) for _, role in sorted(roles, reverse=True)]
        for head, roles in sorted(chosen.items())
    }


def heads_of_roles(dev: Measured, test: Measured) -> list[RoleScore]:
    """For every role and kind the head furthest above its baselines on `dev`, as scored on `test`."""
    both = dev.scores.keys() & test.scores.keys()
    keys = [(kind, role) for kind in KINDS for role in ROLES if (kind, role) in both]
    best = {key: max(_above(dev, key).items(), key=lambda item: item[1])[0] for key in keys}
    return [role_score(best[key], key[1], dev, test) for key in keys]


def _above(dev: Measured, key: tuple[Kind, str]) -> dict[Head, float]:
    scores = dev.scores[key].mean(0)
    positional = _positional(dev, dev, key)
    floor = np.full(scores.shape, max(dev.uniform[key].mean(), 0.0 if positional is None else positional.mean()))
    if key[1] == "antecedent":
        floor = np.maximum(floor, dev.rivals[key[0]].mean(0))
    above = scores - floor
    return {Head(key[0], layer, head): float(above[layer, head]) for layer, head in np.ndindex(*above.shape)}


def _positional(dev: Measured, test: Measured, key: tuple[Kind, str]) -> np.ndarray | None:
    """[N]: the `test` scores of the fixed place that is best on `dev`; None for a role that is itself a place."""
    if key[1] not in CONTENTS:
        return None
    total: Counter[Place] = Counter()
    for hits in dev.places[key]:
        total.update(hits)
    [(place, _)] = total.most_common(1)
    return np.array([hits[place] for hits in test.places[key]], dtype=float)


def role_score(head: Head, role: str, dev: Measured, test: Measured) -> RoleScore:
    """One head in one role, on the test half."""
    key = head.kind, role
    scores, groups = test.scores[key][:, head.layer, head.head], test.groups[key]
    others = {"uniform": test.uniform[key]}
    if (positional := _positional(dev, test, key)) is not None:
        others["positional"] = positional
    picks_out = True
    if role == "antecedent":
        away = others["rival"] = test.rivals[head.kind][:, head.layer, head.head]
        picks_out = interval(scores - away, groups)[0] > 0
    means = {name: float(values.mean()) for name, values in others.items()}
    low, high = interval(scores, groups)
    floor = max(means["uniform"], means.get("positional", 0.0))
    holds = low > floor and scores.mean() >= max(means.values()) + LEAST and picks_out
    return RoleScore(
        head, role, float(scores.mean()), low, high, means["uniform"], means.get("positional"), means.get("rival"),
        len(scores), bool(holds), {name: interval(values, groups) for name, values in others.items()},
        head.kind == "cross" and (head.layer, head.head) in test.supervised,
    )
