"""What people type besides sentences: words alone and in other forms, greetings, times, numbers with nouns.

`frames.yaml` has them with places, which nouns of the training pairs (nouns.py), names and numbers fill.  Some nouns
are held out: the pairs have them in the singular alone, and their plurals are for a test.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from random import Random

import yaml

from ..reading import hash_fraction
from .nouns import KnownNoun, find_nouns
from .variation import NAMES, Pair

FRAMES = Path(__file__).with_name("frames.yaml")
LANGUAGES = ("en", "fr", "de", "es")
HELD_OUT = 0.5  # of the nouns whose plural no pair has
EACH = {"plurals": 4, "words": 2, "two": 1}  # frames of each noun in a pass
TEXTS = 60  # times that each text is in a pass, with other names and numbers


def nouns_of(
    pairs: Sequence[Pair], language: str, others: Iterable[str] = ()
) -> tuple[list[KnownNoun], list[KnownNoun]]:
    """The nouns of the pairs to one language: those to learn in every form, and those held out, whose plurals are
    neither in the pairs nor in the `others`, English sentences that are learnt too."""
    known = {word for text in (*(source for source, *_ in pairs), *others)
             for word in text.casefold().replace(".", " ").replace(",", " ").split()}
    nouns = find_nouns([pair for pair in pairs if pair[2] == language], language)
    held_out = [noun for noun in nouns if noun.plural not in known and hash_fraction(noun.english) < HELD_OUT]
    return [noun for noun in nouns if noun not in held_out], held_out


def typed(nouns: Sequence[KnownNoun], held_out: Sequence[KnownNoun], language: str, draw: Random) -> Iterator[Pair]:
    """Pairs to one language for one pass."""
    for noun in (*nouns, *held_out):
        for kind, times in EACH.items():
            if kind == "words" or noun not in held_out:
                for frame in draw.sample(frames()[kind], times):
                    yield filled(frame, language, draw, noun, draw.choice(nouns))
    for frame in frames()["texts"]:
        for _ in range(TEXTS):
            yield filled(frame, language, draw)


def held_out_forms(held_out: Iterable[KnownNoun], language: str) -> Iterator[Pair]:
    """The test: each noun held out in the plural, in a few frames."""
    for noun in held_out:
        for frame in Random(0).sample(frames()["plurals"], 3):
            yield filled(frame, language, Random(noun.english), noun)


def filled(
    frame: Sequence[str], language: str, draw: Random, noun: KnownNoun | None = None, other: KnownNoun | None = None
) -> Pair:
    """A pair of a frame, with these nouns."""
    names = draw.sample(NAMES, 2)
    n = draw.randint(2, 60)
    values = {"n": n, "m": draw.randint(n + 1, 99), "morning": draw.randint(5, 11), "afternoon": draw.randint(2, 5),
              "evening": draw.randint(8, 11), "minute": draw.choice(("10", "15", "30", "45")), "name": names[0],
              "other": names[1]}
    here, there = dict(values), dict(values)
    if noun:
        article = "an" if noun.english[0] in "aeiou" else "a"
        here |= {"one": noun.english, "many": noun.plural, "a": f"{article} {noun.english}"}
        there |= {"one": noun.word, "many": noun.words, "a": f"{noun.a} {noun.word}",
                  "the": noun.the + ("" if noun.the.endswith("'") else " ") + noun.word}
    if other:
        here["others"], there["others"] = other.plural, other.words
    source, target = frame[0], frame[LANGUAGES.index(language)]
    forms = target.split("|")
    feminine = noun is not None and noun.a in ("une", "una")
    return _fill(source, here), _fill(forms[-1] if feminine else forms[0], there), language


def _fill(frame: str, values: Mapping[str, object]) -> str:
    capitals = {name.capitalize(): str(value)[:1].upper() + str(value)[1:] for name, value in values.items()}
    return frame.format(**values, **capitals)


@cache
def frames() -> dict[str, list[list[str]]]:
    found: dict[str, list[list[str]]] = yaml.safe_load(FRAMES.read_text("utf-8"))
    return found
