"""One prediction taken apart: the parts sum to what they are the parts of, in every family; on the packaged models they
are what is computed independently, and what is said of being without a part is what a real pass gives."""

import copy
import json
import math

import families
import numpy as np
import pytest
import tiny
import torch
import transformers
from families import LIKE_BART, LIKE_T5
from independent import Network
from independent_machine import Machine
from tiny import SENTENCES

from seq2see import Translator
from seq2see.errors import UserError
from seq2see.lens import ablate, trace_hypotheses
from seq2see.lens.changes.means import feed_forward_means, head_means
from seq2see.lens.sums.machine import machine
from seq2see.passes.feed_forward import feed_forward_sites
from seq2see.passes.forced_pass import eval_mode, forced_pass
from seq2see.passes.hooks import all_heads, replaced
from seq2see.pretrained import HOME
from seq2see.rules import LEAST_CHANGE

SENTENCE = SENTENCES[0]
TARGET = [7, 9, 8, 11, 30, 2]
FAMILIES = [name for name in families.CONFIGS if name not in ("FSMT", "EncoderDecoder", "LED", "LongT5", "ProphetNet")]
OTHERS = {
    "gated T5": lambda: transformers.T5Config(**LIKE_T5, feed_forward_proj="gated-gelu", tie_word_embeddings=False),
    "sparse Switch": lambda: transformers.SwitchTransformersConfig(
        **LIKE_T5, num_decoder_layers=2, num_experts=2, num_sparse_encoder_layers=1, num_sparse_decoder_layers=1),
    "NLLB-MoE": lambda: transformers.NllbMoeConfig(
        **LIKE_BART, num_experts=2, encoder_sparse_step=2, decoder_sparse_step=2),
    "deep Marian": lambda: transformers.MarianConfig(**(LIKE_BART | {"decoder_layers": 13, "max_length": 12})),
}
INSEPARABLE = ("BART", "mBART", "PLBart", "bart")  # a norm after embeddings and positions
CLOSE = {"rtol": 0, "atol": 1e-4}


def made(name):
    """A model of a family with biases and norms that are not 0 and 1, and a tokenizer."""
    if name in tiny.KINDS:
        model, tokenizer = copy.deepcopy(tiny.make(name)[0]), tiny.make(name)[1]
    elif name in OTHERS:
        torch.manual_seed(0)
        model, tokenizer = transformers.AutoModelForSeq2SeqLM.from_config(OTHERS[name]()), tiny.foreign_tokenizer()
        model.generation_config.update(forced_bos_token_id=None, forced_eos_token_id=None)
        tiny.spread_out(model, std=0.3)
    else:
        model, tokenizer = families.made(name), tiny.foreign_tokenizer()
    torch.manual_seed(1)
    with torch.no_grad():
        for weight in model.parameters():
            if weight.dim() == 1:
                weight.add_(torch.randn_like(weight) * 0.3)
        for buffer_name, buffer in model.named_buffers():
            if buffer_name == "final_logits_bias":
                buffer.normal_()
    return model, tokenizer


def traced(name, source=SENTENCE):
    model, tokenizer = made(name)
    [trace] = trace_hypotheses(model, tokenizer, [source], [TARGET])
    return model, tokenizer, trace


def summed(parts):
    """The sum of all parts, of numbers as JSON has them."""
    each = [np.sum(parts[name]) for name in ("embedding", "position", "constant", "bias", "feed_forward")]
    return sum(each) + sum(np.sum(layer) for kind in ("decoder", "cross") for layer in parts[kind])


def taken(encoder):
    """[S]: the sum of the encoder's parts."""
    return np.sum([*encoder["attention_rows"], *encoder["feed_forward"], encoder["start"], encoder["constant"]], axis=0)


@pytest.mark.few(5)
@pytest.mark.parametrize("name", [*families.some(FAMILIES), *[n for n in OTHERS if n != "deep Marian"],
                                  *tiny.KINDS])
