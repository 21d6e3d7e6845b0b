"""Plain sentences: all that the clause grammar can form, varied in tense, number, adverbs, lists and questions.

Every verb names the kinds of noun that may be its subject and object, so that sentences make sense.
"""

from dataclasses import dataclass
from random import Random

from . import lexicon
from .clauses import Form, clause, conjoined, name, noun_phrase, speaker, stranger
from .lexicon import DESCRIPTIONS, NAMES, UNGRADED, USUAL, WELCOME, Adjective, StoryNoun, clashes, entries, pick, suits
from .phrases import NounPhrase, Phrase, compose
from .scenes import fitting
from .verbs import VERBS, Verb, verbs

ANIMATE = pick("animal person")
PEOPLE = pick("person kin")
OWNERS = pick("person")
SIGHTS = pick("animal person building container furniture tool vehicle nature place way")


@dataclass(frozen=True)
class Plain:
    """A verb, the nouns that may be its subject, and those that may be its object (none: intransitive)."""

    verb: Verb
    subjects: tuple[StoryNoun, ...]
    objects: tuple[StoryNoun, ...]


# group: verbs: objects, by kind or name. Subjects are animals and people; of *goods*, unless +, and after - people.
_TRANSITIVE = """
    meet: see, look at: animal person building tool vehicle container nature place way
    meet: find, look for: animal person tool vehicle container flower stone leaf rose shell feather mushroom branch
    meet: watch: animal person vehicle star cloud kite
    meet-: talk about: animal person building tool vehicle
    meet: hear: animal person train plane car drum violin flute piano clock
    meet: love, help, follow, greet: animal person
    goods+: eat: food
    goods+: want, hide: food tool
    goods+: carry: box bag suitcase basket crate bucket jug pot vase ladder drum book umbrella flag chair table stool
    goods: buy, sell: food container furniture tool vehicle
    goods: lose: tool
    goods: paint: container furniture vehicle building ladder bicycle drum doll picture kite
    goods: draw: animal nature vehicle building
    goods: clean: container furniture vehicle house barn garage school church castle bicycle knife clock mirror coat
    goods: open, close: box bag suitcase basket crate bottle jar drawer chest cupboard wardrobe book umbrella
    goods: break: bottle bowl cup glass pot jar vase teapot mirror lamp chair table clock pen egg
    goods: wash: car truck dress shirt coat scarf cup bowl glass pot dog cat horse pig apple tomato
    goods: build: wall barn house tower church castle mill bridge shed garage lighthouse hut school stable fence farm
    goods: read: book letter map
    goods: cut: food rope branch flower tree
    cross: cross: street road river bridge field valley forest garden park meadow lake
    cross: visit: castle church house farm school hospital lighthouse tower mill village market park garden island
    cross: enter, leave: house barn church castle school hospital garden forest park village hut
"""
TRANSITIVE = tuple(
    Plain(verb, PEOPLE if group in ("goods", "meet-") else ANIMATE, pick(objects))
    for group, names, objects in (entry.split(": ") for entry in entries(_TRANSITIVE))
    for verb in verbs(group.strip("+-"), names)
)
INTRANSITIVE = tuple(Plain(verb, ANIMATE, ()) for verb in VERBS.values() if verb.group == "alone")
UNWILLING = ("arrive", "fall", "lose")  # not what one can, must or wants
_ONCE = ("buy", "sell", "find", "break", "lose", "build", "arrive", "cut", "paint", "hide")  # not *often*, of one thing
SINGLY = ("cross", "enter", "leave")  # done to one thing at a time
_FREELY = ("see", "find", "hear")
_FIXED = ("building", "place", "way")  # stand where they stand
_BRIEF = ("arrive", "leave", "return", "stop", "fall", "swim")  # said with a time, not with a place of these
_OFTEN, _ALWAYS = ("often", "souvent"), ("always", "toujours")
_FORMS = (
    *(Form(),) * 3, *(Form(negative=True),) * 4, *(Form(negative=True, short=True),) * 3,
    *(Form("present"),) * 5, Form("present", negative=True), Form("present", negative=True, short=True),
    *(Form("future"),) * 4, *(Form("progressive"),) * 2, Form(modal="can"), Form(modal="can", negative=True),
    Form(modal="could", negative=True), Form(modal="could", negative=True, short=True), Form(modal="must"),
    Form(modal="want"), Form("present", modal="want"), Form(modal="want", negative=True), Form(never=True),
    Form(adverb=_OFTEN), Form("present", adverb=_OFTEN), Form("present", adverb=_ALWAYS),
)
_NOBODYS = ("star", "cloud", "mountain", "valley")


