"""Paragraphs of docx, odt and pptx: the texts that they give, and where a translation's words go."""

import re
from itertools import accumulate

import pytest
from lxml import etree

from seq2see.text.html_markup import Html
from .archives import DRAWING, ODF, WORD, entries_of, opened, sample, swapped, with_entries

NAMES = {
    "w": WORD, "a": DRAWING, "mc": "http://schemas.openxmlformats.org/markup-compatibility/2006",
    "m": "http://schemas.openxmlformats.org/officeDocument/2006/math", "text": ODF.format("text"),
    "office": ODF.format("office"), "style": ODF.format("style"), "fo": ODF.format("xsl-fo-compatible"),
    "draw": ODF.format("drawing"), "p": "http://schemas.openxmlformats.org/presentationml/2006/main",
    "xlink": "http://www.w3.org/1999/xlink", "r": "http://schemas.openxmlformats.org/officeDocument/2006/relationships",
    "officeooo": "http://openoffice.org/2009/office",
}
SPACES = " ".join(f'xmlns:{name}="{space}"' for name, space in NAMES.items())
STYLES = "".join(
    f'<style:style style:name="{name}" style:family="text"{more}><style:text-properties {own}/></style:style>'
    for name, own, more in [
        ("B", 'fo:font-weight="bold"', ""), ("B2", 'fo:font-weight="bold" fo:language="en"', ""),
        ("R", 'officeooo:rsid="001"', ""), ("Sub", 'style:text-position="sub 58%"', ""),
        ("Code", 'fo:color="#000000"', ' style:parent-style-name="Source_20_Text"'),
        ("I", 'fo:font-style="italic"', ""),
    ]) + '<style:style style:name="Listing" style:family="paragraph" style:parent-style-name="Preformatted_20_Text"/>'
WRITTEN = {  # the entry with a body, and what is around the body there
    "docx": ("word/document.xml", "<w:document {}><w:body>{}</w:body></w:document>"),
    "odt": ("content.xml", f"<office:document-content {{}}><office:automatic-styles>{STYLES}</office:automatic-styles>"
                           "<office:body><office:text>{}</office:text></office:body></office:document-content>"),
    "pptx": ("ppt/slides/slide1.xml", "<p:sld {}>{}</p:sld>"),
}


def written(kind: str, body: str) -> bytes:
    entry, around = WRITTEN[kind]
    others = {name: None for name in entries_of(sample(f"pandoc.{kind}")) if re.search(r"slides/slide[2-9]", name)}
    if kind == "pptx":
        types = entries_of(sample("pandoc.pptx"))["[Content_Types].xml"]
        others["[Content_Types].xml"] = re.sub(rb"<Override [^>]*slide[2-9][^>]*>", b"", types)
    return with_entries(sample(f"pandoc.{kind}"), {entry: around.format(SPACES, body), **others})


def body_of(kind: str, data: bytes) -> str:
    """The body as it was given to `written`, without namespaces."""
    root = etree.fromstring(entries_of(data)[WRITTEN[kind][0]])
    body = root if kind == "pptx" else root[-1] if kind == "docx" else root[-1][0]
    text = etree.tostring(body, method="c14n", exclusive=False).decode()
    return re.sub(r' xmlns:\w+="[^"]*"|^<[^>]*>|<[^<]*>$', "", text).replace(' xml:space="preserve"', "")


def texts_of(kind: str, data: bytes) -> list[str]:
    """The texts of the body alone."""
    rest = {*opened(f"a.{kind}", written(kind, "")).texts}
    return [one for one in opened(f"a.{kind}", data).texts if one not in rest]


def w(text: str, properties: str = "") -> str:
    """A run of Word."""
    return f'<w:r>{f"<w:rPr>{properties}</w:rPr>" if properties else ""}<w:t xml:space="preserve">{text}</w:t></w:r>'


def field(instruction: str, result: str) -> str:
    return ('<w:r><w:fldChar w:fldCharType="begin"></w:fldChar></w:r>'
            f'<w:r><w:instrText>{instruction}</w:instrText></w:r>'
            f'<w:r><w:fldChar w:fldCharType="separate"></w:fldChar></w:r>{result}'
            '<w:r><w:fldChar w:fldCharType="end"></w:fldChar></w:r>')


