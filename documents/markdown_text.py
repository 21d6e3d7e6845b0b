"""Markdown: the text of each block, in place (CommonMark, with tables, footnotes, definition lists and front matter).

Addresses, code, formulas, references and the marks of blocks stay, and so do the lines of site generators (Liquid,
Hugo, MDX) and the first line of an alert.  A paragraph of several lines is one text, and its translation is broken into
lines about as long.  A block of HTML is a text of HTML.  The title and the description in the front matter are texts;
the rest of it stays.  Tables drawn with dashes, as pandoc writes, stay.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator, Sequence, Set
from dataclasses import dataclass, replace
from itertools import chain
from typing import Literal

from seq2see.errors import UserError
from ..text.protection import DEFAULT_PROTECTION
from .fragments import Fragment, HtmlToken
from .html_page import parts_of
from .markdown_anchors import with_links
from .markdown_inline import Image, label_of, tokens_of, written
from .places import Place, document_of, filled, unused
from .plain_text import decoded
from .protocol import Document, FileOptions

MOST_NESTED = 50  # quotes and lists
LONGEST_BLOCK = 100_000  # characters
LINE = 72  # characters at which a translation is broken, if no line of its text was longer
_LINE = re.compile(r"[^\r\n]+(?:\r\n|\r|\n|\Z)|[\r\n]+|\Z")  # empty lines that follow one another are one
_QUOTE = re.compile(r" {0,3}>[ \t]?")
_ITEM = re.compile(r"(?P<indent> {0,3})(?P<mark>[-+*:]|(?P<number>\d{1,9})[.)])(?P<gap>[ \t]+|\Z)")
_NOTE = re.compile(r" {0,3}(?:\[\^[^\[\]\s]+|\*\[[^\[\]]+)\]:[ \t]*")  # a footnote, an abbreviation
_ADMONITION = re.compile(r" {0,3}(?:(?:!!!|\?\?\?\+?)\s|===[+!]?[ \t]+\")")
_TASK = re.compile(r"\[[ xX]\][ \t]+")
_RULE = re.compile(r" {0,3}(?:(?:\*[ \t]*+){3,}+|(?:-[ \t]*+){3,}+|(?:_[ \t]*+){3,}+)\Z")
_HEADING = re.compile(r" {0,3}#{1,6}(?:[ \t]+|\Z)")
_UNDERLINE = re.compile(r" {0,3}(?:=+|-+)[ \t]*\Z")
_FENCE = re.compile(r" {0,3}(?P<fence>`{3,}(?=[^`]*\Z)|~{3,}|%%(?=\s*\Z)|\$\$(?!.*\$\$))")
_KEPT = re.compile(r" {0,3}(?::{3,}.*|\[\[?_?TOC_?\]?\]|\{%[^{}]*%\}|\{\{[<%][^{}]*\}\}|\{[:#.][^{}]*\}|\$\$.*\$\$"
                   r"|\[!\w.*|\([\w.-]+\)=|\{%-?\s*(raw|comment|highlight)\b.*\{%-?\s*end\1\s*-?%\})[ \t]*\Z",
                   re.IGNORECASE)
_IMPORT = re.compile(r"""import\s+(?:["']|\{[^}]*\Z|[\w$*{].*\sfrom\s*["'])|export\s+(?:default\s|[{*]"""
                     r"|(?:const|let|var|class|function)\s+[\w$].*[={(])")
_DEFINED = re.compile(r" {0,3}\[(?P<label>(?:[^\[\]\\]|\\.)++)\]:[ \t]*(?P<address>\S*)")
_TITLE = re.compile(r"""[ \t]*(?:".*"|'.*'|\(.*\))[ \t]*\Z""")
_DASHES = re.compile(r"[ \t]*-{2,}+(?:[ \t]++-{2,}+)++[ \t]*\Z|\+(?:[-=:]++\+)++[ \t]*\Z")
_DELIMITERS = re.compile(r"[ \t]*\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*+\|?[ \t]*\Z")
_CELL = re.compile(r"(?:[^|\\]|\\.|\\\Z)+")
_RAW = re.compile(
    r" {0,3}(?:<(?:(?P<raw>script|pre|style|textarea)(?=[\s>]|\Z)|(?P<comment>!--)|(?P<instruction>\?)"
    r"|(?P<cdata>!\[CDATA\[)|(?P<declaration>![a-zA-Z]))|\{/(?P<jsx>\*)|\\begin\{(?P<latex>\w+\*?)\}"
    r"|\\{1,2}(?P<formula>\[)(?=[ \t]*\Z)|\{(?:%|\{[<%])-?\s*"
    r"(?P<liquid>highlight|raw|comment|code(?:block)?|verbatim|mermaid|math)\b[^{}]*\}+(?=[ \t]*\Z))", re.IGNORECASE)
_RAW_ENDS = {"raw": r".*</(?:script|pre|style|textarea)>", "comment": ".*-->", "instruction": r".*\?>",
             "cdata": r".*\]\]>", "declaration": ".*>", "liquid": r".*\{(?:%|\{[<%])-?\s*(?:end|/)\s*NAME\b",
             "latex": r".*\\end\{NAME\}", "formula": r".*\\\]", "jsx": r".*\*/\}"}
_BLOCK_TAG = re.compile(
    r" {0,3}</?(?:address|article|aside|base|basefont|blockquote|body|caption|center|col|colgroup|dd|details|dialog|dir"
    r"|div|dl|dt|fieldset|figcaption|figure|footer|form|frame|frameset|h[1-6]|head|header|hr|html|iframe|legend|li|link|main"
    r"|menu|menuitem|nav|noframes|ol|optgroup|option|p|param|picture|search|section|source|summary|table|tbody|td|tfoot|th"
    r"|thead|title|tr|track|ul|video)(?=[\s>]|/>|\Z)", re.IGNORECASE)
_ANY_TAG = re.compile(r""" {0,3}</?[a-zA-Z][\w-]*(?:\s+[\w:.-]+(?:\s*=\s*(?:[^\s"'=<>`]+|'[^']*'|"[^"]*"))?)*\s*/?>"""
                      r"[ \t]*\Z")
_STARTS_BLOCK = re.compile(  # a word that would begin another block at the start of a line
    r"(?:[-+*:]|[-=]+|\#{1,6}|>.*|\d{1,9}[.)]|(?:~~~|```|\$\$|:::|\||!!!|\?\?\?|\[\^|</?[a-zA-Z]|<!|<\?|[*_-]{3}"
    r"|\\begin\{|\{[%/]|\{\{[<%]|\[!\w|\*\[).*|\\{1,2}\[)\Z",
    re.DOTALL)
_STARTS_TEXT = re.compile(r"(?P<number>\d{1,9})[.)](?=\s|\Z)|(?:[-+*:]|\#{1,6})(?=\s|\Z)|>|~~~|\|"
                          r"|\[(?=!\w|[^\[\]]+\]:)", re.DOTALL)
_FRONT = re.compile(r"(?P<fence>---|\+\+\+)[ \t]*\r?\n(?P<inside>(?:.*\n)*?)(?:(?P=fence)|\.\.\.)[ \t]*(?:\r?\n|\Z)")
_READ = re.compile(r"(?P<name>title|subtitle|description|summary|abstract)"
                   r"(?::[ \t]+|[ \t]*=[ \t]*(?=[\"']))(?P<value>\S.*)", re.IGNORECASE)
_PLAIN_YAML = re.compile(r"[^\W_](?:[^:#\r\n]|:(?!\s|\Z)|(?<!\s)\#)*")
_BLANK = re.compile(r"\s*\Z")

Span = tuple[int, int]
Kind = Literal["text", "cell", "html"]


@dataclass(frozen=True)
class _Block:
    """The lines of a text, without what the blocks around it begin them with."""

    kind: Kind
    lines: Sequence[Span]


def read(data: bytes, options: FileOptions, *, name: str) -> Document:
    mark, source = decoded(data, name)
    front = _FRONT.match(source)
    start = front.end() if front else 0
    blocks = _Blocks(source, start)
    _check(source, blocks.found, name)
    places = (_html_place(source, block) if block.kind == "html" else _text_place(source, block, blocks.labels)
              for block in blocks.found)
    document = document_of(source, chain(_front_places(source, front) if front else (), places), name=name, mark=mark)
    return replace(document, write=lambda translations: with_links(
        source, document.write(translations).decode()).encode())


def _check(source: str, blocks: Sequence[_Block], name: str) -> None:
    """UserError for a paragraph that nobody can have written."""
    for block in blocks:
        if block.kind != "html" and block.lines[-1][1] - block.lines[0][0] > LONGEST_BLOCK:
            line = source.count("\n", 0, block.lines[0][0]) + 1
            raise UserError(f"{name} has a paragraph of over {LONGEST_BLOCK:,} characters at line {line:,}: split it")


class _Blocks:
    """The blocks of a source, line by line: `found` have text, `labels` are defined by references."""

    def __init__(self, source: str, start: int):
        self.source = source
        self.found: list[_Block] = []
        self.labels: set[str] = set()
        self.containers: list[int | None] = []  # the columns by which an item's lines are indented; None: a quote
        self.kind: Kind | None = None  # of the open block
        self.lines: list[Span] = []  # of the open block
        self.until: re.Pattern[str] | None = None  # the line that ends a block that stays
        self.is_table = self.is_defined = False  # the line before was of a table; defined a reference
        for line in _LINE.finditer(source, start):
            self._line(line.start(), line.start() + len(line[0].rstrip("\r\n")))
        self._close()

    def _line(self, start: int, end: int) -> None:
        matched, place = self._inside(start, end)
        if self.until and matched == len(self.containers):
            if self.until.match(self.source, place, end):
                self.until = None
            return
        if self.kind == "html" and matched == len(self.containers):
            self._leaf(place, end)
            return
        paragraph = self.kind == "text"
        interrupts = paragraph and matched == len(self.containers)  # else it is beside the item of the paragraph
        while matched < MOST_NESTED and (opened := self._opens(place, end, interrupts)):
            self._close()
            self.containers[matched:] = [opened[0]]
            matched, place, interrupts = matched + 1, opened[1], False
        if matched < len(self.containers):
            if paragraph and not _BLANK.match(self.source, place, end) and not self._interrupts(place, end):
                self._add("text", place, end)
                return
            self._close()
            del self.containers[matched:]
        self._leaf(place, end)

    def _inside(self, start: int, end: int) -> tuple[int, int]:
        """How many of the open containers a line is inside of, and where its own content begins."""
        place, blank = start, None
        for number, indent in enumerate(self.containers):
            if indent is None:
                quote = _QUOTE.match(self.source, place, end)
                if not quote:
                    return number, place
                place, blank = quote.end(), None
                continue
            blank = blank if blank is not None else bool(_BLANK.match(self.source, place, end))
            if not blank:
                after = _indented(self.source, place, end, indent)
                if after is None:
                    return number, place
                place = after
        return len(self.containers), place

    def _opens(self, place: int, end: int, interrupts: bool) -> tuple[int | None, int] | None:
        """The quote or the item that begins here, and where its content begins."""
        if quote := _QUOTE.match(self.source, place, end):
            return None, quote.end()
        if note := _NOTE.match(self.source, place, end):
            return 4, note.end()
        if _ADMONITION.match(self.source, place, end):
            return 4, end
        item = _ITEM.match(self.source, place, end)
        if not item or _RULE.match(self.source, place, end):
            return None
        empty = item.end() == end
        if interrupts and (empty or item["number"] not in (None, "1")):
            return None
        gap = 1 if empty or len(item["gap"].expandtabs(4)) > 4 else len(item["gap"].expandtabs(4))
        indent = item.end("mark") - place + gap
        return indent, end if empty else min(item.end(), item.end("mark") + gap)

    def _interrupts(self, place: int, end: int) -> bool:
        """Whether a line begins another block than the paragraph before it."""
        return any(pattern.match(self.source, place, end) for pattern in (_HEADING, _FENCE, _RAW, _BLOCK_TAG, _RULE))

    def _leaf(self, place: int, end: int) -> None:
        source = self.source
        paragraph, defined, self.is_defined = self.kind == "text", self.is_defined, False
        if _BLANK.match(source, place, end):
            self._close()
        elif self.kind == "html":
            self._add("html", place, end)
        elif not paragraph and _indented(source, place, end, 4) is not None:
            self._close()  # code
        elif not paragraph and not self.containers and _IMPORT.match(source, place, end):
            self._close()
            self.until = _BLANK
        elif (fence := _FENCE.match(source, place, end)) or (fence := _RAW.match(source, place, end)):
            self._close()
            self._keep(fence, end)
        elif _BLOCK_TAG.match(source, place, end) or (not paragraph and _ANY_TAG.match(source, place, end)):
            self._close()
            self._add("html", place, end)
        elif heading := _HEADING.match(source, place, end):
            self._close()
            self._add("text", heading.end(), _heading_end(source, heading.end(), end))
            self._close()
        elif paragraph and _UNDERLINE.match(source, place, end):
            self._close()
        elif _DASHES.match(source, place, end):
            self.lines = []  # the names of the columns
            self._close()
            self.until = _BLANK
        elif _RULE.match(source, place, end) or _KEPT.match(source, place, end):
            self._close()
        elif self.is_table:
            self._row(place, end)
        elif paragraph and self._is_table(place, end):
            header = self.lines.pop()
            self._close()
            self._row(*header)
            self.is_table = True
        elif not paragraph and self._defines(place, end, defined):
            self.is_defined = True
        else:
            self._add("text", place, end)

    def _keep(self, begun: re.Match[str], end: int) -> None:
        """Let all lines stay until the one that ends the block begun here, which may be this one."""
        kind = begun.lastgroup or ""
        if kind == "fence":
            fence = begun["fence"]
            self.until = re.compile(rf" {{0,3}}{re.escape(fence[0])}{{{len(fence)},}}[ \t]*\Z" if fence != "$$" else
                                    r".*\$\$[ \t]*\Z")
            return
        ends = re.compile(_RAW_ENDS[kind].replace("NAME", re.escape(begun[kind])), re.IGNORECASE)
        if not ends.match(self.source, begun.end(), end):
            self.until = ends

    def _is_table(self, place: int, end: int) -> bool:
        """Whether a line separates the names of columns, the line before it, from the rows of a table."""
        if not _DELIMITERS.match(self.source, place, end) or "|" not in self.source[place:end]:
            return False
        return len(_cells(self.source, *self.lines[-1])) == len(_cells(self.source, place, end))

    def _row(self, place: int, end: int) -> None:
        self.found += [_Block("cell", [cell]) for cell in _cells(self.source, place, end) if cell[0] < cell[1]]

    def _defines(self, place: int, end: int, defined: bool) -> bool:
        """Whether a line defines a reference, or is the title of the one before."""
        reference = _DEFINED.match(self.source, place, end)
        if reference and reference["address"]:
            self.labels.add(label_of(reference["label"]))
            return True
        return defined and _TITLE.match(self.source, place, end) is not None

    def _add(self, kind: Kind, place: int, end: int) -> None:
        self.kind = kind
        if kind == "text":
            while place < end and self.source[place] in " \t":
                place += 1
            if not self.lines and (task := _TASK.match(self.source, place, end)):
                place = task.end()
        self.lines.append((place, end))

    def _close(self) -> None:
        if self.lines and self.kind:
            begin, end = self.lines[-1]
            self.lines[-1] = begin, begin + len(self.source[begin:end].rstrip())
            self.found.append(_Block(self.kind, self.lines))
        self.kind, self.lines, self.is_table, self.until = None, [], False, None


def _indented(source: str, place: int, end: int, columns: int) -> int | None:
    """Where a line goes on after so many columns of white space; None if it has fewer."""
    column = 0
    while column < columns:
        if place == end or source[place] not in " \t":
            return None
        column += 4 - column % 4 if source[place] == "\t" else 1
        place += 1
    return place


def _heading_end(source: str, start: int, end: int) -> int:
    """Where the text of a heading ends, before closing signs and attributes."""
    text = source[start:end].rstrip()
    if text.endswith("}") and (opened := text.rfind("{")) >= 0 and "}" not in text[opened:-1]:
        text = text[:opened].rstrip()
    bare = text.rstrip("#")
    return start + len(bare.rstrip() if not bare or bare[-1:].isspace() else text)


def _cells(source: str, place: int, end: int) -> list[Span]:
    """The cells of a row, without the spaces around them."""
    text = source[place:end].strip()
    place = source.index(text, place)
    end = place + len(text)
    place += text.startswith("|")
    cells = list[Span]()
    while place <= end:
        cell = _CELL.match(source, place, end)
        after = cell.end() if cell else place
        inside = source[place:after]
        begin = place + len(inside) - len(inside.lstrip())
        cells.append((begin, max(begin, place + len(inside.rstrip()))))
        place = after + 1
        if place == end + 1 or (place == end and source[after] == "|"):
            break
    return cells


def _text_place(source: str, block: _Block, labels: Set[str]) -> Place:
    start, end = block.lines[0][0], block.lines[-1][1]
    lines = [source[slice(*line)] for line in block.lines]
    joint = source[block.lines[0][1] : block.lines[1][0]] if len(lines) > 1 else "\n"
    width = max(LINE, *map(len, lines)) if len(lines) > 1 else math.inf
    texts = (*Fragment(tokens := tokens_of("\n".join(lines), labels)).texts, *(image.alt for image in _images(tokens)))

    def changed(translations: Sequence[str]) -> str:
        tokens = tokens_of("\n".join(lines), labels)  # again, for they are large
        fragment, images = Fragment(tokens), _images(tokens)
        new = fragment.translated(translations[0]) if fragment.texts else list(tokens)
        alts = dict(zip(map(id, images), translations[len(fragment.texts) :], strict=True))
        with_alts = [_image(token, alts[id(token)]) if id(token) in alts else token for token in new or tokens]
        space = unused("".join(token.raw for token in with_alts))
        text = written(with_alts, labels, space, cell=block.kind == "cell")
        return source[start:end] if text is None else joint.join(_in_lines(text.strip(space), space, width))

    return Place(start, end, texts, changed)


def _images(tokens: Sequence[HtmlToken]) -> list[Image]:
    """The images whose descriptions are texts without elements."""
    return [token for token in tokens if isinstance(token, Image) and DEFAULT_PROTECTION.has_words(token.alt)
            and [part.raw for part in tokens_of(token.alt, frozenset())] == [token.alt]]


def _image(image: HtmlToken, alt: str) -> HtmlToken:
    assert isinstance(image, Image)
    described = re.sub(r"[\[\]]", r"\\\g<0>", alt) if alt != image.alt else alt
    return HtmlToken(f"![{described}{image.target}", "alone")


def _in_lines(text: str, space: str, width: float) -> Iterator[str]:
    """The lines of a text, none longer than `width` if it can be; none begins as another block would."""
    for part in text.split("\n"):
        yield from map(_as_text, filled(part.split(space), width, may_begin=lambda word: not _STARTS_BLOCK.match(word)))


def _as_text(line: str) -> str:
    """A line whose first word would begin another block, with that escaped."""
    begun = _STARTS_TEXT.match(line)
    if begun is None:
        return line
    number = begun["number"] or ""
    return f"{number}\\{line[len(number):]}"


def _html_place(source: str, block: _Block) -> Place:
    start, end = block.lines[0][0], block.lines[-1][1]
    joint = source[block.lines[0][1] : block.lines[1][0]] if len(block.lines) > 1 else "\n"
    texts, written_html = parts_of("\n".join(source[slice(*line)] for line in block.lines))
    return Place(start, end, tuple(texts), lambda new: written_html(new).replace("\n", joint))


def _front_places(source: str, front: re.Match[str]) -> Iterator[Place]:
    """The title and other texts in the front matter (YAML, TOML), if they stand on one line."""
    for line in _LINE.finditer(source, front.start("inside"), front.end("inside")):
        item = _READ.match(line[0].rstrip())
        if not item:
            continue
        value = item["value"]
        quoted = len(value) > 1 and value[0] == value[-1] and value[0] in "\"'" and value[0] not in value[1:-1]
        text = value[1:-1] if quoted and "\\" not in value else value
        if DEFAULT_PROTECTION.has_words(text) and (text != value or _PLAIN_YAML.fullmatch(value)):
            start = line.start() + item.start("value")
            yield Place(start, start + len(value), (text,), _value_like(value))


def _value_like(value: str) -> Callable[[Sequence[str]], str]:
    """How a text is written as a value of YAML or TOML like the one before."""
    def written(translations: Sequence[str]) -> str:
        text = translations[0]
        if value[0] == "'" and "'" not in text:
            return f"'{text}'"
        return text if value[0] not in "\"'" and _PLAIN_YAML.fullmatch(text) else json.dumps(text, ensure_ascii=False)

    return written
