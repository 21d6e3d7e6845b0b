"""A few sentences, and the tokenizers that are trained on them."""

import json

import pytest
from tokenizers import Tokenizer, models, pre_tokenizers, trainers
from transformers import BartTokenizer, T5Tokenizer

from seq2see.tokenizer import Seq2SeeTokenizer, train_tokenizer

SENTENCES = [
    ("en", "The goat chased the wolf because it was hungry."),
    ("fr", "La chèvre a poursuivi le loup parce qu'elle était affamée."),
    ("en", "The cat's owner didn't see the well-known owl, did he?"),
    ("fr", "Le maître du chat n’a pas vu l'arbre aujourd'hui, n'est-ce pas\u00a0?"),
    ("en", "In 1984 the box cost 3.5 dollars... or 1,000!"),
    ("fr", "A-t-il mangé la poire que l'ours lui a donnée\u202f?"),
    ("hi", "बकरी ने भेड़िये का पीछा किया क्योंकि वह भूखी थी।"),
    ("hi", "क्या उसने आज वह पेड़ देखा?"),
    ("de", "Die Ziege jagte den Wolf, weil sie hungrig war."),
]
TEXTS = [text for _, text in SENTENCES] * 4


@pytest.fixture(scope="session", params=["bpe", "unigram"])
def tokenizer(request: pytest.FixtureRequest) -> Seq2SeeTokenizer:
    return train_tokenizer(TEXTS, vocab_size=600, languages=["de", "fr", "hi"], model_type=request.param)


@pytest.fixture(scope="session")
def t5() -> T5Tokenizer:
    """SentencePiece-like: Unigram, `▁` for a space, `<unk>` for an unknown character, no case folding."""
    learner = Tokenizer(models.Unigram())
    learner.pre_tokenizer = pre_tokenizers.Metaspace()
    names = ["<pad>", "</s>", "<unk>"]
    trainer = trainers.UnigramTrainer(vocab_size=200, special_tokens=names, unk_token="<unk>", show_progress=False)
    learner.train_from_iterator([text for language, text in SENTENCES if language != "hi"] * 4, trainer)
    tokens = sorted(learner.get_vocab().items(), key=lambda item: item[1])
    return T5Tokenizer(vocab=[(token, -float(i)) for token, i in tokens], extra_ids=0)


@pytest.fixture(scope="session")
def bart() -> BartTokenizer:
    """Byte-level BPE: a character may be cut into several tokens, and a token may hold parts of two characters."""
    learner = Tokenizer(models.BPE())
    learner.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    trainer = trainers.BpeTrainer(
        vocab_size=400,
        special_tokens=["<s>", "<pad>", "</s>", "<unk>", "<mask>"],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    learner.train_from_iterator(TEXTS, trainer)
    merges = [tuple(merge) for merge in json.loads(learner.to_str())["model"]["merges"]]
    return BartTokenizer(vocab=learner.get_vocab(), merges=merges)
