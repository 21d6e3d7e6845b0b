"""Faults of the network.  The first ten are such as transformers' own common test suite lets pass."""

from . import Fault

FAULTS = [
    Fault(
        "the decoder is not causal",
        "modeling/modeling_seq2see.py",
        "causal_mask = create_causal_mask(self.config, inputs_embeds, attention_mask, self_cache)",
        "causal_mask = create_bidirectional_mask(self.config, inputs_embeds, attention_mask)\n"
        "        for layer in self.layers:\n"
        "            layer.self_attn.is_causal = False",
    ),
    Fault(
        "the encoder sees source padding",
        "modeling/modeling_seq2see.py",
        "mask = create_bidirectional_mask(self.config, inputs_embeds, attention_mask)",
        "mask = create_bidirectional_mask(self.config, inputs_embeds, None)",
    ),
    Fault(
        "cross-attention sees source padding",
        "modeling/modeling_seq2see.py",
        "self.config, inputs_embeds, encoder_attention_mask, encoder_hidden_states=encoder_hidden_states",
        "self.config, inputs_embeds, None, encoder_hidden_states=encoder_hidden_states",
    ),
    Fault(
        "the decoder ignores its mask",
        "modeling/modeling_seq2see.py",
        "create_causal_mask(self.config, inputs_embeds, attention_mask, self_cache)",
        "create_causal_mask(self.config, inputs_embeds, None, self_cache)",
    ),
    Fault(
        "the loss ignores num_items_in_batch",
        "modeling/modeling_seq2see.py",
        "num_items_in_batch=num_items_in_batch\n",
        "num_items_in_batch=None\n",
    ),
    Fault(
        "the output matrix is not tied",
        "modeling/modeling_seq2see.py",
        '_tied_weights_keys = {"lm_head.weight": "model.shared.weight"}',
        "_tied_weights_keys = {}",
    ),
    Fault("no 1/sqrt(E)", "modeling/attention.py", "self.scaling = self.head_dim**-0.5", "self.scaling = 1.0"),
    Fault(
        "half of the sinusoids are constant",
        "modeling/positions.py",
        "torch.stack((angle_PE.sin(), angle_PE.cos())",
        "torch.stack((angle_PE.sin(), torch.ones_like(angle_PE))",
    ),
    Fault(
        "heads are mixed up",
        "modeling/attention.py",
        "x_BTD.view(*x_BTD.shape[:-1], -1, self.head_dim).transpose(1, 2)",
        "x_BTD.view(*x_BTD.shape[:-1], self.head_dim, -1).transpose(2, 3).transpose(1, 2)",
    ),
    Fault(
        "the config's defaults are not merged",
        "modeling/modeling_seq2see.py",
        "    @merge_with_config_defaults\n",
        "",
    ),
    Fault(
        "positions restart at every cached step",
        "modeling/modeling_seq2see.py",
        "start=self_cache.get_seq_length()",
        "start=0 * self_cache.get_seq_length()",
    ),
    Fault(
        "cross-attention keys appended at every step",
        "modeling/attention.py",
        "past_key_values.is_updated[self.layer_idx] = True",
        "pass",
    ),
    Fault(
        "weights shown after dropout",
        "modeling/attention.py",
        "return output_BTHE, weight_BHTS",
        "return output_BTHE, kept_BHTS",
    ),
    Fault(
        "the encoder is causal",
        "modeling/layers.py",
        "num_heads=config.encoder_attention_heads)",
        "num_heads=config.encoder_attention_heads, is_causal=True)",
    ),
    Fault(
        "labels shifted twice",
        "modeling/modeling_seq2see.py",
        'self.loss_type = "ForMaskedLM"',
        'self.loss_type = "ForCausalLM"',
    ),
    Fault(
        "the start token is forgotten",
        "modeling/modeling_seq2see.py",
        "torch.full_like(labels_BT[:, :1], start)",
        "torch.full_like(labels_BT[:, :1], pad)",
    ),
    Fault("embeddings not scaled", "modeling/modeling_seq2see.py", "embeddings_BTD * self.scale +", "embeddings_BTD +"),
    Fault(
        "sinusoids not rebuilt on loading",
        "modeling/modeling_seq2see.py",
        "init.copy_(module.table_PD, sinusoids(module.positions, module.d_model))",
        "pass",
    ),
    Fault(
        "cross-attention reads the target",
        "modeling/layers.py",
        "            source_BSD,\n            attention_mask=source_mask",
        "            x_BTD,\n            attention_mask=None",
    ),
    Fault(
        "missing tensors accepted",
        "modeling/loading.py",
        '    _refuse(folder, "tensors are missing", report["missing_keys"])\n',
        "",
    ),
    Fault("NaN accepted", "modeling/loading.py", "if not (tensor.abs() < LARGEST).all()", "if False"),
    Fault("config not bounded", "modeling/configuration_seq2see.py", "if not 1 <= value <= largest:", "if False:"),
    Fault(
        "ends beyond the vocabulary pass",
        "modeling/configuration_seq2see.py",
        '("pad_token_id", "bos_token_id", "eos_token_id", "unk_token_id", "decoder_start_token_id")',
        '("pad_token_id", "decoder_start_token_id")',
    ),
    Fault(
        "an output matrix of its own parts the sides",
        "modeling/modeling_seq2see.py",
        "return dict(self._tied_weights_keys)",
        "return super().get_expanded_tied_weights_keys(all_submodels)",
    ),
    Fault(
        "a static cache overruns the table in torch's words",
        "modeling/positions.py",
        "except IndexError as error:",
        "except KeyError as error:",
    ),
]
