"""`Translator.check`: unlikely words of a translation, and source words that may be missing from it."""

import math

import pytest

from seq2see import Translator
from seq2see.lens.data.word_maps import units
from seq2see.text.glossary import Glossary
from seq2see.translate.checking import SHORTEST, UNLIKELY, checked
from seq2see.translate.results import Hypothesis, Translation, is_mark, with_fields

TEXTS = ["She bought a bright yellow raincoat. He is a very good horse lover.", "", "Tom Okafor is a horse lover.",
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
    text = "She bought a bright yellow raincoat."
    [result] = everyday.check([everyday(text, target="fr")])
    words = text.rstrip(".").split()
    without = [" ".join(words[:i] + words[i + 1 :]) + "." for i in range(len(words))]
    whole, *others = everyday.score([text, *without], [result.text] * (len(words) + 1), target="fr")
    expected = [word for word, score in zip(words, others, strict=True)
                if len(word) >= SHORTEST and score.log_prob >= whole.log_prob]
    assert list(result.omitted_words) == expected == ["bright"]


def test_a_text_of_several_sentences_has_the_words_of_all(everyday):
    results = everyday.check(everyday(TEXTS, target="fr"))
    assert results[0].omitted_words == ("bright", "lover") and len(results[0].segments) == 2
    assert [one.omitted_words for one in results[0].segments] == [("bright",), ("lover",)]
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


class Pieces:
    """A codec whose tokens are the pieces of a list, by number; `</s>` is the last."""

    def __init__(self, *pieces):
        self.pieces = pieces

    def encode(self, texts, **_):
        return list(texts)

    def decode(self, ids):
        return "".join(self.pieces[id] for id in ids)


class Known:
    """An engine with a log-probability for each token, given each source."""

    def __init__(self, **log_probs):
        self.log_probs = log_probs

    def token_log_probs(self, sources, targets):
        return [self.log_probs[source.replace(" ", "_").rstrip(".")][: len(target)]
                for source, target in zip(sources, targets, strict=True)]


def part(source, pieces, *, given=0, **more):
    best = Hypothesis("".join(pieces).strip(), tuple(range(len(pieces))), -1, -1, True, given)
    return Translation.of(source, (best,), source_language="en", target_language="fr", engine="", precision="", **more)


def check(one, engine, pieces):
    [found] = checked([one], Pieces(*pieces), engine)
    return found.unlikely_words, found.omitted_words


QUARTER = math.log(0.25)


def test_the_tokens_of_a_word_count_together_and_forced_ones_not_at_all():
    pieces = ["", "Le", " cha", "t", " dort", ""]
    whole = [-100, -0.1, QUARTER, QUARTER, -0.1, -0.1]
    engine = Known(The_cat_sleeps=whole, The_cat=[-1, -0.1, QUARTER, QUARTER, -5, -0.1])
    assert check(part("The cat sleeps", pieces, given=1), engine, pieces) == (("chat",), ())
    assert check(part("The cat sleeps", pieces), engine, pieces) == (("Le", "chat"), ("sleeps",))


def test_what_is_copied_or_stands_for_protected_text_is_left_out():
    pieces = ["Tom", " voit", " Lien", ""]
    read = {"Tom_sees_Link": [-9, -0.1, -9, -0.1], "Tom_Link": [-9, -9, -9, -9]}
    one = part("Tom sees https://a.example", pieces, model_input="Tom sees Link")
    one = with_fields(one, text="Tom voit https://a.example")
    assert check(one, Known(**read), pieces) == ((), ()), "the engine is not asked for the text without Link"


def test_a_word_is_named_as_it_is_in_the_text_and_a_term_never():
    pieces = ["les", " rues", " larges", ""]
    read = Known(the_broad_streets=[-1, -9, -9, -1], the_streets=[-1, -1, -1, -1], the_broad=[-1, -1, -1, -1])
    one = part("THE BROAD STREETS", pieces, model_input="the broad streets")
    one = with_fields(one, text="LES RUES LARGES")
    assert check(one, read, pieces) == (("RUES", "LARGES"), ("BROAD", "STREETS"))
    term = part("THE BROAD STREETS", pieces, model_input="the broad streets", glossary=Glossary.of({"STREETS": "RUES"}))
    term = with_fields(term, text="LES RUES LARGES")
    assert check(term, read, pieces) == (("LARGES",), ("BROAD",))
    copied = with_fields(one, text="LES RUES BROAD")
    assert check(copied, read, pieces) == (("RUES",), ("STREETS",)), "it stands in the translation"


def test_a_token_of_a_space_counts_for_the_word_after_it():
    pieces = ["Le", " ", "chat", ""]
    whole = [-0.1, QUARTER, QUARTER, -0.1]
    assert check(part("A cat", pieces), Known(A_cat=whole), pieces) == (("chat",), ())


def test_a_text_of_one_word_stays_whole():
    assert check(part("Hello", ["Salut", ""]), Known(Hello=[-9, -0.1]), ["Salut", ""]) == (("Salut",), ())


def test_a_word_of_two_kinds_has_the_first():
    one = part("The zebra sleeps", ["Le zèbrule dort"], seen=frozenset(["the", "sleeps"]),
               seen_target=frozenset(["le", "dort"]))
    found = with_fields(one, unlikely_words=("zèbrule", "dort"), omitted_words=("zebra", "sleeps")).doubts
    assert [(doubt.kind, doubt.word) for doubt in found] == [
        ("unknown_word", "zebra"), ("omitted_word", "sleeps"), ("invented_word", "zèbrule"), ("unlikely_word", "dort")]
