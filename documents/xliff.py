"""XLIFF 1.2 and 2: each source without a translation gets one, and its inline elements stay.

Translations that are there already stay.  New ones are marked for review: `needs-review-translation` and
`mt-suggestion` in 1.2, the segment's state `translated` in 2.  Written with its own texts, a file has them as targets,
and the same canonical XML otherwise.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lxml import etree

from seq2see.errors import UserError
from ..tokenizer.language_codes import iso, language_name
from .fragments import Fragment, HtmlToken
from .icu_message import OPENS, WHY_LEFT
from .protocol import Document, FileOptions, Left
from .xml_parts import local_name, parse, xml_text

if TYPE_CHECKING:
    from lxml.etree import _Element, _ElementTree

DECLARATION = b'<?xml version="1.0" encoding="UTF-8"?>\n'
_AROUND = frozenset(("g", "mrk", "pc"))  # elements around words
_STARTS = {"bpt": "ept", "bx": "ex", "sc": "ec", "sm": "em"}  # elements that stand where one starts, and where it ends
_ENDS = {end: start for start, end in _STARTS.items()}
_PAIR = re.compile(r"(?P<kind>START|CLOSE)_(?P<name>.+?)(?:_\d+)?\Z")  # ids of two `x` around words, as Angular has
_UNTRANSLATED = ("new", "needs-translation", "initial")  # states of a target that may be a copy of its source


@dataclass(frozen=True, eq=False)
class _Inline(HtmlToken):
    """An inline element, or one of its tags."""

    node: _Element | None = None


def read(data: bytes, options: FileOptions, *, name: str) -> Document:
    tree, found = _opened(data, options, name)
    lost = list[int]()

    def write(translations: Sequence[str]) -> bytes:
        tree, found = _opened(data, options, name)  # again, for it is changed
        lost.clear()
        for number, ((source, fragment), translation) in enumerate(zip(found, translations, strict=True)):
            tokens = fragment.translated(translation)
            if tokens is None:
                lost.append(number)
            else:
                _set_target(source, tokens)
        return DECLARATION + etree.tostring(tree, encoding="UTF-8", xml_declaration=False) + b"\n"

    left = [Left(_place(source), _all_text(source), WHY_LEFT) for source in _sources(tree.getroot()) if _is_icu(source)]
    return Document([text for _, fragment in found for text in fragment.texts], write,
                    [_place(source) for source, _ in found], left, lost)


def _opened(data: bytes, options: FileOptions, name: str) -> tuple[_ElementTree, list[tuple[_Element, Fragment]]]:
    """The file with its target language, and its sources to translate."""
    tree = parse(data, name, doctype=True)
    if tree.docinfo.doctype:
        raise UserError(f"{name} has a <!DOCTYPE>, which XLIFF does not allow; delete this line")
    root = tree.getroot()
    if local_name(root) != "xliff" or root.get("version", "")[:2] not in ("1.", "2."):
        raise UserError(f"{name} is not XLIFF 1.2 or 2: its first element is <{local_name(root)}>,"
                        f" its version {root.get('version', 'missing')}")
    found = [(source, fragment) for source in _sources(root)
             if not _is_icu(source) and (fragment := Fragment(list(_tokens(source)))).texts]
    _set_languages(root, options, name, [source for source, _ in found])
    return tree, found


def _all_text(source: _Element) -> str:
    return "".join(source.itertext())


def _is_icu(source: _Element) -> bool:
    return OPENS.search(_all_text(source)) is not None


def _place(source: _Element) -> str:
    """The unit of a source."""
    return f"unit {next((unit.get('id') for unit in source.iterancestors() if unit.get('id')), '')}"


def _child(node: _Element, name: str) -> _Element | None:
    return next((child for child in node if local_name(child) == name), None)


def _set_languages(root: _Element, options: FileOptions, name: str, sources: Sequence[_Element]) -> None:
    """The target language, where the file names its languages and something in it is translated."""
    attribute = "target-language" if root.get("version", "").startswith("1.") else "trgLang"
    changed = {node for source in sources for node in source.iterancestors()}
    for node in [one for one in root.iter() if local_name(one) == "file"] if attribute == "target-language" else [root]:
        named, target = node.get(attribute, ""), iso(options.target)
        if target and named and iso(named) != target and any(
                local_name(one) == "target" and _content(one) for one in node.iter()):
            raise UserError(f"{name} contains translations into {language_name(named)}; give a file without"
                            " translations")
        if target and iso(named) != target and node in changed:
            node.set(attribute, options.target)


def _sources(root: _Element) -> Iterator[_Element]:
    """The sources to translate."""
    for unit in root.iter():
        source = _child(unit, "source") if local_name(unit) in ("trans-unit", "segment") else None
        if source is not None and not _is_kept(unit) and not _is_translated(unit, source):
            yield from _segments(_child(unit, "seg-source")) or [source]


def _segments(segmented: _Element | None) -> list[_Element]:
    """The segments of a `seg-source`; each has its place in the target."""
    return [] if segmented is None else [one for one in segmented.iter() if one.get("mtype") == "seg"]


def _is_kept(unit: _Element) -> bool:
    """Whether the unit, or the nearest element around it that says so, is not to be translated."""
    return next((value for node in (unit, *unit.iterancestors()) if (value := node.get("translate"))), "yes") == "no"


def _is_translated(unit: _Element, source: _Element) -> bool:
    target = _child(unit, "target")
    if target is None or not _content(target):
        return False
    copied = (target.get("state") or unit.get("state")) in _UNTRANSLATED
    return not (copied and _content(target) == _content(source))


def _content(node: _Element) -> str:
    """What is in an element, to compare, but for the borders of segments; "" if that is only white space."""
    inside = [local_name(token.node) for token in _tokens(node) if isinstance(token, _Inline)
              if token.node is not None and token.node.get("mtype") != "seg"]
    return "".join(node.itertext()).strip() + "".join(f"<{one}>" for one in inside)


def _tokens(node: _Element) -> Iterator[HtmlToken]:
    """The text and the inline elements inside an element."""
    if node.text:
        yield HtmlToken(node.text)
    for child in node:
        local = local_name(child)
        if local in _AROUND and child.get("translate") != "no" and child.get("mtype") != "protected":
            name = str(id(child))
            yield _Inline("", "start", name, node=child)
            yield from _tokens(child)
            yield _Inline("", "end", name)
        elif local in _STARTS:
            yield _Inline("", "start", f"{local} {child.get('rid') or child.get('id')}", node=child)
        elif pair := _PAIR.match(child.get("id", "") if local == "x" else ""):
            yield _Inline("", "start" if pair["kind"] == "START" else "end", pair["name"], node=child)
        elif local in _ENDS:
            number = child.get("startRef") or child.get("rid") or child.get("id")
            yield _Inline("", "end", f"{_ENDS[local]} {number}", node=child)
        else:
            yield _Inline("", "word" if local in ("ph", "x", "mrk", "pc", "g") else "alone", node=child)
        if child.tail:
            yield HtmlToken(child.tail)


def _target_of(source: _Element) -> _Element:
    """The element for the translation of a source: a target, or the segment of one."""
    unit = next(one for one in source.iterancestors() if local_name(one) in ("trans-unit", "segment"))
    target, segmented = _child(unit, "target"), _child(unit, "seg-source")
    whole = local_name(source) == "source"
    if target is None or not (whole or source.get("mid") in [one.get("mid") for one in _segments(target)]):
        if target is not None:
            unit.remove(target)
        like = next(one for one in unit if local_name(one) == "source") if whole or segmented is None else segmented
        target = deepcopy(like) if not whole else like.makeelement(like.tag)
        target.tag = unit[0].tag.rpartition("}")[0] + "}" * ("}" in unit[0].tag) + "target"
        after = like if segmented is None else segmented
        unit.insert(unit.index(after) + 1, target)
        target.tail = after.tail
        if (unit.text or "").isspace():
            after.tail = unit.text  # as the elements are indented
    if local_name(unit) == "segment":
        unit.set("state", "translated")
    else:
        target.set("state", "needs-review-translation")
        target.set("state-qualifier", "mt-suggestion")
    return target if whole else next(one for one in _segments(target) if one.get("mid") == source.get("mid"))


def _set_target(source: _Element, tokens: Sequence[HtmlToken]) -> None:
    """Write the target beside its source."""
    target = _target_of(source)
    del target[:]
    target.text, last = None, None
    opened = [target]
    for token in tokens:
        if not isinstance(token, _Inline):
            _append_text(opened[-1], last, token.raw)
        elif token.node is None:
            last = opened.pop()
        elif token.kind == "start" and local_name(token.node) in _AROUND:
            opened.append(opened[-1].makeelement(token.node.tag, token.node.attrib, token.node.nsmap))
            opened[-2].append(opened[-1])
            last = None
        else:
            last = deepcopy(token.node)
            last.tail = None
            opened[-1].append(last)


def _append_text(node: _Element, last: _Element | None, text: str) -> None:
    """Add text at the end of what an element has, after its last child."""
    if last is not None:
        last.tail = (last.tail or "") + xml_text(text)
    else:
        node.text = (node.text or "") + xml_text(text)
