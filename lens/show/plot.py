"""One map as a picture file, .png, .svg or .pdf, with a scale and captions.

Drawn by matplotlib without a display, regardless of the user's style.  User text is never read as a formula.
"""

import logging
import textwrap
from contextlib import suppress
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np

from seq2see.atomic import atomic_write
from seq2see.errors import UserError
from seq2see.importing import IMPORTS
from seq2see.streams import printable
from ...passes.attention_kinds import Kind, Rows
from ...webpage.palette import COLOURS, RAMPS
from ..data.trace_data import TraceData
from ..data.view_names import VIEW
from .maps import Picture, facts, picture

# The metadata of each format; the same map gives the same bytes.
METADATA: dict[str, dict[str, None]] = {
    ".png": {"Software": None}, ".svg": {"Date": None}, ".pdf": {"CreationDate": None},
}
CELLS_DRAWN = 40_000  # of one map; with more, labels and cells are illegible
LONGEST = 24  # letters of a label
INK, SOFT, LINE = (COLOURS["light"][name] for name in ("ink", "soft", "line"))
STYLE: dict[str, Any] = {
    "font.family": ["DejaVu Sans", "Noto Sans", "Noto Sans Devanagari", "Noto Sans CJK SC", "sans-serif"],
    "text.color": INK, "axes.labelcolor": INK, "xtick.color": INK, "ytick.color": INK, "axes.edgecolor": LINE,
    "svg.fonttype": "none",  # text stays text: searchable, accessible, in the reader's fonts
    "svg.hashsalt": "seq2see",
    "pdf.fonttype": 42,  # text stays text here too, which journals ask for
}


def save_plot(
    trace: TraceData, path: str | Path, *, view: str = "raw", kind: Kind = "cross", layer: int | None = None,
    head: int | None = None, words: bool = False, rows: Rows = "predicts",
) -> str:
    """Write one map to a .png, .svg or .pdf file; the arguments are those of `picture`.

    Returns:
        The characters that no installed font has.  A .svg leaves them to the viewer; the others show
        boxes for them.

    Raises:
        UserError: another suffix, a map that does not exist, or one too large to read.
    """
    path = Path(path)
    if path.suffix not in METADATA:
        raise UserError(f"{path}: expected a name that ends in {', '.join(METADATA)}", exit_code=2)
    drawn = picture(trace, view=view, kind=kind, layer=layer, head=head, words=words, rows=rows)
    content, boxes = rendered(drawn, trace, suffix=path.suffix)
    atomic_write(path, content)
    return boxes


def rendered(drawn: Picture, trace: TraceData, *, suffix: str) -> tuple[bytes, str]:
    """The content of a picture file, and the characters that no font for it has.

    Raises UserError for a picture that is too large.
    """
    if drawn.cells.size > CELLS_DRAWN:
        size = f"{len(drawn.rows)} rows by {len(drawn.columns)} columns"
        raise UserError(f"a map of {size} is too large for a picture: use --words, a shorter text, or .json")
    logging.getLogger("matplotlib").setLevel(logging.ERROR)  # it reports its font cache and missing fonts
    with IMPORTS:
        import matplotlib.style

    with matplotlib.style.context(["default", STYLE]):
        figure = draw(drawn, trace)
        metadata = METADATA[suffix] | ({} if suffix == ".png" else {"Title": drawn.title})
        written = BytesIO()
        figure.savefig(written, format=suffix[1:], dpi=160, facecolor="white", metadata=metadata,
                       bbox_inches="tight", pad_inches=0.25)
        boxes = without_font(figure) if suffix != ".svg" else ""
    return written.getvalue(), boxes


def without_font(figure: Any) -> str:
    """The characters in the figure that no font of STYLE has, in code point order."""
    with IMPORTS:
        from matplotlib.font_manager import findfont, get_font
        from matplotlib.text import Text

    known: set[int] = set()
    for family in STYLE["font.family"]:
        with suppress(ValueError):  # it is not installed
            known.update(get_font(findfont(family, fallback_to_default=False)).get_charmap())
    written = {ord(letter) for text in figure.findobj(Text) for letter in text.get_text() if not letter.isspace()}
    return "".join(map(chr, sorted(written - known)))


