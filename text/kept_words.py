"""The texts that a caller's pattern matched, found again in any part of the text, in linear time.

What never occurred inside a word is not found inside a word.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import regex
from ahocorasick_rs import MATCHKIND_LEFTMOST_LONGEST, AhoCorasick

Span = tuple[int, int]

_EDGE = regex.compile(r"(?<!\w)|(?!\w)")  # each place but those between two letters of a word
_MARK = "\0\0"  # stands at each edge: two signs, so that neighbours do not share one


@dataclass(frozen=True)
class KeptWords:
    """Texts that must stay: `words` only where both of their ends are edges of words, `within` anywhere."""

    words: frozenset[str]
    within: frozenset[str] = frozenset()

    def __reduce__(self) -> tuple[type[KeptWords], tuple[object, ...]]:  # the automaton cannot be pickled
        return KeptWords, (self.words, self.within)

    @cached_property
    def _automaton(self) -> AhoCorasick:
        """The algorithm of Aho and Corasick 1975."""
        return AhoCorasick([*(_EDGE.sub(_MARK, word)[1:-1] for word in self.words),
                            *(_EDGE.sub(_MARK, word)[2:-2] for word in self.within)],
                           matchkind=MATCHKIND_LEFTMOST_LONGEST)

    def spans(self, text: str) -> list[Span]:
        """Where they occur, in order and without overlaps; of several the longest."""
        edges = {edge.start() for edge in _EDGE.finditer(text)}
        origin = [place for place in range(len(text) + 1) for _ in range(3 if place in edges else 1)]  # before marking
        found = self._automaton.find_matches_as_indexes(_EDGE.sub(_MARK, text))
        return [(origin[start], origin[end]) for _, start, end in found]
