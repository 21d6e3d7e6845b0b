"""The words of the pronoun families: nouns that can be *it*, and verbs and predicates of two classes.

`pronouns` makes sentences of them.
"""

from dataclasses import dataclass, replace

from .clauses import Form
from .lexicon import DEGREES, Adjective, Noun, adjectives, pick
from .verbs import SetVerb, Verb, verbs

HARD = ("chase", "fit", "connective", "give", "hide", "crush", "fill", "lend")


@dataclass(frozen=True)
class Predicate:
    """What is said of *it*, as a pattern pair for `compose`; `degrees` that may go where the pattern has ^."""

    en: str
    fr: str
    degrees: tuple[tuple[str, str] | None, ...] = (None,)


@dataclass(frozen=True)
class Family:
    """One family: nouns that can be *it*, verbs and predicates of either class, and what goes around them."""

    name: str
    nouns: tuple[Noun, ...]
    others: tuple[Noun, ...]  # the second candidate: the same nouns, or ones that would meet these
    looks: tuple[Adjective, ...]  # that say nothing about the predicates
    verbs: tuple[tuple[Verb | SetVerb, Form], ...]
    turned_verbs: tuple[tuple[Verb | SetVerb, Form], ...]
    predicates: tuple[Predicate, ...]
    turned_predicates: tuple[Predicate, ...]
    joint: tuple[str, str] = ("because/1", "parce/1 que/1")
    third: tuple[Noun, ...] = ()  # what is given
    roles: tuple[str, str] = ("subject", "object")
    tenses: tuple[str, ...] = ("past",)
    tense_of_predicate: str = ""  # where it is not that of the verb
    plurals: float = 0.1  # share


def was(*words: str, degrees: tuple[tuple[str, str] | None, ...] = (None,)) -> tuple[Predicate, ...]:
    """Predicates of the form *was ADJECTIVE*: `hungry affamé`; corresponding parts, in order, are separated by
    `-`, the words of one part by `+`: `made+of-stone en-pierre`, `in+a+bad+mood de+mauvaise+humeur`."""
    made = []
    for word in words:
        en, fr = ([part.split("+") for part in side.split("-")] for side in word.split())
        if fr[0][0] not in ("de", "en", "sans", "dans"):
            fr[0][0] = "~" + fr[0][0]
        english, french = (
            " ".join(f"{text}/{i}" for i, part in enumerate(side, 2) for text in part) for side in (en, fr)
        )
        made.append(Predicate(f"@be/1 ^{english}", f"@être/1 ^{french}", degrees))
    return tuple(made)


_TOO_SO = (("too", "trop"), ("so", "si"), ("very", "très"), None)
_ANY = (None, None, *DEGREES)
_VERY = (None, ("very", "très"))
_LEVEL = (None, None, ("completely", "complètement"), ("almost", "presque"))
# *affamé* is strong as it is, and nobody says it under negation: there *avoir faim* is said.
HUNGRY = (*was("hungry affamé"), Predicate("@be/1 ^hungry/2", "@avoir/1 ^faim/2", DEGREES[:3]))
ANIMALS = pick("animal")
ANIMAL_LOOKS = adjectives("old young beautiful white black grey brown")
THING_LOOKS = adjectives("beautiful pretty red blue green yellow white black grey brown new")
_Verbs = tuple[tuple[Verb | SetVerb, Form], ...]


def _said(group: str, names: str, form: Form = Form()) -> _Verbs:  # noqa: B008  (frozen)
    return tuple((verb, form) for verb in verbs(group, names))


_NOT = Form(negative=True)
_COULD_NOT = Form(modal="could", negative=True)
_PASSIVE = Form(passive=True)

CHASE = Family(
    "chase",
    pick("wolf bear lion tiger dog panther fox"),  # one of the two is a hunter, and neither is too small for the other
    pick("wolf bear lion tiger dog panther horse donkey pig goat cow giraffe monkey lamb fox"),
    ANIMAL_LOOKS,
    _said("meet", "chase, attack"),
    _said("meet", "flee from, avoid, hide from"),
    (
        *HUNGRY,
        *was("greedy gourmand", degrees=_VERY),
        Predicate("wanted/1 to/1 eat/2", "@vouloir/1 manger/2"),
        Predicate("@be/1 looking/1 for/1 food/2", "@chercher/1 de/2 la/2 nourriture/2"),
        Predicate("@have/1 not/2 eaten/3", "ne/2 @avoir/1 pas/2 mangé/3"),
    ),
    (
        *was("weak faible", "small petit", degrees=_ANY),
        *was("defenceless sans+défense", "slow lent", "alone seul"),
        Predicate("@be/1 easy/2 to/3 catch/4", "@être/1 ~facile/2 à/3 attraper/4"),
    ),
)  # fmt: skip
SMALL_CHASE = replace(
    CHASE,
    nouns=pick("cat fox owl dog panther weasel otter crow goose"),
    others=pick(
        "cat fox owl dog panther weasel otter crow goose "
        "rabbit duck squirrel hedgehog monkey lamb hen mouse frog turtle"
    ),
)

