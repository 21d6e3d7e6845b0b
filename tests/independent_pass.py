"""A forced pass of BART's and T5's relatives in float64, from the weights alone, that hands every activation to a
function by name and goes on with what that gives.  It shares no code with the package; what enters the first layers is
read by a hook of its own.  For texts of at most 8 tokens, for which T5's position buckets are the distances.
"""

from functools import partial

import torch
from torch.nn.functional import gelu, layer_norm, linear, relu

POST_NORM = ("bart", "marian", "plbart")
ACTIVATIONS = {"relu": relu, "gelu": gelu, "gelu_new": lambda x: gelu(x, approximate="tanh")}


class Pass:
    def __init__(self, model, source, target):
        self.config, self.like_t5 = model.config, hasattr(model.config, "d_kv")
        self.weights = {name: one.detach().double() for name, one in model.state_dict().items()}
        self.prefix = "" if self.like_t5 else "model."
        self.post_norm = model.config.model_type in POST_NORM
        self.bottom = first_inputs(model, source, target)
        self.layers = {"encoder": getattr(self.config, "encoder_layers", None) or self.config.num_layers,
                       "decoder": getattr(self.config, "decoder_layers", None) or self.config.num_decoder_layers}

    def name_of(self, stack, layer, part):
        if not self.like_t5:
            kinds = {"attn": "self_attn", "cross_attn": "encoder_attn", "mlp": "final"}
            return f"model.{stack}.layers.{layer}.{kinds[part]}"
        kinds = {"attn": "0.SelfAttention", "cross_attn": "1.EncDecAttention",
                 "mlp": f"{1 if stack == 'encoder' else 2}."
                        f"{'mlp' if self.config.model_type == 'switch_transformers' else 'DenseReluDense'}"}
        return f"{stack}.block.{layer}.layer.{kinds[part]}"

    def norm(self, name, x):
        weight, bias = self.weights[f"{name}.weight"], self.weights.get(f"{name}.bias")
        if self.like_t5:
            return weight * x / (x.pow(2).mean(-1, keepdim=True) + self.config.layer_norm_epsilon).sqrt()
        return layer_norm(x, x.shape[-1:], weight, bias)

    def block_norm(self, name, x):
        return self.norm(f"{name.rpartition('.')[0]}.layer_norm" if self.like_t5 else f"{name}_layer_norm", x)

    def project(self, name, x):
        return linear(x, self.weights[f"{name}.weight"], self.weights.get(f"{name}.bias"))

    def attend(self, tap, at, name, x, read=None, causal=False):
        read = x if read is None else read
        heads = self.config.num_heads if self.like_t5 else self.config.encoder_attention_heads  # the decoder's too
        q, k, v, o = ("q", "k", "v", "o") if self.like_t5 else ("q_proj", "k_proj", "v_proj", "out_proj")
        query, key, value = (tap(f"{at}.hook_{part}", self.project(f"{name}.{one}", of).unflatten(-1, (heads, -1)))
                             for part, one, of in (("q", q, x), ("k", k, read), ("v", v, read)))
        scores = torch.einsum("the,she->hts", query, key)
        scores = scores + self.bias(name, scores.shape) if self.like_t5 else scores / query.shape[-1] ** 0.5
        if causal:
            scores = scores.masked_fill(torch.ones_like(scores).triu(1).bool(), float("-inf"))
        pattern = tap(f"{at}.hook_pattern", scores.softmax(-1))
        mixed = tap(f"{at}.hook_z", torch.einsum("hts,she->the", pattern, value))
        return self.project(f"{name}.{o}", mixed.flatten(1))

    def bias(self, name, shape):
        """[H,T,S]: T5's relative position bias, by default that of the first layer; 0 in cross-attention."""
        if "EncDec" in name:
            return 0
        table = self.weights.get(f"{name}.relative_attention_bias.weight")
        if table is None:
            stack, _, _, rest = name.split(".", 3)
            table = self.weights[f"{stack}.block.0.{rest}.relative_attention_bias.weight"]
        ahead = torch.arange(shape[2])[None] - torch.arange(shape[1])[:, None]
        both_ways = ahead.abs() + (ahead > 0) * self.config.relative_attention_num_buckets // 2
        return table[both_ways if name.startswith("encoder") else (-ahead).clamp_min(0)].permute(2, 0, 1)

    def feed_forward(self, tap, at, name, x):
        act = ACTIVATIONS[self.config.dense_act_fn if self.like_t5 else self.config.activation_function]
        inner, out = ("wi", "wo") if self.like_t5 else ("fc1", "fc2")
        name = name if self.like_t5 else name.rpartition(".")[0]
        if f"{name}.wi_0.weight" in self.weights:
            gate = tap(f"{at}.hook_pre", self.project(f"{name}.wi_0", x))
            post = act(gate) * tap(f"{at}.hook_pre_linear", self.project(f"{name}.wi_1", x))
        else:
            post = act(tap(f"{at}.hook_pre", self.project(f"{name}.{inner}", x)))
        return self.project(f"{name}.{out}", tap(f"{at}.hook_post", post))

    def block(self, tap, at, stream, name, x, work, out):
        """A block with its norm and its residual."""
        added = tap(f"{at}.hook_{out}", work(x if self.post_norm else self.block_norm(name, x)))
        x = tap(f"{at}.hook_{stream}", x + added)
        return tap(f"{at}.hook_normalized_{stream}", self.block_norm(name, x)) if self.post_norm else x

    def run(self, tap=lambda name, x: x):
        """The logits [T,V]; `tap(name, activation)` gives what to go on with."""
        memory = self.stack(tap, "encoder", None)
        x = self.stack(tap, "decoder", memory)
        head = self.weights["lm_head.weight"]
        scaled = {"t5": getattr(self.config, "scale_decoder_outputs", None), "mt5": False}
        if self.like_t5 and scaled.get(self.config.model_type, True):
            x = x * self.config.d_model**-0.5
        return x @ head.T + self.weights.get("final_logits_bias", torch.zeros(1))[0]

    def stack(self, tap, stack, memory):
        x = self.bottom[stack]
        for layer in range(self.layers[stack]):
            at = f"{stack}.{layer}"
            x = tap(f"{at}.hook_resid_pre", x)
            attn, cross, mlp = (self.name_of(stack, layer, part) for part in ("attn", "cross_attn", "mlp"))
            work = partial(self.attend, tap, f"{at}.attn", attn, causal=stack == "decoder")
            x = self.block(tap, at, "resid_mid", attn, x, work, "attn_out")
            if memory is not None:
                work = partial(self.attend, tap, f"{at}.cross_attn", cross, read=memory)
                x = self.block(tap, at, "resid_mid_cross", cross, x, work, "cross_attn_out")
            work = partial(self.feed_forward, tap, f"{at}.mlp", mlp)
            x = self.block(tap, at, "resid_post", mlp, x, work, "mlp_out")
        final = f"{self.prefix}{stack}.{'final_' if self.like_t5 else ''}layer_norm"
        return x if self.post_norm else self.norm(final, x)


def first_inputs(model, source, target):
    """What enters the first layer of each stack, [T,D] in float64."""
    found, handles = {}, []
    for stack, module in (("encoder", model.get_encoder()), ("decoder", model.get_decoder())):
        layers = module.block if hasattr(module, "block") else module.layers
        handles.append(layers[0].register_forward_pre_hook(
            lambda _, args, stack=stack: found.__setitem__(stack, args[0][0].double())))
    start = model.generation_config.decoder_start_token_id
    with torch.no_grad():
        model(torch.tensor([source]), decoder_input_ids=torch.tensor([[start, *target[:-1]]]))
    for handle in handles:
        handle.remove()
    return found
