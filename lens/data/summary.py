"""A trace in numbers: probability, entropy, the source's share, the distance and spread of attention, and sinks.

A row sums to 1, so a head with nothing to do must still put its weight somewhere: on `</s>`, a tag or punctuation
(Clark et al. 2019, Xiao et al. 2023).  Every summary reports this share; nothing is dropped or renormalised.
"""

import unicodedata
from bisect import bisect
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...passes.attention_kinds import KINDS, Kind
from ...text.segments import cut_sentences
from ...tokenizer.words import TokenSpan, Word
from .trace_data import TraceData
from .view_names import VIEW

# L layers, H heads, R rows, C columns

SINKS = ("end", "tags", "punctuation")


def is_punctuation(token: TokenSpan) -> bool:
    """Whether a token is punctuation and nothing else."""
    text = token.text.strip(" ▁")
    return not token.special and text != "" and all(unicodedata.category(c)[0] == "P" for c in text)


def sinks(trace: TraceData, kind: Kind) -> np.ndarray:
    """[3, columns] of booleans: the columns of `end`, `tags` and `punctuation`.

    `end` is the closing `</s>` of the source.  `tags` are all other special tokens, including the decoder's start.
    """
    columns = trace.column_tokens(kind)
    special = np.array([token.special for token in columns])
    closing = np.logical_and.accumulate(special[::-1])[::-1] & (kind != "decoder")  # special, and no text after it
    return np.stack([closing, special & ~closing, [is_punctuation(token) for token in columns]])


def sink_shares(trace: TraceData, kind: Kind, *, view: str = "raw") -> np.ndarray:
    """The share of each row that falls on each sink, averaged over the rows of a map: [L,H,3], or [L,3] for a view
    without heads.

    The three sinks are the closing `</s>` of the source, language tags together with the decoder's start token, and
    punctuation (Clark et al. 2019, Xiao et al. 2023).  Raises UserError for a view that the trace does not have.
    """
    maps = trace.maps(kind, view)
    total = maps.sum(-1)
    total = np.where(total > 0, total, 1)  # rows need not sum to 1: those of "norm" do not
    return np.stack([(maps[..., which].sum(-1) / total).mean(-1) for which in sinks(trace, kind)], axis=-1)


def uniform_map(trace: TraceData, kind: Kind) -> np.ndarray:
    """The map [rows, columns] of a head that spreads its weight evenly over what is not masked."""
    allowed = np.ones((len(trace.row_tokens(kind)), len(trace.column_tokens(kind))))
    allowed = np.tril(allowed) if kind == "decoder" else allowed
    return allowed / allowed.sum(-1, keepdims=True)


def entropy(maps: np.ndarray) -> np.ndarray:
    """The entropy of the rows of maps [...,rows,columns], averaged over rows, in nats: [...].

    0: all weight on one column; log n: even over n columns.
    """
    return -(maps * np.log(np.where(maps > 0, maps, 1))).sum(-1).mean(-1)


def summarise(trace: TraceData) -> dict[str, Any]:
    """The figures of a trace as a dictionary for JSON: about the hypothesis, and about every layer and head of each
    kind.

    Values per head are nested lists, [L][H].  Log-probabilities and entropies are in nats.  `sinks` has the shares on
    sinks by view; see `sink_shares`.
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
            if VIEW[view].heads or VIEW[view].through_layers:
                shares = np.moveaxis(sink_shares(trace, kind, view=view), -1, 0)
                summary[kind]["sinks"][view] = {name: share.tolist() for name, share in zip(SINKS, shares, strict=True)}
    return summary


# --- how far attention reaches


@dataclass(frozen=True, eq=False)
class Spread:
    """Averages over the rows of a text, or over several texts, each [L,H].

    - `distance`: in tokens, from the row's own position (in cross-attention: from the diagonal);
    - `entropy`: in nats;
    - `evenness`: the entropy relative to a uniform head's;
    - `own`, `across`, `special`: the shares of attention on the row's own sentence, on other sentences and on special
      tokens.  None for a text of one sentence;
    - `across_even`: the share of a uniform head on other sentences;
    - `two_sentences`: the number of texts with several sentences.
    """

    kind: Kind
    distance: np.ndarray
    entropy: np.ndarray
    evenness: np.ndarray
    own: np.ndarray | None
    across: np.ndarray | None
    special: np.ndarray | None
    across_even: float | None
    two_sentences: int


def spread(trace: TraceData, kind: Kind) -> Spread:
    """The distance and spread of a kind of attention in a text, from the raw weights."""
    maps, even = trace.maps(kind), uniform_map(trace, kind)
    R, C = even.shape
    place_R = np.arange(R) * ((C - 1) / max(R - 1, 1) if kind == "cross" else 1)
    distance, width = (maps * abs(np.arange(C) - place_R[:, None])).sum(-1).mean(-1), entropy(maps)
    evenness = width / max(float(entropy(even)), 1e-9)
    if (found := _sentences(trace, kind)) is None:
        return Spread(kind, distance, width, evenness, None, None, None, None, 0)
    real, *masks = found
    own, across, special = ((maps[..., real, :] * mask).sum(-1).mean(-1) for mask in masks)
    across_even = float((even[real] * masks[1]).sum(-1).mean(-1))
    return Spread(kind, distance, width, evenness, own, across, special, across_even, 1)


def mean_spread(each: Sequence[Spread]) -> Spread:
    """The averages over several texts; None for a figure that no text has."""
    figures = {name: [value for one in each if (value := getattr(one, name)) is not None]
               for name in ("distance", "entropy", "evenness", "own", "across", "special", "across_even")}
    means: dict[str, Any] = {name: np.mean(values, axis=0) if values else None for name, values in figures.items()}
    return Spread(each[0].kind, **means, two_sentences=sum(one.two_sentences for one in each))


def _sentences(trace: TraceData, kind: Kind) -> tuple[np.ndarray, ...] | None:
    """The rows [R] that belong to a sentence, and their cells [.,C] of their own sentence, of others, and of special
    tokens.

    None unless both sides have several sentences.
    """
    source = sentence_numbers(trace.source, trace.source_words, trace.source_text, language=trace.source_language)
    target = sentence_numbers(trace.target, trace.target_words, trace.target_text, language=trace.target_language)
    if max(source) != max(target) or max(source) < 1:
        return None
    rows = np.array(source if kind == "encoder" else target)
    columns = np.array([-1, *target[:-1]] if kind == "decoder" else source)  # the decoder reads what it wrote before
    same = rows[rows >= 0][:, None] == columns
    special = np.broadcast_to(columns < 0, same.shape)
    return rows >= 0, same, ~same & ~special, special


def sentence_numbers(tokens: Sequence[TokenSpan], words: Sequence[Word], text: str, *, language: str) -> list[int]:
    """The index of each token's sentence; -1 for tokens outside words."""
    cut = cut_sentences(text, language=language)
    starts = cut.starts(cut.segments)
    return [-1 if token.word is None else max(0, bisect(starts, words[token.word].start) - 1) for token in tokens]
