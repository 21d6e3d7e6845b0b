"""The pronoun families: which noun *it* means follows from two words together.

A family has two classes of verbs and two of predicates. With a verb of the first class, *it* is the first candidate
where the predicate is of the first class, else the second; a verb of the second class swaps the two. Sentences come
in groups that hold every combination for one pair of nouns in both orders, so that no single word gives the answer.
"""

from dataclasses import dataclass, replace
from random import Random

from .families import CONNECTIVE, PREY, PUNISHED, THING_LOOKS, UPSET, VARIANTS, Family, Predicate, VerbForm
from .lexicon import TIMES, adjectives, pick
from .scenes import ROLES, Description, Sentence, describe, draw_pair

_PEOPLE_LOOKS = adjectives("old young kind clever tired")


@dataclass(frozen=True)
class Scene:
    """What the sentences of a group have in common: everything but the noun order and the words that decide."""

    family: Family
    candidates: tuple[Description, Description]
    other: Description | None = None  # in the role that is neither candidate's
    tense: str = "past"
    short: bool = False  # didn't, not did not
    time: str | None = None
    kind: str = "contrast"

    def sentence(
        self, verb_and_form: VerbForm, predicate: Predicate, degree: str | None = None, joint: str | None = None, *,
        is_first: bool, swapped: bool, key: str = "",
    ) -> Sentence:
        """One sentence; `is_first`: *it* is the first candidate, `swapped`: the candidates change places."""
        family, (verb, form) = self.family, verb_and_form
        first, second = reversed(self.candidates) if swapped else self.candidates
        second = second.definite() if form.negative else second
        nouns = dict(zip(family.roles, (first, second), strict=True))
        modal = "can" if form.modal and self.tense == "present" else form.modal
        return Sentence(
            family.name, self.kind, verb, replace(form, tense=self.tense, short=self.short, modal=modal),
            tuple(noun for role in ROLES if (noun := nouns.get(role, self.other))),
            family.roles[not is_first], predicate.pattern, degree, f"{key}{int(swapped)}", joint or family.joint,
            family.tense_of_predicate or self.tense, self.time,
        )


def _scene(rng: Random, family: Family, split: str, *, mixed: bool = True) -> Scene:
    first, second = draw_pair(rng, family.nouns, family.others, family.verbs[0][0][0].group, split, mixed)
    plural = rng.random() < family.plurals
    other = None
    if family.third:
        several = rng.random() < family.plurals
        other = describe(rng, rng.choice(family.third), THING_LOOKS[:3], split, plural=several)
    one, two = (describe(rng, noun, family.looks, split, plural=plural) for noun in (first, second))
    if plural:  # *some wolves* would be *de loups* after *se cacher de* and *recevoir de*: right, and read wrong
        one, two = one.definite(), two.definite()
    if family.roles[0] == "object":
        other = describe(rng, rng.choice(pick("person")), _PEOPLE_LOOKS, split)
    tense, short = rng.choice(family.tenses), rng.random() < 0.4
    time = rng.choice(TIMES) if rng.random() < 0.1 and family.tenses == ("past",) else None
    return Scene(family, (one, two), other, tense, short, time, "contrast" if mixed else "control")


def _contrast_group(rng: Random, family: Family, split: str, key: str, *, mixed: bool) -> list[Sentence]:
    """Both verb classes with both predicate classes, in both noun orders: eight sentences, two minimal sets."""
    scene = _scene(rng, family, split, mixed=mixed)
    i = rng.randrange(max(map(len, family.verbs)))
    verbs = [several[i % len(several)] for several in family.verbs]
    if any(verb.state for verb, _ in verbs):  # nothing is feared on Monday
        scene = replace(scene, time=None)
    predicates = [rng.choice(several) for several in family.predicates]
    degrees = [rng.choice(predicate.degrees) for predicate in predicates]
    return [
        scene.sentence(verb_and_form, predicates[q], degrees[q], is_first=v == q, swapped=swapped, key=f"{key}/")
        for swapped in (False, True)
        for v, verb_and_form in enumerate(verbs)
        for q in (0, 1)
    ]


def _connective_group(rng: Random, split: str, key: str, *, mixed: bool) -> list[Sentence]:
    """*because* and *so*, with a predicate whose subject depends on them, in both voices and both noun orders.

    Anger is a cause of attacking and a result of being attacked; a bad name is the reverse; weakness is only a cause of
    being attacked, and punishment only a result of attacking.
    """
    scene = _scene(rng, CONNECTIVE, split, mixed=mixed)
    i = rng.randrange(len(CONNECTIVE.verbs[0]))
    anger, blame = (rng.choice(several) for several in CONNECTIVE.predicates)
    other = (blame, blame) if rng.random() < 0.7 else (rng.choice(PREY), rng.choice(PUNISHED))
    cases = (
        (anger, "because", True), (anger, ", so", False), (other[0], "because", False), (other[1], ", so", True),
    )
    return [
        scene.sentence(
            CONNECTIVE.verbs[passive][i], predicate, None, joint, is_first=is_agent is not passive, swapped=swapped,
            key=f"{key}/{int(passive)}",
        )
        for passive in (False, True)
        for swapped in (False, True)
        for predicate, joint, is_agent in cases
    ]


def nervous_group(rng: Random, split: str, key: str) -> list[Sentence]:
    """*attacked, because / so it was nervous*: no one says it in the passive, so it is outside the contrast sets."""
    scene = replace(_scene(rng, CONNECTIVE, split), kind="control")
    verb_and_form = rng.choice(CONNECTIVE.verbs[0])
    predicate = rng.choice(UPSET)
    degree = rng.choice(predicate.degrees)
    return [
        scene.sentence(verb_and_form, predicate, degree, joint, is_first=joint == "because", swapped=swapped,
                       key=f"{key}/")
        for swapped in (False, True)
        for joint in ("because", ", so")
    ]


def hard_group(name: str, rng: Random, split: str, key: str, *, mixed: bool = True) -> list[Sentence]:
    """One group of a hard family, for one split."""
    if name == "connective":
        return _connective_group(rng, split, key, mixed=mixed)
    return _contrast_group(rng, rng.choice(VARIANTS[name]), split, key, mixed=mixed)


def typical(name: str, rng: Random, split: str) -> Sentence:
    """One sentence of a hard family from three of its four cells, the first as often as the other two together.

    In the contrast groups every word goes with either noun equally often, so a network that has learnt part of the rule
    gains nothing and keeps guessing. Here verb and predicate each carry some information by themselves, as in ordinary
    text. These belong to no contrast set: on those, a rule learnt here is right half the time.
    """
    group = hard_group(name, rng, split, "")
    cell = rng.choice((0, 0, 1, 2))
    return replace(rng.choice(group[cell::4]), kind="control", key=None)
