"""The network of `webpage/model/network.js` is the network: on small random ones, for every option of its searches and
every hook, JavaScript computes what PyTorch does.  `tests/benchmarks/test_browser.py` has trained ones. """

import base64
import json

import numpy as np
import pytest
import torch
from node import Node, ScriptError
from tiny import make

from seq2see.lens.changes.interventions import ablate, mean_outputs, patch, record, steer
from seq2see.lens.questions.beam_search_tree import beam_tree
from seq2see.passes.forced_pass import eval_with_eager_attention, forced_pass
from seq2see.passes.hooks import STACKS, Head, all_heads, capture, layers_of, replaced
from seq2see.webpage_data.architecture import architecture
from seq2see.webpage_data.page_weights import web_weights

TEXTS = ["The cat did not cross the street.", "It was too wide.", "An owl lent 12 ladders to the crow, didn't it?"]
SETUP = """([manifest, data, architecture, generation]) => {
  const { buffer } = Uint8Array.from(atob(data), (letter) => letter.charCodeAt(0));
  globalThis.network = new s2s_network.Network(architecture, generation, new s2s_weights.Weights(manifest, buffer));
  Object.assign(globalThis, s2s_network);
}"""
SEARCH = """([ids, options]) => options.beams === 1 ? greedy(network, network.encode(ids), options)
  : beamSearch(network, network.encode(ids), options)"""


class Both:
    """A random network in PyTorch, with the weights that a browser reads, and in Node."""

    def __init__(self, node):
        torch.manual_seed(3)
        self.node, (self.model, self.tokenizer) = node, make("seq2see")
        with torch.no_grad():  # translations end, and not all at once
            self.model.model.decoder.layer_norm.bias.copy_(1.5 * self.model.model.shared.weight[2])
        weights = web_weights(self.model, "int8")
        self.model.load_state_dict(weights.state, strict=False)
        self.tag = self.model.generation_config.forced_bos_token_id
        self.sources = [self.tokenizer.encode_source(text) for text in TEXTS]
        data = base64.b64encode(weights.buffer).decode()
        generation = json.loads(self.model.generation_config.to_json_string(use_diff=False))
        self.node.evaluate(SETUP, [weights.manifest, data, architecture(self.model), generation])

    def generated(self, source, **options):
        """The ids that transformers finds, and the score of a beam search."""
        ids = torch.tensor([source])
        found = self.model.generate(ids, attention_mask=torch.ones_like(ids), do_sample=False, output_scores=True,
                                    return_dict_in_generate=True, **options)
        scores = getattr(found, "sequences_scores", None)
        return found.sequences[0, 1:].tolist(), None if scores is None else float(scores[0])


@pytest.fixture(scope="module")
def both():
    with Node("network", "weights") as node:
        yield Both(node)


def up_to_end(ids):
    return ids[: ids.index(2) + 1] if 2 in ids else ids


@pytest.mark.few(5)
@pytest.mark.parametrize(("torch_options", "options"), [
    ({}, {}),
    ({"repetition_penalty": 1.8}, {"repetitionPenalty": 1.8}),
    ({"no_repeat_ngram_size": 1}, {"noRepeat": 1}),
    ({"no_repeat_ngram_size": 3}, {"noRepeat": 3}),
    ({"length_penalty": 0.2}, {"lengthPenalty": 0.2}),
    ({"length_penalty": -1.0, "early_stopping": False}, {"lengthPenalty": -1, "earlyStopping": False}),
    ({"length_penalty": 2.0, "early_stopping": "never"}, {"lengthPenalty": 2, "earlyStopping": "never"}),
    ({"max_length": 5}, {"most": 4}),
])
@pytest.mark.parametrize("beams", [1, 2, 5])
def test_searches_find_the_same(both, beams, torch_options, options):
    for source in both.sources:
        given = {"max_length": 20, "num_beams": beams, "forced_bos_token_id": both.tag} | torch_options
        if beams == 1:
            given = {name: value for name, value in given.items() if name not in ("length_penalty", "early_stopping")}
        ids, score = both.generated(source, **given)
        found = both.node.evaluate(SEARCH, [source, {"most": 19, "beams": beams, "prefix": [both.tag]} | options])
        best = found if beams == 1 else found["hypotheses"][0]
        assert best["ids"] == up_to_end(ids)
        if score is not None:
            assert best["score"] == pytest.approx(score, rel=1e-5, abs=1e-5)


