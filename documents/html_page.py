"""HTML: the page is one text, whose markup the translator copies; and the texts of attributes that people read.

The output is UTF-8, and says so where the page named another encoding.  `<html lang>` becomes the target language,
unless the whole page is kept (`translate="no"`).
"""

from __future__ import annotations

import codecs
import html
import re
from collections.abc import Callable, Sequence

from seq2see.errors import UserError
from ..text.html_markup import NOT_TRANSLATED, Html
from ..text.html_markup import read as tokens_of
from ..text.protection import DEFAULT_PROTECTION
from ..tokenizer.language_codes import is_right_to_left, iso
from .plain_text import MARK, decoded
from .protocol import Document, FileOptions

HEAD = 2_048  # characters in which a page names its encoding and language
_TAG = re.compile(r"""<(?P<name>[a-z][^\s/>]*+)(?:[^>"']++|"[^"]*+"|'[^']*+')*+>""", re.IGNORECASE)
_ATTRIBUTE = re.compile(r"""(?<=[\s"'])(?P<name>[^\s"'<>/=]++)\s*=\s*(?:(?P<quote>["'])(?P<value>.*?)(?P=quote)
                        |(?P<bare>[^\s"'=<>`]++))""", re.VERBOSE | re.IGNORECASE | re.DOTALL)
_READ = frozenset(("alt", "aria-description", "aria-label", "label", "placeholder", "title"))
_DESCRIBED = frozenset((  # texts of a page for others
    "description", "og:title", "og:description", "og:image:alt", "twitter:title", "twitter:description",
    "twitter:image:alt"))
_CHARSET = re.compile(rb"""<(?:meta\b[^>]*\bcharset|\?xml\b[^>]*\bencoding)\s*=\s*["']?([\w-]+)""", re.IGNORECASE)
_NAMED_CHARSET = re.compile(r"""(<(?:meta\b[^>]*\bcharset|\?xml\b[^>]*\bencoding)\s*=\s*["']?)([\w-]+)""",
                            re.IGNORECASE)
_ROOT = re.compile(r"<html\b[^>]*+", re.IGNORECASE)
_BODY = re.compile(r"<(?:html|body)\b[^>]*+", re.IGNORECASE)
_DIRECTION = re.compile(r"""(\sdir\s*=\s*["']?)(?:ltr|rtl)\b""", re.IGNORECASE)
_NAMES_LANGUAGE = re.compile(r"""<meta\b(?=[^>]*\bhttp-equiv\s*=\s*["']?content-language)[^>]*+""", re.IGNORECASE)
_CONTENT = re.compile(r"""(\scontent\s*=\s*["']?)([\w-]+)""", re.IGNORECASE)
_LANG = re.compile(r"""(\s(?:xml:)?lang\s*=\s*["']?)([\w-]+)""", re.IGNORECASE)
_ENCODINGS = re.compile(r"utf-?(?:8|16)(?:le|be)?|iso-8859-\d+|latin-?1|(?:windows-|cp)125\d|koi8-[ru]|gb2312|gbk"
                        r"|gb18030|big5|euc-(?:jp|kr)|shift[_-]jis|us-ascii|macintosh")  # others may be slow


def read(data: bytes, options: FileOptions, *, name: str) -> Document:
    mark, page = _decoded(data, name)
    page = _with_language(page, options)
    texts, written = parts_of(page)
    return Document(texts, lambda translations: (mark + written(translations)).encode())


def parts_of(page: str) -> tuple[list[str], Callable[[Sequence[str]], str]]:
    """The texts of HTML, itself and its attributes, and the function that writes it with their translations."""
    stand_in = next(char for char in map(chr, range(0xE000, 0xF8FF)) if char not in page)
    values: list[tuple[str, str]] = []  # of the attributes that are texts: the source, and quotation marks to add

    def kept(value: str, quote: str) -> str:
        values.append((value, quote))
        return f"{stand_in}{len(values) - 1}{stand_in}"

    whole = "".join(_with_stand_ins(token.raw, kept) for token in tokens_of(page))
    texts = [html.unescape(value) for value, _ in values]

    def written(translations: Sequence[str]) -> str:
        new = [value if text == one else f"{quote}{html.escape(one)}{quote}" for (value, quote), text, one in
               zip(values, texts, translations[1:], strict=True)]
        return re.sub(f"{stand_in}([0-9]+){stand_in}", lambda found: new[int(found[1])], translations[0])

    return [Html(whole), *texts], written


