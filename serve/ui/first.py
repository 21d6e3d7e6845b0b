"""What the page shows first, and which model shows the examples.

The first view is shipped with the package (`first_view.json.gz`, and as plain HTML); `python docs/first_view.py` makes
both from the packaged weights.  With other weights the page translates its first sentence itself.
"""

from __future__ import annotations

import gzip
import json
from functools import lru_cache
from importlib.resources import files
from itertools import chain
from typing import Any

from seq2see.pretrained import NAMES
from ...lens.explorer import style
from ...translate.example_pairs import PAIRS, SOURCE, TARGET, all_right, sentences
from ...translate.loaded_checkpoint import fingerprint
from ...translate.translator import Translator
from ..service import Service
from . import text_of


def example_model(service: Service) -> str | None:
    """The model for the examples: the one whose first view is shipped, which gets all six right; else the first that
    does; else None.  Behind Ray, no other can be asked."""
    models = service.models.items()
    shipped = (name for name, one in models if first_view(one))
    right = (name for name, one in models if callable(one) and all_right(one))
    return next(chain(shipped, right), None)


def settings_of(service: Service, *, api: str | None, learning: dict[str, Any] | None = None) -> dict[str, Any]:
    """The explorer's settings: models, limits, examples, and what it shows first."""
    limits, models, pairs = service.settings, service.models, service.language_pairs
    chosen = example_model(service)
    first = first_view(models[chosen]) if chosen else None
    return {
        "api": api,
        "models": [{"name": name, "languages": one.language_pairs.products, "weights": weights(one)}
                   for name, one in models.items()],
        "characters": limits.characters,
        "alternatives": limits.alternatives,
        "beams": limits.beams,
        "pairs": list(PAIRS) if chosen else [],
        "pairLanguages": [SOURCE, TARGET] if chosen else None,
        "exampleModel": chosen,
        "first": first,
        "text": sentences()[0][0] if not first and SOURCE in pairs.sources and pairs.default else None,
        "learning": learning,
    }  # fmt: skip


def first_view(translator: Translator) -> dict[str, Any] | None:
    """The answer of `/v1/look` to the first sentence, if it was made with these weights."""
    kept = kept_view()
    same = kept and translator.folder and kept["weights"] == fingerprint(translator.folder)
    return kept["reply"] if kept and same else None


@lru_cache(maxsize=1)
def kept_view() -> dict[str, Any] | None:
    file = files("seq2see.serve.ui").joinpath("first_view.json.gz")
    return json.loads(gzip.decompress(file.read_bytes())) if file.is_file() else None


def static_view(service: Service) -> bytes:
    """The first view as HTML, if the page opens with it."""
    chosen = example_model(service)
    kept = chosen is not None and first_view(service.models[chosen]) is not None
    style_sheet = f'<style class="s2s-first">{style()}{text_of("first.css")}</style>'  # removed with the view
    return f"{style_sheet}{text_of('first_view.html')}".encode() if kept else b""


def weights(translator: Translator) -> int | None:
    """The number of weights of a packaged model, from its metrics; None for others, which are not loaded to count."""
    if translator.folder is None or translator.name not in NAMES:
        return None
    metrics = json.loads((translator.folder / "metrics.json").read_text(encoding="utf-8"))
    return int(metrics["training"]["parameters"])
