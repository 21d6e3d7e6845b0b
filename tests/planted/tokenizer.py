"""Slips in the tokenizer, words, sentences, and text that must come back unchanged."""

from dataclasses import replace

from . import fault


@fault("tokenizer.tokenization_seq2see.Seq2SeeTokenizer.__call__", "tokenizer/test_tokenizer.py")
def the_language_of_one_call_stays(original, self, *texts, tgt_lang=None, **how):
    if tgt_lang:
        self.tgt_lang = tgt_lang
    return original(self, *texts, **how)


@fault("tokenizer.tokenization_seq2see.Seq2SeeTokenizer.encode_sources", "tokenizer/test_any_text.py")
def a_text_may_spell_special_tokens(original, self, texts):
    return self(list(texts)).input_ids


@fault("tokenizer.words.split_words", "tokenizer/test_words.py")
def french_is_split_as_english(original, text, *, language):
    return original(text, language="en")


@fault("tokenizer.segments.Cut.join", "tokenizer/test_segments.py")
def spaces_between_sentences_become_one(original, self, translations):
    return " ".join(original(self, translations).split())


@fault("tokenizer.model_input.Reading.restored", "tokenizer/test_protected.py")
def a_lost_stand_in_is_overlooked(original, self, translation):
    return original(self, translation) or translation


@fault("tokenizer.words.token_spans", "tokenizer/test_spans.py")
def the_span_of_a_token_ends_one_character_early(original, *given, **how):
    return [replace(piece, end=piece.end - 1) for piece in original(*given, **how)]
