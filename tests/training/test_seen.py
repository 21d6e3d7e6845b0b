"""What a model has seen is recorded, so that what it is given later can be marked or cut."""

import json

import pytest

from seq2see.training.pairs import Pair
from seq2see.training.seen import seen_at_once, seen_words
from tests import tiny


def pair(source, target="Le chat."):
    return Pair(source, target, "en", "fr")


@pytest.fixture(scope="module")
def tokenizer():
    return tiny.make("seq2see")[1]


def test_sentences_are_those_that_one_source_in_a_hundred_has(tokenizer):
    one, two = pair("The cat."), pair("The cat. The box.")
    assert seen_at_once([one] * 99 + [two], tokenizer)["source_sentences"] == 1
    assert seen_at_once([one] * 98 + [two] * 2, tokenizer)["source_sentences"] == 2
    assert seen_at_once([pair("")], tokenizer)["source_sentences"] == 1


def test_pieces_are_those_of_the_longest_source(tokenizer):
    pairs = [pair("The cat."), pair("The cat did not cross the street."), pair("zzzzzzzzzzzzzzzzzzzz")]
    longest = max(len(tokenizer.encode_source(one.source)) for one in pairs)
    assert longest == len(tokenizer.encode_source(pairs[2].source)) > len(tokenizer.encode_source(pairs[1].source))
    assert seen_at_once(pairs, tokenizer)["source_pieces"] == longest


def test_what_the_run_it_began_from_has_seen_counts_too(tokenizer, tmp_path):
    (tmp_path / "seen_words.json").write_text(json.dumps({"en": ["owl"]}), "utf-8")
    (tmp_path / "generation_config.json").write_text(json.dumps({"source_pieces": 99}), "utf-8")
    assert seen_words([pair("The cat.")], start=tmp_path)["en"] == [".", "cat", "owl", "the"]
    assert seen_at_once([pair("The cat.")], tokenizer, start=tmp_path) == {
        "source_sentences": 1, "source_pieces": 99,
    }  # fmt: skip
