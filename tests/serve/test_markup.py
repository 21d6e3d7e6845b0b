"""Markup stays as it is, to the character; text between is translated, and in time linear in its length."""

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
    assert markup.texts == ["The red house is big.", "The ", "red", " house is ", "big", "."]
    french = ["La grande maison rouge.", "La ", "Rouge.", " maison est ", "grande", "."]
    assert markup.join(french) == "La <a href=x>grande</a> maison <b>rouge</b>."
    for whole in ("La grande maison rouge et rouge.", "Une infrarouge grande.", ""):
        assert markup.join([whole, *french[1:]]) == "La <b>Rouge.</b> maison est <a href=x>grande</a>."
    same = Markup("<i>a</i> <b>a</b>")
    assert same.join(["x", "x", "x"]) == "<i>x</i> <b>x</b>"  # two marks cannot share one place


@pytest.mark.parametrize("bit", [
    "<", "<a ", "<a '\"", "<!--", "&", "</", "<![CDATA[", "<?", "<script", "<script>", "<a class='", "<div class=x ",
    "<pre>", "<pre></b>",
])  # fmt: skip
@pytest.mark.timeout(60)
def test_a_long_text_of_broken_markup_is_read_all_the_same(bit):
    """Where reading takes a time that grows with the square of the length, this takes many minutes."""
    text = bit * (400_000 // len(bit))
    assert "".join(token.raw for block in Markup(text).blocks for token in block.tokens) == text
