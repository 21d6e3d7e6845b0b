"""Lesson 7: several heads are a sum, and are there to look at several things at once."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from matplotlib.figure import Figure
from transformers import PreTrainedModel

from ..lens import trace_texts
from ..lens.anatomy import AttentionSite, attention_sites, supervised_heads
from ..lens.forcing import encode_source, looking
from ..lens.heads import LEAST, RoleScore, heads_of_roles, measure
from ..lens.wording import NAMES
from ..measures.gold import in_halves, to_gold
from ..storybook import HARD
from .drawing import BLUE, INK, ORANGE, SOFT, new_figure
from .lesson import Finding, Look, Table, Verdict, Word, found, overall, undecided
from .small import Recipe, quality, task_of, test_loss, trained, translate
from .small import in_rows as rows_of
from .workbench import Workbench

TITLE = "Many heads"
CLAIM = ("Several heads, each with its own queries, keys and values, see more than one does: for *it*, one finds who is"
         " meant, one what state it is in, one what happened; what they find is added up, or laid side by side and"
         " projected, which is the same.")  # fmt: skip
HOW = """The output of each encoder attention of the trained model is computed twice, in double precision: the heads'
outputs laid side by side and multiplied by W_O, and each head's output multiplied by its own part of that matrix, and
the products added.

A small Transformer with four heads of 16 dimensions is trained against one with a single head of 64, which has as many
weights: same batches, same steps, three seeds.

