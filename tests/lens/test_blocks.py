"""What the blocks and neurons of the decoder contribute to a logit, against the network taken apart by hand in float64,
and for every family that the lens takes."""

import families
import numpy as np
import pytest
import tiny
import torch
import transformers
from by_hand import ByHand
from families import LIKE_BART, LIKE_T5
from tiny import SENTENCES

from seq2see.errors import UserError
from seq2see.lens import logit_attribution, top_activations, top_neurons, trace_hypotheses, trace_texts
from seq2see.lens.data.trace_data import TOP

TARGET = [7, 9, 8, 11, 30, 2]
CLOSE = {"rtol": 0, "atol": 1e-4}
FAMILIES = [name for name in families.CONFIGS if name not in ("FSMT", "EncoderDecoder", "LED", "LongT5", "ProphetNet")]
EXPERTS = {
    "sparse Switch": lambda: transformers.SwitchTransformersConfig(
        **LIKE_T5, num_decoder_layers=2, num_experts=2, num_sparse_encoder_layers=1, num_sparse_decoder_layers=1),
    "NLLB-MoE": lambda: transformers.NllbMoeConfig(
        **LIKE_BART, num_experts=2, encoder_sparse_step=2, decoder_sparse_step=2),
}
GATED = transformers.T5Config(**LIKE_T5, feed_forward_proj="gated-gelu", tie_word_embeddings=False)


@pytest.fixture(scope="module")
def traced(uneven_model):
    model, tokenizer = uneven_model
    [trace] = trace_hypotheses(model, tokenizer, SENTENCES[:1], [TARGET])
    return model, tokenizer, trace, ByHand(model, trace.source_ids, trace.target_ids)


def from_config(config):
    torch.manual_seed(0)
    model = transformers.AutoModelForSeq2SeqLM.from_config(config)
    model.generation_config.update(forced_bos_token_id=None, forced_eos_token_id=None)
    return tiny.spread_out(model, std=0.3)


def family(name):
    if name == "gated T5":
        return from_config(GATED), tiny.foreign_tokenizer()
    return (from_config(EXPERTS[name]()) if name in EXPERTS else families.made(name)), tiny.foreign_tokenizer()


# --- direct logit attribution


@pytest.mark.parametrize("contrast", [None, 12])
def test_each_part_of_a_logit_is_what_is_computed_by_hand(traced, contrast):
    model, tokenizer, trace, hand = traced
    found = logit_attribution(model, tokenizer, trace, contrast=contrast)

    def own(logits_TV):
        logits_TV = logits_TV + torch.zeros(len(TARGET), 1)
        chosen = logits_TV[range(len(TARGET)), TARGET]
        return (chosen if contrast is None else chosen - logits_TV[:, contrast]).numpy()

    np.testing.assert_allclose(found.logits, own(hand.logits), **CLOSE)
    np.testing.assert_allclose(found.embedding, own(hand.logits_of(hand.parts["embedding",])), **CLOSE)
    constant = hand.logits_of(hand.parts["constant",]) + hand.bias()
    np.testing.assert_allclose(found.constant, own(constant), **CLOSE)
    for kind in ("decoder", "cross"):
        for layer, heads_HT in enumerate(getattr(found, kind)):
            for head, part_T in enumerate(heads_HT):
                np.testing.assert_allclose(part_T, own(hand.logits_of(hand.parts[kind, layer, head])), **CLOSE)
    for layer, part_T in enumerate(found.feed_forward):
        whole = sum(part for name, part in hand.parts.items() if name[:2] in (("neuron", layer), ("bias", layer)))
        np.testing.assert_allclose(part_T, own(hand.logits_of(whole)), **CLOSE)
    assert min(np.abs(found.cross).max(), np.abs(found.feed_forward).max()) > 0.01
    assert np.abs(found.constant).max() > 0.01 or hand.kind == "t5", "T5 has no biases"


@pytest.mark.parametrize("name", [*families.some(FAMILIES), *EXPERTS, "gated T5"])
def test_parts_sum_to_the_logit_and_to_the_difference_in_every_family(name):
    model, tokenizer = family(name)
    [trace] = trace_hypotheses(model, tokenizer, SENTENCES[:1], [TARGET])
    one, other = (logit_attribution(model, tokenizer, trace, token=token) for token in (9, 13))
    between = logit_attribution(model, tokenizer, trace, token=9, contrast=13)
    for found in (one, other, between):
        np.testing.assert_allclose(found.total(), found.logits, **CLOSE)
    for part in ("logits", "embedding", "decoder", "cross", "feed_forward", "constant"):
        np.testing.assert_allclose(getattr(between, part), getattr(one, part) - getattr(other, part), **CLOSE)
    assert one.decoder.shape == one.cross.shape == (2, 2, len(TARGET)) and one.feed_forward.shape == (2, len(TARGET))
    log_probs = [trace.top[t][0].log_prob for t in range(len(TARGET))]
    best = logit_attribution(model, tokenizer, trace, token=[step[0].id for step in trace.top])
    last = logit_attribution(model, tokenizer, trace, token=[step[TOP - 1].id for step in trace.top])
    gaps = np.array(log_probs) - [step[TOP - 1].log_prob for step in trace.top]
    np.testing.assert_allclose(best.total() - last.total(), gaps, **CLOSE)


