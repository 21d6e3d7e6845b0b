"""Markup stays as it is, to the character; the text between is what the translation of the text is, in time linear in
its length."""

import re

import pytest
from growth import is_linear
from hypothesis import given
from hypothesis import strategies as st
from shown_html import BLOCKS, STAND_IN, Shown, numbered, worded

from seq2see.text.html_markup import Markup
from seq2see.text.placing import Alignment
from seq2see.text.word_links import from_pharaoh
from seq2see.tokenizer.words import split_words


def spans(text, language=""):
    return tuple((word.start, word.end) for word in split_words(text, language=language))


def by_words(text, translation, links=None, *, language=""):
    """An alignment by the words' numbers, in Pharaoh's format; without any, word by word."""
    source, target = spans(text), spans(translation, language)
    pairs = from_pharaoh(links).sure if links is not None else ((k, k) for k in range(min(len(source), len(target))))
    return linked(source, target, [(i, j, 1.0) for i, j in pairs])


def linked(source, target, links):
    return Alignment([(source[i], target[j], strength) for i, j, strength in links])


def joined(markup, translations):
    """By an alignment word by word."""
    return markup.join(translations, list(map(by_words, markup.texts, translations)))


def shouted(text):
    markup = Markup(text)
    return joined(markup, [one.upper() for one in markup.texts])


@pytest.mark.parametrize(("text", "expected"), [
    ("<p>Hello <b>red</b> house &amp; co.</p>\n<p>Two</p>", "<p>HELLO <b>RED</b> HOUSE &amp; CO.</p>\n<p>TWO</p>"),
    ("a < b & c &lt;b&gt; &eacute;", "A &lt; B &amp; C &lt;B&gt; É"),
    ("a <script>if (a<b) {'</p>'}</script> b", "A <script>if (a<b) {'</p>'}</script> B"),
    ("a <pre> x </pre> <code>y</code> b", "A <pre> x </pre> <code>y</code> B"),
    ("a<br>b <img alt='>'> c<!-- d --> e<![CDATA[f]]>", "A<br>B <img alt='>'> C<!-- d --> E<![CDATA[f]]>"),
    ("a <div class='x notranslate'>b<div>c</div>d</div> e", "A <div class='x notranslate'>b<div>c</div>d</div> E"),
    ("<p>a <b>b", "<p>A <b>B"),
    ("a<a", "A<a"),
    # a link with a number right after a word is a note, not a part of the word; between letters it is a part
    ("The river<a href='#n'>1</a> is", "THE RIVER<a href='#n'>1</a> IS"),
    ("<b>The river</b><a>[1]</a>.", "<b>THE RIVER</b><a>[1]</a>."),
    ("river<a>bank</a>, x<a>2</a>y", "<a>RIVERBANK</a>, <a>X2Y</a>"),
    # white space beside what has no words stays in the element that holds both
    ("<a><i></i><b> the</b></a> cat", "<a><i></i><b> THE</b></a> CAT"),
])
def test_only_text_is_translated(text, expected):
    assert shouted(text) == expected


@pytest.mark.parametrize(("text", "translation", "links", "expected"), [
    ("The <b>red</b> house is <a href=x>big</a>.", "La grande maison rouge.", "0-0 1-3 2-2 4-1 5-4",
     "La <a href=x>grande</a> maison <b>rouge</b>."),
    # not a word of another's, though its own are on both sides of it
    ("he <i>did</i> <b>not</b> go", "il n'est pas allé", "0-0 1-2 2-1 2-3 3-4", "il n'<i>est</i> <b>pas</b> allé"),
    ("<b>a</b> b c d", "x y z w v", "0-0 1-1 2-2 3-3 0-4", "x y z w <b>v</b>"),  # what lies between outweighs it
    ("he <img> did <b>not</b> go", "il n'est pas allé", "0-0 1-2 2-1 2-3 3-4", "il <img> <b>n'est pas</b> allé"),
    ("<b>of</b> <i>the</i> cat", "du chat", "0-0 1-0 2-1", "<b>du</b> <i></i>chat"),
    ("a <b>b</b> c", "x y", "0-0 2-1", "x <b></b>y"),  # without links it is kept, beside the word before it
    ("See <a>the <b>red</b> book</a> of it", "Das rote Buch davon siehe", "0-4 1-0 2-1 3-2 4-3 5-3",
     "<a>Das <b>rote</b> Buch</a> davon siehe"),
    # about no words: after the word that it touches, or else before the next
    ("the <img> cat sleeps<wbr> here", "ici dort le chat", "0-2 1-3 2-1 3-0", "ici dort<wbr> le <img> chat"),
    ("the <img> tree", "l'arbre", "0-0 1-1", "l'<img>arbre"),  # no space where the translation has none
    (" <b>a </b>b", "y x", "0-1 1-0", " y <b>x</b>"),  # white space at the block's border stays there
    # tags without a partner
    ("a <b>b <i>c</b> d", "x y z w", "0-0 1-1 2-2 3-3", "x <b>y <i>z</b> w"),
    ("a </b>b<b>", "x y", "0-0 1-1", "x </b>y<b>"),
    # a part of a word is marked as the word; a character may be one
    ("<b>c</b>at sleeps", "chat dort", "0-0 1-1", "<b>chat</b> dort"),
    ("a <b>cat</b> sleeps", "猫在睡觉", "0-0 1-0 2-2 2-3", "<b>猫</b>在睡觉"),
])
def test_each_element_is_about_the_words_that_its_own_became(text, translation, links, expected):
    markup = Markup(text)
    alignment = by_words(*markup.texts, translation, links, language="fr")
    assert markup.join([translation], [alignment]) == expected


