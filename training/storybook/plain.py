"""Plain sentences: what the clause grammar says with whatever fits: tense, number, adverbs, lists, questions, relatives.

Every verb names the kinds of noun that may be its subject and object, so that a sentence means something.
"""

from dataclasses import dataclass, replace
from random import Random

from .clauses import Form, clause, conjoined, name, noun_phrase, speaker, stranger
from .controls import owned
from .lexicon import (
    COMPARATIVES, DEGREES, DESCRIPTIONS, NAMES, NUMBERS, TIMES, UNGRADED, Adjective, Noun, adjectives, named, of_kind,
)  # fmt: skip
from .phrases import NounPhrase, Phrase, StoryPair, Token, compose, new_id, realise
from .pronouns import describe, fitting
from .verbs import VERBS, Verb, verbs

_ANIMATE = of_kind("animal", "person")
_PEOPLE = of_kind("person", "kin")
_FOOD = of_kind("food")
_THINGS = of_kind("container", "furniture", "tool", "vehicle")
_BUILDINGS = of_kind("building")
_SIGHTS = (*_ANIMATE, *_BUILDINGS, *_THINGS, *of_kind("nature", "place"))
_OPENED = named("box bag suitcase basket crate bottle jar drawer chest cupboard wardrobe book umbrella")


@dataclass(frozen=True)
class Plain:
    """A verb, the nouns that may be its subject, and those that may be its object (none: intransitive)."""

    verb: Verb
    subjects: tuple[Noun, ...]
    objects: tuple[Noun, ...]


TRANSITIVE = tuple(
    Plain(verb, subjects, objects)
    for group, names, subjects, objects in (
        ("meet", "see, watch, look at, find, look for, talk about", _ANIMATE, _SIGHTS),
        ("meet", "hear", _ANIMATE, (*_ANIMATE, *named("train plane car drum violin flute piano clock"))),
        ("meet", "love, help, follow, greet", _ANIMATE, _ANIMATE),
        ("goods", "eat", _ANIMATE, _FOOD),
        ("goods", "want", _ANIMATE, (*_FOOD, *of_kind("tool"))),
        ("goods", "hide", _ANIMATE, (*_FOOD, *of_kind("tool"))),
        ("goods", "buy, sell", _PEOPLE, (*_FOOD, *_THINGS)),
        ("goods", "lose", _PEOPLE, of_kind("tool")),
        ("goods", "paint", _PEOPLE, (*_THINGS, *_BUILDINGS)),
        ("goods", "draw", _PEOPLE, (*of_kind("animal", "nature", "vehicle"), *_BUILDINGS)),
        ("goods", "clean", _PEOPLE, (*_THINGS, *named("house barn garage school church castle"))),
        ("goods", "open, close", _PEOPLE, _OPENED),
        ("goods", "break", _PEOPLE, named("bottle bowl cup glass pot jar vase teapot mirror lamp chair table clock pen egg")),
        ("goods", "carry", _ANIMATE, (*of_kind("container"), *named("ladder drum book umbrella flag chair table stool"))),
        ("goods", "wash", _PEOPLE, named("car truck dress shirt coat scarf cup bowl glass pot dog cat horse pig apple tomato")),
        ("goods", "build", _PEOPLE, _BUILDINGS),
        ("goods", "read", _PEOPLE, named("book letter map")),
        ("goods", "cut", _PEOPLE, (*_FOOD, *named("rope branch flower tree"))),
        ("cross", "cross", _ANIMATE, named("street road river bridge field valley forest garden park meadow lake")),
        ("cross", "visit", _PEOPLE, (*_BUILDINGS, *named("village market park garden island forest valley"))),
        ("cross", "enter, leave", _ANIMATE, named("house barn church castle school hospital garden forest park village hut")),
    )
    for verb in verbs(group, names)
)  # fmt: skip
_LASTING = "sleep run swim walk dance eat jump play wait rest laugh work watch look draw paint read build wash clean cut".split()
INTRANSITIVE = tuple(Plain(verb, _ANIMATE, ()) for verb in VERBS.values() if verb.group == "alone")
_BRIEF = ("arrive", "leave", "return", "stop", "fall")  # said with a time, not with a place
_FORMS = (
    *(Form(),) * 3, Form(negative=True), Form(negative=True), Form(negative=True, short=True),
    *(Form("present"),) * 5, Form("present", negative=True), Form("present", negative=True, short=True),
    *(Form("future"),) * 4, *(Form("progressive"),) * 2, Form(modal="can"), Form(modal="can", negative=True),
    Form(modal="could", negative=True), Form(modal="could", negative=True, short=True), Form(modal="must"),
    Form(modal="wanted"), Form("present", modal="wants"), Form(modal="wanted", negative=True), Form(never=True),
    Form(adverb=("often", "souvent")), Form("present", adverb=("always", "toujours")), Form("present", adverb=("often", "souvent")),
)  # fmt: skip


