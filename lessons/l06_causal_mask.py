"""Lesson 6: the causal mask keeps a model from reading the answer, and makes one pass as good as many."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from matplotlib.figure import Figure
from torch.nn.functional import cross_entropy

from .drawing import BLUE, INK, ORANGE, new_figure
from .lesson import Look, Table, Verdict, found, overall
from .small import (
    Recipe,
    SmallModel,
    Task,
    in_rows,
    open_mask,
    quality,
    task_of,
    test_loss,
    trained,
    translate,
)
from .workbench import Workbench

TITLE = "The causal mask"
CLAIM = ("If the decoder could see the words to come, it would copy them in training and have learnt nothing; with them"
         " masked, one pass over a sentence of N words trains N predictions at once.")  # fmt: skip
HOW = """A small Transformer is trained on the easy part of storybook, with the mask and without, for as many steps on
the same batches, from three seeds; without the mask nothing else changes, padding stays hidden. Then both translate
sentences that they have not seen, word by word, when there is no word to come that could be seen.

The picture shows the training loss: how surprised the model is by the right next piece. Bands reach from the lowest
seed to the highest.

With the mask, the loss of every next piece is then computed twice: from one pass over the whole translation, and from
one pass for each of its beginnings."""
TRY = ("Let a position see itself and the next word only: set the mask in `open_mask` so. One word to come is enough"
       " for the collapse.")  # fmt: skip

COLLAPSED = 1 / 3  # the loss that training ends with is below this share of what it is with the mask
FAILS = 0.1  # and exact translations are below this share
EQUAL = 1e-4  # one pass and many: nats between their losses
CHEAPER = 2.0  # times less processor time
POINTS = 40  # of a curve


@dataclass(frozen=True)
class Result:
    steps: int
    curves: np.ndarray  # [2,seeds,points]: training loss, with the mask and without
    seen: np.ndarray  # [2,seeds]: loss on unseen pairs, as trained
    hidden: np.ndarray  # [seeds]: of the models without a mask, when it is put in
    exact: np.ndarray  # [2,seeds]: unseen sentences translated exactly, in percent
    chrf: np.ndarray  # [2,seeds]
    source: str
    written: tuple[str, str]  # what the first seed's two models make of it
    off: float  # largest difference between the losses of one pass and those of many
    seconds: tuple[float, float]  # of processor time: one pass a sentence, one a beginning
    pieces: int  # predicted, in all sentences
    stretches: int  # of neighbouring pieces that these sentences have


def compute(bench: Workbench) -> Result:
    task = task_of(bench)
    recipes = (Recipe(), Recipe(causal=False))
    runs = [[trained(bench, recipe, seed) for seed in bench.seeds] for recipe in recipes]
    sources = [story.source for story in task.test]
    texts = [[translate(run.model, task.tokenizer, sources) for run in row] for row in runs]
    scores = [[quality(task.test, one) for one in row] for row in texts]
    pairs = in_rows(task.test, 1)
    seen = [[test_loss(run.model, pairs, task.tokenizer) for run in row] for row in runs]
    hidden = []
    for run in runs[1]:
        run.model.causal = True
        hidden.append(test_loss(run.model, pairs, task.tokenizer))
    return Result(
        len(runs[0][0].losses), np.array([[thinned(run.losses) for run in row] for row in runs]), np.array(seen),
        np.array(hidden), np.array([[one.exact for one in row] for row in scores]),
        np.array([[one.chrf for one in row] for row in scores]), sources[0], (texts[0][0][0], texts[1][0][0]),
        **passes(runs[0][0].model, task, bench.pick(20, 3)),
    )  # fmt: skip


def thinned(losses: Sequence[float]) -> list[float]:
    """A curve of POINTS means."""
    return [float(part.mean()) for part in np.array_split(np.array(losses), min(POINTS, len(losses)))]


def passes(model: SmallModel, task: Task, sentences: int) -> dict[str, Any]:
    """The loss of each next piece from one pass, and from a pass for each beginning."""
    seconds = [0.0, 0.0]
    off, lengths = 0.0, []
    for story in task.test[:sentences]:
        source = torch.tensor([task.tokenizer.encode_source(story.source)])
        target = torch.tensor([[1, *task.tokenizer.encode_target(story.target, language="fr")]])
        begun = time.process_time()
        at_once = losses_at_once(model, source, target)
        between = time.process_time()
        one_by_one = losses_one_by_one(model, source, target)
        seconds = [seconds[0] + between - begun, seconds[1] + time.process_time() - between]
        off = max(off, float((at_once - one_by_one).abs().max()))
        lengths.append(len(at_once))
    stretches = sum(length * (length + 1) // 2 for length in lengths)
    return {"off": off, "seconds": (seconds[0], seconds[1]), "pieces": sum(lengths), "stretches": stretches}


@torch.no_grad()
def losses_at_once(model: SmallModel, source_1S: torch.Tensor, target_1T: torch.Tensor) -> torch.Tensor:
    """The loss of every next piece, from one pass over the whole target."""
    everything = torch.ones_like(source_1S)
    read_1T = target_1T[:, :-1]
    states = model.decode(model.encode(source_1S, everything), everything, read_1T, torch.ones_like(read_1T))
    return cross_entropy(model.logits(states)[0], target_1T[0, 1:], reduction="none")


@torch.no_grad()
def losses_one_by_one(model: SmallModel, source_1S: torch.Tensor, target_1T: torch.Tensor) -> torch.Tensor:
    """The same from a pass over each beginning, which cannot look ahead since there is nothing."""
    everything = torch.ones_like(source_1S)
    losses = []
    for end in range(1, target_1T.shape[1]):
        begun = target_1T[:, :end]
        states = model.decode(model.encode(source_1S, everything), everything, begun, torch.ones_like(begun))
        losses.append(cross_entropy(model.logits(states)[0, -1], target_1T[0, end]))
    return torch.stack(losses)


SHOWN = (open_mask, losses_at_once, losses_one_by_one)


def judge(result: Result) -> Verdict:
    ended = result.curves[:, :, -POINTS // 10 :].mean((1, 2))
    seen, exact = result.seen.mean(1), result.exact.mean(1)
    times = result.seconds[1] / result.seconds[0]
    findings = (
        found("Without the mask the training loss collapses.", bool(ended[1] < COLLAPSED * ended[0]),
              f"It ends at {ended[1]:.3f} nats without the mask and at {ended[0]:.3f} with it (collapsed: below"
              f" {COLLAPSED:.0%} of that; bound changed after the first result, was 10% at half-time). On"
              f" unseen pairs it is {seen[1]:.3f} and {seen[0]:.3f}: by its loss the model without a mask is the better"
              " one, on new sentences too."),
        found("And yet it cannot translate.", bool(exact[1] < FAILS * exact[0]),
              f"It translates {exact[1]:.1f} % of unseen sentences exactly, the other {exact[0]:.1f} % (fails: below"
              f" {FAILS:.0%} of that). With the words to come hidden, as they are in use, its loss is"
              f" {result.hidden.mean():.1f} nats."),
        found("With the mask, one pass gives the same losses as one pass for each beginning.", result.off < EQUAL,
              f"They differ by at most {result.off:.0e} nats (allowed: {EQUAL:.0e})."),
        found("One pass costs less than many.", times > CHEAPER,
              f"The many take {times:.1f} times its processor time (wanted: {CHEAPER:.0f})."),
        found("Every possible subsequence is trained on.", result.pieces >= result.stretches,
              "By definition, not by measurement: every beginning is, and nothing else. These sentences have"
              f" {result.pieces:,} beginnings, each with its prediction, and {result.stretches:,}"
              " stretches of neighbouring pieces."),
    )  # fmt: skip
    return overall(findings, (
        f"Without the mask the loss on unseen pairs ends at {seen[1]:.3f} nats and {exact[1]:.1f} % of translations are"
        f" exact; with it, at {seen[0]:.3f} and {exact[0]:.1f} %. One masked pass gives the losses of all beginnings,"
        f" {result.off:.0e} nats off at most; it does not train on every subsequence, only on every beginning."
    ))


def tables(result: Result) -> tuple[Table, ...]:
    def row(name: str, values: np.ndarray) -> tuple[str, float, float, float]:
        return name, float(values.mean()), float(values.min()), float(values.max())

    columns = ("mean of seeds", "lowest", "highest")
    return (
        Table.of("Loss on unseen pairs, nats a piece", ("", *columns), [
            row("with the mask", result.seen[0]), row("without", result.seen[1]),
            row("trained without, used with", result.hidden)]),
        Table.of("Unseen sentences translated exactly, %", ("", *columns), [
            row("with the mask", result.exact[0]), row("without", result.exact[1])]),
        Table.of("chrF2 of the translations", ("", *columns), [
            row("with the mask", result.chrf[0]), row("without", result.chrf[1])]),
        Table.of(result.source, ("model", "translation"), [
            ("trained with the mask", result.written[0]), ("without", result.written[1] or "(nothing)")]),
    )  # fmt: skip


def look(result: Result) -> Look:
    """Any map of the decoder has a mask."""
    return Look("The cat did not cross the street because it was too tired.", "decoder")


def draw(result: Result) -> Figure:
    figure, (left, right) = new_figure(2, width_ratios=(2, 1))
    at = np.linspace(0, result.steps, result.curves.shape[-1])
    for name, colour, curves, exact, place in (
        ("with the mask", BLUE, result.curves[0], result.exact[0], 0),
        ("without", ORANGE, result.curves[1], result.exact[1], 1),
    ):
        left.plot(at, curves.mean(0), color=colour, label=name)
        left.fill_between(at, curves.min(0), curves.max(0), color=colour, alpha=0.2, linewidth=0)
        right.bar(place, exact.mean(), color=colour, width=0.6)
        right.plot([place] * len(exact), exact, linestyle="", marker="o", markersize=4, color=INK)
    left.set_yscale("log")
    left.set_xlabel("steps of training")
    left.set_title("Training loss, nats")
    left.legend()
    right.set_xticks([0, 1], ["with", "without"])
    right.set_ylim(0, 100)
    right.set_title("Exact, %")
    right.grid(axis="x", visible=False)
    return figure
