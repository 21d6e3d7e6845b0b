"""Words: what a reader would count, in the languages the project speaks."""

import pytest
import regex
from hypothesis import given
from hypothesis import strategies as st

from seq2see.tokenizer import split_words, words


@pytest.mark.parametrize(
    ("language", "text", "expected"),
    [
        # Elision, with both apostrophes, and words of the lexicon that only look elided.
        ("fr", "parce qu'il n'a pas d'eau", "parce qu' il n' a pas d' eau"),
        ("fr", "L’arbre jusqu'ici quoiqu'elle", "L’ arbre jusqu' ici quoiqu' elle"),
        ("fr", "d'aujourd'hui AUJOURD’HUI", "d' aujourd'hui AUJOURD’HUI"),
        ("fr", "presqu'île Quelqu’une chef-d'œuvre rock'n'roll", "presqu'île Quelqu’une chef-d'œuvre rock'n'roll"),
        # A clitic after its verb, and other hyphens.
        ("fr", "A-t-il vu ? Est-elle là ?", "A -t-il vu ? Est -elle là ?"),
        ("fr", "qu'est-ce qu'il a", "qu' est -ce qu' il a"),
        ("fr", "donne-le-moi, va-t'en", "donne -le -moi , va -t' en"),
        ("fr", "peut-être celui-ci, cessez-le-feu à Aix-en-Provence", "peut-être celui-ci , cessez-le-feu à "
         "Aix-en-Provence"),
        # Punctuation with and without its French space, and numbers.
        ("fr", "Ça\u00a0? Oui\u202f! Non ; si: là", "Ça ? Oui ! Non ; si : là"),
        ("fr", "3,5 1 000 10h30 1.000,50", "3,5 1 000 10h30 1.000,50"),
        ("en", "the dogs’ 'well-known' O’Brien didn't", "the dogs ’ ' well-known ' O’Brien didn't"),
        ("en", "Wait... what?! 3.5% of $1,000", "Wait ... what ? ! 3.5 % of $ 1,000"),
        ("en", "the U.S. army, e.g. l'arbre a-t-il", "the U.S. army , e.g. l'arbre a-t-il"),
        ("hi", "क्षत्रिय ने कहा। धीरे-धीरे॥ क्\u200dष", "क्षत्रिय ने कहा । धीरे-धीरे ॥ क्\u200dष"),
        ("zh", "我是abc学生。", "我 是 abc 学 生 。"),
        ("en", "hi👩🏽‍🚀🇫🇷🇩🇪👍🏿 1️⃣❤️ cafe\u0301", "hi 👩🏽‍🚀 🇫🇷 🇩🇪 👍🏿 1️⃣ ❤️ cafe\u0301"),
    ],
)
def test_words_are_what_a_reader_counts(language: str, text: str, expected: str) -> None:
    assert [word.text for word in split_words(text, language=language)] == expected.split(" ")


PARTS = st.lists(
    st.one_of(
        st.sampled_from([*" \u00a0\u202f\n\t'’-.,:?!·«»aeltqujnyAE1290é"]),
        st.sampled_from(["t-il", "-ce", "l'", "qu’", "aujourd'hui", "-le", "-moi", "...", "m'en", "U.S."]),
        st.sampled_from([*"कखगतरीि्ा़ंॐ।०\u200c\u200d"]),
        st.sampled_from([*"我学ラー👩👍🏽🏿\u200d🇫🇷\ufe0f\u20e3\u0301"]),
        st.characters(),
    ),
    max_size=25,
).map("".join)


@given(text=PARTS, language=st.sampled_from(["en", "fr", "hi", "zh"]))
def test_words_and_the_space_between_them_are_the_text_and_no_word_cuts_a_grapheme(text: str, language: str) -> None:
    found, end = split_words(text, language=language), 0
    for word in found:
        assert word.start >= end and word.end > word.start
        assert word.text == text[word.start : word.end] and not regex.search(r"\s", word.text)
        assert not text[end : word.start].strip()
        end = word.end
    assert not text[end:].strip()
    for grapheme in regex.finditer(r"\X", text):
        inside = {n for n, word in enumerate(found) if word.start < grapheme.end() and grapheme.start() < word.end}
        assert len(inside) <= 1


@pytest.mark.parametrize("unit", ["-le", "l'", "a.b.", "1.", "\u0301", "क्", "-t'en", "👩\u200d"])
def test_a_long_line_is_cut_in_linear_time(unit: str) -> None:
    """Each of these once was, or might be, quadratic: at this length that takes minutes, and the timeout ends it."""
    assert sum(len(word.text) for word in split_words(unit * (100_000 // len(unit)), language="fr")) > 90_000


@given(st.lists(st.sampled_from(["cat", "I", "can't", "a-b", "U.S.", "e.g", " ", ". ", ", ", ".", "-", "'", "é", "5"]))
       .map("".join), st.sampled_from(["en", "fr", "zh"]))
def test_words_of_letters_are_found_faster_and_the_same(text: str, language: str) -> None:
    found = [(one[0], *one.span()) for one in words._pattern(language).finditer(text)]
    assert [(one.text, one.start, one.end) for one in split_words(text, language=language)] == found
