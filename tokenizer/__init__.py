"""Subword training, language tags, and the way from pieces to words to characters."""

if not __name__.startswith("seq2see."):
    raise ImportError("import seq2see.tokenizer, not tokenizer: under the bare name every class would exist twice")

from transformers import AutoTokenizer

from seq2see.modeling import Seq2SeeConfig
from seq2see.tokenizer.subwords import train_tokenizer
from seq2see.tokenizer.tokenization_seq2see import Seq2SeeTokenizer
from seq2see.tokenizer.words import Piece, Word, piece_spans, split_words

AutoTokenizer.register(Seq2SeeConfig, tokenizer_class=Seq2SeeTokenizer)

__all__ = ["Piece", "Seq2SeeTokenizer", "Word", "piece_spans", "split_words", "train_tokenizer"]
