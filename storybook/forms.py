"""Particular forms: lists, relative clauses, questions, several clauses, giving, reflexives, exclamations."""

from dataclasses import replace
from random import Random

from .clauses import Form, clause, conjoined, name, noun_phrase
from .controls import owned
from .families import LENT
from .lexicon import DESCRIPTIONS, NAMES, UNGRADED, pick, repeats
from .phrases import NounPhrase, Phrase, StoryPair, Token, compose, new_id, realise
from .plain import (
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
    said_to_be,
    say,
    simple,
    somebody,
    where,
)  # fmt: skip
from .scenes import describe, fitting
from .verbs import Verb, verbs


def listing(rng: Random, split: str) -> Phrase:
    """*Anna bought two apples, a red hat and some cakes. The cat, the hen and the dog slept.*"""
    new = rng.random() < 0.5  # all of them, or none
    if rng.random() < 0.3:
        doing = rng.choice(INTRANSITIVE)
        doers = pick(rng.choice(("animal", "person")))
        people = [
            say(rng, noun, split, plural=False, new=new, bare=True) for noun in rng.sample(doers, rng.randint(2, 3))
        ]
        return compose("$E ./1", "$E ./1", {"E": clause(conjoined(people), doing.verb)})
    plain = rng.choice([p for p in TRANSITIVE if p.verb.en[0] in ("buy", "sell", "see", "find", "look", "draw", "eat")])
    kind = rng.choice(plain.objects).kind  # things of a kind: no one lists a feather, a sailor and a lighthouse
    alike = [noun for noun in plain.objects if noun.kind == kind]
    many = rng.choice((2, 2, 3, 3, 4))
    things = conjoined(
        [say(rng, noun, split, part="patient", new=new, bare=many > 2) for noun in rng.sample(alike, many)]
    )
    return compose("$E ./1", "$E ./1", {"E": clause(somebody(rng, plain.subjects, split), plain.verb, things)})


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
    doer, done = (description.phrase(definite=True) for description in chosen)
    if active:
        main, about = doer, noun
        that = "who" if noun.person else "that"
        who = compose(f"{that}/1 $C", "qui/1 $C", {"C": clause(replace(doer, en=[], fr=[]), plain.verb, done)})
    else:
        main, about = done, other
        who = compose("that/1 $C", "que/1 $C", {"C": clause(doer, plain.verb, replace(done, en=[], fr=[]))})
    said = said_to_be(rng, about, main, split, "past")
    return compose("$N $W $Q ./1", "$N $W $Q ./1", {"N": main, "W": who, "Q": said})


def question(rng: Random, split: str) -> Phrase:
    """*Did the cat see the bird?*, *Where is the key?*, *Who found the ladder?*, *Is the dog tired?*"""
    draw = rng.random()
    noun = rng.choice(pick("animal tool container vehicle person"))
    subject = say(rng, noun, split, plural=rng.random() < 0.2, new=False)
    tense = rng.choice(("past", "present"))
    if draw < 0.2:
        return compose("where/1 @be/2 $N ?/3", "où/1 @être/2 $N ?/3", {"N": subject}, subject=subject, tense=tense)
    if draw < 0.4:
        said = said_to_be(rng, noun, subject, split, tense, asked=True)
        slots = {"B": Phrase(said.en[:1], said.fr), "N": subject, "R": Phrase(said.en[1:], [], said.combinations)}
        phrase = compose("$B $N $R ?/1", "est/2 -ce/2 que/2 $N $B ?/1", slots)
        phrase.en[0].ids |= phrase.fr[0].ids
        return phrase
    plain = rng.choice([p for p in TRANSITIVE if not p.verb.state])
    plural = False if plain.verb.en[0] in SINGLY else None
    asked_of = say(rng, rng.choice(plain.objects), split, part="patient", plural=plural)
    if draw < 0.55:
        ids = new_id()
        who = NounPhrase([Token("who", ids)], [Token("qui", ids)])
        asked = clause(who, plain.verb, asked_of)
    else:
        form = rng.choice((Form(), Form(), Form("present"), Form(modal="can")))
        form = Form() if form.modal and plain.verb.en[0] in UNWILLING else form
        doer = rng.choice([noun for noun in plain.subjects if noun is not asked_of.noun])
        who = say(rng, doer, split, part="agent", new=False)
        asked = clause(who, plain.verb, asked_of, form=form, question=True)
    return compose("$Q ?/1", "$Q ?/1", {"Q": asked})


# After an object *and* would first be read as adding another object, hence the comma.
_AND, _COMMA_AND = ("$A and/1 $B ./2", "$A et/1 $B ./2"), ("$A ,/1 and/2 $B ./3", "$A ,/1 et/2 $B ./3")
_BUT = ("$A ,/1 but/2 $B ./3", "$A ,/1 mais/2 $B ./3")
_LIST = ("$A ,/1 $B and/2 $C ./3", "$A ,/1 $B et/2 $C ./3")
_AND_BUT = ("$A and/1 $B ,/2 but/3 $C ./4", "$A et/1 $B ,/2 mais/3 $C ./4")


