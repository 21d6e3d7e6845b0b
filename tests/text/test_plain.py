"""What a model reads of odd characters, and where it came from."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seq2see.text.plain import characters, double_quoted, is_paired, length, plain
from seq2see.tokenizer.words import split_words

KNOWN = characters(frozenset(["the", "cat", "café", "...", '"', "—"]))
TEXTS = st.text(st.sampled_from("aé .…\u00a0\u2009\t\u00ad\u200b\u200e\ufeff\u200dＡﬁ你–&nbsp;"), max_size=20)


@pytest.mark.parametrize(("text", "read"), [
    ("two\u00a0dogs", "two dogs"), ("two\u202fdogs\u2009now", "two dogs now"), ("two\tdogs", "two dogs"),
    ("win\u00addow", "window"), ("c\u200ba\u200ct\u200d", "cat"), ("a\ufeffb\x00c", "abc"), ("\u200eabc\u200f", "abc"),
    ("is&nbsp;tired", "is tired"), ("win&shy;dow", "window"), ("don&#39;t", "don't"), ("Tom &amp; Al", "Tom &amp; Al"),
    ("so… well", "so... well"), ("so...... well", "so... well"), ("ﬁrst Ｃａｔ", "first Cat"),
    ("c\u034fat\ufe0f", "cat"), ("c\u3164at", "cat"), ("cat\u0301\u0301", "cat"), ("9–10 is", "9-10 is"),
    ("a – b&mdash;c", "a — b—c"),
    ("“cat” well‑known", '"cat" well-known'),
    ("क्\u200dष می\u200cخواهم", "क्\u200dष می\u200cخواهم"), ("café — x²™", "café — x²™"), ("", ""),
])
def test_it_is_read_as_the_writer_meant_it(text, read):
    assert plain(text, KNOWN).text == read


def test_without_a_list_of_known_characters_only_what_nobody_sees_changes():
    assert plain("so…\u00a0“ﬁrst”\u00ad").text == "so… “ﬁrst”"


@pytest.mark.parametrize(("text", "quoted"), [
    ("‘I know,’ he said, ‘now.’", "“I know,” he said, “now.”"), ("Why 'no?'", "Why “no?”"),
    ("‚So‘, he said", "“So”, he said"),
    ("'It is the dogs' house,' he said.", "“It is the dogs' house,” he said."), ("'The dogs' ran", "“The dogs” ran"),
    ("'I'm goin' now,' he said", "“I'm goin' now,” he said"), ("'Fish 'n' chips'!", "“Fish 'n' chips”!"),
])
def test_single_quotation_marks_are_read_in_pairs(text, quoted):
    assert double_quoted(text) == quoted
    assert is_paired(quoted) and not is_paired(quoted.replace("“", "", 1)) and not is_paired("I know.")


@pytest.mark.parametrize("text", ["The dogs' and cats' house", "rock 'n' roll", "'Tis late, 'tis true", "the '90s' end",
                                  "5' by 6'", "I don't", "'I know", "Tell 'em it's James'"])
def test_apostrophes_are_no_quotation_marks(text):
    assert double_quoted(text) == text


@given(TEXTS)
def test_each_character_has_a_place_in_the_original_and_reading_twice_changes_nothing(text):
    shown = plain(text, KNOWN)
    assert len(shown.places) == len(shown.text) + 1 and list(shown.places) == sorted(shown.places)
    for word in split_words(shown.text, language="en"):
        start, end = shown.original(word.start, word.end)
        assert 0 <= start < end <= len(text)
    if "&" not in text:
        assert plain(shown.text, KNOWN).text == shown.text or ".." in shown.text


def test_texts_that_say_the_same_are_about_equally_long_in_any_script():
    assert length("I am here, 3 of us.") == 12
    for text in ("我在这里，三个人", "우리 셋이 여기 있다", "Я здесь, нас трое"):
        assert 10 <= length(text) <= 30
