"""A trace as the explorer draws it: one JSON object, and one HTML page that needs nothing else.

The served page and this one are the same explorer, of the files in `drawing/`; here it has no server to ask, and
`/v1/look` answers the JSON alone.  Weights travel in float16, base64; nothing here changes one: no renormalising, no
dimming; a scale that is not 0 to 1 says so with numbers.
"""

import base64
import html
import json
import re
from collections.abc import Sequence
from dataclasses import asdict
from importlib.resources import files
from typing import Any

import numpy as np

from seq2see.errors import UserError
from ..tokenizer.words import Piece, Word
from .by_words import units
from .files import plain
from .kinds import KINDS, Kind, Rows
from .maps import picture
from .probabilities import TEMPERATURES, log_sums
from .roles import PronounEffects, Roles
from .trace_data import TraceData
from .wording import labels

NUMBERS = ("log_probs", "entropies", "log_normalisers")
CELLS_DRAWN = 8_000_000  # more weights than this (32 MB) and a browser stops being pleasant
WEIGHTS = (400, 700)
STYLES = ("explorer", "dock", "narrow")
IMPORT = re.compile(r'^import \{([^}]*)\} from "\./(\w+)\.js";$', re.MULTILINE)
EXPORT = re.compile(r"^export (?:async )?(?:function|const|class) (\w+)", re.MULTILINE)


# --- the record


def trace_record(trace: TraceData, *, kinds: Sequence[Kind] = KINDS) -> dict[str, Any]:
    """The trace with the maps of these kinds, in every view it has."""
    numbers = {name: getattr(trace, name).tolist() for name in NUMBERS}
    maps = {kind: {view: encoded(array) for view, array in getattr(trace, kind).items()} for kind in kinds}
    if trace.left_out is not None and "cross" in maps:
        maps["cross"]["left_out"] = encoded(trace.left_out)
    sides = {"source": trace.source, "target": trace.target, "inputs": trace.inputs}
    sums = {} if trace.logits is None else {"temperatures": TEMPERATURES.tolist(), "log_sums": log_sums(trace).tolist()}
    return plain(trace) | numbers | sums | {
        "log_prob": trace.log_prob,
        "confidence": trace.confidence,
        "labels": {side: labels(pieces) for side, pieces in sides.items()},
        "words": {side: _words(trace, pieces, side) for side, pieces in sides.items()},
        "maps": maps,
    }


def encoded(array: np.ndarray) -> dict[str, Any]:
    """An array in float16, base64."""
    data = np.ascontiguousarray(array, dtype="<f2")
    return {"shape": list(data.shape), "dtype": "<f2", "data": base64.b64encode(data.tobytes()).decode("ascii")}


def _words(trace: TraceData, pieces: Sequence[Piece], side: str) -> list[dict[str, Any]]:
    """The tokens of a side by words, each with its place in the text; a token of no word stands alone."""
    words: Sequence[Word] = trace.source_words if side == "source" else trace.target_words
    found = []
    for unit in units(pieces, words):
        place = pieces[unit.pieces[0]] if unit.word is None else words[unit.word]
        found.append({"text": unit.text, "pieces": list(unit.pieces), "word": unit.word, "special": unit.special,
                      "start": place.start, "end": place.end})
    return found


def measured_record(roles: Roles, apart: PronounEffects | None) -> dict[str, Any]:
    """What was measured of a model's heads: the roles that hold, and how well pronouns are told apart without each."""
    return {
        "roles": [{"kind": kind, "layer": layer, "head": head, **asdict(one)}
                  for (kind, layer, head), each in roles.items() for one in each],
        "apart": None if apart is None else {
            "whole": apart.whole, "pronouns": apart.pronouns,
            "heads": {"{}.{}.{}".format(*head): round(value, 4) for head, value in apart.heads.items()},
        },
    }  # fmt: skip


# --- the page


