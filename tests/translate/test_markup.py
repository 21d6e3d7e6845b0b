"""A model translates HTML as the text in it, and its attention says where elements are."""

import re

import pytest
from hypothesis import given, settings
from shown_html import BLOCKS, STAND_IN, Shown, numbered, shown

from seq2see import Translator
from seq2see.text.html_markup import Html, Markup
from seq2see.text.placing import Alignment

SHORT = {"num_beams": 1, "max_new_tokens": 8}


@settings(max_examples=settings.default.max_examples // 3)  # each translates twice
@given(BLOCKS)
def test_a_model_translates_the_text_as_if_there_were_no_markup(translator, text):
    found, before = Shown(translator(text, format="html", **SHORT).text), Shown(text)
    plain = translator([numbered(block) for block in before.blocks], **SHORT)
    assert found.blocks == [re.sub("[\U000f0000-\U000ffffd]", STAND_IN, shown(one.text)) for one in plain]
    assert sorted(found.tags) == sorted(before.tags)


PAGE = "<p>The <b>cat</b> did <i>not</i> cross.</p> <p>The box. <u>An owl.</u></p>"


@pytest.mark.few(1)
def test_any_models_own_maps_say_where_elements_are(any_folder):
    translator = Translator.from_pretrained(any_folder, engine="torch")
    result = translator(PAGE, format="html", alternatives=3, max_new_tokens=12)
    choice = translator.known_choice
    for number, hypothesis in enumerate(result.hypotheses):
        part = result.parts[0]
        texts = part.source_text, part.hypotheses[number].text
        [trace] = translator.look(part, alternative=number, views=(choice.view,))
        alignments = [Alignment.measured(trace, choice.strengths(trace), *texts),
                      Alignment.whole("The box. An owl.", "x")]
        expected = Markup(PAGE).join([texts[1], "x"], alignments)
        assert hypothesis.text.partition("</p>")[0] == expected.partition("</p>")[0], "each alternative by its own maps"


def test_only_sentences_with_markup_inside_are_looked_into(translator, monkeypatch):
    looks, look = [], translator.look
    monkeypatch.setattr(translator, "look", lambda results, **more: (
        looks.extend(one.source_text for one in results), look(results, **more))[1])
    translator(PAGE, format="html", **SHORT)
    assert looks == ["The cat did not cross."]
    monkeypatch.setattr(translator, "look", None)
    plain = "<p>The cat.</p> <b>The box. <i>An owl.</i></b> <!-- it --> It <br> is."
    assert "<b>" in translator(plain, format="html", **SHORT).text


def test_texts_of_both_kinds_are_translated_as_each_alone(translator):
    """What comes of HTML is HTML: another model may translate it on."""
    found = [one.text for one in translator(["a <b>cat</b>", Html(PAGE), "The cat."], **SHORT)]
    assert found == [translator("a <b>cat</b>", **SHORT).text, translator(PAGE, format="html", **SHORT).text,
                     translator("The cat.", **SHORT).text]
    assert [*map(type, found)] == [str, Html, str]
