"""A norm with its statistics held fixed: it is then linear, so a sum that passes through it can be split into its
parts.

    layer norm   y = (x - mean(x)) / sqrt(var(x) + eps) * weight + bias
    RMS norm     y = x / sqrt(mean(x^2) + eps) * weight                      (T5's)

The divisor is that of the actual pass, one number for each position.  Elhage et al. 2021 ("A Mathematical Framework for
Transformer Circuits") fold the rest of the norm into the weights around it; see also Kobayashi et al. 2021.
"""

from dataclasses import dataclass

import torch
from torch import nn

from seq2see.errors import UserError

# R positions, D model width


@dataclass(frozen=True)
class FrozenNorm:
    """The linear part y = apply(x) of a norm at some positions, and its `bias` [D]."""

    weight_D: torch.Tensor
    bias_D: torch.Tensor
    spread_R: torch.Tensor
    centred: bool

    @classmethod
    @torch.no_grad()
    def of(cls, norm: nn.Module, read_RD: torch.Tensor) -> "FrozenNorm":
        """The norm frozen at the input that it reads.

        Raises UserError for a norm of another form.
        """
        if isinstance(norm, nn.LayerNorm):
            square_R, eps = read_RD.var(-1, unbiased=False), norm.eps
        elif hasattr(norm, "variance_epsilon"):  # every family of T5 has a class of its own, all with this name
            square_R, eps = read_RD.square().mean(-1), norm.variance_epsilon
        else:
            raise UserError(f"the norm after attention is a {type(norm).__name__}, which has no linear form here")
        weight_D, bias_D = norm.weight.detach().to(read_RD), getattr(norm, "bias", None)
        return cls(weight_D, torch.zeros_like(weight_D) if bias_D is None else bias_D.detach().to(read_RD),
                   (square_R + eps).sqrt(), isinstance(norm, nn.LayerNorm))

    def apply(self, part: torch.Tensor) -> torch.Tensor:
        """[R,...,D]: the contribution of a part [R,...,D] of the norm's input to its output."""
        if self.centred:
            part = part - part.mean(-1, keepdim=True)
        return part / self._spread(part) * self.weight_D

    def back(self, direction: torch.Tensor) -> torch.Tensor:
        """[R,...,D]: the direction in the input that corresponds to `direction` in the output; the transpose of
        `apply`.
        """
        direction = direction * self.weight_D / self._spread(direction)
        return direction - direction.mean(-1, keepdim=True) if self.centred else direction

    def _spread(self, like: torch.Tensor) -> torch.Tensor:
        return self.spread_R.view(-1, *[1] * (like.ndim - 1))
