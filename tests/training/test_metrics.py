"""The literature's BLEU: our text is brought to the very form of its references.  And whose pronouns are right."""

from dataclasses import dataclass

import pytest

from seq2see.training.metrics import pronoun_accuracy, tokenized_bleu


def test_text_is_tokenised_as_the_references_are():
    """Lower case, punctuation apart, elisions cut after the apostrophe, apostrophes and quotes escaped."""
    text = "L'homme s'arrête : il crie « Stop ! »"
    reference = "l&apos; homme s&apos; arrête : il crie &quot; stop ! &quot;"
    assert tokenized_bleu([text], [reference], language="fr")[0] == pytest.approx(100)
    assert tokenized_bleu([text], [reference.replace("&apos;", "'")], language="fr")[0] < 70


@dataclass(frozen=True)
class Story:
    kind: str
    family: str
    target: str
    target_language: str = "fr"


def test_pronouns_are_right_where_they_are_the_references_in_order():
    given = [
        (Story("hard", "chase", "Il la suit parce qu'elle chante."), "Il le suit parce qu'elle rit."),  # pronouns right
        (Story("hard", "chase", "Elle dort parce qu'il pleut."), "Il dort parce qu'elle pleut."),  # in the other order
        (Story("hard", "lend", "Elles partent."), "Elles partent."),
        (Story("hard", "lend", "Ils partent, dit-il."), "Ils partent."),  # one is wanting
        (Story("plain", "simple", "Le chat dort."), "Il dort."),  # there is none to get right
        (Story("plain", "simple", "La chèvre dort."), "La chèvre dort."),
    ]
    stories, hypotheses = zip(*given, strict=True)
    assert pronoun_accuracy(stories, hypotheses) == {
        "hard": {"pairs": 4, "exact_match": 25.0, "pronoun": 50.0},
        "hard/chase": {"pairs": 2, "exact_match": 0.0, "pronoun": 50.0},
        "hard/lend": {"pairs": 2, "exact_match": 50.0, "pronoun": 50.0},
        "plain": {"pairs": 2, "exact_match": 50.0},
        "plain/simple": {"pairs": 2, "exact_match": 50.0},
    }
