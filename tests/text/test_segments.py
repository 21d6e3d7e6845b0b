"""What a text is cut into is all of it, in order, and goes back together as it was."""

from dataclasses import replace
from unicodedata import normalize

import pytest
import regex
from hypothesis import given
from hypothesis import strategies as st

from seq2see.text import segments
from seq2see.text.model_input import ModelInput
from seq2see.text.plain import characters
from seq2see.text.protection import DEFAULT_PROTECTION, Protection
from seq2see.text.segments import Cut, count_sentences, cut_sentences, halves, is_plain_sentence, refers_back

SEEN = Protection(characters(frozenset(['"', "...", "—"])))
TEXTS = st.text(st.sampled_from("aBC .!?-*1):{}\n\r\t\u00a0\u202f\u3000,;é\u0301你。।x'”\u2028\u200b😀"), max_size=40)


@given(TEXTS, st.sampled_from(["en", "zh", "hi", "xx", ""]), st.integers(1, 3),
       st.sampled_from([DEFAULT_PROTECTION, SEEN]))
def test_nothing_is_lost(text, language, together, protection):
    cut = cut_sentences(text, language=language, together=together, protection=protection)
    assert cut.join(cut.segments) == text
    places = zip(cut.starts(cut.segments), cut.segments, strict=True)
    assert all(text.startswith(segment, start) for start, segment in places)
    assert all(segment and segment == segment.strip() for segment in cut.segments)
    assert not any(regex.search(r"[\n\r\u2028]", segment) for segment in cut.segments)


def test_a_segment_that_is_cut_further_stays_in_its_place():
    cut = Cut(("* a b", "c d -"), ("<", " | ", ">"))
    for inner, index in ((Cut(("c", "d"), ("", " ", " -")), 1), (Cut(("a", "b"), ("* ", " ", "")), 0)):
        cut = cut.replaced(index, inner)
        assert cut.join(cut.segments) == "<* a b | c d ->"
    assert cut == Cut(("a", "b", "c", "d"), ("<* ", " ", " | ", " ", " ->"))


@pytest.mark.parametrize("space", "\u00a0\u202f\u3000")
def test_any_space_may_stand_before_a_full_stop(space):
    text = f"It has vitamin C{space}. He ran{space}! Why?"
    assert len(cut_sentences(text, language="en").segments) == count_sentences(text, language="en") == 3


@pytest.mark.parametrize("mark", ["* ", "• ", "7) ", "## ", " > - ", "https://x.org ", "😀 ", "{x}: "])
def test_a_mark_before_a_sentence_is_nothing_to_translate(mark):
    text = f"An owl. The cat.\n{mark}The dog ran."
    cut = cut_sentences(text, language="en")
    assert cut.segments == ("An owl.", "The cat.", "The dog ran.") and cut.join(cut.segments) == text


@pytest.mark.parametrize(("text", "segments"), [
    ("Name: Tom Lee", ["Name", "Tom Lee"]), ("- Full name:", ["Full name"]),
    ("Is it? Answer: no.", ["Is it?", "Answer", "no."]),
    ("Size: big; colour of it: red", ["Size", "big;", "colour of it", "red"]),
    ("**Note:** it is red", ["Note", "it is red"]), ("My dog: {x} is here", ["My dog", "{x} is here"]),
    ("Q: Why?\nA: So.", ["Why?", "So."]), ("fix(api): go", ["go"]), ("Signed-off-by: Al", ["Al"]), ("PS: go", ["go"]),
    ("TODO: fix it.", ["fix it."]), ("// FIXME (Al): go", ["go"]), ("# NOTE: go", ["go"]), ("XXX(al): go", ["go"]),
    ("RT @x: go", ["go"]), ("[12:04] Mary: go", ["Mary", "go"]), ("a) go\nb. run\nA) sit", ["go", "run", "sit"]),
    ("A. Lee ran.", ["A. Lee ran."]), ("I see only one thing: rain.", ["I see only one thing: rain."]),
    ("‘I ran. I fell,’ he said.", ["‘I ran. I fell,’ he said."]), ("He said: 'No.'", ["He said: 'No.'"]),
    ('He said: "No."', ['He said: "No."']), ('LATE: "No."', ["LATE", '"No."']),
    ("{{ a | b }}{c - d} go", ["{{ a | b }}{c - d} go"]),
    ("| Name | My age |\n|:--|--:|\n| Al | 5 |", ["Name", "My age", "Al"]),
    ("a big cat – red — old - shy", ["a big cat", "red", "old", "shy"]),
    ("(red – or not) he ran", ["(red – or not) he ran"]), ("pages 5 - 10 now", ["pages 5 - 10 now"]),
    ("well-known", ["well-known"]), ("I ran—she sat--so it is.", ["I ran", "she sat", "so it is."]),
    ("—Is he? —He is.", ["Is he?", "He is."]), ("'I—no!' he said, 5—6 --all", ["'I—no!' he said, 5—6 --all"]),
    ("My name ______ Date: ......... go", ["My name", "Date", "go"]), ("Wait…what?!", ["Wait…", "what?!"]),
    ("5th St. in Rome, e.g. here. Mr. and Mrs. Lee.", ["5th St. in Rome, e.g. here.", "Mr. and Mrs. Lee."]),
    ("<i>- Is he?</i>", ["Is he?"]),
])
def test_parts_of_a_line_that_stand_alone(text, segments):
    cut = cut_sentences(text, language="en", protection=SEEN)
    assert list(cut.segments) == segments and cut.join(cut.segments) == text


