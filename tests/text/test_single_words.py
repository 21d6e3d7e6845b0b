"""A label is read in several contexts, and the translation that is likely in all of them wins."""

from math import log

import pytest

from seq2see.text.single_words import likeliest, stands_alone


def chances(**texts):
    return [(text.replace("_", " "), log(chance)) for text, chance in texts.items()]


def test_the_highest_mean_over_the_contexts_wins_without_its_article():
    found = [chances(Nenne=0.06, Name=0.02), chances(Name=0.1), chances(Der_Name=0.5, die_Namen=0.2)]
    assert likeliest("Name", found, "de") == [("Name", 2, 0), ("Namen", 2, 1)]


def test_of_no_likely_translation_there_is_none():
    assert likeliest("Hint", [chances(Zucken=0.03), chances(Winkel=0.05), chances(Der_Wink=0.05)], "de") == []


def test_two_words_that_are_copied_are_a_name():
    found = [chances(Mary_Smith=0.3, Mary_sourit=0.1), chances(Mary_sourit=0.6)]
    assert [one for one, *_ in likeliest("Mary Smith", found, "fr")] == ["Mary Smith", "Mary sourit"]


@pytest.mark.parametrize(("segment", "before", "after", "language", "alone"), [
    ("LUCY", "", ": ", "en", True), ("laughs", "(", ") ", "en", True), ("Name", "", " : ", "eng_Latn", True),
    ("First name", "", ": ", "en", True), ("my brother", "(", ") ", "en", False), ("Child 12", "", ": ", "en", True),
    ("Name", "", "", "en", False), ("Name", "", ": ", "fr", False),
])
def test_a_word_stands_alone_before_a_colon_or_in_brackets(segment, before, after, language, alone):
    assert stands_alone(segment, before, after, language) == alone