def a(text: str, properties: str = "") -> str:
    """A run of DrawingML."""
    return f"<a:r><a:rPr{properties}></a:rPr><a:t>{text}</a:t></a:r>"


def s(style: str, text: str) -> str:
    """A span of OpenDocument."""
    return f'<text:span text:style-name="{style}">{text}</text:span>'


BOLD, ITALIC = "<w:b></w:b>", "<w:i></w:i>"
PIC = "<w:r><w:drawing></w:drawing></w:r>"
BR = "<w:r><w:br></w:br></w:r>"


def joined(runs):
    return runs.replace("</w:r><w:r>", "")


BOX = f"<w:txbxContent><w:p>{w('In a box.')}</w:p></w:txbxContent>"
PAIR = ("<mc:AlternateContent><mc:Choice>{}</mc:Choice><mc:Fallback><w:pict>{}</w:pict></mc:Fallback>"
        "</mc:AlternateContent>")
MARK = '<w:bookmarkStart w:id="1" w:name="n"></w:bookmarkStart>{}<w:bookmarkEnd w:id="1"></w:bookmarkEnd>'
COMMENT = '<w:commentRangeStart w:id="2"></w:commentRangeStart>{}<w:commentRangeEnd w:id="2"></w:commentRangeEnd>'
LINK = '<w:hyperlink r:id="rId9">{}</w:hyperlink>'
HLINK = ' <a:hlinkClick r:id="rId3"></a:hlinkClick>'

