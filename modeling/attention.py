"""Attention: how a position in a sentence gathers information from other positions.

    Attention(Q, K, V) = softmax(Q K^T / sqrt(E)) V                     (Vaswani et al. 2017, equation 1)

A *query* describes what a position looks for, a *key* how a position can be found, and a *value* what it contributes.
The dot product of a query and a key is their score.  The softmax turns a row of scores into weights that sum to 1.  The
output is the weighted sum of values.

One class serves all three uses.  In the encoder a sentence attends to itself in both directions.  In the decoder the
target attends to itself, backwards only (the causal mask, which modeling_seq2see.py makes with transformers).  In
cross-attention the queries come from the target, and keys and values from the encoded source.  The three differ in
their inputs, not in the computation.

`attend` is the formula itself, the one to read, and the only implementation that can return its weights.  The fast
kernels (sdpa, flash, flex) compute the same sum without materialising the weights.
"""

from collections.abc import Callable
from typing import Any

import torch
from torch import nn
from transformers.cache_utils import EncoderDecoderCache
from transformers.modeling_utils import ALL_ATTENTION_FUNCTIONS

from .configuration_seq2see import Seq2SeeConfig

# B batch, T query positions, S key positions, H heads, E size of one head, D = H * E model width


def attend(
    module: nn.Module,
    query_BHTE: torch.Tensor,
    key_BHSE: torch.Tensor,
    value_BHSE: torch.Tensor,
    attention_mask: torch.Tensor | None,
    *,
    scaling: float,
    dropout: float = 0.0,
    **kwargs: Any,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Mix values by how well queries match keys.

    Without `scaling` = 1/sqrt(E) the scores of random vectors have variance E, the softmax saturates, and its gradient
    vanishes.  With it they have variance 1 for any head size.

    Args:
        attention_mask: [B, 1, T, S], 0 where a query may attend and a very large negative number elsewhere, so that the
            weight there is exactly 0 after the softmax.

    Returns:
        The mixed values [B, T, H, E], and the weights [B, H, T, S] before dropout, so that a row always sums to 1.
    """
    score_BHTS = torch.matmul(query_BHTE, key_BHSE.transpose(2, 3)) * scaling
    if attention_mask is not None:
        score_BHTS = score_BHTS + attention_mask
    # Half-precision exponentials lose small weights, so the softmax is always computed in float32.
    weight_BHTS = score_BHTS.softmax(dim=-1, dtype=torch.float32).to(query_BHTE.dtype)
    kept_BHTS = nn.functional.dropout(weight_BHTS, p=dropout, training=module.training)
    output_BTHE = torch.matmul(kept_BHTS, value_BHSE).transpose(1, 2)
    return output_BTHE, weight_BHTS


class MultiHeadAttention(nn.Module):
    """H attentions side by side, each in its own E = D/H dimensions (Vaswani et al. 2017, section 3.2.2).

    One matrix holds the projections of all heads: head h uses rows h*E to (h+1)*E of W_Q, W_K and W_V, and columns
    h*E to (h+1)*E of W_O.  Concatenating the heads and projecting with W_O is therefore the same as letting every head
    add its own W_O-projected output.

    Args:
        is_causal: whether position t may see only positions up to t.  The fast kernels read this attribute.
        layer_idx: this layer's slot in the key-value cache; None in the encoder.
    """

    def __init__(self, config: Seq2SeeConfig, *, num_heads: int, is_causal: bool = False, layer_idx: int | None = None):
        super().__init__()
        self.config = config
        self.num_heads = num_heads
        self.head_dim = config.d_model // num_heads
        self.scaling = self.head_dim**-0.5
        self.dropout = config.attention_dropout
        self.is_causal = is_causal
        self.layer_idx = layer_idx
        self.q_proj = nn.Linear(config.d_model, config.d_model)
        self.k_proj = nn.Linear(config.d_model, config.d_model)
        self.v_proj = nn.Linear(config.d_model, config.d_model)
        self.out_proj = nn.Linear(config.d_model, config.d_model)

    def split_heads(self, x_BTD: torch.Tensor) -> torch.Tensor:
        """[B, T, D] to [B, H, T, E]."""
        return x_BTD.view(*x_BTD.shape[:-1], -1, self.head_dim).transpose(1, 2)

    def keys_and_values(
        self, x_BTD: torch.Tensor, source_BSD: torch.Tensor | None, past_key_values: EncoderDecoderCache | None
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Keys and values [B, H, S, E] of this sequence, or of `source_BSD` in cross-attention.

        During generation the keys and values of earlier tokens never change, so they are cached.  Self-attention
        appends those of the new token at every step; cross-attention fills its half once, since the source does not
        change either.
        """
        if source_BSD is not None and past_key_values is not None and past_key_values.is_updated.get(self.layer_idx):
            cached = past_key_values.cross_attention_cache.layers[self.layer_idx]
            return cached.keys, cached.values
        read_BSD = x_BTD if source_BSD is None else source_BSD
        key_BHSE, value_BHSE = self.split_heads(self.k_proj(read_BSD)), self.split_heads(self.v_proj(read_BSD))
        if past_key_values is None:
            return key_BHSE, value_BHSE
        if source_BSD is None:
            return past_key_values.self_attention_cache.update(key_BHSE, value_BHSE, self.layer_idx)
        past_key_values.is_updated[self.layer_idx] = True
        return past_key_values.cross_attention_cache.update(key_BHSE, value_BHSE, self.layer_idx)

    def forward(
        self,
        x_BTD: torch.Tensor,
        source_BSD: torch.Tensor | None = None,
        *,
        attention_mask: torch.Tensor | None = None,
        past_key_values: EncoderDecoderCache | None = None,
        **kwargs: Any,
    ) -> tuple[torch.Tensor, torch.Tensor | None]:
        """Attend from each of the T positions to the S positions it may see.

        Args:
            x_BTD: the positions that queries come from.
            source_BSD: the positions that keys and values come from; None for self-attention.
            attention_mask: the allowed positions, in the format of the chosen implementation.
            past_key_values: the cache, read and extended in place.

        Returns:
            The output [B, T, D], and the weights [B, H, T, S] or None if the implementation does not return them.
        """
        query_BHTE = self.split_heads(self.q_proj(x_BTD))
        key_BHSE, value_BHSE = self.keys_and_values(x_BTD, source_BSD, past_key_values)
        implementation: Callable = ALL_ATTENTION_FUNCTIONS.get_interface(self.config._attn_implementation, attend)
        output_BTHE, weight_BHTS = implementation(
            self,
            query_BHTE,
            key_BHSE,
            value_BHSE,
            attention_mask,
            dropout=self.dropout if self.training else 0.0,
            scaling=self.scaling,
            **kwargs,
        )
        output_BTD = output_BTHE.reshape(*x_BTD.shape[:-1], -1)
        return self.out_proj(output_BTD), weight_BHTS
