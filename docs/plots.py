"""Draws docs/speed.svg from the tables of docs/benchmarks.md: `python docs/plots.py`.

The plot has a row for each line of a table, a mark for each machine, and a bar where the peer is.
"""

import math
import re
from collections.abc import Iterator
from html import escape
from pathlib import Path

DOCS = Path(__file__).resolve().parent
NUMBER = re.compile(r"\d+(?:\.\d+)?")
LABELS, WIDTH, ROW, TOP = 290, 760, 30, 40  # the column of labels, the picture, a row, and what is above the first
TICKS, AXIS, MACHINES = (1, 2, 3, 5, 10, 20), "times the peer (bar), logarithmic", ("AMD", "Xeon")
STYLE = (
    "text{font:13px system-ui,sans-serif;fill:#222} .bar{stroke:#222;stroke-width:3} .grid{stroke:#ddd}"
    " .mark0{fill:#0072b2} .mark1{fill:#d55e00}"
)
MARKS = ("m-5 0a5 5 0 1 0 10 0a5 5 0 1 0-10 0", "m-6 0l6-6 6 6-6 6z")  # a disc, a diamond


def table(section: str) -> list[list[str]]:
    """The cells of the first table of a section of the page, line by line."""
    text = (DOCS / "benchmarks.md").read_text("utf-8").partition(f"\n## {section}\n")[2]
    lines = re.search(r"^\|.*\n\|[ |-]*\n((?:\|.*\n)+)", text, re.MULTILINE)[1].splitlines()
    return [[cell.replace("`", "").strip() for cell in line.strip("|").split("|")] for line in lines]


def ratios() -> list[tuple[str, tuple[float, ...]]]:
    """Times the peer's speed: translating and training, on both machines."""
    cells = [("translation, " + label, times) for label, _, _, times, *_ in table("Translation")]
    cells += [("training, " + label, f"{amd}, {xeon}") for label, amd, xeon, _ in table("Training")]
    rows = [(label, tuple(map(float, NUMBER.findall(cell)))) for label, cell in cells]
    return [(label, values) for label, values in rows if len(values) == len(MACHINES)]


def speed() -> str:
    """The plot as SVG."""
    rows = ratios()
    low, high = math.log(TICKS[0]), math.log(TICKS[-1])
    bottom = TOP + ROW * len(rows)

    def across(value: float) -> str:
        return f"{LABELS + 20 + (WIDTH - LABELS - 50) * (math.log(value) - low) / (high - low):.1f}"

    def text(x: float | str, y: float, said: object, anchor: str = "middle") -> str:
        return f'<text x="{x}" y="{y}" text-anchor="{anchor}">{escape(str(said))}</text>'

    def mark(index: int, x: float | str, y: float, said: str) -> str:
        return f'<path class="mark{index}" d="M{x} {y}{MARKS[index]}"><title>{escape(said)}</title></path>'

    def parts() -> Iterator[str]:
        yield f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {bottom + 45}" role="img">'
        yield f"<title>{escape(AXIS)}</title><style>{STYLE}</style>"
        yield '<rect width="100%" height="100%" rx="6" fill="#fff"/>'
        for tick in TICKS:
            yield f'<path class="grid" d="M{across(tick)} {TOP - 8}V{bottom}"/>'
            yield text(across(tick), bottom + 18, tick)
        yield text((LABELS + WIDTH) // 2, bottom + 37, AXIS)
        for index, name in enumerate(MACHINES):
            yield mark(index, LABELS + 25 + 80 * index, 16, name)
            yield text(LABELS + 35 + 80 * index, 20, name, "start")
        for place, (label, values) in enumerate(rows):
            y = TOP + ROW * place + ROW // 2
            yield text(LABELS, y + 4, label, "end")
            yield f'<path class="bar" d="M{across(1)} {y - 11}V{y + 11}"/>'
            for index, value in enumerate(values):
                yield mark(index, across(value), y, f"{value:g}")
        yield "</svg>\n"

    return "\n".join(parts())


if __name__ == "__main__":
    (DOCS / "speed.svg").write_text(speed(), "utf-8")
    print(DOCS / "speed.svg")
