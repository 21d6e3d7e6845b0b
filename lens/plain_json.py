"""Measurements: frozen dataclasses that are kept as JSON files, every value of which is checked when they are read."""

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
    """What is kept as a JSON file beside the run it was measured on.

    `header` begins the file, `indent` is its layout; `what` and `command` word the error for a file that holds none.
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
        """Read what `save` wrote; UserError for anything else."""
        try:
            plain = json.loads(Path(path).read_text(encoding="utf-8"))
            if {name: plain.pop(name) for name in cls.header} != cls.header:
                raise ValueError("it has another format or version")
            return cls.from_plain(plain)
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
            raise UserError(f"{path} is no {cls.what} ({str(error)[:200] or 'it is damaged'}): measure again with"
                            f" {cls.command}, or remove it") from error  # fmt: skip

    @classmethod
    def from_plain(cls, plain: dict[str, Any]) -> Self:
        """From the fields as JSON has them; ValueError for anything else."""
        return checked(cls, plain)
