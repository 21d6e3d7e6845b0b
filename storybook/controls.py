"""Sentences for comparison with the pronoun families: the easy family, and pronouns that verb and predicate do not
decide.

Easy: the predicate alone says which noun is meant. Controls: *it* with no antecedent (*it was raining*), object
pronouns whose participle agrees (*l'a suivie*), possessives that agree with the thing owned, number that decides, and
a noun alone.
"""

from dataclasses import dataclass, replace
from random import Random

from .clauses import Form, clause, object_pronoun
from .families import ANIMAL_LOOKS, ANIMALS, CHASE, HUNGRY, LARGER, SMALL_CHASE, Predicate, states
from .lexicon import DESCRIPTIONS, StoryNoun, adjectives, pick, repeats
from .phrases import NounPhrase, StoryPair, compose, realise
from .scenes import Sentence, describe, draw_pair
from .verbs import VERBS, Verb, verbs

_PEOPLE = pick("person")
_LOADS = pick("container furniture")
_STRONG = pick("wolf bear fox lion tiger dog horse monkey donkey pig goat cow giraffe panther otter goose")
_THING_LOOKS = adjectives("old beautiful new pretty")


@dataclass(frozen=True)
class Easy:
    """A verb and its objects, and what can be said of the animal only and of the object only."""

    verb: Verb
    negative: bool
    things: tuple[StoryNoun, ...]
    of_animal: tuple[Predicate, ...]
    of_thing: tuple[Predicate, ...]
    animals: tuple[StoryNoun, ...] = ANIMALS


_WEARY = states("tired fatigué, weak faible, lazy paresseux, sick malade: unable")
_WEARY_OR_SHY = _WEARY + states("shy timide: unable")
EASY = (
    Easy(
        VERBS["cross", "cross"], True, pick("street road field valley forest garden park meadow"), _WEARY_OR_SHY,
        states("wide large, wide large, dark sombre: unable; flooded inondé"),
    ),
    Easy(
        VERBS["cross", "cross"], True, pick("river lake bridge"), _WEARY_OR_SHY, states("dangerous dangereux: unable"),
    ),
    Easy(
        VERBS["cross", "enter"], True, pick("forest garden park house castle church barn school hut village"),
        states("shy timide, tired fatigué, sick malade, sad triste: unable"),
        states("dark sombre, small petit: too; on-fire en-feu"),
    ),
    Easy(
        VERBS["cross", "leave"], False, pick("forest garden village market island meadow house castle barn school"),
        HUNGRY + states("sad triste, curious curieux: usual"),
        states("empty vide, on-fire en-feu; dark sombre: unable"),
    ),
    Easy(
        VERBS["goods", "carry"], True, _LOADS, _WEARY, states("heavy lourd, heavy lourd, wide large: unable"), _STRONG,
    ),
    Easy(
        VERBS["goods", "lift"], True, (*_LOADS, *pick("cart boat")), _WEARY,
        states("heavy lourd, heavy lourd: unable; massive massif"), _STRONG,
    ),
)


def easy_group(rng: Random, split: str, key: str) -> list[Sentence]:
    """*The cat did not cross the street because it was too tired / too wide*: two sentences."""
    easy = rng.choice(EASY)
    animal, thing = draw_pair(rng, easy.animals, easy.things, easy.verb.group, split, mixed=True)
    form = Form(negative=easy.negative, short=rng.random() < 0.4)
    plural = rng.random() < 0.08
    first = describe(rng, animal, ANIMAL_LOOKS, split, plural=plural)
    second = describe(rng, thing, _THING_LOOKS, split, plural=plural).definite()
    group = []
    for meant, predicates in (("subject", easy.of_animal), ("object", easy.of_thing)):
        predicate = rng.choice(predicates)
        degree = rng.choice(predicate.degrees)
        group.append(Sentence("easy", "easy", easy.verb, form, (first, second), meant, predicate.pattern, degree, key))
    return group


_WEATHER = (
    "was/2 raining/2 = pleuvait/2", "was/2 raining/2 hard/3 = pleuvait/2 fort/3", "was/2 snowing/2 = neigeait/2",
    "was/2 still/3 raining/2 = pleuvait/2 encore/3", "was/2 cold/3 outside/4 = faisait/2 froid/3 dehors/4",
)
_MIDNIGHT, _NOON = "was/2 midnight/3 = était/2 minuit/3", "was/2 noon/3 = était/2 midi/3"
_IDLE = (
    (verbs("alone", "rest, stop, stay, return, hide"), _WEATHER),
    (verbs("alone", "sleep, rest, stop, return"), (_MIDNIGHT, _NOON)),
)
_OUTINGS = (  # a verb, whether it is negated, and the kind of places
    (VERBS["cross", "cross"], True, pick("street road field valley forest garden park meadow river lake bridge")),
    (VERBS["cross", "leave"], False, pick("forest garden market island meadow park field beach")),
)