def test_a_word_that_is_one_token_stands_for_it():
    model, tokenizer = tiny.make("marian")
    [trace] = trace_hypotheses(model, tokenizer, SENTENCES[:1], [TARGET])
    named = logit_attribution(model, tokenizer, trace, token="chat", contrast="▁rue")
    ids = tokenizer.convert_tokens_to_ids(["▁chat", "▁rue"])
    assert (set(named.tokens), set(named.contrasts)) == ({ids[0]}, {ids[1]})


@pytest.mark.parametrize(("wanted", "said"), [
    ({"token": "zébu zébu"}, r"'zébu zébu' is \d+ tokens \(.*\) of this model: choose a word that is one token"),
    ({"token": "chat", "contrast": ""}, "'' is no token of this model"),
    ({"token": 10**6}, "the model has no token 1000000: expected ids from 0 to"),
    ({"contrast": -1}, "the model has no token -1"),
    ({"contrast": [3, 4]}, "2 tokens for 6 steps: expected one, or one for each step"),
])
def test_what_is_no_token_is_refused(wanted, said):
    model, tokenizer = tiny.make("bart")
    [trace] = trace_hypotheses(model, tokenizer, SENTENCES[:1], [TARGET])
    with pytest.raises(UserError, match=said) as told:
        logit_attribution(model, tokenizer, trace, **wanted)
    assert "\n" not in str(told.value)


@pytest.mark.parametrize(("name", "why"), [("FSMT", "has activations in another layout"),
                                           ("EncoderDecoder", "is not built like BART or T5")])
def test_a_family_whose_blocks_cannot_be_reached_is_refused(name, why):
    model, tokenizer = family(name)
    [trace] = trace_hypotheses(model, tokenizer, SENTENCES[:1], [TARGET])
    for ask in (lambda: logit_attribution(model, tokenizer, trace),
                lambda: top_neurons(model, tokenizer, trace, layer=0, step=1)):
        with pytest.raises(UserError, match=why) as told:
            ask()
        assert "\n" not in str(told.value)


def test_parts_that_do_not_sum_to_the_logits_are_not_shown():
    """A model whose head does more than a product: the check is made on every answer."""
    model, tokenizer = tiny.make("marian")
    [trace] = trace_hypotheses(model, tokenizer, SENTENCES[:1], [TARGET])
    hook = model.lm_head.register_forward_hook(lambda module, args, out: 5 * torch.tanh(out / 5))
    try:
        with pytest.raises(UserError, match="has activations in another layout"):
            logit_attribution(model, tokenizer, trace)
    finally:
        hook.remove()


# --- neurons


@pytest.mark.parametrize("contrast", [None, 12])
@pytest.mark.parametrize("layer", [0, 1])
def test_neurons_are_those_that_wrote_the_token(traced, layer, contrast):
    model, tokenizer, trace, hand = traced
    step = 3
    neurons = {n: hand.logits_of(part)[step] for (kind, own, *n), part in (
        (name if len(name) == 3 else (*name, *[None] * (3 - len(name))), part) for name, part in hand.parts.items())
        if (kind, own) == ("neuron", layer) for n in n}
    expected = {n: float(row[TARGET[step]] - (0 if contrast is None else row[contrast])) for n, row in neurons.items()}
    found = top_neurons(model, tokenizer, trace, layer=layer, step=step, contrast=contrast, k=len(neurons), tokens=5)
    assert sorted(one.number for one in found) == sorted(neurons)
    sizes = [abs(one.contribution) for one in found]
    assert sizes == sorted(sizes, reverse=True) and sizes[0] > 1e-5
    for one in found:
        assert one.contribution == pytest.approx(expected[one.number], abs=1e-2 * sizes[0])
        if abs(one.activation) < 1e-3:
            continue
        per_unit = neurons[one.number] / one.activation
        top = float(per_unit.abs().max())
        for effects, largest in ((one.raises, True), (one.lowers, False)):
            values, _ = per_unit.topk(5, largest=largest)
            np.testing.assert_allclose([effect.per_unit for effect in effects], values, rtol=1e-2, atol=1e-3 * top)
            np.testing.assert_allclose([per_unit[effect.id] for effect in effects], values, rtol=1e-2, atol=1e-3 * top)
            assert all(effect.text for effect in effects)
    whole = logit_attribution(model, tokenizer, trace, contrast=contrast).feed_forward[layer, step]
    bias = hand.logits_of(hand.parts["bias", layer])[step]
    own_bias = float(bias[TARGET[step]] - (0 if contrast is None else bias[contrast]))
    assert sum(one.contribution for one in found) + own_bias == pytest.approx(whole, abs=1e-4)
    assert found[:3] == top_neurons(model, tokenizer, trace, layer=layer, step=step, contrast=contrast, k=3, tokens=5)


