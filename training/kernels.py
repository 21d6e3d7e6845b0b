"""What a CPU does slowly in torch, done faster: dropout (15 % of a step), attention over short sentences (6 %).

Both compute what the model's own modules compute.  They are put in its place while it is being trained, and only then.
"""

# B batch, H heads, T query positions, S key positions, E size of one head

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn
from transformers import AttentionInterface, AttentionMaskInterface, PreTrainedModel
from transformers.masking_utils import eager_mask

from ..modeling.modeling_seq2see import Seq2SeePreTrainedModel

SHORT_ATTENTION = "seq2see_short"
SHORT = 16  # source positions, fewer than which plain sums beat torch's softmax


def draw_kept(shape: torch.Size, p: float) -> tuple[Tensor, float]:
    """A mask of `shape`, 0 with probability p and else 1 (uint8), and 1 / the probability of a 1.

    One byte of randomness decides each place, so p is rounded to the nearest 1/256 and the scale is of the rounded p;
    torch's own `bernoulli_` spends a whole double of them.
    """
    threshold = round(p * 256)
    count = shape.numel()
    words = torch.empty((count + 7) // 8, dtype=torch.int64).random_(-(2**63), None)  # every bit random, the sign too
    kept = words.view(torch.uint8)[:count].view(shape).ge_(threshold) if threshold < 256 else torch.zeros(shape)
    return kept, 256 / max(256 - threshold, 1)


class _Dropout(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, p: float) -> Tensor:
        kept, ctx.scale = draw_kept(x.shape, p)
        ctx.save_for_backward(kept)
        return (x * kept).mul_(ctx.scale)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None]:
        (kept,) = ctx.saved_tensors
        return (grad * kept).mul_(ctx.scale), None


class ByteDropout(nn.Dropout):
    """Dropout from one random byte per value: eight times as fast as torch's on a CPU."""

    def forward(self, x: Tensor) -> Tensor:
        return _Dropout.apply(x, self.p) if self.training and self.p else x


class _ShortAttention(torch.autograd.Function):
    """softmax(Q K^T / sqrt(E) + mask) V with its gradient written out.

    torch's softmax is slow where the last dimension is short and no multiple of the vector width: six times slower than
    the same in plain sums, for sentences of 13 tokens.
    """

    @staticmethod
    def forward(
        ctx: Any,
        query_BHTE: Tensor,
        key_BHSE: Tensor,
        value_BHSE: Tensor,
        mask: Tensor | None,
        scaling: float,
        p: float,
    ) -> Tensor:
        shape_BHT = query_BHTE.shape[:3]
        query, key, value = (x.reshape(-1, *x.shape[2:]) for x in (query_BHTE, key_BHSE, value_BHSE))  # copied once
        score = torch.bmm(query, key.transpose(1, 2)).float()
        if mask is None:
            score *= scaling
        else:
            score = torch.add(mask, score.view(*shape_BHT, -1), alpha=scaling).view_as(score)
        if score.shape[-1] < SHORT:
            score -= score.amax(-1, keepdim=True)
            weight = score.exp_()
            weight /= weight.sum(-1, keepdim=True)
        else:
            weight = score.softmax(-1)
        kept, used = None, weight
        if p:
            kept, ctx.scale = draw_kept(weight.shape, p)
            used = (weight * kept).mul_(ctx.scale)
        used = used.to(value.dtype)
        ctx.scaling = scaling
        ctx.save_for_backward(query, key, value, weight, used, kept)
        return torch.bmm(used, value).view(*shape_BHT, -1)

    @staticmethod
    def backward(ctx: Any, grad_BHTE: Tensor) -> tuple[Tensor | None, ...]:
        query, key, value, weight, used, kept = ctx.saved_tensors
        shape_BH = grad_BHTE.shape[:2]
        grad_output = grad_BHTE.reshape(-1, *grad_BHTE.shape[2:])
        grad_value = torch.bmm(used.transpose(1, 2), grad_output)
        grad = torch.bmm(grad_output, value.transpose(1, 2)).float()
        if kept is not None:
            grad = (grad * kept).mul_(ctx.scale)
        grad *= weight
        grad = torch.addcmul(grad, weight, grad.sum(-1, keepdim=True), value=-1)
        grad = grad.mul_(ctx.scaling).to(query.dtype)
        grads = torch.bmm(grad, key), torch.bmm(grad.transpose(1, 2), query), grad_value
        return *(each.view(*shape_BH, *each.shape[1:]) for each in grads), None, None, None


def short_attention(
    module: nn.Module,
    query_BHTE: Tensor,
    key_BHSE: Tensor,
    value_BHSE: Tensor,
    attention_mask: Tensor | None,
    *,
    scaling: float,
    dropout: float = 0.0,
    **kwargs: Any,
) -> tuple[Tensor, None]:
    """`modeling.attention.attend` without its weights; the mask is eager attention's."""
    output_BHTE = _ShortAttention.apply(query_BHTE, key_BHSE, value_BHSE, attention_mask, scaling, dropout)
    return output_BHTE.transpose(1, 2), None


AttentionInterface.register(SHORT_ATTENTION, short_attention)
AttentionMaskInterface.register(SHORT_ATTENTION, eager_mask)


@contextmanager
def fast_kernels(model: PreTrainedModel) -> Iterator[None]:
    """Inside, the model computes with them; afterwards it is as it was."""
    ours, attention = isinstance(model, Seq2SeePreTrainedModel), model.config._attn_implementation
    replaced = [module for module in model.modules() if type(module) is nn.Dropout]
    if ours:
        model.set_attn_implementation(SHORT_ATTENTION)
    for module in replaced:
        module.__class__ = ByteDropout  # a new module would have to take over hooks and mode, and know its parent
    try:
        yield
    finally:
        if ours:
            model.set_attn_implementation(attention)
        for module in replaced:
            module.__class__ = nn.Dropout