_LARGE = pick("box suitcase crate basin drawer chest barrel bag basket bucket trophy")
FIT = Family(
    "fit", _LARGE, _LARGE, THING_LOOKS,
    (
        *_said("contain", "fit in, go into", _NOT),
        (SetVerb("@be/1 stuck/2 in/3", "@être/1 ~coincé/2 dans/3", "contain"), Form()),
    ),
    (
        *_said("contain", "hold, contain", _COULD_NOT),
        (SetVerb("@have/1 no/2 room/3 for/4", "ne/2 @avoir/1 pas/2 de/2 place/3 pour/4", "contain"), Form()),
    ),
    (*was("big grand", "big grand", "wide large", degrees=_TOO_SO), *was("huge énorme")),
    (*was("small petit", "small petit", "narrow étroit", degrees=_TOO_SO), *was("tiny minuscule")),
    tenses=("past", "past", "past", "past", "present"),
)  # fmt: skip
_SMALL = pick("jug cup teapot box basin bowl pot vase jar bucket drawer")
SMALL_FIT = replace(FIT, nouns=_SMALL, others=_SMALL)

GIVE = Family(
    "give", ANIMALS, ANIMALS, ANIMAL_LOOKS,
    _said("transfer", "give ~ to, offer ~ to, bring ~ to, sell ~ to"),
    _said("transfer", "take ~ from, receive ~ from, accept ~ from, buy ~ from"),
    (
        Predicate("@have/1 eaten/2 enough/3", "@avoir/1 assez/3 mangé/2"),
        Predicate("@have/1 already/2 eaten/3", "@avoir/1 déjà/2 mangé/3"),
        Predicate("@have/1 just/1 eaten/2", "@venir/1 de/1 manger/2"),
        Predicate("@be/1 no/2 longer/2 hungry/3", "ne/2 @avoir/1 plus/2 faim/3"),
        Predicate("@have/1 plenty/2 of/3 food/4", "@avoir/1 beaucoup/2 de/3 nourriture/4"),
    ),
    (
        *HUNGRY,
        *was("skinny maigre", degrees=_VERY),
        Predicate("wanted/1 food/2", "@vouloir/1 de/2 la/2 nourriture/2"),
        Predicate("@have/1 not/2 eaten/3", "ne/2 @avoir/1 pas/2 mangé/3"),
        Predicate("needed/1 food/2", "@avoir/1 besoin/1 de/1 nourriture/2"),
    ),
    third=pick("food"),
    roles=("subject", "oblique"),
)  # fmt: skip


def _voices(
    nouns: tuple[Noun, ...], names: str, predicates: tuple[Predicate, ...], turned_predicates: tuple[Predicate, ...]
) -> Family:
    return Family(
        "hide", nouns, nouns, adjectives("old beautiful pretty white grey new"),
        _said("view", names), _said("view", names, _PASSIVE), predicates, turned_predicates,
        tenses=("past", "past", "present"),
    )  # fmt: skip


HIDE = _voices(
    pick("building"),
    "hide, conceal, obscure",
    (*was("high haut", "tall grand", degrees=_VERY), *was("huge énorme")),
    (*was("low bas", "small petit", degrees=_VERY), *was("tiny minuscule")),
)
PROTECT = _voices(
    pick("wall barn house tower church castle mill shed hut school stable farm"),
    "protect, shelter",
    (*was("solid solide", "sturdy robuste", degrees=_VERY), *was("made+of-stone en-pierre")),
    (*was("fragile fragile", degrees=_VERY), *was("in-bad-condition en-mauvais-état", "in-ruins en-ruine")),
)

