"""A file to translate: its texts, and how it is written again with their translations.

    document = read_document("letter.docx", data, FileOptions(target="fr"))       formats.py
    translations = [translate(text) for text in document.texts]
    data = document.write(translations)

The law of every format: written with its own texts, a document is the same, byte for byte or in meaning.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

MOST_BYTES = 20_000_000  # of a file
MOST_TEXTS = 100_000  # in a file
LOST = "the translation lost a placeholder or an element"


@dataclass(frozen=True)
class Left:
    """Text of a file that its format does not give to a translator: where it stands, and why."""

    place: str
    text: str
    why: str


@dataclass(frozen=True)
class Document:
    """The texts of a file, in order, and the function that writes the file with a translation of each.

    A text that is `Html` has elements; those of its translation are around the same words.

    - `places`: where each text stands in the file, for people; empty where its number says it.
    - `left`: text for people that is not among the texts.
    - `lost`: after `write`, the numbers of texts that it left as they were, because their translations had not the
      placeholders or elements that the file needs.
    """

    texts: Sequence[str]
    write: Callable[[Sequence[str]], bytes]
    places: Sequence[str] = ()
    left: Sequence[Left] = ()
    lost: list[int] = field(default_factory=list)

    def place(self, number: int) -> str:
        """Where a text stands."""
        return self.places[number] if self.places else f"text {number + 1:,}"

    def untranslated(self) -> list[Left]:
        """After `write`, all that it left as it was."""
        return [*(Left(self.place(number), self.texts[number], LOST) for number in self.lost), *self.left]


@dataclass(frozen=True)
class FileOptions:
    """What the file alone does not say.

    `source` and `target` are the languages, for formats that name theirs; "": not known.  `columns` of a table are
    names of its header or numbers from 1, and `keys` of JSON are names of members; empty: every one that holds text.
    """

    source: str = ""
    target: str = ""
    columns: tuple[str, ...] = ()
    keys: tuple[str, ...] = ()
