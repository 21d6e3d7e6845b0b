"""A what-if changes what it says and nothing else, its traces are true, and the beam tree is generation's own."""

import numpy as np
import pytest
import torch
from tiny import SENTENCES

from seq2see.errors import UserError
from seq2see.lens import trace_hypotheses
from seq2see.lens.changes.interventions import ablate, steer
from seq2see.lens.questions.beam_search_tree import beam_tree
from seq2see.lens.questions.what_if import WhatIf
from seq2see.passes.attention_kinds import KINDS
from seq2see.passes.hooks import STEERED, STEERING, all_heads, attention_sites
from seq2see.tokenizer.encoding import encode_source

CLOSE = {"rtol": 0, "atol": 2e-5}
TARGET = [5, 6, 7, 8, 2]


@pytest.fixture
def what_if(any_model):
    model, tokenizer = any_model
    return WhatIf(model, tokenizer, "en", "fr", num_beams=2)


def traced(any_model):
    [trace] = trace_hypotheses(*any_model, [SENTENCES[0]], [TARGET])
    return trace


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("temperature", [0.5, 3.0])
def test_a_temperature_raises_the_weights_to_its_inverse(any_model, kind, temperature):
    """softmax(s / t) is softmax(s) to the power 1/t, made to sum to 1: also with T5's position bias in s."""
    model, _ = any_model
    whole = traced(any_model)
    with steer(model, temperatures={(kind, 0, 1): temperature}):
        steered = traced(any_model)
    powers = whole.maps(kind)[0, 1].astype(np.float64) ** (1 / temperature)
    np.testing.assert_allclose(steered.maps(kind)[0, 1], powers / powers.sum(-1, keepdims=True), rtol=0, atol=1e-3)
    np.testing.assert_allclose(steered.maps(kind)[0, 0], whole.maps(kind)[0, 0], **CLOSE)
    assert np.abs(steered.maps(kind)[0, 1] - whole.maps(kind)[0, 1]).max() > 0.01
    assert np.abs(steered.log_probs - whole.log_probs).max() > 1e-3, "what was changed must reach the output"


@pytest.mark.parametrize("kind", KINDS)
def test_forced_weights_are_the_ones_that_mix_the_values(any_model, kind):
    """An even head hands over the mean of the values it may see, computed here by hand."""
    model, _ = any_model
    shape = traced(any_model).maps(kind).shape[2:]
    even = np.tril(np.ones(shape)) if kind == "decoder" else np.ones(shape)
    even /= even.sum(-1, keepdims=True)
    site, seen = attention_sites(model)[kind][1], {}
    hooks = [site.value.register_forward_hook(lambda m, a, out: seen.update(value=out[0])),
             site.output.register_forward_pre_hook(lambda m, args: seen.update(mixed=args[0][0]))]
    with steer(model, weights={(kind, 1, 0): even}):
        steered = traced(any_model)
    for hook in hooks:
        hook.remove()
    np.testing.assert_allclose(steered.maps(kind)[1, 0], even, rtol=0, atol=1e-6)
    expected = torch.tensor(even, dtype=torch.float32) @ seen["value"][:, : site.head_size]
    torch.testing.assert_close(seen["mixed"][:, : site.head_size], expected, rtol=0, atol=1e-4)


def test_steering_leaves_no_trace(any_model):
    model, _ = any_model
    configs = lambda: [(id(m.config), m.config._attn_implementation) for m in model.modules()  # noqa: E731
                       if hasattr(m, "config")]
    before = configs()
    with pytest.raises(RuntimeError, match="broken"), \
            steer(model, temperatures={("cross", 0, 0): 2.0}), steer(model, temperatures={("cross", 0, 0): 3.0}):
        assert [implementation for _, implementation in configs()].count(STEERED) == 1
        raise RuntimeError("broken")
    assert configs() == before and not [m for m in model.modules() if STEERING in vars(m)]


def test_temperature_holds_in_generate_with_a_cache(any_model):
    """Step by step from a cache gives the log-probabilities of one forced pass over the hypothesis that was found."""
    model, tokenizer = any_model
    ids = torch.tensor([encode_source(tokenizer, SENTENCES[0])])
    with steer(model, temperatures={("cross", 1, 0): 0.2, ("decoder", 0, 1): 5.0, ("encoder", 0, 0): 4.0}):
        output = model.generate(ids, max_length=10, num_beams=1, use_cache=True, return_dict_in_generate=True,
                                output_logits=True)
        found = output.sequences[0, 1:].tolist()
        [trace] = trace_hypotheses(model, tokenizer, [SENTENCES[0]], [found])
    [plain] = trace_hypotheses(model, tokenizer, [SENTENCES[0]], [found])
    steps = [float(logits[0].log_softmax(-1)[id]) for logits, id in zip(output.logits, found, strict=True)]
    np.testing.assert_allclose(steps, trace.log_probs, rtol=0, atol=1e-4)
    assert np.abs(plain.log_probs - trace.log_probs).max() > 1e-3, "nothing changed: this test would see nothing"


