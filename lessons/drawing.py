"""How every picture is drawn: panels of curves, bars and maps, in one style, as SVG for a page that is light or dark.

A picture is drawn in the colours below. In the SVG they become the names that the page's palette has for them
(`var(--ink, ...)`), so that the same picture reads on white, on black and on paper. A map is one blue of many
opacities, for the same reason.
"""

import html
import io
import logging
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import matplotlib.style
import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure

from ..lens.records.intervals import Estimate
from ..passes.attention_kinds import KINDS
from ..passes.hooks import Head
from ..webpage.palette import COLOURS
from .figures import layer_name, written

NAMES = ("ink", "soft", "line", "blue", "orange", "green", "purple", "red")
INK, SOFT, LINE, BLUE, ORANGE, GREEN, PURPLE, RED = (COLOURS["light"][name] for name in NAMES)
WIDTH = 6.6  # inches of a picture: the column of the page
STYLE = {
    "font.family": ["DejaVu Sans", "Verdana", "Noto Sans", "Noto Sans Devanagari", "sans-serif"],
    "font.size": 10,
    "axes.titlesize": 10.5, "axes.titleweight": "bold", "axes.titlelocation": "left", "axes.titlecolor": INK,
    "text.color": INK, "axes.labelcolor": SOFT, "xtick.color": SOFT, "ytick.color": SOFT, "axes.edgecolor": SOFT,
    "axes.spines.top": False, "axes.spines.right": False, "axes.grid": True, "grid.color": LINE, "grid.linewidth": 0.8,
    "axes.prop_cycle": f"cycler('color', {[BLUE, ORANGE, GREEN, PURPLE, RED]})",
    "axes.axisbelow": True, "legend.frameon": False, "legend.labelcolor": INK, "lines.linewidth": 2,
    "figure.facecolor": "none", "axes.facecolor": "none", "savefig.facecolor": "none",
    "svg.fonttype": "none",  # text stays text: searched, read aloud, and shaped by the browser (Devanagari)
    "svg.hashsalt": "seq2see",
}


Values = Sequence[Any] | np.ndarray  # numbers or Estimates


@dataclass(frozen=True)
class CurvePanel:
    """A line for each name, with a band between the ends of its intervals. `doubling`: twice as much is as far
    everywhere on x; `level`: where a dashed line lies."""

    title: str
    x: Sequence[float] | np.ndarray
    lines: Mapping[str, Values]
    xlabel: str = ""
    ticks: Sequence[str] = ()
    doubling: bool = False
    log: bool = False
    level: float | None = None
    top: float | None = None
    wide = False

    def draw(self, axes: Axes) -> None:
        for name, values in self.lines.items():
            middle, low, high = ends(values)
            axes.plot(self.x, middle, marker="o", markersize=4, label=name)
            axes.fill_between(self.x, low, high, alpha=0.2, linewidth=0)
        if self.level is not None:
            axes.axhline(self.level, color=SOFT, linewidth=1, linestyle="--")
        if self.doubling:
            axes.set_xscale("log", base=2)
        if len(self.x) < 10:
            axes.set_xticks(self.x, self.ticks or [f"{place:g}" for place in self.x])
        if self.log:
            axes.set_yscale("log")
        else:
            axes.set_ylim(min(0, axes.get_ylim()[0]), self.top)
        axes.set_xlabel(self.xlabel)
        if len(self.lines) > 1:
            axes.legend(fontsize=8)


@dataclass(frozen=True)
class Bars:
    """For each name a bar of every group, with a whisker between its ends; `wide`: horizontal, in a row of its own."""

    title: str
    names: Sequence[str]
    groups: Mapping[str, Values]
    top: float | None = None
    wide: bool = False

    def draw(self, axes: Axes) -> None:
        places, width = np.arange(len(self.names)), 0.8 / len(self.groups)
        draw, thickness, error = (axes.barh, "height", "xerr") if self.wide else (axes.bar, "width", "yerr")
        for number, (name, values) in enumerate(self.groups.items()):
            middle, low, high = ends(values)
            at, whiskers = places + (number - (len(self.groups) - 1) / 2) * width, [middle - low, high - middle]
            size: dict[str, Any] = {thickness: 0.9 * width, error: whiskers}
            draw(at, middle, label=name, ecolor=INK, **size)
        (axes.set_yticks if self.wide else axes.set_xticks)(places, self.names)
        (axes.set_xlim if self.wide else axes.set_ylim)(0, self.top)
        axes.grid(axis="y" if self.wide else "x", visible=False)
        if self.wide:
            axes.invert_yaxis()
        if len(self.groups) > 1:
            axes.legend(fontsize=8)


