"""Signs that a translation went wrong: it is a copy of its source, or far shorter.

Texts that must stay as they are, such as addresses, code, numbers and names, may be copied.  A name is known only by
its capitals, so a copy counts as wrong only if it has words in lower case that belong to no name, or much text in a
script without capitals.  `webpage/answers/warnings.js` does the same in the browser.
"""

import regex

from seq2see.rules import BRIEF, COPIED_LETTERS, FAR_SHORTER, PARTICLES
from .capitals import in_capitals
from .plain import length

_PARTICLES = frozenset(PARTICLES)
_SMALL_WORD = regex.compile(r"\p{Ll}{2,}")
_UNCASED = regex.compile(r"[\p{Lo}\p{M}]")
_EDGES = regex.compile(r"\A[\p{P}]+|[\p{P}]+\Z")
_SENTENCE_END = regex.compile(r"(?<=\p{L})[.!?…]['\"”’»)]*\Z")


def is_far_shorter(source: str, translation: str) -> bool:
    """Whether a translation is so much shorter than its source that part of it must be missing."""
    return length(translation) < FAR_SHORTER * (length(source) - BRIEF)


def letters(text: str) -> str:
    """The letters and digits of a text, in lower case: a copy has those of its source."""
    return "".join(filter(str.isalnum, text.casefold()))


def may_not_stay(text: str) -> bool:
    """Whether a text, with its protected parts masked, has words that a translation must change."""
    if length("".join(_UNCASED.findall(text))) >= COPIED_LETTERS:
        return True
    words = [_EDGES.sub("", word) for word in (text.lower() if in_capitals(text) else text).split()]
    small = [word for word in words if _SMALL_WORD.fullmatch(word) and word not in _PARTICLES]
    least = 1 if _SENTENCE_END.search(text) else 2 if text[:1].isupper() else 5  # fewer may be a command
    return len(small) >= least and 2 * len(small) >= len(words) - 1
