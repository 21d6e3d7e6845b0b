"""Texts at places of a source: a translation replaces its place, and all else stays as it is."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from seq2see.errors import UserError
from ..passes.pausing import pause
from .protocol import MOST_TEXTS, Document, Left

MAY_BREAK = re.compile(r"(?<!«) (?![?!:;»%–—-])")  # where a line may end: signs that a space precedes do not begin one


def unused(text: str) -> str:
    """A character that is not in the text."""
    return next(char for char in map(chr, range(0xE000, 0x110000)) if char not in text)


def filled(words: Sequence[str], width: float, indent: str = "",
           may_begin: Callable[[str], bool] = bool) -> list[str]:
    """Words as lines, none longer than `width` if it can be, and none but the first begun by a word that may not."""
    first, *others = words
    lines = [first]
    for word in others:
        if word and lines[-1].strip() and len(lines[-1]) + 1 + len(word) > width and may_begin(word):
            lines[-1] = lines[-1].rstrip(" ")
            lines.append(indent + word)
        else:
            lines[-1] += f" {word}"
    return lines


@dataclass(frozen=True)
class Place:
    """The characters `start` to `end` of a source.  `written` gives what stands there with these texts translated.

    Without texts it is one that stays, and `why` says the reason.
    """

    start: int
    end: int
    texts: tuple[str, ...]
    written: Callable[[Sequence[str]], str]
    why: str = ""

    @classmethod
    def left(cls, start: int, end: int, why: str) -> Place:
        return cls(start, end, (), "".join, why)


def document_of(source: str, places: Iterable[Place], *, name: str, mark: str = "") -> Document:
    """The document in UTF-8, after its byte order mark.  A place whose texts come back unchanged is copied.

    Raises UserError for more than MOST_TEXTS texts, before more places are asked for.
    """
    every, count = list[Place](), 0
    lines, left, line, done = list[str](), list[Left](), 1, 0
    for place in places:
        pause()
        line, done = line + source.count("\n", done, place.start), place.start
        lines += [f"line {line:,}"] * len(place.texts)
        if place.why:
            left.append(Left(f"line {line:,}", source[place.start : place.end], place.why))
            continue
        every.append(place)
        count += len(place.texts)
        if count > MOST_TEXTS:
            raise UserError(f"{name} has more than {MOST_TEXTS:,} texts: split it")

    lost = list[int]()

    def write(translations: Sequence[str]) -> bytes:
        done, written, number = 0, [mark], 0
        lost.clear()
        for place in every:
            pause()
            numbers = range(number, number := number + len(place.texts))
            translated = tuple(translations[number] for number in numbers)
            if translated != place.texts:
                new = place.written(translated)
                written += [source[done : place.start], new]
                done = place.end
                lost.extend(numbers if new == source[place.start : place.end] else ())
        return "".join([*written, source[done:]]).encode()

    return Document([one for place in every for one in place.texts], write, lines, left, lost)
