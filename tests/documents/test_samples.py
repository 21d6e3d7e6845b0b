"""Files written by pandoc and LibreOffice: the laws of documents, and what a reader sees of a translation."""

import re
from collections.abc import Iterator

import pytest
from lxml import etree

from seq2see.documents.docx_file import set_direction
from seq2see.text.html_markup import Html, Markup
from seq2see.text.placing import Alignment
from .archives import DRAWING, ODF, SAMPLES, WORD, canonical, entries_of, opened, sample, swapped

TEXT, STYLE, LINK = f"{{{ODF.format('text')}}}", f"{{{ODF.format('style')}}}", "{http://www.w3.org/1999/xlink}href"
IN_PARAGRAPHS = {f"{{{WORD}}}t", f"{{{DRAWING}}}t"}
each_sample = pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.name)
office = pytest.mark.parametrize("path", [one for one in SAMPLES if one.suffix != ".epub"], ids=lambda one: one.name)
Seen = tuple[str, frozenset[str]]


def seen(entry: bytes) -> list[Seen]:
    """Each letter of an entry with what it looks like; tabs, breaks, pictures and notes between them."""
    root = etree.fromstring(entry)
    looks = {one.get(f"{STYLE}name"): {f"{name} {value}" for part in one for name, value in part.items()
                                       if "language" not in name and "country" not in name and "rsid" not in name}
             for one in root.iter(f"{STYLE}style")}
    found: list[Seen] = []
    for paragraph in root.iter(f"{{{WORD}}}p", f"{{{DRAWING}}}p", f"{TEXT}p", f"{TEXT}h"):
        for one in paragraph.iter():
            text = ""
            if one.tag in IN_PARAGRAPHS or one.tag in (f"{TEXT}span", f"{TEXT}a", f"{TEXT}p", f"{TEXT}h"):
                text = one.text or ""
            elif one is not paragraph and etree.QName(one).localname in ("tab", "br", "line-break", "drawing", "frame"):
                text = f"<{etree.QName(one).localname}>"
            found += letters(text, one, paragraph, looks)
            if one is not paragraph and root.tag.startswith("{urn"):
                found += letters(one.tail or "", one.getparent(), paragraph, looks)
    return found


def spaced(entry: bytes) -> str:
    """An entry without the places of white space beside tags."""
    text = canonical(entry) if entry.lstrip()[:1] == b"<" else repr(entry)
    return re.sub(r"\s*(<[^>]*>)\s*", r"\1", " ".join(text.split()))


def letters(text: str, element, paragraph, looks) -> Iterator[Seen]:
    look = set()
    for one in [element, *element.iterancestors()]:
        if one is paragraph:
            break
        own = one.find(f"{one.tag[: one.tag.index('}') + 1]}rPr")
        if own is not None:
            look |= {f"{part.tag} {sorted(part.attrib.items())}" for part in own if not part.tag.endswith("lang")}
            look |= {f"{name} {value}" for name, value in own.items() if name not in ("lang", "dirty")}
        look |= looks.get(one.get(f"{TEXT}style-name"), set()) if one.tag == f"{TEXT}span" else set()
        look |= {one.get(LINK)} if one.get(LINK) else set()
        if one.tag.endswith(("}hyperlink", "}ins")):
            look |= set(one.attrib.values()) if one.tag.endswith("}hyperlink") else {"inserted"}
    return ((letter, frozenset(look)) for letter in ([text] if text[:1] == "<" else text) if not letter.isspace())


@each_sample
def test_an_identity_engine_gives_the_same_file(path):
    data = path.read_bytes()
    document = opened(path.name, data)
    texts = []
    for one in document.texts:
        markup = Markup(one)
        alignments = [Alignment.by_place(text, text) for text in markup.texts]
        texts.append(markup.join(markup.texts, alignments) if isinstance(one, Html) else one)
    same = document.write(texts)
    assert len(texts) > 3
    if path.suffix == ".epub":  # in which line breaks of a sentence become spaces
        assert [spaced(entry) for entry in entries_of(same).values()] == [
            spaced(entry) for entry in entries_of(data).values()]
    else:
        assert same == data


@each_sample
def test_only_what_is_translated_changes(path):
    """There, and back: every entry is equal as canonical XML, but for runs that were joined; others byte for byte."""
    data = path.read_bytes()
    document = opened(path.name, data)
    there = document.write([swapped(one) for one in document.texts])
    assert there == document.write([swapped(one) for one in document.texts])  # again
    other = opened(path.name, there)
    assert list(other.texts) == [swapped(one) for one in document.texts]
    back = entries_of(other.write([swapped(one) for one in other.texts]))
    before, between = entries_of(data), entries_of(there)
    assert list(back) == list(before) == list(between)
    changed = [name for name in before if between[name] != before[name]]
    for name in before:
        if name not in changed:
            assert back[name] == before[name]
        elif path.suffix == ".epub":
            assert canonical(back[name]) == canonical(before[name])
        else:
            assert seen(back[name]) == seen(before[name])
    assert changed and not {"mimetype", "[Content_Types].xml", "docProps/core.xml", "meta.xml"} & set(changed)


