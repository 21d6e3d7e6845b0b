"""Server settings: defaults, overridden by a YAML file, overridden by `key=value`.

configs/serve.yaml documents every key with its default.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import fields
from pathlib import Path
from typing import Annotated, Any

from pydantic import ConfigDict, Field, NonNegativeFloat, NonNegativeInt, StringConstraints, ValidationError
from pydantic.dataclasses import dataclass

from seq2see import settings_file

LOOPBACK = ("127.0.0.1", "localhost", "::1")  # hosts unreachable from other machines

Count = Annotated[int, Field(ge=1)]
Seconds = Annotated[float, Field(ge=0.001)]
Names = Annotated[tuple[str, ...], Field(strict=False)]  # YAML has lists
Sites = Annotated[tuple[Annotated[str, StringConstraints(pattern=r"^[^\s;,]+\z")], ...], Field(strict=False)]


@dataclass(frozen=True, config=ConfigDict(strict=True, allow_inf_nan=False))
class ServerSettings:
    """See configs/serve.yaml."""

    # Limits of one request.
    characters: Count = 5_000
    look_characters: Count = 1_000
    look_tokens: Count = 50_000
    texts: Count = 64
    beams: Count = 8
    alternatives: Count = 5
    new_tokens: Count = 512
    body_bytes: Count = 1_000_000
    deadline_seconds: Seconds = 30.0
    look_seconds: Seconds = 120.0
    # Limits of all requests together.
    texts_per_minute: NonNegativeInt = 1_200
    queue_tokens: Count = 50_000
    batch_tokens: Count = 1_024
    wait_ms: NonNegativeFloat = 4.0
    grace_seconds: NonNegativeFloat = 10.0
    # Who has access, and from where.
    keys_file: str | None = None
    cors_origins: Names = ()
    frame_ancestors: Sites = ("'self'",)
    allowed_hosts: Names | None = None
    trusted_proxies: Names = ()
    # What is served.
    page: bool = True
    root_path: Annotated[str, StringConstraints(pattern=r"^(/[\w.~-]+)*\z")] = ""  # where a proxy serves it
    docs: bool = True
    metrics: bool = True
    lessons: str = "runs/lessons"
    run_lessons: bool = False

    def hosts(self, host: str) -> list[str]:
        """The Host headers that a server listening on `host` accepts.

        On the loopback address only its own names, against DNS rebinding.
        """
        if self.allowed_hosts is not None:
            return list(self.allowed_hosts)
        return ["127.0.0.1", "localhost", "[::1]"] if host in LOOPBACK else ["*"]


def read_settings(path: str | None = None, overrides: Iterable[str] = ()) -> ServerSettings:
    """The effective settings; UserError for an invalid file, key or value."""
    where = path or "the command line"
    settings: dict[str, Any] = {}
    if path is not None:
        settings = settings_file.read_settings(Path(path), expected="lines such as characters: 5000")
    _rename_old_key(settings)  # first of the file: an override may have the present name
    settings_file.override(settings, overrides, example="characters=2000")
    _rename_old_key(settings)
    settings_file.check_keys(settings, [one.name for one in fields(ServerSettings)], where=where)
    try:
        return ServerSettings(**settings)
    except ValidationError as error:
        first = error.errors()[0]
        problem = first["msg"].replace("tuple", "list, such as [a, b]")
        raise settings_file.wrong(f"{first['loc'][0]} in {where} is {first['input']!r}: {problem}") from None


def _rename_old_key(settings: dict[str, Any]) -> None:
    """Give the setting `rate` of 0.1 its present name, in place."""
    if "rate" in settings:
        settings["texts_per_minute"] = settings.pop("rate")
