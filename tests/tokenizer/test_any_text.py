"""Special tokens and tags typed by a user are plain text, whatever stands around them.

pytest tests/tokenizer/test_any_text.py
"""

from hypothesis import example, given
from hypothesis import strategies as st

from seq2see.tokenizer import Seq2SeeTokenizer, split_words
from seq2see.tokenizer.layout import FIRST_TAG, SPECIAL_TOKENS, TAG_SLOTS

TYPED = ["<2de>", "<2fr>", "<2hi>", "<tag3>", "<tag31>", "<0x41>", "<0x0A>", "▁", ">>fra<<"]
INJECTED = st.sampled_from([*SPECIAL_TOKENS, *TYPED])
TEXTS = st.lists(INJECTED | st.text(max_size=8), max_size=8).map("".join)
SPECIAL = range(FIRST_TAG + TAG_SLOTS)


@given(text=TEXTS)
def test_nothing_in_a_text_is_special(tokenizer: Seq2SeeTokenizer, text: str) -> None:
    source = tokenizer.encode_source(text)
    target = tokenizer.encode_target(text, language="fr")
    assert [id for id in source if id in SPECIAL] == [2] and source[-1] == 2
    assert target == [tokenizer.tag_id("fr"), *source]
    assert tokenizer.decode_text(source) == tokenizer.decode_text(target) == text


@example(text="\x1f", language="en")
@given(text=TEXTS, language=st.sampled_from(["en", "fr", "hi", "zh"]))
def test_pieces_cover_the_text_and_lie_in_its_words(tokenizer: Seq2SeeTokenizer, text: str, language: str) -> None:
    words = split_words(text, language=language)
    covered = set()
    for piece in tokenizer.spans(tokenizer.encode_source(text), text, language=language):
        assert 0 <= piece.start <= piece.end <= len(text)
        covered.update(range(piece.start, piece.end))
        if piece.word is not None:
            assert 0 <= piece.word < len(words) and not piece.special
    assert {n for word in words for n in range(word.start, word.end)} <= covered
