"""Taking away what a head adds from one column, and nothing else."""

import pytest
import torch

from seq2see.errors import UserError
from seq2see.lens import trace_hypotheses
from seq2see.lens.attention_blocks import captured_blocks
from seq2see.lens.hooks import attention_sites
from seq2see.lens.interventions import other_values, silenced
from seq2see.lens.teacher_forcing import encode_source, encode_target, eval_mode, eval_with_eager_attention, forced_pass

SOURCE, TARGET = "The cat did not cross the street.", "Le chat n'a pas traversé la rue."


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
    given = []
    handle = site.output.register_forward_hook(lambda module, args, out: given.append(out))
    with eval_with_eager_attention(model), captured_blocks([site]) as block_of:
        forced_pass(model, [ids[0]] * 2, [ids[1]] * 2)
        vector_HCD = block_of(site, 0, *trace.maps(kind).shape[-2:]).vector_HCD
        other = "cross" if kind == "encoder" else "encoder"
        with silenced(model, [(kind, 0, 1, 2), (other, 0, 0, 0)]):
            forced_pass(model, [ids[0]] * 2, [ids[1]] * 2)
    handle.remove()
    rows = len(trace.row_pieces(kind))
    missing = (given[0] - given[1])[0, :rows]
    part_RD = torch.tensor(trace.maps(kind)[0, 1, :, 2])[:, None] * vector_HCD[1, 2]
    assert torch.allclose(missing, part_RD, atol=1e-5) and part_RD.norm() > 0.01
    if other == "cross":
        assert torch.equal(given[0][1], given[1][1])


def test_other_values_leave_the_weights_and_the_model_as_they_are(any_model, ids):
    model, tokenizer = any_model
    [trace] = trace_hypotheses(model, tokenizer, [SOURCE], [ids[1]])
    backwards = lambda site, value: value.flip(1)  # noqa: E731
    with eval_with_eager_attention(model):
        plain = forced_pass(model, [ids[0]], [ids[1]])[0].logits
        with other_values(model, lambda site, value: value, kinds=["cross"]):
            assert torch.equal(forced_pass(model, [ids[0]], [ids[1]])[0].logits, plain)
        with other_values(model, backwards, kinds=["cross"]):
            turned = forced_pass(model, [ids[0]], [ids[1]], output_attentions=True)[0]
        after = forced_pass(model, [ids[0]], [ids[1]])[0].logits
    assert not torch.allclose(turned.logits, plain, atol=1e-3) and torch.equal(after, plain)
    assert torch.allclose(turned.cross_attentions[0][0], torch.tensor(trace.cross["raw"][0]), atol=1e-6)


def test_what_is_not_there(any_model, ids):
    model = any_model[0]
    with pytest.raises(UserError, match="no head 99"), silenced(model, [("cross", 0, 99, 0)]):
        pass
    for error, match, cells in ((UserError, "no column 99", [("cross", 0, 0, 99)]),
                                (ValueError, "batch of 2", [("cross", 0, 0, 0)] * 2)):
        with eval_mode(model), pytest.raises(error, match=match), silenced(model, cells):
            forced_pass(model, [ids[0]], [ids[1]])