def weather(rng: Random, split: str) -> StoryPair:
    """*because it was raining*: main clauses as in the families easy and alone, and no antecedent."""
    verb, negative, places = rng.choice(_OUTINGS)
    first, second = draw_pair(rng, ANIMALS, places, verb.group, split)
    subject = describe(rng, first, ANIMAL_LOOKS, split).phrase("agent")
    object_ = describe(rng, second, _THING_LOOKS, split).definite().phrase("patient")
    main = clause(subject, verb, object_, form=Form(negative=negative, short=rng.random() < 0.4))
    reasons: tuple[str, ...] = (*_WEATHER, _MIDNIGHT)
    if rng.random() < 0.4:
        doings, reasons = rng.choice(_IDLE)
        main = clause(subject, rng.choice(doings))
    it = compose("it/1 = il/1")
    it.en[0].role = "weather"
    reason = compose(rng.choice(reasons))
    phrase = compose("$M because/1 $I $W ./2 = $M parce/1 que/1 $I $W ./2", M=main, I=it, W=reason)
    return realise(phrase, family="weather", kind="control")


_NOTICE = verbs("meet", "see, find, hear, wake up")
_CALL = (*_NOTICE, VERBS["meet", "call"])
_BREAKABLE = pick("furniture crate jug bottle bowl cup glass pot basin barrel jar vase teapot drum doll flute violin")
_HAPPENINGS = (  # who, what, first verb, second verb
    (LARGER, pick("animal person"), _NOTICE, verbs("meet", "follow, push, help, chase, attack, greet")),
    (_PEOPLE, pick("animal person"), _CALL, verbs("meet", "follow, help, greet, watch")),
    (_PEOPLE, ANIMALS, _CALL, verbs("meet", "catch, follow, chase")),
    (_PEOPLE, _BREAKABLE, verbs("goods", "buy, clean, take"), verbs("goods", "sell, hide, break, paint")),
    (_PEOPLE, pick("tool box basket trophy"), verbs("goods", "buy, take"), verbs("goods", "lose, sell, hide")),
)


def object_agreement(rng: Random, split: str) -> StoryPair:
    """*The wolf saw the goat and followed it*: l'a suivie; *sees the goat but does not follow it*: ne la suit pas."""
    agents, patients, befores, afters = rng.choices(_HAPPENINGS, (3, 2, 1, 2, 2))[0]
    before, after = rng.choice(befores), rng.choice(afters)
    first, second = draw_pair(rng, agents, patients, before.group, split)
    subject = describe(rng, first, DESCRIPTIONS[first.kind], split).phrase("agent")
    object_ = describe(rng, second, DESCRIPTIONS[second.kind], split, plural=rng.random() < 0.25).phrase("patient")
    tense = rng.choice(("past", "past", "past", "present"))
    main = clause(subject, before, object_, form=Form(tense))
    negative = rng.random() < 0.25
    form = Form(tense, negative=negative, short=rng.random() < 0.4)
    rest = clause(replace(subject, en=[], fr=[]), after, object_pronoun(object_, "object"), form=form)
    pattern = "$M but/1 $R ./2 = $M mais/1 $R ./2" if negative else "$M and/1 $R ./2 = $M et/1 $R ./2"
    pair = realise(compose(pattern, M=main, R=rest), family="object", kind="control")
    return object_agreement(rng, split) if repeats(pair.source) else pair