# The paragraph, the texts, their translations (None: the same texts with other words), and the paragraph then.
CASES = [
    # One sentence in many runs, as Word keeps it, is one text.
    ("docx", w("The ") + '<w:proofErr w:type="a"></w:proofErr>' + w("red ", '<w:lang w:val="en"></w:lang>')
     + w("boat", "<w:noProof></w:noProof>"), ["The red boat"], ["Le bateau rouge"], w("Le bateau rouge")),
    ("docx", w("We saw a ") + w("red", BOLD) + w(" ", BOLD) + w("boat", BOLD) + w("."),
     ['We saw a <span id="0">red boat</span>.'], ['Le <span id="0">bateau rouge</span>.'],
     w("Le ") + w("bateau rouge", BOLD) + w(".")),
    ("docx", w("A ") + w("red", BOLD) + w(" or ") + w("new", ITALIC) + w(" boat"),
     ['A <span id="0">red</span> or <span id="1">new</span> boat'],
     ['Un bateau <span id="1">neuf</span> ou <span id="0">rouge</span>'],
     w("Un bateau ") + w("neuf", ITALIC) + w(" ou ") + w("rouge", BOLD)),
    # The format of most characters has no element; all in one format is plain text.
    ("docx", w("All bold here", BOLD), ["All bold here"], ["Tout gras"], w("Tout gras", BOLD)),
    ("docx", w("Mostly bold ", BOLD) + w("not", ""), ['Mostly bold <span id="0">not</span>'],
     ['<span id="0">Pas</span> gras'], w("Pas") + w(" gras", BOLD)),
    ("docx", LINK.format(w("a link", ITALIC)) + w(" and more"), ['<span id="0">a link</span> and more'],
     ['plus et <span id="0">un lien</span>'], w("plus et ") + LINK.format(w("un lien", ITALIC))),
    ("docx", LINK.format(w("one")) + LINK.format(w("two")), ['<span id="0">one</span><span id="1">two</span>'],
     ['<span id="1">deux</span> et <span id="0">un</span>'],
     LINK.format(w("deux")) + w(" et ") + LINK.format(w("un"))),
    ("docx", LINK.format(w("a ") + w("good", BOLD) + w(" link")) + w(" x"),
     ['<span id="0">a <span id="1">good</span> link</span> x'],
     ['x <span id="0">un lien <span id="1">bon</span></span>'],
     w("x ") + LINK.format(w("un lien ") + w("bon", BOLD))),
    # Tabs and breaks separate texts; pictures, notes and equations are kept.
    ("docx", "<w:r><w:t>Name</w:t><w:tab></w:tab><w:t>House</w:t><w:br></w:br><w:t>12</w:t></w:r>", ["Name", "House"],
     ["Nom", "Maison"], "<w:r><w:t>Nom</w:t><w:tab></w:tab><w:t>Maison</w:t><w:br></w:br><w:t>12</w:t></w:r>"),
    ("docx", w("See ") + PIC + w("this") + "<m:oMath></m:oMath>" + w(" now") + PIC,
     ['See <img id="0">this<img id="1"> now'], ['Voir <img id="1"> cela<img id="0">'],
     w("Voir ") + "<m:oMath></m:oMath>" + w(" cela") + PIC + PIC),
    ("docx", w("A note") + '<w:r><w:footnoteReference w:id="2"></w:footnoteReference></w:r>' + w(" here."),
     ['A note<img id="0"> here.'], ['Une note<img id="0"> ici.'],
     w("Une note") + '<w:r><w:footnoteReference w:id="2"></w:footnoteReference></w:r>' + w(" ici.")),
    ("docx", "<w:pPr><w:jc></w:jc></w:pPr>" + w("  Two  spaces "), ['Two <img id="0">spaces'],
     ['Deux <img id="0">vides'],
     "<w:pPr><w:jc></w:jc></w:pPr>" + w("  Deux  vides ")),
    # A part of a word is in it.
    ("docx", w("H") + w("2", '<w:vertAlign w:val="subscript"></w:vertAlign>') + w("O is wet"),
     ['H<sub id="0">2</sub>O is wet'], ['Le H<sub id="0">2</sub>O'],
     w("Le H") + w("2", '<w:vertAlign w:val="subscript"></w:vertAlign>') + w("O")),
    ("docx", "<w:r><w:t>e</w:t><w:noBreakHyphen></w:noBreakHyphen><w:t>mail</w:t></w:r>", ["e\u2011mail"],
     ["le\u2011mail"],
     w("le\u2011mail")),
    ("docx", w("Call ") + w("print", '<w:rStyle w:val="VerbatimChar"></w:rStyle>'), ['Call <code id="0">print</code>'],
     ['Appelle <code id="0">print</code>'], w("Appelle ") + w("print", '<w:rStyle w:val="VerbatimChar"></w:rStyle>')),
    ("docx", w("print the code", '<w:rStyle w:val="VerbatimChar"></w:rStyle>'), [], [], None),
    ("docx", field("TOC", w("The chapter ") + field("PAGEREF x", w("4"))),
     ['The chapter <samp id="0">1</samp>'], None, None),
    # Tracked changes: what was inserted is translated, what was deleted is not.
    ("docx", w("My ") + f'<w:ins w:author="A" w:id="4">{w("old ")}</w:ins>'
     + f'<w:ins w:id="5" w:author="A">{w("red")}</w:ins>'
     + '<w:del w:id="6"><w:r><w:delText>new</w:delText></w:r></w:del>' + w(" cat"),
     ['My <span id="0">old red</span><img id="1"> cat'], ['Mon chat <span id="0">rouge</span><img id="1">'],
     w("Mon chat ") + f'<w:ins w:author="A" w:id="4">{w("rouge")}</w:ins>'
     + '<w:del w:id="6"><w:r><w:delText>new</w:delText></w:r></w:del>'),
    ("docx", f'<w:moveFrom w:id="1">{w("from")}</w:moveFrom><w:moveTo w:id="2">{w("moved")}</w:moveTo>',
     ["moved"], ["venu"],
     f'<w:moveFrom w:id="1">{w("from")}</w:moveFrom><w:moveTo w:id="2">{w("venu")}</w:moveTo>'),
    # The words of comments and bookmarks are an element; one without words is kept.
    ("docx", w("The ") + COMMENT.format(w("red") + w(" boat", BOLD)) + w(" left"),
     ['The <span id="0"><span id="1">red</span> boat</span> left'], None, None),
    ("docx", w("The ") + MARK.format("") + w("boat"), ['The <img id="0"><img id="1">boat'], None, None),
    ("docx", w("The") + MARK.format(w(" red ")) + w("boat"), ['The <span id="0">red</span> boat'],
     ['Le bateau <span id="0">rouge</span>'], w("Le bateau ") + MARK.format(w("rouge"))),
    ("docx", MARK.format(w("The boat")), ["The boat"], ["Le bateau"], MARK.format(w("Le bateau"))),
    # Fields: a page's number is kept, a link's text is translated, an instruction never.
    ("docx", w("Page ") + field("PAGE", w("7")) + w(" of it"), ['Page <samp id="0">1</samp> of it'],
     ['La <samp id="0">1</samp>e page'], w("La ") + field("PAGE", w("7")) + w("e page")),
    ("docx", w("Please see ") + field('HYPERLINK "http://a.b"', w("a letter", ITALIC)) + w(" soon"),
     ['Please see <span id="0">a letter</span> soon'], ['Vois bientôt <span id="0">la lettre</span>'],
     w("Vois bientôt ") + field('HYPERLINK "http://a.b"', w("la lettre", ITALIC))),
    ("docx", w("On ") + f'<w:fldSimple w:instr="DATE">{w("1 May")}</w:fldSimple>' + w(" we"),
     ['On <samp id="0">1</samp> we'],
     None, None),
    # Content controls: free text is translated, a chosen value or bound data is not.
    ("docx", "<w:sdt><w:sdtPr><w:tag></w:tag></w:sdtPr><w:sdtContent>" + w("free")
     + "</w:sdtContent></w:sdt>" + w(" text"),
     ['<span id="0">free</span> text'], ['texte <span id="0">libre</span>'],
     w("texte ") + "<w:sdt><w:sdtPr><w:tag></w:tag></w:sdtPr><w:sdtContent>" + w("libre") + "</w:sdtContent></w:sdt>"),
    ("docx", "<w:sdt><w:sdtPr><w:date></w:date></w:sdtPr><w:sdtContent>" + w("1 May")
     + "</w:sdtContent></w:sdt>" + w(" x"),
     ["x"], ["y"],
     "<w:sdt><w:sdtPr><w:date></w:date></w:sdtPr><w:sdtContent>" + w("1 May") + "</w:sdtContent></w:sdt>" + w(" y")),
    *(("docx", w("One ") + empty + w("text"), ['One <img id="0">text'], ['Un <img id="0">texte'],
       w("Un ") + empty + w("texte")) for empty in (
           "<w:sdt><w:sdtPr></w:sdtPr></w:sdt>", "<w:sdt><w:sdtContent></w:sdtContent></w:sdt>", LINK.format(""))),
    # A text box is there twice, for two kinds of programs.
    ("docx", w("Out") + f"<w:r>{PAIR.format(BOX, BOX)}</w:r>", ["Out", "In a box.", "In a box."],
     ["Dehors", "Dedans.", "Dedans."],
     f"{w('Dehors')}<w:r>{PAIR.format(BOX, BOX)}</w:r>".replace("In a box.", "Dedans.")),
    ("docx", "<w:r><w:ruby><w:rt>" + w("x") + "</w:rt></w:ruby></w:r>", [], [], None),
    ("docx", w("12 %"), [], [], None),
    # Outer spaces of a run count only where it says so.
    ("docx", "<w:r><w:t>\n One </w:t></w:r>" + w("two", BOLD) + w(" three four"),
     ['One<span id="0">two</span> three four'],
     ['<span id="0">Un</span> trois'], w("Un", BOLD) + w(" trois")),
    # A range from a link to outside of it is no element.
    ("docx", LINK.format(w("a link") + MARK.split("{}")[0] + w(" is here")) + w(" and not") + MARK.split("{}")[1]
     + w(" so"),
     ['<span id="0">a link<img id="1"> is here</span> and not<img id="2"> so'], None, None),
    ("docx", w("&lt;b&gt; &amp; c"), ["<b> & c"], ["<i> & d"], w("&lt;i&gt; &amp; d")),
    ("docx", w("a ") + w("&lt;b&gt; &amp;amp;", BOLD) + w(" cc ddd eee"),
     ['a <span id="0">&lt;b&gt; &amp;amp;</span> cc ddd eee'],
     ['<span id="0">&lt;i&gt; &amp;amp;</span> \x0bz'], w("&lt;i&gt; &amp;amp;", BOLD) + w(" z")),

    # A sentence goes on after one line break, but not after a page's.
    ("docx", w("I live in the") + BR + w("old red", BOLD) + BR + w("house of my aunt."),
     ['I live in the<br><span id="0">old red</span><br>house of my aunt.'],
     ['Ici, la<br>maison <span id="0">rouge</span><br>là'],
     joined(w("Ici, la") + BR + w("maison ")) + w("rouge", BOLD) + joined(BR + w("là"))),
    ("docx", w("I live in") + BR.replace("br>", 'br w:type="page">', 1) + w("a house."), ["I live in", "a house."],
     ["Dans", "ma maison."], joined(w("Dans") + BR + w("ma maison.")).replace("<w:br>", '<w:br w:type="page">')),
    ("docx", w("I live in") + BR + BR + w("a house.") + BR + w("See it"), ["I live in", "a house.", "See it"],
     ["Dans", "ma maison.", "Vois"], joined(w("Dans") + BR + BR + w("ma maison.") + BR + w("Vois"))),

    ("odt", "The " + s("B", "red") + s("B2", " boat") + " left us", ['The <span id="0">red boat</span> left us'],
     ['Le <span id="0">bateau rouge</span> part'], "Le " + s("B", "bateau rouge") + " part"),
    ("odt", "Typed " + s("R", "at two") + " times", ["Typed at two times"], ["En deux fois"], "En deux fois"),
    ("odt", s("B", "All bold"), ["All bold"], ["Tout gras"], s("B", "Tout gras")),
    ("odt", s("B", "one " + s("I", "two") + " three") + " and much more text",
     ['<span id="0">one <span id="1">two</span> three</span> and much more text'],
     ['beaucoup <span id="0"><span id="1">deux</span> un</span>'], "beaucoup " + s("B", s("I", "deux") + " un")),
    ("odt", '<text:a xlink:href="u">The ' + s("B", "last") + " letter</text:a> is here",
     ['<span id="0">The <span id="1">last</span> letter</span> is here'],
     ['Voici <span id="0">la <span id="1">dernière</span></span>'],
     'Voici <text:a xlink:href="u">la ' + s("B", "dernière") + "</text:a>"),
    ("odt", "Name<text:tab></text:tab>House<text:line-break></text:line-break>12", ["Name", "House"], ["Nom", "Maison"],
     "Nom<text:tab></text:tab>Maison<text:line-break></text:line-break>12"),
    ("odt", "We met the king<text:line-break></text:line-break>of England.", ["We met the king<br>of England."],
     ["Le roi<br>est là."], "Le roi<text:line-break></text:line-break>est là."),
    ("odt", 'A <text:s text:c="2"></text:s>b\n  c', ['A <img id="0">b c'], ['C <img id="0">b a'],
     'C <text:s text:c="2"></text:s>b a'),
    ("odt", "\n  a<text:s></text:s>b ", ["a b"], ["b a"], "b a "),
    ("odt", "See<text:note><text:note-body><text:p>Its text</text:p></text:note-body></text:note> more",
     ['See<img id="0"> more', "Its text"], ['Voir<img id="0"> plus', "Texte"],
     "Voir<text:note><text:note-body><text:p>Texte</text:p></text:note-body></text:note> plus"),
    ("odt", "The <draw:frame><draw:text-box><text:p>Box</text:p></draw:text-box></draw:frame> end",
     ['The <img id="0"> end', "Box"], ['La <img id="0"> fin', "Boîte"],
     "La <draw:frame><draw:text-box><text:p>Boîte</text:p></draw:text-box></draw:frame><text:s></text:s>fin"),
    ("odt", 'A <office:annotation office:name="c"><text:p>Why so</text:p></office:annotation>red'
     '<office:annotation-end office:name="c"></office:annotation-end> boat',
     ['A <span id="0">red</span> boat', "Why so"],
     ['Un bateau <span id="0">rouge</span>', "Pourquoi"],
     'Un bateau <office:annotation office:name="c"><text:p>Pourquoi</text:p></office:annotation>rouge'
     '<office:annotation-end office:name="c"></office:annotation-end>'),
    ("odt", "Page<text:page-number>3</text:page-number> of it", ['Page<samp id="0">1</samp> of it'], None, None),
    ("odt", "H" + s("Sub", "2") + "O " + s("Code", "print"),
     ['H<sub id="0">2</sub>O <code id="1">print</code>'], None, None),

    ("pptx", a("We saw the ", ' lang="en"') + a("red", ' lang="fr" b="1" dirty="0"') + a(" boat", ' b="1"')
     + "<a:endParaRPr></a:endParaRPr>", ['We saw the <span id="0">red boat</span>'], ['<span id="0">Rouge</span> le'],
     a("Rouge", ' b="1" dirty="0" lang="fr"') + a(" le", ' lang="en"') + "<a:endParaRPr></a:endParaRPr>"),
    ("pptx", "<a:pPr></a:pPr>" + a("One") + "<a:br></a:br>" + a("Two\tthree"), ["One", "Two", "three"],
     ["Un", "Deux", "trois"], "<a:pPr></a:pPr>" + a("Un") + "<a:br></a:br>" + a("Deux\ttrois")),
    ("pptx", a("I live in") + "<a:br></a:br>" + a("a house."), ["I live in<br>a house."], ["Ma<br>maison."],
     a("Ma") + "<a:br></a:br>" + a("maison.")),
    ("pptx", a("Slide ") + '<a:fld type="slidenum"><a:t>4</a:t></a:fld>' + a(" now"),
     ['Slide <samp id="0">1</samp> now'],
     ['Page <samp id="0">1</samp> ici'], a("Page ") + '<a:fld type="slidenum"><a:t>4</a:t></a:fld>' + a(" ici")),
    ("pptx", a("m") + a("2", ' baseline="30000"') + a("H") + a("2", ' baseline="-25000"') + a("O"),
     ['m<sup id="0">2</sup>H<sub id="1">2</sub>O'], None, None),
    ("pptx", '<a:r><a:rPr><a:hlinkClick r:id="x"></a:hlinkClick></a:rPr><a:t>A very long link</a:t></a:r>' + a(" to"),
     ['<span id="0">A very long link</span> to'], ['à <span id="0">un lien</span> long'],
     a("à ") + '<a:r><a:rPr><a:hlinkClick r:id="x"></a:hlinkClick></a:rPr><a:t>un lien</a:t></a:r>' + a(" long")),
]