def random_phrase(
    rng: Random, noun: StoryNoun, split: str, *, part: str | None = None, negated: bool = False,
    plural: bool | None = None,
    new: bool | None = None, det: str | None = None, bare: bool = False,
) -> NounPhrase:
    """A random noun phrase: any determiner and number, up to two adjectives, occasionally an owner.

    `new`: True for indefinite (*a, some, three*), False for definite (*the, this, my*), None for either. `det` forces a
    determiner; `bare` adds adjectives only occasionally, for sentences that are long anyway.
    """
    kin, agent = noun.kind == "kin", part == "agent"
    plural = rng.random() < 0.25 and not kin if plural is None else plural
    fit = fitting(noun, DESCRIPTIONS[noun.kind], split)
    before, after = [a for a in fit if a.before], [a for a in fit if a.en in UNGRADED]
    chosen: list[Adjective] = []
    if (draw := rng.random()) < (0.2 if bare else 0.45) and fit:
        chosen = [rng.choice(before), rng.choice(after)] if draw < 0.07 and before and after else [rng.choice(fit)]
        chosen = chosen[:1] if clashes(chosen[0].en, chosen[-1].en) else chosen
    count = owner = None
    mine = ("the", "the") if noun.kind in ("person", "way") or noun.en in _NOBODYS else ("my", "our")
    if plural and rng.random() < 0.25:
        digits = rng.choice(("15", "20", "24", "25", "30", "40", "50", "60", "75", "99"))
        count = (digits, digits) if rng.random() < 0.25 and not agent else rng.choice(lexicon.NUMBERS)
    if plural:
        known = rng.choices(("the", "this", *mine), (6, 1, 1, 1))[0]
        unknown = "" if count else "some" if agent else rng.choice(("some", "some", ""))
        det = unknown if new or new is None and rng.random() < 0.4 else known
        count = None if det == "this" or count and det and count[0].startswith("a ") else count
    else:
        known = rng.choices(("the", "this", *mine), (0, 0, 4, 2) if kin else (8, 1, 1, 1))[0]
        unknown = "every" if agent and rng.random() < 0.1 else "a"
        det = det or (unknown if not kin and (new or new is None and rng.random() < 0.25) else known)
    if noun.kind in ("tool", "container", "vehicle", "animal") and not new and rng.random() < 0.06:
        owner, count = (name(*rng.choice(NAMES)) if rng.random() < 0.4 else noun_phrase(rng.choice(OWNERS))), None
    return noun_phrase(noun, det=det, adjectives=chosen, plural=plural, number=count, negated=negated, owner=owner,
                       part=part)


def somebody(
    rng: Random, nouns: tuple[StoryNoun, ...], split: str, *, new: bool | None = None, bare: bool = False,
    first: bool = True
) -> NounPhrase:
    """Mostly a noun phrase; else a name, I or we, and, `first` in a sentence, two names, or he, she or they."""
    draw = rng.random()
    if draw < 0.10:
        return name(*rng.choice(NAMES), part="agent")
    if draw < 0.18:
        return speaker(plural=rng.random() < 0.6)
    if draw < 0.32 and first:
        return stranger(rng.choice(("he", "she", "they", "they")))
    if draw < 0.36 and first:
        return conjoined([name(*named_) for named_ in rng.sample(NAMES, 2)])
    return random_phrase(rng, rng.choice(nouns), split, part="agent", new=new, bare=bare)


def _form(rng: Random, verb: Verb) -> Form:
    while True:
        form = rng.choice(_FORMS)
        if form.tense == "progressive" and not verb.lasting or verb.state and (form.modal or form.adverb):
            continue
        if form.modal and verb.en[0] in UNWILLING or form.adverb and verb.en[0] in _ONCE:
            continue
        return form


def _suits(subject: NounPhrase, verb: Verb, form: Form) -> bool:
    """Not *they read*, present or past; not *I stayed*, whose French participle would show the speaker's gender."""
    same = verb.en[0] == verb.en[1] and form.tense in ("present", "past") and not form.negative and not form.modal
    if same and (subject.plural or subject.person == 1):
        return False
    return subject.person == 3 or not (verb.aux == "être" or form.tense in ("progressive", "future"))


