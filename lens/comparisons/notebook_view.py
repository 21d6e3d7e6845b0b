"""The notebook view of a comparison of two models: probabilities, matched heads, and some of their maps.

It compares the models on any given translation, not on their own translations.
"""

import base64
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape

from ...passes.hooks import Head
from ...webpage.static_page import escaped, page, percent, table
from ..data.trace_data import TraceData
from ..show.maps import picture
from ..show.plot import rendered
from . import two_models
from .side_by_side import HEADS_ABOUT, alone_line
from .two_models import Comparison, HeadPair

DRAWN = 2  # pairs of matched heads whose maps are drawn, the most different first


@dataclass(frozen=True, repr=False)
class ShownComparison(Comparison):
    """A comparison that displays itself in a notebook, as a trace does."""

    def _repr_html_(self) -> str:
        """Probabilities, matched heads and maps in a frame for notebooks, isolated from the notebook's style."""
        return ('<iframe title="Two models" sandbox style="width:100%;height:900px;border:0" '
                f'srcdoc="{escape(comparison_in_notebook(self))}"></iframe>')


def compare(first: TraceData, second: TraceData) -> ShownComparison:
    """Compare two models by their traces of one translation.

    Make the traces with `look_at`: `lens.compare(one.look_at(text, translation), other.look_at(text, translation))`.
    Each head is matched with a head of the same layer or, if the models differ in depth, of a layer at the same
    relative depth.  Raises UserError for traces of different texts.
    """
    return ShownComparison(**vars(two_models.compare(first, second)))


def comparison_in_notebook(one: Comparison) -> str:
    """A self-contained page; models with the same name are numbered."""
    names = [trace.model or "unnamed" for trace in one.traces]
    if len({*names}) == 1:
        names = [f"{name} ({number})" for number, name in enumerate(names, start=1)]
    body = [f"<p>{escaped(one.source)}</p>", _probabilities(names, one), *_heads(names, one)]
    return page(f"{names[0]} and {names[1]}", "".join(body))


def _probabilities(names: Sequence[str], one: Comparison) -> str:
    rows = [[escaped(word.word), percent(word.first), percent(word.second), escaped(word.first_instead),
             escaped(word.second_instead)] for word in one.words]
    rows.append(["<b>log-probability of the translation</b>",
                 *(f"{value:.2f}".replace("-", "−") for value in one.log_probs), "", ""])
    heads = ["word", *map(escaped, names), *(f"token that {escaped(name)} would write" for name in names)]
    return f"<h2>Probability: {escaped(one.translation)}</h2>" + table(heads, rows, numbers=(1, 2))


def _heads(names: Sequence[str], one: Comparison) -> Iterator[str]:
    """The matched heads, those without a partner, and the maps of some."""
    yield f"<h2>Matched heads</h2><p>{HEADS_ABOUT}</p>"
    yield table([*map(escaped, names), "distance", "differ most at", *(f"{escaped(name)} looks at" for name in names)],
                [_row(match) for match in one.heads], numbers=(2,))
    if one.alone:
        yield f"<p>{escaped(alone_line(names, one))}</p>"
    for match in one.heads[:DRAWN]:
        maps = (_map(trace, head) for trace, head in zip(one.traces, (match.first, match.second), strict=True))
        yield (f'<h2>{match.first} and {match.second}</h2>'
               f'<div style="display:grid;grid-template-columns:1fr 1fr;gap:12px">{"".join(maps)}</div>')


def _row(one: HeadPair) -> list[str]:
    looks = [f"{escaped(word)} {percent(share)}" for word, share in (one.row.first, one.row.second)]
    return [f"{one.first}", f"{one.second}", f"{one.distance:.2f}", escaped(one.row.word), *looks]


def _map(trace: TraceData, head: Head) -> str:
    drawn = picture(trace, kind=head.kind, layer=head.layer, head=head.head, words=True)
    content, _ = rendered(drawn, trace, suffix=".svg")
    data = base64.b64encode(content).decode("ascii")
    return (f'<img style="width:100%;background:#fff" alt="{escaped(drawn.title)}"'
            f' src="data:image/svg+xml;base64,{data}">')
