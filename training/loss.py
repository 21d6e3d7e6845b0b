"""The training loss, in place: on a CPU, tensors as wide as the vocabulary cost more than the whole network."""

# N real target positions, V vocabulary

from typing import Any

import torch
from torch import Tensor

ROWS = 256  # so many rows of logits at a time stay in a CPU's cache


class SmoothedCrossEntropy(torch.autograd.Function):
    """Label-smoothed cross-entropy summed over rows (Szegedy et al. 2016, section 7), overwriting its logits.

        loss = sum over n of  -(1 - e) log p[n, label n] - e mean over v of log p[n, v],   p = softmax(logits)

    The gradient, p - (1 - e) [v = label n] - e / V, is written over the logits at once, so that there is one tensor
    [N,V] and not four.  Equal to `F.cross_entropy(..., label_smoothing=e, reduction="sum")`.
    """

    @staticmethod
    def forward(ctx: Any, logits_NV: Tensor, labels_N: Tensor, smoothing: float) -> Tensor:
        total = logits_NV.new_zeros(())
        for logits, labels in zip(logits_NV.split(ROWS), labels_N.split(ROWS), strict=True):
            log_p = logits.log_softmax(dim=-1)
            right = log_p.gather(1, labels[:, None])
            total -= (1 - smoothing) * right.sum()
            if smoothing:
                total -= smoothing * log_p.mean(dim=-1).sum()
            torch.exp(log_p, out=logits)
            logits -= smoothing / logits.shape[1]
            logits.scatter_add_(1, labels[:, None], torch.full_like(right, smoothing - 1))
        ctx.save_for_backward(logits_NV)
        return total

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None, None]:
        (gradient_NV,) = ctx.saved_tensors
        return gradient_NV.mul_(grad), None, None


def smoothed_cross_entropy(logits_NV: Tensor, labels_N: Tensor, *, smoothing: float) -> Tensor:
    """Logits [N,V], which are overwritten, and labels [N] to the summed loss."""
    return SmoothedCrossEntropy.apply(logits_NV, labels_N, smoothing)
