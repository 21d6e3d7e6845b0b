"""How every picture is drawn: one style, curves, bars and maps, and SVG for a page that is light or dark.

A picture is drawn in the colours below. In the SVG they become the names that the page's palette has for them
(`var(--ink, ...)`), so that the same picture reads on white, on black and on paper. `heatmap` draws one blue of many
opacities, for the same reason. What `curves` and `bars` draw may be numbers or `Interval`s.
"""

import html
import io
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ..lens.ablation import Head
from ..lens.kinds import KINDS
from .interval import Interval

INK, SOFT, LINE = "#1b2430", "#5b6878", "#d9e0e8"
BLUE, ORANGE, GREEN, PURPLE, RED = "#1f5fae", "#ad4c08", "#2f7d4f", "#7b4fa6", "#b3344a"
SERIES = (BLUE, ORANGE, GREEN, PURPLE, RED)
PALETTE = {INK: "ink", SOFT: "soft", LINE: "line", BLUE: "blue", ORANGE: "orange", GREEN: "green", PURPLE: "purple",
           RED: "red"}  # fmt: skip
WIDTH = 6.6  # inches of a picture: the column of the page
STYLE = {
    "font.family": ["DejaVu Sans", "Verdana", "Noto Sans", "Noto Sans Devanagari", "sans-serif"],
    "font.size": 10,
    "axes.titlesize": 10.5, "axes.titleweight": "bold", "axes.titlelocation": "left", "axes.titlecolor": INK,
    "text.color": INK, "axes.labelcolor": SOFT, "xtick.color": SOFT, "ytick.color": SOFT, "axes.edgecolor": SOFT,
    "axes.spines.top": False, "axes.spines.right": False, "axes.grid": True, "grid.color": LINE, "grid.linewidth": 0.8,
    "axes.prop_cycle": f"cycler('color', {[*SERIES]})",
    "axes.axisbelow": True, "legend.frameon": False, "legend.labelcolor": INK, "lines.linewidth": 2,
    "figure.facecolor": "none", "axes.facecolor": "none", "savefig.facecolor": "none",
    "svg.fonttype": "none",  # text stays text: searched, read aloud, and shaped by the browser (Devanagari)
    "svg.hashsalt": "seq2see",
}  # fmt: skip


@contextmanager
def style() -> Iterator[None]:
    """The look of all pictures, whatever the user has set; `draw` and `to_svg` work inside it."""
    import logging

    import matplotlib.style

    logging.getLogger("matplotlib").setLevel(logging.ERROR)  # it tells of fonts that are not there
    with matplotlib.style.context(["default", STYLE]):
        yield


def new_figure(columns: int = 1, rows: int = 1, *, height: float = 3.2, **settings: Any) -> tuple[Figure, Any]:
    """A figure as wide as the page's column, and its axes: one, or an array of them."""
    figure = Figure(figsize=(WIDTH, height), layout="constrained")
    return figure, figure.subplots(rows, columns, **settings)


Values = Sequence[Any] | np.ndarray  # numbers or Intervals


def ends(values: Values) -> np.ndarray:
    """[3,N]: each value with its low and high end; a number is its own."""
    return np.array([(one.value, one.low, one.high) if isinstance(one, Interval) else (one,) * 3 for one in values]).T


def curves(
    axes: Axes, x: Sequence[float], lines: Mapping[str, Values], *, title: str, xlabel: str = "",
    doubling: bool = False, colours: Sequence[str] = SERIES, legend: bool = True,
) -> None:  # fmt: skip
    """A line for each name, and a band between the ends of its intervals; `doubling`: each x is twice the last."""
    for (name, values), colour in zip(lines.items(), colours, strict=False):
        middle, low, high = ends(values)
        axes.plot(x, middle, color=colour, marker="o", markersize=4, label=name)
        axes.fill_between(x, low, high, color=colour, alpha=0.2, linewidth=0)
    if doubling:
        axes.set_xscale("log", base=2)
    if len(x) < 10:
        axes.set_xticks(x, [f"{place:g}" for place in x])
    axes.set_title(title)
    axes.set_xlabel(xlabel)
    if legend and len(lines) > 1:
        axes.legend(fontsize=8)


def bars(
    axes: Axes, names: Sequence[str], groups: Mapping[str, Values], *, title: str, across: bool = False,
    top: float | None = None, colours: Sequence[str] = SERIES,
) -> None:  # fmt: skip
    """For each name a bar of every group, with a whisker between its ends; `across`: bars lie, names to the left."""
    places, width = np.arange(len(names)), 0.8 / len(groups)
    for number, ((name, values), colour) in enumerate(zip(groups.items(), colours, strict=False)):
        middle, low, high = ends(values)
        at, whiskers = places + (number - (len(groups) - 1) / 2) * width, np.stack([middle - low, high - middle])
        if across:
            axes.barh(at, middle, height=0.9 * width, color=colour, label=name, xerr=whiskers, ecolor=INK)
        else:
            axes.bar(at, middle, width=0.9 * width, color=colour, label=name, yerr=whiskers, ecolor=INK)
    (axes.set_yticks if across else axes.set_xticks)(places, names)
    (axes.set_xlim if across else axes.set_ylim)(0, top)
    axes.grid(axis="y" if across else "x", visible=False)
    if across:
        axes.invert_yaxis()
    axes.set_title(title)
    if len(groups) > 1:
        axes.legend(fontsize=8)


