"""Probabilities under any temperature from what the trace keeps, and layer by layer from the model's own head."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from tiny import SENTENCES

from seq2see.errors import UserError
from seq2see.lens import logit_lens, outlook, trace_hypotheses
from seq2see.lens.data.trace_data import TOP
from seq2see.tokenizer.encoding import encode_source

SOURCES = [SENTENCES[0], "The box."]
TARGETS = [[7, 9, 8, 11, 30, 2], [40, 41, 2]]


def logits_of(model, tokenizer, source, target):
    start = torch.tensor([[model.generation_config.decoder_start_token_id, *target[:-1]]])
    with torch.no_grad():
        return model(torch.tensor([encode_source(tokenizer, source)]), decoder_input_ids=start)


@pytest.mark.parametrize("temperature", [0.3, 1.0, 2.5])
def test_every_temperature_follows_from_the_kept_logits(uneven_model, temperature):
    model, tokenizer = uneven_model
    traces = trace_hypotheses(model, tokenizer, SOURCES, TARGETS)
    for source, target, trace in zip(SOURCES, TARGETS, traces, strict=True):
        expected = (logits_of(model, tokenizer, source, target).logits[0] / temperature).log_softmax(-1)
        found = outlook(trace, temperature=temperature, k=7)
        chosen = expected[range(len(target)), target]
        np.testing.assert_allclose(found.log_probs, chosen, rtol=2e-3, atol=2e-3)
        np.testing.assert_allclose(found.entropies, torch.distributions.Categorical(logits=expected).entropy(),
                                   atol=5e-3)
        for t, step in enumerate(found.top):
            assert [one.id for one in step] == expected[t].topk(7).indices.tolist()
            np.testing.assert_allclose([one.log_prob for one in step], expected[t].topk(7).values, rtol=2e-3, atol=2e-3)
    assert trace.logits.dtype == np.float16 and (trace.logits.max(-1) == 0).all()


def test_what_a_trace_cannot_tell_is_refused(trace):
    for temperature in (0, float("nan")):
        with pytest.raises(UserError, match="expected a number above 0"):
            outlook(trace, temperature=temperature)
    with pytest.raises(UserError, match=r"save it as \.npz"):
        outlook(replace(trace, logits=None))
    with pytest.raises(UserError, match="keeps the 20 best"):
        outlook(trace, k=21)


def test_the_last_layer_says_what_the_model_says(uneven_model):
    model, tokenizer = uneven_model
    traces = trace_hypotheses(model, tokenizer, SOURCES, TARGETS)
    for trace, lens in zip(traces, logit_lens(model, tokenizer, traces, k=TOP), strict=True):
        layers = len(trace.cross["raw"])
        assert lens.log_probs.shape == lens.ranks.shape == (layers, len(trace.target))
        np.testing.assert_allclose(lens.log_probs[-1], trace.log_probs, rtol=0, atol=1e-4)
        for step, expected in zip(lens.top[-1], trace.top, strict=True):
            assert [one.id for one in step] == [one.id for one in expected]
        for t, chosen in enumerate(trace.target_ids):
            ids = [one.id for one in trace.top[t]]
            assert (lens.ranks[-1, t] == ids.index(chosen)) if chosen in ids else lens.ranks[-1, t] >= TOP
        assert np.abs(lens.log_probs[0] - lens.log_probs[-1]).max() > 0.01, "all layers say the same"


def test_a_lower_layer_goes_through_final_norm_and_head(uneven_model):
    """Against the parts of each family by name."""
    model, tokenizer = uneven_model
    [trace] = trace_hypotheses(model, tokenizer, SOURCES[:1], TARGETS[:1])
    [lens] = logit_lens(model, tokenizer, [trace])
    kind, decoder = model.config.model_type, model.get_decoder()
    states = []
    layers = decoder.block if kind == "t5" else decoder.layers
    hook = layers[0].register_forward_hook(lambda _, args, out: states.append(out[0] if kind == "t5" else out))
    logits_of(model, tokenizer, SOURCES[0], TARGETS[0])
    hook.remove()
    with torch.no_grad():
        state = states[0]
        if kind == "t5":
            state = decoder.final_layer_norm(state)
            state = state * model.config.d_model**-0.5 if model.config.scale_decoder_outputs else state
        elif kind == "seq2see":
            state = decoder.layer_norm(state)
        logits = model.lm_head(state) + (model.final_logits_bias if kind in ("marian", "bart") else 0)
    expected = logits[0].log_softmax(-1)
    np.testing.assert_allclose(lens.log_probs[0], expected[range(6), TARGETS[0]], rtol=0, atol=1e-4)
    for t, step in enumerate(lens.top[0]):
        assert [one.id for one in step] == expected[t].topk(5).indices.tolist()
