"""A text without one of its words is spaced as ordinary text is: what the model reads then was in its training."""

import pytest

from seq2see.lens.erasure import without
from seq2see.tokenizer.words import split_words


@pytest.mark.parametrize(("text", "language", "word", "left"), [
    ("The cat was too tired.", "en", "tired", "The cat was too."),  # not "too .": a lone space is a piece of its own
    ("The cat was too tired.", "en", "cat", "The was too tired."),
    ("The cat was too tired.", "en", ".", "The cat was too tired"),
    ("The cat was too tired", "en", "tired", "The cat was too"),
    ("The cat, tired, sat.", "en", "tired", "The cat,, sat."),
    ("The cat, tired, sat.", "en", ",", "The cat tired, sat."),
    ("Wow! Yes", "en", "Wow", "! Yes"),
    ("  The cat", "en", "The", "  cat"),
    ("He (now) sat", "en", "(", "He now) sat"),
    ('He ("now") sat', "en", "(", 'He "now") sat'),  # a mark that opens keeps the space before it
    ("He (now) sat", "en", "now", "He () sat"),
    ("Bien fatigué !", "fr", "fatigué", "Bien !"),  # a French mark keeps its space, and the kind of it
    ("Bien fatigué\u202f!", "fr", "fatigué", "Bien\u202f!"),
    ("Bien fatigué!", "fr", "fatigué", "Bien!"),
    ("Vois l'arbre.", "fr", "l'", "Vois arbre."),
    ("Vois l'arbre.", "fr", "arbre", "Vois l'."),
    ("वह थका है।", "hi", "है", "वह थका।"),
    ("猫が好き", "ja", "猫", "が好き"),
])  # fmt: skip
def test_no_space_is_left_that_ordinary_text_has_not(text, language, word, left):
    asked = next(one for one in split_words(text, language=language) if one.text == word)
    assert without(text, asked) == left
