"""Lesson 6: the causal mask keeps a model from reading the answer, and makes one pass as good as many."""

import math
import time
from collections.abc import Sequence

import numpy as np
import torch
from matplotlib.figure import Figure as Picture
from torch.nn.functional import cross_entropy

from .drawing import bars, curves, new_figure
from .interval import Interval, over_seeds
from .lesson import Check, Figures, Look, Table
from .small import Recipe, SmallModel, Task, in_rows, open_mask, quality, task_of, test_loss, trained, translate
from .workbench import Workbench

# S source tokens, T target tokens

COLLAPSED = 1 / 3  # of the final training loss with the mask
FAILS = 0.1  # of the exact translations with the mask
EQUAL = 1e-4  # nats between the losses of one pass and of many
CHEAPER = 2.0  # times less processor time
POINTS = 40  # of a curve
NAMES = ("with the mask", "without")


def measure(bench: Workbench) -> Figures:
    task = task_of(bench)
    runs = [[trained(bench, Recipe(causal=causal), seed) for seed in bench.seeds] for causal in (True, False)]
    sources, pairs = [story.source for story in task.test], in_rows(task.test, 1)
    texts = [[translate(run.model, task.tokenizer, sources) for run in row] for row in runs]
    scores = [[quality(task.test, one) for one in row] for row in texts]
    losses = [np.array([thinned(run.losses) for run in row]) for row in runs]
    seen = np.array([[test_loss(run.model, pairs, task.tokenizer) for run in row] for row in runs])
    hidden = []
    for run in runs[1]:
        run.model.causal = True
        hidden.append(test_loss(run.model, pairs, task.tokenizer))
    exact = over_seeds([[one.exact for one in row] for row in scores])
    ended = [float(curve[:, -POINTS // 10 :].mean()) for curve in losses]
    return Figures(
        steps=len(runs[0][0].losses), curves=dict(zip(NAMES, losses, strict=True)), ended=ended,
        collapse=ended[1] / ended[0], seen=over_seeds(seen), hidden=Interval.seeds(hidden), exact=exact,
        share=exact[1].value / (exact[0].value or math.nan),
        chrf=over_seeds([[one.chrf for one in row] for row in scores]), source=sources[0],
        written=(texts[0][0][0], texts[1][0][0]),
        **passes(runs[0][0].model, task, bench.pick(20, 3)),
        look=Look("The cat did not cross the street because it was too tired.", "decoder"),
    )  # fmt: skip


def thinned(losses: Sequence[float]) -> list[float]:
    """A curve of POINTS means."""
    return [float(part.mean()) for part in np.array_split(np.array(losses), min(POINTS, len(losses)))]


def passes(model: SmallModel, task: Task, sentences: int) -> dict[str, float]:
    """The loss of each next token from one pass, and from a pass for each prefix."""
    seconds, off, lengths = np.zeros(2), 0.0, []
    for story in task.test[:sentences]:
        source = torch.tensor([task.tokenizer.encode_source(story.source)])
        target = torch.tensor([[1, *task.tokenizer.encode_target(story.target, language="fr")]])
        clock = [time.process_time()]
        losses = []
        for way in (losses_at_once, losses_one_by_one):
            losses.append(way(model, source, target))
            clock.append(time.process_time())
        seconds += np.diff(clock)
        off = max(off, float((losses[0] - losses[1]).abs().max()))
        lengths.append(len(losses[0]))
    return {"off": off, "times": seconds[1] / seconds[0], "prefixes": sum(lengths),
            "spans": sum(length * (length + 1) // 2 for length in lengths)}


@torch.no_grad()
def losses_at_once(model: SmallModel, source_1S: torch.Tensor, target_1T: torch.Tensor) -> torch.Tensor:
    """The loss of every next token, from one pass over the whole target."""
    everything = torch.ones_like(source_1S)
    read_1T = target_1T[:, :-1]
    states = model.decode(model.encode(source_1S, everything), everything, read_1T, torch.ones_like(read_1T))
    return cross_entropy(model.logits(states)[0], target_1T[0, 1:], reduction="none")


@torch.no_grad()
def losses_one_by_one(model: SmallModel, source_1S: torch.Tensor, target_1T: torch.Tensor) -> torch.Tensor:
    """The same from a pass over each prefix, which has nothing to look ahead at."""
    everything = torch.ones_like(source_1S)
    losses = []
    for end in range(1, target_1T.shape[1]):
        prefix = target_1T[:, :end]
        states = model.decode(model.encode(source_1S, everything), everything, prefix, torch.ones_like(prefix))
        losses.append(cross_entropy(model.logits(states)[0, -1], target_1T[0, end]))
    return torch.stack(losses)


SHOWN = (open_mask, losses_at_once, losses_one_by_one)


def claims(f: Figures) -> dict[str, list[Check]]:
    return {
        "collapses": [Check(f.collapse, "<", COLLAPSED, "share of the loss with the mask", was=0.1)],
        "fails": [Check(f.share, "<", FAILS, "share of the exact translations with the mask")],
        "equal": [Check(f.off, "<", EQUAL)],
        "cheaper": [Check(f.times, ">", CHEAPER)],
    }


def tables(f: Figures) -> tuple[Table, ...]:
    return (
        Table.of("Unseen sentences, and the spread over seeds", ("trained", "loss", "exact", "chrF2"),
                 [*zip(NAMES, f.seen, f.exact, f.chrf, strict=True), ("without, used with", f.hidden, "–", "–")]),
        Table.of(f.source, ("trained", "translation"), [
            (name, text or "(nothing)") for name, text in zip(NAMES, f.written, strict=True)]),
    )  # fmt: skip


def draw(f: Figures) -> Picture:
    figure, (left, right) = new_figure(2, width_ratios=(2, 1))
    points = next(iter(f.curves.values())).shape[1]
    curves(left, np.linspace(0, f.steps, points), {name: over_seeds(curve.T) for name, curve in f.curves.items()},
           title="Training loss", xlabel="training steps")
    left.set_yscale("log")
    bars(right, NAMES, {"exact": f.exact}, title="Exact translations", top=1)
    return figure
