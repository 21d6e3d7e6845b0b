"""Particular forms: lists, relative clauses, questions, several clauses, giving, reflexives, exclamations."""

from dataclasses import replace
from random import Random

from .clauses import Form, clause, conjoined, name, noun_phrase
from .controls import owned
from .families import LENT
from .lexicon import DESCRIPTIONS, NAMES, UNGRADED, pick, repeats
from .phrases import NounPhrase, Phrase, StoryPair, StoryToken, compose, linked, new_id, realise
from .plain_sentences import (
    ANIMATE,
    INTRANSITIVE,
    PEOPLE,
    SIGHTS,
    SINGLY,
    TRANSITIVE,
    UNWILLING,
    event,
    existence,
    quality,
    random_phrase,
    said_to_be,
    simple,
    somebody,
    where,
)
from .scenes import describe, fitting
from .verbs import Verb, verbs


def listing(rng: Random, split: str) -> Phrase:
    """*Anna bought two apples, a red hat and some cakes. The cat, the hen and the dog slept.*"""
    new = rng.random() < 0.5  # all of them, or none
    if rng.random() < 0.3:
        doing = rng.choice(INTRANSITIVE)
        chosen = rng.sample(pick(rng.choice(("animal", "person"))), rng.randint(2, 3))
        doers = conjoined([random_phrase(rng, noun, split, plural=False, new=new, bare=True) for noun in chosen])
        return clause(doers, doing.verb)
    plain = rng.choice([p for p in TRANSITIVE if p.verb.en[0] in ("buy", "sell", "see", "find", "look", "draw", "eat")])
    kind = rng.choice(plain.objects).kind  # things of a kind: no one lists a feather, a sailor and a lighthouse
    alike = [noun for noun in plain.objects if noun.kind == kind]
    many = rng.choice((2, 2, 3, 3, 4))
    chosen = rng.sample(alike, many)
    things = conjoined([random_phrase(rng, noun, split, part="patient", new=new, bare=many > 2) for noun in chosen])
    return clause(somebody(rng, plain.subjects, split), plain.verb, things)


def relative(rng: Random, split: str) -> Phrase:
    """*The cat that saw the hen was tired*; *the hen that the cat saw was tired*: the nearest noun is not the subject.

    A person who does something is *who*; what is seen is *that*.
    """
    plain = rng.choice(TRANSITIVE[:12])
    noun = rng.choice([noun for noun in plain.subjects if noun.kind != "kin"])
    other = rng.choice([o for o in plain.objects if o.gender != noun.gender and o is not noun])
    active = rng.random() < 0.6 or bool(plain.verb.prep[1])
    chosen = [describe(rng, n, DESCRIPTIONS[n.kind], split, plural=rng.random() < 0.15) for n in (noun, other)]
    if chosen[not active].det in ("my", "our"):  # *my cat that* would be one of several
        chosen[not active] = replace(chosen[not active], det="the")
    doer, done = (description.definite().phrase() for description in chosen)
    if active:
        main, about = doer, noun
        pattern = f"$N {'who' if noun.person else 'that'}/1 $C $Q = $N qui/1 $C $Q"
        relative_clause = clause(replace(doer, en=[], fr=[]), plain.verb, done)
    else:
        main, about, pattern = done, other, "$N that/1 $C $Q = $N que/1 $C $Q"
        relative_clause = clause(doer, plain.verb, replace(done, en=[], fr=[]))
    return compose(pattern, N=main, C=relative_clause, Q=said_to_be(rng, about, main, split, "past"))


def question(rng: Random, split: str) -> Phrase:
    """*Did the cat see the bird?*, *Where is the key?*, *Who found the ladder?*, *Is the dog tired?*"""
    draw = rng.random()
    noun = rng.choice(pick("animal tool container vehicle person"))
    subject = random_phrase(rng, noun, split, plural=rng.random() < 0.2, new=False)
    tense = rng.choice(("past", "present"))
    if draw < 0.2:
        return compose("where/1 @be/2 $N = où/1 @être/2 $N", N=subject, subject=subject, tense=tense)
    if draw < 0.4:
        state = said_to_be(rng, noun, subject, split, tense, question=True)
        be, *rest = state.en
        phrase = compose("$R = est/2 -ce/2 que/2 $N $R", N=subject, R=state)
        be.ids |= phrase.fr[0].ids
        return replace(phrase, en=[be, *subject.en, *rest])
    plain = rng.choice([p for p in TRANSITIVE if not p.verb.state])
    plural = False if plain.verb.en[0] in SINGLY else None
    patient = random_phrase(rng, rng.choice(plain.objects), split, part="patient", plural=plural)
    if draw < 0.55:
        who = linked("who", "qui")
        return clause(NounPhrase(who.en, who.fr), plain.verb, patient)
    form = rng.choice((Form(), Form(), Form("present"), Form(modal="can")))
    form = Form() if form.modal and plain.verb.en[0] in UNWILLING else form
    doer = rng.choice([noun for noun in plain.subjects if noun is not patient.noun])
    agent = random_phrase(rng, doer, split, part="agent", new=False)
    return clause(agent, plain.verb, patient, form=form, question=True)


