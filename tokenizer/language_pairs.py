"""`LanguagePairs`: the language pairs of a model, as products of sources and targets: 40,000 pairs in 400 codes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby, product
from operator import itemgetter
from typing import Any, overload

from seq2see.errors import UserError
from .language_codes import codes_of, is_language, nearest, with_names

Pair = tuple[str, str]
Codes = tuple[str, ...]
MOST_LISTED = 1_000  # pairs that an answer lists one by one
MOST_SHOWN = 12  # pairs or languages that a line of text lists
MOST_LETTERS = 60  # of the code or name of a language


@dataclass(frozen=True, eq=False)
class LanguagePairs(Sequence[Pair]):
    """Pairs of (source, target) codes, the default first: a sequence that stores only the codes.

    Args:
        products: pairs of sources and targets; each source combines with each target.
        default: whether the first target is the default; a model of 200 languages has none.
    """

    products: tuple[tuple[Codes, Codes], ...] = ()
    default: bool = True

    @classmethod
    def of(cls, pairs: Iterable[Sequence[str]]) -> LanguagePairs:
        """These pairs, in this order."""
        return cls(tuple(((source,), tuple(target for _, target in own))
                         for source, own in groupby(dict.fromkeys(map(tuple, pairs)), key=itemgetter(0))))

    @classmethod
    def union(cls, several: Iterable[LanguagePairs]) -> LanguagePairs:
        """The pairs of several models."""
        own = list(several)
        return cls(tuple(dict.fromkeys(one for each in own for one in each.products)), all(one.default for one in own))

    @cached_property
    def sources(self) -> Codes:
        return tuple(dict.fromkeys(code for sources, _ in self.products for code in sources))

    @cached_property
    def targets(self) -> Codes:
        return tuple(dict.fromkeys(code for _, targets in self.products for code in targets))

    def targets_of(self, source: str) -> Codes:
        return tuple(dict.fromkeys(code for sources, targets in self.products if source in sources for code in targets))

    def sources_to(self, target: str | None) -> Codes:
        """The sources of a target language, which may be a code or a name; None: any target."""
        to = None if target is None else codes_of(target[:MOST_LETTERS], self.targets)[:1]
        return tuple(dict.fromkeys(code for sources, targets in self.products if to is None or {*to} & {*targets}
                                   for code in sources))

    def fitting(self, source: str | None, target: str | None) -> Pair | None:
        """The first pair of these languages; None means any.

        A pair of a language with itself is returned only if no other fits.
        """
        found = None
        for sources, targets in self.products:
            if source not in (None, *sources) or target not in (None, *targets):
                continue
            own = sources[:2] if source is None else (source,), targets[:2] if target is None else (target,)
            for pair in product(*own):
                if pair[0] != pair[1]:
                    return pair
                found = found or pair
        return found

    def find(self, source: str | None, target: str | None) -> Pair:
        """The pair of these codes or names of languages; None means the default.

        Raises UserError for an unknown or ambiguous language, a pair that does not exist, or a missing target without
        default.
        """
        if target is None and not self.default:
            raise UserError(f"this model translates to {len(self.targets)} languages: choose one (--to, target=), such"
                            f" as {', '.join(self.targets[:3])}", exit_code=2)
        return self._find(source, target)

    def has(self, source: str | None, target: str | None) -> bool:
        """Whether a pair of these languages exists; None means any."""
        try:
            self._find(source, target)
        except UserError:
            return False
        return True

    def _find(self, source: str | None, target: str | None) -> Pair:
        of, to = self._code("from", source, self.sources), self._code("to", target, self.targets)
        pair = self.fitting(of, to)
        if pair is None:
            direction = " ".join(f"{side} {code}" for side, code in (("from", of), ("to", to)) if code is not None)
            raise UserError(f"this model does not translate {direction}; choose {self}, or another model")
        return pair

    def _code(self, side: str, name: str | None, known: Codes) -> str | None:
        if name is None:
            return None
        name = name[:MOST_LETTERS]
        codes = codes_of(name, known)
        if len(codes) == 1:
            return codes[0]
        if codes:
            more = f" and {len(codes) - MOST_SHOWN} more" if len(codes) > MOST_SHOWN else ""
            choices = with_names(codes[:MOST_SHOWN])
            raise UserError(f"{name} is several languages of this model; choose {choices}{more}")
        if len(known) == 1 and is_language(name) and not is_language(known[0]):
            return known[0]  # which does not name its languages
        if len(self) <= MOST_SHOWN:
            raise UserError(f"this model does not translate {side} {name}; choose {self}, or another model")
        near = "it has only" if len(known) == 1 else f"the nearest of its {len(known)} languages are"
        raise UserError(f"this model does not translate {side} {name}: {near} {with_names(nearest(name, known))}")

    def listed(self) -> list[list[str]] | None:
        """The pairs as a list for JSON; None if there are too many."""
        return [list(pair) for pair in self] if len(self) <= MOST_LISTED else None

    def __str__(self) -> str:
        if len(self) <= MOST_SHOWN:
            return ", ".join(f"{source} to {target}" for source, target in self)
        return ", ".join(f"{_short(sources)} to {_short(targets)}" for sources, targets in self.products[:MOST_SHOWN])

    def __bool__(self) -> bool:
        return any(sources and targets for sources, targets in self.products)  # without counting the pairs

    def __len__(self) -> int:
        return sum(len(sources) * len(targets) for sources, targets in self.products)

    def __iter__(self) -> Iterator[Pair]:
        for sources, targets in self.products:
            yield from product(sources, targets)

    def __contains__(self, pair: object) -> bool:
        match pair:
            case (source, target):
                return any(source in sources and target in targets for sources, targets in self.products)
        return False

    @overload
    def __getitem__(self, index: int) -> Pair: ...
    @overload
    def __getitem__(self, index: slice) -> list[Pair]: ...
    def __getitem__(self, index: int | slice) -> Pair | list[Pair]:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        left = range(len(self))[index]  # IndexError beyond the last
        for sources, targets in self.products:
            if left < len(sources) * len(targets):
                return sources[left // len(targets)], targets[left % len(targets)]
            left -= len(sources) * len(targets)
        raise AssertionError

    def __eq__(self, other: Any) -> bool:
        if not isinstance(other, Sequence):
            return NotImplemented
        same = isinstance(other, LanguagePairs) and self.products == other.products
        return same or (len(self) == len(other) and all(map(tuple.__eq__, self, map(tuple, other))))

    def __hash__(self) -> int:
        return hash(self.products)


def _short(codes: Codes) -> str:
    return ", ".join(codes) if len(codes) <= MOST_SHOWN else f"{len(codes)} languages"
