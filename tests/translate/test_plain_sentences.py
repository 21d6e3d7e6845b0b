"""A plain sentence goes straight to the engine and back: its result is the one that all the care would have given."""

from dataclasses import fields
from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seq2see import Translator
from seq2see.translate import segment_translator
from seq2see.translate.results import Hypothesis, with_chances, with_fields

TEXTS = ["Tom has never been to Boston.", "Tom's mother-in-law isn't here, is she?", "Run!", "I", "Zzyzx", "Où est-il",
         "It was raining. They ran.", "STOP IT NOW!", "I have 3 dogs.", "It (the dog) ran.", "", "a.", "OK",
         "He said nothing and he did nothing and he saw nothing and he wanted nothing but a dog."]


class Quarter:
    """A calibrator."""

    def chances(self, log_probs, tokens):
        return [0.25 for _ in zip(log_probs, tokens, strict=True)]


@cache
def storybook(engine):
    pytest.importorskip(engine)
    return Translator.from_pretrained("storybook", engine=engine, threads=1)


@pytest.fixture
def translator():
    return storybook("ctranslate2")


def carefully(translator, texts, **how):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(segment_translator, "is_plain_sentence", lambda *_: False)
        return translator(texts, **how)


@pytest.mark.few(3)
@pytest.mark.parametrize(("engine", "how"), [
    ("ctranslate2", {}), ("ctranslate2", {"num_beams": 1}), ("ctranslate2", {"alternatives": 3}),
    ("ctranslate2", {"max_new_tokens": 4}), ("ctranslate2", {"keep": "[A-Z]o.*"}), ("ctranslate2", {"prefix": "Le"}),
    ("torch", {"alternatives": 2}), ("torch", {"temperature": 1.0, "num_beams": 1}),
])
def test_it_equals_the_careful_way_in_every_field(engine, how):
    texts = TEXTS[:6] if engine == "torch" else TEXTS
    assert storybook(engine)(texts, **how) == carefully(storybook(engine), texts, **how)


@given(st.lists(st.sampled_from(["the dog", "Tom", "ran", "didn't", " ", ", ", ".", "!", "5", "É", "\u00a0", '"', "-"]),
                max_size=8).map("".join))
def test_so_does_any_text(text):
    one = storybook("ctranslate2")
    assert one(text, num_beams=1) == carefully(one, text, num_beams=1)


def test_a_translation_that_lost_something_gets_the_care(translator, monkeypatch):
    """As if the model had written half, and nothing."""
    found = translator(TEXTS[0]).hypotheses[0]
    for ids in (found.token_ids[:2] + found.token_ids[-1:], found.token_ids[:1]):
        monkeypatch.setattr(type(translator.engine), "translate", lambda _, sources, *__, ids=ids, **___: [
            (Hypothesis("", ids, -1.0, -1.0, True, 1),) for _ in sources])
        assert translator(TEXTS[:2]) == carefully(translator, TEXTS[:2])


def test_a_result_with_other_values_is_otherwise_the_same(translator):
    [one], [other] = translator([TEXTS[0]]), with_chances(translator([TEXTS[0]]), Quarter())
    changed = with_fields(one.hypotheses[0], probability=0.25)
    assert other == with_fields(one, hypotheses=(changed,)) and other.hypotheses[0] == changed
    assert {name.name for name in fields(changed)} == {*changed.__dict__} and one.hypotheses[0] != changed
