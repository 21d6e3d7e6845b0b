"""The parts of a text that a model does not read, found by their shape.

Parts that are not language (`SHAPES`) stay exactly the same in a translation: addresses, files, placeholders, code,
quantities with a unit, and words with letters that the model does not know.  Marks bypass the model if they are unknown
or wrap a word: they are left out of its input and placed around the same words again.  So are emoji, tags, and white
space other than a single space.  The method is in `model_input.py`.

To protect anything else, give a pattern (`keeping`), or replace it by a private-use character.  The terms of a glossary
(`glossary.py`) are parts too: the model may read them, but their translation is given.
"""

from __future__ import annotations

import math
import re
import time
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Literal
from unicodedata import category, normalize

import regex

from seq2see.errors import UserError
from ..tokenizer.language_codes import iso
from .capitals import in_capitals
from .glossary import Glossary
from .kept_words import KeptWords
from .plain import RANGE, SPACE, counterpart, double_quoted, plain

Span = tuple[int, int]
Kind = Literal["name", "number", "mark", "space", "aside", "sign", "term", "quote"]

LONGEST_PATTERN = 1_000  # characters of a caller's pattern
MOST_REPEATS = 1_000  # that its numbers of repetitions multiply to
PATTERN_SECONDS = 0.5  # for a caller's pattern in one text

SHORT = 1_000  # characters
EMOJI = r"(?:(?=[\p{Extended_Pictographic}\p{RI}])\X|[0-9#*]\ufe0f?\u20e3)+"
_ADDRESS = r"(?:\([^\s()<>]*\)|[^\s()<>\"“”«»])*(?:\([^\s()<>]*\)|[^\s()<>\"“”«».,;:!?'’…\]}。，！？।])"
_STEP = r"/[\w.@%+~-]*[\w@%+~-]"
_EXTENSION = r"(?-i:[a-z0-9]{1,5}|[A-Z0-9]{1,5})(?!\w)"
_NUMBER = r"\d+(?:[.,/]\d+|[\x20\u00a0\u202f]\d{3}(?!\d))*"
_ODD_GAP = r"(?:[\x20\u00a0\u202f\u2009]|&(?:nbsp|thinsp|\#160);)"
_UNIT = r"""(?:(?:da|[µμnmcdhkMGT])?(?:[mglLWVΩ]|Pa|Hz|Wh|Ah|bar|mol|cal|eV)|[µμnm]s|[kMGT]i?(?:[bBNJ]|bit|bps)|[ht]
    |(?<=\s)s|min|ha|ft|lbs?|oz|yd|mi|gal|mph|kph|rpm|fps|[dp]pi|px|ppm|psi|dB|atm|[°º][CFK]|%%
    |&(?:euro|pound|yen|cent);)[²³]?"""
_HOUR = (r"(?<![\w.,:])(?P<hour>\d{1,2})(?:[:.](?P<minute>\d\d))?[\x20\u00a0\u202f]?"
         r"(?P<half>[ap])(?:m|\.\x20?m(?:\.(?!\s+(?-i:\p{Lu})|\W*\Z))?)(?!\w)")
