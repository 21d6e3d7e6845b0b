"""The positions of tokens in a sentence.

Attention sees a set: shuffling the tokens changes no weighted sum.  So order must be in the vectors themselves: it is
added to the embeddings as fixed waves of many lengths.
"""

import math

import torch
from torch import nn

from .configuration_seq2see import Seq2SeeConfig

# B batch, P positions in the table, T requested positions, D model width


def sinusoids(positions: int, d_model: int) -> torch.Tensor:
    """The table of Vaswani et al. 2017 (section 3.5), shape [P, D], in float32.

        table[p, 2i]     = sin(p / 10000^(2i / D))
        table[p, 2i + 1] = cos(p / 10000^(2i / D))

    Each sine-cosine pair is the hand of a clock, and the D/2 clocks turn at speeds from one radian per token down to
    one per about 10,000.  A shift by k tokens rotates every hand by a fixed angle, so "k tokens earlier" is one linear
    map, the same at every position: a head can learn it.
    """
    position_P1 = torch.arange(positions, dtype=torch.float64).unsqueeze(1)
    exponent = torch.arange(0, d_model, 2, dtype=torch.float64) / d_model
    angle_PE = position_P1 / 10_000.0**exponent
    return torch.stack((angle_PE.sin(), angle_PE.cos()), dim=-1).flatten(1).float()


def count_positions(mask: torch.Tensor | None, length: int) -> torch.Tensor | None:
    """Positions [B, T] of the last T = `length` columns of a padding mask [B, any]: the number of real tokens before
    each.

    Padding on either side has no position.  None without such a mask; columns then count.
    """
    if mask is None or mask.dim() != 2:
        return None
    return (mask.bool().cumsum(-1)[:, -length:] - 1).clamp(min=0)


class SinusoidalPositions(nn.Module):
    """Looks up positions in the sinusoid table, which is computed, not learnt or saved."""

    def __init__(self, positions: int, d_model: int):
        super().__init__()
        self.positions = positions
        self.d_model = d_model
        self.table_PD = nn.Buffer(sinusoids(positions, d_model), persistent=False)

    def forward(
        self, embeddings_BTD: torch.Tensor, *, start: int | torch.Tensor = 0, position_BT: torch.Tensor | None = None
    ) -> torch.Tensor:
        """Vectors [T, D] for positions start .. start + T - 1, or [B, T, D] for the given ones, in the dtype of the
        embeddings.

        Raises:
            ValueError: the sequence is longer than the table.
        """
        length = embeddings_BTD.shape[1]
        # Under torch.compile with a static cache `start` is a tensor, and reading it would break the graph.
        end = start + length if isinstance(start, int) else length
        if end > self.positions:
            raise ValueError(f"expected at most {self.positions} tokens (max_position_embeddings), got {end}")
        position = torch.arange(length, device=embeddings_BTD.device) + start if position_BT is None else position_BT
        try:
            return nn.functional.embedding(position, self.table_PD).to(embeddings_BTD.dtype)
        except IndexError as error:
            raise ValueError(f"expected at most {self.positions} tokens (max_position_embeddings), got more") from error


class Embedder(nn.Module):
    """Scales token embeddings, adds positions and applies dropout, on both sides."""

    def __init__(self, config: Seq2SeeConfig):
        super().__init__()
        self.scale = math.sqrt(config.d_model) if config.scale_embedding else 1.0
        self.positions = SinusoidalPositions(config.max_position_embeddings, config.d_model)
        self.dropout = nn.Dropout(config.dropout)

    def forward(
        self, embeddings_BTD: torch.Tensor, *, start: int | torch.Tensor = 0, position_BT: torch.Tensor | None = None
    ) -> torch.Tensor:
        """[B, T, D] to [B, T, D]; columns have the given positions, or else consecutive ones from `start`."""
        position = self.positions(embeddings_BTD, start=start, position_BT=position_BT)
        return self.dropout(embeddings_BTD * self.scale + position)
