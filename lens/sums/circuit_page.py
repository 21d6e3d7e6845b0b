"""A circuit as a page: its parts along the residual streams of encoder and decoder, its curves, and a table of all
parts.

The page is one file that works offline, in the reader's light or dark theme.
"""

from collections.abc import Iterable, Sequence
from itertools import groupby

from ...passes.hooks import STACKS
from ...webpage.static_page import escaped, page, table
from .circuits import Circuit, Part
from .flow_graph import BlockKind

COLOURS: dict[BlockKind, str] = {"encoder": "blue", "decoder": "green", "cross": "orange", "feed_forward": "purple"}
CELL, ROW, NAMES = 26, 32, 130  # widths of a head and of the names of blocks, and the height of a block
WIDTH, HEIGHT, LEFT, TOP, GAP = 560, 240, 44, 12, 20  # of the curves and their margins
LOW, HIGH = -0.25, 1.25  # shares beyond these are drawn at the edge
HEAD = ["", "part", "alone", "faithfulness", "completeness"]
STYLE = """<style>
svg text { font: 12px system-ui, sans-serif; fill: var(--ink) } svg .soft { fill: var(--soft) }
svg rect { stroke: var(--line) } svg .out text { fill: var(--soft) }
svg .in text { fill: var(--sel-ink); font-weight: 600 }
svg .stream { stroke: var(--edge); stroke-width: 2; fill: none }
svg .axis { stroke: var(--line) } svg .cut { stroke: var(--soft); stroke-dasharray: 4 4 }
svg polyline { fill: none; stroke-width: 2 }
</style>"""


def circuit_page(about: Sequence[str], circuit: Circuit) -> str:
    """The page of a circuit; `about` are the lines of text above it, with the title first."""
    rows = [[number, part, *(value.replace("-", "−") for value in values)] for number, part, *values in cells(circuit)]
    body = [STYLE, *(f"<p>{escaped(line)}</p>" for line in about[1:]), f"<p>{escaped(kept_line(circuit))}</p>",
            f"<div class=wide>{drawing(circuit)}</div><p class=soft>Filled parts are in the circuit. Layers and"
            " heads count from 0. Both streams run upwards. Cross-attention reads the encoder's last states.</p>",
            f"<h2>Faithfulness and completeness</h2><div class=wide>{curves(circuit)}</div><p>{escaped(ABOUT)}</p>",
            "<h2>Every part</h2>", table(HEAD, rows, numbers=(0, 2, 3, 4))]
    return page(about[0], "".join(body))


ABOUT = ("Faithfulness: share of the difference that the parts down to this row keep by themselves, with all other"
         " parts corrupted. Completeness: share that remains with exactly these parts corrupted. A corrupted part has"
         " its output from the other sentence. Alone: change of the margin if only this part is corrupted, in nats.")


def cells(circuit: Circuit) -> list[list[str]]:
    """The table of all parts in order, as text."""
    return [[f"{k}", str(one.part), f"{one.alone:+.2f}", _share(one.faithfulness), _share(one.completeness)]
            for k, one in enumerate(circuit.order, 1)]


def _share(share: float, digits: int = 1) -> str:
    return f"{100 * share:.{digits}f} %"


def kept_line(circuit: Circuit) -> str:
    """The result as a sentence; it also warns if most parts are needed, because this is no small circuit."""
    last, many = circuit.order[circuit.size - 1], len(circuit.order)
    few = "" if 2 * circuit.size <= many else " This is more than half of all parts: no small circuit was found."
    return (f"{circuit.size} of {many} parts keep {_share(last.faithfulness)} of the difference (target:"
            f" {_share(circuit.share, 0)}); with exactly these corrupted, {_share(last.completeness)} remains.{few}")


