"""Slips in the network: masks, positions, heads, cache and loss."""

from . import fault

LAWS = "modeling/test_attention_laws.py"


@fault("modeling.layers.DecoderLayer.forward", LAWS)
def a_target_token_sees_later_ones(original, self, x_BTD, source_BSD, causal_mask, *others, **how):
    self.self_attn.is_causal = False
    return original(self, x_BTD, source_BSD, None, *others, **how)


@fault("modeling.modeling_seq2see.create_bidirectional_mask", LAWS)
def the_encoder_sees_padding(original, config, embeddings, mask, **cross):
    return original(config, embeddings, mask if cross else None, **cross)


@fault("modeling.modeling_seq2see.create_bidirectional_mask", LAWS)
def cross_attention_sees_padding(original, config, embeddings, mask, **cross):
    return original(config, embeddings, None if cross else mask, **cross)


@fault("modeling.positions.count_positions", LAWS)
def padding_takes_positions(original, mask, length):
    return None  # columns count


@fault("modeling.positions.SinusoidalPositions.forward", LAWS)
def positions_restart_at_every_cached_step(original, self, embeddings_BTD, *, start=0, **how):
    return original(self, embeddings_BTD, **how)


@fault("modeling.attention.MultiHeadAttention.keys_and_values", LAWS)
def every_layer_reads_the_cached_source_of_the_first(original, self, x_BTD, source_BSD, cache):
    found = original(self, x_BTD, source_BSD, cache)
    if source_BSD is None or cache is None:
        return found
    first = cache.cross_attention_cache.layers[0]
    return first.keys, first.values


@fault("modeling.attention.attend", LAWS)
def weights_are_those_after_dropout(original, *tensors, dropout=0.0, **how):
    from torch.nn import functional

    output_BTHE, weight_BHTS = original(*tensors, dropout=dropout, **how)
    return output_BTHE, functional.dropout(weight_BHTS, dropout)


@fault("modeling.attention.attend", LAWS)
def scores_are_not_scaled(original, *tensors, scaling, **how):
    return original(*tensors, scaling=1.0, **how)


@fault("modeling.attention.MultiHeadAttention.split_heads", LAWS)
def heads_are_mixed_up(original, self, x_BTD):
    return x_BTD.unflatten(-1, (self.head_dim, -1)).movedim(-1, 1)


@fault("modeling.modeling_seq2see.Seq2SeeForConditionalGeneration.forward", "modeling/test_network_laws.py")
def the_loss_of_a_part_is_divided_by_its_own_labels(original, *inputs, num_items_in_batch=None, **how):
    return original(*inputs, **how)
