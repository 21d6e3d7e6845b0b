"""Archives that come from anywhere: each fault is one line that names the file and, where there is one, the entry."""

import struct
import zlib
from io import BytesIO
from zipfile import ZIP_BZIP2, ZipFile

import pytest

from seq2see.documents import archive, xml_parts
from seq2see.documents.archive import Archive
from seq2see.errors import UserError
from .archives import WORD, entries_of, opened, sample, with_entries

DOCX, ODT, PPTX, EPUB = (sample(f"pandoc{end}") for end in (".docx", ".odt", ".pptx", "-3.epub"))
DOCUMENT, PAGE = "word/document.xml", "EPUB/text/ch001.xhtml"
BOMB = '<!DOCTYPE a [<!ENTITY b "bbbbbbbb"><!ENTITY c "&b;&b;&b;&b;">]>'
ENCRYPTION = '<encryption xmlns="u"><EncryptedData><EncryptionMethod Algorithm="{}"/></EncryptedData></encryption>'


def word(inside: str, *, before: str = "") -> dict[str, str]:
    return {DOCUMENT: f'{before}<w:document xmlns:w="{WORD}"><w:body>{inside}</w:body></w:document>'}


def named(name: str) -> bytes:
    return with_entries(DOCX, {name: "x"})


def as_link(info):
    info.create_system, info.external_attr = 3, 0o120777 << 16


def as_bzip2(info):
    info.compress_type = ZIP_BZIP2


def encrypted(data: bytes) -> bytes:
    """With the flag of encryption on the first entry of the central directory."""
    place = data.index(b"PK\1\2") + 8
    return data[:place] + b"\1\0" + data[place + 2 :]


def overlapping(data: bytes) -> bytes:
    """With a second entry of the central directory that begins inside the first one's bytes."""
    with ZipFile(BytesIO(data)) as old:
        first, second = old.infolist()[:2]
    place = data.index(b"PK\1\2", data.index(b"PK\1\2") + 4)
    assert data[place + 46 :].startswith(second.filename.encode())
    return data[: place + 42] + struct.pack("<I", first.header_offset + 10) + data[place + 46 :]


def twice(data: bytes) -> bytes:
    with ZipFile(written := BytesIO(data), "a") as new, pytest.warns(UserWarning):
        new.writestr(DOCUMENT, "x")
    return written.getvalue()


def flipped(data: bytes, name: str) -> bytes:
    """With a changed byte in an entry."""
    with ZipFile(BytesIO(data)) as old:
        info = old.getinfo(name)
    place = info.header_offset + 30 + len(name) + info.compress_size // 2
    return data[:place] + bytes([data[place] ^ 255]) + data[place + 1 :]