_FACE = rf"{EMOJI}|(?<!\w)(?:[:;][-']?[)(DP*|/]+|<3(?!>))(?!\w)"
# Each alternative can begin only where no other match of it can: time is linear in the text.
SHAPES = (
    rf"(?P<mark>{_FACE})",  # 😀 :-)
    r"<(?P<coded>kbd|code|samp|tt|var)>[^<>\n]*</(?P=coded)>",
    r"(?P<tag></?[a-z0-9][^<>\n]*>|<[%?!][^<>\n]*>|&lt;/?[a-z0-9][^<>&\n]*&gt;|\{%[^{}\n]*%\}|\{/\w+\}|\[/[\w-]+\]"
    r"|\[[a-z](?=[^\[\]\n=]*=(?:[\"'“”]|&quot;))[^\[\]\n]*\]|\[[a-z]\w*+(?:\x20\w+)?=[^\[\]\n\s][^\[\]\n]*\]"
    r"|\{(?P<name>\w+)\}(?=(?-i:\p{Lu})|[^{}\n]*\{/(?P=name)\})|\[(?P<name>\w+)\](?=[^\[\]\n]*\[/(?P=name)\])"
    r"|(?<![:\\])(?-i:(?:\\[nrt])++(?!\w*+(?:\\[^nrt]|[._]\w)|[a-z]++\{))|(?<![\w&])&(?=\p{L}+(?![\w;&]))|(?<!\w)_(?=\p{L}++(?!\w)(?![^\n_]*_)))",
    # <b> {% x %} [b] [x id="1"] [size=2] \n &Open
    r"(?P<entity>&(?:[a-z][a-z0-9]{1,30}|\#\d{1,7}|\#x[0-9a-f]{1,6});)",  # &amp;
    r"`[^`\n]+`",  # code
    rf"\{{\{{[^{{}}\n]*\}}\}}(?:{_STEP})*",  # {{ x }}
    r"\{\s*\w+\s*,(?:[^{}\n]++|\{(?:[^{}\n]++|\{[^{}\n]*+\})*+\})*+\}",
    # {n, number} {n, plural, one {{m} x} other {y}}
    rf"\$\{{[^{{}}\n]*\}}(?:{_STEP})* | [%\#@&]?\{{[^{{}}\s]*\}}",  # ${x} {x} %{x} #{x}
    r"\$(?:\([\w.-]+|t\([^()\n]+)\)",  # $(x) $t(x, y)
    r"(?<!\w)@(?:\.[a-z]+)?:(?:\{[^{}\n]*\}|\([\w.]+\)) | (?<!\w)@\.[a-z]+:[\w.]*\w",  # @:{'x.y'} @:(x) @.lower:x
    r"\[\[[^\[\]\n]+\]\] | \[(?=[^\[\]\s]*[\p{L}_])(?=[^\[\]\s]*[\d_])[^\[\]\s]+\]",  # [[x]] [X9X]
    r"(?<![\w%$@\#])(?P<fence>%%?|\$|@@?|\#\#)\w+(?P=fence)(?![\w%$@\#])(?:[/\\][\w.-]*\w)*",  # %name% $VAR$ @@x@@
    r"\*\|[\w:.=-]+\|\*",  # *|NAME|*
    r"(?<![\w+])(?-i:[A-Z]\w*(?:\+[A-Z0-9]\w*)+)(?![\w+])",  # Ctrl+O
    r"(?<![\w&])\#\w+",  # #travel #ff0000 #42
    rf"(?<![\w$])\$[a-z_][\w.]*\b(?:{_STEP})* | (?<![\w$])\$\$(?:\d+(?:[.,]\d+)*)?(?![\w$])",  # $name $HOME/music $$5
    r"(?<![\w.])[a-z_][\w.]*+\(\)",  # obj.name()
    r"(?<!\w)@:?[\w-]++(?:\.(?-i:[a-z0-9_])[\w-]*+)*(?:/[\w.-]+)?\b",  # @user @john.doe
    r"(?<![\w:.)\]]):[a-z_][\w-]*\b:?",  # :name
    r"(?<!\w)__(?!_)\w+?__(?!\w) | (?<![\w-])(?=[a-z0-9-]+_)[\w-]*[a-z0-9]\b",  # __count__ snake_case
    r"(?<![\w%])%(?:\(\w+\)|<\w+>|\d+\$)?[-+\#0]*\d*(?:\.\d+)?[hlqjzt]*[diouxXeEfFgGcrsan@](?:%%)?(?!\w)"
    r"|(?<![\w%])%L?\d{1,2}(?!\w)",  # %s %d%% %n %1
    rf"(?<![\w+.-])(?:[a-z][a-z0-9+.-]*+://|www\.|(?:[a-z0-9-]++\.){{1,9}}[a-z]{{2,}}+/){_ADDRESS}",
    r"(?<![\w.%+-])[\w.%+-]++@[\w-]++(?:\.[\w-]++)+",
    r"(?<![\w+.-])(?:[a-z0-9-]++\.){1,9}(?:com|org|net|edu|gov|io|dev)\b(?::\d+\b)?",
    r"(?<![\w+.'’-])(?=[\w.-]*[^\W_]{2})(?-i:(?:[\w-]++\.){1,9}(?:[a-z][a-z0-9]{1,9}|[A-Z][A-Z0-9]{1,9}))(?![\w-]|\.\w)"
    r"(?::\d+\b)?",  # readme.txt example.de
    r"(?<![\w*/])(?:\*\*/)?\*\.[a-z]\w*\b | (?<!\w)(?-i:[A-Z]{2,})(?:-\d+)++(?!\w)",  # *.txt ISO-8859-1
    r"(?<![^\s(\[“\"])\.(?-i:[a-z][a-z0-9_-]+)\b | (?<![\w.:-])(?-i:[a-z][a-z0-9-]*+):\d{2,5}\b",  # .env localhost:8000
    r"(?<![\w.])(?:\d{1,3}(?:\.\d{1,3}){3}(?::\d+)?|v\d+(?:\.\d+)+"
    r"|v?\d+(?:\.\d+){2,}[-+][a-z][\w-]*+(?:\.\w++)*|(?!\d{1,3}(?:\.\d{3})++(?![\w.]*\d))\d+(?:\.\d+){2,})(?!\w|\.\d)",
    # 192.168.0.1 v1.2 2.10.3-rc1 3.11.4, but not 1.250.000
    r"(?<!\w)\p{L}{1,3}(?:&\p{L}{1,3})+(?![\w;])",  # AT&T
    r"(?<![\w/])(?:[a-z]:[\\/]|\\\\)[^\s\"“”«»<>|?*]*[^\s\"“”«»<>|?*.,;:!)]",
    rf"(?<![\w/.<])(?:~|\.{{1,2}})(?:{_STEP})++/?",
    rf"(?<![\w/.<])(?:{_STEP}(?:{_STEP})++/?|{_STEP}/|/[\w@%+~-]+\.{_EXTENSION})",
    rf"(?<![\w/.-])(?:[\w.-]++/){{1,99}}[\w-]++\.{_EXTENSION}",
    r"(?<!\w)[a-z]\w{0,5}(?:\+\+|\#)(?!\w)",  # C++
    rf"(?P<number>(?<![\w.,'’])\d+['’′]\d+(?:[\"”″]|'')|(?<![\w.,])[-−+]?{_NUMBER}(?:\x20?[-–×x]\x20?{_NUMBER}){{0,3}}{_ODD_GAP}?"
    rf"(?-i:{_UNIT}(?:/{_UNIT})?)(?![\w'’-]))",  # 5'6" 30 cm
    rf"(?P<number>{_HOUR})",  # 9 a.m.
    rf"(?P<number>(?<![\w.,])[-−+]?\d{{1,3}}(?:[\x20\u00a0\u202f\u2009]\d{{3}})+(?:{_ODD_GAP}?\p{{Sc}}(?!\w))?(?![\w.,]*\d))",
    # 1 250 €
    r"(?<![^\s(“\"])(?-i:--[a-z]+(?:-[a-z]+)*(?:=[\w./-]*\w)?|-[a-z])(?![\w-])",  # --force -v
    r"\p{Co}",
)
_PROTECTED = regex.compile("|".join(SHAPES), regex.IGNORECASE | regex.VERBOSE)
# A quick check: a text without any of these has none of the shapes.
_SIGN = re.compile(r"[+|@{%/\\$#_<&`\[©®\u203c-\u3299\ue000-\uf8ff\U0001f000-\U0010ffff]"
                   r"|\.\w|www|\(\)|[A-Z]-\d|[:;][^\s\"”]|(?<!\w)-|\d[^\W\d]"
                   r"|\d[ \u00a0\u202f\u2009](?:[^\W\d]|\d{3}|[°º])|\d[°º]")
