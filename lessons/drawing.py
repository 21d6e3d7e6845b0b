"""How every picture looks: one style, colours that a page turns with its light and dark, and SVG to put in that page.

A picture is drawn in the colours below. In the SVG they become the names that the page's palette has for them
(`var(--ink, ...)`), so that the same picture reads on white, on black and on paper. Maps are drawn as one blue of many
opacities, by `heatmap`, for the same reason.
"""

import html
import io
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

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