_SHELTERING = verbs("alone", "sleep, wait, stay, return, hide, rest, stop, leave")  # if it rains


def _action(phrase: Phrase) -> str:
    return next(token.text for token in phrase.en if token.part == "action")


def joined(rng: Random, split: str) -> Phrase:
    """Two or three clauses: the long sentences, with *while* and *if* among them."""
    draw = rng.random()
    if draw < 0.2:
        during = event(rng, split, form=Form("progressive"), lasting=True, first=False)
        slots = {"A": event(rng, split, form=Form(), timed=True), "B": during}
        return compose("$A while/1 $B ./2", "$A pendant/1 que/1 $B ./2", slots)
    if draw < 0.3:
        weather = rng.choice((("rains", "pleut"), ("snows", "neige")))
        who = say(rng, rng.choice(ANIMATE), split, part="agent", new=False)
        who = name(*rng.choice(NAMES), part="agent") if rng.random() < 0.3 else who
        result = clause(who, rng.choice(_SHELTERING), form=Form("future"))
        patterns = f"if/1 it/2 {weather[0]}/3 ,/4 $E ./5", f"si/1 il/2 {weather[1]}/3 ,/4 $E ./5"
        phrase = compose(*patterns, {"E": result})
        phrase.en[1].role = "weather"
        return phrase
    many = rng.choice((2, 2, 3))
    clauses: list[Phrase] = []
    while len(clauses) < many:
        more = event(rng, split, form=Form(), placed=True, bare=many == 3, first=not clauses)
        clauses += [] if any(_action(said) == _action(more) for said in clauses) else [more]
    if rng.random() < 0.3:
        clauses[-1] = compose("$E $W", "$E $W", {"E": clauses[-1], "W": where(rng, split, bare=True)})
    objects = any(token.part == "patient" for token in clauses[0].en)
    first = _COMMA_AND if objects else _AND
    patterns = rng.choice((first, first, _BUT) if many == 2 else (_LIST,) if objects else (_LIST, _AND_BUT))
    return compose(*patterns, dict(zip("ABC", clauses, strict=False)))


def giving(rng: Random, split: str) -> Phrase:
    """*Anna gave the red book to her brother.*"""
    verb = rng.choice(verbs("transfer", "give ~ to, show ~ to, send ~ to, lend ~ to, sell ~ to"))
    giver = somebody(rng, PEOPLE, split)
    things = LENT if verb.en[0] == "lend" else pick("food tool")
    thing = say(rng, rng.choice(things), split, part="patient")
    if giver.person == 3 and giver.noun and rng.random() < 0.3:
        taker: NounPhrase = owned(rng, giver, rng.choice(pick("kin")), split)
    else:
        taker = say(rng, rng.choice(PEOPLE), split, plural=False)
    taker.head.part = "recipient"
    return compose("$E ./1", "$E ./1", {"E": clause(giver, verb, thing, taker)})


_MIRRORED = tuple(
    Verb((base, past, past), french, "self", reflexive=True)
    for base, past, french in (("hurt", "hurt", "blesser"), ("wash", "washed", "laver"), ("hide", "hid", "cacher"))
)
_SELVES = {"she": "herself", "he": "himself", None: "itself"}


def mirrored(rng: Random, split: str) -> Phrase:
    """*The cat washed itself. Anna hid herself behind the house.*"""
    who = say(rng, rng.choice(ANIMATE), split, part="agent", new=False)
    if rng.random() < 0.2:
        who = name(*rng.choice(NAMES), part="agent")
    done = clause(who, rng.choice(_MIRRORED))
    person = who.noun.person if who.noun else "she" if who.gender == "f" else "he"
    itself = Token("themselves" if who.plural else _SELVES[person], new_id())
    itself.refers, itself.role = who.head, "subject"
    next(token for token in done.fr if token.text == "se").ids = itself.ids
    done.en.append(itself)
    pattern = "$E $W ./1" if rng.random() < 0.3 else "$E ./1"
    return compose(pattern, pattern, {"E": done, "W": where(rng, split)})


def exclamation(rng: Random, split: str) -> Phrase:
    """*What a big dog!*"""
    noun = rng.choice(SIGHTS)
    plural = rng.random() < 0.2
    looks = [a for a in fitting(noun, DESCRIPTIONS[noun.kind], split) if a.en not in UNGRADED and a.en != "new"]
    phrase = noun_phrase(noun, det="what", adjectives=(rng.choice(looks),), plural=plural)
    return compose("$N !/1", "$N !/1", {"N": phrase})


_PATTERNS = {
    simple: 37, quality: 15, existence: 5, listing: 7, relative: 11, question: 10, joined: 11, giving: 4, mirrored: 4,
    exclamation: 2,
}  # fmt: skip


def plain(rng: Random, split: str) -> StoryPair:
    """One plain sentence of any pattern."""
    pattern = rng.choices(tuple(_PATTERNS), tuple(_PATTERNS.values()))[0]
    while True:
        pair = realise(pattern(rng, split), family=pattern.__name__, kind="form")
        if not repeats(pair.source):
            return pair