FAULTS = {
    "no zip": (b"hello", "a.docx is broken, or of another format (save it again as docx): File is not a zip file"),
    "cut off": (DOCX[:5000], "a.docx is broken"),
    "password": (b"\xd0\xcf\x11\xe0" + bytes(600), "has a password, or is in an old Office format"),
    "encrypted": (encrypted(DOCX), "'[Content_Types].xml', which is encrypted"),
    "other compression": (with_entries(DOCX, {"a": "x"}, change=as_bzip2), "'a', whose compression this format"),
    "overlap": (overlapping(DOCX), "is broken in [Content_Types].xml: it overlaps"),
    "twice": (twice(DOCX), "'word/document.xml' more than once"),
    "case": (named("WORD/document.XML"), "'word/document.xml' more than once"),
    "outside": (named("word/../../etc/passwd"), "'word/../../etc/passwd', whose name is not a path inside"),
    "absolute": (named("/etc/passwd"), "'/etc/passwd', whose name"),
    "backslash": (named("word\\evil.xml"), "whose name is not a path inside"),
    "drive": (named("C:evil"), "'C:evil', whose name"),
    "line break": (named("a\nb"), "'a\\nb', whose name"),
    "link": (with_entries(DOCX, {"l": "/etc/passwd"}, change=as_link), "'l', which is a link"),
    "bomb": (with_entries(DOCX, {"b": bytes(11 << 20)}), "'b', which expands to 11,534,336 bytes"),
    "wrong byte": (flipped(DOCX, DOCUMENT), "is broken in word/document.xml"),
    "no main part": (with_entries(DOCX, {DOCUMENT: None}), "is broken: it has no word/document.xml"),
    "no XML": (with_entries(DOCX, word("<w:p>")), "a.docx, word/document.xml, is broken: Opening and ending tag"),
    "too deep": (with_entries(DOCX, word("<w:p>" * 999 + "</w:p>" * 999)), "document.xml, is broken: Excessive depth"),
    "entities": (with_entries(DOCX, word("", before=BOMB)), "document.xml, has a document type definition"),
    "UTF-16": (with_entries(DOCX, {DOCUMENT: f'<?xml version="1.0" encoding="UTF-16"?>{BOMB}<a/>'.encode("utf-16")}),
               "document.xml, has a document type definition"),
    "external": (with_entries(DOCX, word("&x;", before='<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]>')),
                 "document.xml, has a document type definition"),
    "macros": (named("word/vbaProject.bin"), "a.docx has macros; save the file without macros"),
    "signed": (named("_xmlsignatures/sig1.xml"), "is signed, and a translation would break the signature"),
    "odt with macros": (with_entries(ODT, {"Basic/Standard/M.xml": "x"}), "a.odt has macros"),
    "odt signed": (with_entries(ODT, {"META-INF/documentsignatures.xml": "x"}), "a.odt is signed"),
    "odt password": (with_entries(ODT, {"META-INF/manifest.xml": "<manifest:encryption-data/>"}), "has a password"),
    "odt entities": (with_entries(ODT, {"content.xml": f"{BOMB}<a>&c;</a>"}), "a.odt, content.xml, has a document"),
    "epub encrypted": (with_entries(EPUB, {"META-INF/encryption.xml": ENCRYPTION.format("http://aes")}),
                       "a.epub is encrypted (digital rights management)"),
    "epub without a book": (with_entries(EPUB, {"META-INF/container.xml": "<container/>"}), "it names no book"),
    "epub signed": (with_entries(EPUB, {"META-INF/signatures.xml": "x"}), "a.epub is signed"),
    "epub page broken": (with_entries(EPUB, {PAGE: "<html><body><p></body></html>"}), f"a.epub, {PAGE}, is broken"),
    "epub page missing": (with_entries(EPUB, {PAGE: None}), f"it has no {PAGE}"),
    "epub entities": (with_entries(EPUB, {PAGE: f"{BOMB}<html><body>&c;</body></html>"}), f"{PAGE}, defines entities"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_one_line(fault):
    data, message = FAULTS[fault]
    extension = next((word for word in ("epub", "odt") if fault.startswith(word)), "docx")
    with pytest.raises(UserError) as error:
        opened(f"a.{extension}", data)
    assert message in str(error.value) and "\n" not in str(error.value)


@pytest.mark.parametrize("name", ["a.txt", "a.doc", "a.md", "a.docx", "a.epub", "a"])
@pytest.mark.parametrize("data", [DOCX, ODT, PPTX, EPUB])
def test_the_format_is_that_of_the_bytes(name, data):
    own = next(end for end, one in (("docx", DOCX), ("odt", ODT), ("pptx", PPTX), ("epub", EPUB)) if one == data)
    assert opened(name, data).texts == opened(f"a.{own}", data).texts


@pytest.mark.parametrize(("data", "message"), [
    (b"%PDF-1.7\n", "a.txt is a PDF file; save it as docx"),
    (b"{\\rtf1\\ansi", "a.txt is an RTF file"),
    (b"\xd0\xcf\x11\xe0" + bytes(99), "a.txt is in an old format of Office"),
    (with_entries(ODT, {"mimetype": None}), "a.txt is an archive, but no docx, odt, pptx or epub"),
    (b"\x1f\x8b\x08\0", "a.txt is compressed"),
])
def test_a_file_that_is_no_text_is_named(data, message):
    with pytest.raises(UserError) as error:
        opened("a.txt", data)
    assert str(error.value).startswith(message)


@pytest.mark.parametrize(("bound", "most"), [
    ("MOST_ENTRIES", 9), ("MOST_ENTRY_BYTES", 5000), ("MOST_EXPANDED_BYTES", 50_000),
])
def test_bounds(monkeypatch, bound, most):
    opened("a.docx", DOCX)
    monkeypatch.setattr(archive, bound, most)
    with pytest.raises(UserError, match="split"):
        opened("a.docx", DOCX)


def test_xml_has_a_bound(monkeypatch):
    monkeypatch.setattr(xml_parts, "MOST_XML_BYTES", 2000)
    with pytest.raises(UserError, match=r"a.docx, \S+, has .* bytes; at most 2,000 are allowed; split the file"):
        opened("a.docx", DOCX)


@pytest.mark.parametrize(("name", "data"), [
    ("a.docx", DOCX), ("a.odt", ODT), ("a.pptx", PPTX), ("a.epub", EPUB),
    ("a.xliff", b'<xliff version="1.2"><file target-language="fr"/></xliff>'),
])
def test_the_elements_of_a_file_have_a_bound(monkeypatch, name, data):
    """All entries together, each counted once."""
    count = 0

    def check(entry, where, *, before=0):
        nonlocal count
        count = max(count, before + xml_parts.element_count(entry))

    with monkeypatch.context() as patch:
        patch.setattr(xml_parts, "check_size", check)
        opened(name, data).write(opened(name, data).texts)
    for most in (count, count - 1):
        monkeypatch.setattr(xml_parts, "MOST_ELEMENTS", most)
        if most == count:
            document = opened(name, data)
            document.write(document.texts)
        else:
            with pytest.raises(UserError, match=rf"{count:,} XML elements; at most {most:,} are allowed"):
                opened(name, data)


def test_fonts_may_be_obfuscated():
    method = ENCRYPTION.format("http://www.idpf.org/2008/embedding")
    assert opened("a.epub", with_entries(EPUB, {"META-INF/encryption.xml": method})).texts


def test_an_archive_in_an_archive_is_not_opened():
    nested = with_entries(DOCX, {"word/embeddings/a.xlsx": DOCX[:3000], "word/embeddings/b.zip": b"PK\3\4" + bytes(40)})
    document = opened("a.docx", nested)
    written = entries_of(document.write([one + " x" for one in document.texts]))
    assert written["word/embeddings/a.xlsx"] == DOCX[:3000]


def test_rewriting_keeps_the_other_entries():
    """Bytes, names, order, dates, compression and comments; `mimetype` is first and as it is, also where it was not."""
    last = with_entries(EPUB, {"mimetype": "application/epub+zip"})
    with ZipFile(BytesIO(Archive(last, "a").rewritten({PAGE: b"new"}))) as new, ZipFile(BytesIO(last)) as old:
        first, *rest = new.infolist()
        assert (first.filename, first.compress_type, first.extra) == ("mimetype", 0, b"")
        assert [one.filename for one in rest] == [one.filename for one in old.infolist()[:-1]]
        for one in rest:
            before = old.getinfo(one.filename)
            assert (one.date_time, one.compress_type, one.external_attr) == (
                before.date_time, before.compress_type, before.external_attr)
            assert new.read(one) == (b"new" if one.filename == PAGE else old.read(before))


def test_sizes_that_are_not_true_are_found():
    """What a directory says of a size bounds what is expanded."""
    data = with_entries(DOCX, {"b": bytes(1000)})
    sized = struct.pack("<II", len(zlib.compress(bytes(1000))) - 6, 1000)
    assert data.count(sized) == 2
    liar = data.replace(sized, sized[:4] + struct.pack("<I", 10))
    with pytest.raises(UserError, match="broken in b"):
        Archive(liar, "a.docx").rewritten({DOCUMENT: b"x"})
