"""Lesson 13: which roles heads have, layer by layer, how far they reach, and what is lost without each of them."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.figure import Figure

from ..lens import all_heads, mean_outputs
from ..lens.ablation import Head, ablate
from ..lens.choices import by_length
from ..lens.forcing import chosen_log_probs, forced_pass, looking
from ..lens.heads import LEAST, RoleScore, heads_of_roles, roles_of_heads
from ..lens.kinds import KINDS, Kind
from ..lens.spread import spread
from ..lens.trace import Trace
from ..lens.wording import NAMES
from .drawing import BLUE, GREEN, INK, ORANGE, SOFT, WIDTH, heatmap
from .held_out import Share, group_of, halves, measured, traces
from .old import Finding, Look, Table, Verdict, found, overall, spelled, undecided
from .workbench import Workbench

# L layers, H heads, N sentences

TITLE = "Heads and layers"
CLAIM = ("Every head has its own focus (one always on the next word, one always on the last, one from a pronoun to its"
         " noun), and with each layer attention reaches wider, at last beyond the sentence.")  # fmt: skip
HOW = """Fifteen roles are defined by which words a head of that role would look at: places (previous, next, first, the
end ...) and, by the corpus's gold, contents (the linked word, the noun of a pronoun ...). A head's score is the share
of its attention that lies there. It is chosen on one half of the unseen sentences and reported on the other, and a role
is claimed only where the whole 95 % interval lies above a head that looks evenly and above one that always looks at the
best fixed place, and the score at least 10 points above. For "always" the score must be half of the attention.

Reach is the mean distance, in pieces, from a row's own place; evenness its entropy as a share of an even head's. In
texts of two sentences it is counted how much attention crosses into the other sentence.

A map is a claim and an intervention its evidence. Each head is replaced by its mean over other sentences, and what the
right translation then loses in log-probability is its cost."""
TRY = ("`seq2see heads` prints every head's roles with intervals. `seq2see look RUN \"It rained. The cat was tired.\"`"
       " shows two sentences at once.")  # fmt: skip

WHERE = {"encoder": "the encoder", "decoder": "the decoder", "cross": "cross-attention"}
ALWAYS = 0.5  # share of its attention that a head gives to a place that it always looks at
HAS = 0.5  # share of the heads that must have a role for "every head has its focus" to hold partly
BERTS = ("next", "end")  # what one head of BERT's encoder is said always to look at, and one the other
SENTENCES = 100  # on which heads are taken away


@dataclass(frozen=True)
class Reach:
    """Of one kind of attention by layer, means over heads; `*_steps` are each layer's less those of the one before."""

    distance: tuple[Share, ...]
    distance_steps: tuple[Share, ...]
    evenness: tuple[Share, ...]
    evenness_steps: tuple[Share, ...]
    across: tuple[Share, ...]
    across_steps: tuple[Share, ...]
    across_even: float  # what an even head sends across
    two_sentences: int


@dataclass(frozen=True)
class Result:
    heads: tuple[Head, ...]
    roles: tuple[tuple[RoleScore, ...], ...]  # by head, those that hold
    best: tuple[RoleScore, ...]  # by kind and role the head that has it most
    sentences: int
    reach: dict[Kind, Reach]
    costs: tuple[Share, ...]  # by head, nats a piece


def reach(some: Sequence[Trace], kind: Kind, groups: Sequence[str]) -> Reach:
    """`lens.spread` sentence by sentence, so that there are intervals."""
    spreads = [spread([trace], kind) for trace in some]
    layers = spreads[0].distance.shape[0]
    two = [i for i, one in enumerate(spreads) if one.across is not None]

    def by_layer(name: str, chosen: Sequence[int]) -> tuple[tuple[Share, ...], tuple[Share, ...]]:
        values_NL = np.array([getattr(spreads[i], name).mean(-1) for i in chosen]).reshape(len(chosen), layers)
        own = [groups[i] for i in chosen]
        values, steps = (tuple(Share.of(column, own) for column in columns.T)
                         for columns in (values_NL, np.diff(values_NL, axis=1)))
        return values, steps

    everywhere = range(len(some))
    even = float(np.mean([spreads[i].across_even for i in two])) if two else float("nan")
    return Reach(*by_layer("distance", everywhere), *by_layer("evenness", everywhere), *by_layer("across", two), even,
                 len(two))


