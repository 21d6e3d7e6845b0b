"""The words of the pronoun families: nouns that can be *it*, and verbs and predicates of two classes.

`pronouns` makes sentences of them.
"""

from dataclasses import dataclass, replace

from .clauses import Form
from .lexicon import USUAL, Adjective, StoryNoun, adjectives, pick
from .verbs import SetVerb, Verb, verbs

VerbForm = tuple[Verb | SetVerb, Form]


@dataclass(frozen=True)
class Predicate:
    """What is said of *it*, as a pattern for `compose`; `degrees` that may go where the pattern has ^."""

    pattern: str
    degrees: tuple[str | None, ...] = (None,)


@dataclass(frozen=True)
class Family:
    """One family: nouns that can be *it*, verbs and predicates in two classes, and what goes around them."""

    name: str
    nouns: tuple[StoryNoun, ...]
    others: tuple[StoryNoun, ...]  # the second candidate: the same nouns, or ones that would meet these
    looks: tuple[Adjective, ...]  # that say nothing about the predicates
    verbs: tuple[tuple[VerbForm, ...], tuple[VerbForm, ...]]
    predicates: tuple[tuple[Predicate, ...], tuple[Predicate, ...]]
    joint: str = "because"
    third: tuple[StoryNoun, ...] = ()  # what is given
    roles: tuple[str, str] = ("subject", "object")
    tenses: tuple[str, ...] = ("past",)
    tense_of_predicate: str = ""  # where it is not that of the verb
    plurals: float = 0.1  # share


_DEGREES: dict[str, tuple[str | None, ...]] = {
    "": (None,), "very": (None, "very"), "usual": (None, *USUAL), "often": (None, None, *USUAL), "felt": USUAL[:3],
    "level": (None, None, "completely", "almost"), "unfit": ("too", "so", "very", None), "too": ("too", "too"),
    "unable": ("too", "too", "so", "very"),
}


def states(table: str) -> tuple[Predicate, ...]:
    """Predicates separated by commas; after a colon, the degrees of those before it; then a semicolon.

    `hungry affamé` is *was hungry*, `made+of-stone en-pierre` *was made of stone*: corresponding parts are separated by
    `-`, the words of one part by `+`. An entry with ` = ` is a pattern for `compose`.
    """
    made = []
    for group in table.split(";"):
        entries, _, degrees = group.partition(":")
        patterns = (entry if " = " in entry else _was(*entry.split()) for entry in entries.strip().split(", "))
        made += [Predicate(pattern, _DEGREES[degrees.strip()]) for pattern in patterns]
    return tuple(made)


def _was(english: str, french: str) -> str:
    agrees = "" if french.startswith(("de+", "de-", "en+", "en-", "sans+", "dans+")) else "~"
    en, fr = (
        " ".join(f"{word}/{i}" for i, part in enumerate(side.split("-"), 2) for word in part.split("+"))
        for side in (english, agrees + french)
    )
    return f"@be/1 ^{en} = @être/1 ^{fr}"


def _forms(group: str, names: str, form: Form = Form()) -> tuple[VerbForm, ...]:  # noqa: B008  (frozen)
    return tuple((verb, form) for verb in verbs(group, names))


_NOT = Form(negative=True)
_COULD_NOT = Form(modal="could", negative=True)
_PASSIVE = Form(passive=True)
# *affamé* is strong as it is, and nobody says it under negation: there *avoir faim* is said.
HUNGRY = states("hungry affamé; @be/1 ^hungry/2 = @avoir/1 ^faim/2: felt")
ANIMALS = pick("animal")
ANIMAL_LOOKS = adjectives("old young beautiful white black grey brown")
THING_LOOKS = adjectives("beautiful pretty red blue green yellow white black grey brown new")