@pytest.mark.few(20)
@pytest.mark.parametrize(("kind", "inside", "texts", "translations", "after"), CASES)
def test_words_go_back_into_their_runs(kind, inside, texts, translations, after):
    tag = {"docx": "w:p", "odt": "text:p", "pptx": "a:p"}[kind]
    data = written(kind, f"<{tag}>{inside}</{tag}>")
    document = opened(f"a.{kind}", data)
    assert document.write(document.texts) == data
    found = texts_of(kind, data)
    assert found == texts
    assert [isinstance(one, Html) for one in found] == ["<" in one and "<b>" not in one for one in found]
    if translations is None:  # swapped, and swapped again
        document = opened(f"a.{kind}", document.write([swapped(one) for one in document.texts]))
        translated = document.write([swapped(one) for one in document.texts])
        after = inside
    else:
        words = dict(zip(texts, translations, strict=True))
        translated = document.write([words.get(one, one) for one in document.texts])
        after = inside if after is None else after
    after = after.replace(' xml:space="preserve"', "")
    assert body_of(kind, translated) == f"<{tag}>{after}</{tag}>"


@pytest.mark.parametrize("translation", [
    "Le bateau", 'Le <span id="0">bateau', 'Le <span id="0"></span><span id="0">bateau</span>', "Le bateau</span>",
    '<span id="1">Le</span>', '<span id="0"><img id="1"></span>',
])
def test_elements_that_are_lost_or_doubled_are_an_error(translation):
    document = opened("a.docx", written("docx", f"<w:p>{w('The ')}{w('red', BOLD)}{w(' boat')}</w:p>"))
    with pytest.raises(ValueError, match="does not have the elements"):
        document.write([translation if isinstance(one, Html) and "red" in one else one for one in document.texts])