@pytest.mark.parametrize("step", [0, pytest.param(3, marks=pytest.mark.long), 5])
def test_parts_sum_to_the_logit_and_the_margin_and_the_encoders_to_what_cross_attention_takes(name, step):
    model, tokenizer, trace = traced(name)
    found = machine(model, tokenizer, trace, step=step, seconds=0).plain()
    with eval_mode(model):
        logit_V = forced_pass(model, [trace.source_ids], [trace.target_ids])[0].logits[0, step].double()
    written, runner = TARGET[step], found["runner"]["id"]
    assert found["logit"] == pytest.approx(float(logit_V[written] - logit_V.mean()), abs=1e-4)
    assert found["margin"] == pytest.approx(float(logit_V[written] - logit_V[runner]), abs=1e-4)
    for figure, parts in ((found["logit"], found["parts"]["for"]), (found["margin"], found["parts"]["over"])):
        assert summed(parts) == pytest.approx(figure, abs=1e-4)
        encoder = {part: np.array(value) for part, value in parts["encoder"].items() if part != "neurons"}
        np.testing.assert_allclose(taken(parts["encoder"]), np.sum(parts["cross"], axis=(0, 1)), **CLOSE)
        np.testing.assert_allclose(encoder["attention"].sum(-1), encoder["attention_rows"], **CLOSE)
        np.testing.assert_allclose(encoder["heads"].sum(-1), encoder["attention_rows"].sum(-1), **CLOSE)
        assert np.abs(encoder["constant"]).max() > 1e-4 or "T5" in name or "Switch" in name or name == "t5"
    separable = name not in INSEPARABLE and "T5" not in name and "Switch" not in name and name != "t5"
    assert (found["positions"] is not None) == separable == (found["parts"]["for"]["position"] != 0)
    assert np.shape(found["strips"]["inputs"]) == (step + 1, 8) and len(found["lengths"]["decoder"][0]) == step + 1
    assert np.isfinite(found["strips"]["source"]).all()


@pytest.mark.few(2)
@pytest.mark.parametrize("name", ["gated T5", "sparse Switch", "NLLB-MoE", *tiny.MOST_KINDS])
def test_neurons_and_the_bias_sum_to_their_feed_forward_layer(name):
    model, tokenizer, trace = traced(name)
    found = machine(model, tokenizer, trace, step=3, seconds=0)
    experts = name in OTHERS and name != "gated T5"
    for layer, one in enumerate(found.own.neurons):
        site = feed_forward_sites(model, "decoder")[layer]
        assert (one is None) == (site.output is None) == (experts and layer == 1)
        if one is None:
            continue
        assert one.count == site.output.in_features == len(one.activations)
        assert one.active == (one.activations > 0).sum()
        for neuron in one.list:
            assert one.activations[neuron.number] == pytest.approx(neuron.activation)
        for neuron in (*one.list, *found.over.neurons[layer].list):
            assert len(neuron.raises) == len(set(neuron.raises)) == 5
        assert [neuron.adds for neuron in one.list] == sorted((neuron.adds for neuron in one.list), reverse=True)
        assert found.over.neurons[layer].activations is None
    assert [one is None for one in found.own.encoder.neurons] == [experts and layer == 1 for layer in range(2)]


# --- on the packaged models, against an independent computation


@pytest.fixture(scope="module")
def storybook():
    return Translator.from_pretrained("storybook", engine="torch")


def look(translator, text, translation=None):
    translation = translation or translator(text, source="en", target="fr").text
    return translator.look_at(text, translation, source="en", target="fr")


def taken_apart(translator, trace, step, **how):
    with translator.inside() as (model, tokenizer):
        return machine(model, tokenizer, trace, step=step, folder=translator.folder, **how)


def alone(trace, step):
    network = Network(HOME / trace.model)
    return network, Machine(network, list(trace.source_ids), list(trace.target_ids), step)