@pytest.mark.parametrize("beams", [1, 4])
def test_a_beginning_is_forced_and_does_not_count(both, beams):
    prompt = [both.tag, *both.sources[1][:2]]
    for source in both.sources:
        ids, score = both.generated(source, num_beams=beams, max_length=16, forced_bos_token_id=None,
                                    decoder_input_ids=torch.tensor([[1, *prompt]]))
        found = both.node.evaluate(SEARCH, [source, {"most": 15, "beams": beams, "prompt": prompt}])
        best = found if beams == 1 else found["hypotheses"][0]
        assert best["ids"] == up_to_end(ids)
        if score is not None:
            assert best["score"] == pytest.approx(score, rel=1e-5, abs=1e-5)


def test_the_tree_is_that_of_generation(both):
    for text, source in zip(TEXTS, both.sources, strict=True):
        tree = beam_tree(both.model, both.tokenizer, text, num_beams=4, first=both.tag)
        found = both.node.evaluate(SEARCH, [source, {"beams": 4, "prefix": [both.tag]}])
        assert [[(one["id"], one["parent"]) for one in step] for step in found["steps"]] == [
            [(one.id, one.parent) for one in step] for step in tree.steps]
        assert [tuple(one["at"]) for one in found["hypotheses"]] == list(tree.hypotheses)
        nodes = [one for step in tree.steps for one in step]
        for one, node in zip((one for step in found["steps"] for one in step), nodes, strict=True):
            assert one["logProb"] == pytest.approx(node.log_prob, abs=1e-4)
            assert one["score"] == (node.score and pytest.approx(node.score, abs=1e-4))


# Inside: a forced pass with and without a change, in both.  Numbers come back as plain lists.
FORCED = """([source, target, change]) => {
  const kept = recorder(), other = recorder();
  const own = (where, act) => ({
    [where]: ({ kind, layer }, parts) => { if (kind === "cross" && layer === 1) act(parts); },
  });
  const given = ({ name, vector }) => [name, vector && Float32Array.from(vector)];
  const donor = (name, head) => {
    network.force(network.encode(change.donor, other.hooks), target, other.hooks);
    const [{ T, D, E, mixed }] = other.parts[name];
    return Float32Array.from({ length: T * E }, (_, i) => mixed[Math.floor(i / E) * D + head * E + i % E]);
  };
  const hooks = !change ? {} : change.heads ? headsOff(Object.fromEntries(change.heads.map(given)))
    : change.blocks ? feedForwardOff(Object.fromEntries(change.blocks.map(given)))
    : change.donor ? headsOff({ "encoder.1.0": donor("encoder.1", 0), "decoder.0.1": donor("decoder.0", 1) })
    : change.temperature ? own("scores", ({ T, S, weight }) => {  // of head 1
      for (let i = T * S; i < 2 * T * S; i++) weight[i] /= change.temperature; })
    : own("weights", ({ T, S, weight }) => weight.set(change.weights, T * S));
  const all = together(hooks, kept.hooks), { logits } = network.force(network.encode(source, all), target, all);
  const maps = Object.entries(kept.parts).map(([name, parts]) => [name, [...mapsOf(parts).weight]]);
  const streams = Object.entries(kept.streams).map(([name, [x]]) => [name, [...x]]);
  const neurons = Object.entries(kept.neurons).map(([name, [{ inner }]]) => [name, [...inner]]);
  return { logits: [...logits], maps: Object.fromEntries(maps), streams: Object.fromEntries(streams),
    neurons: Object.fromEntries(neurons) };
}"""


