"""A trace for the explorer: one JSON object, and one self-contained HTML page.

The page in a file and the served page are the same explorer, in `webpage/`; the page in a file needs no server.
`/v1/look` responds with the JSON.  Weights are float16 in base64, and never renormalised or dimmed.  A scale other than
0 to 1 has numbers on it.
"""

import base64
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from seq2see.errors import UserError
from ...passes.attention_kinds import KINDS, Kind, Rows
from ...tokenizer.words import TokenSpan, Word
from ...webpage.assembly import as_data, bundle, html_document, style
from ..data.probabilities import TEMPERATURES, log_sums
from ..data.trace_data import TraceData
from ..data.trace_files import NEEDED, plain
from ..data.view_names import shown_texts
from ..data.word_maps import units
from ..records.roles import Roles, measured_record
from .maps import picture
from .wording import labels

CELLS_DRAWN = 8_000_000  # weights (32 MB); with more a browser becomes slow


# --- the record


def trace_record(trace: TraceData, *, kinds: Sequence[Kind] = KINDS) -> dict[str, Any]:
    """The trace with the maps of these kinds, in all its views."""
    numbers = {name: getattr(trace, name).tolist() for name in NEEDED}
    maps = {kind: {view: encoded(array) for view, array in getattr(trace, kind).items()} for kind in kinds}
    if trace.left_out is not None and "cross" in maps:
        maps["cross"]["left_out"] = encoded(trace.left_out)
    sides = {"source": trace.source, "target": trace.target, "inputs": trace.inputs}
    sums = {} if trace.logits is None else {"temperatures": TEMPERATURES.tolist(), "log_sums": log_sums(trace).tolist()}
    texts = {"texts": {"source": trace.texts[0], "target": trace.texts[1]}} if trace.replaced else {}
    record = {name: value for name, value in plain(trace).items() if name != "replaced"}
    return record | numbers | sums | texts | {
        "log_prob": trace.log_prob,
        "confidence": trace.confidence,
        "labels": {side: labels(trace.named(tokens, source=side == "source"), source=side == "source")
                   for side, tokens in sides.items()},
        "words": {side: _words(trace, tokens, side) for side, tokens in sides.items()},
        "maps": maps,
    }


def encoded(array: np.ndarray) -> dict[str, Any]:
    """An array in float16, base64."""
    data = np.ascontiguousarray(array, dtype="<f2")
    return {"shape": list(data.shape), "dtype": "<f2", "data": base64.b64encode(data.tobytes()).decode("ascii")}


def _words(trace: TraceData, tokens: Sequence[TokenSpan], side: str) -> list[dict[str, Any]]:
    """The tokens of a side grouped by word, with their spans in the text; tokens of no word stand alone."""
    words = trace.words(source=side == "source")
    found = []
    for unit in units(tokens, words):
        place = tokens[unit.pieces[0]] if unit.word is None else words[unit.word]
        found.append(asdict(unit) | {"start": place.start, "end": place.end})
    return found


# --- the page


def script() -> str:
    """The explorer's JavaScript, which defines the function `explorer` in the scope it runs in."""
    return bundle("explorer", views=shown_texts()) + "\nconst { explorer } = s2s_explorer;"


def to_html(
    trace: TraceData, *, unseen: Sequence[Word] | None = None, warnings: Sequence[str] = (),
    roles: Roles | None = None, view: str = "raw", kind: Kind = "cross", layer: int | None = None,
    head: int | None = None, words: bool = False, rows: Rows = "predicts",
) -> str:
    """A trace as one HTML page that works offline, from a file, and in a sandboxed frame.

    The page opens at the given map.  The page contains user text only as JSON data.

    Args:
        trace: any trace.
        unseen: source words that were not in the training text.
        warnings: those of the translation.
        roles: the roles of heads that `seq2see measure` found.
        view, kind, layer, head, words, rows: the map, as in `picture`.

    Raises:
        UserError: a map that does not exist, or more weights than a browser can draw.
    """
    start = picture(trace, view=view, kind=kind, layer=layer, head=head, words=words, rows=rows)
    opened = {"head": {"kind": start.kind, "layer": start.layer or 0, "head": start.head or 0}, "chosen": True,
              "view": view, "unit": "words" if words else "tokens", "rows": rows}
    first = look_record(trace, unseen=unseen, warnings=warnings, measured=measured_record(roles or {}, None))
    return page({"first": first, "start": opened}, title=trace.texts[0])


def look_record(trace: TraceData, *, unseen: Sequence[Word] | None, warnings: Sequence[str] = (),
                measured: dict[str, Any]) -> dict[str, Any]:
    """The response of `/v1/look` about one trace, for a page in a file.

    Raises UserError for more weights than a browser can draw.
    """
    cells = sum(maps.size for kind in KINDS for maps in getattr(trace, kind).values())
    if cells > CELLS_DRAWN:
        sizes = f"{len(trace.source)} source and {len(trace.target)} target tokens make {cells:,} weights"
        raise UserError(f"{sizes}, too many to draw ({CELLS_DRAWN:,}): save them as .json, or take a shorter text or"
                        " one view")
    return {"traces": [trace_record(trace)], "measured": measured, "translation": {
        "text": trace.texts[1], "unknown_words": [word.text for word in unseen or ()], "hypotheses": [],
        "warnings": [*warnings]}}


def page(settings: dict[str, Any], *, title: str) -> str:
    """The explorer with these settings as one self-contained page."""
    return html_document(f"{title} · Seq2See", style=f"body {{ margin: 0; }}\n{style()}", body=f"""
<div id="explorer"><noscript>This page draws with JavaScript.</noscript></div>
<script type="application/json" id="data">{as_data({"models": [], "embedded": True} | settings)}</script>
<script>(() => {{ "use strict"; {script()}
explorer(document.getElementById("explorer"), JSON.parse(document.getElementById("data").textContent));
}})();</script>
""")
