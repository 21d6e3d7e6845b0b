"""Markup stays as it is, to the character; text between is translated, and in time linear in its length."""

import html
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seq2see.serve.markup import Markup

BITS = [
    "<b>", "</b>", "<p>", "</p>", "a", "B ", " ", "<br/>", "&amp;", "<", "&", "<!--", "-->", "<i class=x>", "</i>",
    "\n", "<script>", "</script>", "<pre>", "</pre>", "é", ">", "'", '"', "<a href='", "<![CDATA[", "]]>", "<?", "</",
    "/>", "<div translate=no>", "</div>",
]  # fmt: skip


def shouted(text):
    markup = Markup(text)
    return markup.join([one.upper() for one in markup.texts])


@given(st.lists(st.sampled_from(BITS), max_size=14).map("".join))
def test_nothing_is_lost(text):
    markup = Markup(text)
    assert "".join(token.raw for block in markup.blocks for token in block.tokens) == text
    plain = [token.raw for block in markup.blocks for token in block.tokens if token.kind != "text"]
    joined = markup.join([f"[{one}]" for one in markup.texts])
    for raw in plain:
        assert raw in joined
    assert len(Markup(joined).texts) >= bool(markup.texts)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("plain", "PLAIN"),
        ("<p>Hello <b>red</b> house &amp; co.</p>\n<p>Two</p>", "<p>HELLO <b>RED</b> HOUSE &amp; CO.</p>\n<p>TWO</p>"),
        ("<b>All of it.</b>", "<b>ALL OF IT.</b>"),
        ("a <i>b <b>c</b></i> d", "A <i>B <b>C</b></i> D"),
        ("a < b & c", "A &lt; B &amp; C"),
        ("x &lt;b&gt; y", "X &lt;B&gt; Y"),
        ("a <script>if (a<b) {'</p>'}</script> b", "A <script>if (a<b) {'</p>'}</script> B"),
        ("a <pre> x </pre> <code>y</code> b", "A <pre> x </pre> <code>y</code> B"),
        ("a<br>b <img alt='>'> c<!-- d -->e<![CDATA[f]]>", "A<br>B <img alt='>'> C<!-- d -->E<![CDATA[f]]>"),
        ("<p translate=no>a <b>b</b></p> c", "<p translate=no>a <b>b</b></p> C"),
        ("a <div class='x notranslate'>b<div>c</div>d</div> e", "A <div class='x notranslate'>b<div>c</div>d</div> E"),
        ("<td class=translate>a</td>", "<td class=translate>A</td>"),
        ("<p>a <b>b", "<p>A <b>B"),
        ("</b> a", "</b> A"),
        ("a <b/>c", "A <b/>C"),
        ("a<a", "A<a"),
        ("  a  \n b ", "  A B "),
        ("<p> </p>", "<p> </p>"),
    ],
)
def test_only_text_is_translated(text, expected):
    assert shouted(text) == expected


def test_marked_words_are_marked_where_they_are_found_in_the_translation():
    markup = Markup("The <b>red</b> house is <a href=x>big</a>.")
    assert markup.texts == ["The red house is big.", "red", "big"]
    assert markup.join(["La grande maison rouge.", "Rouge.", "grande"]) == (
        "La <a href=x>grande</a> maison <b>rouge</b>.")
    assert markup.join(["La maison rouge, grande et rouge", "rouge", "grande"]) == (
        "La maison <b>rouge</b>, <a href=x>grande</a> et rouge")  # of two the nearer
    assert markup.join(["Das Haus ist rot oder eine rote Grotte", "Rot rot.", "groß"]) == (
        "Das Haus ist <b>rot</b> oder <a href=x>eine rote</a> Grotte")