@pytest.fixture
def forced(both):
    """Compares a forced pass in the browser, with a change, with PyTorch's inside an intervention."""
    source, target = both.sources[2], [both.tag, *both.sources[0]]
    blocks = {f"{stack}.layers.{number}.fc2": layer.fc2
              for stack in STACKS for number, layer in enumerate(layers_of(both.model, stack))}

    def compared(change=None, source=source):
        with eval_with_eager_attention(both.model), torch.no_grad(), capture(blocks, "in") as neurons:
            output, _ = forced_pass(both.model, [source], [target], output_attentions=True, output_hidden_states=True)
        found = both.node.evaluate(FORCED, [source, target, change])
        close(found["logits"], output.logits)
        for kind in ("encoder", "decoder", "cross"):
            for layer, weights in enumerate(output[f"{kind}_attentions"]):
                close(found["maps"][f"{kind}.{layer}"], weights)
        for stack in ("encoder", "decoder"):
            *states, _ = output[f"{stack}_hidden_states"]
            for layer, state in enumerate(states):
                close(found["streams"][f"{stack}.layers.{layer}.self_attn"], state)
        assert found["neurons"].keys() == neurons.keys()
        for name, inner in neurons.items():
            close(found["neurons"][name], inner)
        return output

    compared.source, compared.target = source, target
    return compared


def close(found, expected):
    assert np.array(found) == pytest.approx(expected.numpy().ravel(), abs=1e-4)


def test_a_forced_pass_has_the_same_logits_maps_and_states(forced):
    forced()


def test_a_head_that_is_off_is_off(both, forced):
    before = forced().logits
    means = mean_outputs(both.model, [forced.source], [forced.target])
    for head in all_heads(both.model)[::3]:
        name = f"{head.kind}.{head.layer}.{head.head}"
        for replace, vector in (("zero", None), ("mean", means[head].tolist())):
            with ablate(both.model, [head], replace=replace, means=means if vector else None):
                after = forced({"heads": [{"name": name, "vector": vector}]})
            assert (after.logits - before).abs().max() > 1e-2, f"{name} does nothing"


def test_a_feed_forward_block_that_is_off_is_off(both, forced):
    before, vector = forced().logits, torch.linspace(-1, 1, both.model.config.d_model)
    for number, layer in enumerate(layers_of(both.model, "decoder")):
        with replaced([(layer.fc2, "out", vector.expand_as)]):
            after = forced({"blocks": [{"name": f"decoder.layers.{number}.fc2", "vector": vector.tolist()}]})
        assert (after.logits - before).abs().max() > 1e-2, f"block {number} does nothing"


def test_heads_are_patched_from_another_sentence(both, forced):
    donor = [*forced.source[:-3], *reversed(forced.source[-3:-1]), forced.source[-1]]
    recording = record(both.model, [donor], [forced.target])
    with patch(both.model, recording, heads=[Head("encoder", 1, 0), Head("decoder", 0, 1)]):
        forced({"donor": donor})


def test_a_head_attends_at_another_temperature_or_with_given_weights(both, forced):
    with steer(both.model, temperatures={("cross", 1, 1): 2.5}):
        forced({"temperature": 2.5})
    weights = np.random.default_rng(0).dirichlet(np.ones(len(forced.source)), len(forced.target))
    with steer(both.model, weights={("cross", 1, 1): weights}):
        forced({"weights": weights.ravel().tolist()})


def test_a_search_has_heads_off_and_records_the_maps_of_every_step(both):
    found = both.node.evaluate("""([source, tag]) => {
      const kept = recorder(), hooks = together(headsOff({ "cross.0.1": null, "encoder.0.0": null }), kept.hooks);
      const { ids, logits } = greedy(network, network.encode(source, hooks), { prefix: [tag], most: 12, hooks });
      return { ids, logits: [...logits], maps: [...mapsOf(kept.parts["decoder.1"]).weight] };
    }""", [both.sources[0], both.tag])
    with ablate(both.model, [("cross", 0, 1), ("encoder", 0, 0)]):
        ids, _ = both.generated(both.sources[0], max_length=13, forced_bos_token_id=both.tag)
        with eval_with_eager_attention(both.model), torch.no_grad():
            output, _ = forced_pass(both.model, [both.sources[0]], [up_to_end(ids)], output_attentions=True)
    assert found["ids"] == up_to_end(ids)
    close(found["logits"], output.logits)
    close(found["maps"], output.decoder_attentions[1])


def test_a_text_longer_than_the_positions_is_refused(both):
    with pytest.raises(ScriptError, match=r"expected at most \d+ tokens, got 5000"):
        both.node.evaluate("() => network.encode(new Array(5000).fill(5)) && null")
