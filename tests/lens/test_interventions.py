"""Heads switched off, patched from a donor, silenced at a column, given other values: exactly where it was asked."""

import copy

import numpy as np
import pytest
import torch
from tiny import SENTENCES

from seq2see.errors import UserError
from seq2see.lens import trace_hypotheses
from seq2see.lens.changes.choices import Choice, MinimalPairs, margins
from seq2see.lens.changes.interventions import ablate, mean_outputs, patch, record, silenced
from seq2see.lens.views.attention_blocks import blocks_of
from seq2see.passes.attention_kinds import KINDS
from seq2see.passes.batches import real_positions
from seq2see.passes.forced_pass import eval_with_eager_attention, forced_pass
from seq2see.passes.hooks import all_heads, attention_sites, layers_of, other_values
from seq2see.tokenizer.encoding import encode_source, encode_target

TARGETS = [[5, 6, 7, 8, 2], [9, 10, 2]]
SOURCE, TARGET = "The cat did not cross the street.", "Le chat n'a pas traversé la rue."


# --- switched off


@pytest.fixture
def batch(any_model):
    model, tokenizer = any_model
    return [encode_source(tokenizer, text) for text in SENTENCES[:2]], TARGETS


def logits(model, batch):
    return forced_pass(model, *batch)[0].logits[real_positions(batch[1])]


def zeroed(model, heads):
    """A copy whose output projections read nothing of these heads."""
    copied = copy.deepcopy(model)
    for kind, layer, head in heads:
        site = attention_sites(copied)[kind][layer]
        site.output.weight.data[:, head * site.head_size : (head + 1) * site.head_size] = 0
    return copied


@pytest.mark.parametrize("kind", KINDS)
def test_it_equals_a_head_whose_columns_of_the_output_projection_are_zero(any_model, batch, kind):
    model, _ = any_model
    whole, expected = logits(model, batch), logits(zeroed(model, [(kind, 1, 1)]), batch)
    with ablate(model, [(kind, 1, 1)]):
        torch.testing.assert_close(logits(model, batch), expected, rtol=0, atol=1e-5)
    assert (whole - expected).abs().max() > 1e-3, "the head does nothing: this test would see nothing"
    torch.testing.assert_close(logits(model, batch), whole, rtol=0, atol=0)


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


@pytest.mark.few(1)
def test_it_holds_in_generate_with_cache_and_beams(any_model):
    model, tokenizer = any_model
    sources = [torch.tensor([encode_source(tokenizer, text)]) for text in (SENTENCES[0], SENTENCES[2], "The box.")]

    def generated(model):
        return [model.generate(ids, num_beams=3, max_length=12).tolist() for ids in sources]

    heads = [("decoder", 0, 0), ("cross", 1, 1), ("encoder", 1, 0)]
    expected = generated(zeroed(model, heads))
    with ablate(model, heads):
        assert generated(model) == expected
    assert generated(model) != expected, "the heads do nothing: this test would see nothing"


# --- patched


def minimal_pairs(tokenizer):
    """Two pairs of unlike lengths; within a pair the source differs in one token."""
    made = []
    for text, prefix, at in ((SENTENCES[0], (7, 9, 40), 3), ("The box.", (7,), 1)):
        ids = encode_source(tokenizer, text)
        other = [*ids[:at], ids[at] + 1, *ids[at + 1 :]]
        made.append((Choice(tuple(ids), prefix, 50, 60), Choice(tuple(other), prefix, 60, 50)))
    return made


@pytest.fixture
def pairs(any_model):
    return minimal_pairs(any_model[1])


def alone(model, choice):
    with torch.no_grad():
        start = model.generation_config.decoder_start_token_id
        out = model(torch.tensor([choice.source_ids]), decoder_input_ids=torch.tensor([[start, *choice.prefix_ids]]))
    log_probs = out.logits[0, -1].log_softmax(-1)
    return float(log_probs[choice.right] - log_probs[choice.wrong])


def test_a_choice_is_where_two_translations_part():
    assert Choice.between([5, 2], [4, 8, 9, 2], [4, 8, 7, 2]) == Choice((5, 2), (4, 8), 9, 7)
    with pytest.raises(ValueError, match="differ"):
        Choice.between([5, 2], [4, 8], [4, 8])


def test_a_donor_of_another_length_is_named_with_both_lengths(any_model, pairs):
    model, _ = any_model
    donor = record(model, [[5, 6, 2]], [[4, 8, 9, 2]])
    for head, said in (("decoder", 0, 0), "the donor has 4 target positions and this pass has 3"), (
            ("encoder", 0, 0), "the donor has 3 source positions and this pass has 2"):
        with pytest.raises(ValueError, match=said), patch(model, donor, heads=[head]):
            record(model, [[5, 2]], [[4, 8, 2]])


def test_the_whole_encoder_or_decoder_of_the_donor_gives_the_donors_choice(any_model, pairs):
    """The last layers' streams decide alone: with the donor's in place, the receiver says what the donor says."""
    model, _ = any_model
    patched = MinimalPairs(model, pairs)
    own, donor = np.array([[alone(model, choice) for choice in pair] for pair in pairs]).T
    assert np.abs(-donor - own).max() > 0.01, "the pairs do not differ: this test would see nothing"
    np.testing.assert_allclose(margins(model, [choice for _, choice in pairs]), donor, atol=1e-4)
    np.testing.assert_allclose(patched.margins(), own, atol=1e-4)
    for stack in ("encoder", "decoder"):
        last = len(layers_of(model, stack)) - 1
        np.testing.assert_allclose(patched.margins(layers=[(stack, last)]), -donor, atol=1e-4)