def say(
    rng: Random, noun: Noun, split: str, *, part: str | None = None, negated: bool = False, plural: bool | None = None,
    new: bool | None = None,
) -> NounPhrase:  # fmt: skip
    """A noun phrase as the grammar likes: any determiner, number, up to two adjectives, now and then an owner.

    `new`: what has not been spoken of (*a, some, three*); False: what has (*the, this, my*); None: either.
    """
    plural = rng.random() < 0.25 and noun.kind != "kin" if plural is None else plural
    fit = fitting(noun, DESCRIPTIONS[noun.kind], split)
    before, after = [a for a in fit if a.before], [a for a in fit if a.en in UNGRADED]
    chosen: list[Adjective] = []
    if (draw := rng.random()) < 0.45 and fit:
        chosen = [rng.choice(before), rng.choice(after)] if draw < 0.07 and before and after else [rng.choice(fit)]
    count = owner = None
    mine = ("the", "the") if noun.kind == "person" else ("my", "our")
    if plural and rng.random() < 0.25:
        digits = rng.choice(("15", "20", "24", "25", "30", "40", "50", "60", "75", "99"))
        count = (digits, digits) if rng.random() < 0.25 else rng.choice(NUMBERS)
    if plural:
        known = rng.choices(("the", "this", *mine), (6, 1, 1, 1))[0]
        det = ("" if count else rng.choice(("some", "some", ""))) if new or new is None and rng.random() < 0.4 else known
        count = None if det == "this" or count and det and count[0].startswith("a/") else count
    else:
        known = rng.choices(("the", "this", *mine), (3 if noun.kind == "kin" else 8, 1, 1, 1))[0]
        det = "a" if new or new is None and rng.random() < 0.25 else known
        det = "every" if new is None and not negated and rng.random() < 0.02 else det
    if noun.kind in ("tool", "container", "vehicle", "animal") and not new and rng.random() < 0.06:
        owner, count = (name(*rng.choice(NAMES)) if rng.random() < 0.4 else noun_phrase(rng.choice(_PEOPLE))), None
    return noun_phrase(
        noun, det=det, adjectives=chosen, plural=plural, number=count, negated=negated, owner=owner, part=part
    )


def _subject(rng: Random, nouns: tuple[Noun, ...], split: str, *, speaking: bool = True) -> NounPhrase:
    """Mostly a noun phrase; else a name, two names, he, she or they, or I or we."""
    draw = rng.random()
    if draw < 0.10:
        return name(*rng.choice(NAMES), part="agent")
    if draw < 0.14 and speaking:
        return speaker(plural=rng.random() < 0.5)
    if draw < 0.19:
        return stranger(rng.choice(("he", "she", "they")))
    if draw < 0.23:
        return conjoined([name(*named_) for named_ in rng.sample(NAMES, 2)])
    return say(rng, rng.choice(nouns), split, part="agent")


def _form(rng: Random, verb: Verb) -> Form:
    while True:
        form = rng.choice(_FORMS)
        lasting = verb.en[0] in _LASTING
        if form.tense == "progressive" and not lasting or form.modal and verb.state:
            continue
        return form


