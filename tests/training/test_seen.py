"""What a model has seen is recorded, so that what it is given later can be marked or cut."""

import json

import pytest

from seq2see.training.batching import EncodedPairs
from seq2see.training.finishing import seen_words, source_limits
from seq2see.training.joining import MOST_JOINED, JoinedPairs
from seq2see.training.pairs import Pair
from tests import tiny


def pair(source, target="Le chat."):
    return Pair(source, target, "en", "fr")


@pytest.fixture(scope="module")
def tokenizer():
    return tiny.make("seq2see")[1]


def limits(pairs, tokenizer, *, share, start=None):
    encoded = EncodedPairs(pairs, tokenizer, max_length=200)
    return source_limits(JoinedPairs(encoded, share=share, max_length=200), start=start)


def test_a_model_may_be_given_as_many_sentences_as_were_joined_in_training(tokenizer):
    pairs = [pair("The cat. The box.")] * 40
    assert limits(pairs, tokenizer, share=0.0)["source_sentences"] == 1  # they may all depend on each other
    assert 2 <= limits(pairs, tokenizer, share=0.5)["source_sentences"] <= MOST_JOINED
    assert limits(pairs * 5, tokenizer, share=1.0)["source_sentences"] == MOST_JOINED


def test_tokens_are_those_of_the_longest_source(tokenizer):
    pairs = [pair("The cat."), pair("The cat did not cross the street."), pair("zzzzzzzzzzzzzzzzzzzz")]
    lengths = [len(tokenizer.encode_source(one.source)) for one in pairs]
    assert limits(pairs, tokenizer, share=0.0)["source_pieces"] == max(lengths) == lengths[2] > lengths[1]
    assert limits(pairs[:2], tokenizer, share=1.0)["source_pieces"] == sum(lengths[:2]) - 1


def test_a_name_that_is_only_copied_is_no_word_until_it_is_in_five_pairs():
    for times in (1, 4, 5):
        found = seen_words([pair("Vroskin’s cat, Mr. vroskin!", "Le chat de Vroskin, M. Vroskin !")] * times)
        assert ("vroskin" in found["en"], "vroskin’s" in found["en"], "vroskin" in found["fr"]) == (times == 5,) * 3
        assert {"cat", ",", "!"} <= {*found["en"]} and {"chat", "le", ","} <= {*found["fr"]}
    assert "vroskin" in seen_words([pair("Vroskin.", "Le chat.")])["en"], "it is translated"


def test_what_the_run_it_began_from_has_seen_counts_too(tokenizer, tmp_path):
    (tmp_path / "seen_words.json").write_text(json.dumps({"en": ["owl"]}), "utf-8")
    (tmp_path / "generation_config.json").write_text(json.dumps({"source_pieces": 99}), "utf-8")
    assert seen_words([pair("The cat.")], start=tmp_path)["en"] == [".", "cat", "owl", "the"]
    assert limits([pair("The cat.")], tokenizer, share=0.0, start=tmp_path) == {
        "source_sentences": 1, "source_pieces": 99,
    }
    (tmp_path / "generation_config.json").write_text(json.dumps({"source_pieces": 2}), "utf-8")
    alone = limits([pair("The cat.")], tokenizer, share=0.0)
    assert limits([pair("The cat.")], tokenizer, share=0.0, start=tmp_path) == alone
