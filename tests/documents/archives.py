"""Archives for the tests: samples with entries changed, and entries as canonical XML."""

import html
import re
from collections.abc import Callable, Mapping
from io import BytesIO
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from lxml import etree

from seq2see.documents.formats import read_document
from seq2see.documents.protocol import Document, FileOptions
from seq2see.text.html_markup import Html

SAMPLES = sorted((Path(__file__).parent / "samples").iterdir())  # written by pandoc 2.17 and LibreOffice 7.4
WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
DRAWING = "http://schemas.openxmlformats.org/drawingml/2006/main"
ODF = "urn:oasis:names:tc:opendocument:xmlns:{}:1.0"


def sample(name: str) -> bytes:
    return next(path for path in SAMPLES if path.name == name).read_bytes()


def with_entries(data: bytes, entries: Mapping[str, bytes | str | None], *,
                 change: Callable[[ZipInfo], None] = lambda _: None) -> bytes:
    """The archive with these entries; None: without one.  `change` sees the header of each."""
    written = BytesIO()
    old = ZipFile(BytesIO(data))
    with ZipFile(written, "w", ZIP_DEFLATED) as new:
        for info in old.infolist():
            if info.filename not in entries:
                new.writestr(info, old.read(info))
        for name, content in entries.items():
            if content is not None:
                info = ZipInfo(name)
                info.compress_type = ZIP_DEFLATED
                change(info)
                new.writestr(info, content)
    return written.getvalue()


def entries_of(data: bytes) -> dict[str, bytes]:
    archive = ZipFile(BytesIO(data))
    assert archive.testzip() is None
    return {name: archive.read(name) for name in archive.namelist()}


def canonical(entry: bytes) -> str:
    text: str = etree.tostring(etree.fromstring(entry), method="c14n").decode()
    return text


def opened(name: str, data: bytes, **options: str) -> Document:
    return read_document(name, data, FileOptions(**options))


def swapped(text: str) -> str:
    """The text with capitals for small letters and the other way round, its markup as it is."""
    if not isinstance(text, Html):
        return text.swapcase()
    parts = re.split(r"(<[^>]*>)", text)
    return "".join(part if part[:1] == "<" else html.escape(html.unescape(part).swapcase(), quote=False)
                   for part in parts)
