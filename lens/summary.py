"""A trace in numbers: how probable, how sure, how much from the source, and how much of each head went to sinks.

A head that has nothing to do must still put its weights somewhere, since a row sums to 1: it puts them on `</s>`, on a
tag or on punctuation (Clark et al. 2019, Xiao et al. 2023).  So every summary says how much lies there, and nothing is
dropped or made to sum to 1 again.
"""

import unicodedata
from typing import Any

import numpy as np

from ..tokenizer.words import Piece
from .kinds import KINDS, Kind
from .trace_data import TraceData
from .views import WITH_HEADS

SINKS = ("end", "tags", "punctuation")


def is_punctuation(piece: Piece) -> bool:
    """Whether a piece is punctuation and nothing else."""
    text = piece.text.strip(" ▁")
    return not piece.special and text != "" and all(unicodedata.category(c)[0] == "P" for c in text)


def sinks(trace: TraceData, kind: Kind) -> np.ndarray:
    """[3, columns] of booleans: which columns of a kind are each of SINKS.

    `end` is what closes the source (`</s>`); `tags` are all other special pieces, the decoder's start among them.
    """
    columns = trace.column_pieces(kind)
    special = np.array([piece.special for piece in columns])
    closing = np.logical_and.accumulate(special[::-1])[::-1] & (kind != "decoder")  # special, and no text after it
    return np.stack([closing, special & ~closing, [is_punctuation(piece) for piece in columns]])


def sink_shares(trace: TraceData, kind: Kind, *, view: str = "raw") -> np.ndarray:
    """How much of a view falls on each of SINKS: [L,H,3] (or [L,3] of a view without heads), means over the rows."""
    maps = trace.maps(kind, view)
    shares: np.ndarray = np.stack([_share(maps, which) for which in sinks(trace, kind)], axis=-1)
    return shares


def _share(maps: np.ndarray, which: np.ndarray) -> np.ndarray:
    """Of rows that do not sum to 1, as those of "norm", the share of what they sum to."""
    total = maps.sum(-1)
    share: np.ndarray = (maps[..., which].sum(-1) / np.where(total > 0, total, 1)).mean(-1)
    return share


def uniform_map(trace: TraceData, kind: Kind) -> np.ndarray:
    """The map of a head that looks at everything it may, evenly: [rows, columns]."""
    allowed = np.ones((len(trace.row_pieces(kind)), len(trace.column_pieces(kind))))
    allowed = np.tril(allowed) if kind == "decoder" else allowed
    return allowed / allowed.sum(-1, keepdims=True)


def entropy(maps: np.ndarray) -> np.ndarray:
    """How spread out the rows of maps [...,rows,columns] are: means over the rows, [...], in nats.

    0: all on one column; log n: even over n of them.
    """
    spread: np.ndarray = -(maps * np.log(np.where(maps > 0, maps, 1))).sum(-1).mean(-1)
    return spread


def summarise(trace: TraceData) -> dict[str, Any]:
    """Plain numbers, as JSON has them: of the hypothesis, and for every layer and head of each kind (lists [L][H]).

    `sinks` are shares of the raw weights, for each view that it holds under that view's name.
    """
    steps = len(trace.target) - trace.given
    summary: dict[str, Any] = {
        "model": trace.model,
        "engine": trace.engine,
        "precision": trace.precision,
        "steps": steps,
        "log_prob": trace.log_prob,
        "engine_log_prob": trace.engine_log_prob,
        "difference": trace.difference,
        "probability_per_step": float(np.exp(trace.log_prob / max(steps, 1))),
        "confidence": trace.confidence,
        "entropy_per_step": float(trace.entropies[trace.given :].mean()) if steps else 0.0,
    }
    if "contributions" in trace.views:
        summary["source_share"] = float(trace.source_share.mean())
    for kind in KINDS:
        summary[kind] = {"entropy": entropy(trace.maps(kind)).tolist(), "sinks": {}}
        for view in trace.views:
            if view in (*WITH_HEADS, "rollout", "contributions"):
                shares = np.moveaxis(sink_shares(trace, kind, view=view), -1, 0)
                summary[kind]["sinks"][view] = {name: share.tolist() for name, share in zip(SINKS, shares, strict=True)}
    return summary