SHOWN = (reach,)


def compute(bench: Workbench) -> Result:
    dev, test = measured(bench)
    roles = roles_of_heads(dev, test)
    heads = all_heads(bench.model)
    some = traces(bench)[1]
    groups = [group_of(i, story) for i, story in enumerate(halves(bench)[1])]
    return Result(
        tuple(heads), tuple(tuple(one for one in roles[head] if one.holds) for head in heads),
        tuple(heads_of_roles(dev, test)), len(some), {kind: reach(some, kind, groups) for kind in KINDS},
        _costs(bench, heads, groups),
    )


def _costs(bench: Workbench, heads: Sequence[Head], groups: Sequence[str]) -> tuple[Share, ...]:
    """What a piece of the right translation loses in log-probability without each head, over sentences."""
    known, asked = (half[: bench.pick(SENTENCES, 12)] for half in traces(bench))
    means = mean_outputs(bench.model, [one.source_ids for one in known], [one.target_ids for one in known])
    bench.say("taking each head away")
    whole = np.array([trace.log_probs[1:].mean() for trace in asked])
    costs = []
    for head in heads:
        with ablate(bench.model, [head], replace="mean", means=means):
            costs.append(Share.of(whole - _log_probs(bench, asked), groups[: len(asked)]))
    return tuple(costs)


def _log_probs(bench: Workbench, some: Sequence[Trace]) -> np.ndarray:
    """Mean log-probability of the pieces of each target, after the tag, of the model as it is now: [N]."""
    found_N = np.empty(len(some))
    with looking(bench.model, eager=False):
        for rows in by_length([one.source_ids for one in some], [one.target_ids for one in some]):
            chosen = [some[row] for row in rows]
            output, target_BT = forced_pass(bench.model, [one.source_ids for one in chosen],
                                            [one.target_ids for one in chosen])
            log_prob_BT = chosen_log_probs(output.logits, target_BT).numpy()
            for b, row in enumerate(rows):
                found_N[row] = log_prob_BT[b, 1 : len(some[row].target)].mean()
    return found_N


def judge(result: Result) -> Verdict:
    having = sum(1 for roles in result.roles if roles)
    by_kind = ", ".join(f"{_having(result, kind)} of {_count(result, kind)} in {WHERE[kind]}" for kind in result.reach)
    names = {role.role for roles in result.roles for role in roles}
    costly = max(range(len(result.heads)), key=lambda i: result.costs[i].value)
    return overall((
        found("Every head has a focus of its own.",
              "holds" if having == len(result.heads) else
              "holds partly" if having >= HAS * len(result.heads) else "does not hold here",
              f"{having} of {len(result.heads)} heads have a role on unseen sentences, {by_kind}; there are"
              f" {len(names)} roles, {', '.join(sorted(names))} (wanted: every head; partly from {HAS:.0%} on)."),
        _berts(result),
        _antecedent(result),
        _rises(result, "distance_steps", "With each layer attention reaches wider.",
               f"From layer to layer the mean distance changes, in pieces, by {_changes(result, 'distance_steps')}, and"
               f" evenness by {_changes(result, 'evenness_steps')} (wanted: a rise of the distance at every step, its"
               " interval above 0, in each kind)."),
        _rises(result, "across_steps", "With each layer attention goes further beyond the sentence.",
               f"In {result.reach['encoder'].two_sentences} texts of two sentences the share that crosses over changes"
               f" from layer to layer by {_changes(result, 'across_steps')}; an even head of the encoder would send"
               f" {result.reach['encoder'].across_even:.0%} (wanted: a rise at every step, its interval above 0, in"
               " each kind)."),
        _matter(result),
    ), (
        f"{having} of {len(result.heads)} heads have one of the roles ({by_kind}). The mean distance changes from the"
        f" first layer to the last by {_changes(result, 'distance_steps', whole=True)} (in pieces), what crosses into"
        f" another sentence by {_changes(result, 'across_steps', whole=True)}. The head that costs most to lose is"
        f" {result.heads[costly]}, {result.costs[costly].value:.2f} nats a piece."
    ))


