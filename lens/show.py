"""Drawing a `Trace` as one HTML page that needs nothing else; `terminal.py` and `plot.py` draw it elsewhere.

The page and the Gradio component share the files of `drawing/`; `view_data` is what both are given.
Nothing here changes a weight: no renormalising, no dimming; a scale that is not 0 to 1 says so with numbers.
"""

import base64
import html
import json
from collections.abc import Sequence
from importlib.resources import files
from typing import Any

import numpy as np

from seq2see.errors import UserError
from seq2see.views import VIEWS
from ..tokenizer.words import Piece, Word
from .by_words import units
from .head_roles import Roles
from .kinds import KINDS, WITH_HEADS, Kind, Rows
from .picture import picture, said_of_trust
from .summary import sink_shares
from .temperatures import TEMPERATURES, log_sums
from .trace_data import TraceData
from .trust import TERMS
from .wording import (
    ABOUT,
    LEFT_OUT,
    LEFT_OUT_COLUMNS,
    NAMES,
    OF_SHARES,
    VIEW_TEXTS,
    column_meaning,
    label,
    labels,
    row_meaning,
)

NOT_CALIBRATED = "probabilities are the model's own, not calibrated"
WORTH_TELLING = 0.01  # difference of two log-probabilities; rounding alone makes smaller ones
CELLS_DRAWN = 8_000_000  # more weights than this (32 MB) and a browser stops being pleasant
DRAWING = ("colour", "pens", "controls", "trace_maps", "heatmap", "lines", "thumbnails", "take_away", "reading",
           "panels", "step", "attention_map")  # each may use those before it


def facts(trace: TraceData) -> str:
    """One line: which model, which engine, and how probable the hypothesis is under the weights that were looked at."""
    steps = len(trace.target) - trace.given
    parts = [f"log-probability {trace.log_prob:.3f} over {steps} steps (float32 weights)"]
    if trace.confidence is None:
        parts.append(NOT_CALIBRATED)
    else:
        parts.append(f"confidence {trace.confidence:.0%}, the mean over its tokens, calibrated")
    if not trace.target[-1].special:
        parts.append("stopped at the limit of length, before </s>")
    if trace.score is not None:
        parts.append(f"score {trace.score:.4f} from {trace.engine}, {trace.precision}")
    difference = abs(trace.difference or 0)
    if trace.engine != "torch" and difference > WORTH_TELLING:
        pair = f"{trace.engine} and torch" if trace.precision == "float32" else f"{trace.precision} and float32"
        parts.append(f"{pair} log-probabilities differ by {difference:.3f}")
    return " · ".join([*([trace.model] if trace.model else []), *parts])


def view_data(
    trace: TraceData, *, unseen: Sequence[Word] | None = None, roles: Roles | None = None,
    view: str = "raw", kind: Kind = "cross", layer: int | None = None, head: int | None = None,
    words: bool = False, rows: Rows = "predicts",
) -> dict[str, Any]:
    """What `attention_map.js` draws: every view that the trace holds, opened at the one named.

    Weights travel as float32 in base64, every number as the trace has it.  `roles` are what `seq2see heads` measured.
    `unseen` are the source words that the model never met in training: they are marked as such.
    UserError for a map to open at that is not there, or more weights than a browser draws.
    """
    cells = sum(trace.maps(kind, view).size for view in trace.cross for kind in KINDS)
    if cells > CELLS_DRAWN:
        sizes = f"{len(trace.source)} source and {len(trace.target)} target pieces make {cells:,} weights"
        raise UserError(f"{sizes}, too many to draw ({CELLS_DRAWN:,}): save them as .json, or take a shorter text or"
                        " one view")  # fmt: skip
    start = picture(trace, view=view, kind=kind, layer=layer, head=head, words=words, rows=rows)
    held = set(trace.views) - ({"left_out"} if not trace.source_words else set())
    last = trace.maps(kind).shape[0] - 1 if layer is None else layer
    sides = {"source": trace.source, "target": trace.target, "inputs": trace.inputs}
    return {
        "facts": facts(trace),
        "terms": TERMS,
        "source_text": trace.source_text,
        "target_text": trace.target_text,
        "ends": [piece.end for piece in trace.target],
        "unseen": [word.text for word in unseen or ()],
        "unseen_pieces": [
            any(word.start <= piece.start < word.end for word in unseen or ()) and not piece.special
            for piece in trace.source
        ],
        **{side: labels(pieces) for side, pieces in sides.items()},
        "special": {side: [piece.special for piece in pieces] for side, pieces in sides.items()},
        "words": {side: _words(trace, pieces, side) for side, pieces in sides.items()},
        "source_words": [label(word.text) for word in trace.source_words],
        "word_of_piece": [piece.word for piece in trace.source],
        "calibrated": trace.calibrated is not None,
        "probabilities": np.exp(trace.shown.log_probs).tolist(),
        "log_probs": trace.shown.log_probs.tolist(),
        "entropies": trace.shown.entropies.tolist(),
        "given": trace.given,
        "candidates": [
            [[label(one.text), one.log_prob, one.id == chosen] for one in step]
            for step, chosen in zip(trace.shown.top, trace.target_ids, strict=True)
        ],
        "temperatures": TEMPERATURES.tolist(),
        "log_sums": [] if trace.logits is None else log_sums(trace).tolist(),
        "roles": _roles_data(roles or {}),
        "kinds": {kind: _kind_data(kind) for kind in NAMES},
        "views": {view: _view_data(trace, view) for view in VIEWS if view in held},
        "start": {"view": view, "kind": start.kind, "layer": last, "head": start.head or 0, "words": words,
                  "rows": rows},
    }  # fmt: skip


