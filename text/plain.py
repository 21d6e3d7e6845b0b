"""Plain counterparts of the characters of a text, for the model.

Texts are full of characters that training texts lack: soft hyphens, zero-width characters, direction marks, no-break
and thin spaces, an ellipsis in one character, full-width letters.  `plain` removes or replaces characters that change
the look of a text but not its meaning, and records the origin of each character.
"""

from __future__ import annotations

import re
import string
from dataclasses import dataclass
from functools import lru_cache
from unicodedata import category, normalize

import regex

from seq2see.rules import COUNTERPARTS, QUOTED

INVISIBLE = (  # formats and controls; not the joiners inside words of scripts that need them
    r"(?:(?![\u200c\u200d])[[\p{DI}\p{Cf}\p{Cc}]--[\s\x1c-\x1f]--\p{Prepended_Concatenation_Mark}]"
    r"|(?<![[\p{L}\p{M}]--[\p{Latin}\p{Greek}\p{Cyrillic}]])[\u200c\u200d]|&(?i:shy|zwnj|zwj|lrm|rlm|\#8203|\#xad);)"
)
SPACE = r"(?:[\s\x1c-\x1f]|&(?i:nbsp|ensp|emsp|thinsp|\#160|\#xa0);)"
APOSTROPHE = r"&(?i:apos|rsquo|lsquo|\#0?39|\#x27|\#821[67]);"
RANGE = rf"(?<=\w{INVISIBLE}*)–(?={INVISIBLE}*\w)"  # 9–10
_ODD = regex.compile(
    rf"(?P<invisible>{INVISIBLE}+)|(?P<space>(?!\ ){SPACE})|(?P<dots>\.{{2,}})|(?P<range>{RANGE})"
    rf"|(?P<asks>!*+\?[!?]+|!++\?)|(?P<shouts>!{{2,}})"
    rf"|(?P<dash>&[nm]dash;|(?<={SPACE})–(?={SPACE}))"
    rf"|(?P<apostrophe>{APOSTROPHE})", regex.V1)
_ODD_ASCII = regex.compile(r"[\x00-\x1f\x7f&]|\.\.|[!?]{2}")
DOTS = "..."
_QUOTATION = re.compile("[\"“”„«»]")
_QUOTED = regex.compile(QUOTED)
_READ_AS = {"invisible": "", "asks": "?", "shouts": "!", "space": " ", "dots": DOTS, "range": "-", "dash": "—",
            "apostrophe": "'"}
_COUNTERPARTS = str.maketrans({char: plain for plain, chars in COUNTERPARTS.items() for char in chars})
_BASIC = frozenset(f"{string.ascii_letters}{string.digits} .,!?;:'-")
_IDEOGRAPH = regex.compile(r"[\p{Han}\p{Hiragana}\p{Katakana}]")
_HANGUL = regex.compile(r"\p{Hangul}")
_LETTER = regex.compile(r"[\p{L}\p{M}\p{N}]")


@dataclass(frozen=True)
class PlainText:
    """A text as a model reads it; each character, and the end, has its position in the original."""

    text: str
    places: range | tuple[int, ...]

    def original(self, start: int, end: int) -> tuple[int, int]:
        """The span in the original of a non-empty span of the text."""
        return self.places[start], self.places[end - 1] + 1


@lru_cache(32)
def characters(words: frozenset[str]) -> frozenset[str]:
    """The characters that a model knows, in both cases, from the casefolded words of its training text.

    Basic Latin is always known.
    """
    seen = frozenset("".join(words))
    return _BASIC | seen | {other for char in seen for other in (char.upper(), char.title()) if len(other) == 1}


def plain(text: str, known: frozenset[str] | None = None) -> PlainText:
    """The text without invisible characters, with ordinary spaces and dots.

    Characters that the model does not know (`known`) have plain counterparts.  None: all are known.
    """
    odd = _ODD_ASCII if text.isascii() else _ODD
    if not odd.search(text) and (known is None or known.issuperset(text)):
        return PlainText(text, range(len(text) + 1))
    pieces: list[tuple[str, int]] = []
    done = 0
    for found in [*_ODD.finditer(text), None]:
        start, end = found.span() if found else (len(text), len(text))
        pieces += [(char if known is None else counterpart(char, known), place)
                   for place, char in enumerate(text[done:start], done)]
        if found:
            is_read = found[0] != "–" or found["range"] or (known and "—" in known)
            pieces.append((_READ_AS[str(found.lastgroup)] if is_read else found[0], start))
        done = end
    places = (place for piece, place in pieces for _ in piece)
    return PlainText("".join(piece for piece, _ in pieces), (*places, len(text)))


def double_quoted(text: str) -> str:
    """The text at the same length, with double quotation marks for pairs of single ones."""
    return _QUOTED.sub(lambda found: f"“{found[0][1:-1]}”", text) if "'" in text or "’" in text or "‘" in text else text


def is_paired(text: str) -> bool:
    """Whether there are quotation marks, and each may have its pair."""
    count = len(_QUOTATION.findall(text))
    return count > 0 and count % 2 == 0


@lru_cache(4096)
def counterpart(char: str, known: frozenset[str]) -> str:
    """The model's input for a letter, a digit or a punctuation mark; the character itself if it has no other known
    form.

    A combining mark over a letter without a composed form has no counterpart.
    """
    if "\u0300" <= char <= "\u036f" and char not in known:
        return ""
    if char not in known and (category(char)[0] in "LP" or category(char) in ("Nd", "Nl")):
        for other in (char.translate(_COUNTERPARTS), normalize("NFKC", char)):
            if known.issuperset(other):
                return other
    return char


def length(text: str) -> int:
    """The number of letters and digits of a text, weighted by script.

    An ideograph counts as three and a Hangul syllable as two, so that translations in different scripts have similar
    lengths.
    """
    if not text or max(text) < "\u0300":
        return sum(map(str.isalnum, text))
    return len(_LETTER.findall(text)) + 2 * len(_IDEOGRAPH.findall(text)) + len(_HANGUL.findall(text))