@pytest.mark.few(1)
@pytest.mark.parametrize("step", [2, 11, 16])
def test_every_figure_is_what_is_computed_independently(storybook, step):
    trace = look(storybook, SENTENCE)
    found = taken_apart(storybook, trace, step).plain()
    network, own = alone(trace, step)
    runner, written = found["runner"]["id"], trace.target_ids[step]
    assert (found["id"], found["step"], found["vocabulary"]) == (written, step, len(own.logits))
    best = own.logits.argsort(descending=True).tolist()
    assert runner == next(id for id in best if network.decode([id]).strip().casefold()
                          != network.decode([written]).strip().casefold())
    assert [one["id"] for one in found["top"]] == best[:6]
    shown, raw = network.shown(own.logits, "fr"), own.logits.softmax(-1)
    for one in found["top"]:
        assert one["logit"] == pytest.approx(float(own.logits[one["id"]] - own.logits.mean()), abs=1e-4)
        assert one["raw"] == pytest.approx(float(raw[one["id"]]), abs=1e-5)
        assert one["chance"] == pytest.approx(float(shown[one["id"]]), abs=1e-4)
    for key, direction in (("for", own.direction(written)), ("over", own.direction(written, runner))):
        parts, expected = found["parts"][key], own.parts(direction, neurons=True)
        inside, encoder = parts.pop("neurons"), parts.pop("encoder")
        for name, value in parts.items():
            np.testing.assert_allclose(value, expected[name], **CLOSE, err_msg=f"{key} {name}")
        for name in set(encoder) - {"neurons"}:
            np.testing.assert_allclose(encoder[name], expected["encoder"][name], **CLOSE, err_msg=f"{key} {name}")
        for layer, (one, adds) in enumerate(zip(inside, expected["neurons"], strict=True)):
            assert [neuron["number"] for neuron in one["list"]] == adds.topk(5).indices.tolist()
            np.testing.assert_allclose([neuron["adds"] for neuron in one["list"]], adds.topk(5).values, **CLOSE)
            assert one["bias"] + float(adds.sum()) == pytest.approx(parts["feed_forward"][layer], abs=1e-4)
            assert one["active"] == int((own.inner["decoder", layer][step] > 0).sum())
        for layer, (neurons, adds) in enumerate(zip(encoder["neurons"], expected["encoder"]["neurons"], strict=True)):
            assert [neuron["number"] for neuron in neurons] == adds.topk(5).indices.tolist()
            for neuron in neurons:
                on = own.inner["encoder", layer][:, neuron["number"]].topk(3)
                tokens = [trace.source[s].text for value, s in zip(*on, strict=True) if value > 0]
                assert neuron["on"] == tokens
    for stack, rows in (("encoder", len(trace.source)), ("decoder", step + 1)):
        np.testing.assert_allclose(found["lengths"][stack], own.lengths(stack)[:, :rows], rtol=0, atol=1e-3)


@pytest.mark.few(1)
@pytest.mark.parametrize("step", [2, 11])
def test_without_a_head_or_a_layer_the_margin_is_that_of_a_pass_without_it(storybook, step):
    trace = look(storybook, SENTENCE)
    found = taken_apart(storybook, trace, step).plain()
    network, own = alone(trace, step)
    runner = found["runner"]["id"]
    assert found["margin"] == pytest.approx(own.margin(runner), abs=1e-3)
    assert found["without"]["averaged_over"] == len(network.examples["sentences"])
    heads = {(one["kind"], one["layer"], one["head"]): one["margin"] for one in found["without"]["heads"]}
    assert sorted(heads) == sorted(network.heads())
    for off, margin in heads.items():
        assert margin == pytest.approx(own.margin(runner, off), abs=1e-3), off
    for one in found["without"]["feed_forward"]:
        assert one["margin"] == pytest.approx(own.margin(runner, ("feed_forward", one["layer"], 0)), abs=1e-3)
    assert len(found["without"]["feed_forward"]) == network.config["decoder_layers"]


