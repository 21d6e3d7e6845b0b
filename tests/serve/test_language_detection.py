"""Text in a language that the model does not read is noticed, and no English is taken for it."""

import gzip
import random
from pathlib import Path

import pytest

from seq2see.serve.language_detection import other_language

DATA = Path(__file__).resolve().parents[3] / "shared" / "data"
FOREIGN = {
    "Où est la gare ?": "fr", "Le chat est fatigué.": "fr", "Wo ist der Bahnhof?": "de",
    "¿Dónde está la estación?": "es",
    "我不喜欢猫。": "zh", "こんにちは": "ja", "मुझे बिल्लियाँ पसंद नहीं हैं।": "hi", "Je ne sais pas, demande à Tom": "fr",
}
OWN = [
    "", "Hello", "Hug me.", "Bye bye!", "hi tom", "lol",
    "123 !!!", "Wow!", "New York", "Johann Sebastian Bach",
    "Rio de Janeiro", "Grünheide", "My friend Krzysztof Brzęczyszczykiewicz lives in Łódź.",
    "The zxqvute was tall.", "See https://www.lemonde.fr/politique/la-rentree-des-classes for more.",
    "Ludwig van Beethoven and Vincent van Gogh",
]


@pytest.mark.parametrize("text", FOREIGN)
def test_foreign_text_is_noticed(text):
    assert other_language(text, "en") == FOREIGN[text]
    assert other_language(text, FOREIGN[text]) is None


@pytest.mark.parametrize("text", OWN)
def test_short_texts_names_and_addresses_are_not(text):
    assert other_language(text, "en") is None


def test_in_doubt_nothing_is_said():
    assert other_language("Où est la gare ?", "") is None and other_language("Où est la gare ?", "ROMANCE") is None
    assert other_language("Où est la gare ?", "eng_Latn") == "fr"
    assert other_language("Où est la gare ?", "en-US") == "fr"
    assert other_language("Mi casa es su casa.", "en") == "und", "Spanish or one of its neighbours"


@pytest.mark.skipif(not DATA.is_dir(), reason="the corpora are not part of the project")
def test_on_sentences_that_people_wrote():
    def some(name, column, most, longest=1_000):
        lines = gzip.decompress((DATA / name).read_bytes()).decode("utf-8").splitlines()[1:]
        texts = {line.split("\t")[column] for line in lines}
        return random.Random(5).sample(sorted(one for one in texts if len(one.split()) <= longest), most)

    english = [*some("tatoeba/en-fr.tsv.gz", 0, 400), *some("tatoeba/en-fr.tsv.gz", 0, 400, longest=3),
               *some("common-voice/en.txt.gz", 0, 400)]
    assert [one for text in english for one in (text, text.lower()) if other_language(one, "en")] == []
    for code in ("fr", "de", "es"):
        texts = some(f"tatoeba/en-{code}.tsv.gz", 1, 400)
        assert sum(other_language(text, "en") is not None for text in texts) >= 0.9 * len(texts)
        assert sum(other_language(text, code) is not None for text in texts) <= 1
