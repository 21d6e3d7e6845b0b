"""The torch engine's greedy search: rows leave the batch as they end, and nothing comes out otherwise for that."""

import pytest
import tiny
import torch
from tiny import SENTENCES
from transformers import GenerationConfig

from seq2see import Translator
from seq2see.translate.decoding import DecodingOptions

TEXTS = [text.replace("12 ", "")[:cut] for text in SENTENCES for cut in (7, 21)]
GREEDY = {"num_beams": 1}
DRAWS = {"temperature": 1.5, "top_k": 20, "seed": 3, "alternatives": 2}


def ending(kind):
    """A translator with few tokens to choose from, no pair of them twice: rows must end, and each when it likes."""
    translator = Translator(*tiny.make(kind))
    size, said = translator.model.config.vocab_size, translator.model.generation_config
    few = {2, said.forced_bos_token_id, *range(size - 7, size)}
    said.update(suppress_tokens=[id for id in range(size) if id not in few], no_repeat_ngram_size=2)
    return translator


def check(translator, **settings):
    alone = [one for text in TEXTS for one in translator(text, **settings).hypotheses]
    together = [one for result in translator(TEXTS, **settings) for one in result.hypotheses]
    assert [one.token_ids for one in together] == [one.token_ids for one in alone]
    assert [one.score for one in together] == pytest.approx([one.score for one in alone], abs=1e-4)
    assert len({len(one.token_ids) for one in alone}) > 1, "all end together: nobody has left"


@pytest.mark.few(1)
@pytest.mark.parametrize("kind", tiny.MOST_KINDS)
def test_rows_that_leave_change_nothing_for_those_that_stay(kind):
    translator = ending(kind)
    for settings in (GREEDY, DRAWS):
        check(translator, **settings)


def test_nor_does_what_a_checkpoint_wants_of_the_tokens():
    translator = ending("seq2see")
    before = [result.hypotheses[0].token_ids for result in translator(TEXTS, **GREEDY)]
    translator.model.generation_config.update(bad_words_ids=[[394]])
    check(translator, prefix="Le", **GREEDY)
    assert [result.hypotheses[0].token_ids for result in translator(TEXTS, **GREEDY)] != before


def test_rows_that_ended_are_not_computed():
    translator, rows = ending("seq2see"), []
    translator.model.get_decoder().register_forward_pre_hook(
        lambda module, args, kwargs: rows.extend([len(kwargs["input_ids"])] * (kwargs["input_ids"].shape[1] == 1)),
        with_kwargs=True)  # the pass over all tokens is of their log-probabilities
    lengths = [len(result.hypotheses[0].token_ids) for result in translator(TEXTS, **GREEDY)]
    assert rows[0] == len(TEXTS) and rows == sorted(rows, reverse=True) and len(rows) == max(lengths)
    assert sum(lengths) <= sum(rows) < 1.2 * sum(lengths) < len(TEXTS) * max(lengths)


@pytest.mark.few(1)
@pytest.mark.parametrize("settings", [GREEDY, DRAWS, {"num_beams": 3, "alternatives": 2}])
def test_what_nobody_waits_for_ends_within_a_step(settings):
    translator, steps = Translator(*tiny.make("seq2see")), []
    end = translator.model.generation_config.eos_token_id
    translator.model.generation_config.update(suppress_tokens=[end])
    asked = DecodingOptions(max_new_tokens=30, **settings)
    work = translator.prepare(SENTENCES[:3], options=asked).work
    sources, options = [ids for ids, _ in work], work[0][1]
    engine = translator.torch_engine
    stays = max(range(3), key=lambda index: len(sources[index]))  # the last row of the batch
    [alone] = engine.translate([sources[stays]], options)
    translator.model.get_decoder().register_forward_pre_hook(
        lambda module, args, kwargs: steps.append(len(kwargs["input_ids"])), with_kwargs=True)
    found = engine.translate(sources, options, wanted=lambda index: index == stays or len(steps) < 5)
    assert [one.token_ids for one in found[stays]] == [one.token_ids for one in alone]
    assert len(steps) == len(alone[0].token_ids)
    assert settings.get("num_beams", 1) > 1 or steps[5] * 3 == steps[4], "the others are computed no longer"
    steps.clear()
    assert len(engine.translate(sources, options, wanted=lambda index: len(steps) < 5)) == 3 and len(steps) == 5
    steps.clear()
    assert engine.translate(sources, options, wanted=lambda index: False) == [()] * 3 and not steps


@pytest.mark.few(1)
@pytest.mark.parametrize("kind", tiny.MOST_KINDS)
def test_the_search_is_that_of_transformers(kind):
    translator = ending(kind)
    for (ids, _), result in zip(translator.prepare(TEXTS).work, translator(TEXTS, **GREEDY), strict=True):
        theirs = translator.model.generate(torch.tensor([ids]), num_beams=1)
        assert tuple(theirs[0, 1:].tolist()) == result.hypotheses[0].token_ids


@pytest.mark.parametrize("num_beams", [1, 3])
def test_what_else_a_checkpoint_says_of_generating_is_not_heard(num_beams):
    translator = Translator(*tiny.make("seq2see"))
    own, expected = translator.model.generation_config.to_dict(), translator(SENTENCES[:2], num_beams=num_beams)
    for said in ({"max_time": 1e-9}, {"stop_strings": ["a"]}, {"cache_implementation": "static"}):
        translator.model.generation_config = before = GenerationConfig(**own | said)
        assert translator(SENTENCES[:2], num_beams=num_beams) == expected
        assert translator.model.generation_config is before