def test_deep_and_crossing_elements():
    """More levels than a text takes as elements, and ranges that cross: every word is there, in its place."""
    deep = "".join(f'word{n} <text:a xlink:href="{n}">' for n in range(60)) + "end" + "</text:a>" * 60
    marks = "".join(f'<w:bookmarkStart w:id="{n}"/>{w("a ", BOLD * (n % 2))}' for n in range(40))
    crossing = marks + "".join(f'<w:bookmarkEnd w:id="{n}"/>{w("b ")}' for n in range(40))
    nested = marks + "".join(f'{w("b ")}<w:bookmarkEnd w:id="{n}"/>' for n in reversed(range(40)))
    for kind, body in (("odt", f"<text:p>{deep}</text:p>"), ("docx", f"<w:p>{crossing}</w:p>"),
                       ("docx", f"<w:p>{nested}</w:p>")):
        data = written(kind, body)
        there = opened(f"a.{kind}", data).write([swapped(one) for one in opened(f"a.{kind}", data).texts])
        back = opened(f"a.{kind}", there).write([swapped(one) for one in opened(f"a.{kind}", there).texts])
        unclosed = [len(re.findall(r"<(?!/|img)", one)) - one.count("</") for one in texts_of(kind, data)]
        assert set(unclosed) == {0}
        levels = [accumulate(1 if tag[1] != "/" else -1 for tag in re.findall(r"</?(?:span)", one))
                  for one in texts_of(kind, data)]
        deepest = max(map(max, levels))
        assert deepest < 16 and (deepest > 10 or crossing in body)
        words = [re.sub("<[^>]*>", "", body_of(kind, one)) for one in (data, there, back)]
        assert words[0] == words[1].swapcase() == words[2]
        innermost = [re.findall(r'"(\d+)">WORD', body_of(kind, there))]
        assert kind == "docx" or innermost == [list(map(str, range(59)))]