_SMILES = regex.compile(_FACE, regex.IGNORECASE)
_LETTERS = r"[\p{L}\p{M}\p{Nd}\p{Nl}]+"
_WORD = regex.compile(rf"{_LETTERS}(?:[-'’‑·]{_LETTERS})*")
_LAST_WORD = regex.compile(rf"(?r){_LETTERS}\s*")  # read backwards
_WITHIN = regex.compile(r"[^\w.!?\n]{1,3}")  # between foreign words
_WRAPPED = regex.compile(  # emphasis; quotation marks around a word or a phrase; brackets
    r"""(?<![\w*])(?P<open>\*{1,3})(?=[^\s*])(?P<inside>[^*\n]*[^\s*])(?P<close>\*{1,3})(?![\w*])
    |(?<![\w~])(?P<open>~{1,2})(?=[^\s~])(?P<inside>[^~\n]*[^\s~])(?P<close>~{1,2})(?![\w~])
    |(?<!\w)(?P<open>_{1,3})(?=[^\s_])(?P<inside>[^_\n]*[^\s_])(?P<close>_{1,3})(?!\w)
    |(?<!\w)(?P<open>["“„”«‹]\x20?)(?P<inside>\w[^"“„”«»‹›\n.!?,;:]{0,60})(?P<close>\x20?["“”»›])(?!\w)
    |(?<!\w)(?P<open>['‘‚])(?P<inside>\w[\w-]*\w)(?P<close>['‘’])(?!\w)
    |(?P<open>[(\[{]{1,3}\x20?)(?P<inside>[^()\[\]{}\n]*?)(?P<close>\x20?[)\]}]{1,3}(?P<link>(?<=\S\])\([^()\s]++\))?)
    """, regex.VERBOSE)  # also [text](address)
