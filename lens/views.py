"""The views of a trace beside the raw weights: each asks another question, and none is the truth alone.

    raw            the weights themselves: where a head looked.  Rows sum to 1.
    norm           how long the vector is that came from there: |a W_O^h v^h|, for every head (Kobayashi et al. 2020).
                   The value's bias is in it and the output's is not; the pre-norm, where there is one, comes before.
                   A large weight on a short value moves nothing, and this shows it.  Rows do not sum to 1.
    rollout        where a state's content comes from if every layer passes on half of the mean of its heads' weights
                   and half of its residual (Abnar and Zuidema 2020).  Through all layers up to this one.
    mixing         within one layer: how near each piece brings to what the attention block gives, the residual among
                   them (ALTI: Ferrando et al. 2022).  Rows of encoder and decoder sum to 1; what is wanting in a row
                   of cross is what the block kept of its own state.
    contributions  the same through all layers up to this one (ALTI+: Ferrando et al. 2022): what each step owes to
                   each source piece (cross) and each piece written before (decoder), which sum to 1 together.
                   `trace.source_share` is the source's part of the last layer.
    left_out       how much less probable each target piece is without a source word: `trace.left_out` [T,W].

raw and norm have heads, [L,H,rows,columns]; rollout, mixing and contributions are of whole layers, [L,rows,columns].
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from .anatomy import AttentionSite, attention_sites
from .forcing import batches, check_model, forced_pass, looking, vocabulary_size
from .inside import Watch, watching
from .kinds import KINDS, Kind
from .left_out import leave_words_out
from .mixing import halved, measured, roll
from .trace import Trace
from .trace_data import check_views

Maps = dict[Kind, np.ndarray]  # of one view


def add_views(
    model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, traces: Sequence[Trace], *, views: Sequence[str]
) -> list[Trace]:
    """The traces with more views; what they already hold is kept.  The model must be the one they were made with."""
    check_model(model)
    check_views(views)
    if not set(views) - {"raw"}:
        return list(traces)
    made: list[dict[str, Maps]] = [{} for _ in traces]
    if "rollout" in views:
        for new, trace in zip(made, traces, strict=True):
            new["rollout"] = roll(halved(trace))
    inside = {"norm", "mixing", "contributions"} & set(views)
    if inside:
        _look_inside(model, traces, inside, made)
    left_out = leave_words_out(model, tokenizer, traces) if "left_out" in views else [t.left_out for t in traces]
    return [
        replace(trace, left_out=fall, **{
            kind: getattr(trace, kind) | {view: new[view][kind] for view in new} for kind in KINDS
        })
        for trace, new, fall in zip(traces, made, left_out, strict=True)
    ]  # fmt: skip


def _look_inside(model: PreTrainedModel, traces: Sequence[Trace], views: set[str], made: list[dict[str, Maps]]) -> None:
    """The views that need more than weights: another pass over each batch, its values and residuals kept."""
    sites = attention_sites(model)
    sources, targets = [trace.source_ids for trace in traces], [trace.target_ids for trace in traces]
    with looking(model), watching([site for kind in KINDS for site in sites[kind]]) as watch:
        for batch in batches(sources, targets, vocabulary=vocabulary_size(model)):
            forced_pass(model, [sources[i] for i in batch], [targets[i] for i in batch])
            for b, i in enumerate(batch):
                made[i] |= _inner_views(traces[i], sites, watch, b, views)


def _inner_views(
    trace: Trace, sites: dict[Kind, tuple[AttentionSite, ...]], watch: Watch, b: int, views: set[str]
) -> dict[str, Maps]:
    found: dict[str, Maps] = {}
    if "norm" in views:
        found["norm"] = {kind: np.stack([
            trace.maps(kind)[site.layer] * watch.vectors(site, b, len(trace.column_pieces(kind)))
            .norm(dim=-1).cpu().numpy()[:, None]
            for site in sites[kind]
        ]) for kind in KINDS}  # fmt: skip
    if views > {"norm"} or "norm" not in views:
        layers = measured(trace, {
            kind: [watch.block(site, b, len(trace.row_pieces(kind)), len(trace.column_pieces(kind)))
                   for site in sites[kind]]
            for kind in KINDS
        })  # fmt: skip
        shares: dict[str, Maps] = {
            "mixing": {"encoder": layers.encoder, "decoder": layers.decoder, "cross": layers.cross},
            "contributions": roll(layers),
        }
        found |= {view: shares[view] for view in shares if view in views}
    return found
