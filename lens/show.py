"""Drawing a `Trace`: in the terminal, and as one HTML page that needs nothing else.

The page and the Gradio component share `attention_map.js` and `attention_map.css`; `view_data` is what both are given.
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
from seq2see.lens.summary import sink_shares
from seq2see.lens.trace import KINDS, Kind, Trace
from seq2see.tokenizer.words import Piece, Word

CELLS_DRAWN = 8_000_000  # more weights than this (16 MB) and a browser stops being pleasant
CANDIDATES_DRAWN = 8

NAMES: dict[Kind, str] = {"cross": "Cross-attention", "encoder": "Encoder", "decoder": "Decoder"}
ABOUT: dict[Kind, str] = {
    "cross": "where each step of the translation looked in the source",
    "encoder": "where each source piece looked in the source",
    "decoder": "where each step looked in what was already written",
}
ROWS: dict[Kind, str] = {
    "cross": "row: the step that predicts this piece",
    "encoder": "row: the source piece that looks",
    "decoder": "row: the step that predicts this piece",
}
ROWS_READ = "row: the step that reads this piece"
COLUMNS: dict[Kind, str] = {
    "cross": "column: the source piece looked at",
    "encoder": "column: the source piece looked at",
    "decoder": "column: the piece already written",
}


def printable(text: str) -> str:
    """The text with escapes for what could move a cursor, ring a bell or turn a line round."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)


def label(text: str) -> str:
    """A piece as it is shown: printable, its space visible."""
    return printable(text).replace(" ", "▁")


def labels(pieces: Sequence[Piece]) -> list[str]:
    """The pieces of a text as they are shown: one that continues the word of the piece before it begins with `·`."""
    words = [None, *(piece.word for piece in pieces)]
    continues = (piece.word is not None and piece.word == before for piece, before in zip(pieces, words, strict=False))
    return [("·" if goes_on else "") + label(piece.text) for piece, goes_on in zip(pieces, continues, strict=True)]


def facts(trace: Trace) -> str:
    """One line: which model, which engine, and how probable the hypothesis is under the weights that were looked at."""
    steps = len(trace.target) - trace.given
    parts = [f"log-probability {trace.log_prob:.3f} over {steps} steps (float32 weights)"]
    if not trace.target[-1].special:
        parts.append("stopped at the limit of length, before </s>")
    if trace.score is not None:
        parts.append(f"score {trace.score:.4f} from {trace.engine}, {trace.precision}")
    if trace.difference is not None and (trace.engine, trace.precision) != ("torch", "float32"):
        parts.append(f"which found its log-probability {trace.difference:+.3f} off these weights'")
    return " · ".join([*([trace.model] if trace.model else []), *parts])


def view_data(trace: Trace, *, view: str = "raw", unseen: Sequence[Word] | None = None) -> dict[str, Any]:
    """What `attention_map.js` draws.  Weights travel as 16-bit fractions (off by less than 0.00001), base64.

    `unseen` are the source words that the model never met in training: they are marked as such.
    """
    cells = sum(trace.maps(kind, view).size for kind in KINDS)
    if cells > CELLS_DRAWN:
        sizes = f"{len(trace.source)} source and {len(trace.target)} target pieces make {cells:,} weights"
        raise UserError(f"{sizes}, too many to draw ({CELLS_DRAWN:,}): save them as .json, or take a shorter text")
    return {
        "facts": facts(trace),
        "source_text": trace.source_text,
        "target_text": trace.target_text,
        "unseen": [word.text for word in unseen or ()],
        "unseen_pieces": [
            any(word.start <= piece.start < word.end for word in unseen or ()) and not piece.special
            for piece in trace.source
        ],
        "source": labels(trace.source),
        "target": labels(trace.target),
        "inputs": labels(trace.inputs),
        "probabilities": [round(float(p), 6) for p in np.exp(trace.log_probs)],
        "given": trace.given,
        "candidates": [
            [[label(c.text), round(float(np.exp(c.log_prob)), 6), c.id == chosen] for c in step[:CANDIDATES_DRAWN]]
            for step, chosen in zip(trace.top, trace.target_ids, strict=True)
        ],
        "kinds": {kind: _kind_data(trace, kind, view) for kind in ("cross", "encoder", "decoder")},
    }


def _kind_data(trace: Trace, kind: Kind, view: str) -> dict[str, Any]:
    maps = trace.maps(kind, view)
    return {
        "name": NAMES[kind],
        "about": ABOUT[kind],
        "shape": maps.shape,
        "weights": base64.b64encode((maps * 65535).round().astype("<u2").tobytes()).decode("ascii"),
        "shares": sink_shares(trace, kind, view=view).round(6).tolist(),
        "row_titles": {"predicts": ROWS[kind], "reads": ROWS_READ if kind != "encoder" else ROWS[kind]},
        "column_title": COLUMNS[kind],
    }


def asset(name: str) -> str:
    """The text of `attention_map.js` or `attention_map.css`."""
    return files("seq2see.lens").joinpath(name).read_text(encoding="utf-8")


def to_html(trace: Trace, *, unseen: Sequence[Word] | None = None) -> str:
    """A whole page: works offline, from a file, in a sandboxed frame; user text enters it only as JSON data."""
    data = json.dumps(view_data(trace, unseen=unseen), ensure_ascii=False)
    data = data.replace("<", "\\u003c")  # or a text with `</script>` would end the data
    policy = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'"
    title = html.escape(f"{trace.source_text} · Seq2See")
    return f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<title>{title}</title><style>{asset("attention_map.css")}</style></head>
<body class="s2s-page"><main class="s2s" id="map"><noscript>This page draws with JavaScript.</noscript></main>
<script type="application/json" id="data">{data}</script>
<script>{asset("attention_map.js")}
attentionMap(document.getElementById("map")).show(JSON.parse(document.getElementById("data").textContent));</script>
</body></html>
"""


def to_iframe(trace: Trace) -> str:
    """The page in a frame of its own, as notebooks want it: neither side's style or script touches the other's."""
    height = 560 + 16 * max(len(trace.source), len(trace.target))
    page = html.escape(to_html(trace), quote=True)
    return (f'<iframe title="Attention maps" sandbox="allow-scripts" style="width:100%;height:{height}px;border:0" '
            f'srcdoc="{page}"></iframe>')