_MAY_WRAP = re.compile(r"""(?<!\w)["“„”«‹'‘‚_]|[*~(\[{]|[^\W\d]/[^\W\d]""")
_LAYOUT = regex.compile(rf"(?<=\S)(?:{SPACE}{{2,}}|(?!\ ){SPACE})(?=\S)", regex.V1)
_BETWEEN = regex.compile(RANGE, regex.V1)
_HAS_LAYOUT = re.compile(r"\s\s|[^\S ]|[&+]")  # or a sign for *and*
_TYPOGRAPHIC = regex.compile(
    r"(?<=[«\d\p{Sc}])[\u00a0\u202f\u2009](?=[\d\p{Sc}]|(?<=«.))|[\u00a0\u202f\u2009](?=[»?!;:%])")
_REPEATS = re.compile(r"(?<=[{,])\d+(?=\})")
# Recursion, and matching with errors.
_UNBOUNDED = re.compile(r"\(\?(?:R|&|P>|[+-]?\d)|\{[^{}]*<|\{[deis](?:,[deis])*\}")
_MAY_END = re.compile(r"[.!?…:;|]")  # in a term: no end of a sentence
_ENTITY = re.compile(r"&[#\w]{1,31};")
_COUNT = re.compile(r"\{#\}|[\W_]*(?:n|nb|num|number|count|total|amount|quantity|qty)[\W_]*"
                    r"|%(?:\d+\$)?[\d.]*[diuf](?:%%)?|%L?\d+", re.IGNORECASE)
_TAG = re.compile(r"(?:[<{\[]|&lt;)(?P<slash>/?)(?P<name>[a-z0-9]+)", re.IGNORECASE)
_BRACKETS = frozenset("([{")
_QUOTES = frozenset("\"“„«‹'‘‚")
_AT_WORDS = frozenset("™®©℠&_")  # marks that belong to the word that they touch
_AND = {"de": "und", "en": "and", "es": "y", "fr": "et"}
_SIGN_BETWEEN = regex.compile(r"\x20?[-+x×*/=|]\x20?")  # {width}x{height}
_SIGN_BEFORE, _SIGN_AFTER = regex.compile(r"[\p{Sc}+±]|(?<!\w)[x×]"), regex.compile(r"\p{Sc}|[+x×](?!\w)")
_SIGN_FOR_AND = regex.compile(r"(?<=\p{L}\ )(?:&(?:amp;)?|\+)(?=\ \p{L})", regex.IGNORECASE)
_MONEY = regex.compile(rf"[\p{{Sc}}\p{{Sm}}§]\x20?{_NUMBER}|{_NUMBER}\x20?\p{{Sc}}", regex.VERBOSE)  # also ≈ 20, §3
_OF_TWELVE = regex.compile(rf"(?<!\d\s?(?:-|–|to|and|or)\s?){_HOUR}", regex.IGNORECASE)  # not of 5 to 6 pm
_APOSTROPHES = re.compile("['’‘]")
_IN_FULL = {"tis": "it is", "twas": "it was", "twill": "it will", "twould": "it would", "twere": "it were",
            "em": "them", "cause": "because", "til": "until", "tisn't": "it isn't", "twasn't": "it wasn't"}
_ELIDED = regex.compile(  # no word that opens a quotation: 'cause and effect'
    r"(?<![\p{L}\p{N}])['’‘](?P<word>\L<words>)(?![\p{L}\p{N}'’])(?![^'’\n]*[\p{L}.!?]['’](?!\p{L}))", regex.IGNORECASE,
    words=list(_IN_FULL))
_THINGS = r"(?:\ \p{L}{2,})?\ (?:\p{L}{2,}s|children|people|(?:wo)?men|feet|mice)(?!\w)"
_COUNTED = regex.compile(
    rf"(?<count>\ufdd0+){_THINGS}(?:(?:,|\ (?:and|or|&|et|ou|y|o))+\ (?<count>\ufdd0+){_THINGS})+"
    rf"|(?<=\b(?:have|has|had|are|were|for|in|of|after|with|than|every|last|next|about|bought|found|took)\ )"
    rf"(?<count>\ufdd0+){_THINGS}")
_PAIR = regex.compile(  # work/life, but not his/her
    r"(?<![\w/])(?=\p{L}{4}|\p{L}{3}/\p{L}{4})\p{L}{3,}+(?P<aside>/(?P<inside>\p{L}{3,}+))(?![\w/])")


