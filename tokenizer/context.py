"""Sentences that may need the one before: those that begin with a pronoun whose antecedent may be there.

    The owl lent the ladder to the crow.  It was grateful.

A pronoun late in a sentence mostly refers to something in the sentence.  Other sentences are best translated alone:
context can only mislead a small model.
"""

from itertools import islice
from unicodedata import normalize

import regex

EARLY = 3  # words at the start of a sentence, where a pronoun cannot refer to its own sentence

_REFERRING = {  # third-person pronouns whose translation depends on their antecedent
    "de": "er sie es ihn ihm ihnen",
    "en": "it itself they them themselves",
    "es": "él ella ello ellos ellas",
    "fr": "il ils elle elles lui eux",
}
_WORDS = {language: frozenset(words.split()) for language, words in _REFERRING.items()}
_WORD = regex.compile(r"[\p{L}\p{M}]+")


def refers_back(sentence: str, *, language: str) -> bool:
    """Whether a sentence may need the one before; False for languages not listed here."""
    words = islice(_WORD.finditer(normalize("NFC", sentence)), EARLY)
    return any(word.group().casefold() in _WORDS.get(language, ()) for word in words)
