"""Words, as a reader counts them, and the mapping from tokens to words to characters.

`split_words` splits a text into words; `token_spans` maps a model's tokens to words and characters.  Neither changes
the text: words are slices of it, separated by white space.
"""

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from functools import cache
from itertools import accumulate
from os.path import commonprefix
from typing import TYPE_CHECKING

import regex

from seq2see.errors import UserError

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase


@dataclass(frozen=True)
class Word:
    """A word of a text: `text[start:end]`, in characters."""

    text: str
    start: int
    end: int


CLOSING = ("Po", "Pe", "Pf")  # the Unicode categories of marks that may follow a word without a space

# Every pattern below consists of whole graphemes (`\X`), selected by their first character, so that a vowel sign, a
# virama or a skin tone is never separated from its base.
_UNSPACED = r"\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}ー"  # scripts without spaces
_LETTER = rf"(?:(?=[[\p{{L}}\p{{M}}\p{{N}}]--[{_UNSPACED}]])\X)"
_APOSTROPHE = r"(?:(?=['’])\X)"
_HYPHEN = r"(?:(?=[-‐‑])\X)"
_JOINER = r"(?:(?=[-‐‑'’·\u00ad])\X)"  # inside a word: well-known, didn't, étudiant·e
_DECIMAL = r"(?:(?<=\p{N})(?=[.,:])\X(?=\p{N}))"  # inside a number: 3,5 and 10:30
_WORD = rf"{_LETTER}+(?:(?:{_JOINER}|{_DECIMAL}){_LETTER}+)*"
_ABBREVIATION = r"(?:(?=\p{Latin})\X(?=\.)\X){2,}"  # U.S., e.g.
_OTHER = r"(?:(?=\.)\X){2,}|(?![\s\x1c-\x1f])\X"  # an ellipsis; else one grapheme: punctuation, an emoji, 漢

# French. A clitic after its verb is a separate word (a-t-il, est-ce, donne-le-moi, va-t'en), and so is an elided word
# before an apostrophe; the compounds in _FRENCH_WHOLE are single words that only look like these.
_NO_MORE = rf"(?!{_LETTER}|{_JOINER}{_LETTER}|[\p{{GCB=Extend}}\p{{GCB=ZWJ}}])"  # the word, and its last grapheme, end
_FRENCH_WHOLE = (
    rf"(?:aujourd{_APOSTROPHE}hui|presqu{_APOSTROPHE}[iî]les?|quelqu{_APOSTROPHE}une?|entr{_APOSTROPHE}{_LETTER}+"
    rf"|prud{_APOSTROPHE}hom{_LETTER}+|c{_APOSTROPHE}est-à-dire|qu{_APOSTROPHE}en-dira-t-on"
    rf"|rendez-vous|garde-à-vous|chez-(?:moi|toi|soi|lui|elles?|eux|nous|vous)){_NO_MORE}"
)
_ELIDED = rf"(?:[ldjmtscnç]|(?:jus|lors|puis|quoi)?qu){_APOSTROPHE}"
_PRONOUN = r"(?:t-(?:ils?|elles?|on)|ils?|elles?|on|je|tu|nous|vous|ce|les?|la|lui|leur|moi|toi|en|y)"
_TO_IT = rf"{_HYPHEN}[mtl]{_APOSTROPHE}(?=(?:en|y){_NO_MORE})"  # donne-m' en
_CLITIC = rf"(?:{_TO_IT}|{_HYPHEN}{_PRONOUN}(?=(?:{_HYPHEN}{_PRONOUN}){{0,2}}{_NO_MORE}|{_TO_IT}))"
_FRENCH_WORD = rf"{_LETTER}+(?:(?!{_CLITIC})(?:{_JOINER}|{_DECIMAL}){_LETTER}+)*"


_PLAIN_WORD = r"[A-Za-z]+(?:['-][A-Za-z]+)*"  # as it is in every language but French
_PLAIN = re.compile(rf"(?:{_PLAIN_WORD}[,.!?]?(?:[ ]|\Z))*")
_IN_PLAIN = re.compile(rf"{_PLAIN_WORD}|[,.!?]")
_FRENCH = regex.compile(r"fra?(?:[-_]|$)")  # codes: fr, fr-CA, fr_XX, fra_Latn


@cache
def _pattern(language: str) -> regex.Pattern:
    if _FRENCH.match(language):
        clitic = rf"(?<=[\p{{L}}\p{{M}}]){_CLITIC}"
        parts = [_FRENCH_WHOLE, _ABBREVIATION, _ELIDED, clitic, _FRENCH_WORD, _OTHER]
    else:
        parts = [_ABBREVIATION, _WORD, _OTHER]
    return regex.compile("|".join(parts), regex.V1 | regex.IGNORECASE)