def _suits(subject: NounPhrase, verb: Verb, form: Form) -> bool:
    """Not *they read*, present or past; not *I stayed*, whose French participle would tell who speaks."""
    same = verb.en[0] == verb.en[1] and form.tense == "present" and not form.negative and not form.modal
    if same and (subject.plural or subject.person == 1):
        return False
    return subject.person == 3 or not (verb.reflexive or verb.aux == "être" or form.tense in ("progressive", "future"))


def _event(rng: Random, split: str, *, form: Form | None = None, lasting: bool = False, placed: bool = False) -> Phrase:
    """A clause, transitive three times in four."""
    while True:
        plain = rng.choice(TRANSITIVE if rng.random() < 0.75 else INTRANSITIVE)
        subject = _subject(rng, plain.subjects, split)
        said = form or _form(rng, plain.verb)
        if not _suits(subject, plain.verb, said) or lasting and plain.verb.en[0] not in _LASTING:
            continue
        if placed and (plain.verb.state or plain.verb.group == "cross" or plain.verb.en[0] in (*_BRIEF, "build")):
            continue
        if not plain.objects:
            return clause(subject, plain.verb, form=said)
        noun = rng.choice(plain.objects)
        if noun is not subject.noun:
            negated = (said.negative or said.never) and not plain.verb.prep[1]
            return clause(subject, plain.verb, say(rng, noun, split, part="patient", negated=negated), form=said)


_SCENES = (
    ("in/1", "dans/1", named("street field forest garden meadow park village valley")),
    ("on/1", "sur/1", named("road beach island bridge path")), ("at/1", "à/1", named("market school farm hospital")),
    ("near/1", "près/1 de/1", (*_BUILDINGS, *named("river lake road forest"))),
    ("behind/1", "derrière/1", _BUILDINGS), ("in/1 front/1 of/1", "devant/1", _BUILDINGS),
    ("next/1 to/1", "à/1 côté/1 de/1", _BUILDINGS), ("under/1", "sous/1", named("tree bridge oak")),
)  # fmt: skip
_SPOTS = (
    *_SCENES, ("in/1", "dans/1", of_kind("container")), ("on/1", "sur/1", named("table chair bed shelf desk bench stool sofa")),
    ("under/1", "sous/1", named("table bed bench chair desk")), ("behind/1", "derrière/1", of_kind("furniture")),
)  # fmt: skip


def _where(rng: Random, split: str, spots: tuple[tuple[str, str, tuple[Noun, ...]], ...] = _SCENES) -> Phrase:
    en, fr, nouns = rng.choice(spots)
    return compose(f"{en} $N", f"{fr} $N", {"N": say(rng, rng.choice(nouns), split, plural=False)})


def simple(rng: Random, split: str) -> Phrase:
    """A clause, with a place or a time round it now and then."""
    draw = rng.random()
    if draw < 0.25:
        slots = {"E": _event(rng, split, placed=True), "W": _where(rng, split)}
        return compose("$E $W ./1", "$E $W ./1", slots)
    if draw < 0.4:
        slots = {"E": _event(rng, split, form=Form()), "T": compose(*rng.choice(TIMES))}
        pattern = "$T ,/1 $E ./2" if rng.random() < 0.6 else "$E $T ./2"
        return compose(pattern, pattern, slots)
    return compose("$E ./1", "$E ./1", {"E": _event(rng, split)})


