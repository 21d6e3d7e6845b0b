"""The encoder layer and the decoder layer.

Every sub-layer reads a normalised copy of the residual stream and adds its output to the stream:

    x = x + dropout(sublayer(norm(x)))                                  ("pre-norm", Xiong et al. 2020)

The stream itself is not normalised between layers, so gradients reach the first layer undiminished and training is
stable from the start.  The final norm comes once, after the last layer.
"""

from typing import Any

import torch
from torch import nn
from transformers.activations import ACT2FN
from transformers.cache_utils import Cache
from transformers.modeling_layers import GradientCheckpointingLayer

from .attention import MultiHeadAttention
from .configuration_seq2see import Seq2SeeConfig

# B batch, T target positions, S source positions, D model width, F inner width of the feed-forward layer


class EncoderLayer(GradientCheckpointingLayer):
    """Self-attention, then a feed-forward layer, each with norm and residual connection."""

    def __init__(self, config: Seq2SeeConfig):
        super().__init__()
        self.self_attn = MultiHeadAttention(config, num_heads=config.encoder_attention_heads)
        self.self_attn_layer_norm = nn.LayerNorm(config.d_model)
        self.fc1 = nn.Linear(config.d_model, config.encoder_ffn_dim)
        self.fc2 = nn.Linear(config.encoder_ffn_dim, config.d_model)
        self.final_layer_norm = nn.LayerNorm(config.d_model)
        self.activation = ACT2FN[config.activation_function]
        self.activation_dropout = nn.Dropout(config.activation_dropout)
        self.dropout = nn.Dropout(config.dropout)

    def forward(self, x_BSD: torch.Tensor, attention_mask: torch.Tensor | None, **kwargs: Any) -> torch.Tensor:
        """[B, S, D] to [B, S, D]; `attention_mask` hides padding."""
        attended_BSD, _ = self.self_attn(self.self_attn_layer_norm(x_BSD), attention_mask=attention_mask, **kwargs)
        x_BSD = x_BSD + self.dropout(attended_BSD)
        inner_BSF = self.activation_dropout(self.activation(self.fc1(self.final_layer_norm(x_BSD))))
        return x_BSD + self.dropout(self.fc2(inner_BSF))


class DecoderLayer(GradientCheckpointingLayer):
    """Causal self-attention, cross-attention to the source, then a feed-forward layer."""

    def __init__(self, config: Seq2SeeConfig, *, layer_idx: int):
        super().__init__()
        heads = config.decoder_attention_heads
        self.self_attn = MultiHeadAttention(config, num_heads=heads, is_causal=True, layer_idx=layer_idx)
        self.self_attn_layer_norm = nn.LayerNorm(config.d_model)
        self.encoder_attn = MultiHeadAttention(config, num_heads=heads, layer_idx=layer_idx)
        self.encoder_attn_layer_norm = nn.LayerNorm(config.d_model)
        self.fc1 = nn.Linear(config.d_model, config.decoder_ffn_dim)
        self.fc2 = nn.Linear(config.decoder_ffn_dim, config.d_model)
        self.final_layer_norm = nn.LayerNorm(config.d_model)
        self.activation = ACT2FN[config.activation_function]
        self.activation_dropout = nn.Dropout(config.activation_dropout)
        self.dropout = nn.Dropout(config.dropout)

    def forward(
        self,
        x_BTD: torch.Tensor,
        source_BSD: torch.Tensor,
        causal_mask: torch.Tensor | None,
        source_mask: torch.Tensor | None,
        *,
        past_key_values: Cache | None = None,
        **kwargs: Any,
    ) -> torch.Tensor:
        """[B, T, D] to [B, T, D], attending to earlier target positions and to the encoded source [B, S, D]."""
        attended_BTD, _ = self.self_attn(
            self.self_attn_layer_norm(x_BTD), attention_mask=causal_mask, past_key_values=past_key_values, **kwargs
        )
        x_BTD = x_BTD + self.dropout(attended_BTD)
        attended_BTD, _ = self.encoder_attn(
            self.encoder_attn_layer_norm(x_BTD),
            source_BSD,
            attention_mask=source_mask,
            past_key_values=past_key_values,
            **kwargs,
        )
        x_BTD = x_BTD + self.dropout(attended_BTD)
        inner_BTF = self.activation_dropout(self.activation(self.fc1(self.final_layer_norm(x_BTD))))
        return x_BTD + self.dropout(self.fc2(inner_BTF))