@pytest.mark.few(1)
@pytest.mark.parametrize("step", [2, 9, 11])
def test_the_head_that_the_margin_needs_most_steers_the_layer_whose_part_it_changes_most(storybook, step):
    trace = look(storybook, SENTENCE)
    found = taken_apart(storybook, trace, step).plain()
    _, own = alone(trace, step)
    needed = min(found["without"]["heads"], key=lambda one: one["margin"])
    head, over = (needed["kind"], needed["layer"], needed["head"]), own.direction(found["id"], found["runner"]["id"])
    before, after = own.parts(over)["feed_forward"].tolist(), own.feed_forward_without(over, head)
    later = range(0 if head[0] == "encoder" else head[1], len(before))
    layer = max(later, key=lambda one: abs(after[one] - before[one]))
    if abs(after[layer] - before[layer]) < LEAST_CHANGE:
        assert found["steers"] is None
        return
    steers = found["steers"]
    assert (steers["kind"], steers["layer"], steers["head"], steers["feed_forward"]) == (*head, layer)
    assert (steers["before"], steers["after"]) == pytest.approx((before[layer], after[layer]), abs=1e-3)
    assert step != 11 or head == ("decoder", 1, 0), "the head that looks back at chat"


@pytest.mark.few(2)
@pytest.mark.parametrize("name", ["marian", "bart", "t5", "NLLB-MoE"])
def test_in_other_families_too_the_margins_are_those_of_real_passes(name):
    model, tokenizer, trace = traced(name)
    found = machine(model, tokenizer, trace, step=3)
    means, sentences = head_means(model, tokenizer, trace, None)
    layers, _ = feed_forward_means(model, tokenizer, trace, None)
    assert found.without.averaged_over == sentences == 0

    def margin():
        with eval_mode(model):
            logit_V = forced_pass(model, [trace.source_ids], [trace.target_ids])[0].logits[0, 3].double()
        return float(logit_V[found.written.id] - logit_V[found.runner.id])

    assert [(one.kind, one.layer, one.head) for one in found.without.heads] == [*map(tuple, all_heads(model))]
    changed = []
    for one in found.without.heads:
        with ablate(model, [(one.kind, one.layer, one.head)], replace="mean", means=means):
            assert one.margin == pytest.approx(margin(), abs=1e-3)
        changed.append(abs(one.margin - found.margin))
    for one, site in zip(found.without.feed_forward, feed_forward_sites(model, "decoder"), strict=True):
        with replaced([(site.last, "out", lambda out, mean=layers[one.layer]: mean.expand_as(out))]):
            assert one.margin == pytest.approx(margin(), abs=1e-3)
        changed.append(abs(one.margin - found.margin))
    assert max(changed) > 0.01


def test_a_mean_of_a_feed_forward_layer_is_that_of_its_outputs_over_all_steps(storybook):
    trace = look(storybook, SENTENCE)
    with storybook.inside() as (model, tokenizer):
        means, count = feed_forward_means(model, tokenizer, trace, storybook.folder)
    network = Network(HOME / "storybook")
    assert count == len(network.examples["sentences"]) > 1
    for layer, mean_D in means.items():
        np.testing.assert_allclose(mean_D, network.means("fr")["feed_forward", layer][0], **CLOSE)


# --- what is shown, and what is refused


def test_the_runner_up_is_never_the_same_word_in_another_case_or_in_another_token():
    model, tokenizer = tiny.make("marian")
    order = ["▁The", "▁the", "▁cat"]
    ids = tokenizer.convert_tokens_to_ids(order)
    assert len(set(ids)) == 3 and tokenizer.unk_token_id not in ids
    model = copy.deepcopy(model)
    model.final_logits_bias[0, ids] = torch.tensor([300.0, 200.0, 100.0])
    [trace] = trace_hypotheses(model, tokenizer, [SENTENCE], [[ids[0], 9, 2]])
    found = machine(model, tokenizer, trace, step=0, seconds=0)
    assert (found.written.text, found.runner.text) == ("The", "cat")
    assert [one.id for one in found.top[:3]] == ids and [one.text for one in found.top[:3]] == ["The", "the", "cat"]