def _quality(
    rng: Random, noun: Noun | None, subject: NounPhrase, split: str, tense: str, *, negative: bool = False
) -> Phrase:
    """*was very tired*: an adjective said of a subject, with the combination that this makes."""
    said = {token.text for token in subject.en}
    looks = DESCRIPTIONS[noun.kind] if noun else adjectives("tired happy sad sick brave lazy strong kind shy proud curious rich")
    free = [a for a in looks if a.en not in said and a.en != "new" and not (said & UNGRADED and a.en in UNGRADED)]
    if noun:
        free = list(fitting(noun, tuple(free), split))
    adjective = rng.choice(free)
    degree = None if adjective.en in UNGRADED else rng.choice((None, None, *DEGREES, ("too", "trop")))
    words = adjective.fr.split()
    french = " ".join(f"{word}/2" for word in [words[0] if words[0] == "en" else "~" + words[0], *words[1:]])
    no, ne, pas = ("not/3", "ne/3", "pas/3") if negative else ("", "", "")
    patterns = f"@be/1 {no} ^{adjective.en}/2", f"{ne} @être/1 {pas} ^{french}"
    phrase = compose(*patterns, subject=subject, tense=tense, degree=degree, part="state")
    if noun:
        phrase.combinations |= {("describes", adjective.en, noun.en)}
    return phrase


def quality(rng: Random, split: str) -> Phrase:
    """*The old house was very dark. Anna is not tired. The bear was bigger than the mouse.*"""
    tense = rng.choice(("past", "past", "present"))
    if rng.random() < 0.2:
        who, noun = name(*rng.choice(NAMES)), None
    else:
        noun = rng.choice(_SIGHTS)
        who = say(rng, noun, split, new=False)
        looks = fitting(noun, tuple(a for a in DESCRIPTIONS[noun.kind] if a in COMPARATIVES), split)
        others = [o for o in of_kind(noun.kind) if o is not noun]
        if looks and rng.random() < 0.25:
            return _comparison(rng.choice(looks), who, say(rng, rng.choice(others), split, new=False), tense)
    said = _quality(rng, noun, who, split, tense, negative=rng.random() < 0.2)
    return compose("$S $Q ./1", "$S $Q ./1", {"S": who, "Q": said})


def _comparison(adjective: Adjective, who: NounPhrase, other: NounPhrase, tense: str) -> Phrase:
    stem = {"big": "bigg", "sad": "sadd", "heavy": "heavi", "wide": "wid", "brave": "brav"}.get(adjective.en, adjective.en)
    patterns = f"$S @be/1 {stem}er/2 than/3 $O ./4", f"$S @être/1 plus/2 ~{adjective.fr}/2 que/3 $O ./4"
    phrase = compose(*patterns, {"S": who, "O": other}, subject=who, tense=tense)
    noun = who.noun
    return Phrase(phrase.en, phrase.fr, phrase.combinations | {("describes", adjective.en, noun.en if noun else "")})


def existence(rng: Random, split: str) -> Phrase:
    """*There were three cats in the garden. There was no key on the table.*"""
    noun = rng.choice(of_kind("animal", "tool", "container", "food"))
    plural, tense = rng.random() < 0.5, rng.choice(("past", "present"))
    has = "avait" if tense == "past" else "a"
    where = _where(rng, split, _SPOTS)
    if rng.random() < 0.2:
        there = noun_phrase(noun, det="no", plural=plural)
        patterns = "there/1 @be/2 $N $W ./3", f"il/1 ne/4 y/1 {has}/2 pas/4 $N $W ./3"
        phrase = compose(*patterns, {"N": there, "W": where}, subject=there, tense=tense)
        there.en[0].ids |= next(token.ids for token in phrase.fr if token.text == "ne")
        return phrase
    there = say(rng, noun, split, new=True, plural=plural)
    patterns = "there/1 @be/2 $N $W ./3", f"il/1 y/1 {has}/2 $N $W ./3"
    return compose(*patterns, {"N": there, "W": where}, subject=there, tense=tense)


def listing(rng: Random, split: str) -> Phrase:
    """*Anna bought two apples, a red hat and some cakes. The cat, the hen and the dog slept.*"""
    if rng.random() < 0.3:
        doing = rng.choice(INTRANSITIVE)
        people = [say(rng, noun, split, plural=False) for noun in rng.sample(_ANIMATE, rng.randint(2, 3))]
        return compose("$E ./1", "$E ./1", {"E": clause(conjoined(people), doing.verb)})
    plain = rng.choice([p for p in TRANSITIVE if p.verb.en[0] in ("buy", "sell", "see", "find", "look", "draw", "eat")])
    things = conjoined([say(rng, noun, split, part="patient") for noun in rng.sample(plain.objects, rng.randint(2, 5))])
    return compose("$E ./1", "$E ./1", {"E": clause(_subject(rng, plain.subjects, split), plain.verb, things)})


