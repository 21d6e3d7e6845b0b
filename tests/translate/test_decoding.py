"""What a caller may ask for beside the text: a beginning, a draw, penalties; alone and in a batch the same."""

from collections import Counter

import pytest
import torch
from tiny import SENTENCES

from seq2see.errors import UserError
from seq2see.translate.decoding import MOST_POSITIONS, DecodingOptions, GenerationDefaults

DRAW = {"temperature": 1.3, "max_new_tokens": 8}


def test_what_is_left_open_is_the_checkpoints():
    said = {"num_beams": 5, "length_penalty": 1.4, "max_length": 40, "early_stopping": True, "forced_bos_token_id": 7}
    defaults = GenerationDefaults({**said, "eos_token_id": [2, 9], "do_sample": True, "temperature": 0.3}, 64)
    usual = defaults.resolve()
    assert (usual.num_beams, usual.length_penalty, usual.max_new_tokens) == (5, 1.4, 39)
    assert (usual.prefix, defaults.end, usual.sampling) == ((7,), {2, 9}, False)
    options = DecodingOptions(num_beams=1, alternatives=3, length_penalty=0.5, max_new_tokens=50)
    asked = defaults.resolve(options, first=4)
    assert (asked.prefix, asked.num_beams, asked.length_penalty, asked.max_new_tokens) == ((4,), 3, 0.5, 50)
    with pytest.raises(UserError, match="max_new_tokens is 65, expected at most 64"):
        defaults.resolve(DecodingOptions(max_new_tokens=65))
    assert GenerationDefaults({}, None).resolve().max_new_tokens == 512
    assert GenerationDefaults({"max_length": 50_000}, 65_536).resolve().max_new_tokens == MOST_POSITIONS


@pytest.mark.parametrize(("wrong", "told"), [
    ({"temperature": 0}, "temperature is 0, expected at least 0.01"),
    ({"temperature": float("nan")}, "temperature is NaN, expected a finite number"),
    ({"seed": True}, "seed is true, expected a whole number"),
    ({"num_beams": 10**9}, "num_beams is 1000000000, expected at most 64"),
    ({"max_new_tokens": 2.5}, "max_new_tokens is 2.5, expected a whole number"),
    ({"temperature": 1.0, "num_beams": 4}, "sampling .* has no beams"),
    ({"format": "xml"}, "format 'xml': expected text or html"),
])
def test_an_option_out_of_bounds_is_refused_by_name(translator, wrong, told):
    with pytest.raises(UserError, match=told) as refused:
        translator("The cat.", **wrong)
    assert refused.value.exit_code == 2


@pytest.mark.parametrize("num_beams", [1, 3])
def test_every_hypothesis_begins_as_asked(translator, num_beams):
    asked = {"num_beams": num_beams, "alternatives": num_beams, "max_new_tokens": 20}
    results = translator(SENTENCES[:3], prefix="Le chat", **asked)
    assert all(one.text.startswith("Le chat") for result in results for one in result.hypotheses)
    [trace, *_] = translator.look(results)
    free = trace.log_probs[len(translator.codec.begin("Le chat", language="fr")) + 1 :]
    assert results[0].hypotheses[0].log_prob == pytest.approx(float(free.sum()), abs=1e-3), "the beginning is no choice"


def test_a_draw_is_the_same_alone_and_in_any_company(translator):
    alone = [translator(text, seed=5, **DRAW).hypotheses[0] for text in SENTENCES]
    together = [result.hypotheses[0] for result in translator(SENTENCES[::-1], seed=5, **DRAW)][::-1]
    assert [one.token_ids for one in together] == [one.token_ids for one in alone]
    assert [one.score for one in together] == pytest.approx([one.score for one in alone], abs=1e-4)
    other = [result.hypotheses[0] for result in translator(SENTENCES, seed=6, **DRAW)]
    assert [one.token_ids for one in other] != [one.token_ids for one in alone]
    many = translator(SENTENCES[0], seed=5, alternatives=4, **DRAW).hypotheses
    assert many[0].token_ids == alone[0].token_ids and len({one.token_ids for one in many}) == 4


def test_the_score_of_a_draw_is_the_models_own(translator):
    result = translator(SENTENCES[0], seed=1, top_k=5, **DRAW)
    [trace] = translator.look(result)
    assert result.hypotheses[0].log_prob == pytest.approx(trace.log_prob, abs=1e-3)


def test_tokens_are_drawn_as_often_as_they_are_probable(translator):
    """The first free token, 1,600 times: within four standard deviations of its probability at this temperature."""
    T, counts, draws = 0.8, Counter(), 0
    for seed in range(25):
        result = translator("The cat.", seed=seed, alternatives=64, temperature=T, max_new_tokens=2)
        counts.update(one.token_ids[1] for one in result.hypotheses)
        draws += 64
    [trace] = translator.look(translator("The cat.", num_beams=1, max_new_tokens=2))
    probability_V = torch.softmax(torch.tensor(trace.logits[1]).float() / T, -1)
    for token in probability_V.topk(5).indices.tolist():
        p = float(probability_V[token])
        assert abs(counts[token] - draws * p) < 4 * (draws * p * (1 - p)) ** 0.5 + 1, token
