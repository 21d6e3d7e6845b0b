"""Attributions are what independent float64 code finds, for every kind of model: finite differences of the output for
gradients, and other inputs for what is taken away.  It reads embeddings as arguments, and shares nothing with the lens.
"""

import copy
import re
from functools import partial
from unittest.mock import patch

import families
import numpy as np
import pytest
import tiny
import torch

from seq2see import Translator
from seq2see.errors import UserError
from seq2see.lens import attribute, trace_texts
from seq2see.lens.questions.attribution import WordAttribution
from seq2see.lens.views.attribution_methods import METHODS, ExplainedOutput, attributed, every_step
from seq2see.passes.forced_pass import decoder_start

TEXT, TRANSLATION = "The cat did not cross.", "Le chat n'a pas."
STEP = 1e-5  # of finite differences
HELD = pytest.approx


def root_mean_square_norm(module, x):
    return module.weight * x / (x.square().mean(-1, keepdim=True) + module.variance_epsilon).sqrt()


def wide(method):
    """T5 makes attention weights in float32, also of numbers in float64."""
    return patch.object(torch.Tensor, "float", torch.Tensor.double)(method)


class Independent:
    """The outputs [B] of one step of a model, in float64, as a function of the embeddings of both sides [B,C,D]."""

    def __init__(self, model, tokenizer, trace, output):
        self.model, self.output, self.unknown = copy.deepcopy(model).double().eval(), output, tokenizer.unk_token_id
        for module in self.model.modules():  # T5's would stay in float32
            if type(module).__name__ == "T5LayerNorm":
                module.forward = partial(root_mean_square_norm, module)
        self.read = torch.tensor([trace.source_ids]), torch.tensor([(decoder_start(model), *trace.target_ids[:-1])])
        self.tables = [stack.get_input_embeddings() for stack in (self.model.get_encoder(), self.model.get_decoder())]
        self.sizes = [ids.shape[1] for ids in self.read]
        self.x = self.embedded(*self.read)
        self.base = self.embedded(*(torch.full_like(ids, self.unknown) for ids in self.read))

    @torch.no_grad()
    def embedded(self, source, prefix):
        return torch.cat([table(ids) for table, ids in zip(self.tables, (source, prefix), strict=True)], dim=1)

    @wide
    @torch.no_grad()
    def of_embeddings(self, both_BCD):
        source, prefix = both_BCD.split(self.sizes, dim=1)
        return self.value(self.model(inputs_embeds=source, decoder_inputs_embeds=prefix,
                                     attention_mask=torch.ones(source.shape[:2])).logits)

    @wide
    @torch.no_grad()
    def of_ids(self, source, prefix):
        return self.value(self.model(input_ids=source, decoder_input_ids=prefix).logits)

    def value(self, logits):
        logits = logits[:, self.output.step].double()
        other = logits.logsumexp(-1) if self.output.other is None else logits[:, self.output.other]
        return (logits[:, self.output.id] - other).numpy()

    def slopes(self, at_CD, towards_CD):
        """[C]: how fast the output changes as each token moves in its direction."""
        columns = sum(self.sizes)
        moves = torch.eye(columns, dtype=torch.double)[..., None] * towards_CD  # [C,C,D]
        return self.slope(lambda size: self.of_embeddings(at_CD + size * moves))

    def slope(self, of_size):
        """Of a function at 0, by central differences of fourth order."""
        near, far = (of_size(size) - of_size(-size) for size in (STEP, 2 * STEP))
        return (8 * near - far) / (12 * STEP)

    def on_the_way(self, points):
        """[C]: integrated gradients by the midpoint rule; what it misses of a segment's known change goes to the tokens
        in proportion to their parts."""
        way, found = self.x - self.base, 0
        for at in np.arange(points):
            middle, ends = self.base + (at + 0.5) / points * way, [self.base + (at + e) / points * way for e in (0, 1)]
            part = self.slopes(middle, way) / points
            before, after = self.of_embeddings(torch.cat(ends))
            found = found + part + (after - before - part.sum()) * abs(part) / abs(part).sum()
        return found


def traced(model, tokenizer):
    languages = {"source_language": "en", "target_language": "fr"} if tokenizer.vocab_size < 460 else {}
    [trace] = trace_texts(model, tokenizer, [TEXT], [TRANSLATION], **languages)
    return trace


