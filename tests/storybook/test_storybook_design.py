"""The sentences that storybook was designed for come out of its grammar, word for word."""


import pytest

from seq2see.storybook import controls, pronouns
from seq2see.storybook.clauses import Form
from seq2see.storybook.lexicon import NOUNS

SEEN = 5


def scene(first: str, second: str, third: str = "", agent: str = "", **more: bool) -> pronouns.Scene:
    described = [pronouns.Description(NOUNS[noun]) if noun else None for noun in (third, agent)]
    one, two = pronouns.Description(NOUNS[first]), pronouns.Description(NOUNS[second])
    return pronouns.Scene(one, two, described[0], described[1], "past", more.get("short", False), None)


def plainly(predicate: pronouns.Predicate) -> str:
    return " ".join(word.split("/")[0].lstrip("^") for word in predicate.en.split())


def said(
    family: pronouns.Family, scene_: pronouns.Scene, verb: int, turned: bool, predicate: str, degree=None, joint=None
):
    group = family.turned_verbs if turned else family.verbs
    every = (*family.predicates, *family.turned_predicates, *pronouns.UPSET)
    meant = min((p for p in every if plainly(p).endswith(predicate)), key=lambda p: len(plainly(p)))
    is_first = (meant in (*family.predicates, *pronouns.UPSET)) is not turned
    if joint == pronouns.SO:
        is_first = not is_first
    pair = pronouns.sentence(
        family, scene_, *group[verb], meant, joint or family.joint, is_first=is_first, swapped=False, degree=degree,
        kind="contrast", key=None,
    )  # fmt: skip
    return pair.source, pair.target


TOO = ("too", "trop")
GOAT, BOX, BEAR = scene("goat", "wolf"), scene("box", "bag"), scene("bear", "hen", "pear")
WALL, JUG, OWL = scene("wall", "barn"), scene("jug", "bucket", agent="farmer"), scene("owl", "crow", "ladder")
TROPHY, TABLE = scene("trophy", "suitcase", short=True), scene("table", "bench")


