"""Plain sentences: what the clause grammar says with whatever fits: tense, number, adverbs, lists, questions, relatives.

Every verb names the kinds of noun that may be its subject and object, so that a sentence means something.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from random import Random

from .clauses import Form, Verb, clause, conjoined, name, noun_phrase, speaker
from .controls import owned
from .lexicon import DEGREES, DESCRIPTIONS, NAMES, NUMBERS, TIMES, Noun, named, of_kind
from .phrases import NounPhrase, Phrase, StoryPair, Token, compose, new_id, realise
from .pronouns import describe
from .splits import split_of_combination

_ANIMATE = of_kind("animal", "person")
_PEOPLE = of_kind("person", "kin")
_GOODS = of_kind("container", "furniture", "tool", "vehicle")
_SIGHTS = of_kind("animal", "person", "building", "nature", "tool", "vehicle", "container", "furniture", "place")


@dataclass(frozen=True)
class Plain:
    """A verb, the nouns that may be its subject, and those that may be its object (none: intransitive)."""

    verb: Verb
    subjects: tuple[Noun, ...]
    objects: tuple[Noun, ...] = ()


def _v(en: str, fr: str, prep: str = "/", aux: str = "avoir", reflexive: bool = False, state: bool = False) -> Verb:
    base, past, part = en.split()
    english, french = prep.split("/")
    return Verb((base, past, part), fr, (english, french), aux=aux, reflexive=reflexive, state=state)


_FOOD = of_kind("food")
TRANSITIVE = (
    Plain(_v("see saw seen", "voir"), _ANIMATE, _SIGHTS),
    Plain(_v("watch watched watched", "regarder"), _ANIMATE, _SIGHTS),
    Plain(_v("look looked looked", "chercher", "for/"), _ANIMATE, (*_FOOD, *of_kind("tool", "animal", "person"))),
    Plain(_v("find found found", "trouver"), _ANIMATE, (*_FOOD, *of_kind("tool", "nature", "container", "animal"))),
    Plain(_v("hear heard heard", "entendre"), _ANIMATE, (*_ANIMATE, *named("train plane car drum violin flute piano clock"))),
    Plain(_v("love loved loved", "aimer", state=True), _ANIMATE, (*_ANIMATE, *named("moon sun river forest garden island"))),
    Plain(_v("eat ate eaten", "manger"), _ANIMATE, _FOOD),
    Plain(_v("want wanted wanted", "vouloir", state=True), _ANIMATE, (*_FOOD, *of_kind("tool"))),
    Plain(_v("buy bought bought", "acheter"), _PEOPLE, (*_FOOD, *_GOODS)),
    Plain(_v("sell sold sold", "vendre"), _PEOPLE, (*_FOOD, *_GOODS)),
    Plain(_v("lose lost lost", "perdre"), _PEOPLE, of_kind("tool")),
    Plain(_v("paint painted painted", "peindre"), _PEOPLE, (*_GOODS, *of_kind("building"))),
    Plain(_v("draw drew drawn", "dessiner"), _PEOPLE, of_kind("animal", "nature", "building", "vehicle")),
    Plain(_v("clean cleaned cleaned", "nettoyer"), _PEOPLE, (*_GOODS, *named("house barn garage school church castle"))),
    Plain(_v("open opened opened", "ouvrir"), _PEOPLE, (*named("box bag suitcase basket crate bottle jar drawer chest cupboard wardrobe book letter umbrella"),)),
    Plain(_v("close closed closed", "fermer"), _PEOPLE, (*named("box bag suitcase basket crate bottle jar drawer chest cupboard wardrobe book umbrella"),)),
    Plain(_v("break broke broken", "casser"), _ANIMATE, (*named("bottle bowl cup glass pot jar vase teapot mirror lamp chair table branch clock pen egg"),)),
    Plain(_v("carry carried carried", "porter"), _ANIMATE, (*of_kind("container"), *named("ladder drum book umbrella flag chair table stool bench"))),
    Plain(_v("hide hid hidden", "cacher"), _ANIMATE, (*_FOOD, *of_kind("tool"))),
    Plain(_v("help helped helped", "aider"), _ANIMATE, _ANIMATE),
    Plain(_v("follow followed followed", "suivre"), _ANIMATE, _ANIMATE),
    Plain(_v("wash washed washed", "laver"), _PEOPLE, (*named("car truck dress shirt coat scarf cup bowl glass pot dog cat horse pig apple pear tomato carrot"),)),
    Plain(_v("build built built", "construire"), _PEOPLE, of_kind("building")),
    Plain(_v("visit visited visited", "visiter"), _PEOPLE, (*of_kind("building"), *named("village market park garden island forest valley"))),
    Plain(_v("read read read", "lire"), _PEOPLE, named("book letter map")),
    Plain(_v("cut cut cut", "couper"), _PEOPLE, (*_FOOD, *named("rope branch flower tree"))),
    Plain(_v("touch touched touched", "toucher"), _ANIMATE, (*_GOODS, *of_kind("nature", "animal"))),
    Plain(_v("cross crossed crossed", "traverser"), _ANIMATE, named("street road river bridge field valley forest garden park meadow lake")),
)
INTRANSITIVE = tuple(
    Plain(verb, _ANIMATE)
    for verb in (
        _v("sleep slept slept", "dormir"), _v("run ran run", "courir"), _v("swim swam swum", "nager"),
        _v("walk walked walked", "marcher"), _v("dance danced danced", "danser"), _v("eat ate eaten", "manger"),
        _v("jump jumped jumped", "sauter"), _v("play played played", "jouer"), _v("wait waited waited", "attendre"),
        _v("arrive arrived arrived", "arriver", aux="être"), _v("fall fell fallen", "tomber", aux="être"),
        _v("leave left left", "partir", aux="être"), _v("stay stayed stayed", "rester", aux="être"),
        _v("return returned returned", "revenir", aux="être"), _v("hide hid hidden", "cacher", reflexive=True),
        _v("rest rested rested", "reposer", reflexive=True), _v("stop stopped stopped", "arrêter", reflexive=True),
    )
)  # fmt: skip

_FLEXIBLE = (
    Form(), Form(), Form(), Form(), Form(negative=True), Form(negative=True, short=True), Form("present"), Form("present"),
    Form("present", negative=True), Form("present", negative=True, short=True), Form("future"), Form("progressive"),
    Form("pluperfect"), Form(modal="can"), Form(modal="can", negative=True), Form(modal="could", negative=True),
    Form(modal="could", negative=True, short=True), Form(modal="must"), Form(modal="wanted"),
    Form(modal="wanted", negative=True), Form(adverb=("often", "souvent")), Form(never=True),
    Form("present", adverb=("always", "toujours")), Form("present", adverb=("often", "souvent")),
)  # fmt: skip


def say(rng: Random, noun: Noun, split: str, *, part: str | None = None, negated: bool = False, plural: bool | None = None) -> NounPhrase:
    """A noun phrase as the grammar likes: any determiner, number, up to two adjectives, now and then an owner."""
    plural = rng.random() < 0.25 if plural is None else plural
    allowed = [a for a in DESCRIPTIONS[noun.kind] if split_of_combination(("describes", a.en, noun.en)) in ("train", split)]
    adjectives = rng.sample(allowed, rng.choices((0, 1, 2), (55, 38, 7))[0])
    if len(adjectives) == 2:  # one before the French noun, one after; English order: size before colour
        adjectives.sort(key=lambda a: not a.before)
        adjectives = adjectives if adjectives[0].before and not adjectives[1].before else adjectives[:1]
    count = rng.choice(NUMBERS) if plural and rng.random() < 0.25 else None
    owner = None
    if count:
        det = rng.choice(("", "", "the", "my"))
    elif plural:
        det = rng.choices(("the", "some", "", "this", "my", "our"), (50, 15, 8, 9, 9, 9))[0]
    else:
        det = rng.choices(("the", "a", "this", "my", "our", "every"), (55, 22, 7, 7, 6, 3))[0]
    if noun.kind in ("tool", "container", "vehicle", "animal") and rng.random() < 0.06:
        owner, count = noun_phrase(rng.choice(_PEOPLE)), None
    return noun_phrase(
        noun, det=det, adjectives=adjectives, plural=plural, number=count, negated=negated, owner=owner, part=part
    )


def _subject(rng: Random, nouns: tuple[Noun, ...], split: str) -> NounPhrase:
    """Mostly a noun phrase; else a name, a list of two, or I or we."""
    draw = rng.random()
    if draw < 0.12:
        return name(*rng.choice(NAMES), part="agent")
    if draw < 0.16:
        return speaker(plural=rng.random() < 0.5)
    if draw < 0.20:
        one, two = rng.sample(NAMES, 2)
        return conjoined([name(*one), name(*two)])
    return say(rng, rng.choice(nouns), split, part="agent")


def _form(rng: Random, verb: Verb, subject: NounPhrase) -> Form:
    form = rng.choice(_FLEXIBLE)
    ambiguous = verb.en[0] == verb.en[1] and (subject.plural or subject.person == 1)  # they read
    if verb.state and form.tense in ("progressive", "pluperfect") or subject.person == 1 and (verb.reflexive or verb.aux == "être"):
        return Form("present") if not ambiguous and not verb.reflexive else Form("future")
    return Form() if ambiguous and form.tense == "present" else form


def _event(rng: Random, split: str, *, form: Form | None = None) -> Phrase:
    """A clause, transitive three times in four."""
    plain = rng.choice(TRANSITIVE if rng.random() < 0.75 else INTRANSITIVE)
    subject = _subject(rng, plain.subjects, split)
    form = form or _form(rng, plain.verb, subject)
    if not plain.objects:
        if subject.person == 1 and (plain.verb.reflexive or plain.verb.aux == "être"):
            subject = say(rng, rng.choice(plain.subjects), split, part="agent")
        return clause(subject, plain.verb, form=form)
    noun = rng.choice(plain.objects)
    while noun is subject.noun:
        noun = rng.choice(plain.objects)
    negated = form.negative and not plain.verb.prep[1]
    return clause(subject, plain.verb, say(rng, noun, split, part="patient", negated=negated), form=form)


_PREPOSITIONS = (
    ("in/1", "dans/1", of_kind("place")), ("near/1", "près/1 de/1", of_kind("place", "building")),
    ("behind/1", "derrière/1", of_kind("building")), ("in/1 front/1 of/1", "devant/1", of_kind("building")),
    ("under/1", "sous/1", named("table tree bed bridge bench oak")), ("on/1", "sur/1", named("table chair bed shelf desk bench")),
    ("next/1 to/1", "à/1 côté/1 de/1", of_kind("building", "furniture")), ("in/1", "dans/1", of_kind("container")),
)  # fmt: skip


def _where(rng: Random, split: str) -> Phrase:
    en, fr, nouns = rng.choice(_PREPOSITIONS)
    return compose(f"{en} $N", f"{fr} $N", {"N": say(rng, rng.choice(nouns), split, plural=False)})


def _when(rng: Random) -> Phrase:
    return compose(*rng.choice(TIMES))


def simple(rng: Random, split: str) -> Phrase:
    """A clause, with a place or a time round it now and then."""
    draw = rng.random()
    if draw < 0.25:
        return compose("$E $W ./1", "$E $W ./1", {"E": _event(rng, split), "W": _where(rng, split)})
    if draw < 0.35:
        slots = {"E": _event(rng, split, form=Form()), "T": _when(rng)}
        return compose("$T ,/1 $E ./2", "$T ,/1 $E ./2", slots)
    if draw < 0.42:
        return compose("$E $T ./2", "$E $T ./2", {"E": _event(rng, split, form=Form()), "T": _when(rng)})
    return compose("$E ./1", "$E ./1", {"E": _event(rng, split)})


def _quality(rng: Random, noun: Noun, subject: NounPhrase, split: str, tense: str, *, negative: bool = False) -> Phrase:
    """*was very tired*: an adjective said of a subject, with the combination that this makes."""
    allowed = [a for a in DESCRIPTIONS[noun.kind] if split_of_combination(("describes", a.en, noun.en)) in ("train", split)]
    adjective = rng.choice(allowed)
    words = adjective.fr.split()
    french = " ".join([words[0] if words[0] == "en" else "~" + words[0], *words[1:]]).replace(" ", "/2 ") + "/2"
    degree = rng.choice((None, None, *DEGREES, ("too", "trop")))
    english_no, before, after = (" not/3", "ne/3 ", " pas/3") if negative else ("", "", "")
    phrase = compose(
        f"@be/1{english_no} ^{adjective.en}/2", f"{before}@être/1{after} ^{french}", subject=subject, tense=tense, degree=degree,
        part="state",
    )  # fmt: skip
    phrase.combinations |= {("describes", adjective.en, noun.en)}
    return phrase


def quality(rng: Random, split: str) -> Phrase:
    """*The old house was very dark.*"""
    noun = rng.choice(_SIGHTS)
    subject = say(rng, noun, split)
    tense = rng.choice(("past", "past", "present"))
    said = _quality(rng, noun, subject, split, tense, negative=rng.random() < 0.2)
    return compose("$S $Q ./1", "$S $Q ./1", {"S": subject, "Q": said})


def existence(rng: Random, split: str) -> Phrase:
    """*There were three cats in the garden.*"""
    noun = rng.choice(of_kind("animal", "tool", "nature", "container", "food"))
    there = say(rng, noun, split)
    tense = rng.choice(("past", "present"))
    slots = {"N": there, "W": _where(rng, split)}
    has = "avait" if tense == "past" else "a"
    return compose("there/1 @be/2 $N $W ./3", f"il/1 y/1 {has}/2 $N $W ./3", slots, subject=there, tense=tense)


def listing(rng: Random, split: str) -> Phrase:
    """*Anna bought two apples, a red hat and some cakes.*"""
    plain = rng.choice(TRANSITIVE[9:13] + TRANSITIVE[:5])
    nouns = rng.sample(plain.objects, rng.randint(2, 6))
    things = conjoined([say(rng, noun, split, part="patient") for noun in nouns])
    return compose("$E ./1", "$E ./1", {"E": clause(_subject(rng, plain.subjects, split), plain.verb, things)})


def relative(rng: Random, split: str) -> Phrase:
    """*The cat that saw the hen was tired*; *the hen that the cat saw was tired*: the nearest noun is not the subject."""
    plain = rng.choice(TRANSITIVE[:5])
    noun = rng.choice(plain.subjects)
    other = rng.choice([o for o in plain.objects if o.gender != noun.gender and o is not noun])
    subject = describe(rng, noun, DESCRIPTIONS[noun.kind], split, plural=rng.random() < 0.2).phrase()
    object_ = describe(rng, other, DESCRIPTIONS[other.kind], split, plural=rng.random() < 0.2).phrase()
    silent = replace(subject, en=[], fr=[])
    if rng.random() < 0.6:
        said = clause(silent, plain.verb, object_)
        main, about = subject, noun
        who = compose("that/1 $C", "qui/1 $C", {"C": said})
    else:
        gap = replace(object_, en=[], fr=[])
        main, about = object_, other
        who = compose("that/1 $C", "que/1 $C", {"C": clause(subject, plain.verb, gap)})
    said_of = _quality(rng, about, main, split, "past")
    return compose("$N $W $Q ./1", "$N $W $Q ./1", {"N": main, "W": who, "Q": said_of})


def question(rng: Random, split: str) -> Phrase:
    """*Did the cat see the bird?*, *Where is the key?*, *Who found the ladder?*, *Is the soup hot?*"""
    draw = rng.random()
    if draw < 0.5:
        plain = rng.choice(TRANSITIVE)
        subject = say(rng, rng.choice(plain.subjects), split, part="agent")
        noun = rng.choice(plain.objects)
        form = rng.choice((Form(), Form(), Form("present"), Form(modal="can")))
        if subject.noun is noun or plain.verb.state:
            return question(rng, split)
        asked = clause(subject, plain.verb, say(rng, noun, split, part="patient"), form=form, question=True)
        return compose("$Q ?/1", "$Q ?/1", {"Q": asked})
    noun = rng.choice(of_kind("animal", "tool", "container", "vehicle", "person"))
    subject = say(rng, noun, split, plural=rng.random() < 0.2)
    tense = rng.choice(("past", "present"))
    if draw < 0.65:
        return compose("where/1 @be/2 $N ?/3", "où/1 @être/2 $N ?/3", {"N": subject}, subject=subject, tense=tense)
    if draw < 0.8:
        said = _quality(rng, noun, subject, split, tense)
        be, *rest = said.en
        slots = {"B": Phrase([be], said.fr), "N": subject, "R": Phrase(rest, [], said.combinations)}
        phrase = compose("$B $N $R ?/1", "est/2 -ce/2 que/2 $N $B ?/1", slots)
        be.ids |= phrase.fr[0].ids
        return phrase
    plain = rng.choice(TRANSITIVE)
    who = NounPhrase([Token("who", new_id())], [], head=Token(""))
    who.fr = [Token("qui", who.en[0].ids)]
    asked = clause(who, plain.verb, say(rng, rng.choice(plain.objects), split, part="patient"))
    return compose("$Q ?/1", "$Q ?/1", {"Q": asked})


def joined(rng: Random, split: str) -> Phrase:
    """Two to four clauses: the long sentences."""
    joints = (
        ("and/1", "et/1"), ("but/1", "mais/1"), (",/2 and/1", ",/2 et/1"), (",/2 but/1", ",/2 mais/1"),
        ("while/1", "pendant/1 que/1"), ("before/1", "avant/1"), ("when/1", "quand/1"),
    )[:5]  # fmt: skip
    phrase = _event(rng, split, form=Form())
    for _ in range(rng.choice((1, 1, 1, 2, 2, 3))):
        en, fr = rng.choice(joints[:4])
        more = _event(rng, split, form=Form())
        if rng.random() < 0.3:
            more = compose("$E $W", "$E $W", {"E": more, "W": _where(rng, split)})
        phrase = compose(f"$A {en} $B", f"$A {fr} $B", {"A": phrase, "B": more})
    return compose("$A ./1", "$A ./1", {"A": phrase})


def plain(rng: Random, split: str) -> StoryPair | None:
    """One plain sentence of any pattern."""
    pattern = rng.choices(
        (simple, quality, existence, listing, relative, question, joined), (40, 14, 6, 8, 12, 10, 10)
    )[0]
    return realise(pattern(rng, split), family=pattern.__name__, kind="form")
