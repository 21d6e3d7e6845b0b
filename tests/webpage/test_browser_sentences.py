"""Sentences in a reader's browser: a text is cut where Python cuts it."""

import re
from itertools import accumulate, pairwise
from random import Random

import pytest
from node import Node
from sentencex import segment

from seq2see.text.segments import count_sentences, cut_sentences
from seq2see.webpage_data.sentence_rules import sentence_rules

LANGUAGES = ("en", "de", "fr", "es", "hi", "sk")
PIECES = """. . . ! ? ... … 。 । ؟ ?! ' '' ` `` " “ ” „ ‘ ’ « » ‹ › 「 」 《 》 ( ) [1] [ ] { } < > , ; : •
- * + – a) 2) (a) (ii) 1. b. ii. / _ 's n't 😀 🇫🇷 a@b.com ¿ ¡ $ % 7.Bg5 the It He was Dr mrs J R e.g i.e p.m A.D
5 3.14 in ft U.S Ph.D etc z.B Januar März M Mme Sra evening on I I'm É été 漢字 Yahoo The No̱ 6:30 x"""
PARTS = """The owl ran.|It was tired.|They met Dr. J. R. Lee, e.g. in St. Gallen.|He said: "No. It is late!" Why?
„Nein. Er geht.“ Sie ging am 3. März um 5 Uhr.|« Où est-elle ? » dit M. Dupont.|Il a 3,5 kg… Elle part.
—¿Qué? —dijo la Sra. Ruiz.|Él no vino...|In the evening at 7 p.m. Tom left.|The sun set at 7 p.m. Tom left.
Wait ... I know. . . . Really ?! Yes!|"Is it?" he asked.|See https://example.org/A.html?Q=1. Then www.x.org/B!
Write to a.b@c.org. Or open read.me.txt.|Version: v1.2.3|Size: 5 GHz|Hello {name}. You have %d new mails.
#tag @user 😀 So it is 😀 He left :-)|彼は行った。彼女は来た。|...|12345|* 2. An item|(He ran. She sat.) It rained.
'Tis late.' Tom's dog.|‘I ran. I fell,’ he said. Why?|—Is he? —He is.
'Is it the dogs' house? No.' He left.|C . D ! E|x → y|&amp; co.|a) go\\nb. run
I’d rather not.\u00a0They did\u202f!|A.\tB.\tC.|a.b@c.org|It is 5" long. The cat said "No." Yes.
We live in|a big|house with a|Red door|and a garden.|b) a list|but: no|the cat,|the dog
TODO: fix it. Now.|-Where is he? -At home.|–Yes. -No, I am-5 -x|// FIXME (Ann): It is wrong.
The town fell in 44 B.C. Tom left.|She is a Ph.D. He knows. In the year 44 B.C. Tom left."""
ASK = """([rules, language, together, texts]) => {
  const ends = new s2s_sentence_ends.SentenceEnds(rules), fits = () => true;
  const spans = (text) => ends.of(text).map((at) => [...text.slice(0, at)].length);
  return texts.map((text) => [spans(text), s2s_sentences.countSentences(text, ends),
    s2s_sentences.cut(text, language, { ends, together, fits })]);
}"""


@pytest.fixture(scope="module")
def node():
    with Node("sentences", "sentence_ends") as node:
        yield node


@pytest.mark.parametrize("language", LANGUAGES)
def test_sentences_end_where_sentencex_ends_them(node, language):
    draw, pieces = Random(language), PIECES.split()
    texts = ["".join(draw.choice(pieces) + draw.choice(("", " ", "  ")) for _ in range(draw.randint(1, 15)))
             for _ in range(400)]
    found = node.evaluate(ASK, [sentence_rules(language), language, 1, texts])
    for text, (ends, *_) in zip(texts, found, strict=True):
        theirs = [0, *accumulate(map(len, segment(language, text)))]
        assert [text[a:b] for a, b in pairwise([0, *ends])] == [text[a:b] for a, b in pairwise(theirs)]


@pytest.mark.few(3)
@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("together", [1, 2])
def test_texts_are_cut_as_in_python(node, language, together):
    draw, parts = Random(f"{language}{together}"), re.split(r"[|\n]", PARTS)
    gaps = (" ", " ", "  ", "\n", "\n", "\r\n", "\r\n\n")
    texts = ["".join(draw.choice(parts) + draw.choice(gaps) for _ in range(draw.randint(1, 6))) for _ in range(150)]
    found = node.evaluate(ASK, [sentence_rules(language), language, together, [*texts, *parts]])
    for text, (_, _, cut) in zip([*texts, *parts], found, strict=True):
        ours = cut_sentences(text, language=language, together=together, wrapped=True)
        assert (tuple(cut["segments"]), tuple(cut["between"])) == (ours.segments, ours.between), text
    for text, (_, count, _) in zip(parts, found[len(texts) :], strict=True):
        assert count == count_sentences(text, language=language), text


def test_a_beginning_keeps_segments_together_and_long_ones_are_cut(node):
    ask = """([rules, text]) => { const ends = new s2s_sentence_ends.SentenceEnds(rules), most = (length) => ({
      ends, together: 1, fits: (part) => part.length <= length });
      return [s2s_sentences.cut(text, "en", { ...most(99), first: 2 }), s2s_sentences.cut(text, "en", most(12))]; }"""
    text = "An owl ran. It, too, sat down here.\nYes."
    begun, halved = node.evaluate(ask, [sentence_rules("en"), text])
    assert begun["segments"] == ["An owl ran. It, too, sat down here.", "Yes."]
    assert all(len(one) <= 12 for one in halved["segments"]) and len(halved["segments"]) > 3
    for cut in (begun, halved):
        first, *after = cut["between"]
        assert first + "".join(map(str.__add__, cut["segments"], after)) == text