@dataclass(frozen=True)
class MapPanel:
    """R rows and C columns as blue on whatever is behind it, opaque at `top` (the largest); orange below 0. The
    cells show `texts` [R,C], by default their values if there are at most 8 columns."""

    title: str
    values_RC: np.ndarray
    rows: Sequence[str]
    columns: Sequence[str]
    top: float | None = None
    texts: np.ndarray | None = None
    wide: bool = False

    def draw(self, axes: Axes) -> None:
        top = self.top or float(np.nanmax(np.abs(self.values_RC))) or 1.0
        share_RC = np.nan_to_num(np.clip(np.abs(self.values_RC) / top, 0, 1))
        for (row, column), value in np.ndenumerate(self.values_RC):
            axes.fill([column - 0.48, column + 0.48, column + 0.48, column - 0.48],
                      [row - 0.48, row - 0.48, row + 0.48, row + 0.48], color=to_rgb(ORANGE if value < 0 else BLUE),
                      alpha=round(0.04 + 0.76 * float(share_RC[row, column]), 3), linewidth=0)
            text = str(self.texts[row, column]) if self.texts is not None else "" if len(self.columns) > 8 else (
                written(float(value), ".2f"))
            if text:
                axes.text(column, row, text, ha="center", va="center", fontsize=7, color=INK)
        longest = max(map(len, self.columns), default=0)
        tilted = longest > 4 and longest * len(self.columns) > 32
        axes.set(xlim=(-0.5, len(self.columns) - 0.5), ylim=(len(self.rows) - 0.5, -0.5))
        axes.set_xticks(range(len(self.columns)), self.columns, rotation=45 if tilted else 0,
                        ha="left" if tilted else "center")
        axes.set_yticks(range(len(self.rows)), self.rows)
        axes.xaxis.tick_top()
        axes.grid(False)
        axes.tick_params(length=0, labelcolor=INK)
        axes.spines[:].set_visible(False)
        for label in (*axes.get_xticklabels(), *axes.get_yticklabels()):
            label.set_parse_math(False)


Panel = CurvePanel | Bars | MapPanel


def ends(values: Values) -> np.ndarray:
    """[3,N]: each value with its low and high end; a number is its own."""
    return np.array([(one.value, one.low, one.high) if isinstance(one, Estimate) else (one,) * 3 for one in values]).T


def head_map(title: str, heads: Sequence[Head], values: Sequence[float], *, texts: Sequence[str] = (),
             top: float | None = None, wide: bool = False) -> MapPanel:
    """A cell for each head, a row for each layer of each kind of attention, both counted from 1."""
    rows = sorted({(KINDS.index(head.kind), head.layer) for head in heads})
    grid = np.full((len(rows), max(head.head for head in heads) + 1), np.nan)
    labels = np.full(grid.shape, "", dtype=object)
    for head, value, text in zip(heads, values, texts or [f"{value:.2f}" for value in values], strict=True):
        place = rows.index((KINDS.index(head.kind), head.layer)), head.head
        grid[place], labels[place] = value, text
    return MapPanel(title, grid, [f"{KINDS[kind]}, {layer_name(layer)}" for kind, layer in rows],
               [f"head {head + 1}" for head in range(grid.shape[1])], top, labels, wide)


def to_svg(panels: Sequence[Panel], *, name: str, title: str) -> str:
    """Panels side by side, wide ones in a row each, as an `<svg>` element for a page: ids of its own (`name` before
    each), the page's colours and font; without invisible digits and blanks."""
    logging.getLogger("matplotlib").setLevel(logging.ERROR)  # it tells of fonts that are not there
    text = io.StringIO()
    rows = [list(row) for _, row in groupby(enumerate(panels), lambda one: one[0] if one[1].wide else -1)]
    mosaic = [[place for place, _ in row for _ in range(6 // len(row))] for row in rows]  # up to three in a row
    with matplotlib.style.context(["default", STYLE]):
        figure = Figure(figsize=(WIDTH, 3.3 if len(rows) == 1 else 2.9 * len(rows)), layout="constrained")
        axes: dict[Any, Any] = figure.subplot_mosaic(mosaic)
        for place, panel in enumerate(panels):
            panel.draw(axes[place])
            axes[place].set_title(panel.title, pad=20 if isinstance(panel, MapPanel) else 6)
        figure.savefig(text, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
    svg = text.getvalue()
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
    svg = re.sub(r" font-family: [^;\"]*;?", "", svg)
    svg = re.sub(r"<[^>]+>", lambda tag: re.sub(r"(\d\.\d\d)\d+", r"\1", tag[0]), svg)
    svg = re.sub(r"\s*\n\s*", "\n", svg)
    svg = re.sub(r'\bid="', f'id="{name}-', svg)
    svg = re.sub(r'(href="#|url\(#)', rf"\g<1>{name}-", svg)
    for variable in NAMES:
        colour = COLOURS["light"][variable]
        svg = re.sub(colour, f"var(--{variable}, {colour})", svg, flags=re.IGNORECASE)
    opening = f'role="img" aria-label="{html.escape(title)}">'
    svg = re.sub(r'<svg [^>]*?viewBox="([^"]+)"[^>]*>', lambda tag: f'<svg viewBox="{tag[1]}" {opening}', svg, count=1,
                 flags=re.DOTALL)
    return svg.strip()
