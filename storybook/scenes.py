"""The nouns of a sentence: how each is described, and which ones a split may combine."""

from dataclasses import dataclass, replace
from functools import cache
from random import Random

from .clauses import noun_phrase
from .families import THING_LOOKS, Family
from .lexicon import TIMES, Adjective, Noun, adjectives, pick, suits
from .phrases import NounPhrase
from .splits import split_of_combination

_PEOPLE_LOOKS = adjectives("old young kind clever tired")


@dataclass(frozen=True)
class Description:
    """How a noun appears: its determiner, adjective and number."""

    noun: Noun
    det: str = "the"
    adjectives: tuple[Adjective, ...] = ()
    plural: bool = False

    def phrase(self, *, part: str | None = None, definite: bool = False) -> NounPhrase:
        det = "the" if definite and self.det == "a" else self.det
        return noun_phrase(self.noun, det=det, adjectives=self.adjectives, plural=self.plural, part=part)


@dataclass(frozen=True)
class Scene:
    """What the sentences of a group have in common: everything but the noun order and the words that decide."""

    first: Description
    second: Description
    third: Description | None
    agent: Description | None
    tense: str
    short: bool  # didn't, not did not
    time: tuple[str, str] | None


def describe(rng: Random, noun: Noun, looks: tuple[Adjective, ...], split: str, *, plural: bool = False) -> Description:
    """A noun with a determiner and perhaps an adjective that this split may combine with it."""
    det = rng.choices(("the", "a", "this", "my", "our"), (80, 5, 5, 5, 5))[0]
    det = "the" if noun.kind == "person" and det in ("my", "our") else det  # *my woman* would be a wife
    described = fitting(noun, looks, split) if rng.random() < 0.25 else ()
    det = "my" if noun.kind == "kin" and det != "our" else det  # whose aunt *the aunt* is, nobody knows
    return Description(noun, det, (rng.choice(described),) if described else (), plural)


@cache
def fitting(noun: Noun, looks: tuple[Adjective, ...], split: str) -> tuple[Adjective, ...]:
    """The adjectives that this split may combine with the noun."""
    looks = tuple(a for a in looks if suits(a, noun))
    return tuple(a for a in looks if split_of_combination(("describes", a.en, noun.en)) in ("train", split))


def draw_pair(
    rng: Random,
    firsts: tuple[Noun, ...],
    seconds: tuple[Noun, ...],
    group: str,
    split: str,
    *,
    mixed: bool | None = None,
) -> tuple[Noun, Noun]:
    """Two nouns that belong to this split with the verbs of this group; `mixed`: of different gender, or the same."""
    while True:
        first, second = rng.choice(firsts), rng.choice(seconds)
        if first is second or mixed is not None and (first.gender != second.gender) is not mixed:
            continue
        if split_of_combination(("pair", group, *sorted((first.en, second.en)))) == split:
            return first, second


def scene_of(rng: Random, family: Family, split: str, *, mixed: bool) -> Scene:
    first, second = draw_pair(rng, family.nouns, family.others, family.verbs[0][0].group, split, mixed=mixed)
    plural = rng.random() < family.plurals
    third = None
    if family.third:
        several = rng.random() < family.plurals
        third = describe(rng, rng.choice(family.third), THING_LOOKS[:3], split, plural=several)
    one, two = (describe(rng, noun, family.looks, split, plural=plural) for noun in (first, second))
    if plural:  # *some wolves* would be *de loups* after *se cacher de* and *recevoir de*: right, and read wrong
        one, two = (replace(noun, det="the") if noun.det == "a" else noun for noun in (one, two))
    return Scene(
        one,
        two,
        third,
        describe(rng, rng.choice(pick("person")), _PEOPLE_LOOKS, split) if family.roles[0] == "object" else None,
        rng.choice(family.tenses),
        rng.random() < 0.4,
        rng.choice(TIMES) if rng.random() < 0.1 and family.tenses == ("past",) else None,
    )
