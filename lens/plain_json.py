"""Frozen dataclasses as JSON: files of them, and plain JSON with every value checked against its annotation."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, is_dataclass
from functools import lru_cache
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, ClassVar, Literal, Self, Union, get_args, get_origin, get_type_hints

from seq2see.atomic import atomic_write
from seq2see.errors import UserError
from ..tokenizer.words import refuse_surrogates

LARGEST = 1e30  # of a number: what is drawn adds them up, and no sum may be infinite
Share = Annotated[float, 0.0, 1.0]  # the least and the most that it may be
Count = Annotated[int, 0, LARGEST]


@dataclass(frozen=True)
class Measurement:
    """What is kept as a JSON file beside the run it was measured on.

    `header` begins the file, `indent` is its layout; `what` and `command` word the error for a file that holds none.
    """

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
        """From the fields as JSON has them; ValueError, TypeError, KeyError or AttributeError for anything else."""
        found: Self = from_plain(cls, plain)
        return found


def from_plain(kind: Any, plain: Any, name: str = "it") -> Any:
    """The value of type `kind` that JSON has as `plain`: an object for a dataclass, a list for a tuple, either for a
    NamedTuple.  ValueError or TypeError, in which the field is named, for anything else."""
    origin, args = get_origin(kind), get_args(kind)
    if origin is Annotated:
        value = from_plain(args[0], plain, name)
        return value if args[1] <= value <= args[2] else _refuse(plain, name)
    if origin in (Union, UnionType):
        return None if plain is None and NoneType in args else from_plain(args[0], plain, name)
    if origin is Literal:
        return plain if plain in args else _refuse(plain, name)
    if origin is tuple:
        if not isinstance(plain, list | tuple):
            _refuse(plain, name)
        kinds = [args[0]] * len(plain) if args[-1] is Ellipsis else args
        return tuple(from_plain(one, value, name) for one, value in zip(kinds, plain, strict=True))
    if origin is Mapping:
        if not isinstance(plain, dict):
            _refuse(plain, name)
        return {from_plain(args[0], key, name): from_plain(args[1], value, str(key)) for key, value in plain.items()}
    if kind in (int, float, str, bool):
        return _scalar(kind, plain, name)
    hints = _hints(kind)
    if isinstance(plain, list | tuple) and not is_dataclass(kind):
        plain = dict(zip(hints, plain, strict=True))
    if not isinstance(plain, dict) or not plain.keys() <= hints.keys():
        _refuse(plain, name)
    return kind(**{field: from_plain(hints[field], value, field) for field, value in plain.items()})


@lru_cache
def _hints(kind: Any) -> dict[str, Any]:
    """The annotations of what a dataclass or a NamedTuple is made with."""
    hints = get_type_hints(kind, include_extras=True)
    made_with = [field.name for field in fields(kind) if field.init] if is_dataclass(kind) else kind._fields
    return {name: hints[name] for name in made_with}


def _scalar(kind: type, plain: Any, name: str) -> Any:
    """A whole number may stand for one that need not be."""
    fits = isinstance(plain, bool) is (kind is bool) and isinstance(plain, int | float if kind is float else kind)
    if not fits or (isinstance(plain, int | float) and not abs(plain) < LARGEST):
        _refuse(plain, name)
    if isinstance(plain, str):
        refuse_surrogates(plain)
    return kind(plain)


def _refuse(plain: Any, name: str) -> Any:
    raise ValueError(f"{name} holds {str(plain)[:40]!r}")
