"""The graph of one prediction: shares are conserved, and are those of a float64 computation that shares no code."""

import copy
import json
from collections import defaultdict

import families
import pytest
import tiny
import torch
from independent import Network
from tiny import SENTENCES

from seq2see import Translator
from seq2see.errors import UserError
from seq2see.lens import add_views, contribution_graph, trace_hypotheses
from seq2see.lens.views.attention_blocks import blocks_of
from seq2see.passes.hooks import attention_sites
from seq2see.pretrained import HOME

TARGET = [7, 9, 8, 11, 30, 2]
FAMILIES = [name for name in families.CONFIGS if name not in ("FSMT", "EncoderDecoder", "LED", "LongT5", "ProphetNet")]


def graph_of(model, tokenizer, *, step=4, **how):
    [trace] = trace_hypotheses(model, tokenizer, SENTENCES[:1], [TARGET])
    return contribution_graph(model, trace, step=step, **how), trace


def sums(edges, side):
    found = defaultdict(float)
    for edge in edges:
        found[getattr(edge, side)] += edge.share
    return found


@pytest.mark.parametrize("name", [*tiny.KINDS, *families.some(FAMILIES)])
def test_what_enters_a_state_leaves_it_and_all_reaches_the_embeddings(name):
    model, tokenizer = tiny.make(name) if name in tiny.KINDS else (families.made(name), tiny.foreign_tokenizer())
    graph, trace = graph_of(model, tokenizer, threshold=0)
    into, out = sums(graph.edges, "target"), sums(graph.edges, "source")
    for i, node in enumerate(graph.nodes):
        if node.after != "embedding":
            assert into[i] == pytest.approx(node.share, rel=1e-5)
        if i != len(graph.nodes) - 1:
            assert out[i] == pytest.approx(node.share, rel=1e-5)
    last = graph.nodes[-1]
    assert (last.stack, last.after, last.position, last.share) == ("decoder", "feed_forward", 4, 1)
    assert graph.kept == pytest.approx(1, abs=1e-5) and graph.from_source > 0.01
    assert graph.token == trace.target[4].text
    sites = attention_sites(model)
    assert {(edge.kind, edge.layer, edge.head) for edge in graph.edges if edge.head is not None} <= {
        (kind, site.layer, h) for kind, layers in sites.items() for site in layers for h in range(site.heads)}
    for edge in graph.edges:
        one, other = graph.nodes[edge.source], graph.nodes[edge.target]
        assert edge.source < edge.target and (edge.kind == "cross" or other.layer - one.layer in (0, 1))
        assert edge.kind in ("encoder", "decoder", "cross") or one.position == other.position
        assert edge.kind != "decoder" or one.position <= other.position, "no step looks ahead"
        tokens = trace.source if one.stack == "encoder" else trace.inputs
        assert one.token == tokens[one.position].text


@pytest.mark.few(1)
@pytest.mark.parametrize("name", tiny.KINDS)
def test_a_threshold_leaves_edges_out_and_changes_none_for_the_better(name):
    whole, _ = graph_of(*tiny.make(name), threshold=0)
    known = {(edge.kind, edge.layer, edge.head, key(whole, edge)): edge.share
             for edge in whole.edges}
    kept = 1.0
    for threshold in (0.001, 0.01, 0.1):
        graph, _ = graph_of(*tiny.make(name), threshold=threshold)
        for edge in graph.edges:
            assert threshold <= edge.share <= known[edge.kind, edge.layer, edge.head, key(graph, edge)] + 1e-6
        assert graph.kept <= kept + 1e-6 and len(graph.edges) < len(whole.edges)
        kept = graph.kept
        ends = {i for edge in graph.edges for i in (edge.source, edge.target)}
        assert ends | {len(graph.nodes) - 1} == set(range(len(graph.nodes))), "no node stands alone"
    plain = json.loads(json.dumps(graph.plain()))
    assert len(plain["nodes"]) == len(graph.nodes) and plain["threshold"] == 0.1


def key(graph, edge):
    return tuple((one.stack, one.layer, one.after, one.position) for one in (
        graph.nodes[edge.source], graph.nodes[edge.target]))


@pytest.mark.few(1)
@pytest.mark.parametrize("step", [3, 9])
def test_shares_are_those_of_the_network_computed_by_itself(step):
    """storybook in float64, from its files."""
    translator, network = Translator.from_pretrained("storybook", engine="torch"), Network(HOME / "storybook")
    [trace] = translator.look(translator(SENTENCES[0], source="en", target="fr"))
    with translator.inside() as (model, _):
        graph = contribution_graph(model, trace, step=step, threshold=0)
    expected = Flow(network, trace.source_ids, trace.target_ids, step)
    found = {(edge.kind, edge.layer, edge.head, *key(graph, edge)): edge.share for edge in graph.edges}
    large = {name: share for name, share in expected.edges.items() if share > 1e-4}
    share = float(network.source_share(trace.source_ids, trace.target_ids)[step])
    with translator.inside() as (model, tokenizer):
        [viewed] = add_views(model, tokenizer, [trace], views=["contributions"])
    assert float(viewed.source_share[step]) == pytest.approx(share, abs=1e-4) and 0.1 < share < 0.99
    assert len(large) > 100 and set(large) <= set(found)
    for name, share in large.items():
        assert found[name] == pytest.approx(share, rel=0.02, abs=1e-4), name