def test_a_model_that_reads_all_marks_reads_dashes_and_labels():
    assert cut_sentences("Note: a cat – a big one – ran.", language="en").whole


@given(TEXTS)
def test_halving_loses_nothing_and_cuts_no_character(text):
    cut = cut_sentences(text, language="en", together=9)
    for segment in cut.segments:
        characters = regex.findall(r"\X", segment)
        if len(characters) == 1:
            with pytest.raises(ValueError, match="one character"):
                halves(segment)
        else:
            halved = halves(segment)
            assert halved.join(halved.segments) == segment and len(halved.segments) == 2
            left = [one for part in halved.segments for one in regex.findall(r"\X", part)]
            assert [one.strip() for one in left if one.strip()] == [one.strip() for one in characters if one.strip()]


def test_only_sentences_that_refer_back_stay_with_the_one_before_and_never_over_a_line_break():
    text = "The owl lent it. It was kind. He left.\n\nIt fell.  Why did it?  They rose. It sank."
    sentences = ("The owl lent it.", "It was kind.", "He left.", "It fell.", "Why did it?", "They rose.", "It sank.")
    assert cut_sentences(text, language="en", together=1).segments == sentences
    assert cut_sentences(text, language="xx", together=6).segments == sentences  # a language we know no pronouns of
    two = cut_sentences(text, language="en", together=2)
    assert two.segments == ("The owl lent it. It was kind.", "He left.", "It fell.  Why did it?", "They rose. It sank.")
    assert two.between == ("", " ", "\n\n", "  ", "") and not two.whole
    six = cut_sentences(text, language="en", together=6)
    assert six.segments == (*two.segments[:2], "It fell.  Why did it?  They rose. It sank.")
    assert cut_sentences("Why?", language="en").whole
    assert count_sentences(text, language="en") == 7 and count_sentences(" \n", language="en") == 0


@pytest.mark.parametrize(("sentence", "language", "refers"), [
    ("“They're here,” he said.", "en", True), ("But Tom lost it.", "en", False), ("Tom lost it.", "en", True),
    ("The cat slept because it was tired.", "en", False), ("Wit is rare.", "en", False), ("Est-elle là ?", "fr", True),
    ("L'île est belle.", "fr", False), ("E\u0301l duerme.", "es", True), ("", "en", False),
])
def test_an_early_pronoun_refers_back(sentence, language, refers):
    assert refers_back(sentence, language=language) == refers


@pytest.mark.parametrize(("text", "first"), [
    ("He ran. She, who was slow, walked on and on.", "He ran."), ("one two three four", "one two"), ("abcdef", "abc"),
    ("He ran and ran and ran, she walked on.", "He ran and ran and ran,"), ("我是猫。你是狗，他也是。", "我是猫。"),
])
def test_a_long_sentence_is_cut_at_the_best_place_near_its_middle(text, first):
    assert halves(text).segments[0] == first