CHASE = Family(
    "chase",
    pick("wolf bear lion tiger dog panther fox"),  # one of the two is a hunter, and neither is too small for the other
    pick("wolf bear lion tiger dog panther horse donkey pig goat cow giraffe monkey lamb fox"),
    ANIMAL_LOOKS,
    (_forms("meet", "chase, attack"), _forms("meet", "flee from, avoid, hide from")),
    (
        HUNGRY + states(
            "greedy gourmand: very; wanted/1 to/1 eat/2 = @vouloir/1 manger/2, "
            "@be/1 looking/1 for/1 food/2 = @chercher/1 de/2 la/2 nourriture/2, "
            "@have/1 not/2 eaten/3 = ne/2 @avoir/1 pas/2 mangé/3"
        ),
        states(
            "weak faible, small petit: often; defenceless sans+défense, slow lent, alone seul, "
            "@be/1 easy/2 to/3 catch/4 = @être/1 ~facile/2 à/3 attraper/4"
        ),
    ),
)
_SMALL_HUNTERS = "cat fox owl dog panther weasel otter crow goose"
SMALL_CHASE = replace(
    CHASE, nouns=pick(_SMALL_HUNTERS),
    others=pick(f"{_SMALL_HUNTERS} rabbit duck squirrel hedgehog monkey lamb hen mouse frog turtle"),
)

_LARGE = pick("box suitcase crate basin drawer chest barrel bag basket bucket trophy")
_STUCK = SetVerb("be stuck in", "$S @be/1 stuck/2 in/3 $O = $S @être/1 ~coincé/2 dans/3 $O", "contain")
_NO_ROOM = SetVerb(
    "have no room for", "$S @have/1 no/2 room/3 for/4 $O = $S ne/2 @avoir/1 pas/2 de/2 place/3 pour/4 $O", "contain"
)
FIT = Family(
    "fit", _LARGE, _LARGE, THING_LOOKS,
    (
        (*_forms("contain", "fit in, go into", _NOT), (_STUCK, Form())),
        (*_forms("contain", "hold, contain", _COULD_NOT), (_NO_ROOM, Form())),
    ),
    (
        states("big grand, big grand, wide large: unfit; huge énorme"),
        states("small petit, small petit, narrow étroit: unfit; tiny minuscule"),
    ),
    tenses=("past", "past", "past", "past", "present"),
)
_SMALL = pick("jug cup teapot box basin bowl pot vase jar bucket drawer")
SMALL_FIT = replace(FIT, nouns=_SMALL, others=_SMALL)

GIVE = Family(
    "give", ANIMALS, ANIMALS, ANIMAL_LOOKS,
    (
        _forms("transfer", "give ~ to, offer ~ to, bring ~ to, sell ~ to"),
        _forms("transfer", "take ~ from, receive ~ from, accept ~ from, buy ~ from"),
    ),
    (
        states(
            "@have/1 eaten/2 enough/3 = @avoir/1 assez/3 mangé/2, @have/1 already/2 eaten/3 = @avoir/1 déjà/2 mangé/3, "
            "@have/1 just/1 eaten/2 = @venir/1 de/1 manger/2, "
            "@be/1 no/2 longer/2 hungry/3 = ne/2 @avoir/1 plus/2 faim/3, "
            "@have/1 plenty/2 of/3 food/4 = @avoir/1 beaucoup/2 de/3 nourriture/4"
        ),
        HUNGRY + states(
            "skinny maigre: very; wanted/1 food/2 = @vouloir/1 de/2 la/2 nourriture/2, "
            "@have/1 not/2 eaten/3 = ne/2 @avoir/1 pas/2 mangé/3, "
            "needed/1 food/2 = @avoir/1 besoin/1 de/1 nourriture/2"
        ),
    ),
    third=pick("food"),
    roles=("subject", "oblique"),
)


def _voices(nouns: str, names: str, predicates: str, turned_predicates: str) -> Family:
    return Family(
        "hide", pick(nouns), pick(nouns), adjectives("old beautiful pretty white grey new"),
        (_forms("view", names), _forms("view", names, _PASSIVE)), (states(predicates), states(turned_predicates)),
        tenses=("past", "past", "present"),
    )


HIDE = _voices(
    "building",
    "hide, conceal, obscure",
    "high haut, tall grand: very; huge énorme",
    "low bas, small petit: very; tiny minuscule",
)
PROTECT = _voices(
    "wall barn house tower church castle mill shed hut school stable farm",
    "protect, shelter",
    "solid solide, sturdy robuste: very; made+of-stone en-pierre",
    "fragile fragile: very; in-bad-condition en-mauvais-état, in-ruins en-ruine",
)

