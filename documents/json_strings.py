"""JSON: the strings that hold words, in place.  Everything else stays as it is, byte for byte: numbers, names, order,
indentation, doubled names, and which characters are escaped.

A string with tags is HTML, but for elements that a program names (`<0>`, `<bold>`).  A message of ICU with plurals is
one text for each of its branches (`icu_message.py`).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence

from seq2see.errors import UserError
from ..text.html_markup import NO_PARTS, RAISED, VOID, Html
from ..text.protection import DEFAULT_PROTECTION
from ..tokenizer.language_codes import iso
from .fragments import Fragment, HtmlToken, Kind
from .icu_message import OPENS, WHY_LEFT, branches, joined
from .places import Place, document_of
from .plain_text import decoded
from .protocol import Document, FileOptions

MOST_NESTED = 200
_TOKEN = re.compile(r'"(?:[^"\\]++|\\.)*+"?|[\[\]{},]', re.DOTALL)  # a string without an end is found once
_TAG = re.compile(r"</[a-zA-Z][\w-]*\s*>|<(?:br|img|hr|wbr|input)\b[^<>]*>", re.IGNORECASE)
_ELEMENT = re.compile(
    r"<(?P<code>code|kbd|samp|var)\b[^<>]*>[^<>]*</(?P=code)>|<(?P<end>/?)(?P<name>\w+)[^<>]*?(?P<alone>/?)>|\n")
_BLOCKS = frozenset((
    "blockquote", "dd", "div", "dl", "dt", "h1", "h2", "h3", "h4", "h5", "h6", "hr", "li", "ol", "p", "pre", "table",
    "tbody", "td", "th", "thead", "tr", "ul",
))
_BREAK = "<br\n>"
_ZONES = "Africa|America|Antarctica|Arctic|Asia|Atlantic|Australia|Etc|Europe|Indian|Pacific"
_NO_WORD = re.compile(  # ids, paths, language codes; but not Yes/No
    rf"(?!(?!{_ZONES})(?=\S*[^\W\d_A-Z])[^\W\d_a-z][^\W\d_]+(?:/[^\W\d_]+)+\Z)\S*[_/\\:@#=<>\d]\S*"
    r"|\S*[a-z][A-Z]\S*|[a-z]{2,3}-[A-Z]{2}|https?|mailto|tel")
_SMALL_WORDS = re.compile(r"[a-z][a-z0-9]*(?:-{1,2}[a-z0-9]+)*(?: [a-z][a-z0-9]*(?:-{1,2}[a-z0-9]+)*)*")
_IN_WORDS = (  # parts of English words with a hyphen: sign-in, e-mail, up-to-date
    "a all and anti as at based be by co date day down e ex for free friendly full good half high in it like long low"
    " made mid mini multi new non of off old on one only open or out over part per post pre pro re ready right self"
    " semi short so sub the through time to two under up us well wide x year")
_WORDS_WITH_HYPHEN = frozenset(_IN_WORDS.split())
_CODE_MEMBER = re.compile(  # the last word of a member's name
    r"(?:\A|[_.-])(?:align|alignment|anchor|class|className|classes|color|colour|component|css|font|icon|iconName|id|key"
    r"|layout|lang|locale|method|mime|mode|position|route|selector|size|slug|style|target|theme|type|uid|uuid|variant)\Z"
    r"|(?<=[a-z])(?:Align|Anchor|Class|ClassName|Color|Component|Font|Icon|Id|Key|Layout|Locale|Mode|Position|Route"
    r"|Selector|Size|Slug|Style|Target|Theme|Type|Variant)\Z")
_CODE_LEFT = "looks like a code of a program; to translate it, name its member with --keys"
_CLOCK = r"yyyy|yy|YYYY|YY|MM{1,3}|DD{1,3}|dd{1,3}|EE{1,3}|HH|hh|mm|ss|SSS"
_DATE = re.compile(rf"(?<![^\W_])(?:(?:{_CLOCK})+|[yYMDdEHhmsAaZ])(?![^\W_])|%-?[A-Za-z](?![^\W\d_])")  # %Y, MM
_IN_DATE = re.compile(rf"%|{_CLOCK}")
_QUOTES = re.compile(r"(?<=[^\W\d_])'(?=\{)")  # in ICU, whatever follows it in braces
_ESCAPE = re.compile(r"\\(?:u(?P<code>[0-9a-fA-F]{4})|(?P<char>.))")

Span = tuple[int, int]


def read(data: bytes, options: FileOptions, *, name: str) -> Document:
    mark, source = decoded(data, name)
    found = list(_strings(source, options.keys, name))
    _check(source, name)
    escaped = _escaped(source)
    language = "" if options.keys else iso(options.source)
    return document_of(source, filter(None, (
        Place.left(*span, _CODE_LEFT) if not options.keys and _is_identifier(source[span[0] + 1 : span[1] - 1], member)
        else _place(source, span, escaped, chosen=bool(options.keys)) for member, span in found
        if not language or source[slice(*span)] != f'"{language}"')), name=name, mark=mark)


def _check(source: str, name: str) -> None:
    """UserError if a source is no JSON; numbers are not converted, however long."""
    try:
        json.loads(source, parse_int=str, parse_float=str)
    except json.JSONDecodeError as error:
        raise UserError(f"{name} is not JSON: {error.msg} (line {error.lineno}, column {error.colno})") from None


def _is_identifier(text: str, member: str) -> bool:
    """Whether words in small letters are codes of a program: by the name of their member, or by their hyphens."""
    if not _SMALL_WORDS.fullmatch(text):
        return False
    words = text.split(" ")
    hyphened = [word for word in words if "-" in word and _WORDS_WITH_HYPHEN.isdisjoint(word.split("-"))]
    first = [word.partition("-")[0] for word in words]
    is_named = _CODE_MEMBER.search(member) is not None
    return is_named or len(hyphened) == len(words) or (bool(hyphened) and len({*first}) < len(first))


def _strings(source: str, keys: Sequence[str], name: str) -> Iterator[tuple[str, Span]]:
    """The strings that are values, each with the name of its member, in members that were chosen."""
    objects, names, chosen = list[bool](), list[str](), [not keys]  # what is open, and the names on the way to it
    expects_name, found = False, set[str]()
    for token in _TOKEN.finditer(source):
        sign = token[0]
        if sign in ("{", "["):
            if len(objects) == MOST_NESTED:
                raise UserError(f"{name} is nested deeper than {MOST_NESTED} levels (character {token.start() + 1:,})")
            objects.append(sign == "{")
            names.append("")
            chosen.append(chosen[-1])
            expects_name = sign == "{"
        elif sign in ("}", "]"):
            if objects:
                del objects[-1], names[-1], chosen[-1]
            expects_name = False
        elif sign == ",":
            expects_name = bool(objects) and objects[-1]
        elif expects_name:
            names[-1] = sign[1:-1]
            fitting = [key for key in keys if _names(key, [one for one in names if one])]
            found.update(fitting)
            chosen[-1] = chosen[-2] or bool(fitting)
            expects_name = False
        elif chosen[-1]:
            yield next((one for one in reversed(names) if one), ""), token.span()
    if missing := [key for key in keys if key not in found]:
        raise UserError(f"{name} has no member {missing[0]!r}; give names of members, or paths such as menu.title")


def _names(key: str, names: Sequence[str]) -> bool:
    """Whether a name, or a path of names with dots between, ends with the last of these; names may have dots too."""
    return key.endswith(names[-1]) and any(
        ".".join(names[-count:]) == key for count in range(1, min(key.count(".") + 1, len(names)) + 1))


def _place(source: str, span: Span, escaped: frozenset[str], *, chosen: bool) -> Place | None:
    text = json.loads(source[slice(*span)])
    parts = branches(text)
    if not _is_unicode(text):
        return None
    if parts is None and (opened := OPENS.search(text)) and not (
            opened["kind"] == "selectordinal" and DEFAULT_PROTECTION.masked(text)[opened.start()] == "_"):
        return Place.left(*span, WHY_LEFT)
    messages = parts.texts if parts else (text,)
    if not any(_is_read(message, chosen=chosen) for message in messages):
        return None
    fragments = [_fragment(message) for message in messages]
    texts = tuple(fragment.texts[0] if fragment else _text(message)
                  for message, fragment in zip(messages, fragments, strict=True))

    def written(translations: Sequence[str]) -> str:
        new = [_with_elements(message, fragment, translation)
               for message, fragment, translation in zip(messages, fragments, translations, strict=True)]
        return _literal(joined(parts, new) if parts else _QUOTES.sub("’", new[0]), escaped)

    return Place(*span, texts, written)


def _text(text: str) -> str:
    """A text, as HTML if it has tags; its line breaks, which HTML would read as spaces, as elements."""
    if not _TAG.search(text):
        return text
    return Html(_ELEMENT.sub(lambda one: _BREAK if one[0] == "\n" else one[0], text))


def _fragment(text: str) -> Fragment | None:
    """A text with elements that HTML has not, as a fragment in which they stay nested."""
    found = [*_ELEMENT.finditer(text)]
    if not _is_named_by_a_program(found):
        return None
    tokens, done = list[HtmlToken](), 0
    for tag in found:
        name = tag["name"] or ""
        kind: Kind = "word" if tag["code"] else "break" if name.lower() in ("", "br") else (
            "alone" if tag["alone"] else "end" if tag["end"] else "start")
        tokens += [HtmlToken(text[done : tag.start()]),
                   HtmlToken(tag[0], kind, name, name if name in RAISED else "span")]
        done = tag.end()
    fragment = Fragment([one for one in (*tokens, HtmlToken(text[done:])) if one.raw])
    return fragment if fragment.texts else None


def _is_named_by_a_program(elements: Sequence[re.Match[str]]) -> bool:
    """Whether elements are those of react-i18next, with numbers, or of FormatJS and the like, with any names."""
    names = {element["name"].lower() for element in elements if element["name"]}
    ended = {element["name"].lower() for element in elements if element["end"] or element["alone"]}
    unusual = (ended - NO_PARTS - {"br"}) | {element["name"].lower() for element in elements if element["end"]} & VOID
    return any(map(str.isdigit, names)) or bool(unusual and not names & _BLOCKS)


def _with_elements(text: str, fragment: Fragment | None, translation: str) -> str:
    """The translation with the elements of its text; the text if one is lost."""
    if fragment is None:
        return translation.replace(_BREAK, "\n")
    tokens = fragment.translated(translation)
    return text if tokens is None else "".join(token.raw for token in tokens)


def _is_read(text: str, *, chosen: bool) -> bool:
    """Whether a text has words that are no format of a date and, unless it was chosen, no address, path or code."""
    bare = _ELEMENT.sub(" ", text) if "</" in text or _TAG.search(text) else text
    without_dates = _DATE.sub(" ", bare) if _IN_DATE.search(bare) else bare
    is_code = not chosen and _NO_WORD.fullmatch(bare.strip().rstrip(":?!"))
    return not is_code and DEFAULT_PROTECTION.has_words(without_dates)


def _is_unicode(text: str) -> bool:
    return not any("\ud800" <= char <= "\udfff" for char in text)  # half of a pair cannot be written as UTF-8


def _escaped(source: str) -> frozenset[str]:
    """The characters that a file always escapes without need; `\\u` stands for all beyond ASCII."""
    found = {escape["char"] or chr(int(escape["code"], 16)) for escape in _ESCAPE.finditer(source)}
    found -= {*_ESCAPE.sub("", source)}
    needless = {char for char in found if char not in '"\\bfnrtu' and char >= " "}
    return frozenset(needless | {r"\u"} if source.isascii() and any(char > "\x7f" for char in found) else needless)


def _literal(text: str, escaped: frozenset[str]) -> str:
    """A text as a string of JSON, with the escapes of its file."""
    literal = json.dumps(text, ensure_ascii=r"\u" in escaped)
    for char in escaped & set(literal):
        literal = literal.replace(char, r"\/" if char == "/" else f"\\u{ord(char):04x}")
    return literal
