"""The Unigram vocabulary: the forms of a word share tokens, and a capital letter costs one."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from seq2see.tokenizer import Seq2SeeTokenizer, train_tokenizer
from seq2see.tokenizer.layout import FIRST_LEARNT
from seq2see.tokenizer.unigram import MARK
from seq2see.tokenizer.unigram_learning import learn

WORDS = ("umbrella", "door", "window", "letter", "garden")
TEXTS = [text for word in WORDS for text in (f"I see the {word}.", f"My {word} is here, your {word} too.")] * 3 + [
    "NATO has doors, windows, letters and gardens. L'été, c'est l'Italie."] * 4


@pytest.fixture(scope="module")
def unigram() -> Seq2SeeTokenizer:
    return train_tokenizer(TEXTS, vocab_size=420, languages=["fr"], model_type="unigram")


def test_a_form_that_was_never_seen_shares_the_token_of_its_word(unigram: Seq2SeeTokenizer) -> None:
    assert unigram.tokenize("two umbrellas")[-2:] == [" umbrella", "s"]


@pytest.mark.parametrize("word", WORDS)
def test_a_word_has_the_same_tokens_with_a_capital_letter(unigram: Seq2SeeTokenizer, word: str) -> None:
    title = word.capitalize()
    assert unigram.tokenize(f"my {title} is") == [" my", MARK, *unigram.tokenize(word), " is"]
    assert unigram.tokenize(title) == [MARK, *unigram.tokenize(word)]


def test_capitals_side_by_side_are_not_marked(unigram: Seq2SeeTokenizer) -> None:
    assert MARK not in unigram.tokenize("NATO") and MARK not in unigram.tokenize("the NATO is")


def test_no_space_stands_alone_before_what_was_seen_after_one(unigram: Seq2SeeTokenizer) -> None:
    for text in TEXTS:
        assert " " not in unigram.tokenize(text)


def test_a_mark_before_anything_but_a_small_letter_is_left_out(unigram: Seq2SeeTokenizer) -> None:
    mark, dot = unigram.convert_tokens_to_ids([MARK, "."])
    assert unigram.decode_text([mark, mark, dot, mark]) == "."


CUTS = st.dictionaries(st.text("abc", min_size=1, max_size=8), st.integers(1, 9), min_size=1, max_size=12)


@given(pieces=CUTS, room=st.integers(3, 30))
def test_learnt_are_the_characters_and_the_chances_sum_to_one(pieces: dict[str, int], room: int) -> None:
    found = learn(pieces, "abc", room=room)
    assert {*"abc"} <= found.keys() and len(found) <= room and [*found] == sorted(found)
    assert sum(np.exp([*found.values()])) == pytest.approx(1)
    assert all(any(token in piece for piece in pieces) for token in found if len(token) > 1)


def test_what_is_repeated_most_becomes_a_token() -> None:
    found = learn(Counter(abcab=50, cba=1), "abc", room=4)
    assert "abcab" in found


def test_the_vocabulary_is_as_large_as_was_asked_for(unigram: Seq2SeeTokenizer) -> None:
    assert len(unigram) <= 420 and unigram.blank_token_ids == [unigram.convert_tokens_to_ids(" ")]
    tokens = unigram.convert_ids_to_tokens(list(range(FIRST_LEARNT, len(unigram))))
    assert tokens[:-1] == sorted(tokens[:-1]) and tokens[-1] == " "
