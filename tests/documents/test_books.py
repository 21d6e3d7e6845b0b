"""EPUB: what of a page is text, and XHTML that the HTML path would misread."""

import re

import pytest
from lxml import etree

from seq2see.text.html_markup import Html, Markup
from seq2see.text.placing import Alignment
from .archives import canonical, entries_of, opened, sample, with_entries

PAGE = "EPUB/text/ch001.xhtml"
AROUND = ('<?xml version="1.0" encoding="{code}"?>{doctype}<html xmlns="http://www.w3.org/1999/xhtml" '
          'xmlns:epub="http://www.idpf.org/2007/ops" lang="en"><head><!-- <body> --><title>A title</title></head>'
          "<body>{body}</body></html>")
MATH = "<math xmlns='http://www.w3.org/1998/Math/MathML'><mi>x</mi></math>"
XHTML11 = '<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.1//EN" "http://www.w3.org/TR/xhtml11/DTD/xhtml11.dtd">'


def book(body: str, *, code: str = "utf-8", doctype: str = "<!DOCTYPE html>") -> bytes:
    page = AROUND.format(code=code, doctype=doctype, body=body).encode(code)
    return with_entries(sample("pandoc-3.epub"), {PAGE: page})


def page_of(data: bytes, change, **options: str) -> bytes:
    """The page with the plain texts of its body changed, each word linked to the word at its place."""
    document = opened("a.epub", data, **options)
    translations = []
    for one in document.texts:
        markup = Markup(one)
        texts = [change(text) for text in markup.texts]
        alignments = [Alignment.by_place(*pair) for pair in zip(markup.texts, texts, strict=True)]
        translations.append(markup.join(texts, alignments) if isinstance(one, Html) else change(one))
    return entries_of(document.write(translations))[PAGE]


@pytest.mark.parametrize(("body", "after"), [
    ('<p>One <b>two</b></p><script src="a.js"/><p>three</p>', '<p>ONE <b>TWO</b></p><script src="a.js"/><p>THREE</p>'),
    ('<p><a id="p1"/>See <a href="x">this<a id="p2"/> page</a> now</p>',
     '<p><a id="p1"/>SEE <a href="x">THIS<a id="p2"/> PAGE</a> NOW</p>'),
    ('<p>One <span class="a">two <span id="p"/>three</span></p>',
     '<p>ONE <span class="a">TWO <span id="p"/>THREE</span></p>'),
    ("<p>One <![CDATA[<two> & ]]>three</p>", "<p>ONE &lt;TWO&gt; &amp; THREE</p>"),
    ("<script><![CDATA[if (a < b) c;]]></script><p>one</p>", "<script>if (a &lt; b) c;</script><p>ONE</p>"),
    ("<!-- <body> a <script/> </body> --><p>one</p>", "<!-- <body> a <script/> </body> --><p>ONE</p>"),
    ('<p>the river<a epub:type="noteref" href="#n">12</a> is</p>',
     '<p>THE RIVER<a epub:type="noteref" href="#n">12</a> IS</p>'),
    ('<p><sup><a href="#r">1</a></sup>The river</p>', '<p><sup><a href="#r">1</a></sup>THE RIVER</p>'),
    ('<p>On page <a href="#p">12</a> is</p>', '<p>ON PAGE <a href="#p">12</a> IS</p>'),
    ('<p>One<br/>two</p><hr/><img src="a.png" alt="a > b"/>', '<p>ONE<br/>TWO</p><hr/><img src="a.png" alt="a > b"/>'),
    ("<svg xmlns='http://www.w3.org/2000/svg'><path d='M0'/><text>x</text></svg><p>one</p>",
     "<svg xmlns='http://www.w3.org/2000/svg'><path d='M0'/><text>x</text></svg><p>ONE</p>"),
    (f"<p>{MATH} is one</p>", f"<p>{MATH} IS ONE</p>"),
])
def test_xhtml_is_no_html(body, after):
    data = book(body)
    document = opened("a.epub", data)
    assert document.write(document.texts) == data
    written = page_of(data, str.upper)
    expected = AROUND.format(code="utf-8", doctype="<!DOCTYPE html>", body=after).replace("A title", "A TITLE")
    assert canonical(written) == canonical(expected.encode())


def test_entities_of_xhtml_are_characters():
    data = book("<p>caf&eacute;&nbsp;one &amp; two</p>", doctype=XHTML11)
    written = page_of(data, str.upper)
    assert "<p>CAFÉ\xa0ONE &amp; TWO</p>" in written.decode() and XHTML11.encode() in written


@pytest.mark.parametrize("code", ["utf-16", "iso-8859-1"])
def test_a_page_keeps_its_encoding(code):
    written = page_of(book("<p>caf\xe9</p>", code=code), lambda text: text + " →")
    assert etree.fromstring(written).findtext(".//{*}p") == "caf\xe9 →"
    assert f'encoding="{code}"' in written.decode(code)