@pytest.mark.parametrize("stack", ["encoder", "decoder"])
def test_top_activations_are_the_largest_of_the_corpus(uneven_model, stack):
    model, tokenizer = uneven_model
    language = {"source_language": "en", "target_language": "fr"}
    sources, targets = SENTENCES[:3] * 2 + ["A box"], SENTENCES[3:5] + ["Le chat"] * 5
    found = top_activations(model, tokenizer, sources, targets, stack=stack, layer=1, neurons=[0, 5], k=4, **language)
    side = model.get_encoder() if stack == "encoder" else model.get_decoder()
    layers = side.block if model.config.model_type == "t5" else side.layers
    output = layers[1].layer[-1].DenseReluDense.wo if model.config.model_type == "t5" else layers[1].fc2
    values, names = [], []
    hook = output.register_forward_pre_hook(lambda module, args: values.append(args[0][0].detach()))
    for source, target in zip(sources, targets, strict=True):
        [trace] = trace_texts(model, tokenizer, [source], [target], **language)
        names.append([one.text for one in (trace.source if stack == "encoder" else trace.inputs)])
    hook.remove()
    for n, own in found.items():
        every = sorted(((abs(float(v)), i, t, float(v)) for i, value in enumerate(values)
                        for t, v in enumerate(value[:, n])), key=lambda one: -one[0])
        np.testing.assert_allclose([one.value for one in own], [one[3] for one in every[:4]], rtol=0, atol=1e-4)
        for one in own:
            assert float(values[one.sentence][one.position, n]) == pytest.approx(one.value, abs=1e-4)
            assert one.token.strip("▁ ") == names[one.sentence][one.position].strip("▁ ")


@pytest.mark.parametrize(("changed", "said"), [
    ({"layer": 9}, r"there is no decoder layer 9 here: expected 0 to \d$"),
    ({"layer": -1}, "there is no decoder layer -1"),
    ({"step": 6}, "there is no step 6 here: expected 0 to 5"),
    ({"token": "zébu"}, "choose a word that is one token"),
])
def test_a_neuron_that_is_not_there_is_refused(changed, said):
    model, tokenizer = tiny.make("marian")
    [trace] = trace_hypotheses(model, tokenizer, SENTENCES[:1], [TARGET])
    with pytest.raises(UserError, match=said):
        top_neurons(model, tokenizer, trace, **({"layer": 0, "step": 1} | changed))


@pytest.mark.parametrize(("changed", "said"), [
    ({"neurons": [64]}, "there is no neuron 64 in decoder layer 0: expected 0 to "),
    ({"stack": "middle"}, "there is no stack 'middle': expected encoder or decoder"),
    ({"targets": ["La boîte"]}, "2 sources and 1 targets: expected as many of each"),
    ({"sources": "A box"}, "sources is a single text"),
    ({"sources": ["A box", "box " * 200]}, r"source 1 has \d+ tokens, the model takes"),
])
def test_a_corpus_that_cannot_be_read_is_refused(changed, said):
    model, tokenizer = tiny.make("marian")
    asked = {"sources": ["A box", "A cat"], "targets": ["La boîte", "Le chat"], "layer": 0, "neurons": [0]} | changed
    with pytest.raises(UserError, match=said) as told:
        top_activations(model, tokenizer, asked.pop("sources"), asked.pop("targets"), **asked)
    assert "\n" not in str(told.value)


@pytest.mark.parametrize("name", EXPERTS)
def test_a_mixture_of_experts_has_no_neurons_and_says_which_layers_do(name):
    model, tokenizer = family(name)
    [trace] = trace_hypotheses(model, tokenizer, SENTENCES[:1], [TARGET])
    assert top_neurons(model, tokenizer, trace, layer=0, step=1)
    with pytest.raises(UserError, match="decoder layer 1 is a mixture of experts, .*; layers that have them: 0$"):
        top_neurons(model, tokenizer, trace, layer=1, step=1)
