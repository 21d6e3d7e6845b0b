"""Text to tokens in a reader's browser: the ids, offsets, words and texts that Python has, for any text."""

import json
from random import Random

import pytest
from node import Node

from seq2see.tokenizer import train_tokenizer

TEXTS = ["The goat didn't see Tom's Umbrella, did it?", "L’été, J'ai 10 000 ans\u00a0: « Où ? »", "NATO and McCoy."] * 4
PIECES = (
    "⇧", "\ue000", "\ue0000", "\ue0001", " ", "  ", "A", "É", "Aa", "<unk>", "<0x41>", "ABC", "'", "’", "l'", "ß",
    "İ", "ǅ", "I", "\u00a0", "the", " Umbrella", " Tom", "漢字", "😀", "👩🏽\u200d🚀", "e\u0301", "\n", "12.5", "Mc",
    "NATO", "où",
)
ASK = """([json, texts]) => {
  const tokenizer = new s2s_tokenizer.Tokenizer(JSON.parse(json));
  return texts.map((text) => {
    const { ids, offsets } = tokenizer.encode(text);
    const spans = s2s_words.tokenSpans(tokenizer, ids, text, "en");
    return [ids, offsets, spans.map((one) => [one.text, one.word, one.start, one.end]), tokenizer.decode(ids)];
  });
}"""


@pytest.mark.parametrize("model_type", ["bpe", "unigram"])
def test_tokens_are_those_of_python(model_type):
    tokenizer = train_tokenizer(TEXTS, vocab_size=450, languages=["fr"], model_type=model_type)
    draw = Random(0)
    texts = [*TEXTS[:3], *("".join(draw.choices(PIECES, k=draw.randint(0, 9))) for _ in range(500))]
    backend = tokenizer.backend_tokenizer
    with Node("tokenizer", "words") as node:
        found = node.evaluate(ASK, [backend.to_str(), texts])
    for text, (ids, offsets, spans, decoded) in zip(texts, json.loads(json.dumps(found)), strict=True):
        backend.encode_special_tokens = True
        encoded = backend.encode(text, add_special_tokens=False)
        assert ids == [*encoded.ids, 2] and [*map(tuple, offsets)] == [*encoded.offsets, (0, 0)] and decoded == text
        theirs = tokenizer.spans(ids, text, language="en")
        assert spans == [[one.text, one.word, one.start, one.end] for one in theirs]