def draw(drawn: Picture, trace: TraceData) -> Any:
    """The figure: title, map with axes and scale, and a caption.  The map fills the figure, and the file adds room for
    the rest.
    """
    with IMPORTS:
        from matplotlib.figure import Figure

    cell = 0.42 if max(drawn.cells.shape) <= 24 else max(0.16, 10 / max(drawn.cells.shape))
    down, across = (cell * count for count in drawn.cells.shape)  # inches
    figure = Figure(figsize=(across, down))
    axes = figure.add_axes((0, 0, 1, 1))
    image = _map(axes, drawn, cell)
    _name(axes, drawn, cell)
    axes.set_title(drawn.title, loc="left", fontsize=12.5, weight="bold", color=INK, pad=10)
    parts = [drawn.about[0].upper() + drawn.about[1:] + ".", f"source: {printable(trace.texts[0])}",
             f"translation: {printable(trace.texts[1])}", drawn.sums + (f" {drawn.sinks}." if drawn.sinks else ""),
             f"Trust: {drawn.trust}", facts(trace)]
    lines = [line for part in parts for line in textwrap.wrap(part, max(90, int(across * 14.6)))]
    figure.text(0, -0.15 / down, "\n".join(lines), va="top", fontsize=8.5, color=SOFT, linespacing=1.4,
                parse_math=False)
    height = min(down, 3.2)
    bar = figure.add_axes((1 + 0.3 / across, 1 - height / down, 0.14 / across, height / down))
    scale = figure.colorbar(image, cax=bar)
    scale.outline.set_edgecolor(LINE)
    bar.tick_params(labelsize=8, color=LINE)
    bar.set_ylabel(drawn.cell, fontsize=8.5, color=SOFT)
    return figure


def _map(axes: Any, drawn: Picture, cell: float) -> Any:
    """The cells: shares on a scale from 0 to 1, other numbers from the smallest (or 0) to the largest."""
    with IMPORTS:
        from matplotlib.colors import ListedColormap, Normalize

    values = np.ma.masked_invalid(drawn.cells)
    low, high = float(np.nanmin(drawn.cells, initial=0)), float(np.nanmax(drawn.cells, initial=1e-6))
    shares = VIEW[drawn.view].shares
    high = max(1.0, high) if shares else high
    norm = Normalize(low, high)
    colours = ListedColormap(ramp(low, high)).with_extremes(bad="white")
    edges = [np.arange(n + 1) - 0.5 for n in values.shape[::-1]]
    image = axes.pcolormesh(*edges, values, cmap=colours, norm=norm, edgecolors="white",
                            linewidth=1.2 if cell >= 0.3 else 0.3)
    axes.set_ylim(len(drawn.rows) - 0.5, -0.5)
    if cell >= 0.36:
        for (row, column), value in np.ndenumerate(drawn.cells):
            if not np.isnan(value):
                red, green, blue, _ = colours(norm(value))
                dark = 0.3 * red + 0.59 * green + 0.11 * blue < 0.55
                axes.text(column, row, _number(float(value), shares), ha="center", va="center", fontsize=7.5,
                          color="white" if dark else INK)
    return image


def ramp(low: float, high: float) -> list[tuple[float, ...]]:
    """Colours from `low` to `high`, lightest at 0, on the same scale for both signs."""
    with IMPORTS:
        from matplotlib.colors import LinearSegmentedColormap

    blues, oranges = (LinearSegmentedColormap.from_list("", RAMPS["light"][name]) for name in ("blue", "orange"))
    largest = max(high, -low)
    return [(oranges if value < 0 else blues)(abs(value) / largest) for value in np.linspace(low, high, 512)]


def _name(axes: Any, drawn: Picture, cell: float) -> None:
    size = 9.5 if cell >= 0.36 else 7.5 if cell >= 0.22 else 5.5
    axes.set_yticks(range(len(drawn.rows)), [_short(name) for name in drawn.rows], fontsize=size)
    axes.set_xticks(range(len(drawn.columns)), [_short(name) for name in drawn.columns], fontsize=size, rotation=45,
                    ha="left", va="baseline", rotation_mode="anchor")
    axes.xaxis.tick_top()
    axes.tick_params(length=0, pad=2)
    for text in (*axes.get_xticklabels(), *axes.get_yticklabels()):
        text.set_parse_math(False)
    axes.spines[:].set_visible(False)
    axes.set_xlabel(drawn.column_meaning, fontsize=8.5, color=SOFT, labelpad=6)
    axes.xaxis.set_label_position("top")
    axes.set_ylabel(drawn.row_meaning, fontsize=8.5, color=SOFT, labelpad=6)


def _number(value: float, shares: bool) -> str:
    if not shares:
        text = f"{value:.2f}" if abs(value) < 9.995 else f"{value:.1f}"
        return "0" if abs(value) < 0.005 else text
    return "1" if value >= 0.995 else "0" if value < 0.005 else f"{value:.2f}"[1:]


def _short(name: str) -> str:
    return name if len(name) <= LONGEST else name[: LONGEST - 1] + "…"
