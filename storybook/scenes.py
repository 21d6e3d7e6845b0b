"""Sentences before they are written: their nouns, which of them a split may combine, and what is said of *it*."""

from dataclasses import dataclass, replace
from functools import cache
from random import Random

from .clauses import Form, clause, noun_phrase, pronoun
from .lexicon import Adjective, StoryNoun, suits
from .phrases import NounPhrase, StoryPair, compose, realise
from .splits import split_of_combination
from .verbs import SetVerb, Verb

ROLES = ("subject", "object", "oblique")
JOINTS = {
    "because": "because/1 = parce/1 que/1", "until": "until/1 = jusque/1 à/1 ce/1 que/1", ".": "./1",
    ", so": ",/2 so/1 = ,/2 si/1 bien/1 que/1",
}


@dataclass(frozen=True)
class Description:
    """How a noun appears: its determiner, adjective and number."""

    noun: StoryNoun
    det: str = "the"
    adjectives: tuple[Adjective, ...] = ()
    plural: bool = False

    def definite(self) -> "Description":
        return replace(self, det="the") if self.det == "a" else self

    def phrase(self, part: str | None = None) -> NounPhrase:
        return noun_phrase(self.noun, det=self.det, adjectives=self.adjectives, plural=self.plural, part=part)


@dataclass(frozen=True)
class Sentence:
    """A clause, and what is said of one of its nouns as *it*; `write` takes most of the time."""

    family: str
    kind: str
    verb: Verb | SetVerb
    form: Form
    nouns: tuple[Description, ...]  # by their roles
    meant: str  # the role of the noun that is *it*
    predicate: str  # a pattern for `compose`
    degree: str | None = None
    key: str | None = None
    joint: str = "because"
    tense: str = "past"  # of the predicate
    time: str | None = None

    def write(self) -> StoryPair:
        """In English and French."""
        parts = ["agent", "patient", "patient" if self.verb.group == "pour" else "recipient"]
        parts = ["patient", "agent"] if self.form.passive else parts
        nouns = [noun.phrase(part) for noun, part in zip(self.nouns, parts, strict=False)]
        it = pronoun(nouns[ROLES.index(self.meant)], self.meant)
        phrase = compose(
            "$T ,/1 $M $J $I $P ./2" if self.time else "$M $J $I $P ./2",
            T=compose(self.time or ""),
            M=clause(nouns[0], self.verb, *nouns[1:], form=self.form),
            J=compose(JOINTS[self.joint]),
            I=it,
            P=compose(self.predicate, subject=it, tense=self.tense, degree=self.degree, part="state"),
        )
        return realise(phrase, family=self.family, kind=self.kind, contrast_key=self.key)


def describe(rng: Random, noun: StoryNoun, looks: tuple[Adjective, ...], split: str, *,
             plural: bool = False) -> Description:
    """A noun with a determiner and perhaps an adjective that this split may combine with it."""
    det = rng.choices(("the", "a", "this", "my", "our"), (80, 5, 5, 5, 5))[0]
    det = "the" if noun.kind == "person" and det in ("my", "our") else det  # *my woman* would be a wife
    described = fitting(noun, looks, split) if rng.random() < 0.25 else ()
    det = "my" if noun.kind == "kin" and det != "our" else det  # whose aunt *the aunt* is, nobody knows
    return Description(noun, det, (rng.choice(described),) if described else (), plural)


@cache
def fitting(noun: StoryNoun, looks: tuple[Adjective, ...], split: str) -> tuple[Adjective, ...]:
    """The adjectives that this split may combine with the noun."""
    return tuple(
        a for a in looks if suits(a, noun) and split_of_combination(("describes", a.en, noun.en)) in ("train", split)
    )


def draw_pair(
    rng: Random, firsts: tuple[StoryNoun, ...], seconds: tuple[StoryNoun, ...], group: str, split: str,
    mixed: bool | None = None
) -> tuple[StoryNoun, StoryNoun]:
    """Two nouns that belong to this split with the verbs of this group; `mixed`: of different gender, or the same."""
    while True:
        first, second = rng.choice(firsts), rng.choice(seconds)
        if first is second or mixed is not None and (first.gender != second.gender) is not mixed:
            continue
        if split_of_combination(("pair", group, *sorted((first.en, second.en)))) == split:
            return first, second
