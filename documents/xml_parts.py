"""XML that comes from anywhere: read without DTD, entities or network, and written again."""

from __future__ import annotations

import re
from collections.abc import Collection, Hashable
from typing import Any

from lxml import etree

from seq2see.errors import UserError

MOST_XML_BYTES = 16 << 20  # a tree takes about ten times the bytes of its text
MOST_ELEMENTS = 300_000  # of a file: which take some 5 seconds
DOCTYPES = tuple("<!DOCTYPE".encode(code) for code in ("utf-8", "utf-16-le", "utf-16-be"))
NOT_XML = re.compile("[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")

Element = Any  # lxml's classes have no types
Tree = Any


def element_count(data: bytes) -> int:
    """At most so many elements has this XML, which is not parsed for it."""
    return data.count(b"<") - data.count(b"</")


def check_size(data: bytes, where: str, *, before: int = 0) -> None:
    """UserError for XML that would take too long; `before`: the elements that were read of the file."""
    if len(data) > MOST_XML_BYTES:
        raise UserError(f"{where} has {len(data):,} bytes; at most {MOST_XML_BYTES:,} are allowed; split the file")
    if (count := before + element_count(data)) > MOST_ELEMENTS:
        raise UserError(f"{where} has {count:,} XML elements; at most {MOST_ELEMENTS:,} are allowed; split the file")


def parse(data: bytes, where: str, *, doctype: bool = False, before: int = 0) -> Tree:
    """The tree of an XML entry.  `doctype`: the format may name a DTD, which is not read.  `before`: as in
    `check_size`.

    Raises:
        UserError: no XML, too large or deeply nested, with a DTD, or with one that defines entities.
    """
    check_size(data, where, before=before)
    if not doctype and any(mark in data for mark in DOCTYPES):
        raise UserError(f"{where} has a document type definition, which this format does not allow; save the file"
                        " again")
    parser = etree.XMLParser(resolve_entities=False, no_network=True, huge_tree=False, load_dtd=False,
                             strip_cdata=False)
    try:
        tree = etree.fromstring(data, parser).getroottree()
    except etree.XMLSyntaxError as error:
        raise UserError(f"{where} is broken: {error.msg}") from None
    definition = tree.docinfo.internalDTD
    if definition is not None and any(True for _ in definition.iterentities()):
        raise UserError(f"{where} defines entities, which are not supported; save the file without entities")
    return tree


def serialised(tree: Tree) -> bytes:
    data: bytes = etree.tostring(tree, xml_declaration=True, encoding="UTF-8", standalone=tree.docinfo.standalone)
    return data


def local_name(node: Element) -> str:
    """The name of an element without its namespace; "" for comments and the like."""
    return node.tag.rpartition("}")[2] if isinstance(node.tag, str) else ""


def last_child(element: Element) -> Element | None:
    """The last child, at once: lxml's `len` counts all of them."""
    return next(element.iterchildren(reversed=True), None)


def sibling_name(element: Element, name: str) -> str:
    """A name in the namespace of an element: formats of Office have two, transitional and strict."""
    space, bracket, _ = element.tag.rpartition("}")
    return f"{space}{bracket}{name}"


def properties(element: Element | None, ignored: Collection[str]) -> Hashable:
    """What an element says, to compare: attributes and children without those of the local names `ignored`, and text;
    None for nothing."""
    if element is None:
        return None
    attributes = tuple(sorted((name, value) for name, value in element.items()
                              if name.rpartition("}")[2] not in ignored))
    children = tuple((child.tag, properties(child, ignored)) for child in element if local_name(child) not in ignored)
    text = (element.text or "").strip()
    return (attributes, children, text) if attributes or children or text else None


def shallow(element: Element) -> Element:
    """A copy of an element with its attributes alone."""
    return etree.Element(element.tag, element.attrib, nsmap=element.nsmap)


def xml_text(text: str) -> str:
    """The text without characters that XML cannot hold."""
    return NOT_XML.sub("", text)
