"""The examples of a page differ in one word, and another word of the translation follows it."""

import re

import pytest

from seq2see import Translator
from seq2see.errors import UserError
from seq2see.lens.data.word_maps import units
from seq2see.lens.records.example_record import ExamplePair, Examples
from seq2see.measures import example_choice
from seq2see.measures.example_choice import OFFERED, choose_examples, minimal_pairs
from seq2see.measures.held_out_pairs import HeldOutPairs
from seq2see.storybook.lexicon import NOUNS
from seq2see.webpage_data.example_pairs import pairs_of

TEXTS = ["The cat is very tired today.", "The queen is very tired today.", "The old dog sleeps in the garden.",
         "The old dog sleeps in the kitchen.", "No."]


def test_minimal_pairs_differ_in_one_word():
    found = list(minimal_pairs([*TEXTS, TEXTS[0]], ("en", "fr")))
    assert [one.texts for one in found] == [(TEXTS[0], TEXTS[1]), (TEXTS[2], TEXTS[3])]
    assert [(one.before, one.after) for one in found] == [("The ", " is very tired today."), (
        "The old dog sleeps in the ", ".")]


@pytest.fixture(scope="module")
def translator():
    return Translator.from_pretrained("storybook", engine="torch")


@pytest.fixture(scope="module")
def chosen(translator):
    corpus = HeldOutPairs("own", ("en", "fr"), [(text, "") for text in TEXTS], [], decides=True)
    return choose_examples(translator, [corpus], limit=6)


def test_in_each_sentence_a_word_is_written_that_the_other_does_not_have(translator, chosen):
    assert 1 <= len(chosen.pairs) <= OFFERED
    for pair in chosen.pairs:
        translations = translator(list(pair.texts), source="en", target="fr")
        one, other = (re.findall(r"\w+", found.text) for found in translations)
        first, second = pair.agrees
        assert first in one and first not in other and second in other and second not in one, pair
        assert {first, second}.isdisjoint(one.fr for one in NOUNS.values()), "the translation of the word itself"


def test_the_word_that_follows_is_not_the_translation_of_the_swapped_one(monkeypatch, translator):
    """A head matters most for the noun itself, and also for an adjective."""
    falls = {"chat": -9.0, "reine": -9.0, "fatigué": -1.0, "fatiguée": -1.0}

    def evidence(model, tokenizer, trace, **_):
        found = units(trace.target, trace.target_words)
        noun = next(place for place, word in enumerate(trace.target_words) if word.text in ("chat", "reine"))
        return {"links": [(1, noun, 1.0)], "log_odds": [3.0] * len(found), "heads": [
            {"log_odds": [falls.get(unit.text, 3.0) for unit in found], "instead": [None] * len(found)}]}

    monkeypatch.setattr(example_choice, "evidence_of", evidence)
    monkeypatch.setattr(example_choice, "ENGLISH", (("The ", ("cat", "queen"), " is tired."),))
    examples = choose_examples(translator, [HeldOutPairs("own", ("en", "fr"), [], [], decides=True)])
    assert [one.agrees for one in examples.pairs] == [("fatigué", "fatiguée")]


def test_they_are_read_again_and_belong_to_their_weights(translator, chosen, tmp_path):
    chosen.save(tmp_path / "example_pairs.json")
    assert Examples.load(tmp_path / "example_pairs.json") == chosen
    (tmp_path / "example_pairs.json").write_text("{}")
    with pytest.raises(UserError, match="is not a valid list of examples"):
        Examples.load(tmp_path / "example_pairs.json")
    assert not translator.measurements.examples and not pairs_of(translator, is_right=False)
    own = pairs_of(Translator.from_pretrained("everyday"), is_right=False)
    assert {tuple(one["languages"]) for one in own} == {("en", "fr"), ("en", "de"), ("en", "es")}
    assert ExamplePair(**{name: value for name, value in own[0].items() if name != "model"}).options
