"""A trace as the explorer draws it, and `/v1/look` answers it: one JSON object.

Weights travel in float16, base64; texts, tokens and words as the trace has them; then, where they were asked for, the
word links and the evidence (`evidence.py`).  What was measured of the model goes beside it, once (`measured`).
"""

from __future__ import annotations

import base64
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from ..tokenizer.words import Piece, Word
from .by_words import units
from .files import plain
from .head_roles import Apart, Roles
from .kinds import KINDS, Kind
from .temperatures import TEMPERATURES, log_sums
from .trace_data import TraceData
from .wording import labels

NUMBERS = ("log_probs", "entropies", "log_normalisers")


def record(trace: TraceData, *, kinds: Sequence[Kind] = KINDS) -> dict[str, Any]:
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
    """The pieces of a side by words, each with its place in the text; a piece of no word stands alone."""
    words: Sequence[Word] = trace.source_words if side == "source" else trace.target_words
    found = []
    for unit in units(pieces, words):
        place = pieces[unit.pieces[0]] if unit.word is None else words[unit.word]
        found.append({"text": unit.text, "pieces": list(unit.pieces), "word": unit.word, "special": unit.special,
                      "start": place.start, "end": place.end})
    return found


def measured(roles: Roles, apart: Apart | None) -> dict[str, Any]:
    """What was measured of a model's heads: the roles that hold, and how well pronouns are told apart without each."""
    return {
        "roles": [{"kind": kind, "layer": layer, "head": head, **asdict(one)}
                  for (kind, layer, head), each in roles.items() for one in each],
        "apart": None if apart is None else {
            "whole": apart.whole, "pronouns": apart.pronouns,
            "heads": {"{}.{}.{}".format(*head): round(value, 4) for head, value in apart.heads.items()},
        },
    }  # fmt: skip