def _decoded(data: bytes, name: str) -> tuple[str, str]:
    """The byte order mark, or nothing, and the page, which names UTF-8 if it named another encoding."""
    found = _CHARSET.search(data[:HEAD])
    encoding = found[1].decode().lower() if found else "utf-8"
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        encoding = "utf-16"
    elif data.startswith(codecs.BOM_UTF8) or encoding.startswith(("utf-8", "utf8", "utf-16", "utf16")):
        return decoded(data, name)  # a page that can be read up to "utf-16" is not
    elif encoding in ("iso-8859-1", "latin1", "latin-1", "us-ascii"):
        encoding = "windows-1252"  # as browsers do
    if not _ENCODINGS.fullmatch(encoding):
        raise UserError(f"{name} names the encoding {encoding}, which is not supported; convert the file to UTF-8")
    try:
        page = data.decode(encoding)
    except (UnicodeDecodeError, LookupError):
        raise UserError(f"{name} names the encoding {encoding}, but is not {encoding}; convert the file to"
                        " UTF-8") from None
    page = page.removeprefix(MARK)
    return "", _NAMED_CHARSET.sub(r"\g<1>utf-8", page[:HEAD]) + page[HEAD:]


def _with_language(page: str, options: FileOptions) -> str:
    """The page with its language changed, if it named the source."""
    def renamed(found: re.Match[str]) -> str:
        same = not options.source or iso(found[2]) == iso(options.source)
        return found[1] + (options.target if same else found[2])

    head, rest = page[:HEAD], page[HEAD:]
    root = _ROOT.search(head)
    if not options.target or (root and NOT_TRANSLATED.search(root[0])):
        return page
    head = _ROOT.sub(lambda tag: _LANG.sub(renamed, tag[0]), head, count=1)
    head = _NAMES_LANGUAGE.sub(lambda tag: _CONTENT.sub(renamed, tag[0]), head)
    return with_direction(head, options.target) + rest


def with_direction(head: str, target: str) -> str:
    """The head of a page whose `<html>` and `<body>` have the direction of the target language, if they name one or if
    it is from right to left.
    """
    direction = "rtl" if is_right_to_left(target) else "ltr"
    named = _BODY.sub(lambda tag: _DIRECTION.sub(rf"\g<1>{direction}", tag[0]), head)
    if direction == "ltr" or named != head or any(map(_DIRECTION.search, _BODY.findall(head))):
        return named
    return _ROOT.sub(lambda tag: tag[0].removesuffix("/") + ' dir="rtl"', head, count=1)


def _with_stand_ins(raw: str, kept: Callable[[str, str], str]) -> str:
    """A tag, or an element that is kept, with the texts of its attributes given away; anything else as it is."""
    tag = _TAG.match(raw)
    if tag is None or NOT_TRANSLATED.search(tag[0]):
        return raw
    attributes = {one["name"].lower(): html.unescape(_value(one)).lower() for one in _ATTRIBUTE.finditer(tag[0])}
    names = set(_READ)
    if tag["name"].lower() == "meta" and _DESCRIBED & {
            attributes.get("name", ""), attributes.get("property", "")}:
        names.add("content")
    if tag["name"].lower() == "input" and attributes.get("type") in ("button", "reset", "submit"):
        names.add("value")

    def replaced(found: re.Match[str]) -> str:
        value, quote = _value(found), found["quote"] or ""
        if found["name"].lower() not in names or not DEFAULT_PROTECTION.has_words(html.unescape(value)):
            return found[0]
        return found[0].removesuffix(value + quote) + kept(value, "" if quote else '"') + quote

    return _ATTRIBUTE.sub(replaced, tag[0]) + raw[tag.end() :]


def _value(attribute: re.Match[str]) -> str:
    return attribute["bare"] or attribute["value"] or ""