@dataclass(frozen=True)
class ProtectedPart:
    """A part of a text that the model does not read.

    - `name` or `number`: may be read as another one.
    - `mark`: left out.  `inside` is the span after it (`opens`) or before it; None for a mark that stands alone.
    - `space`: read as a single space.
    - `aside`: several words in brackets (at `inside`), translated separately.
    - `sign`: read as `written`, and not restored: a sign for *and*, one of two single quotation marks, *'tis*,
      *9 p.m.* in English text.
    - `term`: a term of the glossary; its translation is `written`.
    - `quote`: words in quotation marks (at `inside`), translated separately and read as a name.
    """

    span: Span
    kind: Kind
    inside: Span | None = None
    opens: bool = False
    written: str = ""

    @property
    def start(self) -> int:
        return self.span[0]

    @property
    def end(self) -> int:
        return self.span[1]

    @property
    def is_second(self) -> bool:
        """Whether it is the second of two words with a slash between them."""
        return self.kind == "aside" and self.inside is not None and self.inside[1] == self.end

    @property
    def is_beside(self) -> bool:
        """Whether it is a mark that touches its words."""
        return self.kind == "mark" and self.inside is not None and (self.opens or self.inside[1] == self.start)


def _once(work: Callable[[Protection, str], Sequence[ProtectedPart]]) -> Callable[[Protection, str],
                                                                                  Sequence[ProtectedPart]]:
    """Find the parts of a text once, though they are needed when it is cut, read and put together: the results for the
    last texts are cached, and of long texts, which may have many parts, only a few.
    """
    short, long = (lru_cache(count)(lambda protection, text: tuple(work(protection, text))) for count in (1_024, 16))
    return lambda protection, text: (short if len(text) <= SHORT else long)(protection, text)


