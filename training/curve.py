"""The picture of a training: losses, and BLEU below them, over the steps."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from .progress import duration

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


def draw_curve(path: Path, training: Mapping[str, Any], *, name: str, label_smoothing: float) -> None:
    """Write a PNG of the section `training` of a run's metrics.json; `name` is that of the run or packaged model.

    Drawn by matplotlib without a display, whatever style the user has set.
    """
    logging.getLogger("matplotlib").setLevel(logging.ERROR)  # it tells of its font cache
    import matplotlib.style
    from matplotlib.figure import Figure
    from matplotlib.ticker import LogLocator, NullLocator

    log, kept = training["log"], training["kept_step"]
    title = f"{name}: {training['parameters'] / 1e6:.2f} M parameters, trained in {duration(training['seconds'])}"
    with matplotlib.style.context(["default", STYLE]):
        figure = Figure(figsize=(8, 5.6), dpi=150, layout="constrained")
        losses, bleu = figure.subplots(2, 1, sharex=True, height_ratios=[3, 2])
        for axis, key, colour, label in (
            (losses, "loss", BLUE, f"training (labels smoothed by {label_smoothing:g})"),
            (losses, "eval_loss", ORANGE, "validation"), (bleu, "eval_bleu", GREEN, "validation"),
        ):
            points = [(row["step"], row[key]) for row in log if key in row]
            axis.plot([step for step, _ in points], [value for _, value in points], color=colour, label=label,
                      marker="." if len(points) < 30 else "")
        for axis in (losses, bleu):
            if kept < training["steps"]:
                axis.axvline(kept, color=GREY, linestyle="--", zorder=1, label=f"weights kept (step {kept:,})")
        losses.set_yscale("log")  # where the first steps leave room for the last
        losses.yaxis.set_major_locator(LogLocator(subs=(1, 1.5, 2, 3, 5, 7), numticks=12))
        losses.yaxis.set_minor_locator(NullLocator())
        losses.yaxis.set_major_formatter("{x:g}")
        losses.set(title=title, ylabel="loss per token (nats)")
        losses.legend()
        bleu.set(xlabel="steps", ylabel="validation BLEU", xlim=(0, None), ylim=(0, None))
        figure.savefig(path, format="png", metadata={"Software": None})
