"""What is put in is the donor's, where it was asked for and nowhere else; margins are log-probability differences."""

import numpy as np
import pytest
import torch
from tiny import SENTENCES

from seq2see.errors import UserError
from seq2see.lens.choices import Choice, MinimalPairs, margins
from seq2see.lens.hooks import all_heads, layers_of
from seq2see.lens.interventions import patch, record
from seq2see.lens.teacher_forcing import encode_source


@pytest.fixture
def pairs(any_model):
    """Two pairs of unlike lengths; within a pair the source differs in one piece."""
    _, tokenizer = any_model
    made = []
    for text, prefix, at in ((SENTENCES[0], (7, 9, 40), 3), ("The box.", (7,), 1)):
        ids = encode_source(tokenizer, text)
        other = [*ids[:at], ids[at] + 1, *ids[at + 1 :]]
        made.append((Choice(tuple(ids), prefix, 50, 60), Choice(tuple(other), prefix, 60, 50)))
    return made


def alone(model, choice):
    with torch.no_grad():
        start = model.generation_config.decoder_start_token_id
        out = model(torch.tensor([choice.source_ids]), decoder_input_ids=torch.tensor([[start, *choice.prefix_ids]]))
    log_probs = out.logits[0, -1].log_softmax(-1)
    return float(log_probs[choice.right] - log_probs[choice.wrong])


def test_margins_are_the_models_own(any_model, pairs):
    model, _ = any_model
    choices = [choice for pair in pairs for choice in pair]
    np.testing.assert_allclose(margins(model, choices), [alone(model, choice) for choice in choices], atol=1e-4)


def test_a_choice_is_where_two_translations_part():
    assert Choice.between([5, 2], [4, 8, 9, 2], [4, 8, 7, 2]) == Choice((5, 2), (4, 8), 9, 7)
    with pytest.raises(ValueError, match="differ"):
        Choice.between([5, 2], [4, 8], [4, 8])


def test_the_whole_encoder_or_decoder_of_the_donor_gives_the_donors_choice(any_model, pairs):
    """The last layers' streams decide alone: with the donor's in place, the receiver says what the donor says."""
    model, _ = any_model
    patched = MinimalPairs(model, pairs)
    donor = np.array([-alone(model, donor) for _, donor in pairs])
    own = np.array([alone(model, receiver) for receiver, _ in pairs])
    assert np.abs(donor - own).max() > 0.01, "the pairs do not differ: this test would see nothing"
    np.testing.assert_allclose(patched.margins(), own, atol=1e-4)
    for stack in ("encoder", "decoder"):
        last = len(layers_of(model, stack)) - 1
        np.testing.assert_allclose(patched.margins(layers=[(stack, last)]), donor, atol=1e-4)


def test_all_heads_with_the_changed_position_give_the_donors_choice(any_model, pairs):
    """What heads do not carry is the stream at the changed piece itself: both together are the donor."""
    model, _ = any_model
    patched = MinimalPairs(model, pairs)
    donor = [-alone(model, donor) for _, donor in pairs]
    assert not np.allclose(patched.margins(heads=all_heads(model)), patched.margins(), atol=1e-3)
    changed = [{"encoder": [3], "decoder": []}, {"encoder": [1], "decoder": []}]
    first = patched.margins(layers=[("encoder", 0)], where=changed)
    assert not np.allclose(first, patched.margins(), atol=1e-3)
    everywhere = [{"encoder": range(len(receiver.source_ids))} for receiver, _ in pairs]
    np.testing.assert_allclose(patched.margins(layers=[("encoder", 0)], where=everywhere), donor, atol=1e-4)


def test_a_stack_whose_positions_are_not_named_is_patched_at_all_of_them(any_model, pairs):
    model, _ = any_model
    patched, heads = MinimalPairs(model, pairs), all_heads(model)
    everywhere = patched.margins(heads=heads)
    np.testing.assert_allclose(patched.margins(heads=heads, where=[{}, {}]), everywhere, atol=1e-4)
    own = [{"encoder": range(len(receiver.source_ids))} for receiver, _ in pairs]
    np.testing.assert_allclose(patched.margins(heads=heads, where=own), everywhere, atol=1e-4)
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


def test_no_hook_is_left(any_model, pairs):
    model, _ = any_model
    donor = record(model, [pairs[0][1].source_ids], [pairs[0][1].target_ids])
    before = sum(len(m._forward_pre_hooks) + len(m._forward_hooks) for m in model.modules())
    everything = patch(model, donor, heads=all_heads(model), layers=donor.stream)
    with pytest.raises(RuntimeError, match="broken"), everything:
        raise RuntimeError("broken")
    assert sum(len(m._forward_pre_hooks) + len(m._forward_hooks) for m in model.modules()) == before


def test_unequal_lengths_are_refused(any_model, pairs):
    receiver, donor = pairs[0]
    longer = Choice((*donor.source_ids, 2), donor.prefix_ids, 60, 50)
    with pytest.raises(UserError, match=r"equal lengths: pair 1 has \d+ and \d+ source tokens"):
        MinimalPairs(any_model[0], [pairs[0], (receiver, longer)])
    with pytest.raises(UserError, match="target tokens"):
        MinimalPairs(any_model[0], [(receiver, Choice(donor.source_ids, (7, 9), 60, 50))])


def test_a_layer_or_position_that_is_not_there_is_named(any_model, pairs):
    patched = MinimalPairs(any_model[0], pairs)
    with pytest.raises(UserError, match="no encoder layer 7 here: expected 0 to 1"):
        patched.margins(layers=[("encoder", 7)])
    with pytest.raises(UserError, match="no head 5 in cross layer 0"):
        patched.margins(heads=[("cross", 0, 5)])
    with pytest.raises(UserError, match="no encoder position 99 here"):
        patched.margins(heads=[("encoder", 0, 0)], where=[{"encoder": [99]}, {}])
