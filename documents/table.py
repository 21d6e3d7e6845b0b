"""Tables with a character between their cells (CSV, TSV): the cells of chosen columns, in place.

The separator is found in the first rows.  A changed cell is quoted if it was, or has to be; all else stays byte for
byte.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from seq2see.errors import UserError
from ..text.protection import DEFAULT_PROTECTION
from .places import Place, document_of
from .plain_text import decoded
from .protocol import Document, FileOptions

SEPARATORS = ",;\t|"
SAMPLE = 50  # rows
MOST_COLUMNS = 10_000
LONGEST_NAME = 40  # characters of a column's name
_NAMED = re.compile(r"sep=([,;\t|])[\r\n]")  # as Excel has it, in the first row
_WORD = re.compile(r"[^\W\d_]+")
_SENTENCE_END = re.compile(r"[.!?。！？]\s*\Z")

Cell = tuple[int, int]
Row = list[Cell]


def read(data: bytes, options: FileOptions, *, name: str) -> Document:
    mark, source = decoded(data, name)
    named = _NAMED.match(source)
    separator = named[1] if named else "\t" if name.lower().endswith(".tsv") else _separator(source, name)
    rows = [row for row in _rows(source, separator, name) if len(row) > 1 or row[0][0] < row[0][1]][bool(named):]
    texts = [[_content(source[start:end]) for start, end in row] for row in rows]
    header = _header(texts, options.columns)
    width = max(map(len, texts), default=0)
    columns = _chosen(options.columns, header, width, name) if options.columns else _usual(texts[bool(header):], name)
    if all(map(str.isdecimal, options.columns)) and any(_is_phrase(one) for index, one in enumerate(header)
                                                        if index in columns):
        header = ()  # it is a text as those below
    places = (Place(*cell, (text.strip(),), _writer(source[slice(*cell)], text, separator))
              for row, cells in zip(rows[bool(header):], texts[bool(header):], strict=True)
              for number, (cell, text) in enumerate(zip(row, cells, strict=True))
              if number in columns and DEFAULT_PROTECTION.has_words(text) and not text.startswith("="))  # a formula
    return document_of(source, places, name=name, mark=mark)


def _cells(separator: str) -> re.Pattern[str]:
    """A cell and what ends it.  Quotation marks that do not enclose a cell are text."""
    between = re.escape(separator)
    return re.compile(rf'(?P<cell>"(?:[^"]++|"")*+"(?={between}|\r|\n|\Z)|[^{between}\r\n]*+)'
                      rf"(?P<end>{between}|\r\n|\r|\n|\Z)")


def _rows(source: str, separator: str, name: str, most: int | None = None) -> list[Row]:
    """The rows, or so many of them; UserError for one that is too wide."""
    rows: list[Row] = []
    row: Row = []
    for match in _cells(separator).finditer(source):
        row.append(match.span("cell"))
        if len(row) > MOST_COLUMNS:
            raise UserError(f"{name} has more than {MOST_COLUMNS:,} columns (row {len(rows) + 1:,})")
        if match["end"] != separator:
            rows.append(row)
            row = []
            if len(rows) == most:
                break
        if match.end() == len(source) and match["end"] != separator:
            break  # a last match would be an empty row
    return rows


def _separator(source: str, name: str) -> str:
    """The separator that gives the most rows of the first row's width."""
    def fits(separator: str) -> tuple[int, int]:
        rows = _rows(source, separator, name, SAMPLE)
        width = len(rows[0]) if rows else 1
        return (sum(len(row) == width for row in rows), width) if width > 1 else (0, 0)

    return max(SEPARATORS, key=fits)


def _content(cell: str) -> str:
    return cell[1:-1].replace('""', '"') if len(cell) > 1 and cell[0] == cell[-1] == '"' else cell


def _writer(raw: str, text: str, separator: str):  # type: ignore[no-untyped-def]
    """How a translation is written in the cell, with the spaces at its ends."""
    stripped = text.strip()
    begin = text.index(stripped)
    quoted = raw[:1] == '"' and raw != text

    def written(translations: Sequence[str]) -> str:
        new = text[:begin] + translations[0] + text[begin + len(stripped):]
        needed = quoted or any(char in new for char in f"{separator}\r\n") or new.startswith('"')
        return '"' + new.replace('"', '""') + '"' if needed else new

    return written


def _header(texts: Sequence[Sequence[str]], columns: Sequence[str]) -> Sequence[str]:
    """The first row if it names the columns: if names were asked for, or if all its cells may be names."""
    if not texts:
        return ()
    first = [text.strip() for text in texts[0]]
    names = len({*first}) == len(first) and all(
        len(text) <= LONGEST_NAME and _WORD.search(text) and not _SENTENCE_END.search(text) for text in first)
    by_name = any(not column.isdecimal() for column in columns)
    return first if by_name or (names and len(texts) > 1) else ()


def _chosen(columns: Sequence[str], header: Sequence[str], width: int, name: str) -> set[int]:
    """The indices of columns that are named, or numbered from 1 up to the width."""
    chosen = set[int]()
    for column in columns:
        same = [index for index, one in enumerate(header) if one == column]
        if not same and not (column.isdecimal() and 0 < int(column) <= width):
            raise UserError(f"{name} has no column {column!r}; it has {', '.join(header) or f'{width} columns'}")
        chosen.update(same or {int(column) - 1})
    return chosen


def _usual(rows: Sequence[Sequence[str]], name: str) -> set[int]:
    """The columns in which most cells are phrases."""
    width = max(map(len, rows), default=0)
    counts = [[0, 0] for _ in range(width)]
    for row in rows:
        for index, text in enumerate(row):
            counts[index][0] += bool(text.strip())
            counts[index][1] += _is_phrase(text)
    found = {index for index, (filled, phrases) in enumerate(counts) if phrases * 2 > filled}
    if not found and any(text and DEFAULT_PROTECTION.has_words(text) for row in rows for text in row):
        raise UserError(f"{name}: no column holds mostly phrases; choose columns with --columns, by name or number")
    return found


def _is_phrase(text: str) -> bool:
    """Two words or more that do not all begin with a capital, as names do; or a word of a script without capitals."""
    words = _WORD.findall(DEFAULT_PROTECTION.masked(text, " ")) if text else []
    uncased = any(len(word) > 1 and word.upper() == word.lower() for word in words)
    return uncased or (len(words) > 1 and any(word[0].islower() for word in words))
