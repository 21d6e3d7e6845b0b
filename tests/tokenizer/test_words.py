"""Words: what a reader would count, in the languages the project speaks."""

import pytest
import regex
from hypothesis import given
from hypothesis import strategies as st

from seq2see.tokenizer import split_words


def words(text: str, language: str) -> list[str]:
    return [word.text for word in split_words(text, language=language)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # Elision, with both apostrophes.
        ("l'arbre", "l' arbre"),
        ("L’arbre qu’elle a vu", "L’ arbre qu’ elle a vu"),
        ("parce qu'il n'a pas d'eau", "parce qu' il n' a pas d' eau"),
        ("s'il c'est j'ai m'a t'a", "s' il c' est j' ai m' a t' a"),
        ("jusqu'ici lorsqu'on puisqu'un quoiqu'elle", "jusqu' ici lorsqu' on puisqu' un quoiqu' elle"),
        ("l'« ami »", "l' « ami »"),
        # Words of the lexicon that only look elided.
        ("aujourd'hui AUJOURD’HUI", "aujourd'hui AUJOURD’HUI"),
        ("d'aujourd'hui", "d' aujourd'hui"),
        ("presqu'île quelqu'un Quelqu’une", "presqu'île quelqu'un Quelqu’une"),
        ("c'est-à-dire chef-d'œuvre rock'n'roll", "c'est-à-dire chef-d'œuvre rock'n'roll"),
        ("aujourd'huit", "aujourd'huit"),
        # A clitic after its verb.
        ("A-t-il vu ? Est-elle là ?", "A -t-il vu ? Est -elle là ?"),
        ("où va-t-on", "où va -t-on"),
        ("qu'est-ce qu'il a", "qu' est -ce qu' il a"),
        ("donne-le-moi, allons-nous-en, dis-le-lui", "donne -le -moi , allons -nous -en , dis -le -lui"),
        ("va-t'en, donne-m’en", "va -t' en , donne -m’ en"),
        ("y a-t-il... vas-y", "y a -t-il ... vas -y"),
        # Other hyphens.
        ("peut-être celui-ci grand-père", "peut-être celui-ci grand-père"),
        ("un rendez-vous, chez-moi", "un rendez-vous , chez-moi"),
        ("cessez-le-feu à Aix-en-Provence", "cessez-le-feu à Aix-en-Provence"),
        ("étudiant·e·s", "étudiant·e·s"),
        # Punctuation with and without its French space, and numbers.
        ("Ça\u00a0? Oui\u202f! Non ; si: là", "Ça ? Oui ! Non ; si : là"),
        ("3,5 1 000 10h30 1.000,50", "3,5 1 000 10h30 1.000,50"),
    ],
)
def test_french(text: str, expected: str) -> None:
    assert words(text, "fr") == expected.split(" ")


@pytest.mark.parametrize(
    ("language", "text", "expected"),
    [
        ("en", "I didn't see the cat's tail.", "I didn't see the cat's tail ."),
        ("en", "the dogs’ 'well-known' O’Brien", "the dogs ’ ' well-known ' O’Brien"),
        ("en", "Wait... what?! 3.5% of $1,000", "Wait ... what ? ! 3.5 % of $ 1,000"),
        ("en", "the U.S. army, e.g. here", "the U.S. army , e.g. here"),
        ("en", "l'arbre a-t-il", "l'arbre a-t-il"),
        ("de", "Wie geht's dem Straßen-Café?", "Wie geht's dem Straßen-Café ?"),
        ("hi", "क्षत्रिय ने कहा। धीरे-धीरे॥", "क्षत्रिय ने कहा । धीरे-धीरे ॥"),
        ("hi", "क्\u200dष पढ़ें", "क्\u200dष पढ़ें"),
        ("zh", "我是abc学生。", "我 是 abc 学 生 。"),
        ("ja", "ラーメンを", "ラ ー メ ン を"),
        ("en", "hi👩🏽‍🚀🇫🇷🇩🇪👍🏿 1️⃣❤️", "hi 👩🏽‍🚀 🇫🇷 🇩🇪 👍🏿 1️⃣ ❤️"),
        ("en", "cafe\u0301 ok", "cafe\u0301 ok"),
    ],
)
def test_other_languages(language: str, text: str, expected: str) -> None:
    assert words(text, language) == expected.split(" ")


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
LANGUAGES = st.sampled_from(["en", "fr", "hi", "zh"])


@given(text=PARTS, language=LANGUAGES)
def test_words_and_the_space_between_them_are_the_text(text: str, language: str) -> None:
    end = 0
    for word in split_words(text, language=language):
        assert word.start >= end and word.end > word.start
        assert word.text == text[word.start : word.end]
        assert not text[end : word.start].strip()
        end = word.end
    assert not text[end:].strip()


@given(text=PARTS, language=LANGUAGES)
def test_no_word_cuts_a_grapheme(text: str, language: str) -> None:
    found = split_words(text, language=language)
    for grapheme in regex.finditer(r"\X", text):
        inside = {n for n, word in enumerate(found) if word.start < grapheme.end() and grapheme.start() < word.end}
        assert len(inside) <= 1


@given(text=PARTS, language=LANGUAGES)
def test_a_word_holds_no_space(text: str, language: str) -> None:
    assert not any(regex.search(r"\s", word.text) for word in split_words(text, language=language))


@pytest.mark.parametrize("unit", ["-le", "a-", "l'", "a", "a.b.", "1.", "e\u0301", "\u0301", "क्", "-t'en", "👩\u200d"])
def test_a_long_line_is_cut_in_linear_time(unit: str) -> None:
    """Each of these once was, or might be, quadratic: at this length that takes minutes, and the timeout ends it."""
    assert sum(len(word.text) for word in split_words(unit * (100_000 // len(unit)), language="fr")) > 90_000
