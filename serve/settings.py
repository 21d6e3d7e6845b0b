"""What the operator may set: one dataclass, read from YAML and `key=value` overrides, checked key by key.

configs/serve.yaml lists every key with its default and what it means.
"""

from __future__ import annotations

import difflib
import re
import types
import typing
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import yaml

from seq2see.errors import UserError

LOOPBACK = ("127.0.0.1", "localhost", "::1")  # hosts that no other machine reaches


@dataclass(frozen=True)
class ServerSettings:
    """See configs/serve.yaml."""

    # What one request may ask for.
    characters: int = 5_000
    look_characters: int = 1_000
    texts: int = 64
    beams: int = 8
    alternatives: int = 5
    new_tokens: int = 512
    body_bytes: int = 1_000_000
    read_seconds: float = 10.0
    deadline_seconds: float = 30.0
    look_seconds: float = 120.0
    # What all of them together may.
    rate: int = 1_200
    queue_tokens: int = 50_000
    batch_tokens: int = 1_024
    wait_ms: float = 4.0
    grace_seconds: float = 10.0
    # Who may, and from where.
    keys_file: str | None = None
    cors_origins: tuple[str, ...] = ()
    frame_ancestors: tuple[str, ...] = ("'self'",)
    allowed_hosts: tuple[str, ...] | None = None
    trusted_proxies: tuple[str, ...] = ()
    # What there is.
    page: bool = True
    docs: bool = True
    metrics: bool = True
    lessons: str = "runs/lessons"
    run_lessons: bool = False

    def hosts(self, host: str) -> list[str]:
        """The names by which clients may call a server that listens on `host`.

        On the loopback address only its own: a site elsewhere whose name is made to mean this machine must not read it.
        """
        if self.allowed_hosts is not None:
            return list(self.allowed_hosts)
        return ["127.0.0.1", "localhost", "[::1]"] if host in LOOPBACK else ["*"]


# The least each number may be.
LEAST = {
    **dict.fromkeys(("characters", "look_characters", "texts", "beams", "alternatives", "new_tokens"), 1),
    **dict.fromkeys(("body_bytes", "queue_tokens", "batch_tokens"), 1),
    **dict.fromkeys(("read_seconds", "deadline_seconds", "look_seconds"), 0.001),
    **dict.fromkeys(("rate", "wait_ms", "grace_seconds"), 0),
}


def read_settings(path: str | None = None, overrides: Iterable[str] = ()) -> ServerSettings:
    """The defaults, what a YAML file says over them, and `key=value` over that; UserError for what is not right."""
    tree: dict[str, Any] = {}
    if path is not None:
        tree = _tree(path)
    for override in overrides:
        key, equals, value = override.partition("=")
        if not equals:
            raise _wrong(f"{override!r} is not key=value; write for instance characters=2000")
        tree[key] = _yaml(value, f"the value of {key}")
    return _build(tree, path or "the command line")


def _tree(path: str) -> dict[str, Any]:
    try:
        text = Path(path).read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise _wrong(f"cannot read {path}: {getattr(error, 'strerror', None) or 'it is not UTF-8'}") from None
    tree = _yaml(text, path) or {}
    if not isinstance(tree, dict):
        raise _wrong(f"{path} holds {type(tree).__name__}, expected lines such as characters: 5000")
    return tree


def _yaml(text: str, where: str) -> Any:
    try:
        return yaml.safe_load(text)
    except (yaml.YAMLError, ValueError, RecursionError):
        raise _wrong(f"{where} is not YAML") from None


def _build(tree: Mapping[Any, Any], where: str) -> ServerSettings:
    types_of = typing.get_type_hints(ServerSettings)
    names = [one.name for one in fields(ServerSettings)]
    values = {}
    for key, value in tree.items():
        if key not in names:
            near = difflib.get_close_matches(str(key), names, 1)
            raise _wrong(f"{where} has the unknown key {str(key)!r}" + (f": did you mean {near[0]}?" if near else ""))
        values[key] = _fitting(key, value, types_of[key], where)
    return ServerSettings(**values)


def _fitting(key: str, value: Any, kind: Any, where: str) -> Any:
    """The value in the type of its field."""
    options = typing.get_args(kind) if isinstance(kind, types.UnionType) else (kind,)
    if value is None and type(None) in options:
        return None
    kind = next(one for one in options if one is not type(None))
    if typing.get_origin(kind) is tuple:
        if isinstance(value, list) and all(isinstance(one, str) for one in value):
            if key == "frame_ancestors" and not all(re.fullmatch(r"[^\s;,]+", one) for one in value):
                raise _wrong(f"{key} in {where} is {value!r}: expected sites, such as https://huggingface.co")
            return tuple(value)
        raise _wrong(f"{key} in {where} is {value!r}: expected a list of texts, such as [a, b]")
    if kind is float and type(value) is int:
        value = float(value)
    if type(value) is not kind:
        raise _wrong(f"{key} in {where} is {value!r}: expected {_WORDS[kind]}")
    if key in LEAST and not LEAST[key] <= value < float("inf"):
        raise _wrong(f"{key} in {where} is {value!r}: expected at least {LEAST[key]}")
    return value


_WORDS = {int: "a whole number", float: "a number", bool: "true or false", str: "a text"}


def _wrong(message: str) -> UserError:
    return UserError(message, exit_code=2)
