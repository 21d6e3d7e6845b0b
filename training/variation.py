"""Training pairs as people type them: `data.varied` of the pairs are learnt in another writing.

Without the final stop, in lower case (the source alone: the translation is to be written properly), in capitals, with
typographic apostrophes and quotation marks, with an emoji at the end.  As many of those with names or numbers get
others, the same on both sides, so that the model copies what it has never read.  All of it is a function of the pair.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from itertools import cycle
from random import Random
from unicodedata import normalize

from .pairs import Pair, hash_fraction, visible

EMOJI = "😀😂😍😢😡👍🙏🎉❤🔥"
NAME = re.compile(r"\b(?:Tom|Mary|John|Jack|Bill|Ken|Jim|Bob|Mike)\b")  # Tatoeba's commonest
NUMBER = re.compile(r"\d+")
# What other names begin with is a consonant, for French and Spanish write other words before a vowel.
ONSETS = ("B", "Br", "D", "Dr", "F", "G", "Gr", "J", "K", "Kl", "L", "M", "N", "P", "R", "S", "St", "T", "Tr", "V", "W",
          "Z")  # fmt: skip
VOWELS = ("a", "e", "i", "o", "u", "ai", "ei", "oo", "ie")
CODAS = ("n", "r", "l", "s", "m", "t", "ck", "nd", "x", "")


def without_stop(pair: Pair) -> Pair:
    """Both sides without their final full stop; a question stays one by its words."""
    if not (pair.source.endswith(".") and pair.target.endswith(".")):
        return pair
    source, target = pair.source.rstrip(". "), pair.target.rstrip(". ")
    return replace(pair, source=source, target=target) if visible(source) and visible(target) else pair


def lower_case(pair: Pair) -> Pair:
    return replace(pair, source=pair.source.lower())


def lower_case_without_stop(pair: Pair) -> Pair:
    return without_stop(lower_case(pair))


def capitals(pair: Pair) -> Pair:
    return replace(pair, source=normalize("NFC", pair.source.upper()), target=normalize("NFC", pair.target.upper()))


def typographic(pair: Pair) -> Pair:
    """The source with ’ for ', and “ ” for the quotation marks of each pair of them."""
    quotes = cycle("“”")
    return replace(pair, source=re.sub('"', lambda mark: next(quotes), pair.source.replace("'", "’")))


def other_name(pair: Pair) -> Pair:
    """Another name for each of Tatoeba's that both sides have equally often: invented, with or without a surname, or a
    code in quotation marks."""
    names, draw = set(NAME.findall(pair.source)), Random(f"name {pair.source} {pair.target}")
    if not names or sorted(NAME.findall(pair.source)) != sorted(NAME.findall(pair.target)):
        return pair
    new = {name: _invented(draw) for name in sorted(names)}
    return _exchanged(pair, NAME, new)


def other_numbers(pair: Pair) -> Pair:
    """Other numbers of as many digits, where both sides have the same ones, none of which makes a word singular."""
    numbers, draw = set(NUMBER.findall(pair.source)), Random(f"number {pair.source} {pair.target}")
    if not numbers or sorted(NUMBER.findall(pair.source)) != sorted(NUMBER.findall(pair.target)):
        return pair
    if any(number.startswith("0") or number == "1" for number in numbers):
        return pair
    new = {number: str(draw.randint(max(2, 10 ** (len(number) - 1)), 10 ** len(number) - 1))
           for number in sorted(numbers)}  # fmt: skip
    return _exchanged(pair, NUMBER, new)


def _exchanged(pair: Pair, pattern: re.Pattern[str], new: dict[str, str]) -> Pair:
    source, target = (pattern.sub(lambda match: new[match[0]], text) for text in (pair.source, pair.target))
    return replace(pair, source=source, target=target)


def _invented(draw: Random) -> str:
    if draw.random() < 0.15:
        return f'"{draw.choice(ONSETS).lower()}{draw.choice(VOWELS)}{draw.choice("-_.")}{draw.randint(2, 999)}"'
    words = [[draw.choice(ONSETS) + draw.choice(VOWELS) + draw.choice(CODAS) for _ in range(draw.choice((1, 2, 2)))]
             for _ in range(draw.choice((1, 1, 2)))]  # fmt: skip
    return " ".join("".join(syllables).capitalize() for syllables in words)


def with_emoji(pair: Pair) -> Pair:
    symbol = EMOJI[int(hash_fraction(f"emoji {pair.source}") * len(EMOJI))]
    return replace(pair, source=f"{pair.source} {symbol}", target=f"{pair.target} {symbol}")


EXCHANGES: tuple[Callable[[Pair], Pair], ...] = (other_name, other_numbers)
WAYS: tuple[Callable[[Pair], Pair], ...] = (
    without_stop, lower_case, lower_case_without_stop, capitals, typographic, with_emoji)  # fmt: skip


def varied(pairs: Iterable[Pair], share: float) -> Iterator[Pair]:
    """The pairs: of those that have names or numbers this share with others, and of all of them this share written in
    one of the `WAYS`, each of which is as likely as the others."""
    for pair in pairs:
        if hash_fraction(f"exchanged {pair.source} {pair.target}") < share:
            for exchange in EXCHANGES:
                pair = exchange(pair)
        drawn = hash_fraction(f"varied {pair.source} {pair.target}")
        yield WAYS[int(drawn / share * len(WAYS))](pair) if drawn < share else pair
