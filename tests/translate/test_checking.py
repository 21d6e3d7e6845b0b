"""`Translator.check`: improbable words of a translation, and source words that it may omit."""

import math

import pytest

from seq2see import Translator
from seq2see.lens.data.word_maps import units
from seq2see.translate.checking import SHORTEST, UNLIKELY
from seq2see.translate.results import is_mark

TEXTS = ["The city has many broad streets. Kyoto is an exceptionally pretty city.", "", "Tom Okafor is a horse lover.",
         "Write to ann@example.org about the frequent earaches.", "Hello"]


@pytest.fixture(scope="module")
def everyday():
    return Translator.from_pretrained("everyday")


@pytest.fixture(scope="module")
def exact():
    """CTranslate2 with the float32 weights that a trace is of."""
    return Translator.from_pretrained("everyday", engine="ctranslate2", precision="float32")


def words_of(trace):
    """Each word of the translation and its probability, by another way: the trace."""
    return [(one.text, math.exp(sum(trace.log_probs[piece] for piece in one.pieces)))
            for one in units(trace.target, trace.target_words) if one.word is not None and not is_mark(one.text)]


def test_unlikely_words_are_those_of_the_trace(exact):
    texts = ["The critic wrote a searing review of the book.", "Do you have frequent earaches?", "The cat is tired."]
    results = exact.check(exact(texts, target="fr"))
    for result, trace in zip(results, exact.look(results), strict=True):
        expected = [word for word, chance in words_of(trace) if chance < UNLIKELY
                    and word.casefold() not in result.source_text.casefold()]
        assert list(result.unlikely_words) == expected, words_of(trace)
    assert any(result.unlikely_words for result in results) and not results[2].unlikely_words


def test_omitted_words_are_those_without_which_the_translation_is_as_probable(everyday):
    text = "The city has many broad streets."
    [result] = everyday.check([everyday(text, target="fr")])
    words = text.rstrip(".").split()
    without = [" ".join(words[:i] + words[i + 1 :]) + "." for i in range(len(words))]
    whole, *others = everyday.score([text, *without], [result.text] * (len(words) + 1), target="fr")
    expected = [word for word, score in zip(words, others, strict=True)
                if len(word) >= SHORTEST and score.log_prob >= whole.log_prob]
    assert list(result.omitted_words) == expected == ["broad"]


def test_a_text_of_several_sentences_has_the_words_of_all(everyday):
    results = everyday.check(everyday(TEXTS, target="fr"))
    assert results[0].omitted_words == ("broad", "pretty") and len(results[0].segments) == 2
    assert [one.omitted_words for one in results[0].segments] == [("broad",), ("pretty",)]
    assert results[1].omitted_words is None and results[1].doubts == (), "a text without words"
    assert results[4].omitted_words == (), "nothing is left without its one word"
    assert [one.text for one in results] == [one.text for one in everyday(TEXTS, target="fr")]


def test_neither_a_name_that_is_copied_nor_protected_text_is_in_doubt(everyday):
    for result in everyday.check(everyday(TEXTS, target="fr")):
        named = {*(result.unlikely_words or ()), *(result.omitted_words or ())}
        assert not {"Tom", "Okafor", "ann", "example", "org"} & named
        assert all(word in result.text for word in result.unlikely_words or ())


def test_each_word_is_in_doubt_once(everyday):
    text = "The zebrafolk has many broad streets."
    [result] = everyday.check([everyday(text, target="fr")])
    kinds = {}
    for doubt in result.doubts:
        kinds.setdefault(doubt.word, []).append(doubt.kind)
    assert kinds["zebrafolk"] == ["unknown_word"] and all(len(some) == 1 for some in kinds.values())
    assert everyday(text, target="fr").omitted_words is None, "only a check takes the time"


def test_pytorch_finds_the_same(exact):
    other = Translator.from_pretrained("everyday", engine="torch")
    texts = ["The city has many broad streets.", "Tom poured boiling water into the teapot."]
    for target in ("fr", "de"):
        results = other.check(other(texts, target=target))
        assert [(one.unlikely_words, one.omitted_words) for one in results] == [
            (one.unlikely_words, one.omitted_words) for one in exact.check(exact(texts, target=target))]