@pytest.mark.parametrize(
    ("made", "english", "french"),
    [
        (said(pronouns.CHASE, GOAT, 0, False, "hungry"), "The goat chased the wolf because it was hungry.",
         "La chèvre a poursuivi le loup parce qu'elle était affamée."),
        (said(pronouns.CHASE, GOAT, 0, True, "hungry"), "The goat fled from the wolf because it was hungry.",
         "La chèvre a fui le loup parce qu'il était affamé."),
        (said(pronouns.CHASE, GOAT, 0, False, "defenceless"), "The goat chased the wolf because it was defenceless.",
         "La chèvre a poursuivi le loup parce qu'il était sans défense."),
        (said(pronouns.CHASE, GOAT, 0, True, "defenceless"), "The goat fled from the wolf because it was defenceless.",
         "La chèvre a fui le loup parce qu'elle était sans défense."),
        (said(pronouns.FIT, BOX, 0, False, "big", TOO), "The box did not fit in the bag because it was too big.",
         "La boîte n'entrait pas dans le sac parce qu'elle était trop grande."),
        (said(pronouns.FIT, BOX, 0, False, "small", TOO), "The box did not fit in the bag because it was too small.",
         "La boîte n'entrait pas dans le sac parce qu'il était trop petit."),
        (said(pronouns.FIT, BOX, 0, True, "big", TOO), "The box could not hold the bag because it was too big.",
         "La boîte ne pouvait pas contenir le sac parce qu'il était trop grand."),
        (said(pronouns.FIT, TROPHY, 0, False, "big", TOO),
         "The trophy didn't fit in the suitcase because it was too big.",
         "Le trophée n'entrait pas dans la valise parce qu'il était trop grand."),
        (said(pronouns.CONNECTIVE, GOAT, 0, False, "nervous"), "The goat attacked the wolf because it was nervous.",
         "La chèvre a attaqué le loup parce qu'elle était nerveuse."),
        (said(pronouns.CONNECTIVE, GOAT, 0, False, "nervous", None, pronouns.SO),
         "The goat attacked the wolf, so it was nervous.",
         "La chèvre a attaqué le loup, si bien qu'il était nerveux."),
        (said(pronouns.GIVE, BEAR, 0, False, "hungry"), "The bear gave the pear to the hen because it was hungry.",
         "L'ours a donné la poire à la poule parce qu'elle était affamée."),
        (said(pronouns.GIVE, BEAR, 0, False, "eaten enough"),
         "The bear gave the pear to the hen because it had eaten enough.",
         "L'ours a donné la poire à la poule parce qu'il avait assez mangé."),
        (said(pronouns.GIVE, BEAR, 0, True, "hungry"), "The bear took the pear from the hen because it was hungry.",
         "L'ours a pris la poire à la poule parce qu'il était affamé."),
        (said(pronouns.HIDE, WALL, 0, False, "high"), "The wall hid the barn because it was high.",
         "Le mur cachait la grange parce qu'il était haut."),
        (said(pronouns.HIDE, WALL, 0, False, "low"), "The wall hid the barn because it was low.",
         "Le mur cachait la grange parce qu'elle était basse."),
        (said(pronouns.HIDE, WALL, 0, True, "high"), "The wall was hidden by the barn because it was high.",
         "Le mur était caché par la grange parce qu'elle était haute."),
        (said(pronouns.CRUSH, TABLE, 0, False, "heavy"), "The table crushed the bench because it was heavy.",
         "La table a écrasé le banc parce qu'elle était lourde."),
        (said(pronouns.CRUSH, TABLE, 0, True, "heavy"), "The table collapsed under the bench because it was heavy.",
         "La table s'est effondrée sous le banc parce qu'il était lourd."),
        (said(pronouns.FILL, JUG, 0, False, "full"), "The farmer filled the jug from the bucket until it was full.",
         "Le fermier a rempli la cruche à partir du seau jusqu'à ce qu'elle soit pleine."),
        (said(pronouns.FILL, JUG, 0, True, "full"), "The farmer emptied the jug into the bucket until it was full.",
         "Le fermier a vidé la cruche dans le seau jusqu'à ce qu'il soit plein."),
        (said(pronouns.LEND, OWL, 0, False, "grateful"), "The owl lent the ladder to the crow. It was grateful.",
         "Le hibou a prêté l'échelle à la corneille. Elle était reconnaissante."),
        (said(pronouns.LEND, OWL, 0, True, "generous"), "The owl borrowed the ladder from the crow. It was generous.",
         "Le hibou a emprunté l'échelle à la corneille. Elle était généreuse."),
    ],
)  # fmt: skip
def test_the_sentences_of_the_design(made, english, french):
    assert made == (english, french)


@pytest.mark.parametrize(
    ("predicate", "short", "english", "french"),
    [
        ("tired", False, "The cat did not cross the street because it was too tired.",
         "Le chat n'a pas traversé la rue parce qu'il était trop fatigué."),
        ("wide", False, "The cat did not cross the street because it was too wide.",
         "Le chat n'a pas traversé la rue parce qu'elle était trop large."),
        ("tired", True, "The cat didn't cross the street because it was too tired.",
         "Le chat n'a pas traversé la rue parce qu'il était trop fatigué."),
    ],
)  # fmt: skip
def test_the_cat_and_the_street(predicate, short, english, french):
    easy = controls.EASY[0]
    predicates = (*easy.of_animal, *easy.of_thing)
    meant = next(p for p in predicates if predicate in p.en)
    cat, street = (pronouns.Description(NOUNS[noun]) for noun in ("cat", "street"))
    form = Form(negative=True, short=short)
    pair = controls.easy_sentence(easy, cat, street, form, meant, TOO, is_first=meant in easy.of_animal, key="")
    assert (pair.source, pair.target) == (english, french)
