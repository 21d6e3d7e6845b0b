"""Links between the words of a sentence and those of its translation, and the Pharaoh format that keeps them.

A line of a Pharaoh file holds the links of one sentence pair, `0-0 1-2 2-1`: word of the source, word of the target,
both counted from 0 in `split_words`.  `1p2` is a link that is possible and not sure, as gold files write it.
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
    """The links of one sentence pair: the sure ones, and those that are possible only."""

    sure: frozenset[Link]
    possible: frozenset[Link] = frozenset()

    @property
    def all(self) -> frozenset[Link]:
        return self.sure | self.possible


def to_pharaoh(links: Iterable[Link]) -> str:
    """One line, without its end."""
    return " ".join(f"{source}-{target}" for source, target in sorted(links))


def from_pharaoh(line: str) -> Links:
    """The links of a line; UserError where it holds something else."""
    sides: dict[str, set[Link]] = {"-": set(), "p": set()}
    for item in line.split():
        found = _LINK.fullmatch(item)
        if not found:
            raise UserError(f"{item[:20]!r} is no link: write 0-0 for source word 0 and target word 0, 0p0 if unsure")
        sides[found[2]].add((int(found[1]), int(found[3])))
    return Links(frozenset(sides["-"]), frozenset(sides["p"] - sides["-"]))


def read_pharaoh(path: str | Path) -> Iterator[Links]:
    """The links of each line of a file; UserError naming the line where it is not Pharaoh's."""
    try:
        with Path(path).open(encoding="utf-8") as file:
            for number, line in enumerate(file, start=1):
                try:
                    yield from_pharaoh(line)
                except UserError as error:
                    raise UserError(f"{path}, line {number}: {error}") from None
    except UnicodeDecodeError:
        raise UserError(f"{path} is not UTF-8 text, so it holds no links: expected lines such as 0-0 1-2") from None