def _having(result: Result, kind: Kind) -> int:
    return sum(1 for head, roles in zip(result.heads, result.roles, strict=True) if roles and head.kind == kind)


def _count(result: Result, kind: Kind) -> int:
    return sum(1 for head in result.heads if head.kind == kind)


def _rises(result: Result, name: str, claim: str, why: str) -> Finding:
    """Whether it rises at every step from layer to layer, in each kind."""
    steps = [getattr(one, name) for one in result.reach.values()]
    if not all(steps) or any(np.isnan(step.value) for kind in steps for step in kind):
        return undecided(claim, "Not every kind of attention has a step between two layers that can be measured.")
    rises = [all(step.low > 0 for step in kind) for kind in steps]
    return found(claim, "holds" if all(rises) else "holds partly" if any(rises) else "does not hold here", why)


def _changes(result: Result, name: str, *, whole: bool = False) -> str:
    """The steps from layer to layer in each kind, with their intervals; or as a whole, from the first to the last."""
    parts = []
    for kind, one in result.reach.items():
        steps = getattr(one, name)
        said = [f"{sum(step.value for step in steps):+.2f}"] if whole else [
            f"{step.value:+.2f} ({step.low:+.2f} to {step.high:+.2f})" for step in steps]
        parts.append(" and ".join(said).replace("-", "−") + f" in {WHERE[kind]}")
    return ", ".join(parts)


def _berts(result: Result) -> Finding:
    best = {one.role: one for one in result.best if one.head.kind == "encoder" and one.role in BERTS}
    always = [role for role, one in best.items() if one.holds and one.score >= ALWAYS]
    scores = ", ".join(f"{role} {one.score:.0%} ({one.low:.0%} to {one.high:.0%}; even: {one.uniform:.0%})"
                       for role, one in best.items())
    return found(
        "One head of the encoder always looks at the next word, one at the end.",
        "holds" if len(always) == len(BERTS) else "holds partly" if always else "does not hold here",
        f"The most that a head has of these roles: {scores} (always means {ALWAYS:.0%}, and {100 * LEAST:.0f} points"
        " above an even head; partly if one of the two is there).")


def _antecedent(result: Result) -> Finding:
    claim = "A head looks from a pronoun to the noun it stands for."
    asked = [one for one in result.best if one.role == "antecedent"]
    best = [one for one in asked if one.decidable]
    if not best:
        places = ", ".join(f"{one.floor:.0%} ({WHERE[one.head.kind]})" for one in asked)
        return undecided(claim, f"The best fixed place has {places or 'nothing to look at'}: no head could be"
                                f" {100 * LEAST:.0f} points above.")
    scores = "; ".join(f"{one.head}{one.taught} {one.score:.0%} ({one.low:.0%} to {one.high:.0%}), with"
                       f" {one.rival or 0:.0%} on the other noun and {one.positional or 0:.0%} by the best fixed place"
                       for one in best)
    return found(claim, any(one.holds for one in best),
                 f"The heads with most of it, in each kind of attention where one could show it: {scores} (wanted:"
                 f" {100 * LEAST:.0f} points more than both).")