def script() -> str:
    """The explorer's JavaScript, to be run in a scope of its own, where it leaves the function `explorer`.

    Each module of `drawing/` keeps a scope of its own: what it imports it takes from those before it.
    """
    done: dict[str, str] = {}

    def add(name: str) -> None:
        text = asset(f"{name}.js")
        for _, needed in IMPORT.findall(text):
            if needed not in done:
                add(needed)
        exported = ", ".join(EXPORT.findall(text))
        text = IMPORT.sub(lambda found: f"const {{{found[1].replace(' as ', ': ')}}} = s2s_{found[2]};", text)
        text = re.sub(r"^export ", "", text, flags=re.MULTILINE)
        done[name] = f"const s2s_{name} = (() => {{\n{text}\nreturn {{ {exported} }};\n}})();"

    add("explorer")
    return "\n".join([*done.values(), "const { explorer } = s2s_explorer;"])


def style() -> str:
    """The explorer's CSS, with its two fonts in it."""
    home = files("seq2see.lens").joinpath("drawing")
    faces = "".join(
        f"@font-face {{ font-family: 'Seq2See Sans'; font-weight: {weight}; src: url(data:font/woff2;base64,"
        f"{base64.b64encode(home.joinpath(f'sans-{weight}.woff2').read_bytes()).decode()}) }}\n" for weight in WEIGHTS)
    return faces + "\n".join(asset(f"{name}.css") for name in STYLES)


def asset(name: str) -> str:
    """The text of a file of `drawing/`."""
    return files("seq2see.lens").joinpath("drawing", name).read_text(encoding="utf-8")


def as_data(value: Any) -> str:
    """JSON that may stand inside a script element: a text with `</script>` does not end it."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False).replace("<", "\\u003c")


def to_html(
    trace: TraceData, *, unseen: Sequence[Word] | None = None, roles: Roles | None = None, view: str = "raw",
    kind: Kind = "cross", layer: int | None = None, head: int | None = None, words: bool = False,
    rows: Rows = "predicts",
) -> str:
    """A whole page: works offline, from a file, in a sandboxed frame; user text enters it only as JSON data.

    It opens at the map named.  `unseen` are the source words that the model never met in training, `roles` what
    `seq2see heads` measured.  UserError for a map that is not there, or more weights than a browser draws.
    """
    start = picture(trace, view=view, kind=kind, layer=layer, head=head, words=words, rows=rows)
    reply = {"traces": [drawable(trace)], "measured": measured_record(roles or {}, None), "translation": {
        "text": trace.target_text, "unknown_words": [word.text for word in unseen or ()], "hypotheses": []}}
    opened = {"head": {"kind": start.kind, "layer": start.layer or 0, "head": start.head or 0}, "pinned": True,
              "view": view, "unit": "words" if words else "tokens", "rows": rows}
    settings = {"first": reply, "models": [], "embedded": True, "start": opened}
    policy = ("default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:; "
              "font-src data:")
    title = html.escape(f"{trace.source_text} · Seq2See")
    return f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<title>{title}</title><style>body {{ margin: 0; }}
{style()}</style></head>
<body><div id="explorer"><noscript>This page draws with JavaScript.</noscript></div>
<script type="application/json" id="data">{as_data(settings)}</script>
<script>(() => {{ "use strict"; {script()}
explorer(document.getElementById("explorer"), JSON.parse(document.getElementById("data").textContent));
}})();</script>
</body></html>
"""


def drawable(trace: TraceData) -> dict[str, Any]:
    """The record of a trace; UserError where it has more weights than a browser draws."""
    cells = sum(trace.maps(kind, view).size for view in trace.cross for kind in KINDS)
    if cells > CELLS_DRAWN:
        sizes = f"{len(trace.source)} source and {len(trace.target)} target tokens make {cells:,} weights"
        raise UserError(f"{sizes}, too many to draw ({CELLS_DRAWN:,}): save them as .json, or take a shorter text or"
                        " one view")  # fmt: skip
    return trace_record(trace)


def to_iframe(trace: TraceData) -> str:
    """The page in a frame of its own, as notebooks want it: neither side's style or script touches the other's."""
    height = 680 + 16 * max(len(trace.source), len(trace.target))
    page = html.escape(to_html(trace), quote=True)
    return (f'<iframe title="Attention maps" sandbox="allow-scripts allow-downloads" '
            f'style="width:100%;height:{height}px;border:0" srcdoc="{page}"></iframe>')