def event(
    rng: Random, split: str, *, form: Form | None = None, lasting: bool = False, placed: bool = False,
    timed: bool = False, bare: bool = False, first: bool = True,
) -> Phrase:
    """A clause, transitive three times in four; `placed` and `timed`: one to which a place or a time may be added."""
    while True:
        plain = rng.choice(TRANSITIVE if rng.random() < 0.75 else INTRANSITIVE)
        verb_form = form or _form(rng, plain.verb)
        known = verb_form.negative or verb_form.never or verb_form.adverb  # not *a princess never swam*
        subject = somebody(rng, plain.subjects, split, new=False if known else None, bare=bare, first=first)
        if timed and plain.verb.state:
            continue
        if not _suits(subject, plain.verb, verb_form) or lasting and not plain.verb.lasting:
            continue
        if placed and (plain.verb.state or plain.verb.group == "cross" or plain.verb.en[0] in (*_BRIEF, "build")):
            continue
        if not plain.objects:
            return clause(subject, plain.verb, form=verb_form)
        noun = rng.choice(plain.objects)
        if noun is subject.noun or placed and noun.kind in _FIXED:
            continue
        no, direct = verb_form.negative or verb_form.never, not plain.verb.prep[1]
        # *ne parle pas de* takes nothing indefinite, and who did not help did not help the farmer, not *a farmer*.
        definite = plain.verb.group in ("meet", "cross") and plain.verb.en[0] not in _FREELY
        new = False if no and (definite or not direct) else None
        plural = False if plain.verb.en[0] in SINGLY else None
        thing = random_phrase(rng, noun, split, part="patient", negated=no and direct, new=new, plural=plural,
                              bare=bare)
        return clause(subject, plain.verb, thing, form=verb_form)


_Spots = tuple[tuple[str, tuple[StoryNoun, ...]], ...]
_SCENES: _Spots = (
    ("in/1 $N = dans/1 $N", pick("street field forest garden meadow park village valley")),
    ("on/1 $N = sur/1 $N", pick("road beach island bridge path")),
    ("at/1 $N = à/1 $N", pick("market school farm hospital")),
    ("near/1 $N = près/1 de/1 $N", pick("building river lake road forest")),
    ("behind/1 $N = derrière/1 $N", pick("building")), ("in/1 front/1 of/1 $N = devant/1 $N", pick("building")),
    ("next/1 to/1 $N = à/1 côté/1 de/1 $N", pick("building")), ("under/1 $N = sous/1 $N", pick("tree bridge oak")),
)
_SPOTS: _Spots = (  # for small things
    ("in/1 $N = dans/1 $N", pick("box bag suitcase basket crate chest drawer bucket cupboard wardrobe")),
    ("on/1 $N = sur/1 $N", pick("table chair bed shelf desk bench stool sofa")),
    ("under/1 $N = sous/1 $N", pick("table bed bench chair desk")), ("behind/1 $N = derrière/1 $N", pick("furniture")),
)


def where(rng: Random, split: str, spots: _Spots = _SCENES, *, bare: bool = False) -> Phrase:
    pattern, nouns = rng.choice(spots)
    det = "the" if pattern.startswith("at/") else None  # at a market is sur un marché, at a farm dans une ferme
    return compose(pattern, N=random_phrase(rng, rng.choice(nouns), split, plural=False, det=det, bare=bare))


def simple(rng: Random, split: str) -> Phrase:
    """A clause, occasionally with a place or a time."""
    draw = rng.random()
    if draw < 0.25:
        return compose("$E $W", E=event(rng, split, placed=True), W=where(rng, split))
    if draw < 0.4:
        time = rng.choice(lexicon.TIMES)
        action = event(rng, split, form=Form(), timed=True)
        in_front = rng.random() < 0.6 or time.startswith("one/")  # *waited one day* would be how long
        return compose("$T ,/1 $E" if in_front else "$E $T", T=compose(time), E=action)
    return event(rng, split)