_PAWED = pick("cat dog wolf bear fox lion rabbit squirrel hedgehog tiger mouse weasel otter")
_HOOFED = pick("horse donkey pig lamb goat cow giraffe")
_BIRDS = pick("owl duck hen crow goose")
_MANY = ("ear", "paw", "tooth")
_OWNED = (  # whose, what, verbs
    (_PAWED, pick("ear paw tail nose tooth"), verbs("goods", "show, hide")),
    (_HOOFED, pick("ear neck tail head tooth"), verbs("goods", "show")),
    (_PAWED, pick("paw tail"), verbs("meet", "look at")),
    (_BIRDS, pick("nest egg feather"), verbs("meet", "look for, find, look at, watch, see")),
    (ANIMALS, pick("nut apple carrot shell strawberry"), verbs("goods", "lose, show, hide, eat")),
    (ANIMALS, pick("nut apple carrot shell strawberry"), verbs("meet", "look for, find")),
    (_PEOPLE, pick("tool car van cart boat"), verbs("goods", "lose, sell, show, take, hide")),
    (_PEOPLE, pick("dog cat horse cow goat sister uncle aunt brother"), verbs("meet", "help, look for, call, love")),
)


def possessive(rng: Random, split: str) -> StoryPair:
    """*The cow hid its ear*: son oreille, whoever owns it."""
    owners, things, doings = rng.choice(_OWNED)
    verb = rng.choice(doings)
    first, second = draw_pair(rng, owners, things, verb.group, split)
    several, plural = rng.random() < 0.2, rng.random() < 0.25 and second.kind != "kin"
    if second.kind == "body" and second.en != "nest":  # one tail to a cow, and *their tails* has two French ways
        several, plural = several and second.en in _MANY, (several or plural) and second.en in _MANY
    subject = describe(rng, first, DESCRIPTIONS[first.kind], split, plural=several).phrase("agent")
    main = clause(subject, verb, owned(rng, subject, second, split, plural=plural))
    pair = realise(compose("$M ./1", M=main), family="possessive", kind="control")
    return possessive(rng, split) if repeats(pair.source) else pair


def owned(rng: Random, owner: NounPhrase, noun: StoryNoun, split: str, *, plural: bool = False) -> NounPhrase:
    """*its ear*, *her old bag*, *their cows*: the determiner stands for the owner."""
    det = {"they": "their", "she": "her", "he": "his", "it": "its"}[owner.pronoun]
    described = describe(rng, noun, DESCRIPTIONS[noun.kind], split, plural=plural)
    phrase = replace(described, det=det).phrase("patient")
    phrase.en[0].refers, phrase.en[0].role = owner.head, "owner"
    return phrase


_HUNT = verbs("meet", "chase, attack, hunt, stalk")
_FLIGHT = verbs("meet", "flee from, avoid, fear, hide from")


def number(rng: Random, split: str) -> Sentence:
    """*The goats chased the wolf because they were hungry*: one noun is plural, and that decides."""
    family = rng.choice((CHASE, SMALL_CHASE))
    hunter, other = draw_pair(rng, family.nouns, family.others, "meet", split)
    is_first, many_first, is_turned = (rng.random() < 0.5 for _ in range(3))
    verb = rng.choice(_FLIGHT if is_turned else _HUNT)
    first, second = (other, hunter) if is_turned else (hunter, other)
    subject = describe(rng, first, ANIMAL_LOOKS, split, plural=many_first)
    object_ = describe(rng, second, ANIMAL_LOOKS, split, plural=not many_first).definite()
    meant = "subject" if is_first else "object"
    predicate = rng.choice(CHASE.predicates[is_first is is_turned])
    degree = rng.choice(predicate.degrees)
    return Sentence("number", "control", verb, Form(), (subject, object_), meant, predicate.pattern, degree)


_HUNTED = tuple(noun for noun in SMALL_CHASE.others if noun.en not in ("fox", "dog", "monkey"))
_ALONE = (
    (ANIMALS, verbs("alone", "sleep, rest, stop, stay"), _WEARY + states("wounded blessé")),
    (ANIMALS, verbs("alone", "eat"), HUNGRY + states("greedy gourmand: usual")),
    (ANIMALS, verbs("alone", "leave, return"), tuple(p for p in CHASE.predicates[0] if "greedy" not in p.pattern)),
    (_HUNTED, verbs("alone", "hide"), tuple(p for p in CHASE.predicates[1] if "slow" not in p.pattern)),
)


def alone(rng: Random, split: str) -> Sentence:
    """*The goat slept because it was tired*: one noun, so that the pronoun can only mean it."""
    animals, doings, predicates = rng.choice(_ALONE)
    animal = describe(rng, rng.choice(animals), ANIMAL_LOOKS, split, plural=rng.random() < 0.1)
    predicate, verb = rng.choice(predicates), rng.choice(doings)
    degree = rng.choice(predicate.degrees)
    return Sentence("alone", "control", verb, Form(), (animal,), "subject", predicate.pattern, degree)
