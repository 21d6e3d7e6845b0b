"""Text wholly in capitals is read in lower case, and its translation is put in capitals."""

import pytest

from seq2see.text.capitals import (
    in_capitals,
    in_known_case,
    in_lower_case,
    in_small_letters,
    in_title_case,
    is_short_shout,
)
from seq2see.text.model_input import ModelInput


@pytest.mark.parametrize(("text", "read"), [
    ("WHERE IS THE LIBRARY?", "Where is the library?"),
    ("I'M HERE! I WON, AND I KNOW.", "I'm here! I won, and I know."),
    ("« OÙ EST LE MUSÉE ? »", "« Où est le musée ? »"),
    ("ACHTUNG, STUFE", "Achtung, stufe"),
    ("¿DÓNDE ESTÁ?", "¿Dónde está?"),
    ("ΠΟΎ ΕΊΝΑΙ", "Πού είναι"),
    ("3 CATS LEFT", "3 cats left"),
    ("DANGER", "Danger"),
    ("STOP!", "Stop!"),
])
def test_it_is_read_as_a_sentence(text, read):
    assert in_capitals(text) and in_lower_case(text) == read
    assert ModelInput.of(text).model_input == read


@pytest.mark.parametrize("text", [
    "NASA", "NASA.", "USA, UK", "OK, TV!", "I", "A B C D", "Where is THE LIBRARY?", "iPHONE", "12:30", "", "東京",
])
def test_abbreviations_and_other_texts_are_read_as_they_are(text):
    assert not in_capitals(text)


def test_the_translation_is_in_capitals_but_for_what_is_protected():
    reading = ModelInput.of("WRITE TO info@example.org TODAY, PLEASE!")
    assert "info" not in reading.model_input and reading.model_input.startswith("Write to")
    said = " ".join(["Schreiben Sie bitte heute an", *filter(None, reading.stand_ins)])
    assert (reading.restored(f"{said}!") or "").startswith("SCHREIBEN SIE BITTE HEUTE AN")
    assert "info@example.org" in (reading.restored(f"{said}!") or "")


def test_a_stand_in_comes_back_in_capitals():
    reading = ModelInput.of("CALL {name} AGAIN AT https://example.org NOW")
    said = [one for one in reading.stand_ins if one]
    assert said, "a name stands for what a model would invent"
    found = reading.restored(" und ".join(["Ruf", *said, "an"]))
    assert found is not None and "https://example.org" in found and "RUF" in found


def test_a_sharp_s_is_two_letters():
    assert ModelInput.of("THE STREET IS CLOSED").restored("Die Straße ist gesperrt") == "DIE STRASSE IST GESPERRT"


@pytest.mark.parametrize(("text", "read"), [
    ("The Old Bridge", "The old bridge"), ("Settings", "settings"), ("A Letter to Him", "A letter to him"),
    ("How To Write To Anna", "how to write to Anna"), ("Who Is It?", "who is it?"),
    ("Don't Say It's Late", "don't say it's late"),
])
def test_a_title_has_a_capital_in_every_longer_word(text, read):
    assert in_title_case(text) and in_small_letters(text, lambda word, small: word not in ("The", "Anna")) == read


@pytest.mark.parametrize("text", [
    "The little Bridge", "Thanks!", "Letter.", "NASA", "OK", "iPhone", "settings", "東京", "", "12",
])
def test_sentences_and_words_in_capitals_are_no_titles(text):
    assert not in_title_case(text)


def test_words_in_capitals_are_read_in_the_case_that_is_known():
    known = {"John", "home", "come"}
    better = lambda word, other: other in known and word not in known  # noqa: E731
    assert in_known_case("john come home usa", better) == "John come home usa"
    assert in_known_case("JOHN", better) == "John" and in_known_case("IBM", better) == "IBM"
    assert is_short_shout("JOHN") and is_short_shout("JOHN SMITH")
    assert not is_short_shout("IT") and not is_short_shout("John") and not is_short_shout("OPEN THE DOOR")