@dataclass(frozen=True)
class Protection:
    """The rules for what a model does not read: certain shapes, the matches of `keep`, and unknown characters.

    - `known`: the characters of the training text (see `plain.characters`); None: all.
    - `asides`: whether text in brackets is translated separately.
    - `language`: for the sign between words (`&`), which is read as *and* in this language.
    - `glossary`, `target`: terms and their translations in the target language.
    """

    known: frozenset[str] | None = None
    keep: KeptWords | None = None
    asides: bool = True
    language: str = ""
    glossary: Glossary | None = None
    target: str = ""

    @property
    def conjunction(self) -> str:
        """The word for a sign between words; empty for an unknown language."""
        return _AND.get(iso(self.language), "")

    def terms(self, text: str) -> Sequence[ProtectedPart]:
        """The terms of the glossary in order, except inside shapes and matches of `keep`."""
        return self._terms(text) if self.glossary else ()

    @_once
    def _terms(self, text: str) -> Sequence[ProtectedPart]:
        bare = replace(self, glossary=None)
        found = self.glossary.found(text, capitals=in_capitals(bare.masked(text))) if self.glossary else []
        shapes = bare.shapes(text) if found else ()
        kept = set(self.keep.spans(text)) if self.keep else set()
        barred = [shape for shape in shapes if shape.span in kept or not any(
            start <= shape.start and shape.end <= end for (start, end), _ in found)]
        return without(barred, (ProtectedPart(span, "term", written=written) for span, written in found))

    def shapes(self, text: str) -> Sequence[ProtectedPart]:
        """The parts that are not language, in order, except inside a term of the glossary (`C++`)."""
        return without(self.terms(text), self._shapes(text)) if self.glossary else self._shapes(text)

    @_once
    def _shapes(self, text: str) -> Sequence[ProtectedPart]:
        if self.keep is None and not _SIGN.search(text) and (self.known is None or self.known.issuperset(text)):
            return ()
        found = [ProtectedPart(span, "name") for span in self.keep.spans(text)] if self.keep else []
        if _SIGN.search(text):
            found += without(found, map(_part, filter(_is_shape, _PROTECTED.finditer(text))))
        if self.known is not None and not self.known.issuperset(text):
            found += self._foreign(_filled(text, found, "_"), self.known)
        return _with_counts(text, _with_signs(text, sorted(found, key=lambda part: part.start)))

    @_once
    def parts(self, text: str) -> Sequence[ProtectedPart]:
        """All parts, in order: shapes, marks, white space and terms."""
        parts, terms = self._parts(text), self.terms(text)
        if not terms:
            return parts
        asides = [part for part in parts if part.kind == "aside"]  # translated by themselves, with their terms
        terms = [one for one in terms if not any(aside.start <= one.start and one.end <= aside.end
                                                 and aside.span != one.span for aside in asides)]
        return sorted([*terms, *without(terms, parts)], key=lambda part: part.start)

    def _parts(self, text: str) -> Sequence[ProtectedPart]:
        shapes = self.shapes(text)
        if not shapes and text.isascii() and not _MAY_WRAP.search(text) and not _HAS_LAYOUT.search(text) and (
                self.known is None or self.known.issuperset(text)):
            return ()
        joining = [ProtectedPart(match.span(), "sign", written=self.conjunction)
                   for match in _SIGN_FOR_AND.finditer(text)] if self.conjunction else []
        if iso(self.language) == "en":  # an hour in code or in what a caller keeps is of that part
            joining += (ProtectedPart(part.span, "sign", written=written) for part in shapes if part.kind == "number"
                        and (match := _OF_TWELVE.match(text, part.start)) and (written := _of_24(match)))
        if iso(self.language) == "en" and _APOSTROPHES.search(text):
            joining += (ProtectedPart(match.span(), "sign", written=_in_full(match))
                        for match in _ELIDED.finditer(text))
        parts = _paired(text, [*joining, *without(joining, shapes)])
        bare = _ENTITY.sub(lambda entity: "x" * len(entity[0]), _filled(text, shapes, "x"))
        bare = _BETWEEN.sub("-", bare)
        if self.known is not None and (_MAY_WRAP.search(bare) or not self.known.issuperset(bare)):
            quoted = double_quoted(bare)
            wraps = self._inside(quoted, list(_wraps(quoted, (0, len(quoted)))))
            parts = wraps + without(wraps, parts)
            if '"' in self.known:
                parts += without(parts, (ProtectedPart((place, place + 1), "sign", written='"')
                                         for place, char in enumerate(quoted) if char != bare[place]))
            if self.asides:
                pairs = (ProtectedPart(match.span("aside"), "aside", match.span("inside"))
                         for match in _PAIR.finditer(bare))
                parts += without(parts, pairs)
            money = (ProtectedPart(match.span(), "number") for match in _MONEY.finditer(bare)
                     if not self.known.issuperset(match[0]))
            parts += without(parts, money)
            parts += without(parts, self._symbols(bare, self.known))
        if _HAS_LAYOUT.search(text):
            beside = {place for part in parts if part.inside is None for place in part.span}
            spaces = (ProtectedPart(match.span(), "space") for match in _LAYOUT.finditer(text)
                      if not _TYPOGRAPHIC.match(text, match.start()) and beside.isdisjoint(match.span()))
            parts += without(parts, spaces)
        return sorted(parts, key=lambda part: part.start)

    def spans(self, text: str) -> list[Span]:
        """The spans of a text that must not change, without numbers."""
        return [part.span for part in self.shapes(text)]

    def masked(self, text: str, filler: str = "_", *, terms: bool = False) -> str:
        """The text at the same length, with a filler for protected parts, so that no sentence ends inside them.

        `terms` masks every term of the glossary, not only those in which a sentence may end.
        """
        own = [one for one in self.terms(text) if terms or _MAY_END.search(text, *one.span)]
        return _filled(text, [*self.shapes(text), *own], filler)

    def has_words(self, text: str) -> bool:
        """Whether there is anything to translate: an unprotected letter."""
        shapes = self.shapes(text)
        read = plain(_filled(text, shapes, "_")).text if shapes or "&" in text or not text.isascii() else text
        return any(map(str.isalpha, read))

    def _foreign(self, text: str, known: frozenset[str]) -> list[ProtectedPart]:
        """Words with unknown letters; neighbours are one part."""
        found: list[ProtectedPart] = []
        for word in _WORD.finditer(text):
            if any(_is_letter(char) and not known.issuperset(counterpart(char, known)) for char in word[0]):
                if found and _WITHIN.fullmatch(text, found[-1].end, word.start()):
                    found[-1] = replace(found[-1], span=(found[-1].start, word.end()))
                else:
                    found.append(ProtectedPart(word.span(), "name"))
        return found

    def _inside(self, text: str, wraps: list[ProtectedPart]) -> list[ProtectedPart]:
        """Pairs of marks; asides become marks if they are not translated separately, or are the whole text."""
        asides = [part for part in wraps if part.kind == "aside"]
        if self.asides and any(map(str.isalpha, _filled(text, asides, " "))):
            return wraps
        pairs = [ProtectedPart((start, end), "mark", part.inside, opens) for part in asides if part.inside
                 for start, end, opens in ((part.start, part.inside[0], True), (part.inside[1], part.end, False))]
        return [*(part for part in wraps if part.kind != "aside"), *pairs]

    def _symbols(self, text: str, known: frozenset[str]) -> Iterator[ProtectedPart]:
        """Runs of unknown symbols."""
        if known.issuperset(text):
            return
        start = 0
        for place, char in enumerate(f"{text} "):
            if char.isspace() or _is_letter(char) or _is_read(char, known):
                if start < place:
                    yield _attached(ProtectedPart((start, place), "mark"), text)
                start = place + 1


DEFAULT_PROTECTION = Protection()


def with_quotes(text: str, parts: Sequence[ProtectedPart]) -> list[ProtectedPart]:
    """The parts with each pair of quotation marks as one part with the words inside."""
    marks = [part for part in parts if part.kind == "mark" and part.inside]
    opening = {part.inside: part.start for part in marks if part.opens and text[part.start] in _QUOTES}
    quotes = [ProtectedPart((opening[part.inside], part.end), "quote", part.inside) for part in marks
              if not part.opens and part.inside in opening]
    return sorted([*quotes, *without(quotes, parts)], key=lambda part: part.start)


