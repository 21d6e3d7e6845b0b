"""The sentences that storybook was designed for come out of its grammar, word for word."""

import pytest

from seq2see.storybook import controls, families, pronouns, scenes
from seq2see.storybook.clauses import Form
from seq2see.storybook.lexicon import NOUNS

TOO = ("too", "trop")


def described(noun: str) -> scenes.Description | None:
    return scenes.Description(NOUNS[noun]) if noun else None


def scene(first: str, second: str, third: str = "", agent: str = "") -> scenes.Scene:
    return scenes.Scene(*map(described, (first, second, third, agent)), "past", False, None)


def plainly(predicate: families.Predicate) -> str:
    return " ".join(word.split("/")[0].lstrip("^") for word in predicate.en.split())


def said(family: families.Family, about: scenes.Scene, turned: bool, predicate: str, degree=None, joint=None):
    group = family.turned_verbs if turned else family.verbs
    every = (*family.predicates, *family.turned_predicates, *families.UPSET)
    meant = min((p for p in every if plainly(p).endswith(predicate)), key=lambda p: len(plainly(p)))
    is_first = (meant in (*family.predicates, *families.UPSET)) is not turned
    pair = pronouns.sentence(
        family, about, *group[0], meant, joint or family.joint, is_first=is_first is not (joint == families.SO),
        swapped=False, degree=degree, kind="contrast", key=None,
    )  # fmt: skip
    return pair.source, pair.target


GOAT = scene("goat", "wolf")


@pytest.mark.parametrize(("made", "english", "french"), [
    (said(families.CHASE, GOAT, False, "hungry"), "The goat chased the wolf because it was hungry.",
     "La chèvre a poursuivi le loup parce qu'elle était affamée."),
    (said(families.CHASE, GOAT, True, "hungry"), "The goat fled from the wolf because it was hungry.",
     "La chèvre a fui le loup parce qu'il était affamé."),
    (said(families.CHASE, GOAT, False, "defenceless"), "The goat chased the wolf because it was defenceless.",
     "La chèvre a poursuivi le loup parce qu'il était sans défense."),
    (said(families.FIT, scene("box", "bag"), True, "big", TOO),
     "The box could not hold the bag because it was too big.",
     "La boîte ne pouvait pas contenir le sac parce qu'il était trop grand."),
    (said(families.CONNECTIVE, GOAT, False, "nervous", None, families.SO),
     "The goat attacked the wolf, so it was nervous.", "La chèvre a attaqué le loup, si bien qu'il était nerveux."),
    (said(families.GIVE, scene("bear", "hen", "pear"), False, "eaten enough"),
     "The bear gave the pear to the hen because it had eaten enough.",
     "L'ours a donné la poire à la poule parce qu'il avait assez mangé."),
    (said(families.HIDE, scene("wall", "barn"), True, "high"), "The wall was hidden by the barn because it was high.",
     "Le mur était caché par la grange parce qu'elle était haute."),
    (said(families.FILL, scene("jug", "bucket", agent="farmer"), False, "full"),
     "The farmer filled the jug from the bucket until it was full.",
     "Le fermier a rempli la cruche à partir du seau jusqu'à ce qu'elle soit pleine."),
    (said(families.LEND, scene("owl", "crow", "ladder"), True, "generous"),
     "The owl borrowed the ladder from the crow. It was generous.",
     "Le hibou a emprunté l'échelle à la corneille. Elle était généreuse."),
])  # fmt: skip
def test_the_sentences_of_the_design(made, english, french):
    assert made == (english, french)


@pytest.mark.parametrize(("predicate", "french"), [
    ("tired", "Le chat n'a pas traversé la rue parce qu'il était trop fatigué."),
    ("wide", "Le chat n'a pas traversé la rue parce qu'elle était trop large."),
])  # fmt: skip
def test_the_cat_and_the_street(predicate, french):
    easy = controls.EASY[0]
    meant = next(p for p in (*easy.of_animal, *easy.of_thing) if predicate in p.en)
    cat, street = map(described, ("cat", "street"))
    form = Form(negative=True, short=False)
    pair = controls.easy_sentence(easy, cat, street, form, meant, TOO, is_first=meant in easy.of_animal, key="")
    assert (pair.source, pair.target) == (f"The cat did not cross the street because it was too {predicate}.", french)