def heatmap(
    axes: Axes, values_RC: np.ndarray, *, rows: Sequence[str], columns: Sequence[str], top: float | None = None,
    numbers: bool | None = None,
) -> None:  # fmt: skip
    """A map of R rows and C columns as blue on whatever is behind it, opaque at `top` (the largest); orange below 0.

    `numbers` says whether a cell shows its value: by default where there are at most 12 columns.
    """
    from matplotlib.colors import to_rgb

    top = top or float(np.nanmax(np.abs(values_RC))) or 1.0
    share_RC = np.nan_to_num(np.clip(np.abs(values_RC) / top, 0, 1))
    for (row, column), value in np.ndenumerate(values_RC):
        colour = to_rgb(ORANGE if value < 0 else BLUE)
        axes.fill([column - 0.48, column + 0.48, column + 0.48, column - 0.48],
                  [row - 0.48, row - 0.48, row + 0.48, row + 0.48], color=colour,
                  alpha=round(0.04 + 0.76 * float(share_RC[row, column]), 3), linewidth=0)
        if numbers if numbers is not None else values_RC.shape[1] <= 12:
            text = "" if np.isnan(value) else f"{value:.2f}".replace("-", "−")
            axes.text(column, row, text, ha="center", va="center", fontsize=8, color=INK)
    axes.set_xlim(-0.5, len(columns) - 0.5)
    axes.set_ylim(len(rows) - 0.5, -0.5)
    axes.set_xticks(range(len(columns)), columns, rotation=45 if max(map(len, columns), default=0) > 4 else 0,
                    ha="left" if max(map(len, columns), default=0) > 4 else "center")
    axes.set_yticks(range(len(rows)), rows)
    axes.xaxis.tick_top()
    axes.grid(False)
    axes.tick_params(length=0, labelcolor=INK)
    axes.spines[:].set_visible(False)
    for label in (*axes.get_xticklabels(), *axes.get_yticklabels()):
        label.set_parse_math(False)


def head_map(axes: Axes, heads: Sequence[Head], values: Sequence[float], *, title: str, texts: Sequence[str] = (),
             top: float | None = None) -> None:  # fmt: skip
    """A cell for each head, a row for each layer of each kind of attention; `texts` stand in the cells."""
    rows = sorted({(KINDS.index(head.kind), head.layer) for head in heads})
    grid = np.full((len(rows), max(head.head for head in heads) + 1), np.nan)
    places = [(rows.index((KINDS.index(head.kind), head.layer)), head.head) for head in heads]
    for place, value in zip(places, values, strict=True):
        grid[place] = value
    heatmap(axes, grid, rows=[f"{KINDS[kind]} {layer}" for kind, layer in rows],
            columns=[str(head) for head in range(grid.shape[1])], top=top, numbers=not texts)
    for (row, column), text in zip(places, texts, strict=False):
        axes.text(column, row, text, ha="center", va="center", fontsize=7, color=INK)
    axes.set_title(title, pad=20)


def to_svg(draw: Callable[[Any], Figure], result: Any, *, name: str, title: str) -> str:
    """The picture as an `<svg>` element for a page: ids of its own (`name` before each), the page's colours and font;
    without the digits and blanks that nobody sees."""
    with style():
        text = io.StringIO()
        draw(result).savefig(text, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
    svg = text.getvalue()
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
    svg = re.sub(r" font-family: [^;\"]*;?", "", svg)
    svg = re.sub(r"<[^>]+>", lambda tag: re.sub(r"(\d\.\d\d)\d+", r"\1", tag[0]), svg)
    svg = re.sub(r"\s*\n\s*", "\n", svg)
    svg = re.sub(r'\bid="', f'id="{name}-', svg)
    svg = re.sub(r'(href="#|url\(#)', rf"\g<1>{name}-", svg)
    for colour, variable in PALETTE.items():
        svg = re.sub(colour, f"var(--{variable}, {colour})", svg, flags=re.IGNORECASE)
    opening = f'role="img" aria-label="{html.escape(title)}">'
    svg = re.sub(r'<svg [^>]*?viewBox="([^"]+)"[^>]*>', lambda tag: f'<svg viewBox="{tag[1]}" {opening}', svg, count=1,
                 flags=re.DOTALL)
    return svg.strip()