def split_words(text: str, *, language: str) -> list[Word]:
    """Split a text into words, left to right; joined with the white space between them they give the text again.

    In every language a run of letters and digits is one word, with apostrophes, hyphens and middle dots inside it:
    `didn't`, `cat's`, `well-known`, `3,5`; but `1 000` is two.  Every punctuation mark is a word (but `...` is one).
    So is every emoji, including flags and skin tones, and every character of a script without spaces (Chinese,
    Japanese, Thai).  Devanagari vowel signs and viramas stay with their letters; a danda is punctuation.

    French only: elided words end at their apostrophe (`l'` `arbre`, `jusqu'` `ici`, but `aujourd'hui`).  A clitic after
    its verb is a word that begins with the hyphen (`a` `-t-il`, `est` `-ce`).
    """
    pattern = _pattern(language) if _FRENCH.match(language) or not _PLAIN.fullmatch(text) else _IN_PLAIN  # as fast
    return [Word(found[0], found.start(), found.end()) for found in pattern.finditer(text)]


@dataclass(frozen=True)
class TokenSpan:
    """The span of a token (subword) in a text.

    - `text`: `text[start:end]`, or the name in the vocabulary.  Special tokens, tokens that share a character
      (`<0xE2>`), and tokens of only spaces have their names.
    - `word`: an index in `split_words`.  It is None for special tokens and for tokens not visible in the text, such as
      a space at its end.
    - `start`, `end`: in characters.  Special tokens, invisible tokens and spaces have empty spans.
    - `special`: whether it is a special token.
    """

    text: str = field(metadata={"description": "its text, or its name in the vocabulary"})
    word: int | None = field(metadata={"description": "index of its word; null: outside words"})
    start: int = field(metadata={"description": "start in the text, in characters"})
    end: int = field(metadata={"description": "end in the text, in characters"})
    special: bool = field(metadata={"description": "whether it is a special token"})


def special_token_ids(tokenizer: "PreTrainedTokenizerBase") -> set[int]:
    """The ids of the special tokens, language tags among them."""
    added = {id for id, token in tokenizer.added_tokens_decoder.items() if token.special}
    return added | set(tokenizer.all_special_ids)


def token_spans(
    tokenizer: "PreTrainedTokenizerBase", ids: Sequence[int], text: str, *, language: str
) -> list[TokenSpan]:
    """Map the tokens `ids` to the words and characters of `text`, for any fast transformers tokenizer.

    If `ids` are the tokenizer's encoding of `text`, its own offsets are used.  Otherwise growing prefixes are decoded
    and aligned with the text, because a model may segment a text differently, and a translation may have been cleaned
    up.

    Tokens that spell one character in bytes all have the span of this character.  White space at the edges belongs to
    no span.  A token of only spaces belongs to the word after it.  A token across several words belongs to the first.
    """
    readable = token_names(tokenizer, ids)
    special = special_token_ids(tokenizer) - {tokenizer.unk_token_id}  # <unk> represents characters
    plain = [int(i) for i in ids if int(i) not in special]
    shown = {int(i) for i, name in zip(ids, readable, strict=True) if _shows(name)}
    silent = {i for i in set(plain) - shown if not _decode(tokenizer, [i]).strip()}
    spans = _own_offsets(tokenizer, plain, text)
    if spans is None:
        spans = _aligned(tokenizer, plain, text)
    else:  # a space that the tokenizer itself prepended has the offset of the first character
        spans = [(start, start if i in silent else end) for i, (start, end) in zip(plain, spans, strict=True)]
    # A space has a span of spaces or an empty one; other tokens have an empty one if the text does not show them.
    covered = [text[start:end] for start, end in spans]
    blank = [i in silent if not cover else cover.isspace() for i, cover in zip(plain, covered, strict=True)]
    lead = len(text)
    for k in reversed(range(len(plain))):
        spans[k] = (lead, lead) if blank[k] else _trim(text, *spans[k])
        lead = spans[k][0]

    words = split_words(text, language=language)
    starts = [word.start for word in words]
    tokens: list[TokenSpan] = []
    at = k = 0
    for i, name in zip(ids, readable, strict=True):
        if int(i) in special:
            tokens.append(TokenSpan(name, None, at, at, special=True))
            continue
        start, end = spans[k]
        alone = at <= start < end and all(end <= follower for follower, _ in spans[k + 1 : k + 2])
        word = bisect_right(starts, start) - 1
        inside = word >= 0 and start < words[word].end and (start < end or blank[k])
        shown_as = text[start:end] if alone else name
        tokens.append(TokenSpan(shown_as, word if inside else None, start, end, special=False))
        at, k = end, k + 1
    return tokens


def token_names(tokenizer: "PreTrainedTokenizerBase", ids: Sequence[int]) -> list[str]:
    """The names of tokens in the vocabulary, such as `▁été`, and `<0xE2>` for a byte of an incomplete character.

    If the names are codes for bytes, they are decoded.
    """
    names, known = vocabulary_names(tokenizer, ids), _byte_names(tokenizer)
    return names if not known else [name if (spelt := _bytes(known, name)) is None else _spelt(spelt) for name in names]


def vocabulary_names(tokenizer: "PreTrainedTokenizerBase", ids: Sequence[int]) -> list[str]:
    names = tokenizer.convert_ids_to_tokens([int(i) for i in ids])
    return [f"<{int(i)}>" if name is None else str(name) for i, name in zip(ids, names, strict=True)]  # padded weights