def test_a_bound_control_of_blocks_stays():
    control = "<w:sdt><w:sdtPr><w:dataBinding/></w:sdtPr><w:sdtContent><w:p>{}</w:p></w:sdtContent></w:sdt>"
    data = written("docx", control.format(w("Its data")) + control.format(w("free")).replace("dataBinding", "tag"))
    assert texts_of("docx", data) == ["free"]


@pytest.mark.parametrize(("kind", "code"), [
    ("docx", f"<w:p><w:pPr><w:pStyle w:val='{style}'/></w:pPr><w:r><w:t>print it</w:t></w:r></w:p>")
    for style in ("SourceCode", "HTMLPreformatted")] + [
    ("odt", f"<text:p text:style-name='{style}'>print <text:span text:style-name='B'>it</text:span></text:p>")
    for style in ("Preformatted_20_Text", "Listing")])
def test_paragraphs_of_code_stay(kind, code):
    assert texts_of(kind, written(kind, code)) == []


MONO = {"docx": '<w:rFonts w:ascii="Courier New"></w:rFonts>', "pptx": '><a:latin typeface="Consolas"></a:latin'}


@pytest.mark.parametrize("kind", MONO)
def test_words_in_a_font_of_one_width_stay_unless_nearly_all_are(kind):
    run, tag = {"docx": (w, "w:p"), "pptx": (a, "a:p")}[kind]
    mixed = f"<{tag}>{run('Now run ')}{run('pip install', MONO[kind])}{run(' again in the room.')}</{tag}>"
    typescript = f"<{tag}>{run('My sister wrote. ' * 999, MONO[kind])}</{tag}>"
    assert 'Now run <code id="0">pip install</code> again in the room.' in texts_of(kind, written(kind, mixed))
    assert any("My sister wrote. " in one for one in texts_of(kind, written(kind, typescript)))


