"""Reading what passes through a model, and putting something else in its place."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest
import torch
from torch import nn

from seq2see.errors import UserError
from seq2see.lens import VIEWS, ablate, add_views, all_heads, contextual, logit_lens, patch, record, trace_hypotheses
from seq2see.passes.attention_kinds import KINDS
from seq2see.passes.forced_pass import eval_mode, eval_with_eager_attention, forced_pass
from seq2see.passes.hooks import AttentionChange, all_sites, attention_sites, capture, intervened, replaced, steered
from seq2see.tokenizer.encoding import encode_source

SOURCE, TARGET = "The cat did not cross.", [7, 9, 8, 2]


@pytest.fixture
def run(any_model):
    model, tokenizer = any_model
    return lambda: forced_pass(model, [encode_source(tokenizer, SOURCE)], [TARGET])[0].logits


def test_weights_times_values_is_what_the_output_projection_reads(any_model):
    """So kind, layer, the columns of a head, and both projections are the right ones."""
    model, tokenizer = any_model
    seen: dict[nn.Module, torch.Tensor] = {}
    sites = attention_sites(model)
    hooks = []
    for site in all_sites(model):
        hooks.append(site.value.register_forward_hook(lambda module, _, out: seen.update({module: out[0]})))
        hooks.append(site.output.register_forward_pre_hook(lambda module, args: seen.update({module: args[0][0]})))
    [trace] = trace_hypotheses(model, tokenizer, [SOURCE], [TARGET])
    for hook in hooks:
        hook.remove()
    for kind in KINDS:
        for site, weight_HTS in zip(sites[kind], torch.tensor(trace.maps(kind)), strict=True):
            value_SHE = seen[site.value].unflatten(-1, (site.heads, site.head_size))
            mixed = torch.einsum("hts,she->the", weight_HTS, value_SHE).flatten(1)
            torch.testing.assert_close(mixed, seen[site.output], rtol=0, atol=1e-5)


def test_what_is_captured_and_put_back_changes_nothing_and_in_another_place_it_does(any_model, run):
    model, _ = any_model
    sites = {(site.kind, site.layer): site.output for site in all_sites(model)}
    with eval_mode(model):
        with capture(sites, "in") as read, capture(sites, "out") as written:
            plain = run()
        assert read.keys() == written.keys() == sites.keys()
        for side, kept in (("in", read), ("out", written)):
            with replaced((sites[key], side, lambda _, key=key, kept=kept: kept[key]) for key in sites):
                assert torch.equal(run(), plain)
            with replaced((sites[key], side, lambda own, key=key, kept=kept: kept[key].flip(1)) for key in sites):
                assert not torch.allclose(run(), plain, atol=1e-3)
        with replaced((module, "out", lambda own: None) for module in sites.values()):
            assert torch.equal(run(), plain), "None leaves it as it is"


def test_a_model_knows_what_its_own_thread_changes_in_it(seq2see, any_model):
    model, _ = seq2see
    site = attention_sites(model)["cross"][0]
    with capture({0: site.output}, "in"), steered({site.module: AttentionChange(seen={})}):
        assert not intervened(model), "reading is no change"
    with steered({site.module: AttentionChange(temperatures={0: 2.0})}), ThreadPoolExecutor(1) as other:
        assert intervened(model) and (any_model[0] is model or not intervened(any_model[0]))
        assert not other.submit(intervened, model).result(), "another thread waits for the model"
        with replaced([(site.output, "in", lambda own: own)]):
            pass
        assert intervened(model)
    with pytest.raises(KeyError), ablate(model, [("cross", 0, 0)]):
        assert intervened(model)
        raise KeyError
    assert not intervened(model)


def test_a_steering_lasts_until_its_own_block_ends(any_model, run):
    model, _ = any_model
    site = attention_sites(model)["cross"][0]
    first, second = ({site.module: AttentionChange(temperatures={head: 9.0})} for head in (0, 1))
    with eval_with_eager_attention(model):
        plain = run()
        with steered(first):
            outer = run()
            with steered(second):
                assert not torch.equal(run(), outer)
            assert torch.equal(run(), outer)
        assert torch.equal(run(), plain) and not torch.equal(outer, plain)


def hooks_of(model):
    return [(len(m._forward_hooks), len(m._forward_pre_hooks)) for m in model.modules()]


def test_nothing_is_left_by_whatever_looks_inside_even_after_an_error(any_model):
    model, tokenizer = any_model

    def use_everything():
        [trace] = trace_hypotheses(model, tokenizer, [SOURCE], [TARGET])
        contextual(model, tokenizer, SOURCE, "cat", language="en")
        logit_lens(model, tokenizer, [trace])
        add_views(model, tokenizer, [trace], views=VIEWS)
        return trace

    trace = use_everything()  # transformers leaves hooks of its own
    before, weights = hooks_of(model), {name: weight.clone() for name, weight in model.state_dict().items()}
    use_everything()
    with pytest.raises((IndexError, RuntimeError)):
        add_views(model, tokenizer, [replace(trace, target_ids=(10**6,) * len(TARGET))], views=VIEWS)
    with pytest.raises(UserError), ablate(model, [("encoder", 0, 0), ("encoder", 0, 9)]):
        pass
    donor = record(model, [trace.source_ids], [TARGET])
    for intervention in (ablate(model, all_heads(model)), patch(model, donor, heads=all_heads(model))):
        with pytest.raises(RuntimeError, match="broken"), intervention:
            assert hooks_of(model) != before
            raise RuntimeError("broken")
    assert hooks_of(model) == before
    assert all(torch.equal(weight, weights[name]) for name, weight in model.state_dict().items())