def drawing(circuit: Circuit) -> str:
    """The parts of both stacks by block, the first layer at the bottom, as SVG."""
    place = {part: k for k, part in enumerate(circuit.parts, 1)}
    blocks = {stack: _blocks(circuit, stack) for stack in STACKS}
    height = ROW * max(map(len, blocks.values())) + 40
    found, left = [], 0
    for stack, rows in blocks.items():
        wide = NAMES + CELL * max(len(parts) for parts in rows) + 24
        stream = left + NAMES - 10
        found.append(f'<path class=stream d="M{stream} {height - 14}V{height - 30 - ROW * len(rows)}"/>'
                     f'<text x={stream} y={height - 2} text-anchor=middle class=soft>{stack}</text>')
        for number, parts in enumerate(rows):
            y = height - 24 - ROW * (number + 1)
            found.append(f'<text class=soft x={stream - 8} y={y + 17} text-anchor=end>{_block_name(parts[0])}</text>')
            found += [_cell(part, stream + 8 + CELL * i, y, place.get(part)) for i, part in enumerate(parts)]
        left += wide
    named = "; ".join(map(str, circuit.parts))
    return (f'<svg role=img aria-label="The circuit: {escaped(named)}" width={left} height={height} viewBox="0 0 {left}'
            f' {height}">{"".join(found)}</svg>')


def _blocks(circuit: Circuit, stack: str) -> list[list[Part]]:
    """The parts of one stack by block, in the order of a pass."""
    kinds = [*COLOURS]
    parts = sorted((one.part for one in circuit.order if one.part.stack == stack),
                   key=lambda part: (part.layer, kinds.index(part.kind), part.head or 0))
    return [[*block] for _, block in groupby(parts, key=lambda part: part[:3])]


def _block_name(part: Part) -> str:
    names = {"cross": "cross-attention", "feed_forward": "feed-forward"}
    return f"{part.layer} {names.get(part.kind, 'self-attention')}"


def _cell(part: Part, x: int, y: int, place: int | None) -> str:
    name, look, colour = f"{part}", "out", "card"
    if place is not None:
        name, look, colour = f"{part}, number {place} of the circuit", "in", COLOURS[part.kind]
    label = "" if part.head is None else part.head
    return (f'<g class={look}><title>{name}</title><rect x={x} y={y} rx=4 width={CELL - 3} height={CELL - 3}'
            f' style="fill: var(--{colour})"/><text x={x + CELL / 2 - 1.5} y={y + 16} text-anchor=middle>{label}</text>'
            "</g>")


def curves(circuit: Circuit) -> str:
    """Faithfulness and completeness of the first k parts, for every k, as SVG."""
    many = len(circuit.order)

    def x(k: float) -> float:
        return LEFT + (WIDTH - LEFT - 12) * k / many

    def y(share: float) -> float:
        return TOP + (HEIGHT - TOP - GAP) * (HIGH - min(max(share, LOW), HIGH)) / (HIGH - LOW)

    def line(values: Iterable[float], colour: str) -> str:
        points = " ".join(f"{x(k):.1f},{y(value):.1f}" for k, value in enumerate(values))
        return f'<polyline points="{points}" style="stroke: var(--{colour})"/>'

    found = [f'<line class=axis x1={LEFT} x2={WIDTH - 12} y1={y(share):.1f} y2={y(share):.1f} /><text class=soft'
             f' x={LEFT - 6} y={y(share) + 4:.1f} text-anchor=end>{_share(share, 0)}</text>' for share in (0, 0.5, 1)]
    found += [f'<text class=soft x={x(k):.1f} y={HEIGHT - 4} text-anchor=middle>{k}</text>'
              for k in sorted({0, circuit.size, many})]
    found.append(f'<path class=cut d="M{x(circuit.size):.1f} {TOP}V{HEIGHT - GAP}"/>')
    found.append(line([0, *(one.faithfulness for one in circuit.order)], "blue"))
    found.append(line([1, *(one.completeness for one in circuit.order)], "orange"))
    found += [f'<text x={WIDTH - 16} y={y(at):.1f} text-anchor=end style="fill: var(--{colour})">{name}</text>'
              for name, at, colour in (("faithfulness", 1.06, "blue"), ("completeness", 0.06, "orange"))]
    return (f'<svg role=img aria-label="Faithfulness and completeness of the first parts, 0 to {many}" width={WIDTH}'
            f' height={HEIGHT} viewBox="0 0 {WIDTH} {HEIGHT}">{"".join(found)}</svg>')
