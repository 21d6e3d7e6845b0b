"""Sentences to set beside the pronoun families: the easy family, and pronouns that no verb and predicate decide.

Easy: the predicate alone says which noun is meant. Controls: *it* with no antecedent (*it was raining*), object pronouns
whose participle agrees (*l'a suivie*), possessives that agree with the thing owned, and number that settles the matter.
"""

from dataclasses import replace
from random import Random

from .clauses import Form, Verb, clause, noun_phrase, object_pronoun, pronoun
from .lexicon import DEGREES, DESCRIPTIONS, Noun, adjectives, named, of_kind
from .phrases import NounPhrase, Phrase, StoryPair, compose, realise
from .pronouns import CHASE, CONNECTIVE, Predicate, describe, draw_pair, was

_ANIMALS = of_kind("animal")
_LOOKS = adjectives("old young beautiful white black grey brown")
_TOO = (("too", "trop"), ("too", "trop"), ("so", "si"), ("very", "très"))
_DONE = Form()
_SHORT = Form(negative=True, short=True)
_NOT = Form(negative=True)


def _v(en: str, fr: str, domain: str, prep: tuple[str, str] = ("", ""), aux: str = "avoir") -> Verb:
    base, past, part = en.split()
    return Verb((base, past, part), fr, prep, aux=aux, domain=domain)


_WEARY = was("tired fatigué", "weak faible", "lazy paresseux", "sick malade", degrees=_TOO)
# Verb, forms, places or things, predicates of the animal, predicates of the thing.
_EASY: tuple[tuple[Verb, tuple[Form, ...], tuple[Noun, ...], tuple[Predicate, ...], tuple[Predicate, ...]], ...] = (
    (
        _v("cross crossed crossed", "traverser", "cross"),
        (_NOT, _SHORT),
        named("street road river bridge field valley forest garden park meadow lake path"),
        (*_WEARY, *was("shy timide", degrees=_TOO)),
        was("wide large", "wide large", "long long", "dark sombre", degrees=_TOO),
    ),
    (
        _v("enter entered entered", "entrer", "cross", ("", "dans"), aux="être"),
        (_NOT, _SHORT),
        named("forest garden park house castle church barn school hut village"),
        was("shy timide", "tired fatigué", "sick malade", "sad triste", degrees=_TOO),
        was("dark sombre", "dirty sale", "full plein", degrees=_TOO),
    ),
    (
        _v("leave left left", "quitter", "cross"),
        (_DONE,),
        named("forest garden village market island meadow house castle barn school"),
        (*was("hungry affamé", "sad triste", "curious curieux", degrees=(None, *DEGREES)),),
        (*was("empty vide", "on-fire en-feu"), *was("dark sombre", degrees=_TOO)),
    ),
    (
        _v("carry carried carried", "porter", "lift"),
        (_NOT, _SHORT),
        of_kind("container", "furniture"),
        _WEARY,
        (*was("heavy lourd", "heavy lourd", "wide large", degrees=_TOO), *was("made-of-stone en-pierre")),
    ),
    (
        _v("push pushed pushed", "pousser", "lift"),
        (_NOT, _SHORT),
        (*of_kind("container", "furniture"), *named("cart car truck")),
        _WEARY,
        (*was("heavy lourd", "big grand", degrees=_TOO), *was("made-of-iron en-fer")),
    ),
)


def easy_group(rng: Random, split: str, key: str) -> list[StoryPair]:
    """*The cat did not cross the street because it was too tired / too wide*: two sentences."""
    verb, forms, things, of_animal, of_thing = rng.choice(_EASY)
    animal, thing = draw_pair(rng, _ANIMALS, things, verb.domain, split, mixed=True)
    form = rng.choice(forms)
    plural = rng.random() < 0.08
    first = describe(rng, animal, _LOOKS, split, plural=plural)
    second = describe(rng, thing, adjectives("old beautiful new white red"), split, plural=plural)
    group = []
    for is_first, predicates in ((True, of_animal), (False, of_thing)):
        subject = first.phrase(part="agent")
        object_ = second.phrase(part="patient", negated=form.negative and not verb.prep[1])
        main = clause(subject, verb, object_, form=form)
        it = pronoun(subject if is_first else object_, "subject" if is_first else "object")
        predicate = rng.choice(predicates)
        said = compose(predicate.en, predicate.fr, subject=it, degree=rng.choice(predicate.degrees), part="state")
        phrase = compose("$M because/1 $I $P ./2", "$M parce/1 que/1 $I $P ./2", {"M": main, "I": it, "P": said})
        group.append(realise(phrase, family="easy", kind="easy", contrast_key=key))
    return group


