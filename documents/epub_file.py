"""EPUB 2 and 3: the text of its pages by the HTML path, its titles and its tables of contents.

Attributes, scripts and what is not XHTML stay.  Written with its own texts, a file is the same, byte for byte; a page
changes only between the tags of its body, in its title, and in the language that it names.
"""

from __future__ import annotations

import html
import posixpath
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from urllib.parse import unquote, urlsplit

from lxml import etree

from seq2see.errors import UserError, as_user_error
from ..text.html_markup import Html
from ..tokenizer.language_codes import is_right_to_left
from .archive import MIMETYPE, Archive
from .html_page import with_direction
from .protocol import Document, FileOptions, Left
from .xml_document import language_kind
from .xml_parts import local_name, serialised, xml_text

_TYPE = b"application/epub+zip"
_CONTAINER, _ENCRYPTION = "META-INF/container.xml", "META-INF/encryption.xml"
_XHTML, _NCX = "application/xhtml+xml", "application/x-dtbncx+xml"
_OBFUSCATED_FONTS = {"http://www.idpf.org/2008/embedding", "http://ns.adobe.com/pdf/enc#RC"}
_XML_LANGUAGE = "{http://www.w3.org/XML/1998/namespace}lang"
_PROGRESSION = "page-progression-direction"
_ATTRIBUTES = r"""(?:[^<>"'/]|"[^"]*"|'[^']*'|/(?!>))*+"""
_ROOT = re.compile(rf"<(?:html|body)\b{_ATTRIBUTES}>")
_BODY = re.compile(rf"<!--.*?-->|(?P<body><body\b{_ATTRIBUTES}>)", re.DOTALL)
_TITLE = re.compile(r"(?<=<title>)[^<]*[^<\s][^<]*(?=</title\s*>)")
_LANGUAGE = re.compile(r"""(?<=\s)((?:xml:)?lang\s*=\s*["'])[^"']*""")
_MARKUP = re.compile(rb"<(style|script|title)\b.*?</\1\s*>|<[^>]*>", re.DOTALL | re.IGNORECASE)
_VOID = {
    "area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source", "track", "wbr",
}
# A link without letters, behind a word or raised, is a note's mark, which is no part of a word.
_MARK_LINK = rf"<a\b{_ATTRIBUTES}>[^<\s]{{1,8}}</a\s*>"
_NOTE = re.compile(rf"(?<=[^\s>]){_MARK_LINK}|<sup\b{_ATTRIBUTES}>\s*{_MARK_LINK}\s*</sup\s*>")
_NOTE_MARK = re.compile(r'<wbr data-note="(\d{1,6})"/>')
# What is not HTML in XHTML: `<a id="p7"/>` has no end there, and CDATA no meaning.  Comments and scripts stay.
_BARE = re.compile(
    rf"<!--.*?-->|<!\[CDATA\[(?P<characters>.*?)\]\]>|<(script|style)\b{_ATTRIBUTES}>.*?</\2\s*>"
    rf"|<(?P<name>[^\s<>/!?]++)(?P<attributes>{_ATTRIBUTES})/>",
    re.DOTALL,
)


@dataclass(frozen=True)
class _Part:
    """The texts of an entry, and the function that writes it with translations."""

    entry: str
    texts: Sequence[str]
    write: Callable[[Sequence[str]], bytes]
    left: str = ""  # why its text is not translated


def read(data: bytes, options: FileOptions, *, name: str) -> Document:
    archive = Archive(data, name)
    _check(archive)
    language = options.target if language_kind(options.target) else ""

    def write(translations: Sequence[str]) -> bytes:
        left = iter(translations)
        changed: dict[str, bytes] = {}
        same: dict[str, bytes] = {}
        for part in _parts(archive, language):
            translated = [next(left) for _ in part.texts]
            if translated != list(part.texts):
                changed[part.entry] = part.write(translated)
            elif language:
                same[part.entry] = part.write(translated)
        # A book whose texts are all the same keeps its language.
        return archive.rewritten(changed and {**same, **changed})

    parts = list(_parts(archive, language))
    return Document([text for part in parts for text in part.texts], write,
                    [part.entry for part in parts for _ in part.texts],
                    [Left(part.entry, "", part.left) for part in parts if part.left])


def _check(archive: Archive) -> None:
    if MIMETYPE not in archive or archive.read(MIMETYPE).strip() != _TYPE:
        raise archive.wrong_extension()
    if "META-INF/signatures.xml" in archive:
        raise UserError(f"{archive.name} is signed, and a translation would break the signature; save the file"
                        " unsigned")
    if _ENCRYPTION in archive:
        root = archive.tree(_ENCRYPTION).getroot()
        methods = {one.get("Algorithm", "") for one in root.iter() if local_name(one) == "EncryptionMethod"}
        if methods - _OBFUSCATED_FONTS:
            raise UserError(f"{archive.name} is encrypted (digital rights management); only books without encryption"
                            " can be translated")


