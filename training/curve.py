"""The picture of a training: losses, and BLEU below them, over the steps."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

BLUE, ORANGE, GREEN, GREY = "#0072b2", "#d55e00", "#007a5a", "#8a8a8a"  # apart for colour-blind eyes too
STYLE = {
    "font.size": 10.5,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": "#e4e4e4",
    "axes.labelcolor": "#333333",
    "axes.edgecolor": "#999999",
    "xtick.color": "#333333",
    "ytick.color": "#333333",
}


def draw_curve(
    path: Path, log: Sequence[Mapping[str, Any]], *, title: str, label_smoothing: float = 0.0, kept: int | None = None
) -> None:
    """Write a PNG of a Trainer's `log_history`; `kept` is the step whose weights the model has, where one was chosen.

    Drawn by matplotlib without a display, whatever style the user has set.
    """
    logging.getLogger("matplotlib").setLevel(logging.ERROR)  # it tells of its font cache
    import matplotlib.style
    from matplotlib.figure import Figure
    from matplotlib.ticker import MaxNLocator

    loss, validation, bleu = (series(log, key) for key in ("loss", "eval_loss", "eval_bleu"))
    with matplotlib.style.context(["default", STYLE]):
        figure = Figure(figsize=(8, 5.6 if bleu else 3.8), dpi=150, layout="constrained")
        grid = figure.subplots(2, 1, sharex=True, height_ratios=[3, 2], squeeze=False) if bleu else None
        axes = list(grid[:, 0]) if grid is not None else [figure.subplots()]
        smoothed = f"training (labels smoothed by {label_smoothing:g})" if label_smoothing else "training"
        draw_losses(axes[0], {smoothed: (loss, BLUE), "validation": (validation, ORANGE)})
        if bleu:
            draw_bleu(axes[1], bleu)
        for axis in axes:
            if kept is not None:
                label = f"weights kept (step {kept:,})"
                axis.axvline(kept, color=GREY, linestyle=(0, (2, 2)), linewidth=1.2, zorder=1, label=label)
            axis.xaxis.set_major_locator(MaxNLocator(integer=True))
            axis.xaxis.set_major_formatter("{x:,.0f}")
        axes[-1].set_xlabel("steps")
        axes[-1].set_xlim(left=0)
        axes[0].set_title(title, loc="left", fontsize=12, pad=27)
        if loss or validation:
            axes[0].legend(  # above the axes, where it hides nothing
                loc="lower left", bbox_to_anchor=(0, 1), ncols=3, frameon=False, fontsize=9.5, borderaxespad=0.3,
                borderpad=0, handlelength=1.6, columnspacing=1.6,
            )  # fmt: skip
        figure.savefig(path, format="png", metadata={"Software": None})


def series(log: Sequence[Mapping[str, Any]], key: str) -> list[tuple[int, float]]:
    return [(row["step"], row[key]) for row in log if key in row]


def draw_losses(axis: Any, lines: Mapping[str, tuple[list[tuple[int, float]], str]]) -> None:
    """On a logarithmic scale, where the first steps leave room for the last."""
    from matplotlib.ticker import LogLocator, NullLocator

    for label, (points, colour) in lines.items():
        plot(axis, points, colour, label=label)
    axis.set_yscale("log")
    axis.yaxis.set_major_locator(LogLocator(subs=(1, 1.5, 2, 3, 5, 7), numticks=12))
    axis.yaxis.set_minor_locator(NullLocator())
    axis.yaxis.set_major_formatter("{x:g}")
    axis.set_ylabel("loss per token (nats)")


def draw_bleu(axis: Any, points: list[tuple[int, float]]) -> None:
    plot(axis, points, GREEN)
    axis.set_ylabel("validation BLEU")
    axis.set_ylim(bottom=0)


def plot(axis: Any, points: list[tuple[int, float]], colour: str, label: str | None = None) -> None:
    """A line; few points are marked, so that one alone is seen too."""
    if points:
        few = len(points) < 30
        axis.plot(*zip(*points, strict=True), color=colour, label=label, marker="." if few else "",
                  linewidth=1.8 if len(points) < 300 else 1)  # fmt: skip
