"""Splits attention blocks into parts, and computes each token's contribution to a state, in one layer or through all.

A block is one attention with its residual and its norm.  In every model its output for row r is a sum,

    output[r] = sum over columns c of part[r,c]  +  residual[r]  +  constant[r]

The part of a column is the sum over heads of a[h,r,c] W_O^h v^h[c], where v^h[c] is the value of column c with its bias
(Kobayashi et al. 2020).  In a pre-norm model (Seq2See, T5) the norm comes before attention.  It acts on each column
separately and is part of v, so the sum is exact.  In a post-norm model (Marian, BART) the norm comes last and mixes all
parts.  With this row's standard deviation held fixed the norm is linear (Kobayashi et al. 2021, Ferrando et al. 2022).
It is applied to each part, and its bias goes to the constant.

Within a block (`shares_of_block`) a part counts by how much closer it brings the sum to the output, in the L1 norm
(ALTI: Ferrando et al. 2022, "Measuring the Mixing of Contextual Information in the Transformer").  Through the layers
(`roll`) shares are multiplied, as in attention rollout (Abnar and Zuidema 2020).  In the decoder shares follow two
paths, through the prefix and through the source (ALTI+: Ferrando et al. 2022, "Towards Opening the Black Box of Neural
Machine Translation").  Feed-forward layers act on each position separately, so they move nothing between positions.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch
from torch import nn
from transformers import PreTrainedModel

from ...passes.attention_kinds import KINDS, Kind
from ...passes.forced_pass import eval_with_eager_attention, forced_batches
from ...passes.frozen_norm import FrozenNorm
from ...passes.hooks import AttentionSite, all_sites, capture
from ..data.trace_data import TraceData

# B sentences, L layers, H heads, R rows, C columns, S source tokens, T decoder steps, E size of one head, D model width

NUMBERS_AT_ONCE = 2**24  # numbers of the parts of some rows: 64 MiB


@dataclass(frozen=True)
class AttentionParts:
    """One attention block in one pass over one sentence."""

    site: AttentionSite
    vector_HCD: torch.Tensor  # W_O^h v^h[c]: the head's output if all its weight were on column c
    residual_RD: torch.Tensor
    output_RD: torch.Tensor
    summed_RD: torch.Tensor | None  # what the norm at the end read; None in a pre-norm model

    @torch.no_grad()
    def parts(self, weight_HRC: torch.Tensor, rows: slice = slice(None)) -> torch.Tensor:
        """[R,C,D]: the contribution of each column to each row of the output, summed over heads, without the residual.
        """
        part_RCD = torch.einsum("hrc,hcd->rcd", weight_HRC[:, rows], self.vector_HCD)
        return self._normed(part_RCD, rows)

    @torch.no_grad()
    def parts_by_head(self, weight_HRC: torch.Tensor, row: int) -> torch.Tensor:
        """[H,C,D]: the contribution of each head and column to one row of the output."""
        part_HCD = weight_HRC[:, row, :, None] * self.vector_HCD
        return self._normed(part_HCD.flatten(0, 1)[None], slice(row, row + 1))[0].view_as(part_HCD)

    @torch.no_grad()
    def residual(self, rows: slice = slice(None)) -> torch.Tensor:
        """[R,D]: the contribution of the residual."""
        return self._normed(self.residual_RD[rows, None], rows)[:, 0]

    @torch.no_grad()
    def constant(self) -> torch.Tensor:
        """[R,D]: the contribution of the biases of the output projection and of the final norm."""
        bias_RD = torch.zeros_like(self.output_RD)
        if self.site.output.bias is not None:
            bias_RD = bias_RD + self.site.output.bias
        normed_RD = self._normed(bias_RD[:, None], slice(None))[:, 0]
        return normed_RD if self.summed_RD is None else normed_RD + self.site.norm.bias

    def _normed(self, part_RCD: torch.Tensor, rows: slice) -> torch.Tensor:
        """A part after the frozen final norm, if there is one."""
        if self.summed_RD is None:
            return part_RCD
        return FrozenNorm.of(self.site.norm, self.summed_RD[rows]).apply(part_RCD)


@dataclass(frozen=True)
class Blocks:
    """Every block of a model in a pass over the sentence of a trace, by kind, first layer first."""

    trace: TraceData
    by_kind: dict[Kind, list[AttentionParts]]

    def norms(self) -> dict[Kind, np.ndarray]:
        """[L,H,R,C]: the length |a W_O^h v^h|, with the bias of the value but not of the output.

        A pre-norm is applied first.  A large weight on a short value has little effect, and this view shows that.
        """
        return {kind: np.stack([weight_HRC * block.vector_HCD.norm(dim=-1).cpu().numpy()[:, None]
                                for weight_HRC, block in zip(self.trace.maps(kind), blocks, strict=True)])
                for kind, blocks in self.by_kind.items()}

    @cached_property
    def layers(self) -> "Layers":
        """The layers for ALTI."""
        shares = {
            kind: np.stack([shares_of_block(block, torch.tensor(self.trace.maps(kind)[layer]))
                            for layer, block in enumerate(self.by_kind[kind])])
            for kind in KINDS
        }
        return Layers(shares["encoder"], shares["decoder"], shares["cross"][..., :-1], shares["cross"][..., -1])


def blocks_of(model: PreTrainedModel, traces: Sequence[TraceData]) -> Iterator[Blocks]:
    """The blocks of each trace, in order; costs another pass over each batch of sentences."""
    sources, targets = [trace.source_ids for trace in traces], [trace.target_ids for trace in traces]
    sites = all_sites(model)
    parts = {(site.module, name): module for site in sites
             for name, module in (("value", site.value), ("attended", site.output), ("normed", site.norm))}
    with (
        eval_with_eager_attention(model),
        capture(parts, "out") as outputs,
        capture({site.module: site.norm for site in sites}, "in") as norm_read,
    ):
        for batch, _, _ in forced_batches(model, sources, targets):
            for b, i in enumerate(batch):
                by_kind: dict[Kind, list[AttentionParts]] = {kind: [] for kind in KINDS}
                for site in sites:
                    rows, columns = traces[i].maps(site.kind).shape[-2:]
                    by_kind[site.kind].append(_block(site, outputs, norm_read[site.module], b, rows, columns))
                yield Blocks(traces[i], by_kind)


@torch.no_grad()
def _block(site: AttentionSite, outputs: Mapping[tuple[nn.Module, str], torch.Tensor], norm_in_BRD: torch.Tensor,
           b: int, rows: int, columns: int) -> AttentionParts:
    """The block of a site for sentence b of a pass, cropped to its rows and columns."""
    value_CHE = outputs[site.module, "value"][b, :columns].unflatten(-1, (site.heads, site.head_size))
    weight_DHE = site.output.weight.unflatten(-1, (site.heads, site.head_size))
    attended_RD, normed_RD = (outputs[site.module, name][b, :rows] for name in ("attended", "normed"))
    norm_in_RD = norm_in_BRD[b, :rows]
    pre_norm = next(name for module, name in outputs if module is site.module and name != "value") == "normed"
    return AttentionParts(
        site=site,
        vector_HCD=torch.einsum("che,dhe->hcd", value_CHE, weight_DHE),
        residual_RD=norm_in_RD if pre_norm else norm_in_RD - attended_RD,
        output_RD=norm_in_RD + attended_RD if pre_norm else normed_RD,
        summed_RD=None if pre_norm else norm_in_RD,
    )


@dataclass(frozen=True)
class Layers:
    """The origin of each block's output, layer by layer, in shares.

    Rows of `encoder` [L,S,S] and `decoder` [L,T,T] sum to 1; the residual is in the row's own column.  Rows of `cross`
    [L,T,S] sum to 1 together with `residual` [L,T], the share of the block's own state.
    """

    encoder: np.ndarray
    decoder: np.ndarray
    cross: np.ndarray
    residual: np.ndarray


def halved(trace: TraceData) -> Layers:
    """The layers of Abnar and Zuidema: half the weights, averaged over heads, and half the residual.

    They define it for an encoder.  A decoder layer halves twice, in self-attention and in cross-attention.
    """
    encoder, decoder, cross = (trace.maps(kind).mean(1) / 2 for kind in KINDS)
    return Layers(
        encoder=encoder + np.eye(len(trace.source), dtype=np.float32) / 2,
        decoder=decoder + np.eye(len(trace.target), dtype=np.float32) / 2,
        cross=cross,
        residual=np.full(cross.shape[:2], 0.5, dtype=np.float32),
    )


def shares_of_block(block: AttentionParts, weight_HRC: torch.Tensor) -> np.ndarray:
    """[R,C] for self-attention, with the residual in the row's own column; [R,C+1] for cross-attention, residual last.

    The share of a part x of the output y is max(0, |y| - |y - x|) in the L1 norm, divided by the sum of these.  A row
    sums to 1.  If no part brings the sum closer (in untrained models), the parts count by their own length.
    """
    weight_HRC = weight_HRC.to(block.output_RD.device)
    _, rows, columns = weight_HRC.shape
    step = max(1, NUMBERS_AT_ONCE // (columns * block.output_RD.shape[-1]))
    shares = [_shares(block, weight_HRC, slice(at, min(at + step, rows))) for at in range(0, rows, step)]
    return torch.cat(shares).cpu().numpy()


def _shares(block: AttentionParts, weight_HRC: torch.Tensor, rows: slice) -> torch.Tensor:
    part_RCD, residual_RD, output_RD = block.parts(weight_HRC, rows), block.residual(rows), block.output_RD[rows]
    if block.site.kind == "cross":
        part_RCD = torch.cat([part_RCD, residual_RD[:, None]], dim=1)
    else:
        own = torch.arange(rows.start, rows.stop)
        part_RCD[own - rows.start, own] += residual_RD
    return proximity(part_RCD, output_RD)


def proximity(part_RPD: torch.Tensor, output_RD: torch.Tensor) -> torch.Tensor:
    """[R,P]: the share of each of P parts in the output, as in `shares_of_block`."""
    nearer_RP = output_RD.abs().sum(-1, keepdim=True) - (output_RD[:, None] - part_RPD).abs().sum(-1)
    nearer_RP = nearer_RP.clamp_min(0)
    none_R1 = nearer_RP.sum(-1, keepdim=True) == 0
    nearer_RP = torch.where(none_R1, part_RPD.abs().sum(-1), nearer_RP)
    return nearer_RP / nearer_RP.sum(-1, keepdim=True)


def roll(layers: Layers) -> dict[Kind, np.ndarray]:
    """The shares through the layers: `encoder` [L,S,S], `cross` [L,T,S] and `decoder` [L,T,T].

    Rows of `encoder` sum to 1, and so do rows of `cross` and `decoder` together.  Layer l gives the origin of the
    states after layer l: source tokens and decoder inputs.
    """
    encoder = [layers.encoder[0]]
    for layer in layers.encoder[1:]:
        encoder.append(layer @ encoder[-1])
    steps, tokens = layers.cross.shape[1:]
    source, prefix = np.zeros((steps, tokens), np.float32), np.eye(steps, dtype=np.float32)
    cross, decoder = [], []
    for own, across, residual in zip(layers.decoder, layers.cross, layers.residual, strict=True):
        kept = residual[:, None] * own
        source, prefix = kept @ source + across @ encoder[-1], kept @ prefix
        cross.append(source)
        decoder.append(prefix)
    return {"encoder": np.stack(encoder), "decoder": np.stack(decoder), "cross": np.stack(cross)}