_BULKY = tuple(noun for noun in pick("furniture crate barrel chest cart") if noun.en != "lamp")
CRUSH = Family(
    "crush", _BULKY, _BULKY, THING_LOOKS,
    (_forms("crush", "crush, flatten, damage"), _forms("crush", "collapse under, give way under, crack under")),
    (
        states("heavy lourd, heavy lourd: unfit; massive massif, huge énorme"),
        states(
            "fragile fragile, fragile fragile: unfit; in-bad-condition en-mauvais-état, "
            "@be/1 badly/2 made/3 = @être/1 mal/2 ~fait/3"
        ),
    ),
)
_PLAIN_MADE = pick("table chair shelf statue box bench stool desk")
MATERIALS = replace(
    CRUSH, nouns=_PLAIN_MADE, others=_PLAIN_MADE,
    predicates=(
        states("made+of-stone en-pierre, made+of-iron en-fer"),
        states("made+of-glass en-verre, made+of-cardboard en-carton; thin mince: unfit"),
    ),
)


def _levels(nouns: str, names: str, turned: str) -> Family:
    return Family(
        "fill", pick(nouns), pick(nouns), THING_LOOKS, (_forms("pour", names), _forms("pour", turned)),
        (states("full plein: level"), states("empty vide: level")),
        joint="until", roles=("object", "oblique"), tense_of_predicate="until", plurals=0.0,
    )


FILL = _levels("jug bottle cup teapot basin bowl glass pot jar bucket", "fill ~ from", "empty ~ into")
LOAD = _levels("cart car van truck boat train bus", "load ~ from", "unload ~ into")

LENT = tuple(noun for noun in pick("tool") if noun.en not in ("letter", "candle", "flag"))
LEND = Family(
    "lend", ANIMALS, ANIMALS, ANIMAL_LOOKS,
    (
        _forms("transfer", "lend ~ to, give ~ to, offer ~ to, bring ~ to"),
        _forms("transfer", "borrow ~ from, receive ~ from, accept ~ from"),
    ),
    (
        states(
            "generous généreux, generous généreux, kind gentil, helpful serviable: often; "
            "enjoyed/1 sharing/2 = @aimer/1 partager/2"
        ),
        states(
            "grateful reconnaissant, grateful reconnaissant: often; touched touché: very; "
            "@be/1 lucky/2 = @avoir/1 de/2 la/2 chance/2, said/1 thank/2 you/2 = %avoir/1 dit/1 merci/2"
        ),
    ),
    joint=".",
    third=LENT,
    roles=("subject", "oblique"),
)

_HARM = "attack, push, hit, insult"
LARGER = tuple(noun for noun in ANIMALS if noun.en not in ("ant", "spider", "bee"))
UPSET = states("nervous nerveux, upset contrarié: very")  # unnatural with a by-phrase
PREY = states("weak faible, alone seul, defenceless sans+défense")
PUNISHED = states(
    "@be/1 punished/2 = %avoir/1 été/1 ~puni/2, @be/1 scolded/2 = %avoir/1 été/1 ~grondé/2, "
    "@be/1 tied/2 up/2 = %avoir/1 été/1 ~attaché/2"
)
CONNECTIVE = Family(
    "connective", LARGER, LARGER, ANIMAL_LOOKS, (_forms("meet", _HARM), _forms("meet", _HARM, _PASSIVE)),
    (
        states("angry en+colère, furious furieux, in+a+bad+mood de+mauvaise+humeur"),
        states("hated-by-everyone détesté-de-tous, despised-by-everyone méprisé-de-tous, guilty coupable"),
    ),
)
VARIANTS = {
    "chase": (CHASE, SMALL_CHASE), "fit": (FIT, SMALL_FIT), "connective": (CONNECTIVE,), "give": (GIVE,),
    "hide": (HIDE, PROTECT), "crush": (CRUSH, MATERIALS), "fill": (FILL, FILL, LOAD), "lend": (LEND,),
}
HARD = tuple(VARIANTS)
