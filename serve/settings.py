"""Server settings: defaults, overridden by a YAML file, overridden by `key=value`.

configs/serve.yaml documents every key with its default.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from ipaddress import ip_network
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, NonNegativeFloat, NonNegativeInt, StringConstraints
from pydantic_core import PydanticCustomError

from seq2see import settings_file
from seq2see.validation import STRICT, checked
from ..documents.protocol import MOST_BYTES
from ..tokenizer.language_codes import is_language

LOOPBACK = ("127.0.0.1", "localhost", "::1")  # hosts unreachable from other machines


def language(code: str) -> str:
    """The code of a language, checked."""
    if not is_language(code):
        raise PydanticCustomError("language", "expected the code of a language, such as en")
    return code


def folder(path: str) -> str:
    """The path of a folder in URLs, checked."""
    if not re.fullmatch(r"(/[\w.~-]+)*", path):
        raise PydanticCustomError("folder", "expected a folder such as /mt, without a slash at the end")
    return path


def origin(text: str) -> str:
    """What a browser sends as `Origin`, or `*`, checked."""
    if not re.fullmatch(r"\*|null|[a-z][a-z0-9+.-]*://[^\s/]+", text):
        raise PydanticCustomError("origin", "expected an origin such as https://shop.example, without a slash at the"
                                            " end, or *")
    return text


def proxy(text: str) -> str:
    """The address of a proxy, a network, or `*`, checked."""
    try:
        if text != "*":
            ip_network(text)
    except ValueError:
        raise PydanticCustomError("proxy", "expected an IP address, a network such as 10.0.0.0/8, or *") from None
    return text


Count = Annotated[int, Field(ge=1)]
Seconds = Annotated[float, Field(ge=0.001)]
Names = tuple[str, ...]
Part = bool | Literal["key"]  # "key": for those with an API key
Language = Annotated[str, AfterValidator(language)]
Sites = tuple[Annotated[str, StringConstraints(pattern=r"^[^\s;,]+\z")], ...]


@dataclass(frozen=True)
class ServerSettings:
    """The settings of a server; see configs/serve.yaml."""

    __pydantic_config__ = STRICT

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
    # Files.
    file_bytes: Annotated[int, Field(ge=1, le=MOST_BYTES)] = 10_000_000
    file_characters: Count = 200_000
    file_seconds: Seconds = 600.0
    download_seconds: Seconds = 600.0
    download_bytes: Count = 100_000_000
    # Limits of all requests together.
    texts_per_minute: NonNegativeInt = 1_200
    queue_tokens: Count = 50_000
    batch_tokens: Count = 256
    wait_ms: NonNegativeFloat = 4.0
    grace_seconds: NonNegativeFloat = 10.0
    # Who has access, and from where.
    keys_file: str | None = None
    cors_origins: tuple[Annotated[str, AfterValidator(origin)], ...] = ()
    frame_ancestors: Sites = ("'self'",)
    allowed_hosts: Names | None = None
    trusted_proxies: tuple[Annotated[str, AfterValidator(proxy)], ...] = ()
    # What is served.
    page: bool = True
    root_path: Annotated[str, AfterValidator(folder)] = ""  # where a proxy serves it
    docs: Part = True
    metrics: Part = True
    lessons: str = "runs/lessons"
    run_lessons: bool = False
    pivot: Language | None = None
    # For operators.
    request_log: bool = False
    log_addresses: bool = False
    may_reload: Names = ()

    @property
    def guarded(self) -> frozenset[str]:
        """The GET paths that require an API key, besides those of the page."""
        parts = {"/metrics": self.metrics, "/docs": self.docs, "/openapi.json": self.docs, "/spec": self.docs}
        return frozenset(path for path, served in parts.items() if served == "key")

    def hosts(self, host: str) -> list[str]:
        """The Host headers that a server listening on `host` accepts.

        On the loopback address they are only its own names, against DNS rebinding.
        """
        if self.allowed_hosts is not None:
            return list(self.allowed_hosts)
        return ["127.0.0.1", "localhost", "[::1]"] if host in LOOPBACK else ["*"]


def read_settings(path: str | None = None, overrides: Iterable[str] = ()) -> ServerSettings:
    """The effective settings.

    Raises UserError for an invalid file, key or value.
    """
    settings: dict[str, Any] = {}
    if path is not None:
        settings = settings_file.read_settings(Path(path), expected="lines such as characters: 5000")
    settings_file.override(settings, overrides, example="characters=2000")
    return checked(ServerSettings, settings, where=path or "the command line")