def said_to_be(
    rng: Random, noun: StoryNoun | None, subject: NounPhrase, split: str, tense: str, *, negative: bool = False,
    question: bool = False,
) -> Phrase:
    """*was very tired*: an adjective as predicate of a subject, with the combination that this makes."""
    looks = _fresh(DESCRIPTIONS[noun.kind if noun else "person"], subject)
    adjective = rng.choice(fitting(noun, looks, split) if noun else looks)
    # *not quite* is not *pas assez*, and what is asked is not *so* or *quite*.
    degrees = USUAL[:2] if question else USUAL[:3] if negative else (*USUAL, "too")
    degree = None if adjective.en in UNGRADED else rng.choice((None, None, *degrees))
    degree = None if degree == "too" and adjective.en in WELCOME else degree  # never *too clean*
    hungry = adjective.en == "hungry" and bool(degree or negative or question)  # *avoir faim*: *affamé* is very
    degree = None if hungry and degree == "quite" else degree
    first, *rest = adjective.fr.split()
    french = " ".join(f"{word}/2" for word in [first if first == "en" else "~" + first, *rest])
    finite, french = ("@avoir/1", "faim/2") if hungry else ("@être/1", french)
    no, ne, pas = ("not/3", "ne/3", "pas/3") if negative else ("", "", "")
    pattern = f"@be/1 {no} ^{adjective.en}/2 = {ne} {finite} {pas} ^{french}"
    phrase = compose(pattern, subject=subject, tense=tense, degree=degree, part="state")
    if noun:
        phrase.combinations |= {("describes", adjective.en, noun.en)}
    return phrase


def _fresh(looks: tuple[Adjective, ...], subject: NounPhrase) -> tuple[Adjective, ...]:
    """Those that say something new of the subject: not *the small lamb was big*, nor *was new*."""
    subject_words = {token.text for token in subject.en}
    return tuple(
        a for a in looks
        if a.en != "new" and not any(clashes(a.en, word) for word in subject_words)
        and not (subject_words & UNGRADED and a.en in UNGRADED)
    )


_COMPARATIVES = {"big": "bigger", "sad": "sadder", "heavy": "heavier", "brave": "braver"}


def quality(rng: Random, split: str) -> Phrase:
    """*The old house was very dark. Anna is not tired. The bear was bigger than the mouse.*"""
    tense = rng.choice(("past", "past", "present"))
    if rng.random() < 0.2:
        who, noun = name(*rng.choice(NAMES)), None
    else:
        noun = rng.choice(SIGHTS)
        who = random_phrase(rng, noun, split, new=False)
        looks = fitting(noun, tuple(a for a in DESCRIPTIONS[noun.kind] if a in lexicon.COMPARATIVES), split)
        peer = rng.choice([o for o in pick(noun.kind) if o is not noun])
        other = random_phrase(rng, peer, split, new=False)
        looks = tuple(a for a in _fresh(_fresh(looks, who), other) if suits(a, peer))
        if looks and rng.random() < 0.25:
            adjective = rng.choice(looks)
            more = _COMPARATIVES.get(adjective.en, adjective.en + "er")
            pattern = f"$S @be/1 {more}/2 than/3 $O = $S @être/1 plus/2 ~{adjective.fr}/2 que/3 $O"
            phrase = compose(pattern, S=who, O=other, subject=who, tense=tense)
            phrase.combinations |= {("describes", adjective.en, noun.en)}
            return phrase
    state = said_to_be(rng, noun, who, split, tense, negative=rng.random() < 0.2)
    return compose("$S $Q", S=who, Q=state)


_BULKY = ("ladder", "bicycle", "kite", "umbrella", "clock")


def existence(rng: Random, split: str) -> Phrase:
    """*There were three cats in the garden. There was no key on the table.*"""
    noun = rng.choice(pick("animal tool container food"))
    spots = _SCENES if noun.kind not in ("food", "tool") or noun.en in _BULKY else _SPOTS
    plural, tense = rng.random() < 0.5, rng.choice(("past", "present"))
    has = "avait" if tense == "past" else "a"
    place = where(rng, split, spots)
    if rng.random() < 0.2:
        there = noun_phrase(noun, det="no", plural=plural)
        pattern = f"there/1 @be/2 $N $W = il/1 ne/4 y/1 {has}/2 pas/4 $N $W"
        phrase = compose(pattern, N=there, W=place, subject=there, tense=tense)
        there.en[0].ids |= phrase.fr[1].ids
        return phrase
    there = random_phrase(rng, noun, split, new=True, plural=plural)
    pattern = f"there/1 @be/2 $N $W = il/1 y/1 {has}/2 $N $W"
    return compose(pattern, N=there, W=place, subject=there, tense=tense)
