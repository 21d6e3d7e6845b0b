"""Text wholly in capitals: signs, headlines, shouting; and titles, whose words begin with a capital letter.

Models have seen little of either in training and split these words into letters and parts of words.  They therefore
read them in lower case, and output for text in capitals is put in capitals.
"""

from collections.abc import Callable

import regex

from seq2see.rules import ABBREVIATION_LETTERS

TITLED = regex.compile(r"(?<![\p{L}\p{M}])\p{Lu}\p{Ll}+(?![\p{L}\p{M}])")
_WORD = regex.compile(r"\p{Lu}[\p{Lu}\p{M}'’-]*\p{Lu}")  # of two letters or more
_SHOUT = regex.compile(r"\p{Lu}{3,}(?: \p{Lu}{3,})?")
_MARKS = regex.compile(r"[!?]")
_LETTERS = regex.compile(r"[\p{L}\p{M}'’]+")
_ENDS = regex.compile(r"[.!?…:]\W*\Z")
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


def in_known_case(text: str, is_better: Callable[[str, str], bool]) -> str:
    """The text with each word in the case in which `is_better` to read than as it is: small letters, or a capital."""
    def read(word: str) -> str:
        return next((one for one in (word.lower(), word.capitalize()) if one != word and is_better(word, one)), word)

    return _LETTERS.sub(lambda found: read(found[0]), text)


def is_short_shout(text: str) -> bool:
    """Whether a text is one or two words in capitals that may be abbreviations by their length, but need not be."""
    return _SHOUT.fullmatch(text) is not None


def in_title_case(text: str) -> bool:
    """Whether all words of a text but the short ones begin with a capital letter; a mark may only end several."""
    if len(TITLED.findall(text)) < (2 if _ENDS.search(text) else 1):
        return False
    words = _LETTERS.findall(text)
    long = [word for word in words if len(word) >= ABBREVIATION_LETTERS] or words
    return all(word[0].isupper() for word in long)


def in_small_letters(title: str, is_better: Callable[[str, str], bool]) -> str:
    """The title with a small letter in each word whose second form `is_better` to read than the first."""
    def read(word: str) -> str:
        return small if is_better(word, small := word.lower()) else word

    return TITLED.sub(lambda found: read(found[0]), title)
