"""The explorer with a model: one HTML file that opens from disk, offline, or a folder for any static host.

`seq2see export MODEL --format web` writes them.  The page (`webpage/explorer/file.js`) draws itself while the browser
still reads the rest: the model, for a worker that runs the network (`webpage/model/network.js`).  That is the JSON of
`page_model.py`, the numbers of `page_weights.py`, and in a file the replay of the training and the record of the
lessons, if any.  A file has them inside, gzip in base64; beside the page of a folder lie `model.bin`, the gzipped JSON,
and the weights in parts, which `webpage/explorer/parts.js` reads.  A folder is also a static Space of Hugging Face. """

from __future__ import annotations

import base64
import gzip
import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..lens.data.view_names import shown_texts
from ..lens.records.calibration import ends_of
from ..tokenizer.language_pairs import LanguagePairs, Pair
from ..translate.translator import Translator
from ..webpage.assembly import as_data, bundle, html_document, style
from .example_pairs import all_right, first_text, pairs_of
from .page_model import page_name, page_pairs, web_model, what_runs
from .page_weights import WebType, WebWeights, web_weights
from .vocabulary import cut, kept_ids

SMALL = 4_000_000  # bytes of float16 up to which a page has them: beyond, int8
LARGEST = 20_000_000  # bytes of weights in one file, which then has about 25 MB and still opens at once
PART = 8_000_000  # bytes of one file of weights
REPLAY = "replay.json.gz"
CHARACTERS, BEAMS, ALTERNATIVES = 1_000, 8, 4  # of what a reader may ask for
POLICY = ("default-src 'none'; script-src 'unsafe-inline' blob:; worker-src blob:; style-src 'unsafe-inline'; "
          "img-src data: blob:; font-src data:")
# Shown where no script draws the page: of a file that was cut early, for example.
STILL = """.s2s-still { margin: 2em; font: 16px sans-serif; animation: s2s-still 3s }
@keyframes s2s-still { from, to { visibility: hidden } }"""
PARTS = """.s2s-parts { position: fixed; inset: auto 0 0; z-index: 9; display: flex; flex-wrap: wrap; gap: 6px 12px;
  align-items: center; justify-content: center; padding: 10px 16px; font: 15px sans-serif; color: #fff;
  background: #222 }
.s2s-parts progress { width: min(320px, 60vw) }"""
README = """---
title: {title}
sdk: static
app_file: index.html
---
{title} in the reader's browser, with every head of its attention. Made by Seq2See: `seq2see export MODEL --format web`.
"""


@dataclass(frozen=True)
class WebModel:
    """A model as a page has it: the JSON of the model and of its weights' manifest, and the weights."""

    translator: Translator
    pairs: list[Pair]
    content: bytes
    weights: WebWeights

    def cut_to(self) -> str:
        """What remains of the vocabulary and of the weights, in words."""
        kept, size = self.weights.state, len(self.weights.buffer)
        with self.translator.inside() as (model, tokenizer):
            whole = size * model.num_parameters(only_trainable=True) / sum(one.numel() for one in kept.values())
            return (f"vocabulary: {len(kept['model.shared.weight']):,} of {len(tokenizer):,} tokens; weights:"
                    f" {size / 1e6:,.1f} MB instead of {whole / 1e6:,.1f} MB")


def prepared(
    translator: Translator, dtype: WebType | None = None, pairs: Sequence[Pair] = (),
    texts: Iterable[str] | None = None,
) -> WebModel:
    """A model from a folder for a page.

    Args:
        dtype: float16 or int8 for the weights; None: int8 for a large model, otherwise float16.
        pairs: the pairs of languages; none: all.
        texts: in these languages, whose tokens remain of the vocabulary; None: all tokens.

    Raises:
        UserError: a model that a browser cannot run.
    """
    chosen = page_pairs(translator, pairs)
    runs, kept = what_runs(translator, chosen), None
    with translator.inside() as (model, tokenizer):
        if texts is not None:
            kept = kept_ids(tokenizer, runs, texts)
            runs = cut(runs, kept)
        half = 2 * sum(weight.numel() for weight in model.parameters())
        weights = web_weights(model, dtype or ("float16" if half <= SMALL else "int8"), kept)
    content = {"model": web_model(translator, weights, chosen, runs=runs), "manifest": weights.manifest}
    plain = json.dumps(content, ensure_ascii=False, separators=(",", ":"))
    return WebModel(translator, chosen, plain.encode(), weights)


