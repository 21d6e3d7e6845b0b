"""Long texts and HTML through a Translator: parts that the model knows, put together as the text was."""


import unicodedata

import pytest
import tiny
from hypothesis import example, given
from hypothesis import strategies as st

from seq2see import Translator
from seq2see.errors import UserError
from seq2see.text.placing import Alignment
from seq2see.text.segments import cut_sentences
from seq2see.tokenizer.layout import END, FIRST_TAG, TAG_SLOTS
from seq2see.translate.decoding import GenerationDefaults
from seq2see.translate.results import Hypothesis

TEXT = "  The cat did not cross.  It was tired.\n\n\tThe box. It did not fit.\r\nAn owl! "


@pytest.fixture(scope="module", params=["torch", "ctranslate2"])
def translator(request, tmp_path_factory):
    pytest.importorskip("ctranslate2")
    folder = tiny.save(tmp_path_factory.mktemp("run"), *tiny.make("seq2see"))
    return Translator.from_pretrained(folder, engine=request.param, precision="float32")


@pytest.mark.parametrize("settings", [{"num_beams": 1}, {"num_beams": 3, "alternatives": 2, "length_penalty": 0.5}])
def test_a_text_is_its_sentences_with_its_own_spaces_between(translator, settings):
    result = translator(TEXT, **settings)
    cut = cut_sentences(TEXT, language="en")
    alone = translator(list(cut.segments), **settings)
    assert [one.source_text for one in result.segments] == [one.source_text for one in alone] and len(alone) == 5
    assert len(result.hypotheses) == max(len(one.hypotheses) for one in alone)
    for rank, hypothesis in enumerate(result.hypotheses):
        each = [one.hypotheses[min(rank, len(one.hypotheses) - 1)] for one in alone]
        assert [one.hypotheses[rank] for one in result.segments] == each
        assert hypothesis.text == cut.join([one.text for one in each])
        assert hypothesis.token_ids == tuple(id for one in each for id in one.token_ids)
        assert hypothesis.log_prob == pytest.approx(sum(one.log_prob for one in each))
        length = len(hypothesis.token_ids) ** settings.get("length_penalty", 1.0)
        assert hypothesis.score * length == pytest.approx(hypothesis.log_prob)
        assert hypothesis.finished == all(one.finished for one in each)
    assert result.text == result.hypotheses[0].text and result.source_text == TEXT


def test_a_prefix_begins_the_first_part_of_each_text_halves_too(translator):
    long = "The cat did not cross the street, because it was too tired, " * 4 + "did it?"
    begun = tuple(translator.codec.begin("Le chat", language="fr"))
    work = translator.prepare([f"{long} An owl.", "The box."], prefix="Le chat").work
    assert [options.prefix[1:] for _, options in work] == [begun, *[()] * (len(work) - 2), begun]
    assert len(work) > 3


def test_a_prefix_that_no_translation_holds_is_refused_not_cut(translator):
    begun = tuple(translator.codec.begin("Le chat", language="fr"))
    [hypothesis] = translator("The cat.", prefix="Le chat", max_new_tokens=1 + len(begun), num_beams=1).hypotheses
    assert hypothesis.token_ids[1:] == begun and not hypothesis.finished
    with pytest.raises(UserError, match=r"the prefix has \d+ tokens: at most \d+ fit into max_new_tokens"):
        translator("The cat.", prefix="Le chat", max_new_tokens=len(begun), num_beams=1)


def test_a_sentence_that_refers_back_stays_with_the_one_before_where_the_model_has_learnt_it():
    translator = Translator(*tiny.make("seq2see"))
    for most, segments in ((1, 4), (2, 3), (6, 2)):
        translator.model.generation_config.source_sentences = most
        assert len(translator.prepare(["The cat. It was tired. It was cold. An owl."]).work) == segments


def test_a_sentence_longer_than_any_in_training_is_cut(translator):
    long = "The cat did not cross the street, because it was too tired, " * 4 + "did it?"
    size = len(translator.codec.encode([long])[0])
    assert size > 64
    parts = translator(long, num_beams=1).parts
    assert len(parts) > 1 and parts[0].source_text.endswith(",")
    assert all(len(translator.codec.encode([part.source_text])[0]) <= 64 for part in parts)


def test_how_long_a_source_may_be():
    assert GenerationDefaults({"source_pieces": 90}, 1000).source_tokens == 90
    assert GenerationDefaults({"source_pieces": 90}, 80).source_tokens == 80
    assert GenerationDefaults({"source_pieces": 12}, 1000).source_tokens == 64  # longer than any in training, but short
    assert GenerationDefaults({}, 1000).source_tokens == 1000 and GenerationDefaults({}, None).source_tokens is None


def test_elements_stay_in_their_sentence(translator, monkeypatch):
    alignment = Alignment([((0, 9), (0, 6), 1.0), ((10, 13), (6, 7), 1.0)])
    monkeypatch.setattr(Alignment, "measured", lambda *given, **how: alignment)
    job = translator.prepare(["<p>Ah. It is the <b>cat</b>. Oh.</p>"], format="html")
    assert len(job.work) == 3
    written = translator.codec.encode(["a b c d e f g h i j k.", "l m n o p.", "q."])
    job.advance([(Hypothesis("", tuple(ids), -1.0, -1.0, True),) for ids in written])
    assert job.result[0].text == "<p>a b c d e f g h i j k. l m n <b>o</b> p. q.</p>"


INJECTED = st.sampled_from(["</s>", "<pad>", "<unk>", "<2fr>", "<tag3>", "<0x41>", "▁", "<b>", "</b>", "&lt;"])


@pytest.mark.few(1)
@example(text="\0")
@example(text="a" * 1_000)
@example(text="猫" * 3_000)
@example(text="\ufdfa" * 50)
@given(text=st.lists(INJECTED | st.text(max_size=12), max_size=6).map("".join))
def test_any_text_is_text_and_its_translation_comes_to_an_end(translator, text):
    [ids] = translator.codec.encode([text])
    assert [id for id in ids if id < FIRST_TAG + TAG_SLOTS] == [translator.codec.tokens().index(END)]
    short = {"num_beams": 1, "max_new_tokens": 6}
    result = translator(text, **short)
    assert all(len(part.hypotheses[0].token_ids) <= 6 + 1 for part in result.parts)
    assert result.parts or result.text == text
    assert translator(text, format="html", **short).source_text == unicodedata.normalize("NFC", text)


@pytest.mark.parametrize("text", ["", "<p> </p>", "12345", "...", "https://a.b/c?d=e#f", " a.b@c.org ", "😀",
                                  "C:\\x", "%s %(name)d", "{{x}}\n${x}", "<p>{x}</p>"])
def test_texts_without_words_come_back_as_they_are(translator, text):
    result = translator(text, format="html" if "<" in text else "text")
    assert (result.text, result.hypotheses, result.parts) == (text, (), ())
