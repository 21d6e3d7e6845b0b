"""The sentences that storybook was designed for come out of its grammar, word for word."""

import pytest

from seq2see.storybook import controls, families
from seq2see.storybook.lexicon import NOUNS
from seq2see.storybook.pronouns import Scene
from seq2see.storybook.scenes import Description, Sentence


def said(family: families.Family, nouns: str, turned: bool, predicate: str, degree=None, joint=None) -> Sentence:
    one, two, *other = (Description(NOUNS[noun]) for noun in nouns.split())
    classes = ((*family.predicates[0], *families.UPSET), family.predicates[1])
    meant, first = next((p, q == turned) for q, said in enumerate(classes) for p in said if predicate in p.pattern)
    return Scene(family, (one, two), *other).sentence(
        family.verbs[turned][0], meant, degree, joint, is_first=first is not (joint == ", so"), swapped=False
    )


def easy(predicate: str) -> Sentence:
    street = controls.EASY[0]
    meant, role = next((p, role) for said, role in ((street.of_animal, "subject"), (street.of_thing, "object"))
                       for p in said if predicate in p.pattern)
    nouns = (Description(NOUNS["cat"]), Description(NOUNS["street"]))
    form = controls.Form(negative=True)
    return Sentence("easy", "easy", street.verb, form, nouns, role, meant.pattern, "too")


@pytest.mark.parametrize(("made", "english", "french"), [
    (said(families.CHASE, "goat wolf", False, "hungry"), "The goat chased the wolf because it was hungry.",
     "La chèvre a poursuivi le loup parce qu'elle était affamée."),
    (said(families.CHASE, "goat wolf", True, "hungry"), "The goat fled from the wolf because it was hungry.",
     "La chèvre a fui le loup parce qu'il était affamé."),
    (said(families.CHASE, "goat wolf", False, "defenceless"), "The goat chased the wolf because it was defenceless.",
     "La chèvre a poursuivi le loup parce qu'il était sans défense."),
    (said(families.FIT, "box bag", True, "big", "too"), "The box could not hold the bag because it was too big.",
     "La boîte ne pouvait pas contenir le sac parce qu'il était trop grand."),
    (said(families.CONNECTIVE, "goat wolf", False, "nervous", None, ", so"),
     "The goat attacked the wolf, so it was nervous.", "La chèvre a attaqué le loup, si bien qu'il était nerveux."),
    (said(families.GIVE, "bear hen pear", False, "eaten/2 enough"),
     "The bear gave the pear to the hen because it had eaten enough.",
     "L'ours a donné la poire à la poule parce qu'il avait assez mangé."),
    (said(families.HIDE, "wall barn", True, "high"), "The wall was hidden by the barn because it was high.",
     "Le mur était caché par la grange parce qu'elle était haute."),
    (said(families.FILL, "jug bucket farmer", False, "full"),
     "The farmer filled the jug from the bucket until it was full.",
     "Le fermier a rempli la cruche à partir du seau jusqu'à ce qu'elle soit pleine."),
    (said(families.LEND, "owl crow ladder", True, "generous"),
     "The owl borrowed the ladder from the crow. It was generous.",
     "Le hibou a emprunté l'échelle à la corneille. Elle était généreuse."),
    (easy("tired"), "The cat did not cross the street because it was too tired.",
     "Le chat n'a pas traversé la rue parce qu'il était trop fatigué."),
    (easy("wide"), "The cat did not cross the street because it was too wide.",
     "Le chat n'a pas traversé la rue parce qu'elle était trop large."),
])
def test_the_sentences_of_the_design(made, english, french):
    pair = made.write()
    assert (pair.source, pair.target) == (english, french)
