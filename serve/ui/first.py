"""What the pages show first, and which model shows the examples.

The first view is shipped with the package (`first_view.json.gz`); `python docs/first_view.py` makes it from the
packaged weights.  With other weights a page translates its first sentence itself.
"""

from __future__ import annotations

import gzip
import json
from functools import lru_cache
from importlib.resources import files
from itertools import chain
from typing import Any

from seq2see.pretrained import NAMES
from ...lens.corpora.replay import FILE as REPLAY
from ...lens.records.calibration import ends_of
from ...translate.loaded_checkpoint import fingerprint
from ...translate.translator import Translator
from ...webpage_data.example_pairs import all_right, first_text, pairs_of
from ..service import Service


def example_model(service: Service) -> str | None:
    """The model for the examples: the one whose first view is shipped, which gets all six right; else the first that
    does; else None.  Engines elsewhere have told it."""
    if service.engines:
        return service.example
    models = service.models.items()
    shipped = (name for name, one in models if first_view(one))
    right = (name for name, one in models if all_right(one))
    return next(chain(shipped, right), None)


def settings_of(service: Service, *, api: str | None) -> dict[str, Any]:
    """The explorer's settings: models, limits, examples, and what it shows first."""
    limits, models, pairs = service.settings, service.models, service.language_pairs
    chosen = example_model(service)
    first = first_view(models[chosen]) if chosen else None
    examples = [pair for name, one in models.items() for pair in pairs_of(one, is_right=name == chosen)]
    return {
        "api": api,
        "models": [{"name": name, "languages": one.language_pairs.products, "weights": weights(one),
                    "recorded": REPLAY in one.measured_files.files(),
                    "ends": ends_of(one.measured_files.calibration)}
                   for name, one in models.items()],
        "characters": limits.characters,
        "alternatives": limits.alternatives,
        "beams": limits.beams,
        "pairs": examples,
        "exampleModel": chosen,
        "first": first,
        "text": None if first or not pairs.default else first_text(examples, pairs.sources),
    }


def first_view(translator: Translator) -> dict[str, Any] | None:
    """The answer of `/v1/look` to the first sentence, if it was made with these weights."""
    kept = kept_view()
    same = kept and translator.files and kept["weights"] == fingerprint(translator.files)
    return kept["reply"] if kept and same else None


@lru_cache(maxsize=1)
def kept_view() -> dict[str, Any] | None:
    file = files("seq2see.serve.ui").joinpath("first_view.json.gz")
    return json.loads(gzip.decompress(file.read_bytes())) if file.is_file() else None


def weights(translator: Translator) -> int | None:
    """The number of weights of a packaged model, from its metrics; None for others, which are not loaded to count."""
    if translator.files is None or translator.name not in NAMES:
        return None
    metrics = json.loads((translator.files / "metrics.json").read_text(encoding="utf-8"))
    return int(metrics["training"]["parameters"])
