"""The decoders of four families once more, in float64 and by the names of their modules: every part of the last state,
carried forward through each norm with the divisor of the actual pass.  It shares no code with the lens.
"""

import copy

import torch

# T decoder steps, D model width, V vocabulary


class ByHand:
    """Parts [T,D] of the decoder's last state by name: ("embedding",), ("decoder" or "cross", layer, head),
    ("neuron", layer, number), ("constant",); and what makes logits of them."""

    def __init__(self, model, source, target):
        self.model = copy.deepcopy(model).double().eval()
        self.kind, self.parts = self.model.config.model_type, {}
        start = self.model.generation_config.decoder_start_token_id
        self.model.set_attn_implementation("eager")
        with torch.no_grad():
            output = self.model(torch.tensor([source]), decoder_input_ids=torch.tensor([[start, *target[:-1]]]),
                                output_attentions=True, output_hidden_states=True)
            self.memory, self.logits = output.encoder_last_hidden_state[0], output.logits[0]
            self.weights = {"decoder": output.decoder_attentions, "cross": output.cross_attentions}
            self.parts["embedding",] = output.decoder_hidden_states[0][0]
            self.parts["constant",] = torch.zeros_like(self.parts["embedding",])
            getattr(self, "_t5" if self.kind == "t5" else "_bart")(self.model.get_decoder())

    @property
    def state(self):
        return sum(self.parts.values())

    def logits_of(self, part):
        """[T,V] of one part; the bias of the logits is the constant's."""
        if self.kind == "t5" and self.model.config.scale_decoder_outputs:
            part = part * self.model.config.d_model**-0.5
        return part @ self.model.lm_head.weight.detach().T

    def bias(self):
        return self.model.final_logits_bias[0] if self.kind in ("marian", "bart") else 0

    def _bart(self, decoder):
        is_pre_norm = self.kind == "seq2see"
        for number, layer in enumerate(decoder.layers):
            for kind, attention, norm in (("decoder", layer.self_attn, layer.self_attn_layer_norm),
                                          ("cross", layer.encoder_attn, layer.encoder_attn_layer_norm)):
                reads = norm(self.state) if is_pre_norm else self.state
                self._attend(kind, number, reads, attention.v_proj, attention.out_proj)
                if not is_pre_norm:
                    self._norm(norm)
            reads = layer.final_layer_norm(self.state) if is_pre_norm else self.state
            activation = layer.activation if is_pre_norm else layer.activation_fn
            self._feed(number, activation(layer.fc1(reads)), layer.fc2)
            if not is_pre_norm:
                self._norm(layer.final_layer_norm)
        if is_pre_norm:
            self._norm(decoder.layer_norm)

    def _t5(self, decoder):
        for number, block in enumerate(decoder.block):
            for kind, part, attention in (("decoder", block.layer[0], block.layer[0].SelfAttention),
                                          ("cross", block.layer[1], block.layer[1].EncDecAttention)):
                self._attend(kind, number, part.layer_norm(self.state), attention.v, attention.o)
            inner = block.layer[2].DenseReluDense
            self._feed(number, inner.act(inner.wi(block.layer[2].layer_norm(self.state))), inner.wo)
        self._norm(decoder.final_layer_norm)

    def _attend(self, kind, layer, reads, value, output):
        weights = self.weights[kind][layer][0]
        of = self.memory if kind == "cross" else reads
        heads, size = len(weights), output.in_features // len(weights)
        for head in range(heads):
            own = slice(head * size, (head + 1) * size)
            self.parts[kind, layer, head] = weights[head] @ value(of)[:, own] @ output.weight[:, own].T
        if output.bias is not None:
            self.parts["constant",] = self.parts["constant",] + output.bias

    def _feed(self, layer, active, output):
        for n in range(output.in_features):
            self.parts["neuron", layer, n] = active[:, n, None] * output.weight[:, n]
        self.parts["bias", layer] = torch.zeros_like(self.state) + (0 if output.bias is None else output.bias)

    def _norm(self, norm):
        """Every part through a norm whose statistics are those of their sum."""
        whole, is_layer_norm = self.state, isinstance(norm, torch.nn.LayerNorm)
        if is_layer_norm:
            spread = (whole.var(-1, unbiased=False, keepdim=True) + norm.eps) ** 0.5
        else:
            spread = ((whole**2).mean(-1, keepdim=True) + norm.variance_epsilon) ** 0.5
        expected = norm(whole)
        for name, part in self.parts.items():
            centred = part - part.mean(-1, keepdim=True) if is_layer_norm else part
            self.parts[name] = centred / spread * norm.weight
        if is_layer_norm:
            self.parts["constant",] = self.parts["constant",] + norm.bias
        torch.testing.assert_close(self.state, expected)