# After an object *and* would first be read as adding another object, hence the comma.
_AND, _COMMA_AND = "$A and/1 $B = $A et/1 $B", "$A ,/1 and/2 $B = $A ,/1 et/2 $B"
_BUT = "$A ,/1 but/2 $B = $A ,/1 mais/2 $B"
_LIST = "$A ,/1 $B and/2 $C = $A ,/1 $B et/2 $C"
_AND_BUT = "$A and/1 $B ,/2 but/3 $C = $A et/1 $B ,/2 mais/3 $C"
_SHELTERING = verbs("alone", "sleep, wait, stay, return, hide, rest, stop, leave")  # if it rains


def _action(phrase: Phrase) -> str:
    return next(token.text for token in phrase.en if token.part == "action")


def joined(rng: Random, split: str) -> Phrase:
    """Two or three clauses: the long sentences, with *while* and *if* among them."""
    draw = rng.random()
    if draw < 0.2:
        during = event(rng, split, form=Form("progressive"), lasting=True, first=False)
        action = event(rng, split, form=Form(), timed=True)
        return compose("$A while/1 $B = $A pendant/1 que/1 $B", A=action, B=during)
    if draw < 0.3:
        weather = rng.choice(("rains/3 ,/4 $E = si/1 il/2 pleut/3 ,/4 $E", "snows/3 ,/4 $E = si/1 il/2 neige/3 ,/4 $E"))
        who = random_phrase(rng, rng.choice(ANIMATE), split, part="agent", new=False)
        who = name(*rng.choice(NAMES), part="agent") if rng.random() < 0.3 else who
        phrase = compose(f"if/1 it/2 {weather}", E=clause(who, rng.choice(_SHELTERING), form=Form("future")))
        phrase.en[1].role = "weather"
        return phrase
    many = rng.choice((2, 2, 3))
    clauses: list[Phrase] = []
    while len(clauses) < many:
        more = event(rng, split, form=Form(), placed=True, bare=many == 3, first=not clauses)
        clauses += [] if any(_action(earlier) == _action(more) for earlier in clauses) else [more]
    if rng.random() < 0.3:
        clauses[-1] = compose("$E $W", E=clauses[-1], W=where(rng, split, bare=True))
    objects = any(token.part == "patient" for token in clauses[0].en)
    first = _COMMA_AND if objects else _AND
    pattern = rng.choice((first, first, _BUT) if many == 2 else (_LIST,) if objects else (_LIST, _AND_BUT))
    return compose(pattern, A=clauses[0], B=clauses[1], C=clauses[-1])


def giving(rng: Random, split: str) -> Phrase:
    """*Anna gave the red book to her brother.*"""
    verb = rng.choice(verbs("transfer", "give ~ to, show ~ to, send ~ to, lend ~ to, sell ~ to"))
    giver = somebody(rng, PEOPLE, split)
    thing = random_phrase(rng, rng.choice(LENT if verb.en[0] == "lend" else pick("food tool")), split, part="patient")
    if giver.person == 3 and giver.noun and rng.random() < 0.3:
        taker = owned(rng, giver, rng.choice(pick("kin")), split)
    else:
        taker = random_phrase(rng, rng.choice(PEOPLE), split, plural=False)
    taker.head.part = "recipient"
    return clause(giver, verb, thing, taker)


_MIRRORED = tuple(
    Verb(base, (base, past, past), french, "self", aux="être", reflexive=True)
    for base, past, french in (("hurt", "hurt", "blesser"), ("wash", "washed", "laver"), ("hide", "hid", "cacher"))
)
_SELVES = {"they": "themselves", "she": "herself", "he": "himself", "it": "itself"}


def mirrored(rng: Random, split: str) -> Phrase:
    """*The cat washed itself. Anna hid herself behind the house.*"""
    who = random_phrase(rng, rng.choice(ANIMATE), split, part="agent", new=False)
    if rng.random() < 0.2:
        who = name(*rng.choice(NAMES), part="agent")
    done = clause(who, rng.choice(_MIRRORED))
    itself = StoryToken(_SELVES[who.pronoun], new_id(), refers=who.head, role="subject")
    next(token for token in done.fr if token.text == "se").ids = itself.ids
    done.en.append(itself)
    pattern = "$E $W" if rng.random() < 0.3 else "$E"
    return compose(pattern, E=done, W=where(rng, split))


def exclamation(rng: Random, split: str) -> Phrase:
    """*What a big dog!*"""
    noun = rng.choice(SIGHTS)
    plural = rng.random() < 0.2
    looks = [a for a in fitting(noun, DESCRIPTIONS[noun.kind], split) if a.en not in UNGRADED and a.en != "new"]
    return noun_phrase(noun, det="what", adjectives=(rng.choice(looks),), plural=plural)


_PATTERNS = {
    simple: 37, quality: 15, existence: 5, listing: 7, relative: 11, question: 10, joined: 11, giving: 4, mirrored: 4,
    exclamation: 2,
}
_MARKS = {question: "?", exclamation: "!"}


def plain(rng: Random, split: str) -> StoryPair:
    """One plain sentence of any pattern."""
    pattern = rng.choices(tuple(_PATTERNS), tuple(_PATTERNS.values()))[0]
    while True:
        phrase = compose(f"$E {_MARKS.get(pattern, '.')}/1", E=pattern(rng, split))
        pair = realise(phrase, family=pattern.__name__, kind="form")
        if not repeats(pair.source):
            return pair
