"""Lesson 14: what a small model learns from few sentences, and what helps."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.figure import Figure

from ..lens import trace_texts
from ..lens.heads import measure
from ..measures.gold import in_halves, to_gold
from ..storybook import StoryPair
from .drawing import BLUE, GREEN, ORANGE, PURPLE, new_figure
from .lesson import Table, Verdict, found, overall
from .small import (
    Recipe,
    SmallTransformer,
    Task,
    in_rows,
    quality,
    task_of,
    test_loss,
    trained,
    translate,
)
from .workbench import Workbench

TITLE = "Overfitting"
CLAIM = ("On a small data set attention overfits: heads need not find what they are said to find, and a pronoun is not"
         " matched with its noun.")  # fmt: skip
HOW = """The small Transformer is trained on 60, on 250 and on all sentences of its task, for as many steps on as many
tokens, so that the fewer there are the oftener each is seen; and on the 60 with dropout. Three seeds each, looked at
after an eighth, a quarter, a half and all of the training.

Each time: the loss on what it is trained on and on unseen combinations of words; how often *il* or *elle* is right
where the adjective tells which noun is meant (*too tired*, *too wide*: by chance half); the share of attention that
goes from *it* to its noun and to what is said of it, in the encoder head that has most; and how spread out the
encoder's attention is, as the entropy of a row over that of an even one. That head, and the time to stop at, are chosen
on one half of the unseen sentences (validation); the attention and every loss on unseen ones are of the other. In the
picture dotted lines are the loss on what was seen."""
TRY = ("`seq2see train storybook training.num_train_epochs=3 data.path=mine.tsv` with a hundred lines of your own, and"
       " again with `model.dropout=0.3`: compare `eval_loss`.")

SIZES = {"60": Recipe(pairs=60), "250": Recipe(pairs=250), "all": Recipe()}
DROPOUT = Recipe(pairs=60, dropout=0.3)
NAMES = ("60", "60, dropout", "250", "all")
COLOURS = (ORANGE, PURPLE, GREEN, BLUE)

GAP = 10.0  # times the loss on what was seen: learnt by heart
RISEN = 1.05  # times the lowest loss on unseen pairs
CHANCE, MATCHED = 50.0, 10.0  # percent of pronouns, and points above that which count as matched
ROLE = 0.05  # share of attention that counts as a difference
HELPS = 0.95  # of the loss without the remedy


@dataclass(frozen=True)
class Result:
    pairs: dict[str, int]
    steps: tuple[int, ...]
    seen: dict[str, np.ndarray]  # name -> [seeds,marks]: loss on training pairs, nats
    validation: dict[str, np.ndarray]  # on the unseen ones that choose
    unseen: dict[str, np.ndarray]  # on the others
    pronoun: dict[str, np.ndarray]  # right, percent
    exact: dict[str, np.ndarray]
    noun: dict[str, np.ndarray]  # share of attention from *it* to its noun, by the encoder head chosen for it
    state: dict[str, np.ndarray]  # to what is said of it
    entropy: dict[str, np.ndarray]  # of encoder rows, 1 is even


def compute(bench: Workbench) -> Result:
    task = task_of(bench)
    recipes = dict(zip(NAMES, (SIZES["60"], DROPOUT, SIZES["250"], SIZES["all"]), strict=True))
    names = ("seen", "validation", "unseen", "pronoun", "exact", "noun", "state", "entropy")
    figures: dict[str, dict[str, np.ndarray]] = {name: {} for name in names}
    steps: tuple[int, ...] = ()
    for name, recipe in recipes.items():
        runs = [trained(bench, recipe, seed) for seed in bench.seeds]
        steps = tuple(runs[0].models)
        seen = task.train[: recipe.pairs or None][:200]
        rows = np.array([[looked_at(model, task, seen, bench.pick(40, 4)) for model in run.models.values()]
                         for run in runs])  # fmt: skip
        for column, figure in enumerate(names):
            figures[figure][name] = rows[:, :, column]
    sizes = {name: len(task.train[: recipe.pairs or None]) for name, recipe in recipes.items()}
    return Result(sizes, steps, **figures)


def looked_at(model: object, task: Task, seen: Sequence[StoryPair], traced: int) -> list[float]:
    """The eight figures of one model."""
    assert isinstance(model, SmallTransformer)
    good = quality(task.test, translate(model, task.tokenizer, [story.source for story in task.test]))
    losses = [test_loss(model, in_rows(stories, 1), task.tokenizer) for stories in (seen, *in_halves(task.test))]
    easy = in_halves((story for story in task.test if story.family == "easy"), traced)
    return [*losses, good.pronoun, good.exact, *of_attention(model, task, *easy)]


def of_attention(model: SmallTransformer, task: Task, validation: Sequence[StoryPair],
                 stories: Sequence[StoryPair]) -> tuple[float, float, float]:
    """From *it*: the share on its noun, and on what is said of it, of the encoder heads that have most of them in
    validation; and how even all rows are."""
    both = [trace_texts(model.network, task.tokenizer, [story.source for story in half],
                        [story.target for story in half], source_language="en", target_language="fr")
            for half in (validation, stories)]  # fmt: skip
    chosen_on, scores = (measure(traces, map(to_gold, half)).scores
                         for traces, half in zip(both, (validation, stories), strict=True))
    noun, state = (float(scores["encoder", role].mean(0).flat[chosen_on["encoder", role].mean(0).argmax()])
                   for role in ("antecedent", "state"))
    return noun, state, float(np.mean([evenness(trace.maps("encoder")) for trace in both[1]]))


def evenness(maps: np.ndarray) -> float:
    """The entropy of rows of attention over that of an even row: 1 looks everywhere alike, 0 at one place."""
    entropy = -(maps * np.log(np.maximum(maps, 1e-12))).sum(-1)
    return float(entropy.mean() / np.log(maps.shape[-1]))


SHOWN = (of_attention, evenness)


def judge(result: Result) -> Verdict:
    def last(figure: dict[str, np.ndarray], name: str) -> float:
        return float(figure[name][:, -1].mean())

    few, most = NAMES[0], NAMES[-1]
    mark = int(result.validation[few].mean(0).argmin())
    best, stopped = float(result.unseen[few].mean(0)[mark]), result.steps[mark]
    gap = last(result.unseen, few) / last(result.seen, few)
    gap_most = last(result.unseen, most) / last(result.seen, most)
    pronoun, pronoun_most = last(result.pronoun, few), last(result.pronoun, most)
    looks = [(last(figure, most) - last(figure, few), figure[most][:, -1].min() > figure[few][:, -1].max())
             for figure in (result.noun, result.state)]
    dropout = last(result.unseen, "60, dropout") / last(result.unseen, few)
    findings = (
        found("A small set is learnt by heart.", gap > GAP > gap_most,
              f"Trained on {result.pairs[few]} sentences, the loss ends at {last(result.seen, few):.3f} nats on them"
              f" and at {last(result.unseen, few):.2f} on unseen ones, {gap:,.0f} times as high; trained on"
              f" {result.pairs[most]:,}, {gap_most:.1f} times (by heart: more than {GAP:.0f})."),
        found("The pronoun is then not matched.", pronoun < CHANCE + MATCHED <= pronoun_most,
              f"{pronoun:.0f} % of pronouns are right with {result.pairs[few]} sentences and {pronoun_most:.0f} % with"
              f" {result.pairs[most]:,} (matched: from {CHANCE + MATCHED:.0f} %; a coin gets half)."),
        found("Heads do not find what they are said to find.", all(gain > ROLE and clear for gain, clear in looks),
              f"With {result.pairs[most]:,} sentences the best encoder head puts {last(result.noun, most):.0%} of"
              f" *it*'s attention on the noun and {last(result.state, most):.0%} on what is said of it; with"
              f" {result.pairs[few]}, {last(result.noun, few):.0%} and {last(result.state, few):.0%} (a difference:"
              f" {ROLE:.0%} of both, and seeds that do not overlap). Attention is {last(result.entropy, few):.0%} as"
              f" even as can be with few, {last(result.entropy, most):.0%} with all."),
        found("Stopping in time helps.", last(result.unseen, few) > RISEN * best,
              f"In validation the loss is lowest after {stopped} of {result.steps[-1]} steps; on other unseen sentences"
              f" it is {best:.2f} nats there and ends at {last(result.unseen, few):.2f} (helps: if it ends"
              f" {RISEN - 1:.0%} higher)."),
        found("Dropout helps.", dropout < HELPS,
              f"With it the loss on unseen sentences is {dropout:.2f} times what it is without (helps: below {HELPS}),"
              f" and {last(result.pronoun, '60, dropout'):.0f} % of pronouns are right."),
        found("More sentences help most.", last(result.unseen, most) < min(last(result.unseen, "60, dropout"), best),
              f"With {result.pairs[most]:,} the loss on unseen ones is {last(result.unseen, most):.2f} nats; dropout"
              f" reaches {last(result.unseen, '60, dropout'):.2f}, stopping in time {best:.2f}."),
    )  # fmt: skip
    return overall(findings, (
        f"On {result.pairs[few]} sentences the model ends {gap:,.0f} times as surprised by unseen ones as by its own"
        f" and gets {pronoun:.0f} % of pronouns right; on {result.pairs[most]:,}, {gap_most:.1f} times and"
        f" {pronoun_most:.0f} %."
    ))


def tables(result: Result) -> tuple[Table, ...]:
    rows = [
        (name, *(float(figure[name][:, -1].mean()) * scale for figure, scale in (
            (result.seen, 1), (result.unseen, 1), (result.exact, 1), (result.pronoun, 1), (result.noun, 100),
            (result.state, 100), (result.entropy, 100)))) for name in NAMES
    ]  # fmt: skip
    by_time = [(f"{figure}, {name}", *map(float, values[name].mean(0)))
               for figure, values in (("loss on unseen, nats", result.unseen), ("pronoun right, %", result.pronoun))
               for name in NAMES]  # fmt: skip
    spread = [(name, *(f"{values[name][:, -1].min():.3g} to {values[name][:, -1].max():.3g}" for values in (
        result.unseen, result.pronoun, result.noun, result.state))) for name in NAMES]  # fmt: skip
    return (
        Table.of("At the end of training, mean of seeds", (
            "sentences", "loss on them", "on unseen ones", "exact, %", "pronoun right, %", "it to noun, %",
            "it to predicate, %", "evenness, %"), rows),
        Table.of("The same, lowest to highest seed", ("sentences", "loss on unseen ones", "pronoun right, %",
                                                      "it to noun", "it to predicate"), spread),
        Table.of("On the way", ("", *(f"{step} steps" for step in result.steps)), by_time, folded=True),
    )  # fmt: skip


def look(result: Result) -> None:
    """There is no map to open."""
    return None


def draw(result: Result) -> Figure:
    figure, panels = new_figure(3, height=3.4)
    drawn = ((result.unseen, "Loss, nats", 1), (result.pronoun, "Pronoun right, %", 1),
             (result.state, "it to predicate, %", 100))
    for axes, (values, title, scale) in zip(panels, drawn, strict=True):
        for name, colour in zip(NAMES, COLOURS, strict=True):
            curve = values[name] * scale
            axes.plot(result.steps, curve.mean(0), color=colour, marker="o", markersize=4, label=name)
            axes.fill_between(result.steps, curve.min(0), curve.max(0), color=colour, alpha=0.15, linewidth=0)
            if values is result.unseen:
                axes.plot(result.steps, result.seen[name].mean(0), color=colour, linestyle=":", linewidth=1.5)
        axes.set_title(title)
        axes.set_xlabel("steps")
    panels[0].set_yscale("log")
    panels[1].set_ylim(0, 100)
    panels[2].set_ylim(0)
    handles, names = panels[1].get_legend_handles_labels()
    figure.legend(handles, names, title="sentences", loc="outside lower center", ncols=4)
    return figure
