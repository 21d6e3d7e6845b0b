"""Adds views to traces."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TypeVar, cast

import numpy as np
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from ...passes.attention_kinds import KINDS, Kind
from ...passes.forced_pass import check_model
from ..data.trace_data import TraceData
from ..data.view_names import ATTRIBUTIONS, SEGMENTS, check_views
from .attention_blocks import blocks_of, halved, roll
from .attribution_methods import Method, attributed, every_step
from .word_erasure import log_prob_drops

Data = TypeVar("Data", bound=TraceData)


def add_views(
    model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, traces: Sequence[Data], *, views: Sequence[str]
) -> list[Data]:
    """Add views to traces; existing views are kept.

    Views differ in cost. norm, mixing and contributions cost one more pass together. left_out costs one pass for each
    source word, and occlusion and value_zeroing cost one pass for each token.  Attributions by gradients cost several
    passes for each step.

    Args:
        model: the model that the traces were made with.
        tokenizer: its tokenizer.
        traces: any traces.
        views: names from `VIEWS`.

    Raises:
        UserError: an unknown view; a model without float32 weights, or whose attention modules cannot be reached; an
            attribution that the model's family does not support.
    """
    check_model(model)
    check_views(views)
    if not set(views) - {"raw"}:
        return list(traces)
    drops = log_prob_drops(model, tokenizer, traces) if "left_out" in views else [trace.left_out for trace in traces]
    # before the blocks, whose pass is still under way while they are read
    attributions = [{view: attributed(model, tokenizer, trace, cast(Method, view), every_step(trace), segments=SEGMENTS)
                     for view in ATTRIBUTIONS if view in views} for trace in traces]
    blocks = blocks_of(model, traces) if {"norm", "mixing", "contributions"} & set(views) else [None] * len(traces)
    found = []
    for trace, drop, given, inside in zip(traces, drops, attributions, blocks, strict=True):
        made: dict[str, dict[Kind, np.ndarray]] = {}
        if "rollout" in views:
            made["rollout"] = roll(halved(trace))
        if inside and "norm" in views:
            made["norm"] = inside.norms()
        if inside and "mixing" in views:
            made["mixing"] = {kind: getattr(inside.layers, kind) for kind in KINDS}
        if inside and "contributions" in views:
            made["contributions"] = roll(inside.layers)
        made |= {view: {"cross": one.source, "decoder": one.prefix} for view, one in given.items()}
        found.append(replace(trace, left_out=drop, **{
            kind: getattr(trace, kind) | {name: maps[kind] for name, maps in made.items() if kind in maps}
            for kind in KINDS
        }))
    return found