def web_page(made: WebModel, *, lessons: bytes = b"", opened: str = "") -> str:
    """The page with the model inside.

    Args:
        lessons: the record of the lessons on this model (`lessons/record.py`), gzipped.
        opened: the page for an address without a page, such as "lesson-3".
    """
    replay = replay_of(made.translator)
    return _html(made, {
        "model": packed(made.content),
        "weights": packed(made.weights.buffer),
        "replay": base64.b64encode(replay.read_bytes()).decode() if replay else "",
        "lessons": base64.b64encode(lessons).decode(),
        "worker": _worker("unpacked"),
    }, POLICY, {"opened": opened})


def write_folder(made: WebModel, folder: Path) -> None:
    """A page whose model lies beside it, for a static host; the folder is new."""
    folder.mkdir(parents=True, exist_ok=True)
    buffer, files = made.weights.buffer, {"model.bin": gzip.compress(made.content, mtime=0)}
    files |= {f"weights-{at // PART:03}.bin": buffer[at:at + PART] for at in range(0, len(buffer), PART)}
    told = [{"name": name, "bytes": len(data), "checksum": hashlib.sha256(data).hexdigest()[:16]}
            for name, data in files.items()]
    for name, data in files.items():
        (folder / name).write_bytes(data)
    page = _html(made, {"worker": _worker("unpackedParts")}, f"{POLICY}; connect-src 'self'",
                 {"files": {"model": told[0], "weights": told[1:]}})
    (folder / "index.html").write_text(page, encoding="utf-8")
    (folder / "README.md").write_text(README.format(title=page_name(made.translator)), "utf-8")


def _worker(unpack: str) -> str:
    return ('"use strict";\n' + bundle("worker", "packed", views=shown_texts()) +
            f"\ns2s_worker.answerIn(self, s2s_packed.{unpack});")


def _html(made: WebModel, parts: dict[str, str], policy: str, settings: dict[str, Any]) -> str:
    """The document with these parts, the last one at its end."""
    translator = made.translator
    scripts = "\n".join(f'<script type="text/plain" id="{name}">{part}</script>' for name, part in parts.items())
    title = f"Seq2See · {page_name(translator)}"
    styles = f"body {{ margin: 0; }}\n{STILL}\n{PARTS}\n{style()}"
    return html_document(title, style=styles, policy=policy, body=f"""
<div id="explorer"><p class="s2s-still">Nothing to see: this file is damaged, the browser is too old or runs no
JavaScript, or the Content-Security-Policy of the host forbids scripts in a page.</p></div>
<script type="application/json" id="settings">{as_data(settings_of(translator, made.pairs) | settings)}</script>
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


def settings_of(translator: Translator, pairs: Sequence[Pair]) -> dict[str, Any]:
    """The explorer's settings: as the server's, for one model."""
    known, name, (source, target) = LanguagePairs.of(pairs), page_name(translator), pairs[0]
    examples = [{**one, "model": name} for one in pairs_of(translator, is_right=all_right(translator))
                if tuple(one["languages"]) in pairs]
    with translator.inside() as (model, _):
        size = model.num_parameters()
    return {
        "models": [{"name": name, "languages": known.products, "weights": size,
                    "recorded": replay_of(translator) is not None,
                    "ends": ends_of(translator.measurements.calibration)}],
        "characters": CHARACTERS, "alternatives": ALTERNATIVES, "beams": BEAMS,
        "pairs": examples,
        "exampleModel": name if examples else None,
        "first": None,
        "start": {"source": source, "target": target},
        "text": first_text(examples, known.sources),
    }