def test_every_token_of_a_word_in_several_has_its_own_machine(storybook):
    trace = look(storybook, "The otorhinolaryngologist did not cross.", "L'oto-rhino n'a pas traversé la rue.")
    spelt = [step for step, token in enumerate(trace.target) if token.word is not None and any(
        other is not token and other.word == token.word for other in trace.target)]
    assert len(spelt) > 1
    for step in spelt:
        found = taken_apart(storybook, trace, step, seconds=0).plain()
        _, own = alone(trace, step)
        assert summed(found["parts"]["for"]) == pytest.approx(found["logit"], abs=1e-4)
        assert found["logit"] == pytest.approx(float(own.logits[found["id"]] - own.logits.mean()), abs=1e-4)
        assert found["word"].strip("·") in trace.target[step].text or found["word"].startswith("<0x")


def test_a_long_source_has_the_sums_of_its_rows_and_no_map(storybook):
    text = " ".join(["The cat did not cross the street because it was too tired."] * 3)
    trace = look(storybook, text, "Le chat n'a pas traversé la rue.")
    assert len(trace.source_ids) > 30
    found = taken_apart(storybook, trace, 2, seconds=0).plain()
    encoder = found["parts"]["for"]["encoder"]
    assert encoder["attention"] is None and np.shape(encoder["attention_rows"]) == (2, len(trace.source_ids))
    np.testing.assert_allclose(taken(encoder), np.sum(found["parts"]["for"]["cross"], axis=(0, 1)), **CLOSE)


def test_without_is_left_out_where_its_passes_take_too_long(storybook):
    trace = look(storybook, SENTENCE)
    found = taken_apart(storybook, trace, 11, seconds=0)
    assert found.without is None is found.steers and found.own.total() == pytest.approx(found.logit, abs=1e-4)
    assert taken_apart(storybook, trace, 11, seconds=math.inf).without


@pytest.mark.few(2)
@pytest.mark.parametrize(("name", "step", "said"), [
    ("marian", 6, "there is no step 6 here: expected 0 to 5"),
    ("marian", -1, "there is no step -1 here: expected 0 to 5"),
    ("deep Marian", 1, "the decoder has 13 layers: the whole machine is shown of models with up to 12"),
    ("FSMT", 1, "FSMTForConditionalGeneration has activations in another layout"),
    ("EncoderDecoder", 1, "is not built like BART or T5"),
])
def test_what_cannot_be_taken_apart_is_refused_in_one_line(name, step, said):
    model, tokenizer, trace = traced(name)
    with pytest.raises(UserError, match=said) as told:
        machine(model, tokenizer, trace, step=step)
    assert "\n" not in str(told.value)


def test_parts_that_do_not_sum_to_the_logits_are_not_shown():
    model, tokenizer, trace = traced("marian")
    hook = model.lm_head.register_forward_hook(lambda module, args, out: 5 * torch.tanh(out / 5))
    try:
        with pytest.raises(UserError, match="has activations in another layout"):
            machine(model, tokenizer, trace, step=1)
    finally:
        hook.remove()


def test_the_plain_form_is_json_and_has_the_fields_that_the_page_reads(storybook):
    found = taken_apart(storybook, look(storybook, SENTENCE), 11).plain()
    assert json.loads(json.dumps(found, allow_nan=False)) == found
    fields = ("step word id runner logit margin vocabulary top lengths strips positions parts without steers",
              "embedding position constant decoder cross bias feed_forward neurons encoder",
              "start attention attention_rows heads feed_forward constant neurons")
    parts = found["parts"]["for"]
    for one, names in zip((found, parts, parts["encoder"]), fields, strict=True):
        assert sorted(one) == sorted(names.split())
    assert (found["word"], found["runner"]["text"], found["top"][0]["text"]) == ("il", "elle", "il")
