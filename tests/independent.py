"""The network once more, in float64, from the files alone: safetensors, tokenizer.json, config.json, the definition of
the calibration.  It shares no code with the package; a head that is off gives the mean that this code computes.
"""

import json
from functools import cached_property

import torch
from safetensors.torch import load_file
from tokenizers import Tokenizer
from torch.nn.functional import layer_norm, linear, relu

KINDS = ("encoder", "decoder", "cross")


def curved(points, odds):
    """The height of a curve through points at these log-odds; its steepness is 1 beyond its ends."""
    (first, start), (last, end) = points[0], points[-1]
    if odds <= first:
        return start - (first - odds)
    if odds >= last:
        return end + (odds - last)
    right = next(i for i, (x, _) in enumerate(points) if x > odds)
    (a, low), (b, high) = points[right - 1], points[right]
    share = (odds - a) / (b - a)
    return (1 - share) * low + share * high


class Network:
    def __init__(self, folder):
        self.weights = {name: one.double() for name, one in load_file(folder / "model.safetensors").items()}
        read = {name: json.loads((folder / f"{name}.json").read_text(encoding="utf-8")) for name in (
            "config", "generation_config", "calibration", "examples")}
        self.config, self.generation, self.calibration, self.examples = read.values()
        self.tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self.averages, self.encoded, self.inner = {}, {}, {}

    def heads(self):
        """Every head as (kind, layer, head)."""
        layers = {"encoder": "encoder", "decoder": "decoder", "cross": "decoder"}
        return [(kind, layer, head) for kind in ("cross", "decoder", "encoder")
                for layer in range(self.config[f"{layers[kind]}_layers"])
                for head in range(self.config[f"{layers[kind]}_attention_heads"])]

    @cached_property
    def embeddings(self):
        return self.weights["model.shared.weight"]

    def source_ids(self, text):
        return self.tokenizer.encode(text).ids

    def target_ids(self, text, language):
        return [self.tokenizer.token_to_id(f"<2{language}>"), *self.tokenizer.encode(text).ids]

    def decode(self, ids):
        return self.tokenizer.decode(list(ids), skip_special_tokens=True)

    def embed(self, ids):
        width = self.config["d_model"]
        position = torch.arange(len(ids), dtype=torch.float64)[:, None]
        angle = position / 10_000 ** (torch.arange(0, width, 2, dtype=torch.float64) / width)
        waves = torch.stack((angle.sin(), angle.cos()), -1).flatten(1)
        return self.embeddings[torch.tensor(ids)] * width**0.5 + waves

    def norm(self, name, x):
        return layer_norm(x, x.shape[-1:], self.weights[f"{name}.weight"], self.weights[f"{name}.bias"])

    def project(self, name, x):
        return linear(x, self.weights[f"{name}.weight"], self.weights[f"{name}.bias"])

    def attend(self, name, place, x, read, seen):
        """One block of attention: `seen` says what may be looked at; keeps the weights, and what the heads mix."""
        heads = self.config["encoder_attention_heads" if place[0] == "encoder" else "decoder_attention_heads"]
        query, key, value = (self.project(f"{name}.{part}", of).unflatten(-1, (heads, -1)).transpose(0, 1)
                             for part, of in (("q_proj", x), ("k_proj", read), ("v_proj", read)))
        scores = query @ key.transpose(1, 2) / query.shape[-1] ** 0.5
        weights = scores.masked_fill(~seen, float("-inf")).softmax(-1)
        mixed = weights @ value  # [heads, rows, size]
        self.maps[place], self.mixed[place] = weights, mixed
        if self.off and self.off[:2] == place:
            mixed = mixed.clone()
            mixed[self.off[2]] = self.mean[place][self.off[2]]
        return self.project(f"{name}.out_proj", mixed.transpose(0, 1).flatten(1))

    def feed_forward(self, stack, layer, x):
        """Keeps the activations of the neurons; a block of the decoder is off like a head, as its only one."""
        name = f"model.{stack}.layers.{layer}"
        self.inner[stack, layer] = relu(self.project(f"{name}.fc1", self.norm(f"{name}.final_layer_norm", x)))
        added, place = self.project(f"{name}.fc2", self.inner[stack, layer]), ("feed_forward", layer)
        if stack == "decoder":
            self.mixed[place] = added[None]
            if self.off and self.off[:2] == place:
                return self.mean[place].expand_as(added)
        return added

    def encode(self, source):
        x = self.embed(source)
        everything = torch.ones(len(source), len(source), dtype=torch.bool)
        for layer in range(self.config["encoder_layers"]):
            name = f"model.encoder.layers.{layer}"
            normed = self.norm(f"{name}.self_attn_layer_norm", x)
            x = x + self.attend(f"{name}.self_attn", ("encoder", layer), normed, normed, everything)
            x = x + self.feed_forward("encoder", layer, x)
        return self.norm("model.encoder.layer_norm", x)

    def states(self, source, target, *, off=None, mean=None):
        """[T,D] of a forced pass, from which `logits` follow; `maps`, `mixed` and the `last` state before the norm are
        then those of this pass."""
        self.off, self.mean, self.maps, self.mixed = off, mean, {}, {}
        key = tuple(source)
        if (off and off[0] == "encoder") or key not in self.encoded:
            memory = self.encode(source)
            if not (off and off[0] == "encoder"):
                self.encoded[key] = memory, dict(self.maps), dict(self.mixed)
        else:
            memory, maps, mixed = self.encoded[key]
            self.maps, self.mixed = dict(maps), dict(mixed)
        x = self.embed([self.generation["decoder_start_token_id"], *target[:-1]])
        causal = torch.ones(len(target), len(target), dtype=torch.bool).tril()
        everything = torch.ones(len(target), len(source), dtype=torch.bool)
        for layer in range(self.config["decoder_layers"]):
            name = f"model.decoder.layers.{layer}"
            normed = self.norm(f"{name}.self_attn_layer_norm", x)
            x = x + self.attend(f"{name}.self_attn", ("decoder", layer), normed, normed, causal)
            normed = self.norm(f"{name}.encoder_attn_layer_norm", x)
            x = x + self.attend(f"{name}.encoder_attn", ("cross", layer), normed, memory, everything)
            x = x + self.feed_forward("decoder", layer, x)
        self.last = x
        return self.norm("model.decoder.layer_norm", x)

    def blocks(self, source, target):
        """What each block of a forced pass adds to the stream, by (stack, layer, kind): the stream before it, its
        parts ([heads, rows, columns, width] of attention, [rows, width] of feed-forward), and the stream after it."""
        self.states(source, target)
        found, start = {}, self.generation["decoder_start_token_id"]

        def run(stack, x, memory, kinds):
            for layer in range(self.config[f"{stack}_layers"]):
                name = f"model.{stack}.layers.{layer}"
                for kind, part in kinds.items():
                    read = memory if kind == "cross" else self.norm(f"{name}.{part}_layer_norm", x)
                    weights = self.maps[kind, layer]
                    value = self.project(f"{name}.{part}.v_proj", read).unflatten(-1, (len(weights), -1))
                    output = self.weights[f"{name}.{part}.out_proj.weight"].unflatten(-1, (len(weights), -1))
                    parts = torch.einsum("hrc,che,dhe->hrcd", weights, value, output)
                    after = x + parts.sum((0, 2)) + self.weights[f"{name}.{part}.out_proj.bias"]
                    found[stack, layer, kind] = x, parts, after
                    x = after
                added = self.feed_forward(stack, layer, x)
                found[stack, layer, "feed_forward"] = x, added, x + added
                x = x + added
            return x

        encoded = run("encoder", self.embed(source), None, {"encoder": "self_attn"})
        memory = self.norm("model.encoder.layer_norm", encoded)
        run("decoder", self.embed([start, *target[:-1]]), memory, {"decoder": "self_attn", "cross": "encoder_attn"})
        return found

    def source_share(self, source, target):
        """[T]: how much of each prediction comes from the source by ALTI+ (Ferrando et al. 2022): a part of a block
        counts by how much closer it brings the sum to the output, and shares are multiplied through the layers."""
        blocks, T = self.blocks(source, target), len(target)
        states = torch.zeros(T, dtype=torch.float64)
        for layer in range(self.config["decoder_layers"]):
            own = []
            for row in range(T):
                before, parts, after = (blocks["decoder", layer, "decoder"][n] for n in range(3))
                columns = parts[:, row].sum(0)
                columns[row] += before[row]
                own.append(self.nearer(columns, after[row]))
            carried = torch.stack(own) @ states
            for row in range(T):
                before, parts, after = (blocks["decoder", layer, "cross"][n] for n in range(3))
                shares = self.nearer(torch.cat([parts[:, row].sum(0), before[row][None]]), after[row])
                states[row] = shares[:-1].sum() + shares[-1] * carried[row]
        return states

    @staticmethod
    def nearer(parts, whole):
        found = (whole.abs().sum() - (whole - parts).abs().sum(-1)).clamp_min(0)
        return found / found.sum()

    def logits(self, states):
        return states @ self.embeddings.T

    def means(self, language):
        """What the heads mix on average over all positions of the example sentences: [heads, size] by place."""
        if language not in self.averages:
            found, targets = {}, self.examples["torch"][f"en-{language}"]
            for source, target in zip(self.examples["sentences"], targets, strict=True):
                self.states(self.source_ids(source), self.target_ids(target, language))
                for place, mixed in self.mixed.items():
                    found.setdefault(place, []).append(mixed)
            self.averages[language] = {place: torch.cat(all_, 1).mean(1) for place, all_ in found.items()}
        return self.averages[language]

    def shown(self, logits, language):
        """Probabilities as the page shows them: smoothing undone, then the temperature, then the confidence curved."""
        kept = self.calibration["languages"][language]
        kept = kept["ways"][kept["way"]]["calibrator"]
        p = logits.softmax(-1)
        undone = torch.maximum(p - kept["smoothing"] / p.shape[-1], 0.01 * p)
        shown = undone ** (1 / kept["temperature"])
        if kept["curve"]:
            (_, second), (best, _) = (one.split(1, -1) for one in shown.topk(2))
            odds = torch.logit(undone.amax(-1, keepdim=True) / undone.sum(-1, keepdim=True))
            odds = odds.apply_(lambda one: curved(kept["curve"], one))
            others = shown.scatter(-1, best, 0)
            shown = others.scatter(-1, best, (others.sum(-1, keepdim=True) * odds.exp()).maximum(second))
        return shown / shown.sum(-1, keepdim=True)
