"""Draws the plots of docs/ from tables of its pages: `python docs/plots.py`.

A plot has a row for each line of a table, a mark for each measurement, and a bar at the figure it is compared with.
"""

import math
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from html import escape
from pathlib import Path

DOCS = Path(__file__).resolve().parent
NUMBER = re.compile(r"\d+(?:\.\d+)?")
LABELS, WIDTH, ROW, TOP = 290, 760, 30, 40  # the column of labels, the picture, a row, and what is above the first
STYLE = (
    "text{font:13px system-ui,sans-serif;fill:#222} .bar{stroke:#222;stroke-width:3} .grid{stroke:#ddd}"
    " .mark0{fill:#0072b2} .mark1{fill:#d55e00}"
)
MARKS = ("m-5 0a5 5 0 1 0 10 0a5 5 0 1 0-10 0", "m-6 0l6-6 6 6-6 6z")  # a disc, a diamond


@dataclass(frozen=True)
class Row:
    label: str
    values: tuple[float, ...]
    compared: float | None


def speed() -> str:
    """How many times as fast as the peer: translating and training, on both machines."""
    cells = [("translation, " + label, times) for label, _, _, times, *_ in table("benchmarks", "Translation")]
    cells += [("training, " + label, f"{amd}, {xeon}") for label, amd, xeon, _ in table("benchmarks", "Training")]
    rows = [Row(label, values, 1) for label, cell in cells if len(values := numbers(cell)) == 2]
    return drawn(rows, (1, 2, 3, 5, 10, 20), math.log, "times the peer (bar), logarithmic", ("AMD", "Xeon"))


def multi30k() -> str:
    """BLEU of each seed beside the best published figure, English to German."""
    rows = [
        Row(model, numbers(re.sub(r".*\(", "", bleu)), next(iter(numbers(published)), None))
        for model, _, bleu, _, _, published in table("recipes", "Multi30k") if model.startswith("en-de")
    ]  # fmt: skip
    return drawn(rows, (39, 40, 41, 42, 43), float, "BLEU-lt of each seed; bar: best published", ())


PLOTS: dict[str, Callable[[], str]] = {"speed.svg": speed, "multi30k.svg": multi30k}


def table(page: str, section: str) -> list[list[str]]:
    """The cells of the first table of a section, line by line."""
    text = (DOCS / f"{page}.md").read_text("utf-8").partition(f"\n## {section}\n")[2]
    lines = re.search(r"^\|.*\n\|[ |-]*\n((?:\|.*\n)+)", text, re.MULTILINE)[1].splitlines()
    return [[cell.replace("`", "").strip() for cell in line.strip("|").split("|")] for line in lines]


def numbers(cell: str) -> tuple[float, ...]:
    return tuple(map(float, NUMBER.findall(cell)))


def drawn(
    rows: list[Row], ticks: tuple[int, ...], scale: Callable[[float], float], axis: str, series: tuple[str, ...]
) -> str:
    """The plot as SVG.  `series` names the values of a row where they are not of one kind."""
    low, high = scale(ticks[0]), scale(ticks[-1])
    bottom = TOP + ROW * len(rows)

    def across(value: float) -> str:
        return f"{LABELS + 20 + (WIDTH - LABELS - 50) * (scale(value) - low) / (high - low):.1f}"

    def text(x: float | str, y: float, said: object, anchor: str = "middle") -> str:
        return f'<text x="{x}" y="{y}" text-anchor="{anchor}">{escape(str(said))}</text>'

    def mark(index: int, x: float | str, y: float, said: str) -> str:
        return f'<path class="mark{index}" d="M{x} {y}{MARKS[index]}"><title>{escape(said)}</title></path>'

    def parts() -> Iterator[str]:
        yield f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {bottom + 45}" role="img">'
        yield f"<title>{escape(axis)}</title><style>{STYLE}</style>"
        yield '<rect width="100%" height="100%" rx="6" fill="#fff"/>'
        for tick in ticks:
            yield f'<path class="grid" d="M{across(tick)} {TOP - 8}V{bottom}"/>'
            yield text(across(tick), bottom + 18, tick)
        yield text((LABELS + WIDTH) // 2, bottom + 37, axis)
        for index, name in enumerate(series):
            yield mark(index, LABELS + 25 + 80 * index, 16, name)
            yield text(LABELS + 35 + 80 * index, 20, name, "start")
        for place, row in enumerate(rows):
            y = TOP + ROW * place + ROW // 2
            yield text(LABELS, y + 4, row.label, "end")
            if row.compared is not None:
                yield f'<path class="bar" d="M{across(row.compared)} {y - 11}V{y + 11}"/>'
            for index, value in enumerate(row.values):
                yield mark(index if series else 0, across(value), y, f"{value:g}")
        yield "</svg>\n"

    return "\n".join(parts())


if __name__ == "__main__":
    for name, draw in PLOTS.items():
        (DOCS / name).write_text(draw(), "utf-8")
        print(DOCS / name)