@pytest.mark.parametrize(("ask", "said"), [
    (lambda what_if: steer(what_if.model, temperatures={("cross", 0, 0): 0.0}).__enter__(), "a number above 0"),
    (lambda what_if: steer(what_if.model, weights={("encoder", 0, 0): np.ones((2, 2))}).__enter__(), "sum to 1"),
    (lambda what_if: steer(what_if.model, weights={("decoder", 0, 0): np.full((2, 2), 0.5)}).__enter__(),
     "cannot look ahead"),
    (lambda what_if: what_if.word(SENTENCES[0], 99, "box"), "no word 99 in the source: expected 0 to 12"),
    (lambda what_if: what_if.prefix(SENTENCES[0], " "), "blank"),
    (lambda what_if: beam_tree(what_if.model, what_if.tokenizer, SENTENCES[0], num_beams=1), "at least 2"),
])
def test_a_what_if_that_makes_no_sense_is_refused(seq2see, ask, said):
    with pytest.raises(UserError, match=said):
        ask(WhatIf(*seq2see, "en", "fr", num_beams=2))


@pytest.mark.few(1)
def test_a_forced_prefix_begins_the_translation_and_an_edited_word_is_the_only_difference(what_if):
    whole, forced = what_if.prefix(SENTENCES[0], "La boîte")
    assert forced.target_text.startswith("La boîte") and not whole.target_text.startswith("La boîte")
    assert len(forced.target) > forced.given > whole.given and whole.source == forced.source
    whole, edited = what_if.word(SENTENCES[0], 1, "box")
    assert edited.source_text == SENTENCES[0].replace("cat", "box") and whole.source_text == SENTENCES[0]
    assert not np.allclose(whole.log_probs[:1], edited.log_probs[:1], atol=1e-4)


@pytest.mark.few(1)
def test_any_intervention_can_be_laid_beside(what_if):
    heads = all_heads(what_if.model)
    whole, ablated = what_if.within(SENTENCES[0], ablate(what_if.model, heads))
    assert whole.target_ids != ablated.target_ids
    assert what_if.as_it_is(SENTENCES[0]).target_ids == whole.target_ids, "the model is as it was"
    _, warm = what_if.temperature(SENTENCES[0], ("cross", 0, 0), 5.0)
    assert warm.maps("cross")[0, 0].std() < whole.maps("cross")[0, 0].std()


def test_forced_attention_keeps_the_hypothesis(what_if):
    whole = what_if.as_it_is(SENTENCES[0])
    matrix = np.zeros(whole.maps("cross").shape[2:])
    matrix[:, 2] = 1
    same, forced = what_if.attention(whole, {("cross", 1, 1): matrix})
    assert same is whole and (forced.target_ids, forced.given) == (whole.target_ids, whole.given)
    np.testing.assert_array_equal(forced.maps("cross")[1, 1], matrix)
    assert np.abs(forced.log_probs - whole.log_probs).max() > 1e-3
    with pytest.raises(UserError, match=r"have shape \(3, 3\), its map has"):
        what_if.attention(whole, {("cross", 1, 1): np.eye(3)})


def test_the_tree_ends_in_what_generate_returned(any_model):
    model, tokenizer = any_model
    ids = torch.tensor([encode_source(tokenizer, SENTENCES[2])])
    expected = model.generate(ids, num_beams=4, num_return_sequences=4, do_sample=False,
                              return_dict_in_generate=True, output_scores=True)
    tree = beam_tree(model, tokenizer, SENTENCES[2], num_beams=4)
    assert len(tree.hypotheses) == len(expected.sequences)
    for (step, number), row, score in zip(tree.hypotheses, expected.sequences.tolist(), expected.sequences_scores,
                                          strict=True):
        path = [node.id for node in tree.path(step, number)]
        assert path == row[1 : len(path) + 1]
        assert set(row[len(path) + 1 :]) <= {0, 2}, 'generation fills up with padding or, where that is 0, with </s>'
        assert tree.steps[step][number].score == pytest.approx(float(score), abs=1e-4)


@pytest.mark.few(1)
def test_every_node_is_worth_what_the_model_gives_it(any_model):
    """Sums of log-probabilities of a forced pass over the path, for living and ended hypotheses alike."""
    model, tokenizer = any_model
    tree = beam_tree(model, tokenizer, SENTENCES[2], num_beams=3)
    forced = model.generation_config.forced_bos_token_id is not None
    for step, nodes in enumerate(tree.steps):
        alive = [node for node in nodes if node.score is None]
        assert len(alive) <= 3 and [n.log_prob for n in alive] == sorted((n.log_prob for n in alive), reverse=True)
        for number, node in enumerate(nodes):
            path = [one.id for one in tree.path(step, number)]
            [trace] = trace_hypotheses(model, tokenizer, [SENTENCES[2]], [path], given=int(forced))
            assert node.log_prob == pytest.approx(trace.log_prob, abs=1e-3)
    assert max(len([n for n in nodes if n.score is None]) for nodes in tree.steps) == 3