@office
def test_words_keep_their_look(path):
    data = path.read_bytes()
    document = opened(path.name, data)
    there = entries_of(document.write([swapped(one) for one in document.texts]))
    count = 0
    for name, before in entries_of(data).items():
        if there[name] != before:
            was, now = seen(before), seen(there[name])
            assert [look for _, look in now] == [look for _, look in was]
            kept = sum(one == other and one.isalpha() for (one, _), (other, _) in zip(was, now, strict=True))
            assert kept < len(was) / 4  # fields, deleted text, code
            count += len(was)
    assert count > 150


def test_every_kind_of_text_is_there():
    """What LibreOffice has in places of their own."""
    for name in ("libreoffice.docx", "libreoffice.odt"):
        texts = {*opened(name, sample(name)).texts}
        for text in ('Is this the right word?', 'The house by the <span id="0">river</span>', 'The first morning',
                     'This is page <samp id="0">1</samp> of our report.', 'very expensive', 'Name:',
                     'The weather is <span id="0">beautiful</span> today.',
                     'The bread was still <span id="0">very warm</span>.'):
            assert text in texts
        assert not any("never seen" in text for text in texts)  # deleted
    assert 'Tell them about the <span id="0">old man</span> first.' in (
        opened("libreoffice.pptx", sample("libreoffice.pptx")).texts)


def test_the_language_is_the_target():
    for name, marks in {
        "pandoc.docx": {"word/styles.xml": 'w:val="fr"', "word/settings.xml": 'w:themeFontLang w:val="fr"'},
        "libreoffice.odt": {"styles.xml": 'fo:language="fr" fo:country="none"'},
        "libreoffice.pptx": {"ppt/slides/slide1.xml": 'lang="fr"'},
        "pandoc-3.epub": {"EPUB/content.opf": "fr</dc:language>", "EPUB/text/ch001.xhtml": 'xml:lang="fr"'},
        "pandoc-2.epub": {"EPUB/content.opf": "fr</dc:language>", "EPUB/toc.ncx": "tHE FIRST MORNING"},
    }.items():
        document = opened(name, sample(name), target="fr")
        assert document.write(document.texts) == sample(name)  # nothing is in French
        written = entries_of(document.write([swapped(one) for one in document.texts]))
        for entry, mark in marks.items():
            assert mark in written[entry].decode()
        unknown = opened(name, sample(name), target="fra_Latn").write([swapped(one) for one in document.texts])
        assert not any(b"fra_Latn" in entry for entry in entries_of(unknown).values())


@pytest.mark.parametrize(("name", "entry", "expected"), [
    ("pandoc.docx", "word/styles.xml", r'<w:rtl w:val="1"/><w:lang .*<w:bidi w:val="1"/><w:spacing'),
    ("libreoffice.docx", "word/document.xml", '<w:bidi w:val="1"'),
    ("pandoc.pptx", "ppt/slides/slide1.xml", '<a:pPr [^>]*rtl="1" algn="r"'),
    ("pandoc.odt", "styles.xml", 'style:paragraph-properties [^>]*writing-mode="rl-tb"'),
    ("pandoc-3.epub", "EPUB/content.opf", '<spine [^>]*page-progression-direction="rtl"'),
    ("pandoc-3.epub", "EPUB/text/ch001.xhtml", '<html [^>]*dir="rtl"'),
])
def test_the_direction_is_that_of_the_target(name, entry, expected):
    document = opened(f"a.{name.split('.')[1]}", sample(name), source="en", target="ar")
    arabic = entries_of(document.write([swapped(text) for text in document.texts]))[entry].decode()
    assert re.search(re.sub("/><", r"/>\\s*<", expected), arabic, re.DOTALL)
    french = opened(f"a.{name.split('.')[1]}", sample(name), source="en", target="fr")
    assert not re.search(expected, entries_of(french.write([swapped(text) for text in french.texts]))[entry].decode())


def test_tables_have_the_direction_of_the_target():
    root = "<w:document xmlns:w='w'><w:tbl><w:tblPr><w:tblStyle/><w:tblW/></w:tblPr></w:tbl></w:document>"
    tree = etree.ElementTree(etree.fromstring(root))
    for right_to_left in (True, True, False):
        set_direction(tree, right_to_left=right_to_left)
        properties = tree.getroot()[0][0]
        assert [etree.QName(one).localname for one in properties] == ["tblStyle", "bidiVisual", "tblW"]
        assert properties[1].get("{w}val") == str(int(right_to_left))


def test_traditional_chinese_is_named_by_its_place():
    document = opened("a.docx", sample("pandoc.docx"), target="zh-Hant")
    styles = entries_of(document.write([swapped(text) for text in document.texts]))["word/styles.xml"].decode()
    assert 'w:eastAsia="zh-TW"' in styles
