"""Text wholly in capitals: signs, headlines, shouting.

Models have seen little of it in training and split its words into single letters.  They therefore read it in lower
case, and their output is put in capitals.
"""

import regex

from seq2see.rules import ABBREVIATION_LETTERS

_WORD = regex.compile(r"\p{Lu}[\p{Lu}\p{M}'’-]*\p{Lu}")  # of two letters or more
_MARKS = regex.compile(r"[!?]")
_SMALL = regex.compile(r"\p{Ll}")
_BEGINS = regex.compile(r"(?:\A|[.!?…]\s+)[^\p{L}\p{N}]*\K\p{Ll}")
_ALONE = regex.compile(r"(?<![\p{L}\p{N}_'’])i(?![\p{L}\p{N}_])")


def in_capitals(text: str) -> bool:
    """Whether all words of a text are in capitals and, by their length, are no abbreviations."""
    words = _WORD.findall(text)
    longest = max(map(len, words), default=0)
    is_said = longest == ABBREVIATION_LETTERS and (len(words) > 1 or _MARKS.search(text) is not None)
    return (longest > ABBREVIATION_LETTERS or is_said) and not _SMALL.search(text)


def in_lower_case(text: str) -> str:
    """The text in lower case, except the first letter of a sentence and *I*."""
    return _BEGINS.sub(lambda found: found[0].upper(), _ALONE.sub("I", text.lower()))
