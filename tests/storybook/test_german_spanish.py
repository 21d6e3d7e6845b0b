"""Storybook in German and Spanish: true to its own annotation, apart from the French test, and read by training."""

import re

import pytest

from seq2see.errors import UserError
from seq2see.storybook import StoryPair, in_language
from seq2see.tokenizer.words import split_words
from seq2see.training.config import load_config
from seq2see.training.metrics import pronoun_accuracy
from seq2see.training.pairs import load_split

# The gender of some words in German, written here independently.
GENDERS = {
    "cat": "sie", "dog": "er", "wolf": "er", "horse": "es", "pig": "es", "goat": "sie", "cow": "sie", "bear": "er",
    "mouse": "sie", "rabbit": "es", "box": "sie", "suitcase": "er", "table": "er", "chair": "er", "house": "es",
    "castle": "es", "street": "sie", "river": "er", "field": "es", "bottle": "sie", "bucket": "er", "car": "es",
}


SIZE = 500  # of training, as many as of val and test


@pytest.fixture(scope="module", params=["de", "es"])
def told(request):
    return in_language(request.param, train_size=SIZE)


def source_words(pair: StoryPair) -> list[str]:
    return [word.text for word in split_words(pair.source, language="en")]


def test_the_german_pronoun_has_the_gender_of_its_noun():
    checked = 0
    for pair in in_language("de", train_size=1000).train:
        words = [word.text for word in split_words(pair.target, language="de")]
        for one in pair.antecedents:
            noun = source_words(pair)[one.noun].lower()
            if noun in GENDERS:
                assert words[one.target].lower() == GENDERS[noun], pair
                checked += 1
    assert checked > 200


KNOWN = {
    "de": """
        The dog left the pretty barn because it was on fire.
            Der Hund verließ die hübsche Scheune, weil sie in Flammen stand.
        The witch emptied the bucket into the yellow basin until it was full.
            Die Hexe leerte den Eimer in das gelbe Becken, bis es voll war.
        The shelf cracked under our bench because it was made of iron.
            Das Regal bekam unter unserer Bank Risse, weil sie aus Eisen war.
        The crate was stuck in this bucket because it was too narrow.
            Die Kiste steckte in diesem Eimer fest, weil er zu eng war.
        A black box flattened the stool because it was too thin.
            Eine schwarze Schachtel drückte den Hocker platt, weil er zu dünn war.
        The owl hid from our weasel.
            Die Eule versteckte sich vor unserem Wiesel.""",
    "es": """
        The pig hit the young goat because it was hated by everyone.
            El cerdo golpeó a la cabra joven porque era odiada por todos.
        The young goat was hit by the pig because it was in a bad mood.
            La cabra joven fue golpeada por el cerdo porque estaba de mal humor.
        The crow insulted our pig, so it was furious.
            El cuervo insultó a nuestro cerdo, así que estaba furioso.
        The turtle ate because it was hungry.
            La tortuga comió porque estaba hambrienta.
        The frog did not cross the beautiful bridge because it was very sick.
            La rana no cruzó el puente hermoso porque estaba muy enferma.""",
}


@pytest.mark.parametrize("language", KNOWN)
def test_sentences_that_were_read_by_hand(language):
    """Cases, endings and word order in German; *a*, agreement and passives in Spanish."""
    lines = [line.strip() for line in KNOWN[language].strip().splitlines()]
    told = {pair.source: pair.target for pair in in_language(language, train_size=60).train}
    for source, target in zip(lines[::2], lines[1::2], strict=True):
        assert told[source] == target


def test_it_is_a_pure_function_whose_splits_share_no_sentence(told, stories):
    """Nor with the test of the French corpus."""
    again = in_language(told.test[0].target_language, train_size=SIZE)
    assert again == told
    train, val, test = ({pair.source for pair in part} for part in (told.train, told.val, told.test))
    assert (len(train), len(val), len(test)) == (SIZE, 100, 400)
    assert not train & val and not train & test and not val & test
    assert not train & {pair.source for pair in stories.test}


@pytest.mark.long
def test_training_and_evaluation_read_it(tmp_path):
    data = load_config("storybook", ["data.target=de"]).data
    pairs = load_split(data, "test")
    assert len(pairs) == 400 and {pair.target_language for pair in pairs} == {"de"}
    stories = in_language("de").test
    assert [pair.target for pair in pairs] == [story.target for story in stories]
    wrong = [re.sub(r"\b(er|es)\b", "sie", story.target) for story in stories]
    right, spoilt = (pronoun_accuracy(stories, texts)["contrast"] for texts in ([s.target for s in stories], wrong))
    assert right["pronoun"] == 100 and spoilt["pronoun"] < 60
    with pytest.raises(UserError, match="French, German or Spanish"):
        load_split(load_config("storybook", ["data.target=it"]).data, "test")
