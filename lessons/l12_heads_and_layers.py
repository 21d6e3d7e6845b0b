"""Lesson 12: which roles heads have, layer by layer, how far they reach, and what is lost without each of them."""

import math
from collections.abc import Sequence

import numpy as np

from ..lens import all_heads, mean_outputs
from ..lens.changes.interventions import ablate
from ..lens.data.summary import spread
from ..lens.heads.role_scores import RoleScore, heads_of_roles, roles_of_heads
from ..lens.show.wording import NAMES
from ..lens.trace import Trace
from ..passes.attention_kinds import KINDS, Kind
from ..passes.forced_pass import chosen_log_probs, eval_mode, forced_batches
from ..passes.hooks import Head
from .drawing import head_map
from .figures import columns_of, written
from .held_out import clearest, groups, ids_of, measured, named, role_checks, role_table, traces
from .lesson import SENTENCE, Check, Checks, CurvePanel, Estimate, Exhibits, Figures, Look, Table, Workbench

# L layers, N sentences, B batch, T tokens

ALWAYS = 0.5  # share of its attention that a head gives to a place that it always looks at
SENTENCES = 100  # on which heads are ablated


def reach(some: Sequence[Trace], kind: Kind, of: Sequence[str], name: str) -> tuple[list[Estimate], list[Estimate]]:
    """Means over heads of `lens.spread`'s "distance" or "across": by layer, and the change from layer to layer.
    Texts of one sentence have no "across"."""
    spreads = [spread(trace, kind) for trace in some]
    chosen = [i for i, one in enumerate(spreads) if getattr(one, name) is not None]
    values_NL = np.array([getattr(spreads[i], name).mean(-1) for i in chosen]).reshape(
        len(chosen), spreads[0].distance.shape[0])
    own = [of[i] for i in chosen]
    return columns_of(values_NL, own), columns_of(np.diff(values_NL, axis=1), own)


SHOWN = (reach,)


def measure(bench: Workbench) -> Figures:
    dev, test = measured(bench)
    by_head = {head: [one for one in of if one.holds] for head, of in roles_of_heads(dev, test).items()}
    heads = all_heads(bench.model)
    best = heads_of_roles(dev, test)
    costs = ablations(bench, heads)
    reached = {name: {kind: reach(traces(bench)[1], kind, groups(bench), name) for kind in KINDS}
               for name in ("distance", "across")}
    steps = {name: {kind: of[1] for kind, of in by_kind.items()} for name, by_kind in reached.items()}
    having, lacking = (Estimate.of([cost.value for head, cost in zip(heads, costs, strict=True)
                                    if bool(by_head.get(head)) is wanted]) for wanted in (True, False))
    costly = max(range(len(heads)), key=lambda i: costs[i].value)
    places = {name: next((one for one in best if one.head.kind == "encoder" and one.role == name), None)
              for name in ("next", "end")}
    antecedent = clearest(one for one in best if one.role == "antecedent" and one.decidable)
    with_role = {kind: sum(1 for head, roles in by_head.items() if roles and head.kind == kind) for kind in KINDS}
    return Figures(
        heads=heads, roles=[[one.role for one in by_head.get(head, [])] for head in heads],
        supervised=[any(one.supervised for one in by_head.get(head, [])) for head in heads], best=best, costs=costs,
        reached={name: {kind: of[0] for kind, of in by_kind.items()} for name, by_kind in reached.items()}, steps=steps,
        with_role=with_role, having=sum(with_role.values()), count=len(heads), sentences=len(groups(bench)),
        places=places, said={name: named(one) for name, one in [*places.items(), ("antecedent", antecedent)]},
        antecedent=antecedent,
        named=sorted({one.role for roles in by_head.values() for one in roles}) or ["none"],
        roled=having, unroled=lacking,
        costly=heads[costly], cost=costs[costly].value,
        look=Look(SENTENCE, *heads[costly]),
    )


def ablations(bench: Workbench, heads: Sequence[Head]) -> list[Estimate]:
    """What a token of the correct translation loses in log-probability without each head, over sentences."""
    known, tested = (half[: bench.pick(SENTENCES, 12)] for half in traces(bench))
    means = mean_outputs(bench.model, *ids_of(known))
    bench.report_progress("ablating each head")
    whole = np.array([trace.log_probs[1:].mean() for trace in tested])
    costs = []
    for head in heads:
        with ablate(bench.model, [head], replace="mean", means=means):
            costs.append(Estimate.of(whole - log_probs(bench, tested), groups(bench)[: len(tested)]))
    return costs


def log_probs(bench: Workbench, some: Sequence[Trace]) -> np.ndarray:
    """Mean log-probability of the tokens of each target, after the tag, of the model as it is now: [N]."""
    found_N = np.empty(len(some))
    with eval_mode(bench.model):
        for rows, output, target_BT in forced_batches(bench.model, *ids_of(some)):
            for row, log_prob_T in zip(rows, chosen_log_probs(output.logits, target_BT).numpy(), strict=True):
                found_N[row] = log_prob_T[1 : len(some[row].target)].mean()
    return found_N


def claims(f: Figures) -> Checks:
    def always(one: RoleScore | None) -> list[Check]:
        return [Check(one.score if one else math.nan, "≥", ALWAYS, "share of its attention"), *role_checks(one)]

    def rises(steps: dict[Kind, list[Estimate]]) -> list[Check]:
        return [Check(min((step.low for step in of), default=math.nan), ">", 0, f"{kind}, smallest lower end")
                for kind, of in steps.items()]

    return {
        "focus": [Check(f.having, "=", f.count, "heads with a role")],
        "next": always(f.places["next"]),
        "end": always(f.places["end"]),
        "antecedent": role_checks(f.antecedent),
        "wider": rises(f.steps["distance"]),
        "beyond": rises(f.steps["across"]),
        "matter": [Check(f.roled.low, ">", 0, "lower end of the interval"),
                   Check(f.roled.low - f.unroled.high, ">", 0, "gap between the two intervals")],
    }


def exhibits(f: Figures) -> Exhibits:
    def by_layer(values: Sequence[Estimate]) -> str:
        return " → ".join(written(one.value, ".2f") for one in values)

    costs = [max(cost.value, 0) for cost in f.costs]
    texts = [", ".join([*roles[:1], *["supervised"] * supervised, f"{cost:.2f}"])
             for roles, supervised, cost in zip(f.roles, f.supervised, costs, strict=True)]
    distance, across = f.reached["distance"], f.reached["across"]
    layers = range(1, max(map(len, distance.values())) + 1)
    return [
        Table("By layer, first to last", ("", "distance in tokens", "share across sentences"),
              [(NAMES[kind], by_layer(distance[kind]), by_layer(across[kind])) for kind in KINDS]),
        role_table("The best head for each role, on unseen sentences", f.best, folded=True),
        head_map("Role, and cost of removing the head (nats per token)", f.heads, costs, texts=texts, wide=True),
        CurvePanel("Distance, tokens", layers, distance, "layer"),
        CurvePanel("Across sentences", layers, across, "layer"),
    ]