class Flow:
    """The edges of one step with their shares, from the states of `Network`'s own blocks."""

    def __init__(self, net, source, target, step):
        self.edges, self.streams = defaultdict(float), net.blocks(source, target)
        layers = [net.config["encoder_layers"], net.config["decoder_layers"]]
        share = {("decoder", layers[1] - 1, "feed_forward", step): 1.0}
        for stack, count in (("decoder", layers[1]), ("encoder", layers[0])):
            for layer in reversed(range(count)):
                for kind in reversed(("encoder", "feed_forward") if stack == "encoder"
                                     else ("decoder", "cross", "feed_forward")):
                    self.block(share, stack, layer, kind, layers[0] - 1)

    def block(self, share, stack, layer, kind, last):
        x, parts, after = self.streams[stack, layer, kind]
        for at in [at for at in share if at[:3] == (stack, layer, kind)]:
            row = at[3]
            first = kind in ("encoder", "decoder")
            below = (layer - 1, "feed_forward" if layer else "embedding")
            before = below if first else (layer, {"cross": "decoder", "feed_forward": {
                "encoder": "encoder", "decoder": "cross"}[stack]}[kind])
            vectors = {("residual", None, (stack, *before, row)): x[row]}
            if kind == "feed_forward":
                vectors[kind, None, (stack, *before, row)] = parts[row]
            else:
                for head in range(len(parts)):
                    for column in range(parts.shape[2]):
                        own = ("encoder", last, "feed_forward") if kind == "cross" else (stack, *before)
                        vectors[kind, head, (*own, column)] = parts[head, row, column]
            whole = after[row].abs().sum()
            nearer = {name: max(0.0, float(whole - (after[row] - part).abs().sum())) for name, part in vectors.items()}
            for (edge, head, come), value in nearer.items():
                handed = share[at] * value / sum(nearer.values())
                self.edges[edge, layer, head, come, at] += handed
                share[come] = share.get(come, 0.0) + handed


@pytest.mark.parametrize("kind", tiny.KINDS)
def test_what_heads_add_is_what_attention_adds(kind):
    model, tokenizer = tiny.make(kind)
    [trace] = trace_hypotheses(model, tokenizer, SENTENCES[:1], [TARGET])
    [blocks] = blocks_of(model, [trace])
    for name, own in blocks.by_kind.items():
        for layer, block in enumerate(own):
            weight_HRC = torch.tensor(trace.maps(name)[layer])
            together = torch.stack([block.parts_by_head(weight_HRC, row).sum(0) for row in range(weight_HRC.shape[1])])
            torch.testing.assert_close(together, block.parts(weight_HRC), rtol=0, atol=1e-5)


@pytest.mark.parametrize("name", ["BART", "PLBart"])
def test_a_post_norm_block_is_split_after_its_norm(name):
    """The last feed-forward layer and its residual, in float64, by name."""
    model, tokenizer = families.made(name), tiny.foreign_tokenizer()
    torch.manual_seed(2)
    with torch.no_grad():
        for weight in model.parameters():
            if weight.dim() == 1:
                weight.add_(torch.randn_like(weight) * 0.3)
    graph, trace = graph_of(model, tokenizer, threshold=0)
    double, start = copy.deepcopy(model).double(), model.generation_config.decoder_start_token_id
    layer, seen = double.get_decoder().layers[-1], {}
    hooks = [module.register_forward_hook(lambda module, _, out: seen.update({module: out[0, 4]}))
             for module in (layer.fc2, layer.encoder_attn_layer_norm, layer.final_layer_norm)]
    with torch.no_grad():
        double(torch.tensor([trace.source_ids]), decoder_input_ids=torch.tensor([[start, *trace.target_ids[:-1]]]))
    for hook in hooks:
        hook.remove()
    before, added, output = seen.values()  # in the order of the pass
    spread = ((added + before).var(unbiased=False) + layer.final_layer_norm.eps) ** 0.5
    parts = torch.stack([(one - one.mean()) / spread * layer.final_layer_norm.weight for one in (added, before)])
    shares = Network.nearer(parts, output).tolist()
    found = {edge.kind: edge.share for edge in graph.edges if edge.target == len(graph.nodes) - 1}
    assert found.get("feed_forward", 0) == pytest.approx(shares[0], abs=1e-4) and 0.05 < shares[0] < 0.95
    assert found.get("residual", 0) == pytest.approx(shares[1], abs=1e-4)


@pytest.mark.parametrize(("how", "said"), [
    ({"step": 6}, "there is no step 6 here: expected 0 to 5"), ({"step": -1}, "there is no step -1"),
    ({"threshold": 1.5}, "threshold 1.5: expected a share from 0 to 1"),
    ({"threshold": float("nan")}, "threshold nan"),
])
def test_what_no_graph_has_is_refused(how, said):
    with pytest.raises(UserError, match=said):
        graph_of(*tiny.make("bart"), **how)


@pytest.mark.parametrize(("name", "why"), [("FSMT", "has activations in another layout"),
                                           ("EncoderDecoder", "is not built like BART or T5")])
def test_a_family_without_reachable_blocks_is_refused(name, why):
    with pytest.raises(UserError, match=why):
        graph_of(families.made(name), tiny.foreign_tokenizer())