def test_a_stack_whose_positions_are_not_named_is_patched_at_all_of_them(any_model, pairs):
    model, _ = any_model
    patched, heads = MinimalPairs(model, pairs), all_heads(model)
    everywhere = patched.margins(heads=heads)
    own = [{"encoder": range(len(receiver.source_ids))} for receiver, _ in pairs]
    for where in ([{}, {}], own):
        np.testing.assert_allclose(patched.margins(heads=heads, where=where), everywhere, atol=1e-4)
    nowhere = patched.margins(heads=heads, where=[{"encoder": [], "decoder": []}] * 2)
    np.testing.assert_allclose(nowhere, patched.margins(), atol=1e-4)
    assert not np.allclose(nowhere, everywhere, atol=1e-3)


def test_only_the_head_and_the_position_asked_for_change(any_model, pairs):
    model, _ = any_model
    own, donor = (record(model, [choice.source_ids], [choice.target_ids]) for choice in pairs[0])
    mark = torch.zeros(1, len(pairs[0][0].source_ids), dtype=torch.bool)
    mark[0, 3] = True
    with patch(model, donor, heads=[("encoder", 0, 1)], where={"encoder": mark}):
        seen = record(model, [pairs[0][0].source_ids], [pairs[0][0].target_ids])
    half = own.mixed["encoder", 0].shape[-1] // 2
    expected = own.mixed["encoder", 0].clone()
    expected[0, 3, half:] = donor.mixed["encoder", 0][0, 3, half:]
    assert torch.equal(seen.mixed["encoder", 0], expected)
    assert not torch.equal(expected, own.mixed["encoder", 0])
    assert not torch.equal(seen.mixed["cross", 0], own.mixed["cross", 0]), "later layers feel it"


# --- other values


@pytest.fixture
def ids(any_model):
    model, tokenizer = any_model
    first = model.generation_config.forced_bos_token_id
    return encode_source(tokenizer, SOURCE), encode_target(tokenizer, TARGET, language="fr", first=first)


@pytest.mark.parametrize("kind", ["encoder", "decoder", "cross"])
def test_what_is_missing_is_the_part_of_that_column(uneven_model, ids, kind):
    """The first layer's attention gives less by exactly weight times W_O v, and the other sentence of the batch all."""
    model, tokenizer = uneven_model
    site = attention_sites(model)[kind][0]
    [trace] = trace_hypotheses(model, tokenizer, [SOURCE], [ids[1]])
    [blocks] = blocks_of(model, [trace])
    vector_HCD = blocks.by_kind[kind][0].vector_HCD
    given = []
    handle = site.output.register_forward_hook(lambda module, args, out: given.append(out))
    other = "cross" if kind == "encoder" else "encoder"
    with eval_with_eager_attention(model):
        forced_pass(model, [ids[0]] * 2, [ids[1]] * 2)
        with silenced(model, [(kind, 0, 1, 2), (other, 0, 0, 0)]):
            forced_pass(model, [ids[0]] * 2, [ids[1]] * 2)
    handle.remove()
    rows = len(trace.row_tokens(kind))
    missing = (given[0] - given[1])[0, :rows]
    part_RD = torch.tensor(trace.maps(kind)[0, 1, :, 2])[:, None] * vector_HCD[1, 2]
    assert torch.allclose(missing, part_RD, atol=1e-5) and part_RD.norm() > 0.01
    if other == "cross":
        assert torch.equal(given[0][1], given[1][1])


def test_other_values_leave_the_weights_and_the_model_as_they_are(any_model, ids):
    model, _ = any_model

    def run():
        output = forced_pass(model, [ids[0]], [ids[1]], output_attentions=True)[0]
        return output.logits, output.cross_attentions[0]

    with eval_with_eager_attention(model):
        plain, weights = run()
        with other_values(model, lambda site, value: value.flip(1), kinds=["cross"]):
            turned, same = run()
        assert torch.equal(run()[0], plain)
    assert not torch.allclose(turned, plain, atol=1e-3) and torch.allclose(same, weights, atol=1e-6)


@pytest.mark.parametrize(("intervene", "said"), [
    (lambda model, pairs: ablate(model, [("cross", 9, 0)]).__enter__(), "no cross layer 9 here: expected 0 to"),
    (lambda model, pairs: ablate(model, [("both", 0, 0)]).__enter__(), "no kind of attention 'both'"),
    (lambda model, pairs: ablate(model, ("encoder", 0, 0)).__enter__(), "is a single head, expected a list"),
    (lambda model, pairs: silenced(model, [("cross", 0, 99, 0)]).__enter__(), "no head 99"),
    (lambda model, pairs: MinimalPairs(model, pairs).margins(layers=[("encoder", 7)]), "no encoder layer 7 here"),
    (lambda model, pairs: MinimalPairs(model, pairs).margins(heads=[("encoder", 0, 0)], where=[{"encoder": [99]}, {}]),
     "no encoder position 99 here"),
    (lambda model, pairs: MinimalPairs(model, [(pairs[0][0], pairs[1][1])]), "equal lengths: pair 0 has"),
])
def test_what_is_not_there_is_named(seq2see, intervene, said):
    model, tokenizer = seq2see
    with pytest.raises(UserError, match=said):
        intervene(model, minimal_pairs(tokenizer))
