"""Lesson 18: what a small model learns from few sentences, and what helps."""

from collections.abc import Sequence

import numpy as np

from ..measures.gold import in_halves
from ..storybook import StoryPair
from ..training.metrics import pronoun_accuracy, score
from .held_out import measured_on
from .lesson import Check, Checks, CurvePanel, Exhibits, Figures, Table, Workbench, over_seeds
from .small import Recipe, SmallModel, SmallTransformer, Task, in_rows, task_of, test_loss, trained, translate

RECIPES = {"few": Recipe(pairs=60), "dropout": Recipe(pairs=60, dropout=0.3), "some": Recipe(pairs=250),
           "all": Recipe()}
FEW, DROPOUT, _, ALL = RECIPES
LABELS = {"few": "60", "dropout": "60, dropout", "some": "250", "all": "all"}
COLUMNS = ("seen", "validation", "unseen", "pronoun", "exact", "noun", "state")

GAP = 10.0  # times the loss on seen pairs: memorised
RISEN = 1.05  # times the lowest loss on unseen pairs
MATCHED = 0.6  # share of pronouns; a coin gets half
ROLE = 0.05  # share of attention that counts as a difference
HELPS = 0.95  # of the loss without the remedy


def measure(bench: Workbench) -> Figures:
    task = task_of(bench)
    rows: dict[str, np.ndarray] = {}  # name -> [seeds,marks,COLUMNS]
    pairs: dict[str, int] = {}
    steps: tuple[int, ...] = ()
    for name, recipe in RECIPES.items():
        runs = [trained(bench, recipe, seed) for seed in bench.seeds]
        steps, known = tuple(runs[0].models), task.train[: recipe.pairs or None]
        pairs[name] = len(known)
        rows[name] = np.array([[model_row(model, task, known[:200], bench.pick(40, 4)) for model in run.models.values()]
                               for run in runs])
    by_column = {column: {name: of[:, :, number] for name, of in rows.items()} for number, column in enumerate(COLUMNS)}
    return summarised(by_column, pairs, steps)


def summarised(by_column: dict[str, dict[str, np.ndarray]], pairs: dict[str, int], steps: tuple[int, ...]) -> Figures:
    """The figures for the claims, from [seeds,marks] of each column and name."""
    last = {column: {name: float(of[:, -1].mean()) for name, of in by.items()} for column, by in by_column.items()}
    mark = int(by_column["validation"][FEW].mean(0).argmin())
    best = float(by_column["unseen"][FEW].mean(0)[mark])
    role = {column: (last[column][ALL] - last[column][FEW],
                     by_column[column][ALL][:, -1].min() - by_column[column][FEW][:, -1].max())
            for column in ("noun", "state")}
    return Figures(
        curves=by_column, pairs=pairs, steps=steps, marks=steps[:-1], last=last, stop=steps[mark], end=steps[-1],
        best=best,
        gap=last["unseen"][FEW] / last["seen"][FEW], gap_all=last["unseen"][ALL] / last["seen"][ALL],
        gain=min(gain for gain, _ in role.values()), between=min(between for _, between in role.values()),
        stopping=last["unseen"][FEW] / best, dropout=last["unseen"][DROPOUT] / last["unseen"][FEW],
        more=min(last["unseen"][DROPOUT], best) - last["unseen"][ALL],
    )


def model_row(model: SmallModel, task: Task, seen: Sequence[StoryPair], traced: int) -> list[float]:
    """One model's value of each of COLUMNS."""
    assert isinstance(model, SmallTransformer)
    texts = translate(model, task.tokenizer, [story.source for story in task.test])
    pronoun = pronoun_accuracy(task.test, texts)["easy"]["pronoun"] / 100
    exact = score(texts, [story.target for story in task.test]).exact_match / 100
    losses = [test_loss(model, in_rows(stories, 1), task.tokenizer) for stories in (seen, *in_halves(task.test))]
    easy = in_halves((story for story in task.test if story.family == "easy"), traced)
    return [*losses, pronoun, exact, *of_attention(model, task, *easy)]


def of_attention(model: SmallTransformer, task: Task, validation: Sequence[StoryPair],
                 stories: Sequence[StoryPair]) -> list[float]:
    """Attention from *it* to its noun and to its predicate, in the encoder heads with the largest shares in
    validation."""
    halves = [measured_on(model.network, task.tokenizer, half) for half in (validation, stories)]
    means = ([half["encoder", role].scores.mean(0) for half in halves] for role in ("antecedent", "state"))
    return [float(reported.flat[chosen_on.argmax()]) for chosen_on, reported in means]


SHOWN = (of_attention,)


def claims(f: Figures) -> Checks:
    return {
        "memorised": [Check(f.gap, ">", GAP, "few sentences, ratio"),
                      Check(f.gap_all, "<", GAP, "all sentences, ratio")],
        "pronoun": [Check(f.last["pronoun"][FEW], "<", MATCHED, "few sentences"),
                    Check(f.last["pronoun"][ALL], "≥", MATCHED, "all sentences")],
        "heads": [Check(f.gain, ">", ROLE, "smaller gain"), Check(f.between, ">", 0, "gap between the closest seeds")],
        "stopping": [Check(f.stopping, ">", RISEN)],
        "dropout": [Check(f.dropout, "<", HELPS)],
        "more": [Check(f.more, ">", 0, "nats below the better of the other two remedies")],
    }


def exhibits(f: Figures) -> Exhibits:
    lines = {column: {LABELS[name]: over_seeds(of.T) for name, of in f.curves[column].items()} for column in COLUMNS}
    ends = [(label, *(lines[column][label][-1] for column in COLUMNS if column != "validation"))
            for label in LABELS.values()]
    return [
        Table("At the end of training, and the spread over seeds",
              ("training sentences", "loss on them", "loss on unseen sentences", "pronouns right", "exact",
               "*it* to noun", "*it* to predicate"), ends),
        CurvePanel("Loss, unseen pairs", f.steps, lines["unseen"], "steps", log=True),
        CurvePanel("Pronouns right", f.steps, lines["pronoun"], "steps", top=1),
        CurvePanel("it to predicate", f.steps, lines["state"], "steps"),
    ]
