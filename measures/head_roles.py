"""The roles that a model's maps suggest for its heads, on any sentence pairs, and how far its heads look.

Chosen on one half of the pairs and reported on the other, with 95 % intervals by bootstrap over sentences.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, is_dataclass
from pathlib import Path
from typing import Any

import numpy as np

from seq2see.atomic import atomic_write
from ..lens.data.summary import Spread, mean_spread, spread
from ..lens.heads.role_scores import heads_of_roles, measure, roles_of_heads
from ..lens.records.intervals import Estimate
from ..lens.records.roles import GoldPair
from ..lens.trace import Trace
from ..passes.attention_kinds import KINDS
from ..passes.hooks import all_heads, supervised_heads
from .aligner import Aligner

SPREAD = ("distance", "entropy", "evenness", "across", "across_even")  # the measures of a head's reach


def measure_roles(aligner: Aligner, dev: Sequence[GoldPair], test: Sequence[GoldPair], *,
                  groups: Sequence[str] | None = None) -> dict[str, Any]:
    """The report as plain data: the roles that the pairs are annotated for, and how far each head looks.

    `groups` says which test sentences are variants of one.
    """
    supervised, spreads = supervised_heads(aligner.model), list[list[Spread]]()

    def traced(half: Sequence[GoldPair]) -> Iterator[Trace]:
        return aligner.traced([(one.source, one.target) for one in half], "Reading attention", views=("raw",))

    def with_spreads(traces: Iterator[Trace]) -> Iterator[Trace]:
        for trace in traces:  # all at once would fill the memory
            spreads.append([spread(trace, kind) for kind in KINDS])
            yield trace

    dev_roles = measure(traced(dev), dev, supervised=supervised)
    test_roles = measure(with_spreads(traced(test)), test, supervised=supervised)
    roles, by_kind = roles_of_heads(dev_roles, test_roles), list(zip(*spreads, strict=True))
    groups = groups or [f"{number}" for number in range(len(test))]
    return {
        "weights": aligner.fingerprint,
        "sentences": {"dev": len(dev), "test": len(test)},
        "heads": [{"head": head, "roles": [one for one in roles.get(head, ()) if one.holds],
                   "supervised": head.kind == "cross" and head[1:] in supervised} for head in all_heads(aligner.model)],
        "roles": heads_of_roles(dev_roles, test_roles),
        "spread": list(map(mean_spread, by_kind)),
        "reach": [row for each in by_kind for row in reach(each, groups)],
    }


def save_report(report: dict[str, Any], path: Path) -> None:
    """Write the report as JSON."""
    atomic_write(path, json.dumps(report, ensure_ascii=False, indent=1, default=_as_json) + "\n")


def as_plain(report: dict[str, Any]) -> dict[str, Any]:
    """The report as it is read from its file."""
    plain: dict[str, Any] = json.loads(json.dumps(report, default=_as_json))
    return plain


def _as_json(value: Any) -> Any:
    return asdict(value) if is_dataclass(value) and not isinstance(value, type) else np.asarray(value).tolist()


def reach(each: Sequence[Spread], groups: Sequence[str]) -> list[dict[str, Any]]:
    """Attention distance and entropy with intervals, from the `spread` of each text: for each layer the mean of its
    heads (`head` is None), and each head.  `groups` names the sentence that each is a variant of."""
    values_NLH = {name: np.array([np.broadcast_to(np.array(getattr(one, name), dtype=float), one.distance.shape)
                                  for one in each]) for name in SPREAD}  # NaN for a text of one sentence
    layers, heads = each[0].distance.shape
    return [
        {"kind": each[0].kind, "layer": layer, "head": head, **{
            name: estimate(own_N, groups, ~np.isnan(own_N)) for name, values in values_NLH.items()
            for own_N in [values[:, layer].mean(1) if head is None else values[:, layer, head]]}}
        for layer in range(layers) for head in (None, *range(heads))
    ]


def estimate(values: np.ndarray, groups: Sequence[str], which: np.ndarray | None = None) -> Estimate | None:
    """The mean of some values and its bootstrap interval over groups of sentences; None without values."""
    which = np.ones(len(values), dtype=bool) if which is None else which
    if not which.any():
        return None
    chosen = values[which].astype(float)
    return Estimate.of(chosen, np.array(groups)[which])
