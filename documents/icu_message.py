"""Messages of ICU with one plural or select: each branch is read as a whole sentence.

`You have {n, plural, one {# file} other {# files}}.` gives `You have {#} file.` and `You have {#} files.`, and is
written as `{n, plural, one {Tu as # fichier.} other {Tu as # fichiers.}}`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

OPENS = re.compile(r"\{\s*(?P<name>\w+)\s*,\s*(?P<kind>plural|select|selectordinal)\s*,(?:\s*offset:\d+)?")
WHY_LEFT = "an ICU message with plurals or selects"
_BRANCH = re.compile(r"(?P<label>\s*(?:=\d+|\w+)\s*)\{(?P<text>(?:[^{}]|\{[^{}]*\})*+)\}")
_QUOTE = re.compile(r"'(?=[{}#|])")  # would begin a literal


@dataclass(frozen=True)
class Branches:
    """What opens the argument, the labels of its branches, what closes it, and the texts of the branches."""

    opening: str
    labels: Sequence[str]
    closing: str
    texts: Sequence[str]


def branches(message: str) -> Branches | None:
    """The branches of a message; None if it has not one plural or select, or others inside it."""
    opened = OPENS.search(message)
    if opened is None or opened["kind"] == "selectordinal":  # the endings of numbers (2nd) are those of a language
        return None
    labels, texts, end = list[str](), list[str](), opened.end()
    while branch := _BRANCH.match(message, end):
        labels.append(branch["label"])
        texts.append(branch["text"])
        end = branch.end()
    closed = re.compile(r"\s*\}").match(message, end)
    if not texts or not closed or any(map(OPENS.search, (message[closed.end():], *texts))):
        return None
    counts = opened["kind"] != "select"
    whole = (f"{message[: opened.start()]}{text}{message[closed.end():]}" for text in texts)
    return Branches(opened[0], labels, closed[0], [one.replace("#", "{#}") if counts else one for one in whole])


def joined(parts: Branches, translations: Sequence[str]) -> str:
    """The message with its branches translated."""
    bodies = (_QUOTE.sub("’", one.replace("{#}", "#")) for one in translations)
    return parts.opening + "".join(f"{label}{{{body}}}" for label, body in
                                   zip(parts.labels, bodies, strict=True)) + parts.closing