def test_the_first_of_two_equal_addresses_becomes_the_first():
    markup, translation = Markup("See <b>a@b.org</b> or a@b.org now"), "Voir a@b.org ou a@b.org ici"
    alignment = Alignment.by_place(*markup.texts, translation)
    assert markup.join([translation], [alignment]) == "Voir <b>a@b.org</b> ou a@b.org ici"


@given(BLOCKS, st.data())
def test_the_text_of_the_translation_is_the_translation_of_the_text(text, data):
    """However words are linked: no word is changed, no tag lost, doubled or put across another."""
    markup, before = Markup(text), Shown(text)
    assert markup.texts == [numbered(block) for block in before.blocks if worded(block)]
    words = st.lists(st.sampled_from(["w", "v.", "l'a", "猫", "<", "&amp;"]), max_size=6)
    translations, alignments = [], []
    for one in markup.texts:
        translations.append(" ".join(data.draw(st.permutations([*re.findall("[^\0-\uffff]", one), *data.draw(words)]))))
        sides = spans(one), spans(translations[-1])
        pair = st.tuples(*(st.integers(0, max(len(side) - 1, 0)) for side in sides), st.sampled_from([0.1, 0.4, 1.0]))
        alignments.append(linked(*sides, data.draw(st.lists(pair, max_size=8)) if all(sides) else []))
    found = Shown(markup.join(translations, alignments))
    left = iter(translations)
    assert found.blocks == [re.sub("[^\0-\uffff]", STAND_IN, next(left)) if worded(block) else block
                            for block in before.blocks]
    assert sorted(found.tags) == sorted(before.tags)


@pytest.mark.few(2)
@pytest.mark.parametrize("text_of", [lambda size: "<b>x </b>" * size,
                                     lambda size: "<b>x " * size + "</b>" * size,
                                     lambda size: "<b>a<i>" * size, lambda size: "<!---->x " * size])
def test_elements_are_placed_in_time_that_grows_with_the_text(text_of):
    def place(size):
        text = text_of(size)
        markup = Markup(text)
        found = joined(markup, markup.texts)
        assert re.sub("<.*?>", "", found).split() == re.sub("<.*?>", "", text).split()
        assert sorted(re.findall("<.*?>", found)) == sorted(re.findall("<.*?>", text))

    assert is_linear(place, 500, 4_000, most=25)  # 64 times if it were quadratic


@pytest.mark.parametrize(("source", "texts"), [
    ("I live in<br>a big house.", ["I live in\na big house."]), ("apples<br>pears", ["apples", "pears"]),
    ("I live in <br/> a <b>big</b> house.<br>Yes.", ["I live in \n a big house.", "Yes."]),
    ("Read the<br>red <i>book<br>and go</i>.", ["Read the\nred book\nand go."]),
    ("One two<br>three four<br class=x>five", ["One two\nthree four", "five"]),
    ("Dear Anna<br>Where are you?", ["Dear Anna", "Where are you?"]),
    ("<p>I see<br></p><p>a cat</p>", ["I see", "a cat"]),
    ("<ruby>漢字<rp>(</rp><rt>かんじ</rt><rp>)</rp></ruby>を読む。", ["漢字を読む。"]),
    ("<ruby>a<rt>b<rt>c</ruby> d", ["a d"]),
])
def test_a_sentence_goes_on_after_a_break_and_a_reading_is_none_of_its_words(source, texts):
    markup = Markup(source)
    assert markup.texts == texts
    assert markup.join(texts, [Alignment.by_place(text, text) for text in texts]) == source