def test_a_page_stays_well_formed():
    """Elements across a line break whose words change places: the tags of one text, then of the other."""
    body = "<p>one <b>two <i>three<br/>four</i> five</b> six</p>"
    document = opened("a.epub", book(body))
    crossed = [one.replace("one <b>two <i>three", "<i>three one <b>two") for one in document.texts]
    page = entries_of(document.write(crossed))[PAGE]
    assert " ".join("".join(etree.fromstring(page).find(".//{*}p").itertext()).split()) == "three one twofour five six"


def test_the_titles_of_a_book_and_its_chapters():
    data = sample("pandoc-2.epub")
    author = b"<docAuthor><text>Ann Example</text></docAuthor>"
    ncx = entries_of(data)["EPUB/toc.ncx"].replace(b"<navMap>", author + b"<navMap>")
    texts = [one for one in opened("a.epub", with_entries(data, {"EPUB/toc.ncx": ncx})).texts
             if not isinstance(one, Html)]
    assert texts.count("A Day in the Harbour") == 5  # the OPF, twice the NCX, two pages
    assert "The first morning" in texts and "Ann Example" not in texts


def test_the_language_of_a_page():
    written = page_of(book('<p lang="la">one</p>'), str.upper, target="pt-BR").decode()
    assert re.search('<html [^>]* lang="pt-BR">', written) and '<p lang="la">ONE</p>' in written


def test_a_page_without_words_is_no_text():
    data = book('<!-- a comment --><img src="a.png" alt="a"/> 12')
    assert not any("a.png" in one for one in opened("a.epub", data).texts)
    page = page_of(data, str.upper, target="fr").decode()
    assert '<img src="a.png" alt="a"/> 12</body>' in page and 'lang="fr"' in page and "<title>A TITLE" in page


def test_other_pages_keep_their_bytes():
    data = book('<p><a id="x"/>one</p>')
    document = opened("a.epub", data)
    first = [document.texts[0] + " x", *document.texts[1:]]
    before, after = entries_of(data), entries_of(document.write(first))
    assert [name for name in before if before[name] != after[name]] == ["EPUB/content.opf"]


@pytest.mark.parametrize("kind", ["text/html", "application/xml", "application/octet-stream", "text/x-oeb1-document"])
def test_a_page_of_another_type_is_translated(kind):
    data = book("<p>one</p>")
    opf = re.sub(rb'(<item [^>]*ch001.xhtml"[^>]*media-type=")[^"]*', rb"\1" + kind.encode(),
                 entries_of(data)["EPUB/content.opf"])
    data = with_entries(data, {"EPUB/content.opf": opf})
    document = opened("a.epub", data)
    assert kind in opf.decode() and document.write(document.texts) == data and not document.left
    assert b"<p>ONE</p>" in page_of(data, str.upper)


@pytest.mark.parametrize(("page", "said"), [
    ("<html><body><p>one two<br></body></html>", True), ("<dtbook><p>one two</p></dtbook>", True),
    ("<svg xmlns='http://www.w3.org/2000/svg'><text>one two</text></svg>", True),
    ("<svg xmlns='http://www.w3.org/2000/svg'><path d='M0'/></svg>", False), (b"\x89PNG two </p>", False),
])
def test_a_page_that_cannot_be_read_is_said(page, said):
    opf = re.sub(rb'(<item [^>]*ch001.xhtml"[^>]*media-type=")[^"]*', rb"\1text/html",
                 entries_of(sample("pandoc-3.epub"))["EPUB/content.opf"])
    document = opened("a.epub", with_entries(sample("pandoc-3.epub"), {"EPUB/content.opf": opf, PAGE: page}))
    assert [one.place for one in document.left] == [PAGE] * said


def test_pages_elsewhere():
    """Pages may lie anywhere in the file, under names in percent signs, each read once; what is on the web stays
    there."""
    data = sample("pandoc-3.epub")
    opf = entries_of(data)["EPUB/content.opf"].decode().replace("</manifest>", (
        '<item id="x" href="../a%20b.xhtml" media-type="application/xhtml+xml"/>'
        '<item id="z" href="../a%20b.xhtml" media-type="application/xhtml+xml"/>'
        '<item id="y" href="https://example.org/c.xhtml" media-type="application/xhtml+xml"/></manifest>'))
    page = AROUND.format(code="utf-8", doctype="", body="<p>elsewhere</p>")
    texts = opened("a.epub", with_entries(data, {"EPUB/content.opf": opf, "a b.xhtml": page})).texts
    assert list(texts).count("<p>elsewhere</p>") == 1
