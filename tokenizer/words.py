"""Words, as a reader counts them, and the way from pieces to words to characters.

`split_words` cuts a text into words; `piece_spans` says which word and which characters a model's pieces stand for.
Neither changes the text: words are slices of it, and what lies between two words is white space.
"""

from dataclasses import dataclass
from functools import cache

import regex  # type: ignore[import-untyped]


@dataclass(frozen=True)
class Word:
    """A word of a text: `text[start:end]`, in characters."""

    text: str
    start: int
    end: int


# Every pattern below is made of whole graphemes (`\X`), chosen by their first character, so that a vowel sign, a
# virama or a skin tone is never cut from what it belongs to.
_UNSPACED = r"\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}ー"  # scripts without spaces
_LETTER = rf"(?:(?=[[\p{{L}}\p{{M}}\p{{N}}]--[{_UNSPACED}]])\X)"
_APOSTROPHE = r"(?:(?=['’])\X)"
_HYPHEN = r"(?:(?=[-‐‑])\X)"
_JOINER = r"(?:(?=[-‐‑'’·\u00ad])\X)"  # inside a word: well-known, didn't, étudiant·e
_DECIMAL = r"(?:(?<=\p{N})(?=[.,:])\X(?=\p{N}))"  # inside a number: 3,5 and 10:30
_WORD = rf"{_LETTER}+(?:(?:{_JOINER}|{_DECIMAL}){_LETTER}+)*"
_ABBREVIATION = r"(?:\p{Latin}\.){2,}"  # U.S., e.g.
_OTHER = r"\.{2,}|(?!\s)\X"  # an ellipsis; else one grapheme: punctuation, an emoji, a Chinese character

# French. A clitic after its verb is a word of its own (a-t-il, est-ce, donne-le-moi, va-t'en), and so is an elided
# word before an apostrophe; the compounds in _FRENCH_WHOLE are words of the lexicon that only look like these.
_FRENCH_WHOLE = (
    rf"(?:aujourd{_APOSTROPHE}hui|presqu{_APOSTROPHE}[iî]les?|quelqu{_APOSTROPHE}une?|entr{_APOSTROPHE}{_LETTER}+"
    rf"|prud{_APOSTROPHE}hom{_LETTER}+|c{_APOSTROPHE}est-à-dire|d{_APOSTROPHE}ores|rendez-vous|garde-à-vous"
    rf"|qu{_APOSTROPHE}en-dira-t-on|chez-(?:moi|toi|soi|lui|elles?|eux|nous|vous))(?!{_LETTER}|{_HYPHEN}{_LETTER})"
)
_ELIDED = rf"(?:[ldjmtscnç]|(?:jus|lors|puis|quoi)?qu){_APOSTROPHE}"
_PRONOUN = r"(?:t-(?:ils?|elles?|on)|ils?|elles?|on|je|tu|nous|vous|ce|les?|la|lui|leur|moi|toi|en|y)"
_CLITIC = (
    rf"{_HYPHEN}(?:[mtl]{_APOSTROPHE}(?=(?:en|y)(?!{_LETTER}|{_HYPHEN}))"
    rf"|{_PRONOUN}(?=(?:{_HYPHEN}{_PRONOUN}){{0,2}}(?!{_LETTER}|{_JOINER}{_LETTER}))"
    rf"|{_PRONOUN}(?={_HYPHEN}[mtl]{_APOSTROPHE}(?:en|y)(?!{_LETTER}|{_HYPHEN})))"
)
_FRENCH_WORD = rf"{_LETTER}+(?:(?!{_CLITIC})(?:{_JOINER}|{_DECIMAL}){_LETTER}+)*"


@cache
def _pattern(language: str) -> regex.Pattern:
    if language == "fr":
        clitic = rf"(?<=[\p{{L}}\p{{M}}]){_CLITIC}"
        parts = [_FRENCH_WHOLE, _ABBREVIATION, _ELIDED, clitic, _FRENCH_WORD, _OTHER]
    else:
        parts = [_ABBREVIATION, _WORD, _OTHER]
    return regex.compile("|".join(parts), regex.V1 | regex.IGNORECASE)


def split_words(text: str, *, language: str) -> list[Word]:
    """Cut a text into words, left to right; put together again with the white space between them they are the text.

    In every language: a run of letters and digits, with apostrophes, hyphens and middle dots inside it, is one word
    (`didn't`, `cat's`, `well-known`, `3,5`; but `1 000` is two), every punctuation mark is one (but `...` is one),
    and so is every emoji, flags and skin tones included, and every character of a script written without spaces
    (Chinese, Japanese, Thai).  Devanagari vowel signs and viramas stay with their letters; a danda is punctuation.

    French only: elided words end at their apostrophe (`l'` `arbre`, `jusqu'` `ici`, but `aujourd'hui`), and a clitic
    after its verb is a word that begins with the hyphen (`a` `-t-il`, `est` `-ce`).
    """
    return [Word(found[0], found.start(), found.end()) for found in _pattern(language).finditer(text)]