@pytest.fixture(scope="module")
def case(uneven_model):
    """(model, tokenizer, trace, outputs): one token of the translation, and one rather than another."""
    trace = traced(*uneven_model)
    at = len(trace.target) - 3
    outputs = [ExplainedOutput(at, trace.target_ids[at]),
               ExplainedOutput(at, trace.target_ids[at], trace.top[at][1].id)]
    return *uneven_model, trace, outputs


def both_sides(found):
    return np.concatenate([found.source, found.prefix], axis=-1)


def close(found, wanted, *, rel):
    np.testing.assert_allclose(found, wanted, rtol=0, atol=rel * np.abs(wanted).max())
    assert np.abs(wanted).max() > 0.001, "there is something to compare"


@pytest.mark.parametrize("any_model", tiny.KINDS, indirect=True)
def test_input_times_gradient_is_that_of_finite_differences(case):
    model, tokenizer, trace, outputs = case
    found = attributed(model, tokenizer, trace, "input_x_gradient", outputs)
    for r, output in enumerate(outputs):
        by_hand = Independent(model, tokenizer, trace, output)
        assert found.values[r] == HELD(by_hand.of_embeddings(by_hand.x)[0], abs=1e-4)
        close(both_sides(found)[r], by_hand.slopes(by_hand.x, by_hand.x[0]), rel=1e-3)


@pytest.mark.few(1)
def test_integrated_gradients_are_those_of_finite_differences(case):
    model, tokenizer, trace, outputs = case
    found = attributed(model, tokenizer, trace, "integrated_gradients", outputs[1:], segments=8)
    by_hand = Independent(model, tokenizer, trace, outputs[1])
    close(both_sides(found)[0], by_hand.on_the_way(8), rel=0.01)
    ends = by_hand.of_embeddings(torch.cat([by_hand.base, by_hand.x]))
    assert (found.baselines[0], found.values[0]) == HELD(ends, abs=1e-4)


def test_integrated_gradients_sum_to_the_difference_of_the_outputs(case):
    model, tokenizer, trace, _ = case
    outputs = every_step(trace)
    for segments in (1, 8):
        found = attributed(model, tokenizer, trace, "integrated_gradients", outputs, segments=segments)
        np.testing.assert_allclose(both_sides(found).sum(-1), found.values - found.baselines, rtol=0, atol=1e-4)
    np.testing.assert_allclose(found.values, trace.log_probs, rtol=0, atol=1e-4)


@pytest.mark.few(1)
@pytest.mark.parametrize("kind", ["marian", pytest.param("bart", marks=pytest.mark.long), "mt5"])
def test_without_bends_the_gradients_alone_are_complete(kind, monkeypatch):
    """Nothing is left to spread where the activation is smooth: what is summed are gradients."""
    if kind == "mt5":
        model, tokenizer = families.made("mT5"), tiny.foreign_tokenizer()
    else:
        model, tokenizer = tiny.make(kind)
    trace = traced(model, tokenizer)
    monkeypatch.setattr("seq2see.lens.views.attribution_methods.TINY", np.inf)  # nothing is spread
    [output] = every_step(trace)[3:4]
    found = attributed(model, tokenizer, trace, "integrated_gradients", [output], segments=800)
    assert both_sides(found).sum() == HELD(found.values[0] - found.baselines[0], abs=1e-4)


def test_states_times_gradients_are_those_of_finite_differences(case):
    model, tokenizer, trace, outputs = case
    found = attributed(model, tokenizer, trace, "gradient_x_activation", outputs[1:])
    by_hand = Independent(model, tokenizer, trace, outputs[1])
    for stack, layers in ((by_hand.model.get_encoder(), found.source), (by_hand.model.get_decoder(), found.prefix)):
        modules = stack.block if hasattr(stack, "block") else stack.layers
        assert len(modules) == len(layers)
        for layer, module in enumerate(modules):
            each = torch.arange(layers.shape[-1])  # a row of the batch for every column

            def of_size(size, each=each, module=module):
                def scaled(_, args):
                    state = args[0].clone()
                    state[each, each] *= 1 + size
                    return (state, *args[1:])

                with module.register_forward_pre_hook(scaled):
                    return by_hand.of_ids(*(ids.expand(len(each), -1) for ids in by_hand.read))

            close(layers[layer, 0], by_hand.slope(of_size), rel=2e-3)