_BULKY = tuple(noun for noun in pick("furniture crate barrel chest cart") if noun.en != "lamp")
CRUSH = Family(
    "crush", _BULKY, _BULKY, THING_LOOKS,
    _said("crush", "crush, flatten, damage"),
    _said("crush", "collapse under, give way under, crack under"),
    (
        *was("heavy lourd", "heavy lourd", degrees=_TOO_SO),
        *was("massive massif", "huge énorme"),
    ),
    (
        *was("fragile fragile", "fragile fragile", degrees=_TOO_SO),
        *was("in-bad-condition en-mauvais-état"),
        Predicate("@be/1 badly/2 made/3", "@être/1 mal/2 ~fait/3"),
    ),
)  # fmt: skip
_PLAIN_MADE = pick("table chair shelf statue box bench stool desk")
MATERIALS = replace(
    CRUSH,
    nouns=_PLAIN_MADE,
    others=_PLAIN_MADE,
    predicates=was("made+of-stone en-pierre", "made+of-iron en-fer"),
    turned_predicates=(
        *was("made+of-glass en-verre", "made+of-cardboard en-carton"),
        *was("thin mince", degrees=_TOO_SO),
    ),
)


def _levels(nouns: str, names: str, turned: str) -> Family:
    return Family(
        "fill", pick(nouns), pick(nouns), THING_LOOKS, _said("pour", names), _said("pour", turned),
        was("full plein", degrees=_LEVEL), was("empty vide", degrees=_LEVEL),
        joint=("until/1", "jusque/1 à/1 ce/1 que/1"), roles=("object", "oblique"), tense_of_predicate="until",
        plurals=0.0,
    )  # fmt: skip


FILL = _levels("jug bottle cup teapot basin bowl glass pot jar bucket", "fill ~ from", "empty ~ into")
LOAD = _levels("cart car van truck boat train bus", "load ~ from", "unload ~ into")

LENT = tuple(noun for noun in pick("tool") if noun.en not in ("letter", "candle", "flag"))
LEND = Family(
    "lend", ANIMALS, ANIMALS, ANIMAL_LOOKS,
    _said("transfer", "lend ~ to, give ~ to, offer ~ to, bring ~ to"),
    _said("transfer", "borrow ~ from, receive ~ from, accept ~ from"),
    (
        *was("generous généreux", "generous généreux", "kind gentil", "helpful serviable", degrees=_ANY),
        Predicate("enjoyed/1 sharing/2", "@aimer/1 partager/2"),
    ),
    (
        *was("grateful reconnaissant", "grateful reconnaissant", degrees=_ANY),
        *was("touched touché", degrees=_VERY),
        Predicate("@be/1 lucky/2", "@avoir/1 de/2 la/2 chance/2"),
        Predicate("said/1 thank/2 you/2", "%avoir/1 dit/1 merci/2"),
    ),
    joint=("./1", "./1"),
    third=LENT,
    roles=("subject", "oblique"),
)  # fmt: skip

_HARM = "attack, push, hit, insult"
LARGER = tuple(noun for noun in ANIMALS if noun.en not in ("ant", "spider", "bee"))
BECAUSE = ("because/1", "parce/1 que/1")
SO = (",/2 so/1", ",/2 si/1 bien/1 que/1")
UPSET = was(
    "nervous nerveux", "upset contrarié", degrees=_VERY
)  # unnatural with a by-phrase
_FURIOUS = was("angry en+colère", "furious furieux", "in+a+bad+mood de+mauvaise+humeur")
_TO_BLAME = was("hated-by-everyone détesté-de-tous", "despised-by-everyone méprisé-de-tous", "guilty coupable")
PREY = was("weak faible", "alone seul", "defenceless sans+défense")
PUNISHED = tuple(
    Predicate(f"@be/1 {en}", f"%avoir/1 été/1 ~{fr}/2")
    for en, fr in (("punished/2", "puni"), ("scolded/2", "grondé"), ("tied/2 up/2", "attaché"))
)
CONNECTIVE = Family(
    "connective", LARGER, LARGER, ANIMAL_LOOKS, _said("meet", _HARM), _said("meet", _HARM, _PASSIVE), _FURIOUS,
    _TO_BLAME,
)  # fmt: skip
VARIANTS = {
    "chase": (CHASE, SMALL_CHASE), "fit": (FIT, SMALL_FIT), "connective": (CONNECTIVE,), "give": (GIVE,),
    "hide": (HIDE, PROTECT), "crush": (CRUSH, MATERIALS), "fill": (FILL, FILL, LOAD), "lend": (LEND,),
}  # fmt: skip
