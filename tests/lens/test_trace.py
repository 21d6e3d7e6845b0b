"""A trace is what generation attended to, for exactly that hypothesis, and leaves the model as it was."""

from dataclasses import replace

import numpy as np
import pytest
import tiny
import torch
from tiny import SENTENCES
from transformers import BertConfig, BertModel

from seq2see.errors import UserError
from seq2see.lens import trace_hypotheses, trace_texts
from seq2see.lens.data.trace_data import TOP
from seq2see.lens.show.maps import facts
from seq2see.passes.attention_kinds import KINDS
from seq2see.tokenizer.encoding import encode_source

SOURCES = [SENTENCES[0], "The box.", SENTENCES[2]]
CLOSE = {"rtol": 0, "atol": 1e-5}


def generated(model, tokenizer, sources, **settings):
    """Hypotheses, and the attention that generation itself recorded for them, gathered along the beams."""
    torch.manual_seed(0)
    ids = [encode_source(tokenizer, text) for text in sources]
    width = max(map(len, ids))
    input_ids = torch.tensor([row + [0] * (width - len(row)) for row in ids])
    mask = torch.tensor([[1] * len(row) + [0] * (width - len(row)) for row in ids])
    model.set_attn_implementation("eager")
    try:
        out = model.generate(input_ids, attention_mask=mask, output_attentions=True, return_dict_in_generate=True,
                             **{"no_repeat_ngram_size": 2, "max_length": 14} | settings)
    finally:
        model.set_attn_implementation("sdpa")
    rows = []
    for b, source in enumerate(ids):
        target = out.sequences[b, 1:].tolist()
        target = target[: target.index(2) + 1] if 2 in target else target
        beams = settings.get("num_beams", 1) > 1
        beam = out.beam_indices[b, : len(target)].tolist() if beams else [b] * len(target)
        S, T = len(source), len(target)
        decoder = np.zeros((len(out.decoder_attentions[0]), 2, T, T), dtype=np.float32)
        cross = np.zeros((*decoder.shape[:3], S), dtype=np.float32)
        for t, row in enumerate(beam):
            for layer in range(len(decoder)):
                decoder[layer, :, t, : t + 1] = out.decoder_attentions[t][layer][row, :, -1].numpy()
                cross[layer, :, t] = out.cross_attentions[t][layer][row, :, -1, :S].numpy()
        encoder = np.stack([layer[b, :, :S, :S].numpy() for layer in out.encoder_attentions])
        rows.append((target, {"encoder": encoder, "decoder": decoder, "cross": cross}))
    return rows


def assert_maps_are(traces, rows):
    for trace, (target, maps) in zip(traces, rows, strict=True):
        assert trace.target_ids == tuple(target)
        for kind in KINDS:
            np.testing.assert_allclose(trace.maps(kind), maps[kind], **CLOSE, err_msg=kind)
            assert trace.maps(kind).std() > 0.01, "attention is uniform: this test would see nothing"


@pytest.mark.few(5)
@pytest.mark.parametrize("settings", [
    {"num_beams": 1, "do_sample": False}, {"num_beams": 3, "do_sample": False}, {"do_sample": True, "top_k": 0},
    {"num_beams": 3, "do_sample": True, "top_k": 0, "temperature": 2.0},
], ids=["greedy", "beam", "sampling", "beam sampling"])
@pytest.mark.parametrize("any_model", tiny.KINDS, indirect=True)
def test_maps_are_what_generation_attended_to(any_model, settings):
    """Sources of unlike length in one batch, so with padding, in generation and here."""
    model, tokenizer = any_model
    rows = generated(model, tokenizer, SOURCES, **settings)
    assert_maps_are(trace_hypotheses(model, tokenizer, SOURCES, [target for target, _ in rows]), rows)


TEXTS = ["Le chat n'a pas traversé.", "La rue", "Le sac était trop grand."]


