"""The explorer with a model inside, as one HTML file that opens from disk, offline, without a server.

`seq2see export MODEL --format web` writes it.  The page (`webpage/explorer/file.js`) draws itself while the browser
still reads the rest: the model, gzip in base64, for a worker that runs the network (`webpage/model/network.js`).  The
rest is the JSON of `page_model.py`, the numbers of `page_weights.py`, and the replay of the training, if any.  For a
model with lessons, it includes their record. """

from __future__ import annotations

import base64
import gzip
import json
from pathlib import Path
from typing import Any

from ..lens.data.view_names import shown_texts
from ..translate.translator import Translator
from ..webpage.assembly import as_data, bundle, html_document, style
from .example_pairs import first_text, pairs_of
from .page_model import web_model
from .page_weights import WebType, web_weights

SMALL = 4_000_000  # bytes of float16 up to which a page has them: beyond, int8
REPLAY = "replay.json.gz"
CHARACTERS, BEAMS, ALTERNATIVES = 1_000, 8, 4  # of what a reader may ask for
POLICY = ("default-src 'none'; script-src 'unsafe-inline' blob:; worker-src blob:; style-src 'unsafe-inline'; "
          "img-src data: blob:; font-src data:")
# Shown where no script draws the page: of a file that was cut early, for example.
STILL = """.s2s-still { margin: 2em; font: 16px sans-serif; animation: s2s-still 3s }
@keyframes s2s-still { from, to { visibility: hidden } }"""


def web_page(translator: Translator, dtype: WebType | None = None, *, lessons: bytes = b"", opened: str = "") -> str:
    """The page of a Seq2See model from a folder.

    Args:
        dtype: float16 or int8 for the weights; None: int8 for a large model, otherwise float16.
        lessons: the record of the lessons on this model (`lessons/record.py`), gzipped.
        opened: the page for an address without a page, such as "lesson-3".

    Raises:
        UserError: a model that a browser cannot run.
    """
    with translator.inside() as (model, _):
        half = 2 * sum(weight.numel() for weight in model.parameters())
        weights = web_weights(model, dtype or ("float16" if half <= SMALL else "int8"))
    content = {"model": web_model(translator, weights), "manifest": weights.manifest}
    replay = replay_of(translator)
    parts = {
        "model": packed(json.dumps(content, ensure_ascii=False, separators=(",", ":")).encode()),
        "weights": packed(weights.buffer),
        "replay": base64.b64encode(replay.read_bytes()).decode() if replay else "",
        "lessons": base64.b64encode(lessons).decode(),
        "worker": '"use strict";\n' + bundle("worker", "packed", views=shown_texts()) +
                  "\ns2s_worker.answerIn(self, s2s_packed.unpacked);",
    }
    scripts = "\n".join(f'<script type="text/plain" id="{name}">{part}</script>' for name, part in parts.items())
    title, styles = f"Seq2See · {translator.name or 'a model'}", f"body {{ margin: 0; }}\n{STILL}\n{style()}"
    return html_document(title, style=styles, policy=POLICY, body=f"""
<div id="explorer"><p class="s2s-still">Nothing to see: this file is damaged, or the browser is too old or runs no
JavaScript.</p></div>
<script type="application/json" id="settings">{as_data(settings_of(translator) | {"opened": opened})}</script>
<script>(() => {{ "use strict"; {bundle("file", views=shown_texts())}
s2s_file.openFile(document.getElementById("explorer"));
}})();</script>
{scripts}
""")


def replay_of(translator: Translator) -> Path | None:
    """The file with the recorded training, if there is one."""
    path = translator.folder / REPLAY if translator.folder else None
    return path if path and path.exists() else None


def packed(content: bytes) -> str:
    return base64.b64encode(gzip.compress(content, mtime=0)).decode()


def settings_of(translator: Translator) -> dict[str, Any]:
    """The explorer's settings: as the server's, for one model."""
    examples, [(source, target), *_] = pairs_of(translator), list(translator.language_pairs)
    with translator.inside() as (model, _):
        size = model.num_parameters()
    return {
        "models": [{"name": translator.name, "languages": translator.language_pairs.products, "weights": size,
                    "recorded": replay_of(translator) is not None}],
        "characters": CHARACTERS, "alternatives": ALTERNATIVES, "beams": BEAMS,
        "pairs": examples,
        "exampleModel": translator.name if examples else None,
        "first": None,
        "start": {"source": source, "target": target},
        "text": first_text(examples, translator.language_pairs.sources),
    }