def keeping(pattern: str, texts: Sequence[str]) -> list[KeptWords | None]:
    """For each text what a caller's pattern matches in it, so that the pattern is searched once; None without matches.

    Raises UserError for an invalid regular expression, or one that is too long or too slow.
    """
    if len(pattern) > LONGEST_PATTERN:
        raise UserError(f"keep has {len(pattern):,} characters: at most {LONGEST_PATTERN:,} are allowed", exit_code=2)
    if math.prod(map(int, _REPEATS.findall(pattern))) > MOST_REPEATS:  # compiling unfolds them
        raise UserError(f"keep repeats its parts too often: the numbers in its braces may multiply to {MOST_REPEATS:,}",
                        exit_code=2)
    if _UNBOUNDED.search(pattern):
        raise UserError("keep has recursion or fuzzy matching: use neither", exit_code=2)
    ends = time.monotonic() + PATTERN_SECONDS
    try:
        compiled = regex.compile(pattern)
        return [_kept_words(text, [one.span() for one in compiled.finditer(
            text, timeout=max(ends - time.monotonic(), 1e-3), concurrent=True)]) for text in texts]
    except (regex.error, OverflowError, RecursionError) as error:
        raise UserError(f"keep is not a regular expression: {error}", exit_code=2) from None
    except TimeoutError:
        raise UserError(f"keep takes more than {PATTERN_SECONDS:g} s: simplify it", exit_code=2) from None


def _kept_words(text: str, spans: Sequence[Span]) -> KeptWords | None:
    """The texts of these spans."""
    words = {normalize("NFC", text[start:end]) for start, end in spans if start < end}
    within = {normalize("NFC", text[start:end]) for start, end in spans if start < end and any(
        text[max(place - 1, 0) : place].isalnum() and text[place : place + 1].isalnum() for place in (start, end))}
    return KeptWords(frozenset(words), frozenset(within)) if words else None


@lru_cache(4096)
def _is_letter(char: str) -> bool:
    return (char.isalpha() or category(char) in ("Mn", "Mc", "Nd")) and plain(char).text != ""


@lru_cache(4096)
def _is_read(char: str, known: frozenset[str]) -> bool:
    return known.issuperset(plain(char, known).text)


def _is_shape(match: regex.Match[str]) -> bool:
    """Whether a match is a shape, not an entity for a character that is read as another one."""
    return not match["entity"] or plain(match[0]).text == match[0]


def _part(match: regex.Match[str]) -> ProtectedPart:
    if match["mark"] or match["tag"] or match["entity"]:
        return ProtectedPart(match.span(), "mark")
    return ProtectedPart(match.span(), "number" if match["number"] or _COUNT.fullmatch(match[0]) else "name")


def without(parts: Sequence[ProtectedPart], more: Iterable[ProtectedPart]) -> list[ProtectedPart]:
    """The items of `more` that overlap none of the parts."""
    taken = sorted(part.span for part in parts)
    starts, ends = [start for start, _ in taken], [end for _, end in taken]
    return [one for one in more if bisect_right(ends, one.start) == bisect_left(starts, one.end)]


def _with_signs(text: str, parts: Sequence[ProtectedPart]) -> list[ProtectedPart]:
    """The parts with the signs that touch them (`{price}€`, `x{count}`); neighbours with a sign between are one."""
    found: list[ProtectedPart] = []
    for number, part in enumerate(parts, 1):
        if part.kind == "mark":
            found.append(part)
            continue
        last = found[-1] if found else None
        if last and last.kind != "mark" and _SIGN_BETWEEN.fullmatch(text, last.end, part.start):
            start, kind = found.pop().start, part.kind if part.kind == last.kind else "name"
        else:
            is_free = part.start > (last.end if last else 0)
            start = part.start - (is_free and _SIGN_BEFORE.match(text, part.start - 1) is not None)
            kind = part.kind
        after = _SIGN_AFTER.match(text, part.end)
        is_free = after is not None and (number == len(parts) or after.end() < parts[number].start)
        found.append(replace(part, span=(start, part.end + is_free), kind=kind))
    return found


def _with_counts(text: str, parts: Sequence[ProtectedPart]) -> Sequence[ProtectedPart]:
    """The parts with the placeholders before names of things as numbers: {a} dogs and {b} cats."""
    places = [part for part in parts if text[part.start] in "{%$" or category(text[part.start]) == "Co"]
    if not places:
        return parts
    counted = {start for match in _COUNTED.finditer(_filled(text, places, "\ufdd0")) for start in match.starts("count")}
    return [replace(part, kind="number") if part.start in counted else part for part in parts]


