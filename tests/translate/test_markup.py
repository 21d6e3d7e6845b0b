"""Markup stays as it is, to the character; the text between is what the translation of the text is, in time linear in
its length."""

import re
from html.parser import HTMLParser
from itertools import count
from time import process_time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from seq2see import Translator
from seq2see.text.html_markup import Html, Markup
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


TEXTS = st.sampled_from(["The cat", " ", ". ", "was tired", "x", "&amp; ", "\n", "not&nbsp;a", "It is. ", "é"])
EMPTY = st.sampled_from(["<wbr>", "<img src='a>b'>", "<!-- <b> -->", "<code>x <b>y</b></code>", "<i class=x></i>",
                         "<span translate=no>z. <i>&lt;</i></span>", "<script>a<b</script>"])
INLINE = st.recursive(
    TEXTS | EMPTY,
    lambda inner: st.tuples(st.sampled_from(["b", "i", "a href='?a=1&amp;b'", "span class=\"x\""]),
                            st.lists(inner, max_size=4)).map(
        lambda one: f"<{one[0]}>{''.join(one[1])}</{one[0].split()[0]}>"),
    max_leaves=12,
)
BLOCKS = st.lists(st.tuples(st.sampled_from(["<p>{}</p>", "<li class='y'>{}</li>", "{}<br>", "<td>{}</td>\n"]),
                            st.lists(INLINE, max_size=5)).map(lambda one: one[0].format("".join(one[1]))),
                  min_size=1, max_size=3).map("".join)


def shown(text):
    return re.sub("[ \t\n\f\r]+", " ", text).strip(" \t\n\f\r")


STAND_IN = "\ufffc"


class Shown(HTMLParser):
    """What a browser shows of each block, with a character in the place of what is not translated, and all tags."""

    def __init__(self, text):
        super().__init__()
        self.blocks, self.tags, self.open, self.kept = [""], [], [], 0
        self.feed(text)
        self.close()
        self.blocks = list(map(shown, self.blocks))

    def handle_starttag(self, tag, attributes):
        kept = self.kept or tag in ("code", "script") or ("translate", "no") in attributes
        if kept and not self.kept and tag != "script":
            self.blocks[-1] += STAND_IN
        if not self.kept:
            self.tags.append(self.get_starttag_text())
        if tag not in ("wbr", "img", "br", "input"):
            self.open.append(tag)
            self.kept += bool(kept)
        self._part(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag, "elements overlap"
        self.kept -= bool(self.kept)
        if not self.kept:
            self.tags.append(f"</{tag}>")
        self._part(tag)

    def _part(self, tag):
        self.blocks += [""] if tag in ("p", "li", "br", "td") else []

    def handle_comment(self, text):
        self.tags.append(text)

    def handle_data(self, text):
        if self.kept:
            self.tags.append(text)
        else:
            self.blocks[-1] += text


def numbered(block):
    """With a character for each thing in it that is not translated."""
    numbers = count(0xF0000)
    return re.sub(STAND_IN, lambda _: chr(next(numbers)), block)


def worded(block):
    return block.replace(STAND_IN, "").strip()


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


SHORT = {"num_beams": 1, "max_new_tokens": 8}


@settings(max_examples=settings.default.max_examples // 3)  # each translates twice
@given(BLOCKS)
def test_a_model_translates_the_text_as_if_there_were_no_markup(translator, text):
    found, before = Shown(translator(text, format="html", **SHORT).text), Shown(text)
    plain = translator([numbered(block) for block in before.blocks], **SHORT)
    assert found.blocks == [re.sub("[\U000f0000-\U000ffffd]", STAND_IN, shown(one.text)) for one in plain]
    assert sorted(found.tags) == sorted(before.tags)


PAGE = "<p>The <b>cat</b> did <i>not</i> cross.</p> <p>The box. <u>An owl.</u></p>"


def test_any_models_own_maps_say_where_elements_are(any_folder):
    translator = Translator.from_pretrained(any_folder, engine="torch")
    result = translator(PAGE, format="html", alternatives=3, max_new_tokens=12)
    choice = translator.known_choice
    for number, hypothesis in enumerate(result.hypotheses):
        part = result.parts[0]
        texts = part.source_text, part.hypotheses[number].text
        [trace] = translator.look(part, alternative=number, views=(choice.view,))
        alignments = [Alignment.measured(trace, choice.strengths(trace), *texts),
                      Alignment.whole("The box. An owl.", "x")]
        expected = Markup(PAGE).join([texts[1], "x"], alignments)
        assert hypothesis.text.partition("</p>")[0] == expected.partition("</p>")[0], "each alternative by its own maps"


def test_only_sentences_with_markup_inside_are_looked_into(translator, monkeypatch):
    looks, look = [], translator.look
    monkeypatch.setattr(translator, "look", lambda results, **more: (
        looks.extend(one.source_text for one in results), look(results, **more))[1])
    translator(PAGE, format="html", **SHORT)
    assert looks == ["The cat did not cross."]
    monkeypatch.setattr(translator, "look", None)
    plain = "<p>The cat.</p> <b>The box. <i>An owl.</i></b> <!-- it --> It <br> is."
    assert "<b>" in translator(plain, format="html", **SHORT).text


def test_texts_of_both_kinds_are_translated_as_each_alone(translator):
    """What comes of HTML is HTML: another model may translate it on."""
    found = [one.text for one in translator(["a <b>cat</b>", Html(PAGE), "The cat."], **SHORT)]
    assert found == [translator("a <b>cat</b>", **SHORT).text, translator(PAGE, format="html", **SHORT).text,
                     translator("The cat.", **SHORT).text]
    assert [*map(type, found)] == [str, Html, str]


@pytest.mark.parametrize("text_of", [lambda size: "<b>x </b>" * size,
                                     lambda size: "<b>x " * size + "</b>" * size,
                                     lambda size: "<b>a<i>" * size, lambda size: "<!---->x " * size])
def test_elements_are_placed_in_time_that_grows_with_the_text(text_of):
    """Eight times the text takes 8 times the processor's time where that is so, and 64 times where it is not."""
    seconds = []
    for size in (500, 4_000):
        text, began = text_of(size), process_time()
        markup = Markup(text)
        found = joined(markup, markup.texts)
        seconds.append(process_time() - began)
        assert re.sub("<.*?>", "", found).split() == re.sub("<.*?>", "", text).split()
        assert sorted(re.findall("<.*?>", found)) == sorted(re.findall("<.*?>", text))
    assert seconds[1] < 25 * seconds[0]
