"""Faults of the network: masks, positions, heads, cache, loss and what is saved."""

from typing import Any

from . import fault

LAWS, NETWORK = "modeling/test_attention_laws.py", "modeling/test_network_laws.py"


@fault("a target token sees later ones", "modeling.layers:DecoderLayer.forward", LAWS)
def _(original: Any, self: Any, x: Any, source: Any, mask: Any, *others: Any, **how: Any) -> Any:
    self.self_attn.is_causal = False
    return original(self, x, source, None, *others, **how)


@fault("the encoder sees padding", "modeling.modeling_seq2see:create_bidirectional_mask", LAWS)
def _(original: Any, config: Any, embeddings: Any, mask: Any, **how: Any) -> Any:
    return original(config, embeddings, mask if how else None, **how)


@fault("cross-attention sees source padding", "modeling.modeling_seq2see:create_bidirectional_mask", LAWS)
def _(original: Any, config: Any, embeddings: Any, mask: Any, **how: Any) -> Any:
    return original(config, embeddings, None if how else mask, **how)


@fault("padding takes positions", "modeling.positions:count_positions", LAWS)
def _(original: Any, mask: Any, length: int) -> Any:
    return original(None if mask is None else mask.new_ones(mask.shape), length)


@fault("positions restart at every cached step", "modeling.positions:SinusoidalPositions.forward", LAWS)
def _(original: Any, self: Any, embeddings: Any, *, start: Any = 0, position_BT: Any = None) -> Any:
    return original(self, embeddings, position_BT=position_BT)


@fault("every layer reads the first layer's cached source", "modeling.attention:MultiHeadAttention.keys_and_values",
       LAWS)  # fmt: skip
def _(original: Any, self: Any, x: Any, source: Any, cache: Any) -> Any:
    found = original(self, x, source, cache)
    if source is None or cache is None:
        return found
    first = cache.cross_attention_cache.layers[0]
    return first.keys, first.values


@fault("weights are those after dropout", "modeling.attention:attend", LAWS)
def _(original: Any, module: Any, *tensors: Any, dropout: float = 0.0, **how: Any) -> Any:
    output, weights = original(module, *tensors, dropout=dropout, **how)
    return output, module.v_proj.weight.new_empty(weights.shape).bernoulli_(1 - dropout) * weights / (1 - dropout)


@fault("scores are not scaled", "modeling.attention:attend", LAWS)
def _(original: Any, *tensors: Any, scaling: float, **how: Any) -> Any:
    return original(*tensors, scaling=1.0, **how)


@fault("heads are mixed up", "modeling.attention:MultiHeadAttention.split_heads", LAWS)
def _(original: Any, self: Any, x_BTD: Any) -> Any:
    return x_BTD.unflatten(-1, (self.head_dim, -1)).movedim(-1, 1)


@fault("the loss of a part is divided by the part's labels",
       "modeling.modeling_seq2see:Seq2SeeForConditionalGeneration.forward", NETWORK)  # fmt: skip
def _(original: Any, *inputs: Any, num_items_in_batch: Any = None, **how: Any) -> Any:
    return original(*inputs, **how)
