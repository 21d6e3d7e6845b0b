"""Subtitles (SubRip, WebVTT): the text of each cue, in place.

Numbers, timings, settings, notes and styles stay.  The lines of a cue are one text, but each speaker's after a dash is
one of its own; a translation has as many lines, broken at about the same shares of it.  Tags (`<i>`, `<c.loud>`,
`{\\an8}`) are elements that the translator places, as are a line break and a hard space of converters (`\\N`, `\\h`).
Times in a cue (`<00:05.000>`) stay in their order.
"""

from __future__ import annotations

import html
import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from itertools import accumulate

from seq2see.errors import UserError
from .fragments import Fragment, HtmlToken
from .places import MAY_BREAK, Place, document_of, unused
from .plain_text import decoded
from .protocol import Document, FileOptions

_TIME = r"(?:\d+:)?\d{1,2}:\d{1,2}[,.]\d{1,3}"
_TIMING = re.compile(rf"\s*{_TIME}\s*-->\s*{_TIME}.*")
_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n|\Z)")
_SPEAKS = re.compile(r"(?:<[^<>]*>|\{\\[^{}]*\})*\s*[-–—]\s?(?=\S)")
_TAG = re.compile(
    r"<rt\b[^<>]*>[^<>]*</rt>|<(?P<slash>/?)(?P<name>[a-zA-Z]+)?[^<>\n]*>|\{\\[^{}\n]*\}"
    r"|(?P<line>(?<!:)\\N)|(?:\\h){2,}|(?:^|(?<=\\N))\\h|\\h$", re.MULTILINE)
_IN_CUE = re.compile(rf"<{_TIME}>")
_HARD_SPACE = "\N{NO-BREAK SPACE}"
_BREAK = re.compile(r"\r\n|\r|\n")
_NUMBER = re.compile(rf"[ \t]*\d+[ \t]*(?:\r\n|\r|\n)[ \t]*{_TIME}[ \t]*-->")  # of the next cue, without a blank line

Span = tuple[int, int]


def read(data: bytes, options: FileOptions, *, name: str) -> Document:
    mark, source = decoded(data, name)
    escaped = name.lower().endswith(".vtt")
    if source.strip() and not re.search(rf"{_TIME}\s*-->", source) and not source.startswith("WEBVTT"):
        raise UserError(f"{name} has no cues; each begins with its times, such as 00:00:01,000 --> 00:00:02,000")
    return document_of(source, filter(None, (_place(source, span, escaped=escaped)
                                             for span in _speeches(source, goes_on=not escaped))), name=name, mark=mark)


def _speeches(source: str, *, goes_on: bool) -> Iterator[Span]:
    """The texts of the cues: the lines after a timing, cut before each line that begins with a dash.

    `goes_on`: whether a cue goes on after an empty line, as in SubRip.
    """
    begin, end, inside = 0, 0, False
    for line in _LINE.finditer(source):
        text = line[0].rstrip("\r\n")
        is_text = inside and bool(text.strip()) and not _TIMING.fullmatch(text) and not _NUMBER.match(
            source, line.start())
        if begin < end and (not is_text or _SPEAKS.match(text)):
            yield begin, end
            begin = end
        if is_text:
            first = line.start() if begin >= end else begin
            begin, end = first, line.start() + len(text.rstrip())
        else:
            inside = bool(_TIMING.fullmatch(text)) or (goes_on and inside and not text.strip())
            begin = end = line.end()


def _place(source: str, span: Span, *, escaped: bool) -> Place | None:
    begin, end = span
    dash = _SPEAKS.match(source, begin, end)
    start = dash.end() if dash else begin
    raw = source[start:end]
    found = list(_tokens(raw, escaped=escaped))
    fragment, times = Fragment(found), [token.raw for token in found if _IN_CUE.fullmatch(token.raw)]
    lines = _BREAK.split(raw)
    newline = _BREAK.search(raw)

    def written(translations: Sequence[str]) -> str:
        tokens = fragment.translated(translations[0])
        if tokens is None:
            return raw
        space = unused("".join(token.raw for token in tokens))  # where a line may be broken
        left = iter(times)  # they increase in a cue, whatever the order of the words
        text = "".join(next(left) if _IN_CUE.fullmatch(token.raw) else _raw(token, space, escaped=escaped)
                       for token in tokens)
        if r"\h" in raw:
            text = text.replace(_HARD_SPACE, r"\h")
        return _in_lines(text, space, list(map(len, lines)), newline[0] if newline else "")

    return Place(start, end, fragment.texts, written) if fragment.texts else None


def _tokens(raw: str, *, escaped: bool) -> Iterator[HtmlToken]:
    done = 0
    for tag in _TAG.finditer(raw):
        if tag.start() > done:
            yield _text(raw[done : tag.start()], escaped=escaped)
        done = tag.end()
        if tag["name"]:
            yield HtmlToken(tag[0], "end" if tag["slash"] else "start", tag["name"])
        else:
            yield HtmlToken(tag[0], "break" if tag["line"] else "alone")
    if done < len(raw):
        yield _text(raw[done:], escaped=escaped)


def _text(raw: str, *, escaped: bool) -> HtmlToken:
    text = re.sub(r"[ \t]*(?:\r\n|\r|\n)[ \t]*", " ", raw).replace(r"\h", _HARD_SPACE)
    return HtmlToken(html.unescape(text) if escaped else text)


def _raw(token: HtmlToken, space: str, *, escaped: bool) -> str:
    if token.kind != "text":
        return token.raw
    text = re.sub(r"\s*-->\s*", " → ", token.raw).replace("\n", " ")
    return MAY_BREAK.sub(space, html.escape(text, quote=False) if escaped else text)


def _in_lines(text: str, space: str, lengths: Sequence[int], newline: str) -> str:
    """The text in as many lines, each with about the share of it that it had; it is broken at marked spaces."""
    places = [place for place, char in enumerate(text) if char == space]
    chars, done, whole = list(text), 0, sum(lengths)
    for left, before in zip(range(len(lengths) - 2, -1, -1), accumulate(lengths), strict=False):
        ideal, end = before / whole * len(text), min(max(len(places) - left, done + 1), len(places))
        if done < end:
            after = bisect_left(places, ideal, done, end)
            nearest = min(range(max(after - 1, done), min(after + 1, end)),
                          key=lambda number: abs(places[number] - ideal))
            chars[places[nearest]] = newline
            done = nearest + 1
    return "".join(chars).replace(space, " ")