@pytest.mark.parametrize(("text", "translations", "expected"), [
    # inflected otherwise
    ("in a <b>blue</b> shirt", ["in einem blauen Hemd", "Blau Blau."], "in einem <b>blauen</b> Hemd"),
    ("a <b>blue</b> shirt of his", ["ein Hemd von ihm, blaues", "Blau"], "ein Hemd von ihm, <b>blaues</b>"),
    # of two the nearer
    ("The house is <b>red</b>.", ["Rouge la maison et rouge.", "rouge"], "Rouge la maison et <b>rouge</b>."),
    # not found: by its place
    ("Two <i>young</i> girls are playing.", ["Zwei kleine Mädchen spielen.", "Junger junge"],
     "Zwei <i>kleine</i> Mädchen spielen."),
    ("A <u>dog runs</u> home.", ["Ein Hund rennt heim.", "?"], "Ein <u>Hund rennt</u> heim."),
    ("An <b>infrared</b>.", ["Une infrarouge.", "rouge"], "Une <b>infrarouge</b>."),
    # a sign is no word
    ("The name <b>*</b> of it", ["Der Name * davon", "*"], "Der Name <b>*</b> davon"),
    ("The name <b>→</b> of it", ["Der Name - davon", "x"], "Der Name <b>-</b> davon"),
    ("The name<b>:</b> it", ["Der Name es", "x"], "Der Name<b></b> es"),
    # two marks have a word each, and a mark for which there is none is kept
    ("<i>a</i> <b>a</b>", ["x y", "x", "x"], "<i>x</i> <b>y</b>"),
    ("<i>a</i> <b>a</b>", ["x", "x", "x"], "<b></b><i>x</i>"),
    ("a <b>b</b>", ["", "b"], "<b></b>"),
    # a mark within a mark stays within
    ("See <a>the <b>red</b> book</a> of it", ["Das rote Buch davon siehe", "das rote Buch", "davon"],
     "<a>Das <b>rote</b> Buch</a> davon siehe"),
    ("<a>All <b>of</b> it</a>", ["Alles davon", "davon"], "<a>Alles <b>davon</b></a>"),
    ("<a><i class=icon></i> Home</a> is", ["Heim ist", "Heim"], " <a><i class=icon></i>Heim</a> ist"),
    # tags without a partner
    ("a<i> b", ["x y"], "x<i> y"),
    ("a <b>b <i>c</b> d", ["x y z w", "y z"], "x <b>y <i>z</b> w"),
    ("a </b>b<b>", ["x y"], "x </b>y<b>"),
    # text is text
    ("a &lt;<b>b</b>", ["x < y", "y"], "x &lt; <b>y</b>"),
])
def test_marks_have_a_place_in_every_translation(text, translations, expected):
    assert Markup(text).join(translations) == expected


def test_every_character_of_a_script_without_spaces_is_a_place():
    assert Markup("a <b>cat</b> sleeps").join(["猫在睡觉", "猫"]) == "<b>猫</b>在睡觉"
    assert Markup("the <b>tree</b> of").join(["de l'arbre", "arbre"], language="fr") == "de l'<b>arbre</b>"


def test_a_mark_stays_in_its_sentence():
    """By the places of all the text alone it would be in the first one."""
    text = "Ah. I saw the <b>cat</b> there."
    translations = ["Un deux trois quatre cinq six sept huit neuf dix. Je vis le chien là.", "x"]
    first = len("Un deux trois quatre cinq six sept huit neuf dix. ")
    anchors = [(0, 0), (4, first), (len(text) - 7, len(translations[0]))]
    found = Markup(text).join(translations, anchors=[anchors, []])
    assert found == translations[0].replace("chien", "<b>chien</b>")


@given(st.lists(st.sampled_from(["<b>", "</b>", "<i>", "</i>", "<a>", "</a>", "w ", "x", " y", "z. "]), max_size=16),
       st.lists(st.sampled_from(["w ", "v", " y", "z. ", "猫", "<"]), max_size=8).map("".join))
def test_the_translation_is_never_changed(bits, translation):
    markup = Markup("".join(bits))
    joined = markup.join([translation, *(["y"] * (len(markup.texts) - 1))][: len(markup.texts)])
    shown = html.unescape(re.sub("</?[bia]>", "", joined))
    assert shown.strip() == (translation.strip() if markup.texts else "")
    assert sorted(re.findall("</?[bia]>", joined)) == sorted(re.findall("</?[bia]>", "".join(bits)))


@pytest.mark.timeout(60)
@pytest.mark.parametrize("text", ["<b>x </b>" * 8_000, "<b>x " * 8_000 + "</b>" * 8_000, "<b>a<i>" * 8_000,
                                  "x <b>" * 8_000 + "y" + "</b>" * 8_000])
def test_marks_are_placed_in_time_that_grows_with_the_text(text):
    markup = Markup(text)
    assert sum(map(len, markup.texts)) <= 4 * len(text)
    assert re.sub("<.*?>", "", markup.join(markup.texts)).split() == re.sub("<.*?>", "", text).split()


@pytest.mark.parametrize("bit", [
    "<", "<a ", "<a '\"", "<!--", "&", "</", "<![CDATA[", "<?", "<script", "<script>", "<a class='", "<div class=x ",
    "<pre>", "<pre></b>",
])  # fmt: skip
@pytest.mark.timeout(60)
def test_a_long_text_of_broken_markup_is_read_all_the_same(bit):
    """Where reading takes a time that grows with the square of the length, this takes many minutes."""
    text = bit * (400_000 // len(bit))
    assert "".join(token.raw for block in Markup(text).blocks for token in block.tokens) == text