def relative(rng: Random, split: str) -> Phrase:
    """*The cat that saw the hen was tired*; *the hen that the cat saw was tired*: the nearest noun is not the subject."""
    plain = rng.choice(TRANSITIVE[:12])
    noun = rng.choice(plain.subjects)
    other = rng.choice([o for o in plain.objects if o.gender != noun.gender and o is not noun])
    doer = describe(rng, noun, DESCRIPTIONS[noun.kind], split, plural=rng.random() < 0.15).phrase(definite=True)
    done = describe(rng, other, DESCRIPTIONS[other.kind], split, plural=rng.random() < 0.15).phrase(definite=True)
    if rng.random() < 0.6 or plain.verb.prep[1]:
        main, about = doer, noun
        who = compose("that/1 $C", "qui/1 $C", {"C": clause(replace(doer, en=[], fr=[]), plain.verb, done)})
    else:
        main, about = done, other
        who = compose("that/1 $C", "que/1 $C", {"C": clause(doer, plain.verb, replace(done, en=[], fr=[]))})
    said = _quality(rng, about, main, split, "past")
    return compose("$N $W $Q ./1", "$N $W $Q ./1", {"N": main, "W": who, "Q": said})


def question(rng: Random, split: str) -> Phrase:
    """*Did the cat see the bird?*, *Where is the key?*, *Who found the ladder?*, *Is the dog tired?*"""
    draw = rng.random()
    noun = rng.choice(of_kind("animal", "tool", "container", "vehicle", "person"))
    subject = say(rng, noun, split, plural=rng.random() < 0.2, new=False)
    tense = rng.choice(("past", "present"))
    if draw < 0.2:
        return compose("where/1 @be/2 $N ?/3", "où/1 @être/2 $N ?/3", {"N": subject}, subject=subject, tense=tense)
    if draw < 0.4:
        said = _quality(rng, noun, subject, split, tense)
        slots = {"B": Phrase(said.en[:1], said.fr), "N": subject, "R": Phrase(said.en[1:], [], said.combinations)}
        phrase = compose("$B $N $R ?/1", "est/2 -ce/2 que/2 $N $B ?/1", slots)
        phrase.en[0].ids |= phrase.fr[0].ids
        return phrase
    plain = rng.choice([p for p in TRANSITIVE if not p.verb.state])
    asked_of = say(rng, rng.choice(plain.objects), split, part="patient")
    if draw < 0.55:
        ids = new_id()
        who = NounPhrase([Token("who", ids)], [Token("qui", ids)])
        asked = clause(who, plain.verb, asked_of)
    else:
        form = rng.choice((Form(), Form(), Form("present"), Form(modal="can")))
        who = say(rng, rng.choice([n for n in plain.subjects if n is not asked_of.noun]), split, part="agent", new=False)
        asked = clause(who, plain.verb, asked_of, form=form, question=True)
    return compose("$Q ?/1", "$Q ?/1", {"Q": asked})


