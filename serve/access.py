"""API keys and rate limits.  Keys are neither logged nor stored in plain text."""

from __future__ import annotations

import base64
import hashlib
import logging
import os
import re
from collections import deque
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from math import ceil
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING

from seq2see.settings_file import read_text, wrong
from .api_errors import APIError
from .current_request import current

if TYPE_CHECKING:
    from starlette.requests import HTTPConnection

KEYS_VARIABLE = "SEQ2SEE_API_KEYS"
COMMENT = re.compile(r"(?:^|\s)#")
SHORTEST_KEY = 8
MOST_ACCOUNTS = 10_000  # remembered; the least recently active one is dropped first
WRONG_KEYS = 20  # attempts per address and minute
log = logging.getLogger("seq2see.serve")


@dataclass(frozen=True)
class Caller:
    """The sender of a request: the name of the API key or, without keys, the address; and the address."""

    account: str
    address: str = ""


class RateLimit:
    """At most an amount in any 60 seconds, for each account (0: unlimited); callers over the limit get `message`."""

    def __init__(self, per_minute: int, *, code: str, message: str):
        self.per_minute = per_minute
        self.code = code
        self.message = message
        # Of each account: when it spent something, and all that it had spent by then; least recently active first.  The
        # first entry is more than a minute old.
        self._spent: dict[str, deque[tuple[float, int]]] = {}

    def take(self, account: str, amount: int) -> None:
        """Spend an amount, at most `per_minute`.

        If less is left, spend nothing and raise APIError (429).
        """
        if not self.per_minute:
            return
        now = monotonic()
        while self._spent and next(iter(self._spent.values()))[-1][0] <= now - 60:
            del self._spent[next(iter(self._spent))]
        spent = self._spent.get(account) or deque([(now - 60, 0)])
        while len(spent) > 1 and spent[1][0] <= now - 60:
            spent.popleft()
        total = spent[-1][1] + amount
        free_at = 60 + next(when for when, by_then in spent if total - by_then <= self.per_minute)
        if (wait := round(free_at - now, 6)) > 0:
            seconds = ceil(wait)
            raise APIError(429, self.code, f"{self.message}: try again in {seconds} s", retry_after=seconds)
        spent.append((now, total))
        self._spent.pop(account, None)
        self._spent[account] = spent
        if len(self._spent) > MOST_ACCOUNTS:
            del self._spent[next(iter(self._spent))]


class AccessControl:
    """Checks who may send requests, and how many texts a minute.

    Args:
        keys: names of keys, by the SHA-256 of the key; empty: open to everyone.
        texts_per_minute: of each caller; 0: unlimited.
        log_addresses: log an address that sends too many wrong keys.
    """

    def __init__(self, keys: Mapping[bytes, str] | None = None, *, texts_per_minute: int = 0,
                 log_addresses: bool = False):
        self.keys = dict(keys or {})
        self.log_addresses = log_addresses
        self._texts = RateLimit(texts_per_minute, code="rate_limit",
                                message=f"more than {texts_per_minute} texts per minute")
        self._guesses = RateLimit(WRONG_KEYS, code="wrong_keys", message="too many wrong API keys from this address")
        self._reports = RateLimit(1, code="reported", message="more than one line")

    def authenticate(self, request: HTTPConnection, key: str | None = None) -> Caller:
        """The sender of a request, from the given key or its headers.

        A valid key is always accepted, because several callers may share an address behind a proxy.  Raises APIError:
        403 if a required key is missing or unknown, 429 after too many unknown ones.
        """
        address = request.client.host if request.client else "unknown"
        if not self.keys:
            return Caller(address, address)
        if not (key := key or _key_in(request.headers)):
            raise APIError(403, "key_missing", "this server requires an API key: send it as the field api_key, or as"
                           " the header X-API-Key")
        if name := self.keys.get(_digest(key)):  # comparing digests leaks nothing through timing
            current().account = name
            return Caller(name, address)
        try:
            self._guesses.take(address, 1)
        except APIError:
            self._report(address)
            raise
        raise APIError(403, "key_wrong", "unknown API key")

    def _report(self, address: str) -> None:
        """One line in the log, once a minute for each address."""
        with suppress(APIError):
            self._reports.take(address, 1)
            log.warning("%s sends wrong API keys: more than %s a minute get 429",
                        address if self.log_addresses else "an address", WRONG_KEYS)

    def check_rate(self, caller: Caller, texts: int) -> None:
        """Count texts against the caller's rate.

        Raises APIError: 429 if the rate is exceeded, 400 for more texts than it ever allows.
        """
        most = self._texts.per_minute
        if 0 < most < texts:
            raise APIError(400, "too_many_texts", f"{texts} texts: at most {most} a minute are allowed")
        self._texts.take(caller.account, texts)


def read_keys(path: str | None) -> dict[bytes, str]:
    """Names of keys by their digests, from a file and the environment variable SEQ2SEE_API_KEYS.

    A line is `NAME KEY`; in the variable commas may separate lines.  A comment begins with `#` at the beginning of a
    line or after a space.  A key may contain `#`.
    """
    texts = {KEYS_VARIABLE: os.environ.get(KEYS_VARIABLE, "").replace(",", "\n")}
    if path is not None:
        texts[path] = read_text(Path(path), f"the keys in {path}")
    keys: dict[bytes, str] = {}
    for where, text in texts.items():
        for number, line in enumerate(text.splitlines(), start=1):
            match COMMENT.split(line, maxsplit=1)[0].split():
                case []:
                    pass
                case [name, key] if (len(key) >= SHORTEST_KEY and key.isascii()  # headers have no other characters
                                     and keys.setdefault(_digest(key), name) == name):
                    pass
                case _:  # the line is not shown: it may hold part of a key
                    raise wrong(f"line {number} of {where}: expected a name, a space and a key of at least"
                                f" {SHORTEST_KEY} ASCII characters that no other name has")
    if path is not None and not keys:
        raise wrong(f"{path} has no keys: add a line with a name and a key, or remove the setting keys_file")
    return keys


def _key_in(headers: Mapping[str, str]) -> str:
    """The key in `X-API-Key: KEY`, `Authorization: Bearer KEY`, or `Authorization: Basic` with any name and the key as
    password.

    Browsers send the last form.
    """
    scheme, _, token = headers.get("authorization", "").partition(" ")
    if scheme.lower() == "basic":
        try:
            token = base64.b64decode(token, validate=True).decode().partition(":")[2]
        except ValueError:
            token = ""
    return headers.get("x-api-key") or token.strip()


def _digest(key: str) -> bytes:
    return hashlib.sha256(key.encode("utf-8", "surrogateescape")).digest()