def _spelt(spelt: bytes) -> str:
    text = spelt.decode("utf-8", errors="surrogateescape").replace(" ", "▁")
    return "".join(f"<0x{ord(c) - 0xDC00:02X}>" if "\udc80" <= c <= "\udcff" else c for c in text)


def _bytes(known: dict[str, int], name: str) -> bytes | None:
    """The bytes of a token; None for a token with a character that stands for no byte, such as a special token."""
    return bytes(known[c] for c in name) if all(c in known for c in name) else None


def _byte_names(tokenizer: "PreTrainedTokenizerBase") -> dict[str, int]:
    """The byte of each character in the names of a vocabulary (ByT5, GPT-2, BART); empty if characters stand for
    themselves.
    """
    if type(tokenizer).__name__ == "ByT5Tokenizer":
        return {chr(byte): byte for byte in range(256)}
    spelt = tokenizer.is_fast and "ByteLevel" in str(getattr(tokenizer.backend_tokenizer, "decoder", None))
    return _byte_level() if spelt else {}


@cache
def _byte_level() -> dict[str, int]:
    """GPT-2's: printable bytes stand for themselves, the others are the characters from U+0100 on."""
    own = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [byte for byte in range(256) if byte not in own]
    return {chr(byte): byte for byte in own} | {chr(0x100 + i): byte for i, byte in enumerate(others)}


def _shows(name: str) -> bool:
    """Whether a token is certainly not white space, by its name: much faster than decoding it."""
    if name.startswith("<0x"):
        return name[3] in "89ABCDEF"  # of a character beyond ASCII
    return any(c.isascii() and c.isalnum() for c in name)


def _decode(tokenizer: "PreTrainedTokenizerBase", ids: list[int]) -> str:
    return str(tokenizer.decode(ids, skip_special_tokens=False, clean_up_tokenization_spaces=False))


def _trim(text: str, start: int, end: int) -> tuple[int, int]:
    inner = text[start:end]
    start += len(inner) - len(inner.lstrip())
    return start, max(start, end - len(inner) + len(inner.rstrip()))


def _own_offsets(tokenizer: "PreTrainedTokenizerBase", ids: list[int], text: str) -> list[tuple[int, int]] | None:
    """The tokenizer's offsets, if its encoding of `text` is exactly these ids."""
    if not tokenizer.is_fast:
        return _byte_offsets(tokenizer, ids, text)
    encoded = tokenizer(
        text, add_special_tokens=False, split_special_tokens=True, return_offsets_mapping=True, verbose=False
    )
    return [(start, end) for start, end in encoded["offset_mapping"]] if encoded["input_ids"] == ids else None


def _byte_offsets(tokenizer: "PreTrainedTokenizerBase", ids: list[int], text: str) -> list[tuple[int, int]] | None:
    """The characters whose bytes each token holds, if all tokens are bytes and spell `text`."""
    known = _byte_names(tokenizer)
    parts = [_bytes(known, name) or b"" for name in vocabulary_names(tokenizer, ids)]
    if not all(parts) or b"".join(parts) != text.encode():
        return None
    of_byte = [at for at, c in enumerate(text) for _ in c.encode()]
    ends = list(accumulate(map(len, parts)))
    return [(of_byte[start], of_byte[end - 1] + 1) for start, end in zip([0, *ends], ends, strict=False)]


def _aligned(tokenizer: "PreTrainedTokenizerBase", ids: list[int], text: str) -> list[tuple[int, int]]:
    """Spans from decoding growing prefixes: a token represents what it adds to the text."""
    whole = _decode(tokenizer, ids)
    place: list[int | None] = [None] * len(whole)  # the position of a decoded character in `text`
    for block in SequenceMatcher(None, whole, text, autojunk=False).get_matching_blocks():
        place[block.a : block.a + block.size] = range(block.b, block.b + block.size)
    spans = []
    done = at = 0
    for k in range(1, len(ids) + 1):
        shown = _decode(tokenizer, ids[:k])
        now = max(done, len(commonprefix([shown, whole])))
        begun = len(shown) > now  # part of the next character, which later tokens complete
        found = [p for p in place[done : now + begun] if p is not None]
        spans.append((found[0], found[-1] + 1) if found else (at, at))
        done, at = now, spans[-1][1]
    return spans


def refuse_surrogates(text: str) -> None:
    """Raises UserError for a lone surrogate, which is half a character."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        broken = f"U+{ord(text[error.start]):04X} at character {error.start}"
        raise UserError(f"the text contains a lone surrogate ({broken}): decode it as UTF-8 or remove it") from None


def without(text: str, word: Word) -> str:
    """The text without a word, and without a space that would be doubled or precede a punctuation mark."""
    before, after = text[: word.start], text[word.end :]
    rest = after.lstrip()
    if before.strip() and (not rest or (_category(rest) in CLOSING and _category(word.text)[0] != "P")):
        return before.rstrip() + after
    return before + (rest if not before or before[-1].isspace() else after)


def _category(text: str) -> str:
    return unicodedata.category(text[0])