CODE_STYLE = '<w:rStyle w:val="S1"></w:rStyle>'


@pytest.mark.parametrize(("name", "expected"), [
    ("Code", True), ("Inline Code", True), ("HTML Code", True), ("CodeChar", True), ("Preformatted Text", True),
    ("Zip code", False), ("Codes", False), ("Quote", False),
])
def test_a_style_named_for_code(name, expected):
    styles = entries_of(sample("pandoc.docx"))["word/styles.xml"].decode().replace("</w:styles>", (
        f'<w:style w:type="character" w:styleId="S1"><w:name w:val="{name}"/></w:style></w:styles>'))
    inside = f"<w:p>{w('Now run ')}{w('pip install', CODE_STYLE)}</w:p>"
    data = with_entries(written("docx", inside), {"word/styles.xml": styles})
    assert ("<code" in texts_of("docx", data)[0] or texts_of("docx", data) == ["Now run"]) == expected


def test_a_main_part_whose_type_is_that_of_its_extension():
    """As .NET writes it."""
    types = entries_of(sample("pandoc.docx"))["[Content_Types].xml"].decode()
    main = "application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"
    types = re.sub(r'<Override [^>]*"/word/document.xml"[^>]*>|<Default [^>]*"xml"[^>]*>', "", types)
    types = types.replace("</Types>", f'<Default Extension="XML" ContentType="{main}"/></Types>')
    there = opened("a.docx", with_entries(sample("pandoc.docx"), {"[Content_Types].xml": types})).texts
    assert main in types and set(there) >= set(opened("a.docx", sample("pandoc.docx")).texts)


