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
    from matplotlib.ticker import LogLocator, MaxNLocator, NullLocator

    loss, validation, bleu = (
        [(row["step"], row[key]) for row in log if key in row] for key in ("loss", "eval_loss", "eval_bleu")
    )
    smoothed = f"training (labels smoothed by {label_smoothing:g})" if label_smoothing else "training"
    with matplotlib.style.context(["default", STYLE]):
        figure = Figure(figsize=(8, 5.6 if bleu else 3.8), dpi=150, layout="constrained")
        ratios = [3, 2] if bleu else [3]
        axes = figure.subplots(len(ratios), 1, sharex=True, height_ratios=ratios, squeeze=False)[:, 0]
        for axis, points, colour, label in (
            (axes[0], loss, BLUE, smoothed), (axes[0], validation, ORANGE, "validation"), (axes[-1], bleu, GREEN, None)
        ):  # fmt: skip
            if points:  # few are marked, so that one alone is seen too
                axis.plot(*zip(*points, strict=True), color=colour, label=label, marker="." if len(points) < 30 else "")
        for axis in axes:
            if kept is not None:
                label = f"weights kept (step {kept:,})"
                axis.axvline(kept, color=GREY, linestyle=(0, (2, 2)), linewidth=1.2, zorder=1, label=label)
            axis.xaxis.set_major_locator(MaxNLocator(integer=True))
            axis.xaxis.set_major_formatter("{x:,.0f}")
        axes[0].set_yscale("log")  # where the first steps leave room for the last
        axes[0].yaxis.set_major_locator(LogLocator(subs=(1, 1.5, 2, 3, 5, 7), numticks=12))
        axes[0].yaxis.set_minor_locator(NullLocator())
        axes[0].yaxis.set_major_formatter("{x:g}")
        axes[0].set_ylabel("loss per token (nats)")
        axes[0].set_title(title, loc="left", fontsize=12, pad=27)
        if loss or validation:
            axes[0].legend(  # above the axes, where it hides nothing
                loc="lower left", bbox_to_anchor=(0, 1), ncols=3, frameon=False, fontsize=9.5, borderaxespad=0.3,
                borderpad=0, handlelength=1.6, columnspacing=1.6,
            )  # fmt: skip
        if bleu:
            axes[-1].set_ylabel("validation BLEU")
            axes[-1].set_ylim(bottom=0)
        axes[-1].set_xlabel("steps")
        axes[-1].set_xlim(left=0)
        figure.savefig(path, format="png", metadata={"Software": None})
