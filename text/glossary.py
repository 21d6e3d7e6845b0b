"""A glossary: terms of the source language, and the exact translation of each.

A term matches as a whole word; longer terms match first, and matches do not overlap.  The first letter of a term may be
upper or lower case in the text, unless the term has capitals further on (`iPhone`).  A text wholly in capitals has its
terms in capitals.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from unicodedata import category, normalize

import regex

from seq2see.errors import UserError

LONGEST_TERM = 100  # characters
_JOINED = r"\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}"  # scripts without spaces between words
_FIRST = rf"(?:(?<!\w)|(?<=[{_JOINED}])|(?=[{_JOINED}]))"
_LAST = rf"(?:(?!\w)|(?=[{_JOINED}])|(?<=[{_JOINED}]))"
_SPACE = regex.compile(r"\s")
_BARRED = ("Cc", "Co", "Cs")  # line breaks, and what stands for markup inside the translator

Span = tuple[int, int]


@dataclass(frozen=True)
class Glossary:
    """Pairs of a source term and its target term; each source term occurs once.

    A target term that equals its source term means "do not translate".  Matching takes time linear in the length of the
    text.
    """

    pairs: tuple[tuple[str, str], ...]

    @classmethod
    def of(cls, pairs: Mapping[str, str] | Iterable[tuple[str, str]]) -> Glossary:
        """Make a glossary from pairs as people write them; spaces are normalised.

        Raises UserError for an item that is not a pair of terms.
        """
        terms: dict[str, str] = {}
        for number, pair in enumerate(pairs.items() if isinstance(pairs, Mapping) else pairs, 1):
            add(terms, *pair, where=f"term {number} of the glossary")
        return cls(tuple(terms.items()))

    def __hash__(self) -> int:
        return self._hash

    def __reduce__(self) -> tuple[type[Glossary], tuple[object, ...]]:  # hash and patterns are of one process
        return Glossary, (self.pairs,)

    @cached_property
    def _hash(self) -> int:
        return hash(self.pairs)

    @cached_property
    def by_case(self) -> list[str]:
        """The terms whose translation depends on the case of their first letter."""
        terms = dict(self.pairs)
        return [source for source, target in self.pairs if terms.get(_other_case(source), target) != target]

    @cached_property
    def _targets(self) -> dict[str, str]:
        """The target terms by source term, in each form that a text may have."""
        return {_other_case(source): target for source, target in self.pairs} | dict(self.pairs)

    @cached_property
    def _in_capitals(self) -> dict[str, str]:
        return {source.upper(): target for source, target in reversed(self.pairs)}

    @cached_property
    def _pattern(self) -> regex.Pattern[str]:
        return _compiled(self._targets)

    @cached_property
    def _pattern_in_capitals(self) -> regex.Pattern[str]:
        return _compiled(self._in_capitals)

    def found(self, text: str, *, capitals: bool = False) -> list[tuple[Span, str]]:
        """The source terms that occur in a text, in order: the span of each, and its target term.  `capitals`: whether
        the text is in capitals.
        """
        targets = self._in_capitals if capitals else self._targets
        pattern = self._pattern_in_capitals if capitals else self._pattern
        if not self.pairs:
            return []
        places = [n for n in range(len(text)) if not text[n : n + 2].isspace()]  # a run of spaces is its last
        plain = _SPACE.sub(" ", "".join(text[n] for n in places))
        return [((places[one.start()], places[one.end() - 1] + 1), targets[one[0]]) for one in pattern.finditer(plain)]


def add(terms: dict[str, str], source: str, target: str, *, where: str) -> None:
    """Add a pair of terms.

    Raises UserError for an invalid pair, or one that contradicts an earlier pair; the message begins with `where`.
    """
    source, target = (normalize("NFC", " ".join(one.split())) for one in (source, target))
    for side, term in (("source", source), ("target", target)):
        if not term:
            raise UserError(f"{where}: the {side} term is empty", exit_code=2)
        if len(term) > LONGEST_TERM:
            raise UserError(f"{where}: the {side} term has {len(term)} characters: at most {LONGEST_TERM} are allowed",
                            exit_code=2)
        if any(category(char) in _BARRED for char in term):
            raise UserError(f"{where}: the {side} term has a control or private-use character: remove it", exit_code=2)
    if terms.setdefault(source, target) != target:
        raise UserError(f"{where}: the source term has another target term already: keep one", exit_code=2)


def occurrences(targets: Iterable[str], text: str) -> dict[str, list[Span]]:
    """The spans of target terms in a text, as whole words, with either case of the first letter.

    Longer terms match first, and matches do not overlap.
    """
    as_given = {form: target for target in targets for form in (_other_case(target), target)}
    found: dict[str, list[Span]] = {target: [] for target in as_given.values()}
    if as_given:
        for one in regex.finditer(rf"{_FIRST}\L<forms>{_LAST}", _SPACE.sub(" ", text), forms=set(as_given)):
            found[as_given[one[0]]].append(one.span())
    return found


def _compiled(terms: Iterable[str]) -> regex.Pattern[str]:
    return regex.compile(rf"{_FIRST}(?<!\w[-‑])\L<terms>(?![-‑]\w){_LAST}", terms=set(terms))


def capitalised(term: str) -> str:
    """The term at the start of a sentence; unchanged if it has capitals inside (`iPhone`)."""
    return term if term[1:] != term[1:].lower() else term[:1].upper() + term[1:]


def _other_case(term: str) -> str:
    """The term with the other case of its first letter; unchanged if it has capitals inside."""
    other = term[0].swapcase()
    return term if term[1:] != term[1:].lower() or len(other) != 1 else other + term[1:]


def read_glossary(path: str | Path) -> Glossary:
    """Read a glossary from a UTF-8 file; blank lines and lines that begin with `#` are skipped.

    Raises:
        UserError: no terms, a row that is not a pair of terms, or one that contradicts another row; the message names
            the file and the row.
    """
    try:
        data = Path(path).read_bytes()
    except OSError as error:
        raise UserError(f"cannot read the glossary {path}: {error.strerror}", exit_code=2) from None
    return glossary_of(data, name=str(path))


def glossary_of(data: bytes, *, name: str) -> Glossary:
    """The glossary in a file of this name; UserError as that of `read_glossary`."""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise UserError(f"{name} is not UTF-8: save it as UTF-8", exit_code=2) from None
    terms: dict[str, str] = {}
    for number, row in enumerate(text.split("\n"), 1):
        if row.strip() and not row.startswith("#"):
            where, columns = f"{name}, row {number}", row.rstrip("\r").split("\t")
            if len(columns) != 2:
                found = f"{len(columns)} columns" if len(columns) > 2 else "no TAB"
                raise UserError(f"{where}: {found}: expected source TAB target", exit_code=2)
            add(terms, *columns, where=where)
    if not terms:
        raise UserError(f"{name} has no terms: expected lines of source TAB target", exit_code=2)
    return Glossary(tuple(terms.items()))
