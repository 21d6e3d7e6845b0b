"""Which sentences may need the one before: those that begin with a pronoun for something named there.

    The owl lent the ladder to the crow.  It was grateful.

A pronoun late in a sentence mostly stands for something in it.  Other sentences are best translated alone: what stands
before can only mislead a small model.
"""

from itertools import islice
from unicodedata import normalize

import regex

EARLY = 3  # words of a sentence, among which such a pronoun has nothing of its own sentence to stand for

_REFERRING = {  # personal pronouns of the third person, where what they stand for changes their translation
    "de": "er sie es ihn ihm ihnen",
    "en": "it itself they them themselves",
    "es": "él ella ello ellos ellas",
    "fr": "il ils elle elles lui eux",
}
_WORDS = {language: frozenset(words.split()) for language, words in _REFERRING.items()}
_WORD = regex.compile(r"[\p{L}\p{M}]+")


def refers_back(sentence: str, *, language: str) -> bool:
    """Whether it may need the sentence before; never in a language that is not listed here."""
    words = islice(_WORD.finditer(normalize("NFC", sentence)), EARLY)
    return any(word.group().casefold() in _WORDS.get(language, ()) for word in words)
