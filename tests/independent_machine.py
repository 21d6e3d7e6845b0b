"""One prediction taken apart, in float64, from the files alone (`independent.py`): each part is sent through the norms
to the logits, where the package carries the logits back through the norms.

The keys are those of the answer of `/v1/inside` to the tool "machine"; arrays are tensors, and neurons are what each
one adds.
"""

import torch


class Machine:
    """The machine of a Network at a step of a translation."""

    def __init__(self, network, source, target, step):
        self.net, self.source, self.target, self.step = network, source, target, step
        self.blocks = network.blocks(source, target)
        self.inner = dict(network.inner)
        self.weights = {place: one[:, step] for place, one in network.maps.items() if place[0] == "cross"}
        self.logits = network.logits(network.states(source, target))[step]
        self.sigma = {stack: self._last(stack).var(-1, unbiased=False).add(1e-5).sqrt()[:, None]
                      for stack in ("encoder", "decoder")}

    def _layers(self, stack):
        return range(self.net.config[f"{stack}_layers"])

    def _last(self, stack):
        return self.blocks[stack, self._layers(stack)[-1], "feed_forward"][2]

    def _weight(self, name):
        return self.net.weights[f"model.{name}"]

    def _normed(self, stack, part, rows):
        """What a part [...,rows,D] of the last state becomes in the final norm, without its bias."""
        centred = part - part.mean(-1, keepdim=True)
        return centred / self.sigma[stack][rows] * self._weight(f"{stack}.layer_norm.weight")

    def direction(self, id, other=None):
        """Of a logit less the mean over the vocabulary, or less another's."""
        table = self.net.embeddings
        return table[id] - (table.mean(0) if other is None else table[other])

    def adds(self, part, direction):
        """What vectors [...,D], added at this step, add along a direction of the logits."""
        return self._normed("decoder", part[..., None, :], [self.step])[..., 0, :] @ direction

    def taken(self, part, direction, *, whole=False):
        """What cross-attention takes from parts [...,S,D] of the encoder's last state; of the `whole` state with the
        biases of norm and values, which are nobody's."""
        read = self._normed("encoder", part, slice(None))
        read = read + self._weight("encoder.layer_norm.bias") if whole else read
        found = 0
        for layer in self._layers("decoder"):
            name, share = f"decoder.layers.{layer}.encoder_attn", self.weights["cross", layer]
            value = read @ self._weight(f"{name}.v_proj.weight").T
            value = value + self._weight(f"{name}.v_proj.bias") if whole else value
            output = self._weight(f"{name}.out_proj.weight").unflatten(-1, (len(share), -1))
            out = torch.einsum("hs,...she,dhe->...sd", share, value.unflatten(-1, (len(share), -1)), output)
            found = found + self.adds(out, direction)
        return found

    def parts(self, direction, *, neurons=False):
        """All parts of what counts along a direction; those of the neurons take the longest."""
        start = [self.net.generation["decoder_start_token_id"], *self.target[:-1]]
        first, width = self.net.embed(start)[self.step], self.net.config["d_model"]
        token = self.net.embeddings[start[self.step]] * width**0.5
        of = {kind: [self.blocks["decoder", layer, kind][1] for layer in self._layers("decoder")]
              for kind in ("decoder", "cross", "feed_forward")}
        found = {
            "embedding": self.adds(token, direction),
            "position": self.adds(first - token, direction),
            "constant": self._weight("decoder.layer_norm.bias") @ direction,
            "decoder": torch.stack([self.adds(one[:, self.step, :self.step + 1], direction) for one in of["decoder"]]),
            "cross": torch.stack([self.adds(one[:, self.step], direction) for one in of["cross"]]),
            "bias": torch.stack([torch.stack([
                self.adds(self._weight(f"decoder.layers.{layer}.{part}.out_proj.bias"), direction)
                for part in ("self_attn", "encoder_attn")]) for layer in self._layers("decoder")]),
            "feed_forward": torch.stack([self.adds(one[self.step], direction) for one in of["feed_forward"]]),
            "encoder": self.encoder(direction, neurons=neurons),
        }
        return found | ({"neurons": [
            self.adds((self.inner["decoder", layer][self.step] * self._out("decoder", layer)).T, direction)
            for layer in self._layers("decoder")]} if neurons else {})

    def _out(self, stack, layer):
        return self._weight(f"{stack}.layers.{layer}.fc2.weight")

    def encoder(self, direction, *, neurons):
        layers = self._layers("encoder")
        taken = [self.taken(self.blocks["encoder", layer, "encoder"][1].transpose(1, 2), direction) for layer in layers]
        found = {
            "start": self.taken(self.net.embed(self.source), direction),
            "attention": torch.stack([one.sum(0).T for one in taken]),
            "attention_rows": torch.stack([one.sum((0, 1)) for one in taken]),
            "heads": torch.stack([one.sum((1, 2)) for one in taken]),
            "feed_forward": torch.stack([
                self.taken(self.blocks["encoder", layer, "feed_forward"][1], direction) for layer in layers]),
        }
        if neurons:
            found["neurons"] = [
                self.taken(self.inner["encoder", layer].T[..., None] * self._out("encoder", layer).T[:, None],
                           direction).sum(-1) for layer in layers]
        whole = self.taken(self._last("encoder"), direction, whole=True)
        found["constant"] = whole - found["start"] - found["attention_rows"].sum(0) - found["feed_forward"].sum(0)
        return found

    def lengths(self, stack):
        """Of the residual vectors, before the first block and after each."""
        blocks = [one for place, one in self.blocks.items() if place[0] == stack]
        return torch.stack([blocks[0][0].norm(dim=-1), *(after.norm(dim=-1) for *_, after in blocks)])

    def margin(self, runner, off=None, language="fr"):
        """The lead of the token written over another, also with a head or a feed-forward block of the decoder off."""
        mean = self.net.means(language) if off else None
        logits = self.net.logits(self.net.states(self.source, self.target, off=off, mean=mean))[self.step]
        return float(logits[self.target[self.step]] - logits[runner])

    def feed_forward_without(self, direction, off, language="fr"):
        """What each feed-forward block of the decoder adds in a pass without a head."""
        self.net.states(self.source, self.target, off=off, mean=self.net.means(language))
        spread = self.net.last[self.step].var(unbiased=False).add(1e-5).sqrt()
        added = [self.net.mixed["feed_forward", layer][0, self.step] for layer in self._layers("decoder")]
        return [float((one - one.mean()) / spread * self._weight("decoder.layer_norm.weight") @ direction)
                for one in added]
