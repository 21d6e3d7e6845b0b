"""What people and programs write, checked by pydantic; a refusal is one line: the key, its value, what was expected.

    checked(ServerSettings, {"texts": 0}, where="serve.yaml")
    UserError: texts in serve.yaml is 0, expected at least 1

Settings, decoding options, bodies of requests and saved measurements all come through here.  A kind is a dataclass
whose `__pydantic_config__` is STRICT; bounds are the `metadata` of its fields, by the names of pydantic's `Field`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import is_dataclass
from functools import cache
from typing import Any, NamedTuple, TypeVar, get_args, get_type_hints

from pydantic import ConfigDict, TypeAdapter, ValidationError
from pydantic_core import PydanticSerializationError, to_json

from seq2see.errors import UserError, nearest

T = TypeVar("T")
STRICT = ConfigDict(strict=True, extra="forbid", allow_inf_nan=False)  # no number from a text, no key that is not known
UNKNOWN = ("unexpected_keyword_argument", "extra_forbidden")
EXPECTED = {  # by pydantic's types of errors; pydantic words the others
    "int_type": "a whole number", "float_type": "a number", "finite_number": "a finite number", "string_type": "a text",
    "bool_type": "true or false", "literal_error": "{expected}", "model_attributes_type": "a JSON object",
    **dict.fromkeys(("list_type", "tuple_type"), "a list, such as [a, b]"),
    **dict.fromkeys(("dataclass_type", "dict_type"), "key: value lines"),
    "greater_than_equal": "at least {ge}", "less_than_equal": "at most {le}", "less_than": "below {lt}",
    "string_too_short": "{min_length} or more characters", "string_too_long": "at most {max_length} characters",
    "too_short": "{min_length} or more items", "too_long": "at most {max_length} items",
    "string_pattern_mismatch": "a text that matches {pattern}",
}
SHOWN = 80  # characters of a value


class Refusal(NamedTuple):
    """The key, its value as JSON (empty where there is none), and what was expected or is wrong."""

    key: str
    value: str
    problem: str


def checked(kind: type[T], given: Mapping[Any, Any], *, where: str = "", section: str = "") -> T:
    """What was given as a `kind`, which tuples and numbers may become from lists and whole numbers, as in JSON.

    UserError (exit code 2) names the first wrong key, after its `section`, and `where` it stands.
    """
    try:
        text = to_json(given, inf_nan_mode="constants", bytes_mode="base64", serialize_unknown=True)
        adapter: TypeAdapter[T] = _adapter(kind)  # type: ignore[arg-type]  # to mypy a type is not hashable
        return adapter.validate_json(text)
    except ValidationError as error:
        key, value, problem = refusal(error.errors(), kind, section)
        place = " in ".join(filter(None, (key, where)))
        raise UserError(f"{place} is {value}, {problem}" if value else f"{place}: {problem}", exit_code=2) from error
    except PydanticSerializationError as error:  # a lone surrogate, or values nested too deeply
        raise UserError(f"{where or 'a value'} has a lone surrogate, or is nested too deeply", exit_code=2) from error


@cache
def _adapter(kind: Any) -> TypeAdapter[Any]:
    return TypeAdapter(kind)


def refusal(errors: Iterable[Mapping[str, Any]], kind: Any = None, section: str = "") -> Refusal:
    """The first of pydantic's errors; an unknown key before others, for where it stands the right one may be missing.

    With the `kind` that was wanted, an unknown key is told the nearest one, and for a value of one of several types
    all of them are named.
    """
    found = [(one, *_place(one, kind, section)) for one in sorted(errors, key=lambda one: one["type"] not in UNKNOWN)]
    first = found[0][1]
    key = max((key for _, key, _ in found if key == first or key.startswith(f"{first}[")), key=len)
    same = [one for one, name, _ in found if name == key]
    if same[0]["type"] in UNKNOWN:
        (before, dot, name), known = key.rpartition("."), found[0][2]
        return Refusal(key, "", "unknown key" + (nearest(name, known, prefix=before + dot) if known else ""))
    if not all(one["type"] in EXPECTED for one in same):
        return Refusal(key, "", "missing" if same[0]["type"] == "missing" else same[0]["msg"])
    value = json.dumps(same[0]["input"], ensure_ascii=False, default=str)[:SHOWN]
    return Refusal(key, value, f"expected {' or '.join(dict.fromkeys(map(_expected, same)))}")


def _expected(error: Mapping[str, Any]) -> str:
    context = error.get("ctx", {})
    return EXPECTED[error["type"]].format(**{
        name: f"{value:g}" if isinstance(value, float) else value for name, value in context.items()})


def _place(error: Mapping[str, Any], kind: Any, section: str) -> tuple[str, Mapping[str, Any]]:
    """The key as people write it, and the keys that are known where it stands."""
    key, known = section, _hints(kind)
    for part in error["loc"]:
        if isinstance(part, int):
            key += f"[{part}]"
        elif kind is None or part in known or error["type"] in UNKNOWN:
            key += f".{part}"[:40]
            known = _hints(known[part]) if part in known else known
        # else it is one of the types of a union
    return key.removeprefix("."), known


def _hints(kind: Any) -> Mapping[str, Any]:
    """The keys of a dataclass, or of the first one inside a list or a union, with their types."""
    return get_type_hints(kind) if is_dataclass(kind) else next(filter(None, map(_hints, get_args(kind))), {})