def test_maps_of_a_given_text_are_what_generation_attends_to_when_it_must_write_it(any_model):
    model, tokenizer = any_model
    languages = {} if model.config.model_type == "t5" else {"source_language": "en", "target_language": "fr"}
    traces = trace_texts(model, tokenizer, SOURCES, TEXTS, **languages)  # a T5 is told them in words of the source
    wanted = [trace.target_ids for trace in traces]
    rows = generated(model, tokenizer, SOURCES, num_beams=1, do_sample=False, max_length=40, no_repeat_ngram_size=0,
                     prefix_allowed_tokens_fn=lambda b, ids: [(*wanted[b], 0)[min(len(ids) - 1, len(wanted[b]))]])
    assert_maps_are(traces, rows)
    for text, trace in zip(TEXTS, traces, strict=True):
        assert trace.target_text == text and trace.score is trace.engine_log_prob is None
        first = model.generation_config.forced_bos_token_id
        assert trace.given == (first is not None) and (first is None or trace.target_ids[0] == first)
        assert trace.target_ids[-1] == 2 and trace.target[-1].special


@pytest.mark.parametrize(("engine", "precision", "difference", "told"), [
    ("ctranslate2", "int8", -2.5, "int8 and float32 log-probabilities differ by 2.500"),
    ("ctranslate2", "int8", 0.0099, None),
    ("torch", "float32", 3.0, None),  # the same weights: its settings changed the scores that it searched by
])
def test_the_engine_s_log_probability_is_told_where_it_differs_by_more_than_rounding(
    trace, engine, precision, difference, told
):
    line = facts(replace(trace, engine=engine, precision=precision, engine_log_prob=trace.log_prob + difference))
    assert line.endswith(f" · {told}" if told else f"from {engine}, {precision}")


def test_bertviz_is_given_what_it_takes(trace):
    """As BertViz's head_view and model_view check it: a list of layers [1,H,rows,columns], and a token for each."""
    arguments = trace.to_bertviz()
    encoder, decoder = arguments.pop("encoder_tokens"), arguments.pop("decoder_tokens")
    sizes = {"encoder": (encoder, encoder), "decoder": (decoder, decoder), "cross": (decoder, encoder)}
    assert set(arguments) == {f"{kind}_attention" for kind in KINDS}
    for kind in KINDS:
        for layer, expected in zip(arguments[f"{kind}_attention"], trace.maps(kind), strict=True):
            assert layer.shape == (1, 2, *map(len, sizes[kind]))
            np.testing.assert_array_equal(layer[0], expected)
    assert decoder[:2] == ["<s>", "<2fr>"] and "</s>" not in decoder, "the decoder reads what it wrote before"
    with pytest.raises(UserError, match="expected raw or norm"):
        trace.to_bertviz("rollout")


@pytest.mark.parametrize(("look", "said"), [
    (lambda model, tokenizer: trace_texts(model, tokenizer, "The cat.", ["Le chat."]), "sources is a single text"),
    (lambda model, tokenizer: trace_texts(model, tokenizer, ["The cat."], "Le chat."), "targets is a single text"),
    (lambda *loaded: trace_hypotheses(*loaded, ["a"], [[7]], views="norm"), 'views="norm": expected a list of names'),
    (lambda *loaded: trace_hypotheses(*loaded, ["box " * 70], [[7, 2]]), r"source has \d+ tokens, the model takes 64"),
    (lambda *loaded: trace_hypotheses(*loaded, ["box"], [[7] * 70]), "target has 70 tokens, the model takes 64"),
    (lambda _, tokenizer: trace_hypotheses(BertModel(BertConfig(
        hidden_size=8, num_hidden_layers=1, num_attention_heads=1, intermediate_size=8, vocab_size=9)), tokenizer,
        ["a"], [[1]]), "BertModel is not an encoder-decoder"),
])
def test_what_cannot_be_looked_into_is_refused(seq2see, look, said):
    with pytest.raises(UserError, match=said):
        look(*seq2see)