_WEATHER = (
    ("was/2 raining/2", "pleuvait/2"), ("was/2 raining/2 hard/3", "pleuvait/2 fort/3"), ("was/2 snowing/2", "neigeait/2"),
    ("was/2 still/3 raining/2", "pleuvait/2 encore/3"), ("was/2 already/4 late/3", "était/2 déjà/4 tard/3"),
    ("was/2 midnight/3", "était/2 minuit/3"), ("was/2 noon/3", "était/2 midi/3"), ("was/2 six/3 o'clock/4", "était/2 six/3 heures/4"),
)  # fmt: skip


def weather(rng: Random, split: str) -> StoryPair:
    """*because it was raining*: the main clauses of the pronoun families, and no antecedent."""
    if rng.random() < 0.5:
        verb, forms, things, *_ = rng.choice(_EASY)
        form, seconds = rng.choice(forms), things
    else:
        family = rng.choice((CHASE, CONNECTIVE))
        verb, form = rng.choice(family.verbs + family.turned_verbs)
        seconds = _ANIMALS
    first, second = draw_pair(rng, _ANIMALS, seconds, verb.domain, split)
    subject = describe(rng, first, _LOOKS, split).phrase(part="patient" if form.passive else "agent")
    negated = form.negative and not verb.prep[1]
    object_ = describe(rng, second, _LOOKS[:3], split).phrase(part="agent" if form.passive else "patient", negated=negated)
    english, french = rng.choice(_WEATHER)
    tail = compose(f"because/1 it/5 {english} ./9", f"parce/1 que/1 il/5 {french} ./9")
    tail.en[1].role = "weather"
    main = clause(subject, verb, object_, form=form)
    return realise(compose("$M $T", "$M $T", {"M": main, "T": tail}), family="weather", kind="control")


_PERCEIVE = (
    _v("see saw seen", "voir", "see"), _v("find found found", "trouver", "see"), _v("hear heard heard", "entendre", "see"),
    _v("wake woke woken", "réveiller", "see", ("up", "")), _v("call called called", "appeler", "see"),
)  # fmt: skip
_ACT = (
    _v("follow followed followed", "suivre", "see"), _v("bite bit bitten", "mordre", "see"),
    _v("help helped helped", "aider", "see"), _v("chase chased chased", "poursuivre", "see"),
    _v("wash washed washed", "laver", "see"), _v("push pushed pushed", "pousser", "see"),
)  # fmt: skip
_OBTAIN = (
    _v("find found found", "trouver", "obtain"), _v("buy bought bought", "acheter", "obtain"),
    _v("open opened opened", "ouvrir", "obtain"), _v("clean cleaned cleaned", "nettoyer", "obtain"),
    _v("take took taken", "prendre", "obtain"),
)  # fmt: skip
_DISPOSE = (
    _v("lose lost lost", "perdre", "obtain"), _v("sell sold sold", "vendre", "obtain"),
    _v("hide hid hidden", "cacher", "obtain"), _v("break broke broken", "casser", "obtain"),
    _v("close closed closed", "fermer", "obtain"), _v("paint painted painted", "peindre", "obtain"),
)  # fmt: skip


