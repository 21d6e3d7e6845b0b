"""Word links between a sentence and its translation, and the Pharaoh file format.

A line of a Pharaoh file has the links of one sentence pair, `0-0 1-2 2-1`: source word and target word, both counted
from 0 as in `split_words`.  In gold files `1p2` is a possible link, not a sure one.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from seq2see.errors import UserError

Link = tuple[int, int]  # source word, target word

_LINK = re.compile(r"([0-9]+)([-p])([0-9]+)")


@dataclass(frozen=True)
class Links:
    """The links of one sentence pair: sure ones and possible ones."""

    sure: frozenset[Link]
    possible: frozenset[Link] = frozenset()

    @property
    def all(self) -> frozenset[Link]:
        return self.sure | self.possible


def to_pharaoh(links: Iterable[Link]) -> str:
    """One line, without newline."""
    return " ".join(f"{source}-{target}" for source, target in sorted(links))


def from_pharaoh(line: str) -> Links:
    """The links in a line.

    Raises UserError for an invalid line.
    """
    sides: dict[str, set[Link]] = {"-": set(), "p": set()}
    for item in line.split():
        found = _LINK.fullmatch(item)
        if not found:
            raise UserError(f"{item[:20]!r} is not a link: write 0-0 for word 0 of source and target, 0p0 if possible")
        sides[found[2]].add((int(found[1]), int(found[3])))
    return Links(frozenset(sides["-"]), frozenset(sides["p"] - sides["-"]))


def read_pharaoh(path: str | Path) -> Iterator[Links]:
    """The links in each line of a file.

    Raises UserError for an invalid line, with its number.
    """
    try:
        with Path(path).open(encoding="utf-8") as file:
            for number, line in enumerate(file, start=1):
                try:
                    yield from_pharaoh(line)
                except UserError as error:
                    raise UserError(f"{path}, line {number}: {error}") from None
    except UnicodeDecodeError:
        raise UserError(f"{path} is not UTF-8 text: expected lines of links such as 0-0 1-2") from None
