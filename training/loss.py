"""The training loss, in place: on a CPU, F.cross_entropy makes a step 5.5 % longer (vocabulary of 6,000)."""

# N real target positions, V vocabulary

from typing import Any

import torch
from torch import Tensor

ROWS = 64  # so many rows of logits at a time stay in a CPU's cache


class SmoothedCrossEntropy(torch.autograd.Function):
    """Label-smoothed cross-entropy summed over rows (Szegedy et al. 2016, section 7), overwriting its logits.

        loss = sum over n of  -(1 - e) log p[n, label n] - e mean over v of log p[n, v],   p = softmax(logits)

    The gradient, p - (1 - e) [v = label n] - e / V, is written over the logits at once, so that there is one tensor
    [N,V] and not four.  Equal to `F.cross_entropy(..., label_smoothing=e, reduction="sum")` of the logits in
    float32, should they come in bfloat16.
    """

    @staticmethod
    def forward(ctx: Any, logits_NV: Tensor, labels_N: Tensor, smoothing: float) -> Tensor:
        dtype = torch.promote_types(logits_NV.dtype, torch.float32)
        total = torch.zeros((), dtype=dtype, device=logits_NV.device)
        for rows, labels in zip(logits_NV.split(ROWS), labels_N[:, None].split(ROWS), strict=True):
            logits = rows.to(dtype)
            right, highest = logits.gather(1, labels), logits.amax(-1, keepdim=True)
            p = logits.softmax(-1)
            log_sum = highest - p.amax(-1, keepdim=True).log()  # the highest p is at least 1/V: its log is safe
            total += (log_sum - (1 - smoothing) * right - smoothing * logits.mean(-1, keepdim=True)).sum()
            p.scatter_add_(1, labels, torch.full_like(right, smoothing - 1))
            if smoothing:
                p -= smoothing / p.shape[1]
            rows.copy_(p)
        ctx.save_for_backward(logits_NV)
        return total

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None, None]:
        (gradient_NV,) = ctx.saved_tensors
        return gradient_NV.mul_(grad), None, None


def smoothed_cross_entropy(logits_NV: Tensor, labels_N: Tensor, *, smoothing: float) -> Tensor:
    """Logits [N,V], which are overwritten, and labels [N] to the summed loss."""
    return SmoothedCrossEntropy.apply(logits_NV, labels_N, smoothing)