def _parts(archive: Archive, language: str) -> Iterator[_Part]:
    """The parts of every book in the file: its OPF, then its pages and tables of contents."""
    container = archive.tree(_CONTAINER).getroot()
    packages = {one.get("full-path", ""): None for one in container.iter() if local_name(one) == "rootfile"}
    if not packages:
        raise UserError(f"{archive.name}, {_CONTAINER}, is broken: it names no book")
    done: set[str] = set()
    for package in packages:
        root = archive.tree(package, doctype=True).getroot()
        yield _xml_part(archive, package, "title", language)
        spine = {one.get("idref") for one in root.iter() if local_name(one) == "itemref"}
        for item in root.iter():
            kind, is_read = item.get("media-type", ""), item.get("id") in spine
            if local_name(item) != "item" or not (kind in (_XHTML, _NCX) or is_read):
                continue
            address = urlsplit(item.get("href", ""))
            entry = posixpath.normpath(posixpath.join(posixpath.dirname(package), unquote(address.path)))
            if address.scheme or entry in done:
                continue
            done.add(entry)
            if kind == _NCX:
                yield _xml_part(archive, entry, "text", language)
            else:
                yield _page(archive, entry, language) if kind == _XHTML else _unusual(archive, entry, kind, language)


def _xml_part(archive: Archive, entry: str, name: str, language: str) -> _Part:
    """The texts of the elements of a name in an OPF (`title`) or NCX (`text`)."""
    tree = archive.tree(entry, doctype=True)
    found = [element for element in tree.iter() if local_name(element) == name and not len(element)
             and (element.text or "").strip() and local_name(element.getparent()) != "docAuthor"]

    def write(translations: Sequence[str]) -> bytes:
        for element, translation in zip(found, translations, strict=True):
            element.text = xml_text(translation)
        for element in tree.iter() if language else ():
            if local_name(element) == "language":
                element.text = language
            elif local_name(element) == "spine" and (is_right_to_left(language) or element.get(_PROGRESSION)):
                element.set(_PROGRESSION, "rtl" if is_right_to_left(language) else "ltr")
        root = tree.getroot()
        if language and _XML_LANGUAGE in root.attrib:
            root.set(_XML_LANGUAGE, language)
        return serialised(tree)

    return _Part(entry, [" ".join(element.text.split()) for element in found], write)


def _unusual(archive: Archive, entry: str, kind: str, language: str) -> _Part:
    """A page of another media type than XHTML: it is one if it can be read as one."""
    data = archive.read(entry)
    is_xml = data.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"<")
    if not is_xml or not re.search(rb"[A-Za-z\x80-\xff]{2}", _MARKUP.sub(b"", data)):
        return _Part(entry, [], lambda _: data)  # a picture
    try:
        part = _page(archive, entry, language)
    except UserError:
        part = _Part(entry, [], lambda _: data)
    return part if part.texts else replace(part, left=f"a page of type {kind} that cannot be read as XHTML")


def _page(archive: Archive, entry: str, language: str) -> _Part:
    """The title and the body of a page."""
    data, where = archive.read(entry), f"{archive.name}, {entry},"
    encoding = archive.tree(entry, doctype=True).docinfo.encoding or "UTF-8"
    with as_user_error(f"{where} is broken"):
        page = data.decode(encoding)
    begin = next((one for one in _BODY.finditer(page) if one["body"]), None)
    end = page.rfind("</body")
    if begin is None or end < begin.end():
        return _Part(entry, [], lambda _: data)
    head = page[: begin.end()]
    notes: list[str] = []
    body = _NOTE.sub(partial(_without_note, notes), _BARE.sub(_html, page[begin.end() : end]))
    title = _TITLE.search(head)
    texts = [html.unescape(title[0]).strip()] if title else []
    if has_words := any(map(str.isalpha, re.sub("<[^>]*>", "", body))):
        texts.append(Html(body))

    def write(translations: Sequence[str]) -> bytes:
        new = _ROOT.sub(lambda tag: _LANGUAGE.sub(rf"\g<1>{language}", tag[0]), head) if language else head
        new = with_direction(new, language) if language else new
        if title:
            new = _TITLE.sub(lambda _: html.escape(xml_text(translations[0]), quote=False), new, count=1)
        words = _NOTE_MARK.sub(lambda mark: notes[int(mark[1])] if int(mark[1]) < len(notes) else mark[0],
                               xml_text(translations[-1]) if has_words else body)
        return _well_formed((new + words + page[end:]).encode(encoding, "xmlcharrefreplace"))

    return _Part(entry, texts, write)


def _without_note(notes: list[str], link: re.Match[str]) -> str:
    """A mark for a link to a note, which is added to `notes`."""
    if any(map(str.isalpha, re.sub("<[^>]*>|&[^;]*;", "", link[0]))):
        return link[0]
    notes.append(link[0])
    return f'<wbr data-note="{len(notes) - 1}"/>'


def _html(match: re.Match[str]) -> str:
    """XML of a page in a form that means the same in HTML."""
    if match["characters"] is not None:
        return html.escape(match["characters"], quote=False)
    if match["name"] and match["name"] not in _VOID:
        return f"<{match['name']}{match['attributes']}></{match['name']}>"
    return match[0]


def _well_formed(page: bytes) -> bytes:
    """The page itself, or one whose elements are nested again.

    An element across two texts may lose its nesting when words of the first text change places."""
    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, recover=True)
    tree = etree.fromstring(page, parser).getroottree()
    return serialised(tree) if parser.error_log.filter_from_errors() else page