def test_occlusion_reads_the_unknown_token_instead(case):
    model, tokenizer, trace, outputs = case
    found = attributed(model, tokenizer, trace, "occlusion", outputs)
    for r, output in enumerate(outputs):
        by_hand = Independent(model, tokenizer, trace, output)
        columns = sum(by_hand.sizes)
        ids = torch.cat(by_hand.read, dim=1).repeat(columns, 1)
        ids.fill_diagonal_(by_hand.unknown)
        falls = by_hand.of_ids(*by_hand.read) - by_hand.of_ids(*ids.split(by_hand.sizes, dim=1))
        assert both_sides(found)[r] == HELD(falls, abs=1e-4)
    assert np.abs(both_sides(found)).max() > 0.05


def test_value_zeroing_lets_no_position_learn_of_a_token(case):
    model, tokenizer, trace, outputs = case
    found = attributed(model, tokenizer, trace, "value_zeroing", outputs)
    for r, output in enumerate(outputs):
        by_hand = Independent(model, tokenizer, trace, output)
        values = [(name, one) for name, one in by_hand.model.named_modules() if name.endswith((".v_proj", ".v"))]
        whole = by_hand.of_ids(*by_hand.read)
        for column in range(sum(by_hand.sizes)):
            of_source = column < by_hand.sizes[0]
            at = column if of_source else column - by_hand.sizes[0]

            def zeroed(_, __, value, at=at):
                value = value.clone()
                value[:, at] = 0
                return value

            hooks = [one.register_forward_hook(zeroed) for name, one in values
                     if of_source == ("encoder" in name or "EncDec" in name)]
            fall = whole - by_hand.of_ids(*by_hand.read)
            for hook in hooks:
                hook.remove()
            assert both_sides(found)[r, column] == HELD(fall[0], abs=1e-4)
    assert np.abs(both_sides(found)).max() > 0.05


@pytest.mark.parametrize("method", METHODS)
def test_no_step_is_explained_by_what_follows_it(case, method):
    model, tokenizer, trace, _ = case
    found = attributed(model, tokenizer, trace, method, every_step(trace), segments=2)
    assert not np.triu(found.prefix, 1).any() and found.prefix.any() and found.source.any()


@pytest.mark.parametrize("method", METHODS)
def test_the_model_is_left_as_it_was(case, method):
    _, tokenizer, trace, outputs = case
    model = copy.deepcopy(case[0]).train()
    before = [(len(one._forward_hooks), len(one._forward_pre_hooks)) for one in model.modules()]
    attributed(model, tokenizer, trace, method, outputs, segments=1)
    assert model.training and all(one.grad is None for one in model.parameters())
    assert before == [(len(one._forward_hooks), len(one._forward_pre_hooks)) for one in model.modules()]


@pytest.mark.parametrize("family", families.some(name for name in families.CONFIGS
                                                 if name not in ("LED", "LongT5", "ProphetNet")))
def test_a_family_has_a_method_or_is_told_which_it_can_have(family):
    model, tokenizer = families.made(family), tiny.foreign_tokenizer()
    trace = traced(model, tokenizer)
    refused = {"FSMT": {"gradient_x_activation", "value_zeroing"}, "Switch": {"integrated_gradients"},
               "EncoderDecoder": {"gradient_x_activation", "value_zeroing"}}.get(family, set())
    for method in METHODS:
        if method in refused:
            can = ", ".join(one for one in METHODS if one not in refused)
            expected = f"does not support the method {method}: .*; it supports {can}$"
            with pytest.raises(UserError, match=expected) as told:
                attributed(model, tokenizer, trace, method, every_step(trace))
            assert "\n" not in str(told.value)
        else:
            found = attributed(model, tokenizer, trace, method, every_step(trace), segments=2)
            np.testing.assert_allclose(found.values, trace.log_probs, rtol=0, atol=1e-4)
            assert np.isfinite(both_sides(found) if found.source.ndim == 2 else found.source).all()
            assert found.source.any() and found.prefix.any()


# --- `attribute`


