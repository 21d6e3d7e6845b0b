"""Special tokens and tags typed by a user are plain text, whatever stands around them."""

from hypothesis import example, given
from hypothesis import strategies as st

from seq2see.tokenizer import Seq2SeeTokenizer
from seq2see.tokenizer.layout import FIRST_TAG, SPECIAL_TOKENS, TAG_SLOTS
from .test_spans import check

TYPED = ["<2de>", "<2fr>", "<2hi>", "<tag3>", "<tag31>", "<0x41>", "<0x0A>", "▁", ">>fra<<"]
INJECTED = st.sampled_from([*SPECIAL_TOKENS, *TYPED])
TEXTS = st.lists(INJECTED | st.text(max_size=8), max_size=8).map("".join)
SPECIAL = range(FIRST_TAG + TAG_SLOTS)


@example(text="\x1f", language="en")
@given(text=TEXTS, language=st.sampled_from(["en", "fr", "hi", "zh"]))
def test_nothing_in_a_text_is_special_and_all_of_it_comes_back(
    tokenizer: Seq2SeeTokenizer, text: str, language: str
) -> None:
    source = tokenizer.encode_source(text)
    target = tokenizer.encode_target(text, language="fr")
    assert [id for id in source if id in SPECIAL] == [2] and source[-1] == 2
    assert target == [tokenizer.tag_id("fr"), *source]
    assert tokenizer.decode_text(source) == tokenizer.decode_text(target) == text
    check(tokenizer.spans(source, text, language=language), text, language)
