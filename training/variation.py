"""Training pairs as people type them: `data.varied` of the pairs are learnt in another writing.

Without the final stop, in lower case (the source alone: the translation is to be written properly), in capitals, with
typographic apostrophes and quotation marks, or with straight ones, and with an emoji at the end.  Which pair gets which
is a function of the pair.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from unicodedata import normalize

from .pairs import Pair, place, visible

EMOJI = "😀😂😍😢😡👍🙏🎉❤🔥"
STOPS = (".", "!", "?")


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
    return replace(pair, source=normalize("NFC", pair.source.upper()),
                   target=normalize("NFC", pair.target.upper()))


def typographic(pair: Pair) -> Pair:
    """The source with ’ for ', and “ ” for the quotation marks of each pair of them."""
    parts = pair.source.replace("'", "’").split('"')
    return replace(pair, source="".join(
        part + ("“" if index % 2 == 0 else "”") for index, part in enumerate(parts[:-1])) + parts[-1])


def with_emoji(pair: Pair) -> Pair:
    symbol = EMOJI[int(place(f"emoji {pair.source}") * len(EMOJI))]
    return replace(pair, source=f"{pair.source} {symbol}", target=f"{pair.target} {symbol}")


WAYS: tuple[Callable[[Pair], Pair], ...] = (
    without_stop, lower_case, lower_case_without_stop, capitals, typographic, with_emoji)  # fmt: skip


def varied(pairs: Iterable[Pair], share: float) -> Iterator[Pair]:
    """The pairs, this share of them written in one of the `WAYS`, each as often as the others."""
    for pair in pairs:
        drawn = place(f"varied {pair.source} {pair.target}")
        yield WAYS[int(drawn / share * len(WAYS))](pair) if drawn < share else pair