def test_masters_of_slides():
    """The text of a master is on every slide; the prompts of its placeholders are not."""
    master = (f"<p:sldMaster {SPACES}><p:sp><p:nvSpPr><p:nvPr><p:ph/></p:nvPr></p:nvSpPr>"
              f"<p:txBody><a:p>{a('Click here')}"
              f"</a:p></p:txBody></p:sp><p:sp><p:txBody><a:p>{a('Our company')}</a:p></p:txBody></p:sp></p:sldMaster>")
    texts = {*opened("a.pptx", with_entries(sample("pandoc.pptx"), {
        "ppt/slideMasters/slideMaster1.xml": master})).texts}
    assert "Our company" in texts and "Click here" not in texts


@pytest.mark.parametrize(("part", "kind"), [
    ("charts/chart1.xml", "drawingml.chart"), ("diagrams/data1.xml", "drawingml.diagramData"),
])
@pytest.mark.parametrize("extension", ["docx", "pptx"])
def test_charts_and_diagrams(extension, part, kind):
    data = sample(f"pandoc.{extension}")
    types = entries_of(data)["[Content_Types].xml"].decode().replace(
        "</Types>", f'<Override PartName="/x/{part}" ContentType="application/vnd.openxmlformats-officedocument.'
        f'{kind}+xml"/>'
        "</Types>")
    xml = f"<x {SPACES}><a:p><a:pPr><a:defRPr lang='en'/></a:pPr>{a('Rain in the north')}</a:p></x>"
    changed = with_entries(data, {"[Content_Types].xml": types, f"x/{part}": xml})
    document = opened(f"a.{extension}", changed, target="fr")
    there = entries_of(document.write([swapped(one) for one in document.texts]))
    assert b"<a:t>rAIN IN THE NORTH</a:t>" in there[f"x/{part}"]
    assert b'<a:defRPr lang="fr"/>' in there[f"x/{part}"]


def test_strict_files():
    """Office also writes a format of the same elements in other namespaces."""
    strict = "http://purl.oclc.org/ooxml/wordprocessingml/main"
    data = written("docx", f"<w:p>{w('The ')}{w('red', BOLD)}{w(' boat')}</w:p>")
    entry = entries_of(data)["word/document.xml"].decode().replace(WORD, strict)
    document = opened("a.docx", with_entries(data, {"word/document.xml": entry}))
    there = entries_of(document.write([swapped(one) for one in document.texts]))["word/document.xml"].decode()
    assert f'xmlns:w="{strict}"' in there and WORD not in there
    assert re.findall(r"<w:t[^>]*>([^<]*)<", there) == ["tHE ", "RED", " BOAT"]


CAP = '<w:p><w:pPr><w:framePr w:dropCap="drop"></w:framePr></w:pPr>{}</w:p>'


def test_a_drop_cap_is_the_first_letter_of_its_paragraph():
    data = written("docx", CAP.format(w("T")) + f"<w:p>{w('he cat ')}{w('sleeps', ITALIC)}{w('.')}</w:p>")
    document = opened("a.docx", data)
    assert 'The cat <span id="0">sleeps</span>.' in document.texts and document.write(document.texts) == data
    new = ['« Un chat <span id="0">dort</span>.' if "The cat" in text else text for text in document.texts]
    entry = entries_of(document.write(new))["word/document.xml"].decode()
    assert re.findall(r"<w:t\b[^>]*>([^<]*)<", entry)[:3] == ["« U", "n chat ", "dort"]