def _in_full(match: regex.Match[str]) -> str:
    """Words without their apostrophe, which a model has hardly seen."""
    full = _IN_FULL[match["word"].lower()]
    return full.capitalize() if match["word"][0].isupper() else full


def _of_24(match: regex.Match[str]) -> str:
    """The hour in 24-hour time, as most languages write it; empty if it is no hour of a 12-hour clock."""
    hour, minute = int(match["hour"]), match["minute"] or "00"
    if not 1 <= hour <= 12 or int(minute) > 59:
        return ""
    hour = hour % 12 + 12 * (match["half"] in "pP")
    return f"{hour} o'clock" if minute == "00" else f"{hour}:{minute}"


def _filled(text: str, parts: Sequence[ProtectedPart], filler: str) -> str:
    """The text at the same length, with a filler for each character of the parts."""
    if not parts:
        return text
    pieces, done = [], 0
    for start, end in sorted(part.span for part in parts):
        pieces += [text[done:start], filler * (end - start)]
        done = end
    return "".join([*pieces, text[done:]])


def _attached(part: ProtectedPart, text: str) -> ProtectedPart:
    """A mark with the one word that it touches, if it touches one."""
    start, end = part.span
    while start > 0 and _is_letter(text[start - 1]):
        start -= 1
    if match := _WORD.match(text, end):
        end = match.end()
    if (start < part.start) == (part.end < end):
        return part
    opens = part.end < end
    return replace(part, inside=(part.end, end) if opens else (start, part.start), opens=opens)


def _paired(text: str, shapes: Sequence[ProtectedPart]) -> list[ProtectedPart]:
    """The shapes, with tags around the text that they enclose, and trademark signs and emoji after their words.

    Tags around text that is not read are one part with it.
    """
    parts, opened, since = list(shapes), dict[str, list[int]](), 0
    for number, part in enumerate(parts):
        tag = _TAG.match(text, part.start) if part.kind == "mark" else None
        if part.kind == "mark" and text[part.start] in _AT_WORDS:
            parts[number] = _attached(part, text)
        elif tag and not tag["slash"]:
            opened.setdefault(tag["name"].lower(), []).append(number)
        elif tag and (numbers := opened.get(tag["name"].lower())):
            first = numbers.pop()
            inside = parts[first].end, part.start
            inner = parts[first + 1]
            if inner == parts[number - 1] and text[slice(*inside)].strip() == text[slice(*inner.span)]:
                whole = replace(inner, span=(parts[first].start, part.end))
                parts[first : number + 1] = [whole] * (number + 1 - first)
            elif text[slice(*inside)].strip():
                parts[first] = replace(parts[first], inside=inside, opens=True)
                parts[number] = replace(part, inside=inside)
        elif part.kind == "mark" and _SMILES.match(text, part.start):
            if text[part.start - 1 : part.start].isspace() and _WORD.search(text, since, part.start):
                parts[number] = replace(part, inside=(since, part.start - 1))
            since = part.end
    return list(dict.fromkeys(parts))


def _is_name(text: str, inside: Span, start: int) -> bool:
    """Whether a text in brackets explains the name before it: Paris (France)."""
    before = _LAST_WORD.match(text, 0, start)
    return text[inside[0]].isupper() and before is not None and before[0][0].isupper() and before.start() > 0


def _wraps(text: str, span: Span) -> Iterator[ProtectedPart]:
    """Marks in pairs around one or several words; a model trained on whole sentences has seen few of them."""
    for match in _WRAPPED.finditer(text, span[0], span[1]):
        inside, mark = match.span("inside"), match["open"].strip()
        link = match["link"] or ""
        brackets = mark[0] in _BRACKETS and not (link and any(map(str.isalpha, match["inside"])))
        is_word, closing = _WORD.fullmatch(match["inside"]) is not None, match["close"].removesuffix(link).strip()
        label = brackets and (len(match["inside"]) == 1 or not any(map(str.isalpha, match["inside"])))
        if len(mark) != len(closing) or not any(map(str.isalnum, match["inside"])):
            yield from _wraps(text, inside)
        elif label or (brackets and is_word and text[max(match.start() - 1, 0)].isalnum()):  # (a), [12], cat(s)
            yield _attached(ProtectedPart(match.span(), "mark"), text)
        elif brackets and (not is_word or _is_name(text, inside, match.start())):
            yield ProtectedPart(match.span(), "aside", inside)
        else:
            yield ProtectedPart(match.span("open"), "mark", inside, opens=True)
            yield from _wraps(text, inside)
            yield ProtectedPart(match.span("close"), "mark", inside)