@pytest.fixture(scope="module")
def translator(seq2see):
    return Translator(*seq2see)


SENTENCE = "Le chat n'a pas dit qu'il était là et qu'il."


def test_a_word_is_explained_by_the_sum_over_its_tokens(translator):
    whole = attribute(translator, TEXT, SENTENCE, method="occlusion", target_language="fr")
    assert whole.steps == tuple(range(len(whole.trace.target))) and whole.contrast is None
    words = whole.by_words()
    for word, one in enumerate(whole.trace.target_words):
        alone = attribute(translator, TEXT, SENTENCE, method="occlusion", target=word, target_language="fr")
        [row] = alone.by_words().rows
        r = next(i for i, each in enumerate(words.rows) if each.word == word)
        assert row.text == one.text and alone.steps == row.pieces
        np.testing.assert_allclose(alone.by_words().source[0], words.source[r], atol=1e-4)
        np.testing.assert_allclose(alone.source.sum(), words.source[r].sum(), atol=1e-4)
        np.testing.assert_allclose(alone.prefix.sum(), words.prefix[r].sum(), atol=1e-4)
    assert len(words.rows) < len(whole.steps), "a word has several tokens"
    assert f"{words}" == f"{whole}" and "Le chat n' a pas dit" in repr(words) and "array" not in repr(words)


def test_a_contrast_is_explained_where_the_tokens_differ_first(translator):
    number = [one.text for one in attribute(translator, TEXT, SENTENCE, method="occlusion").trace.target_words].index(
        "il")
    one = attribute(translator, TEXT, SENTENCE, method="input_x_gradient", target=number, contrast="elle")
    il, elle = (translator.look_at(TEXT, SENTENCE.replace("il", each, 1)) for each in ("il", "elle"))
    [step] = one.steps
    assert il.target_ids[:step] == elle.target_ids[:step] and il.target_ids[step] != elle.target_ids[step]
    assert one.values[0] == HELD(il.log_probs[step] - elle.log_probs[step], abs=1e-4)
    assert str(one).startswith("il (not elle): ") and " (written) " in str(one) and "not 'elle'" in repr(one)
    words = WordAttribution(one.by_words().rows[:1], one.by_words().sources[:2], one.by_words().inputs[:1],
                            np.array([[[9, 9]], [[1, -3]]]), np.array([[[9]], [[2]]]), None)
    assert re.findall(r"[+-]\d\.\d\d", str(words)) == ["-3.00", "+2.00", "+1.00"]  # of the last layer, by size
    turned = attribute(translator, TEXT, SENTENCE.replace("il", "elle", 1), method="input_x_gradient", target="elle",
                       contrast="il")
    np.testing.assert_allclose(turned.source, -one.source, atol=1e-4)


def test_without_a_translation_it_is_the_translators_own(translator):
    own = translator(TEXT)
    assert attribute(translator, TEXT, method="occlusion").trace.target_text == own.text


@pytest.mark.parametrize(("how", "why"), [
    ({"method": "attention"}, r"unknown method 'attention': expected input_x_gradient, integrated_gradients, "),
    ({"target": "il"}, r"'il' occurs 2 times in \"Le chat .*\": give its index, one of 7, 12"),
    ({"target": "elle"}, r"'elle' is not a word of \"Le chat .*\": its words are Le chat "),
    ({"target": 99}, r"there is no word 99 in .*: expected 0 to 13"),
    ({"target": -1}, r"there is no word -1 in "),
    ({"contrast": "elle"}, r"contrast 'elle' needs the word that it replaces: target="),
    ({"target": "chat", "contrast": "chat"}, r"contrast 'chat' does not differ from 'chat'"),
    ({"segments": 0}, r"segments 0: expected 1 or more"),
])
def test_what_cannot_be_explained_is_told_in_one_line(translator, how, why):
    with pytest.raises(UserError, match=why) as told:
        attribute(translator, TEXT, SENTENCE, **{"method": "occlusion"} | how)
    assert "\n" not in str(told.value)


def test_a_text_in_parts_is_not_explained_at_once(translator):
    with pytest.raises(UserError, match="in 2 parts: attribute one sentence at a time"):
        attribute(translator, "The cat.\n\nThe box.", method="occlusion")