def object_agreement(rng: Random, split: str) -> StoryPair:
    """*The wolf saw the goat and followed it*: l'a suivie."""
    if rng.random() < 0.5:
        verbs, agents, patients = (_PERCEIVE, _ACT), _ANIMALS, _ANIMALS
    else:
        verbs, agents, patients = (_OBTAIN, _DISPOSE), of_kind("person"), of_kind("container", "tool")
    before, after = rng.choice(verbs[0]), rng.choice(verbs[1])
    first, second = draw_pair(rng, agents, patients, before.domain, split)
    plural = rng.random() < 0.3
    subject = describe(rng, first, DESCRIPTIONS[first.kind], split).phrase(part="agent")
    object_ = describe(rng, second, DESCRIPTIONS[second.kind], split, plural=plural).phrase(part="patient")
    main = clause(subject, before, object_)
    silent = replace(subject, en=[], fr=[])
    rest = clause(silent, after, object_pronoun(object_, "object"))
    phrase = compose("$M and/1 $R ./2", "$M et/1 $R ./2", {"M": main, "R": rest})
    return realise(phrase, family="object", kind="control")


_OWNED = {  # whose, what: verbs
    "animal": (
        named("ear paw tail nose head leg neck foot tooth"),
        (_v("hurt hurt hurt", "blesser", "own"), _v("wash washed washed", "laver", "own"), _v("show showed shown", "montrer", "own"),
         _v("hide hid hidden", "cacher", "own"), _v("touch touched touched", "toucher", "own")),
    ),
    "person": (
        (*of_kind("tool", "vehicle"), *named("bag basket suitcase house garden dog cat horse cow goat nose ear")),
        (_v("lose lost lost", "perdre", "own"), _v("find found found", "trouver", "own"), _v("clean cleaned cleaned", "nettoyer", "own"),
         _v("sell sold sold", "vendre", "own"), _v("paint painted painted", "peindre", "own"), _v("show showed shown", "montrer", "own")),
    ),
}  # fmt: skip


def possessive(rng: Random, split: str) -> StoryPair:
    """*The hen hurt its ear*: son oreille, whoever owns it."""
    kind = rng.choice(("animal", "person"))
    things, verbs = _OWNED[kind]
    verb = rng.choice(verbs)
    first, second = draw_pair(rng, of_kind(kind), things, verb.domain, split)
    several, plural = rng.random() < 0.2, rng.random() < 0.25
    subject = describe(rng, first, DESCRIPTIONS[first.kind], split, plural=several).phrase(part="agent")
    object_ = owned(rng, subject, second, split, plural=plural)
    phrase = compose("$M ./1", "$M ./1", {"M": clause(subject, verb, object_)})
    return realise(phrase, family="possessive", kind="control")


def owned(rng: Random, owner: NounPhrase, noun: Noun, split: str, *, plural: bool = False) -> NounPhrase:
    """*its ear*, *her old bag*, *their cows*: the determiner stands for the owner."""
    person = owner.noun.person if owner.noun else ("she" if owner.gender == "f" else "he")
    det = "their" if owner.plural else {"she": "her", "he": "his", None: "its"}[person]
    described = describe(rng, noun, DESCRIPTIONS[noun.kind], split, plural=plural)
    phrase = replace(described, det=det).phrase(part="patient")
    phrase.en[0].refers, phrase.en[0].role = owner.head, "owner"
    return phrase


def number(rng: Random, split: str) -> StoryPair:
    """*The goats chased the wolf because they were hungry*: one noun is plural, and that decides."""
    verb, form = rng.choice(CHASE.verbs + CHASE.turned_verbs)
    first, second = draw_pair(rng, _ANIMALS, _ANIMALS, verb.domain, split)
    is_first, many_first = rng.random() < 0.5, rng.random() < 0.5
    subject = describe(rng, first, _LOOKS, split, plural=many_first).phrase(part="agent")
    object_ = describe(rng, second, _LOOKS, split, plural=not many_first).phrase(part="patient")
    it = pronoun(subject if is_first else object_, "subject" if is_first else "object")
    turned = (verb, form) in CHASE.turned_verbs
    predicate = rng.choice(CHASE.predicates if is_first is not turned else CHASE.turned_predicates)
    said = compose(predicate.en, predicate.fr, subject=it, degree=rng.choice(predicate.degrees), part="state")
    slots: dict[str, Phrase] = {"M": clause(subject, verb, object_, form=form), "I": it, "P": said}
    phrase = compose("$M because/1 $I $P ./2", "$M parce/1 que/1 $I $P ./2", slots)
    return realise(phrase, family="number", kind="control")
