"""Links inside a page of Markdown: they follow its headings, whose anchors are made of their words.

As GitHub and most site generators make them: in small letters, without punctuation, with hyphens for spaces.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise

import regex

_HEADING = re.compile(r"^ {0,3}#{1,6}[ \t]+(?P<text>[^\r\n]*)|^(?P<lined>[^\s#>|`~-][^\r\n]*)\r?\n(?:=+|-{3,})[ \t]*$",
                      re.MULTILINE)
_FENCE = re.compile(r"^ {0,3}(?P<fence>`{3,}|~{3,})(?P<after>[^\n]*)", re.MULTILINE)
_NAMED = re.compile(r"\{[^{}]*#[^{}]*\}\Z")
_MARKUP = re.compile(r"!?\[(?P<text>[^\[\]]*)\](?:\([^()\s]*\)|\[[^\[\]]*\])|</?[a-zA-Z][^<>]*>|[*`~]")
_NO_LETTER = regex.compile(r"[^\p{L}\p{M}\p{N}\p{Pc}\- ]")
_LINK = re.compile(r"(?P<before>\]\(\s*<?|^ {0,3}\[[^\[\]\n]+\]:[ \t]*<?|\bhref\s*=\s*[\"']?)"
                   r"#(?P<anchor>[^\s()<>\"']+)", re.MULTILINE)


def with_links(source: str, written: str) -> str:
    """The written page, with the links to headings of the source as links to their translations."""
    if not _LINK.search(source):
        return written
    old, new = list(_anchors(source)), list(_anchors(written))
    if len(old) != len(new):
        return written
    follows = {one: other for one, other in zip(old, new, strict=True) if one and other}
    parts = _code_apart(written)
    parts[::2] = [_LINK.sub(lambda link: f"{link['before']}#{follows.get(link['anchor'], link['anchor'])}", part)
                  for part in parts[::2]]
    return "".join(parts)


def _code_apart(page: str) -> list[str]:
    """A page in parts: text and fenced code by turns, beginning with text."""
    places, fence = [0], ""
    for line in _FENCE.finditer(page):
        if not fence:
            fence = line["fence"]
            places.append(line.start())
        elif line["fence"].startswith(fence) and not line["after"].strip():
            fence = ""
            places.append(line.end())
    return [page[start:end] for start, end in pairwise([*places, len(page)])]


def _anchors(page: str) -> Iterator[str]:
    """The anchor of each heading in order; empty for one that names its own."""
    seen = Counter[str]()
    for heading in (one for part in _code_apart(page)[::2] for one in _HEADING.finditer(part)):
        text = (heading["text"] or heading["lined"] or "").strip().rstrip("#").rstrip()
        if _NAMED.search(text):
            yield ""
            continue
        anchor = _slug(text)
        number = seen[anchor]
        seen[anchor] += 1
        yield f"{anchor}-{number}" if number else anchor


def _slug(text: str) -> str:
    shown = _MARKUP.sub(lambda one: one["text"] or "", text)
    return str(_NO_LETTER.sub("", shown.lower())).replace(" ", "-")