def test_a_batch_of_unequal_lengths_equals_one_by_one_and_rows_sum_to_one(any_model):
    model, tokenizer = any_model
    targets = [[7, 9, 8, 2], [40, 41, 42, 43, 44, 45, 2], [9, 2]]
    together = trace_hypotheses(model, tokenizer, SOURCES, targets)
    for source, target, trace in zip(SOURCES, targets, together, strict=True):
        [alone] = trace_hypotheses(model, tokenizer, [source], [target])
        for kind in KINDS:
            maps = trace.maps(kind)
            assert maps.shape[2:] == (len(trace.row_tokens(kind)), len(trace.column_tokens(kind)))
            np.testing.assert_allclose(maps, alone.maps(kind), **CLOSE)
            np.testing.assert_allclose(maps.sum(-1), 1, **CLOSE)
        assert not np.triu(trace.maps("decoder"), k=1).any()
        np.testing.assert_allclose(trace.log_probs, alone.log_probs, rtol=0, atol=1e-4)
        assert (trace.source, trace.target, trace.inputs) == (alone.source, alone.target, alone.inputs)


def test_probabilities_are_the_models_own(seq2see):
    model, tokenizer = seq2see
    target = tokenizer.encode_target("Le chat.", language="fr")
    [trace] = trace_hypotheses(model, tokenizer, ["The cat."], [target], given=1)
    source = torch.tensor([tokenizer.encode_source("The cat.")])
    with torch.no_grad():
        logits = model(source, decoder_input_ids=torch.tensor([[1, *target[:-1]]])).logits[0]
    expected = logits.log_softmax(-1)
    np.testing.assert_allclose(trace.log_probs, expected[range(len(target)), target], **CLOSE)
    entropies = torch.distributions.Categorical(logits=expected).entropy()
    np.testing.assert_allclose(trace.entropies, entropies, rtol=0, atol=1e-4)
    assert trace.log_prob == pytest.approx(float(trace.log_probs[1:].sum()), abs=1e-5), "a given token is no choice"
    for t, step in enumerate(trace.top):
        values, ids = expected[t].topk(TOP)
        assert [candidate.id for candidate in step] == ids.tolist()
        np.testing.assert_allclose([candidate.log_prob for candidate in step], values, **CLOSE)
        assert step[0].text == tokenizer.convert_ids_to_tokens(ids[0].item())


def test_a_step_reads_what_the_step_before_predicted(trace):
    assert [trace.inputs[0].text, trace.target[0].text, trace.target[-1].text] == ["<s>", "<2fr>", "</s>"]
    assert trace.inputs[1:] == trace.target[:-1]
    for kind in ("cross", "decoder"):
        assert trace.row_tokens(kind) == trace.target
        assert trace.row_tokens(kind, rows="reads") == trace.inputs
    assert trace.row_tokens("encoder", rows="reads") == trace.column_tokens("encoder") == trace.source
    assert trace.column_tokens("cross") == trace.source and trace.column_tokens("decoder") == trace.inputs


def test_special_tokens_typed_by_a_user_are_text(any_model):
    model, tokenizer = any_model
    [trace] = trace_hypotheses(model, tokenizer, ["a </s> <pad> <2fr> b"], [[7, 2]])
    assert [token.text for token in trace.source if token.special] == ["</s>"]
    assert trace.source[-1].special


@pytest.mark.parametrize("fails", [False, True])
def test_dropout_is_off_while_looking_and_the_model_is_left_as_found(any_model, fails):
    model, tokenizer = any_model
    [calm] = trace_hypotheses(model, tokenizer, ["The cat."], [[7, 2]])
    model.train()
    next(model.get_encoder().children()).eval()
    modes = lambda: [(m.training, getattr(m, "config", model.config)._attn_implementation)  # noqa: E731
                     for m in model.modules()]
    before = modes()
    try:
        if fails:
            with pytest.raises((IndexError, RuntimeError)):
                trace_hypotheses(model, tokenizer, ["The cat."], [[10**6, 2]])
        else:
            [trained] = trace_hypotheses(model, tokenizer, ["The cat."], [[7, 2]])
            np.testing.assert_array_equal(calm.maps("cross"), trained.maps("cross"))
        assert modes() == before
    finally:
        model.eval()
