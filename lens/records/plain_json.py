"""Measurements: frozen dataclasses in JSON files; every value is checked when a file is read."""

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any, ClassVar, Self

from pydantic import Field

from seq2see.atomic import atomic_write
from seq2see.errors import UserError
from seq2see.validation import STRICT, checked

LARGEST = 10**30  # of a number: what is drawn adds them up, and no sum may be infinite
Number = Annotated[float, Field(ge=-LARGEST, le=LARGEST)]
Share = Annotated[float, Field(ge=0, le=1)]
Count = Annotated[int, Field(ge=0, le=LARGEST)]


@dataclass(frozen=True)
class Measurement:
    """A measurement in a JSON file beside the run it belongs to.

    `header` begins the file, and `indent` is its layout.  `what` and `command` are the words of the error for an
    invalid file.
    """

    __pydantic_config__ = STRICT
    header: ClassVar[dict[str, Any]] = {}
    indent: ClassVar[int | None] = 1
    what: ClassVar[str]
    command: ClassVar[str]

    def save(self, path: str | Path) -> None:
        content = {**self.header, **asdict(self)}
        atomic_write(Path(path), json.dumps(content, ensure_ascii=False, indent=self.indent) + "\n")

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read a file of `save`.

        Raises UserError for any other file.
        """
        try:
            plain = json.loads(Path(path).read_text(encoding="utf-8"))
            if {name: plain.pop(name) for name in cls.header} != cls.header:
                raise ValueError("it has another format or version")
            return cls.from_plain(plain)
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
            raise UserError(f"{path} is not a valid {cls.what} ({str(error)[:200] or 'it is damaged'}): measure again"
                            f" with {cls.command}, or remove it") from error

    @classmethod
    def from_plain(cls, plain: dict[str, Any]) -> Self:
        """The measurement from its JSON fields.

        Raises ValueError for anything else.
        """
        return checked(cls, plain)
