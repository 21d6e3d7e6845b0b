"""Words with two meanings: *bank*, *bat*, *match*, *trunk*, *nail*, *seal*. Another word of the sentence decides.

Sentences come in pairs that differ in that word; where the French nouns differ in gender, so does the pronoun.
"""

import re
from dataclasses import dataclass
from random import Random

from .clauses import Form, noun_phrase
from .families import Predicate, states
from .lexicon import NOUNS, StoryNoun, pick
from .phrases import StoryPair, compose, realise
from .scenes import Description, Sentence, describe, draw_pair
from .verbs import verbs


@dataclass(frozen=True)
class Sense:
    """One meaning: its French noun, what only it can be, and scenes for it alone (patterns; $P a person, $N it)."""

    noun: StoryNoun
    predicates: tuple[Predicate, ...]
    scenes: tuple[str, ...]


# English French gender: predicates; then scenes.
_SENSES = """
bank banque f: closed fermé, open ouvert, rich riche
    $P robbed/1 $N = $P a/1 dévalisé/1 $N
    $P worked/1 at/2 $N = $P a/1 travaillé/1 à/2 $N
    $N lent/1 money/2 to/3 $P = $N a/1 prêté/1 de/2 le/2 argent/2 à/3 $P
bank rive f: muddy boueux, flooded inondé, covered-with-flowers couvert-de-fleurs
    $P swam/1 to/2 $N = $P a/1 nagé/1 jusque/2 à/2 $N
    $P fished/1 from/2 $N = $P a/1 pêché/1 depuis/2 $N
    the/1 boat/2 reached/3 $N = le/1 bateau/2 a/3 atteint/3 $N
bat chauve-souris f: asleep endormi, alive vivant, @be/1 flying/1 = @voler/1
    $N bit/1 $P = $N a/1 mordu/1 $P
    $N slept/1 under/2 the/3 roof/4 = $N a/1 dormi/1 sous/2 le/3 toit/4
bat batte f: broken cassé, made+of-wood en-bois, made+of-iron en-fer
    $P hit/1 the/2 stone/3 with/4 $N = $P a/1 frappé/1 la/2 pierre/3 avec/4 $N
    $P bought/1 $N and/2 two/3 hats/4 = $P a/1 acheté/1 $N et/2 deux/3 chapeaux/4
match match m: exciting passionnant, boring ennuyeux, important important
    $P won/1 $N = $P a/1 gagné/1 $N
    $P watched/1 $N = $P a/1 regardé/1 $N
match allumette f: wet mouillé, burnt brûlé, made+of-wood en-bois
    $P lit/1 the/2 candle/3 with/4 $N = $P a/1 allumé/1 la/2 bougie/3 avec/4 $N
    $P blew/1 out/1 $N = $P a/1 soufflé/1 $N
trunk malle f: full-of-clothes plein-de-vêtements, closed fermé, made+of-iron en-fer
    $P opened/1 $N with/2 the/3 key/4 = $P a/1 ouvert/1 $N avec/2 la/3 clé/4
    $P put/1 the/2 coat/3 in/4 $N = $P a/1 mis/1 le/2 manteau/3 dans/4 $N
trunk tronc m: hollow creux, covered-with-moss couvert-de-mousse, struck-by-lightning frappé-par-la+foudre
    $P cut/1 $N with/2 the/3 axe/4 = $P a/1 coupé/1 $N avec/2 la/3 hache/4
    $P climbed/1 $N of/2 the/3 oak/4 = $P a/1 grimpé/1 sur/1 $N de/2 le/3 chêne/4
nail clou m: rusty rouillé, bent tordu, made+of-iron en-fer
    $P hit/1 $N with/2 the/3 hammer/4 = $P a/1 frappé/1 $N avec/2 le/3 marteau/4
    $P pulled/1 $N out/2 of/2 the/3 wall/4 = $P a/1 arraché/1 $N de/2 le/3 mur/4
nail ongle m: bitten rongé, polished verni
    $P cut/1 $N with/2 the/3 scissors/4 = $P a/1 coupé/1 $N avec/2 les/3 ciseaux/4
seal phoque m: hungry affamé, asleep endormi, @be/1 swimming/1 = @nager/1
    $P fed/1 $N = $P a/1 nourri/1 $N
    $N swam/1 in/2 the/3 lake/4 = $N a/1 nagé/1 dans/2 le/3 lac/4
seal sceau m: broken cassé, made+of-wax en-cire, made+of-gold en-or
    $P put/1 $N on/2 the/3 letter/4 = $P a/1 mis/1 $N sur/2 la/3 lettre/4"""


def _sense(entry: str) -> Sense:
    head, *scenes = entry.split("\n    ")
    noun, _, predicates = head.partition(": ")
    en, fr, gender = noun.split()
    return Sense(StoryNoun(en, fr, gender, "sense", en + "s", fr + "s"), states(predicates), tuple(scenes))


_EACH = [_sense(entry) for entry in re.split(r"\n(?=\w)", _SENSES.strip())]
SENSES: tuple[tuple[Sense, Sense], ...] = tuple(zip(_EACH[::2], _EACH[1::2], strict=True))

_PEOPLE = pick("person kin")
_NOTICE = verbs("meet", "look at, talk about")


def noun_forms() -> list[str]:
    """English, French and the French gender (`cat chat m`) of the nouns that *it* and *they* can stand for."""
    singular = {(one.en, one.fr, one.gender) for one in NOUNS.values() if not one.person}
    plural = {(one.en_plural, one.fr_plural, one.gender) for one in NOUNS.values()}
    senses = {(one.noun.en, one.noun.fr, one.noun.gender) for pair in SENSES for one in pair}
    return sorted(map(" ".join, singular | plural | senses))


def sense_group(rng: Random, split: str, key: str) -> list[StoryPair]:
    """The same sentence about both meanings of a word; only the predicate differs."""
    if rng.random() < 0.6:
        return [sentence.write() for sentence in _noticed(rng, split, key)]
    person, pair = _draw(rng, "sense", split)
    someone = describe(rng, person, (), split)
    group = []
    for sense in pair:
        scene = rng.choice(sense.scenes)
        main = compose(scene, P=someone.phrase("agent"), N=noun_phrase(sense.noun))
        phrase = compose("$S ./1", S=main)
        if "$P" in scene:
            phrase.combinations |= {("pair", "sense", *sorted((person.en, sense.noun.en)))}
        group.append(realise(phrase, family="sense", kind="sense", contrast_key=key))
    return group


def _draw(rng: Random, group: str, split: str) -> tuple[StoryNoun, tuple[Sense, Sense]]:
    person, noun = draw_pair(rng, _PEOPLE, tuple(senses[0].noun for senses in SENSES), group, split)
    return person, next(senses for senses in SENSES if senses[0].noun is noun)


def _noticed(rng: Random, split: str, key: str) -> list[Sentence]:
    """*The girl looked at the match because it was wet / exciting*, or in two sentences."""
    verb = rng.choice(_NOTICE)
    person, pair = _draw(rng, verb.group, split)
    someone = describe(rng, person, (), split)
    joint = rng.choice(("because", "because", "."))
    return [
        Sentence("sense", "sense", verb, Form(), (someone, Description(sense.noun)), "object",
                 rng.choice(sense.predicates).pattern, key=key, joint=joint)
        for sense in pair
    ]
