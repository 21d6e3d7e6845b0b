"""A head that is switched off hands over nothing, exactly, wherever the model runs, and comes back untouched."""

import pytest
import torch
from tiny import SENTENCES

from seq2see.errors import UserError
from seq2see.lens.hooks import Head, all_heads, attention_sites
from seq2see.lens.interventions import ablate, mean_outputs
from seq2see.lens.kinds import KINDS
from seq2see.lens.teacher_forcing import encode_source, forced_pass, real_positions

TARGETS = [[5, 6, 7, 8, 2], [9, 10, 2]]


@pytest.fixture
def batch(any_model):
    model, tokenizer = any_model
    return [encode_source(tokenizer, text) for text in SENTENCES[:2]], TARGETS


def logits(model, batch):
    return forced_pass(model, *batch)[0].logits[real_positions(batch[1])]


def traces_left(model):
    return sum(len(m._forward_pre_hooks) + len(m._forward_hooks) for m in model.modules())


@pytest.mark.parametrize("kind", KINDS)
def test_it_equals_a_head_whose_columns_of_the_output_projection_are_zero(any_model, batch, kind):
    model, _ = any_model
    site = attention_sites(model)[kind][1]
    columns = slice(site.head_size, 2 * site.head_size)
    kept = site.output.weight.data.clone()
    site.output.weight.data[:, columns] = 0
    expected = logits(model, batch)
    site.output.weight.data.copy_(kept)
    whole = logits(model, batch)
    with ablate(model, [(kind, 1, 1)]):
        torch.testing.assert_close(logits(model, batch), expected, rtol=0, atol=1e-5)
    assert (whole - expected).abs().max() > 1e-3, "the head does nothing: this test would see nothing"
    torch.testing.assert_close(logits(model, batch), whole, rtol=0, atol=0)


def test_it_equals_zeroing_the_slice_that_the_projection_reads(any_model, batch):
    """Several heads of several kinds at once, against the layer's own sum written out head by head."""
    model, _ = any_model
    heads = [("encoder", 0, 0), ("cross", 1, 0), ("cross", 1, 1), ("decoder", 0, 1)]
    seen = {}
    sites = attention_sites(model)
    handles = [site.output.register_forward_hook(lambda m, args, out, key=(kind, site.layer): seen.update(
        {key: (args[0].detach(), out.detach())})) for kind in KINDS for site in sites[kind]]
    with ablate(model, heads):
        logits(model, batch)
    for handle in handles:
        handle.remove()
    for kind, layer in {head[:2] for head in heads}:
        site, (mixed, out) = sites[kind][layer], seen[kind, layer]
        summed = torch.zeros_like(out) if site.output.bias is None else site.output.bias.expand(out.shape).clone()
        for h in range(site.heads):
            columns = slice(h * site.head_size, (h + 1) * site.head_size)
            if (kind, layer, h) in heads:
                assert not mixed[..., columns].any()
            else:
                assert mixed[..., columns].any()
                summed += mixed[..., columns] @ site.output.weight[:, columns].T
        torch.testing.assert_close(out, summed, rtol=0, atol=1e-5)


def test_the_mean_is_the_mean_over_real_positions(any_model, batch):
    model, tokenizer = any_model
    means = mean_outputs(model, *batch)
    assert set(means) == set(all_heads(model))
    kept = {}
    site = attention_sites(model)["cross"][1]
    handle = site.output.register_forward_pre_hook(lambda m, args: kept.update(mixed=args[0]))
    rows = []
    for source, target in zip(SENTENCES[:2], TARGETS, strict=True):  # one by one: no padding at all
        forced_pass(model, [encode_source(tokenizer, source)], [target])
        rows.append(kept["mixed"][0])
    handle.remove()
    expected = torch.cat(rows).mean(0)[site.head_size :]
    torch.testing.assert_close(means["cross", 1, 1], expected, rtol=0, atol=1e-5)


def test_a_head_replaced_by_its_mean_hands_that_over_everywhere(any_model, batch):
    model, _ = any_model
    means = mean_outputs(model, *batch)
    site = attention_sites(model)["encoder"][0]
    kept = {}
    with ablate(model, [("encoder", 0, 0)], replace="mean", means=means):
        handle = site.output.register_forward_pre_hook(lambda m, args: kept.update(mixed=args[0]))
        logits(model, batch)
        handle.remove()
    found = kept["mixed"][..., : site.head_size]
    assert torch.equal(found, means["encoder", 0, 0].expand(found.shape))
    assert kept["mixed"][..., site.head_size :].std(1).max() > 0, "only the head asked for"


@pytest.mark.parametrize("num_beams", [1, 3])
def test_it_holds_in_generate_with_cache_and_beams(any_model, num_beams):
    """Generating step by step from a cache gives what weights without the head give."""
    model, tokenizer = any_model
    ids = [encode_source(tokenizer, text) for text in (SENTENCES[0], SENTENCES[2], "The box.")]
    width = max(map(len, ids))
    given = torch.tensor([row + [0] * (width - len(row)) for row in ids])
    mask = torch.tensor([[1] * len(row) + [0] * (width - len(row)) for row in ids])
    heads = [("decoder", 0, 0), ("cross", 1, 1), ("encoder", 1, 0)]

    def generated():
        return model.generate(given, attention_mask=mask, num_beams=num_beams, max_length=12, use_cache=True)

    whole = generated()
    with ablate(model, heads):
        ablated = generated()
    kept = []
    for kind, layer, head in heads:
        weight = attention_sites(model)[kind][layer].output.weight.data
        kept.append((weight, weight.clone()))
        E = attention_sites(model)[kind][layer].head_size
        weight[:, head * E : (head + 1) * E] = 0
    expected = generated()
    for weight, before in kept:
        weight.copy_(before)
    assert torch.equal(ablated, expected)
    assert not torch.equal(ablated, whole), "the heads do nothing: this test would see nothing"
    assert torch.equal(generated(), whole)


def test_nothing_is_left_after_an_exception(any_model, batch):
    model, _ = any_model
    weights = {name: weight.clone() for name, weight in model.state_dict().items()}
    logits(model, batch)
    before = traces_left(model)
    with pytest.raises(RuntimeError, match="broken"), ablate(model, all_heads(model)):
        assert traces_left(model) > before
        raise RuntimeError("broken")
    with pytest.raises(UserError), ablate(model, [("encoder", 0, 0), ("encoder", 0, 9)]):
        pass
    assert traces_left(model) == before
    assert all(torch.equal(weight, weights[name]) for name, weight in model.state_dict().items())


@pytest.mark.parametrize(("head", "said"), [
    (("cross", 9, 0), "no cross layer 9 here: expected 0 to"), (("encoder", 0, 2), "no head 2 in encoder layer 0"),
    (("encoder", -1, 0), "no encoder layer -1"), (("both", 0, 0), "no kind of attention 'both'"),
])
def test_a_head_that_is_not_there_is_named(any_model, head, said):
    with pytest.raises(UserError, match=said), ablate(any_model[0], [head]):
        pass


def test_means_are_asked_for_exactly_where_they_are_needed(any_model, batch):
    model, _ = any_model
    for given in ({"replace": "mean"}, {"means": mean_outputs(model, *batch)}):
        with pytest.raises(ValueError, match="means"), ablate(model, [Head("cross", 0, 0)], **given):
            pass
