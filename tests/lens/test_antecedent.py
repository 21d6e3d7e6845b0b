"""What a pronoun stands for is said only where switching a head off shows it; then it is right."""

from dataclasses import astuple

import pytest

from seq2see import Translator
from seq2see.lens.changes.interventions import record
from seq2see.lens.changes.means import head_means
from seq2see.lens.questions.antecedent import antecedent
from seq2see.lens.records.roles import Noun

RIGHT = {  # of storybook's families, with other words than its examples have; the noun that *it* stands for
    "The cat did not cross the street because it was too tired.": "cat",
    "The cat did not cross the street because it was too wide.": "street",
    "The goat chased the wolf because it was hungry.": "goat",
    "The goat fled from the wolf because it was hungry.": "wolf",
    "The box did not fit in the bag because it was too big.": "box",
    "The box did not fit in the bag because it was too small.": "bag",
}
SILENT = [
    "The astronaut did not open the laptop because it was too heavy.",  # the head looks at *pas*
    "The king sold the castle because it was old.",  # at *roi*, which is no *it*
    "The white goat offered the kite to the beautiful bear. It enjoyed sharing.",  # at *blanche*
    "The girl did not put the cakes in the bowl because they were too small.",  # *ils* with feminine nouns too
    "It was raining.",
    "The king was tired because he was old.",
    "The dog did not like it because it was cold.",  # two pronouns
]


@pytest.fixture(scope="module")
def storybook():
    return Translator.from_pretrained("storybook", engine="torch")


def treated(translator, text, **changed):
    [trace] = translator.look(translator(text, target="fr"))
    with translator.inside() as (model, tokenizer):
        means, _ = head_means(model, tokenizer, trace, translator.folder)
        known = {"roles": translator.roles, "nouns": translator.measurements.nouns, "means": means}
        found = antecedent(model, tokenizer, trace, **known | changed)
    words = trace.source_words, trace.source_words, trace.target_words
    return found and tuple(side[i].text for side, i in zip(words, astuple(found), strict=True))


@pytest.mark.few(2)
@pytest.mark.parametrize(("text", "noun"), RIGHT.items())
def test_the_examples_are_treated_rightly(storybook, text, noun):
    pronoun, found, written = treated(storybook, text)
    assert (pronoun, found) == ("it", noun) and written in ("il", "elle")


@pytest.mark.few(3)
@pytest.mark.parametrize("text", SILENT)
def test_nothing_is_said_without_a_noun_that_fits(storybook, text):
    assert treated(storybook, text) is None


def test_nothing_is_said_without_a_lexicon_a_role_or_an_effect(storybook):
    text, nouns = next(iter(RIGHT)), storybook.measurements.nouns
    assert treated(storybook, text, nouns=frozenset()) is None
    assert treated(storybook, text, roles={}) is None
    others = frozenset(Noun(one.source, one.target, {"m": "f", "f": "m"}[one.gender]) for one in nouns)
    assert treated(storybook, text, nouns=others) is None, "the noun must have the pronoun's gender"
    [head] = [head for head, found in storybook.roles.items() if head[0] == "decoder"
              and any(role.role == "antecedent" for role in found)]
    [trace] = storybook.look(storybook(text, target="fr"))
    with storybook.inside() as (model, tokenizer):
        means, _ = head_means(model, tokenizer, trace, storybook.folder)
    own = output_at_the_pronoun(storybook, trace, head)
    assert treated(storybook, text, means=means | {head: own}) is None, "a head whose absence changes nothing"


def output_at_the_pronoun(translator, trace, head):
    """What a head mixes at the step of the pronoun: in its place, it changes nothing there."""
    at = next(t for t, token in enumerate(trace.target) if token.text.strip() == "il")
    with translator.inside() as (model, _):
        mixed = record(model, [trace.source_ids], [trace.target_ids]).mixed[head[0], head[1]]
    size = mixed.shape[-1] // 4
    return mixed[0, at, head[2] * size : (head[2] + 1) * size]