Then every head of the trained model's encoder and cross-attention is scored on what it looks at from *it* (or from the
step that writes *il* or *elle*): the noun that is meant, the predicate, the verb. Storybook knows which words these
are. The best head of each role is chosen on one half of the sentences and scored on the other, beside what a head would
get that looks everywhere alike, always at the same place, or at the wrong nouns. Where one fixed place would do nearly
as well as a head that looks nowhere else, no head can show that it asks, and nothing is decided."""
TRY = "Run `seq2see heads RUN` to see every role of every head, and what becomes of the pronoun without each of them."

EXACT = 1e-10  # double precision
OWN_SLICE = 2.0  # times its even share: a head that reads mostly "its part" of the embedding
BETTER = 3.0  # percentage points of exact translations that count as a difference
ROLES = {"antecedent": "who", "state": "what state", "action": "what action"}


@dataclass(frozen=True)
class Result:
    off: float  # sum of heads against concatenation and projection, as a share of the output's size
    off_plain: float  # heads added up without their part of W_O, put through its mean part
    heads: int
    slices: float  # share of a head's W_Q, W_K and W_V (squared) on the slice of the embedding with its own number
    exact: np.ndarray  # [2,seeds] percent: four heads, one head
    pronoun: np.ndarray  # [2,seeds]
    loss: np.ndarray  # [2,seeds]
    roles: tuple[RoleScore, ...]  # the best head of each kind and role; of a role the clearest on the first half first
    sentences: int


def together(per_head_HTE: torch.Tensor, output_DHE: torch.Tensor) -> torch.Tensor:
    """Concatenate, then project: [H,T,E] side by side is [T,H*E], times W_O is [T,D]."""
    side_by_side = per_head_HTE.transpose(0, 1).flatten(1)
    return side_by_side @ output_DHE.T


def added_up(per_head_HTE: torch.Tensor, output_DHE: torch.Tensor) -> torch.Tensor:
    """Project each head with its own columns of W_O, then add."""
    heads, _, size = per_head_HTE.shape
    parts = output_DHE.split(size, dim=1)
    return torch.stack([per_head_HTE[head] @ parts[head].T for head in range(heads)]).sum(0)


SHOWN = (together, added_up)


def compute(bench: Workbench) -> Result:
    sources = [story.source for story in bench.corpus.test[: bench.pick(20, 3)]]
    sites = [site for group in attention_sites(bench.model).values() for site in group]
    off, off_plain = both_ways(bench, attention_sites(bench.model)["encoder"], sources)
    task = task_of(bench)
    unseen = [story.source for story in task.test]
    exact, pronoun, loss = (np.empty((2, len(bench.seeds))) for _ in range(3))
    for row, heads in enumerate((4, 1)):
        for column, seed in enumerate(bench.seeds):
            model = trained(bench, Recipe(heads=heads), seed).model
            good = quality(task.test, translate(model, task.tokenizer, unseen))
            exact[row, column], pronoun[row, column] = good.exact, good.pronoun
            loss[row, column] = test_loss(model, rows_of(task.test, 1), task.tokenizer)
    roles, sentences = what_heads_look_at(bench)
    return Result(off, off_plain, sites[0].heads, own_slice(sites), exact, pronoun, loss, roles, sentences)


@torch.no_grad()
def both_ways(bench: Workbench, sites: Sequence[AttentionSite], sources: Sequence[str]) -> tuple[float, float]:
    """How far the two sums are apart in every layer, and how far they are from heads added up as they are."""
    worst, plain = 0.0, []
    for site in sites:
        inputs: list[torch.Tensor] = []
        handle = site.output.register_forward_pre_hook(lambda module, args, kept=inputs: kept.append(args[0]))
        with looking(bench.model):
            for source in sources:
                bench.model.get_encoder()(input_ids=torch.tensor([encode_source(bench.tokenizer, source)]))
        handle.remove()
        weight_DHE = site.output.weight.double()
        for concatenated in inputs:
            heads_HTE = concatenated[0].double().unflatten(-1, (site.heads, -1)).transpose(0, 1)
            output = together(heads_HTE, weight_DHE)
            size = float(output.abs().max())
            worst = max(worst, float((output - added_up(heads_HTE, weight_DHE)).abs().max()) / size)
            mean_part = torch.stack(weight_DHE.split(site.head_size, dim=1)).mean(0)
            plain.append(float((output - heads_HTE.sum(0) @ mean_part.T).norm() / output.norm()))
    return worst, float(np.mean(plain))


@torch.no_grad()
def own_slice(sites: Sequence[AttentionSite]) -> float:
    """What share of a head's weights reads the slice of the embedding that has the head's number (even: 1/H)."""
    shares = []
    for site in sites:
        for projection in (site.module.q_proj, site.module.k_proj, site.value):
            square = projection.weight.square().unflatten(1, (site.heads, -1)).unflatten(0, (site.heads, -1))
            blocks = square.sum((1, 3))  # [heads, slices of the embedding]
            shares.append(float((blocks.diagonal() / blocks.sum(1)).mean()))
    return float(np.mean(shares))


def what_heads_look_at(bench: Workbench) -> tuple[tuple[RoleScore, ...], int]:
    """The best encoder and cross-attention head of each role, chosen and ranked on one half of contrast sentences."""
    stories = [story for story in bench.corpus.test if story.kind == "contrast" and story.family in HARD]
    halves = in_halves(stories, bench.pick(160, 12))
    dev, test = (measure(traces_of(bench.model, bench, half), [to_gold(story) for story in half],
                         supervised=supervised_heads(bench.model)) for half in halves)
    clear = {(one.role, one.head): one.score - one.baseline for one in heads_of_roles(dev, dev)}
    scores = [score for score in heads_of_roles(dev, test) if score.role in ROLES and score.head.kind != "decoder"]
    scores.sort(key=lambda one: (list(ROLES).index(one.role), -clear[one.role, one.head]))
    return tuple(scores), len(halves[1])


def traces_of(model: PreTrainedModel, bench: Workbench, stories: Sequence) -> list:
    return trace_texts(model, bench.tokenizer, [story.source for story in stories],
                       [story.target for story in stories], source_language="en", target_language="fr")


def judge(result: Result) -> Verdict:
    exact = result.exact.mean(1)
    gain = exact[0] - exact[1]
    clear = result.exact[0].min() > result.exact[1].max()
    better: Word = "holds" if gain >= BETTER and clear else "holds partly" if gain >= BETTER else "does not hold here"
    even = 1 / result.heads
    findings = (
        found("Adding the heads up is the same as laying them side by side and projecting.", result.off < EXACT,
              f"The two differ by {result.off:.0e} of the output (allowed: {EXACT:.0e}), if each head has its own part"
              f" of the projection. Heads added as they are, with one projection for all, are off by"
              f" {result.off_plain:.0%}."),
        found("Each head works on a part of the embedding.", result.slices > OWN_SLICE * even,
              f"Every head reads the whole embedding: {result.slices:.1%} of its weights lie on the slice with its"
              f" number, evenly it would be {even:.1%} (wanted: {OWN_SLICE:.0f} times that). What is a part is what it"
              " writes before W_O mixes the heads."),
        found("Several heads learn more than one of the same size.", better,
              f"Four heads translate {exact[0]:.1f} % of unseen sentences exactly ({result.exact[0].min():.1f} to"
              f" {result.exact[0].max():.1f} over seeds), one head {exact[1]:.1f} % ({result.exact[1].min():.1f} to"
              f" {result.exact[1].max():.1f}); a difference is {BETTER:.0f} points and seeds that do not overlap."),
        *(_role(result, role) for role in ROLES),
    )  # fmt: skip
    named = [ROLES[role] for role in ROLES if (best := _best(result, role)) and best.holds]
    return overall(findings, (
        f"Sum and concatenation agree to {result.off:.0e}. Four heads get {exact[0]:.0f} % of unseen sentences right,"
        f" one of their size {exact[1]:.0f} %. Of *who*, *what state* and *what action*, the trained model has a head"
        f" of the encoder or of cross-attention for {', '.join(f'*{one}*' for one in named) or 'none'}."
    ))


def _best(result: Result, role: str) -> RoleScore | None:
    """The head that the first half chose, among those of which the second can tell."""
    return next((one for one in result.roles if one.role == role and one.decidable), None)


def _role(result: Result, role: str) -> Finding:
    claim = f"One head of the encoder or of cross-attention asks {ROLES[role]}."
    best = _best(result, role)
    if best is None:
        asked = [one for one in result.roles if one.role == role]
        places = ", ".join(f"{one.floor:.0%} ({NAMES[one.head.kind].lower()})" for one in asked)
        return undecided(claim, f"One that knows nothing would have {places} of its weight there: no head could be"
                                f" {100 * LEAST:.0f} points above." if places else "No sentence here has it.")
    return found(claim, best.holds,
                 f"The best is {NAMES[best.head.kind].lower()} layer {best.head.layer}, head {best.head.head}"
                 f"{best.taught}: {best.score:.0%} of its weight ({best.low:.0%} to {best.high:.0%}), where one at a"
                 f" fixed place, or blind to *it*, would have {best.baseline:.0%}; it must be clearly above that, by"
                 f" {100 * LEAST:.0f} points at least.")


def tables(result: Result) -> tuple[Table, ...]:
    small = [(name, float(values[0].mean()), f"{values[0].min():.3g} to {values[0].max():.3g}",
              float(values[1].mean()), f"{values[1].min():.3g} to {values[1].max():.3g}")
             for name, values in (("exact, %", result.exact), ("pronoun right, %", result.pronoun),
                                  ("loss on unseen pairs, nats", result.loss))]
    roles = [(ROLES[one.role], NAMES[one.head.kind].lower(),
              f"{one.head.layer}.{one.head.head}{one.taught}", 100 * one.score,
              f"{100 * one.low:.0f} to {100 * one.high:.0f}", 100 * one.baseline, one.holds) for one in result.roles]
    return (
        Table.of("Small models of equal size", ("", "four heads", "seeds", "one head", "seeds"), small),
        Table.of(f"Where heads look from *it*, in % of their weight; {result.sentences} sentences",
                 ("question", "attention", "layer.head", "weight", "interval", "without knowing", "claimed"), roles),
    )  # fmt: skip


def look(result: Result) -> Look:
    """The head that has its role most clearly."""
    text = "The goat chased the wolf because it was hungry."
    best = max(result.roles, key=lambda score: score.score - score.baseline, default=None)
    return Look(text, *best.head) if best else Look(text)


def draw(result: Result) -> Figure:
    figure, (left, right) = new_figure(2, width_ratios=(1, 2))
    for place, colour in enumerate((BLUE, ORANGE)):
        left.bar(place, result.exact[place].mean(), color=colour, width=0.6)
        left.plot([place] * result.exact.shape[1], result.exact[place], "o", color=INK, markersize=4)
    left.set_xticks([0, 1], ["four heads", "one head"])
    left.set_ylim(0, 100)
    left.set_title("Exact, %")
    left.grid(axis="x", visible=False)
    names = [f"{ROLES[score.role]} ({score.head}{', supervised' * score.supervised})" for score in result.roles]
    for place, score in enumerate(result.roles):
        right.barh(place, 100 * score.score, color=BLUE if score.holds else SOFT, height=0.6)
        right.plot([100 * score.low, 100 * score.high], [place, place], color=INK, linewidth=1.5)
        right.plot([100 * score.baseline] * 2, [place - 0.4, place + 0.4], color=ORANGE, linewidth=2)
    right.set_yticks(range(len(names)), names)
    right.invert_yaxis()
    right.set_xlim(0)
    right.set_title("Weight, %; orange: a fixed place")
    right.grid(axis="y", visible=False)
    return figure
