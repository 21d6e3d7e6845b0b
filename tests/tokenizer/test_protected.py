"""What is no language comes back as it was, exactly once, whatever a model writes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seq2see.tokenizer.protected import ANY
from seq2see.tokenizer.reading import MOST_CARE, Reading

PROTECTED = [
    "https://x.org/a_(b)?c=d&e#f", "www.x.org/a", "x.org", "a.b+c@d-e.co.uk", "😀", "👩‍👩‍👧", "🇫🇷", "1️⃣",
    "/usr/bin/x", "C:\\x\\y.txt", "./a.txt", "../b", "~/c", "src/d.py", "{placeholder}", "{0}", "{}", "{{ x }}", "${x}",
    "%s", "%(name)d", "%1$s", "%-5.2f", "\ue000", "\\\\server\\share", "C:/Users/x", "/notes.txt", "docs/README.MD",
]  # fmt: skip
LANGUAGE = ["and/or", "km/h", "100% sure", "5 % of", "he said: no", "e.g. this", "U.S.", "a {b c} d", "3.5",
            "didn't", "his /her dog", "and/or.Next", "he/she.They ran"]
PARTS = [*PROTECTED, "the cat", "a", "Anna", "12", "(", ").", ",", "!", "25"]
TEXTS = st.lists(st.sampled_from(PARTS), max_size=8).map(" ".join)


@pytest.mark.parametrize("text", PROTECTED)
def test_it_is_seen_as_a_whole(text):
    for around in ("{}", "See {}.", "({}), he said", "What is “{}”?", "{}: it", "the {} cat"):
        [(start, end)] = ANY.spans(around.replace("{}", text))
        assert around.replace("{}", text)[start:end] == text
    assert not ANY.has_words(text) and ANY.has_words(f"{text} is") and ANY.masked(text) == "_" * len(text)


def test_language_is_not_protected():
    for text in LANGUAGE:
        assert ANY.spans(text) == [] and Reading.of(text).model_input == text


@given(TEXTS, st.integers(0, MOST_CARE))
def test_a_model_that_copies_gives_the_text_back(text, care):
    reading = Reading.of(text, care=care)
    if all(reading.stand_ins):
        assert reading.restored(reading.model_input) == text.strip() or text != text.strip()


@given(TEXTS, st.text(st.sampled_from("ab AnnaPul 25,.é猫"), max_size=30))
def test_at_last_it_comes_back_whatever_the_model_writes(text, written):
    reading, ways = Reading.of(text), 1
    while reading.restored(written) is None:
        reading, ways = reading.further(), ways + 1
    assert ways <= MOST_CARE + 1
    restored = reading.restored(written)
    for span in ANY.spans(text):
        part = text[slice(*span)]
        assert restored.count(part) >= text.count(part), part


def test_a_name_or_a_number_in_the_text_is_no_stand_in():
    assert Reading.of("Anna saw {x} and paul.").model_input == "Anna saw Laura and paul."
    assert Reading.of("25 cats saw 7.", care=1).model_input == "40 cats saw 60."


@pytest.mark.parametrize(("text", "written", "restored"), [
    ("See {x} for more.", "Siehe Anna .", "Siehe {x} ."),
    ("See {x} for more.", "Mehr bei Anna und Anna.", None),  # twice
    ("See {x} for more.", "Mehr bei Annas.", None),  # inflected
    ("See {x}, {y}.", "Paul, siehe Anna.", "{y}, siehe {x}."),
    ("See  {x}  for 3.5 more.", "Siehe Anna 3,5 mehr.", "Siehe  {x}  3,5 mehr."),
    ("I have 1,000 cats.", "J'ai 1 000 chats.", "J'ai 1 000 chats."),
    ("२०२६ में", "in 2026", "in 2026"),
    ("I have 25 cats.", "J'ai 52 chats.", None),
    ("the 2nd cake", "le 2e gâteau", "le 2e gâteau"),
    ("I go.", "Je vais 3 fois.", "Je vais 3 fois."),  # there is no other way to read it
    ("It costs $5.", "Il coûte 5.", None),
    ("It costs $5.", "Il coûte 5 $.", "Il coûte 5 $."),
    ("I like 😀 it.", "J'aime ça.", "J'aime 😀 ça."),
    ("Hello😀world", "Bonjour monde", "Bonjour😀monde"),
])  # fmt: skip
def test_what_comes_of_a_translation(text, written, restored):
    assert Reading.of(text).restored(written) == restored


def test_what_a_forced_beginning_holds_is_not_put_in_again():
    reading = Reading.of("See {x} for more.", prefix="Siehe {x}")
    assert reading.model_input == "See for more." and reading.restored("Siehe {x} mehr.") == "Siehe {x} mehr."


@pytest.mark.parametrize("number", ["12h30", "A4", "+33", "$5", "20 °C", "[1]", "1,000.5"])
def test_letters_and_signs_at_a_number_are_read_and_put_back_with_it(number):
    reading = Reading.of(f"I saw {number} cats.", care=1)
    assert reading.model_input == "I saw 25 cats."
    assert reading.restored("J'ai vu 25 chats.") == f"J'ai vu {number} chats."


@pytest.mark.parametrize("text", ["I saw {x}s.", "It is 12h30 now."])
def test_what_is_put_where_no_stand_in_stood_touches_no_word(text):
    [part] = [text[slice(*part.span)] for part in Reading.of(text, care=2).parts]
    assert f" {part} " in f" {Reading.of(text, care=2).restored('petites maisons ici bleues')} "
