"""From blocks to origins: how much of a state is owed to each piece, in one layer and through all layers below it.

In one block (`shares_of_block`) by ALTI: a part counts by how much nearer it brings to the output, in the L1 norm
(Ferrando et al. 2022, "Measuring the Mixing of Contextual Information in the Transformer").  Through the layers
(`roll`) by multiplying, as attention rollout does (Abnar and Zuidema 2020); in the decoder along both ways, the
prefix's and the source's (Ferrando et al. 2022, "Towards Opening the Black Box of Neural Machine Translation", ALTI+).
The feed-forward layers work on each position for itself and move nothing from one to another.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch

from .inside import Block
from .kinds import Kind
from .trace import Trace

# L layers, H heads, R rows, C columns, S source pieces, T decoder steps, D model width

NUMBERS_AT_ONCE = 2**24  # numbers of the parts of some rows: 64 MiB


@dataclass(frozen=True)
class Layers:
    """What each block takes from where, layer by layer, as shares.

    Rows of `encoder` [L,S,S] and `decoder` [L,T,T] sum to 1, the residual counted as the row's own column; rows of
    `cross` [L,T,S] sum to 1 together with `residual` [L,T], what the cross-attention block keeps of its own state.
    """

    encoder: np.ndarray
    decoder: np.ndarray
    cross: np.ndarray
    residual: np.ndarray


def halved(trace: Trace) -> Layers:
    """Abnar and Zuidema's layers: 0.5 of the weights, averaged over the heads, and 0.5 of the residual.

    They wrote it for an encoder; in the decoder it is halved twice, in self-attention and in cross-attention.
    """
    encoder, decoder, cross = (trace.maps(kind).mean(1) / 2 for kind in ("encoder", "decoder", "cross"))
    return Layers(
        encoder=encoder + np.eye(len(trace.source), dtype=np.float32) / 2,
        decoder=decoder + np.eye(len(trace.target), dtype=np.float32) / 2,
        cross=cross,
        residual=np.full(cross.shape[:2], 0.5, dtype=np.float32),
    )


def measured(trace: Trace, blocks: dict[Kind, Sequence[Block]]) -> Layers:
    """ALTI's layers, from the blocks of all layers of the three kinds."""
    shares = {
        kind: np.stack([shares_of_block(block, torch.tensor(trace.maps(kind)[layer]))
                        for layer, block in enumerate(blocks[kind])])
        for kind in blocks
    }
    return Layers(shares["encoder"], shares["decoder"], shares["cross"][..., :-1], shares["cross"][..., -1])


def shares_of_block(block: Block, weight_HRC: torch.Tensor) -> np.ndarray:
    """[R,C] of self-attention, the residual in the row's own column; [R,C+1] of cross-attention, the residual last.

    The share of a part x of the output y is max(0, |y| - |y - x|) in the L1 norm, over the sum of these; a row sums
    to 1.  Where no part brings any nearer (it happens in untrained models) the parts share by their own length.
    """
    weight_HRC = weight_HRC.to(block.output_RD.device)
    _, rows, columns = weight_HRC.shape
    step = max(1, NUMBERS_AT_ONCE // (columns * block.output_RD.shape[-1]))
    shares = [_shares(block, weight_HRC, slice(at, min(at + step, rows))) for at in range(0, rows, step)]
    return torch.cat(shares).cpu().numpy()


def _shares(block: Block, weight_HRC: torch.Tensor, rows: slice) -> torch.Tensor:
    part_RCD, residual_RD, output_RD = block.parts(weight_HRC, rows), block.residual(rows), block.output_RD[rows]
    if block.site.kind == "cross":
        part_RCD = torch.cat([part_RCD, residual_RD[:, None]], dim=1)
    else:
        own = torch.arange(rows.start, rows.stop)
        part_RCD[own - rows.start, own] += residual_RD
    nearer_RC = output_RD.abs().sum(-1, keepdim=True) - (output_RD[:, None] - part_RCD).abs().sum(-1)
    nearer_RC = nearer_RC.clamp_min(0)
    none_R1 = nearer_RC.sum(-1, keepdim=True) == 0
    nearer_RC = torch.where(none_R1, part_RCD.abs().sum(-1), nearer_RC)
    return nearer_RC / nearer_RC.sum(-1, keepdim=True)


def roll(layers: Layers) -> dict[Kind, np.ndarray]:
    """Through the layers: `encoder` [L,S,S], whose rows sum to 1; `cross` [L,T,S] and `decoder` [L,T,T], whose rows
    sum to 1 together.  Layer l is what the states after it come from: source pieces, and decoder inputs."""
    encoder = [layers.encoder[0]]
    for layer in layers.encoder[1:]:
        encoder.append(layer @ encoder[-1])
    steps, pieces = layers.cross.shape[1:]
    source, prefix = np.zeros((steps, pieces), np.float32), np.eye(steps, dtype=np.float32)
    cross, decoder = [], []
    for own, across, residual in zip(layers.decoder, layers.cross, layers.residual, strict=True):
        kept = residual[:, None] * own
        source, prefix = kept @ source + across @ encoder[-1], kept @ prefix
        cross.append(source)
        decoder.append(prefix)
    return {"encoder": np.stack(encoder), "decoder": np.stack(decoder), "cross": np.stack(cross)}