def _matter(result: Result) -> Finding:
    having, lacking = (Share.of([cost.value for cost, roles in zip(result.costs, result.roles, strict=True)
                                 if bool(roles) is wanted]) for wanted in (True, False))
    claim = "The heads that have a role are those that matter."
    if np.isnan(having.value) or np.isnan(lacking.value):
        return undecided(claim, f"{'No' if np.isnan(having.value) else 'Every'} head has a role: there are no others to"
                                " compare with.")
    return found(
        claim, having.low > max(0, lacking.high),
        f"Without a head that has a role a piece loses {having.value:.3f} nats ({having.low:.3f} to {having.high:.3f}"
        f" over heads); without one that has none it loses {lacking.value:.3f} ({lacking.low:.3f} to"
        f" {lacking.high:.3f}) (wanted: above 0, and intervals that do not meet).".replace("-0", "−0"))


def tables(result: Result) -> tuple[Table, ...]:
    def by_layer(shares: Sequence[Share]) -> str:
        return " → ".join(spelled(share.value) for share in shares)

    return (
        Table.of("By layer, first to last", ("", "distance, pieces", "evenness", "across sentences", "an even head"), [
            (NAMES[kind], by_layer(one.distance), by_layer(one.evenness), by_layer(one.across), one.across_even)
            for kind, one in result.reach.items()]),
        Table.of("For each role the head that has it most, on unseen sentences", (
            "role", "head", "share of its attention", "even", "best place", "claimed"), [
                (one.role, f"{one.head}{one.taught}", f"{one.score:.1%} ({one.low:.1%} to {one.high:.1%})",
                 f"{one.uniform:.1%}", "–" if one.positional is None else f"{one.positional:.1%}", one.holds)
                for one in result.best],
            folded=True),
    )


def look(result: Result) -> Look:
    """The head of the encoder that looks most from a pronoun to its noun."""
    text = "The owl lent the ladder to the crow. It was grateful."
    best = [one.head for one in result.best if one.role == "antecedent" and one.head.kind == "encoder"]
    return Look(text, *best[0]) if best else Look(text, "encoder")


def draw(result: Result) -> Figure:
    figure = Figure(figsize=(WIDTH, 5.8), layout="constrained")
    axes = figure.subplot_mosaic("ab;ac", width_ratios=(5, 3))
    columns = max(head.head for head in result.heads) + 1
    rows = sorted({(KINDS.index(head.kind), head.layer) for head in result.heads})
    grid = np.full((len(rows), columns), np.nan)
    for head, cost, roles in zip(result.heads, result.costs, result.roles, strict=True):
        row = rows.index((KINDS.index(head.kind), head.layer))
        grid[row, head.head] = max(cost.value, 0)
        said = roles[0].role.replace(" ", "\n", 1) + "\nsupervised" * roles[0].supervised if roles else ""
        axes["a"].text(head.head, row, f"{said}\n{cost.value:.2f}".strip(), ha="center", va="center", fontsize=7,
                       color=INK)
    heatmap(axes["a"], grid, rows=[f"{KINDS[kind]} {layer}" for kind, layer in rows],
            columns=[str(head) for head in range(columns)], numbers=False)
    axes["a"].set_title("Role, and cost of losing it (nats a piece)", pad=20)
    for place, name, title in (("b", "distance", "Distance, pieces"), ("c", "across", "Across sentences")):
        for (kind, one), colour in zip(result.reach.items(), (BLUE, ORANGE, GREEN), strict=True):
            shares = getattr(one, name)
            values, low, high = np.array([(share.value, share.low, share.high) for share in shares]).T
            axes[place].plot(range(len(values)), values, color=colour, marker="o", label=kind)
            axes[place].fill_between(range(len(values)), low, high, color=colour, alpha=0.2, linewidth=0)
        axes[place].set_xticks(range(len(shares)))
        axes[place].set_title(title)
    axes["c"].axhline(result.reach["encoder"].across_even, color=SOFT, linewidth=1, linestyle="--")
    axes["c"].text(len(shares) - 1, result.reach["encoder"].across_even, "an even head of the encoder", color=SOFT,
                   ha="right", va="top", fontsize=7)
    for place in "bc":
        axes[place].set_ylim(0)
    axes["c"].set_xlabel("layer")
    axes["b"].legend(fontsize=8)
    return figure
