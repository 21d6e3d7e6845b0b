"""Muon: an optimizer for which every direction of a matrix counts alike.

Gradients of a weight matrix, and with them Adam's steps, are nearly of low rank: a few directions are learnt fast and
the rest hardly.  Muon (Jordan et al. 2024) takes the momentum of the matrix and makes all its singular values 1:

    B = momentum B + (1 - momentum) G,    U S V^T = (1 - momentum) G + momentum B,    W = W - rate U V^T

with a rate by which the step is so many times as large as AdamW's (Liu et al. 2025, section 2.2, where it is once).
What is no matrix of a hidden layer (embeddings, norms, biases) is AdamW's, and so is the decay of the weights.

`torch.optim.Muon` computes the same, matrix by matrix and in bfloat16.  Taking all matrices of one shape together needs
42.9 ms of processor time a step for its 80.6, 13 % of a step (multi30k-en-de, one thread, bfloat16).
"""

# M matrices of one shape, R rows, C columns

import math
from collections.abc import Iterable
from itertools import groupby
from operator import attrgetter
from typing import Any

import torch
from torch import Tensor, nn

# Newton-Schulz: five times X <- a X + (b A + c A^2) X, with A = X X^T, bring singular values from (0, 1] to 0.7 to 1.2.
A, B, C = 3.4445, -4.7750, 2.0315
STEPS = 5
AS_ADAMW = 0.2  # root mean square of an entry of AdamW's step, in learning rates
MOMENTUM = 0.95


class Muon(torch.optim.AdamW):
    """Muon for parameter groups with `matrices=True`, AdamW for the others.

    Args:
        scale: how many times as large as AdamW's a step of Muon is.
        dtype: in which singular values are made 1; their precision hardly matters, bfloat16 is enough.
    """

    param_groups: list[dict[str, Any]]

    def __init__(
        self, groups: Iterable[dict[str, Any]], *, scale: float = 1.0, dtype: torch.dtype = torch.float32, **adamw: Any
    ):
        self.scale, self.dtype = scale, dtype
        super().__init__([{"matrices": False, **group} for group in groups], fused=True, **adamw)

    def __setstate__(self, state: dict[str, Any]) -> None:
        matrices = [weight for weight in state["state"].values() if "step" not in weight]
        for weight in matrices:
            weight["step"] = torch.zeros(())  # AdamW looks for it there too
        super().__setstate__(state)
        for weight in matrices:
            del weight["step"]  # so that a resumed training saves what one without interruption does

    @torch.no_grad()
    def step(self, closure: Any = None) -> Any:
        """One step; parameters without a gradient stay as they are."""
        shape, groups = attrgetter("shape"), self.param_groups
        self.param_groups = [group for group in groups if not group["matrices"]]
        try:
            loss = super().step(closure)
        finally:
            self.param_groups = groups
        for group in groups:
            weights = [weight for weight in group["params"] if weight.grad is not None] if group["matrices"] else []
            for _, alike in groupby(sorted(weights, key=shape), key=shape):
                self._step_of_muon(list(alike), group)
        return loss

    def _step_of_muon(self, weights: list[Tensor], group: dict[str, Any]) -> None:
        grads = [weight.grad for weight in weights]
        for weight in weights:
            if not self.state[weight]:
                self.state[weight]["momentum"] = torch.zeros_like(weight)
        buffers = [self.state[weight]["momentum"] for weight in weights]
        torch._foreach_lerp_(buffers, grads, 1 - MOMENTUM)
        ahead_MRC = torch.stack(torch._foreach_lerp(grads, buffers, MOMENTUM))  # Nesterov's
        rate = self.scale * group["lr"] * AS_ADAMW * math.sqrt(max(ahead_MRC.shape[1:]))
        steps_MRC = orthogonalised(ahead_MRC.to(self.dtype)).to(ahead_MRC.dtype).mul_(-rate)
        torch._foreach_mul_(weights, 1 - group["lr"] * group["weight_decay"])
        torch._foreach_add_(weights, list(steps_MRC))


def orthogonalised(matrices_MRC: Tensor) -> Tensor:
    """Each matrix with its singular vectors, and singular values near 1."""
    if matrices_MRC.shape[1] > matrices_MRC.shape[2]:
        return orthogonalised(matrices_MRC.mT).mT
    lengths_M = torch.linalg.vector_norm(matrices_MRC, dim=(1, 2), dtype=torch.float32, keepdim=True)
    x_MRC = (matrices_MRC / lengths_M.clamp(min=1e-7)).to(matrices_MRC.dtype)
    for _ in range(STEPS):
        a_MRR = torch.bmm(x_MRC, x_MRC.mT)
        polynomial_MRR = torch.baddbmm(a_MRR, a_MRR, a_MRR, beta=B, alpha=C)
        x_MRC = torch.baddbmm(x_MRC, polynomial_MRR, x_MRC, beta=A)
    return x_MRC


def grouped(model: nn.Module, *, decayed: Iterable[str], weight_decay: float) -> list[dict[str, Any]]:
    """The groups of a model: matrices of hidden layers, what else is `decayed` (by name), and what is not."""
    embeddings = {id(module.weight) for module in model.modules() if isinstance(module, nn.Embedding)}
    decayed = set(decayed)
    kinds: dict[str, list[Tensor]] = {"matrices": [], "others": [], "undecayed": []}
    for name, weight in model.named_parameters():
        if weight.requires_grad:
            hidden = weight.ndim == 2 and id(weight) not in embeddings
            kinds["undecayed" if name not in decayed else "matrices" if hidden else "others"].append(weight)
    return [
        {"params": kinds["matrices"], "weight_decay": weight_decay, "matrices": True},
        {"params": kinds["others"], "weight_decay": weight_decay},
        {"params": kinds["undecayed"], "weight_decay": 0.0},
    ]