@given(st.from_regex(segments._PLAIN, fullmatch=True) | TEXTS, TEXTS,
       st.sampled_from(["en", "fr", "zh", "th", "hy", "el", "am", "my", "xx", ""]),
       st.sampled_from([DEFAULT_PROTECTION, SEEN]))
def test_a_plain_sentence_is_cut_and_read_as_it_is_and_nothing_is_restored_in_its_translation(text, written, language,
                                                                                            protection):
    if not is_plain_sentence(text, protection.known):
        return
    for together in (1, 3):
        cut = cut_sentences(text, language=language, together=together, protection=protection)
        assert cut == Cut((text,), ("", ""))
    reading = ModelInput.of(text, protection=replace(protection, language=language))
    assert (reading.model_input, reading.parts, reading.further()) == (text, (), None) == (
        normalize("NFC", text), (), None)
    assert reading.restored(written) == written and not reading.bracketed and not reading.asides


@pytest.mark.parametrize(("text", "plain"), [
    ("Tom's mother-in-law isn't here, is she?", True), ("Où est-il allé", True), ("I ran.", True), ("Run!", True),
    ("I", False), ("a.", False), ("OK!", False), ("He ran. I ran.", False), ("He ran?!", False), ("e.g. he ran", False),
    ("He  ran.", False), ("He ran. ", False), ("He had 3.", False), ("dogs' tails", False), ("- He ran.", False),
    ("He ran…", False), ("He: ran.", False), ("Cafe\u0301", False), ("He\u00a0ran.", False), ("Я иду.", False),
])
def test_most_sentences_are_plain(text, plain):
    assert is_plain_sentence(text, None) == plain and not is_plain_sentence(text, frozenset("abc"))


def test_a_very_long_line_is_searched_for_sentences_in_pieces_that_end_with_one(monkeypatch):
    """Because the search takes time that grows with the square of the length."""
    seen, segment = [], segments.segment
    monkeypatch.setattr(segments, "segment", lambda language, text: (seen.append(text), segment(language, text))[1])
    sentences = [f"The owl number {number} lent a ladder to the crow." for number in range(500)]
    assert cut_sentences(" ".join(sentences), language="en").segments == tuple(sentences)
    assert cut_sentences("‹" * 12_000 + " a b", language="en").segments[0][-5:] == "‹ a b"
    assert max(map(len, seen)) < 6_000


@pytest.mark.parametrize(("text", "count"), [
    ("I live in\na big house.", 1), ("The program could not open the\nfile because it was\r\nnot there.", 1),
    ("Das Programm konnte die\nDatei nicht lesen.", 1), ("We met the king of\n   England.", 1),
    ("apples\npears\nmilk", 3), ("Hello.\nthen go", 2), ("Name: Bob\nage: three", 2), ("a) one thing\nb) two", 2),
    ("The list:\napples", 2), ("Take the\n\nred book", 2), ("Roses are red\nViolets are blue", 2),
    ("Title\nby the author", 2), ("The river\n- and the sea", 2), ("Milk\nbread", 2),
])
def test_a_sentence_goes_on_in_the_next_line(text, count):
    cut = cut_sentences(text, language="en", wrapped=True)
    assert cut.join(cut.segments) == text
    assert sum(one.count("\n") for one in cut.segments) == text.count("\n") * (count == 1)
    assert all("\n" not in one for one in cut_sentences(text, language="en").segments)


@pytest.mark.parametrize(("text", "segments"), [
    ("(laughs) Come here!", ("laughs", "Come here!")), ("[MARY] I am tired.", ("MARY", "I am tired.")),
    ("[door opens] Who is there?", ("door opens", "Who is there?")), ("(Come here!)", ("Come here!",)),
    ("(The) red book is old.", ("(The) red book is old.",)),
    ("Paris (France) is large.", ("Paris (France) is large.",)),
    ("He is here–she is not.", ("He is here", "she is not.")),
    ("I am tired–very tired.", ("I am tired", "very tired.")),
    ("The Paris–London train is late.", ("The Paris–London train is late.",)),
])
def test_what_stands_before_a_sentence_is_apart(text, segments):
    cut = cut_sentences(text, language="en", protection=Protection(known=characters(frozenset({'"'}))))
    assert cut.segments == segments and cut.join(cut.segments) == text
