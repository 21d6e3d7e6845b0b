"""Text wholly in capitals: signs, headlines, people who shout.

Models have read little of it and split its words into single letters, so they read it in lower case, and what they
write is put in capitals.
"""

import regex

_WORD = regex.compile(r"\p{Lu}[\p{Lu}\p{M}'’-]*\p{Lu}")  # of two letters or more
_ABBREVIATION = 4  # letters that it has at most
_MARKS = regex.compile(r"[!?]")
_SMALL = regex.compile(r"\p{Ll}")
_BEGINS = regex.compile(r"(?:\A|[.!?…]\s+)[^\p{L}\p{N}]*\K\p{Ll}")
_ALONE = regex.compile(r"(?<![\p{L}\p{N}_'’])i(?![\p{L}\p{N}_])")


def in_capitals(text: str) -> bool:
    """Whether all words of a text are in capitals, and they are no abbreviations, by their length."""
    words = _WORD.findall(text)
    longest = max(map(len, words), default=0)
    is_said = longest == _ABBREVIATION and (len(words) > 1 or _MARKS.search(text) is not None)
    return (longest > _ABBREVIATION or is_said) and not _SMALL.search(text)


def in_lower_case(text: str) -> str:
    """The text in lower case, but for the first letter of a sentence and for *I*."""
    return _BEGINS.sub(lambda found: found[0].upper(), _ALONE.sub("I", text.lower()))
