"""The margin of one step without each head and each decoder feed-forward layer, and the layer that the main head
steers.

The mean replaces a head or layer that is switched off (`means.py`).  The direct contribution of a head is often much
smaller than the loss without it, because later layers read its output.  So the head's effect comes with the later
feed-forward layer whose own part of the margin it changes most.
"""

import time
from dataclasses import dataclass
from pathlib import Path

import torch
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from seq2see.rules import LEAST_CHANGE
from ...passes.attention_kinds import Kind
from ...passes.feed_forward import feed_forward_sites
from ...passes.hooks import AttentionSite, Head, all_sites, replaced
from ..changes.choices import Choice, margins, margins_of_batch
from ..changes.interventions import FASTER, ablate, ablate_by_row
from ..changes.means import Means, feed_forward_means, head_means
from ..data.trace_data import TraceData
from .residual_stream import FEED_FORWARD, ForcedPass, pass_in_parts

# H heads, L decoder layers, D model width

TRIES = 2  # timed passes; the faster one counts, because the first also warms up


@dataclass(frozen=True)
class WithoutHead:
    """The margin without one head."""

    kind: Kind
    layer: int
    head: int
    margin: float


@dataclass(frozen=True)
class WithoutFeedForward:
    """The margin without one feed-forward layer of the decoder."""

    layer: int
    margin: float


@dataclass(frozen=True)
class Without:
    """The margin without each head and each feed-forward layer of the decoder, with means instead.

    `averaged_over` is the number of sentences of the means; 0 for the trace alone.
    """

    heads: tuple[WithoutHead, ...]
    feed_forward: tuple[WithoutFeedForward, ...]
    averaged_over: int


@dataclass(frozen=True)
class MostChangedLayer:
    """The head without which the margin is lowest, and the later decoder feed-forward layer that it changes most.

    The change is in the layer's part of the margin: `before` with every head, `after` without this head.
    """

    kind: Kind
    layer: int
    head: int
    feed_forward: int
    before: float
    after: float


def effects(
    model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, trace: TraceData, whole: ForcedPass, *, step: int,
    runner: int, folder: Path | None, seconds: float,
) -> tuple[Without | None, MostChangedLayer | None]:
    """The effects at a step on the margin over the `runner`, for a trace whose pass is `whole`.

    None if they would take longer than `seconds`.
    """
    ids = trace.target_ids
    choice = Choice(trace.source_ids, ids[:step], ids[step], runner)
    sites, inner = all_sites(model), feed_forward_sites(model, "decoder")
    margin, pass_seconds = min((_timed(model, choice) for _ in range(TRIES)), key=lambda one: one[1])
    if pass_seconds * (sum(site.heads for site in sites) / FASTER + len(inner)) > seconds:
        return None, None
    means, sentences = head_means(model, tokenizer, trace, folder)
    encoded_1SD = whole.encoded_SD[None].to(model.device, model.dtype)
    heads = [one for site in sites for one in _without_heads(model, choice, site, means, encoded_1SD)]
    layers, _ = feed_forward_means(model, tokenizer, trace, folder)
    off = Without(tuple(heads), tuple(
        WithoutFeedForward(site.layer, _without_layer(model, choice, site.last, layers[site.layer]))
        for site in inner), sentences)
    return off, _steering(model, trace, whole, choice, means, min(heads, key=lambda one: one.margin), margin)


def _timed(model: PreTrainedModel, choice: Choice) -> tuple[float, float]:
    """The margin, and the seconds of its pass."""
    start = time.perf_counter()
    [margin] = margins(model, [choice])
    return float(margin), time.perf_counter() - start


def _without_heads(
    model: PreTrainedModel, choice: Choice, site: AttentionSite, means: Means, encoded_1SD: torch.Tensor
) -> list[WithoutHead]:
    with ablate_by_row(model, site, means) as choose:
        choose(range(site.heads))
        found = margins_of_batch(model, [choice] * site.heads, encoded=None if site.kind == "encoder" else encoded_1SD)
    return [WithoutHead(site.kind, site.layer, head, float(one)) for head, one in enumerate(found)]


def _without_layer(model: PreTrainedModel, choice: Choice, last: torch.nn.Module, mean_D: torch.Tensor) -> float:
    with replaced([(last, "out", lambda own_BTD: mean_D.to(own_BTD).expand_as(own_BTD))]):
        [margin] = margins(model, [choice])
    return float(margin)


def _steering(
    model: PreTrainedModel, trace: TraceData, whole: ForcedPass, choice: Choice, means: Means, off: WithoutHead,
    margin: float,
) -> MostChangedLayer | None:
    """None if no head lowers the margin, or none changes a later layer by LEAST_CHANGE."""
    if off.margin >= margin:
        return None
    with ablate(model, [Head(off.kind, off.layer, off.head)], replace="mean", means=means):
        without = pass_in_parts(model, trace)
    before, after = (_feed_forward(one, choice) for one in (whole, without))
    later = range(0 if off.kind == "encoder" else off.layer, len(before))
    layer = max(later, key=lambda one: abs(after[one] - before[one]))
    if abs(after[layer] - before[layer]) < LEAST_CHANGE:
        return None
    return MostChangedLayer(off.kind, off.layer, off.head, layer, before[layer], after[layer])


def _feed_forward(whole: ForcedPass, choice: Choice) -> list[float]:
    """[L]: the contribution of each feed-forward layer of the decoder to the margin."""
    step = len(choice.prefix_ids)
    weight_1D1 = whole.output_weights([choice.right], [choice.wrong])
    back = whole.back(weight_1D1.expand(len(whole.logit_TV), -1))
    return [float(block.added_RD[step] @ back.directions[number][step])
            for number, block in whole.decoder.of_kind(FEED_FORWARD)]
