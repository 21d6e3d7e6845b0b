"""A Unigram vocabulary (Kudo 2018) that writes a capital letter as a mark and the small one, with byte fallback.

So a word has the same tokens within a sentence, at its beginning and in a title, and most of its forms share one:

    Umbrellas fly.   ->   `⇧` ` umbrella` `s` ` fly` `.`       the mark stands before the space
    NATO, McCoy      ->   ` NATO` `,` `⇧` ` mc` `⇧` `coy`      capitals side by side stay as they are

A space belongs to what follows it; the token of a space alone is for one before another space and at the end.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from unicodedata import category

from tokenizers import Regex, Tokenizer, decoders, normalizers, pre_tokenizers
from tokenizers.models import Unigram

from .layout import UNKNOWN
from .unigram_learning import learn
from .words import refuse_surrogates

MARK = "⇧"
ESCAPES = (("\ue000", "\ue0001"), (MARK, "\ue0000"))  # a mark in a text, and what it is written with
_SPACE = "[ \u00a0\u202f]?"
_LAST_RESORT = -99.0  # score of a lone space: less than that of any token with a space in it
_JOINED = 0xF0000  # while the tokens are learnt, a space and the character after it are one private character
_DECIMALS = 6  # of a score


def unigram(texts: Iterable[str], *, fixed: Sequence[str], room: int) -> Tokenizer:
    """The tokens `fixed`, and at most `room` learnt ones."""
    words = _words(texts)
    capitals = [c for c in dict.fromkeys(map(str.upper, _frequent(words))) if _has_small(c)]
    backend = Tokenizer(Unigram())
    backend.normalizer = normalizers.Sequence([normalizers.Prepend(" "), *_marking(capitals)])
    normal = Counter[str]()
    for word, count in words.items():
        normal[backend.normalizer.normalize_str(word)] += count
    known = _frequent(normal)[: room // 2]  # characters may take half of the room; the others are spelled in bytes
    backend.pre_tokenizer = pre_tokenizers.Split(Regex(_cuts(known)), behavior="isolated")
    backend.decoder = decoders.Sequence(
        [decoders.ByteFallback(), decoders.Fuse(), *_unmarking(capitals), decoders.Strip(" ", 1, 0)]
    )
    pieces = Counter[str]()
    for word, count in normal.items():
        for piece, _ in backend.pre_tokenizer.pre_tokenize_str(word):
            pieces[piece] += count
    scores = dict.fromkeys(fixed, 0.0) | _learn(pieces, known, room=room - 1) | {" ": _LAST_RESORT}
    backend.model = Unigram([*scores.items()], unk_id=fixed.index(UNKNOWN), byte_fallback=True)
    return backend


def _words(texts: Iterable[str]) -> Counter[str]:
    """How often the texts have each word, which the spaces around it delimit."""
    words = Counter[str]()
    for text in texts:
        refuse_surrogates(text)
        words.update(text.split(" "))
    return words


def _frequent(words: Counter[str]) -> list[str]:
    """The characters of words that occur more than once, the most frequent first."""
    counts = Counter[str]()
    for word, count in words.items():
        for character in word:
            counts[character] += count
    return sorted((c for c, n in counts.items() if n > 1), key=lambda c: (-counts[c], c))


def _has_small(character: str) -> bool:
    """Whether it is a capital letter whose small one leads back to it."""
    small = character.lower()
    return len(small) == len(character) == 1 and category(character) == "Lu" and small.upper() == character


def _marking(capitals: Sequence[str]) -> Iterator[normalizers.Replace]:
    """No pattern matches next to another capital, so that none depends on what the ones before it replaced."""
    yield from (normalizers.Replace(*escape) for escape in ESCAPES)
    for capital in capitals:
        yield normalizers.Replace(Regex(rf" {capital}(?!\p{{Lu}})"), f"{MARK} {capital.lower()}")
        yield normalizers.Replace(Regex(rf"(?<!\p{{Lu}}){capital}(?!\p{{Lu}})"), f"{MARK}{capital.lower()}")


def _unmarking(capitals: Sequence[str]) -> Iterator[decoders.Replace]:
    """The inverse; a mark before anything else, which a model may write, is left out."""
    for capital in capitals:
        yield decoders.Replace(f"{MARK} {capital.lower()}", f" {capital}")
        yield decoders.Replace(f"{MARK}{capital.lower()}", capital)
    yield decoders.Replace(MARK, "")
    yield from (decoders.Replace(written, character) for character, written in reversed(ESCAPES))


def _cuts(known: Sequence[str]) -> str:
    """Token boundaries: a piece is a word of known letters, or one character, with the space before it."""
    letters = "".join(c for c in known if category(c)[0] in "LM" or c in "\u200c\u200d")
    word = f"[{letters or 'a'}]+"
    return "|".join(
        [
            MARK,
            rf"{_SPACE}(?:[ldjmtscnç]|(?:jus|lors|puis|quoi)?qu)['’](?={word})",  # l', qu'
            rf"{_SPACE}{word}",
            rf"(?<=[{letters or 'a'}])['’]{word}",  # 's, 'hui
            rf"{_SPACE}\S",  # digits one by one, so that any number can be copied
            r"\s",
        ]
    )


def _learn(pieces: Counter[str], known: Sequence[str], *, room: int) -> dict[str, float]:
    """At most `room` tokens and their scores, sorted."""
    joined = {f" {c}": chr(_JOINED + ord(c)) for c in known if c != " " and ord(c) < _JOINED}
    split = {character: pair for pair, character in joined.items()}
    letters = {*known} - {" "}
    units = Counter[str]()
    for piece, count in pieces.items():
        if piece != " " and letters.issuperset(piece.removeprefix(" ")):
            units[joined.get(piece[:2], piece[:2]) + piece[2:]] += count
    used = {unit[0] for unit in units}.intersection(split)
    learnt = learn({unit: n for unit, n in units.items() if " " not in unit}, sorted(letters | used), room=room)
    scores = {"".join(split.get(c, c) for c in token): score for token, score in learnt.items()}
    return {token: round(scores[token], _DECIMALS) for token in sorted(scores)}
