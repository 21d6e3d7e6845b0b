"""Lesson 4: the causal mask keeps a model from reading the answer, and makes one pass as good as many."""

import math
import time
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch.nn.functional import cross_entropy

from .figures import likeness
from .lesson import Bars, Check, Checks, CurvePanel, Estimate, Exhibits, Figures, Look, Table, Workbench, over_seeds
from .small import Recipe, SmallModel, Task, compare, in_rows, open_mask, task_of, test_loss

# S source tokens, T target tokens

COLLAPSED = 1 / 3  # of the final training loss with the mask
FAILS = 0.1  # of the exact translations with the mask
EQUAL = 1e-4  # nats between the losses of one pass and of many
CHEAPER = 2.0  # times less processor time
POINTS = 40  # of a curve
NAMES = ("with the mask", "without")


def measure(bench: Workbench) -> Figures:
    task = task_of(bench)
    masked, plain = both = list(compare(bench, masked=Recipe(), plain=Recipe(causal=False)).values())
    losses = [np.array([thinned(run.losses) for run in one.runs]) for one in both]
    hidden = []
    for run in plain.runs:
        run.model.causal = True
        hidden.append(test_loss(run.model, in_rows(task.test, 1), task.tokenizer))
    ended = [float(curve[:, -POINTS // 10 :].mean()) for curve in losses]
    return Figures(
        steps=len(masked.runs[0].losses), curves=dict(zip(NAMES, losses, strict=True)), ended=ended,
        collapse=ended[1] / ended[0], seen=[one.loss for one in both], hidden=Estimate.seeds(hidden),
        exact=[one.exact for one in both], share=plain.exact.value / (masked.exact.value or math.nan),
        chrf=[one.chrf for one in both], source=task.test[0].source, written=[one.sample for one in both],
        **passes(masked.runs[0].model, task, bench.pick(20, 3)),
        look=Look(kind="decoder", layer=1),
    )


def thinned(losses: Sequence[float]) -> list[float]:
    """A curve of POINTS means."""
    return [float(part.mean()) for part in np.array_split(np.array(losses), min(POINTS, len(losses)))]


def passes(model: SmallModel, task: Task, sentences: int) -> dict[str, Any]:
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
    return {"off": off, "same": likeness(off, within=EQUAL), "times": seconds[1] / seconds[0], "prefixes": sum(lengths),
            "spans": sum(length * (length + 1) // 2 for length in lengths)}


@torch.no_grad()
def losses_at_once(model: SmallModel, source_1S: torch.Tensor, target_1T: torch.Tensor) -> torch.Tensor:
    """The loss of every next token, from one pass over the whole target."""
    everything = torch.ones_like(source_1S)
    read_1T = target_1T[:, :-1]
    states = model.decode(model.encode(source_1S, everything), everything, read_1T, torch.ones_like(read_1T))
    return cross_entropy(model.logits(states)[0], target_1T[0, 1:], reduction="none")


def losses_one_by_one(model: SmallModel, source_1S: torch.Tensor, target_1T: torch.Tensor) -> torch.Tensor:
    """The same losses from one pass over each prefix, where later tokens do not exist."""
    ends = range(2, target_1T.shape[1] + 1)
    return torch.stack([losses_at_once(model, source_1S, target_1T[:, :end])[-1] for end in ends])


SHOWN = (open_mask, losses_at_once, losses_one_by_one)


def claims(f: Figures) -> Checks:
    return {
        "collapses": [Check(f.collapse, "<", COLLAPSED, "ratio to the loss with the mask", was=0.1)],
        "fails": [Check(f.share, "<", FAILS, "ratio to the exact translations with the mask")],
        "equal": [Check(f.off, "<", EQUAL)],
        "cheaper": [Check(f.times, ">", CHEAPER)],
    }


def exhibits(f: Figures) -> Exhibits:
    lines = {name: over_seeds(curve.T) for name, curve in f.curves.items()}
    steps = np.linspace(0, f.steps, len(next(iter(lines.values()))))
    return [
        Table("Unseen sentences, and the spread over seeds", ("trained", "loss", "exact", "chrF2"),
              [*zip(NAMES, f.seen, f.exact, f.chrf, strict=True), ("without, tested with it", f.hidden, "–", "–")]),
        Table(f.source, ("trained", "translation"),
              [(name, text or "(nothing)") for name, text in zip(NAMES, f.written, strict=True)]),
        CurvePanel("Training loss", steps, lines, "training steps", log=True),
        Bars("Exact translations", NAMES, {"exact": f.exact}, top=1),
    ]