def joined(rng: Random, split: str) -> Phrase:
    """Two to four clauses: the long sentences; *while* and *if* among them."""
    draw = rng.random()
    if draw < 0.2:
        slots = {"A": _event(rng, split, form=Form()), "B": _event(rng, split, form=Form("progressive"), lasting=True)}
        return compose("$A while/1 $B ./2", "$A pendant/1 que/1 $B ./2", slots)
    if draw < 0.3:
        weather = rng.choice((("rains", "pleut"), ("snows", "neige")))
        result = clause(say(rng, rng.choice(_ANIMATE), split, new=False), rng.choice(INTRANSITIVE).verb, form=Form("future"))
        patterns = f"if/1 it/2 {weather[0]}/3 ,/4 $E ./5", f"si/1 il/2 {weather[1]}/3 ,/4 $E ./5"
        phrase = compose(*patterns, {"E": result})
        phrase.en[1].role = "weather"
        return phrase
    phrase, contrary = _event(rng, split, form=Form()), False
    for _ in range(rng.choice((1, 1, 1, 2, 2, 3))):
        en, fr = rng.choice((("and/1", "et/1"), (",/2 and/1", ",/2 et/1"), (",/2 but/1", ",/2 mais/1"))[: 2 + (not contrary)])
        contrary = contrary or "but" in en
        more = _event(rng, split, form=Form(), placed=True)
        if rng.random() < 0.3:
            more = compose("$E $W", "$E $W", {"E": more, "W": _where(rng, split)})
        phrase = compose(f"$A {en} $B", f"$A {fr} $B", {"A": phrase, "B": more})
    return compose("$A ./1", "$A ./1", {"A": phrase})


def giving(rng: Random, split: str) -> Phrase:
    """*Anna gave the red book to her brother.*"""
    verb = rng.choice(verbs("transfer", "give ~ to, show ~ to, send ~ to, lend ~ to, sell ~ to"))
    giver = _subject(rng, _PEOPLE, split)
    thing = say(rng, rng.choice((*_FOOD, *of_kind("tool"))), split, part="patient")
    if giver.person == 3 and giver.noun and rng.random() < 0.3:
        taker: NounPhrase = owned(rng, giver, rng.choice(of_kind("kin")), split)
    else:
        taker = say(rng, rng.choice(_PEOPLE), split, plural=False)
    taker.head.part = "recipient"
    return compose("$E ./1", "$E ./1", {"E": clause(giver, verb, thing, taker)})


def mirrored(rng: Random, split: str) -> Phrase:
    """*The cat washed itself. Anna looked at herself in the mirror.*"""
    base, past, french = rng.choice((("hurt", "hurt", "blesser"), ("wash", "washed", "laver"), ("hide", "hid", "cacher")))
    verb = Verb((base, past, past), french, "self", reflexive=True)
    who = name(*rng.choice(NAMES)) if rng.random() < 0.2 else say(rng, rng.choice(_ANIMATE), split, part="agent", new=False)
    done = clause(who, verb)
    se = next(token for token in done.fr if token.text == "se")
    self_ = {"she": "herself", "he": "himself", None: "itself"}[who.noun.person if who.noun else "she" if who.gender == "f" else "he"]
    ids = new_id()
    itself = Token("themselves" if who.plural else self_, ids)
    itself.refers, itself.role, se.ids = who.head, "subject", ids
    done.en.append(itself)
    slots: dict[str, Phrase] = {"E": done, "W": _where(rng, split)}
    pattern = "$E $W ./1" if rng.random() < 0.3 else "$E ./1"
    return compose(pattern, pattern, slots)


def exclamation(rng: Random, split: str) -> Phrase:
    """*What a big dog!*"""
    noun = rng.choice(_SIGHTS)
    plural = rng.random() < 0.2
    looks = [a for a in fitting(noun, DESCRIPTIONS[noun.kind], split) if a.en not in UNGRADED]
    phrase = noun_phrase(noun, det="what", adjectives=(rng.choice(looks),), plural=plural)
    return compose("$N !/1", "$N !/1", {"N": phrase})


_PATTERNS = {
    simple: 40, quality: 15, existence: 5, listing: 6, relative: 11, question: 10, joined: 8, giving: 4, mirrored: 4, exclamation: 2,
}  # fmt: skip


def plain(rng: Random, split: str) -> StoryPair:
    """One plain sentence of any pattern."""
    pattern = rng.choices(tuple(_PATTERNS), tuple(_PATTERNS.values()))[0]
    return realise(pattern(rng, split), family=pattern.__name__, kind="form")