def _words(trace: TraceData, pieces: Sequence[Piece], side: str) -> list[dict[str, Any]]:
    words = trace.source_words if side == "source" else trace.target_words
    return [{"text": label(unit.text), "pieces": unit.pieces, "special": unit.special, "word": unit.word}
            for unit in units(pieces, words)]


def _roles_data(roles: Roles) -> dict[str, Any]:
    return {kind: {f"{layer}.{head}": [{"role": "supervised: " * one.supervised + one.role, "said": str(one)}
                                       for one in each]
                   for (of, layer, head), each in roles.items() if of == kind} for kind in KINDS}


def _kind_data(kind: Kind) -> dict[str, Any]:
    ways = {"pieces": False, "words": True}
    return {
        "name": NAMES[kind],
        "about": ABOUT[kind],
        "row_titles": {
            way: {rows: row_meaning(kind, "raw", rows=rows, words=words) for rows in ("predicts", "reads")}
            for way, words in ways.items()
        },
        "column_titles": {way: column_meaning(kind, "raw", words=words) for way, words in ways.items()},
    }


def _view_data(trace: TraceData, view: str) -> dict[str, Any]:
    said = VIEW_TEXTS[view]
    name = LEFT_OUT if view == "left_out" else view
    data: dict[str, Any] = {"name": name, "about": said.about, "cell": said.cell, "reading": said.reading,
                            "of_shares": view in OF_SHARES}
    if view == "left_out":
        assert trace.left_out is not None
        titles = {way: row_meaning("cross", view, rows="predicts", words=way == "words") for way in ("pieces", "words")}
        return data | {"row_titles": titles, "column_title": LEFT_OUT_COLUMNS,
                       "kinds": {"cross": _maps_data(trace, view, "cross", trace.left_out[None, None])}}
    every = {kind: trace.maps(kind, view) for kind in NAMES}
    return data | {"kinds": {kind: _maps_data(trace, view, kind, maps if view in WITH_HEADS else maps[:, None])
                             for kind, maps in every.items()}}


def _maps_data(trace: TraceData, view: str, kind: Kind, maps: np.ndarray) -> dict[str, Any]:
    """All maps [L,H,R,C] of a view and kind; a view without layers or heads has one."""
    layered, headed = view != "left_out", view in WITH_HEADS
    sunk = sink_shares(trace, kind, view=view).reshape(*maps.shape[:2], -1).round(6).tolist() if layered else None
    return {
        "shape": maps.shape,
        "layered": layered,
        "headed": headed,
        "weights": base64.b64encode(maps.astype("<f4").tobytes()).decode("ascii"),
        "largest": 1.0 if view in OF_SHARES else max(float(maps.max(initial=0)), 1e-6),
        "sums": VIEW_TEXTS[view].sums[kind],
        "sinks": sunk,
        "trust": _trust_data(trace, view, kind, maps.shape[0], maps.shape[1]),
    }


def _trust_data(trace: TraceData, view: str, kind: Kind, layers: int, heads: int) -> Any:
    """A line for all maps, or, where they were measured, for each row meaning, layer and head."""
    if trace.trust is None or kind != "cross":
        return said_of_trust(trace, view, kind, "predicts", ())
    axes = 0 if view == "left_out" else 2 if view in WITH_HEADS else 1
    return {
        rows: [[said_of_trust(trace, view, kind, rows, (layer, head)[:axes]) for head in range(heads)]
               for layer in range(layers)]
        for rows in ("predicts", "reads")
    }


def script() -> str:
    """The drawing's JavaScript: the files of `drawing/` joined, to be run in a scope of their own."""
    return "\n".join(asset(f"{name}.js") for name in DRAWING)


def asset(name: str) -> str:
    """The text of a file of `drawing/`."""
    return files("seq2see.lens").joinpath("drawing", name).read_text(encoding="utf-8")


def to_html(trace: TraceData, **chosen: Any) -> str:
    """A whole page: works offline, from a file, in a sandboxed frame; user text enters it only as JSON data.

    `chosen` are the settings of `view_data`: the words never seen in training, and which map it opens at.
    """
    data = json.dumps(view_data(trace, **chosen), ensure_ascii=False, allow_nan=False)
    data = data.replace("<", "\\u003c")  # or a text with `</script>` would end the data
    policy = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'"
    title = html.escape(f"{trace.source_text} · Seq2See")
    return f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<title>{title}</title><style>{asset("attention_map.css")}</style></head>
<body class="s2s-page"><main class="s2s" id="map"><noscript>This page draws with JavaScript.</noscript></main>
<script type="application/json" id="data">{data}</script>
<script>(() => {{ "use strict"; {script()}
attentionMap(document.getElementById("map")).show(JSON.parse(document.getElementById("data").textContent));
}})();</script>
</body></html>
"""


def to_iframe(trace: TraceData) -> str:
    """The page in a frame of its own, as notebooks want it: neither side's style or script touches the other's."""
    height = 680 + 16 * max(len(trace.source), len(trace.target))
    page = html.escape(to_html(trace), quote=True)
    return (f'<iframe title="Attention maps" sandbox="allow-scripts allow-downloads" '
            f'style="width:100%;height:{height}px;border:0" srcdoc="{page}"></iframe>')
