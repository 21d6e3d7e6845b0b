"""The pronoun families: which noun *it* means follows from two words together.

A family has two classes of verbs and two of predicates. With a verb of the first class, *it* is the first candidate
where the predicate is of the first class, else the second; a verb of the second class swaps the two. Sentences come
in groups that hold every combination for one pair of nouns in both orders, so that no single word gives the answer.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from random import Random

from .clauses import Form, clause, pronoun
from .families import BECAUSE, CONNECTIVE, PREY, PUNISHED, SO, UPSET, VARIANTS, Family, Predicate
from .phrases import StoryPair, compose, realise
from .scenes import Scene, scene_of
from .verbs import SetVerb, Verb

Unwritten = Callable[[], StoryPair]  # a sentence whose words are chosen: writing it takes most of the time


def sentence(
    family: Family, scene: Scene, verb: Verb | SetVerb, form: Form, predicate: Predicate, joint: tuple[str, str],
    *, is_first: bool, swapped: bool, degree: tuple[str, str] | None, kind: str, key: str | None,
) -> StoryPair:  # fmt: skip
    """One sentence; `is_first`: *it* is the first candidate, `swapped`: the scene's nouns change places."""
    one, two = (scene.second, scene.first) if swapped else (scene.first, scene.second)
    first = one.phrase(part="patient" if form.passive or scene.agent else "agent")
    second = two.phrase(part="agent" if form.passive else "patient", definite=form.negative)
    modal = "can" if form.modal and scene.tense == "present" else form.modal
    form = replace(form, tense=scene.tense, short=scene.short, modal=modal)
    if scene.agent:
        main = clause(scene.agent.phrase(part="agent"), verb, first, second, form=form)
    elif scene.third:
        second.head.part = "recipient"
        main = clause(first, verb, scene.third.phrase(part="patient"), second, form=form)
    else:
        main = clause(first, verb, second, form=form)
    meant, role = (first, family.roles[0]) if is_first else (second, family.roles[1])
    it = pronoun(meant, role)
    tense = family.tense_of_predicate or scene.tense
    said = compose(predicate.en, predicate.fr, subject=it, tense=tense, degree=degree, part="state")
    phrase = compose(f"$M {joint[0]} $I $P ./9", f"$M {joint[1]} $I $P ./9", {"M": main, "I": it, "P": said})
    if scene.time:
        phrase = compose("$T ,/1 $M", "$T ,/1 $M", {"T": compose(*scene.time), "M": phrase})
    return realise(phrase, family=family.name, kind=kind, contrast_key=key)


def contrast_group(rng: Random, family: Family, split: str, key: str, *, mixed: bool = True) -> list[Unwritten]:
    """Both verb classes with both predicate classes, in both noun orders: eight sentences, two minimal sets."""
    scene = scene_of(rng, family, split, mixed=mixed)
    i = rng.randrange(max(len(family.verbs), len(family.turned_verbs)))
    verbs = (family.verbs[i % len(family.verbs)], family.turned_verbs[i % len(family.turned_verbs)])
    if any(isinstance(verb, Verb) and verb.state for verb, _ in verbs):  # nothing is feared on Monday
        scene = replace(scene, time=None)
    predicates = (rng.choice(family.predicates), rng.choice(family.turned_predicates))
    degrees = [rng.choice(predicate.degrees) for predicate in predicates]
    kind = "contrast" if mixed else "control"
    return [
        partial(
            sentence, family, scene, verb, form, predicates[q], family.joint, is_first=v == q, swapped=swapped,
            degree=degrees[q], kind=kind, key=f"{key}/{int(swapped)}",
        )
        for swapped in (False, True)
        for v, (verb, form) in enumerate(verbs)
        for q in (0, 1)
    ]  # fmt: skip


def connective_group(rng: Random, split: str, key: str, *, mixed: bool = True) -> list[Unwritten]:
    """*because* and *so*, with a predicate whose subject depends on them, in both voices and both noun orders.

    Anger is a cause of attacking and a result of being attacked; a bad name is the reverse; weakness is only a cause of
    being attacked, and punishment only a result of attacking.
    """
    scene = scene_of(rng, CONNECTIVE, split, mixed=mixed)
    i = rng.randrange(len(CONNECTIVE.verbs))
    anger, blame = rng.choice(CONNECTIVE.predicates), rng.choice(CONNECTIVE.turned_predicates)
    other = (blame, blame) if rng.random() < 0.7 else (rng.choice(PREY), rng.choice(PUNISHED))
    cases = ((anger, BECAUSE, True), (anger, SO, False), (other[0], BECAUSE, False), (other[1], SO, True))
    return [
        partial(
            sentence, CONNECTIVE, scene, verb, form, predicate, joint, is_first=is_agent is not passive,
            swapped=swapped, degree=None, kind="contrast" if mixed else "control",
            key=f"{key}/{int(passive)}{int(swapped)}",
        )
        for passive, (verb, form) in ((False, CONNECTIVE.verbs[i]), (True, CONNECTIVE.turned_verbs[i]))
        for swapped in (False, True)
        for predicate, joint, is_agent in cases
    ]  # fmt: skip


def nervous_group(rng: Random, split: str, key: str) -> list[StoryPair]:
    """*attacked, because / so it was nervous*: no one says it in the passive, so it is outside the contrast sets."""
    scene = scene_of(rng, CONNECTIVE, split, mixed=True)
    verb, form = rng.choice(CONNECTIVE.verbs)
    predicate = rng.choice(UPSET)
    degree = rng.choice(predicate.degrees)
    return [
        sentence(
            CONNECTIVE, scene, verb, form, predicate, joint, is_first=joint is BECAUSE, swapped=swapped, degree=degree,
            kind="control", key=f"{key}/{int(swapped)}",
        )
        for swapped in (False, True)
        for joint in (BECAUSE, SO)
    ]  # fmt: skip


def unwritten_group(rng: Random, name: str, split: str, key: str, *, mixed: bool = True) -> list[Unwritten]:
    """One group of a hard family, for one split."""
    if name == "connective":
        return connective_group(rng, split, key, mixed=mixed)
    return contrast_group(rng, rng.choice(VARIANTS[name]), split, key, mixed=mixed)


def hard_group(rng: Random, name: str, split: str, key: str, *, mixed: bool = True) -> list[StoryPair]:
    """The same, written."""
    return [write() for write in unwritten_group(rng, name, split, key, mixed=mixed)]


def typical(rng: Random, name: str, split: str) -> StoryPair:
    """One sentence of a hard family from three of its four cells, the first as often as the other two together.

    In the contrast groups every word goes with either noun equally often, so a network that has learnt part of the rule
    gains nothing and keeps guessing. Here verb and predicate each carry some information by themselves, as in ordinary
    text. These belong to no contrast set: on those, a rule learnt here is right half the time.
    """
    group = unwritten_group(rng, name, split, "")
    cell = rng.choice((0, 0, 1, 2))
    write = rng.choice(group[cell::4])
    return replace(write(), kind="control", contrast_key=None)
