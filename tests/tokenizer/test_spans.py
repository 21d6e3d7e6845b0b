"""From tokens to words to characters: every visible character has its token, and no token points elsewhere."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from transformers import BartTokenizer, PreTrainedTokenizerBase, T5Tokenizer

from seq2see.tokenizer import Seq2SeeTokenizer, TokenSpan, split_words, token_spans
from .conftest import SENTENCES

ODD = [("en", "  a  wolf 漢字 👩🏽‍🚀 naïve  "), ("zh", "我是学生。"), ("fr", "«\u00a0L'été\u00a0»"), ("en", " ")]


@pytest.fixture(scope="session", params=["ours", "t5", "bart"])
def any_tokenizer(
    request: pytest.FixtureRequest, tokenizer: Seq2SeeTokenizer, t5: T5Tokenizer, bart: BartTokenizer
) -> PreTrainedTokenizerBase:
    return {"ours": tokenizer, "t5": t5, "bart": bart}[request.param]


def encode(tokenizer: PreTrainedTokenizerBase, text: str) -> list[int]:
    return list(tokenizer(text, split_special_tokens=True).input_ids)


def check(tokens: list[TokenSpan], text: str, language: str, *, covered: bool = True) -> None:
    """The laws of spans."""
    words = split_words(text, language=language)
    seen: set[int] = set()
    start = end = 0
    for token in tokens:
        if token.special:
            assert token.word is None and token.start == token.end == end
            continue
        assert start <= token.start <= token.end <= len(text)
        assert token.start >= end - 1 and token.end >= end  # left to right; tokens of one character share it
        start, end = token.start, token.end
        seen.update(range(token.start, token.end))
        if token.word is not None:
            assert words[token.word].start <= token.start < words[token.word].end
        if token.start < token.end:
            assert token.word is not None
            assert text[token.start : token.end].strip() == text[token.start : token.end]
    if covered:
        assert seen >= {i for i, character in enumerate(text) if not character.isspace()}


@pytest.mark.parametrize(("language", "text"), [*SENTENCES, *ODD])
def test_laws_on_text_that_was_encoded(any_tokenizer: PreTrainedTokenizerBase, language: str, text: str) -> None:
    ids = [any_tokenizer.pad_token_id, *encode(any_tokenizer, text)]
    tokens = token_spans(any_tokenizer, ids, text, language=language)
    assert len(tokens) == len(ids)
    assert tokens[0].special and tokens[-1].special and tokens[-1].text == "</s>"
    check(tokens, text, language)


@pytest.mark.parametrize(("language", "text"), SENTENCES)
def test_laws_on_text_cut_otherwise(any_tokenizer: PreTrainedTokenizerBase, language: str, text: str) -> None:
    """A model may emit tokens that its tokenizer would not have chosen: here, the cut of halves at a random place."""
    for cut in range(1, len(text), 5):
        halves = (any_tokenizer(half, add_special_tokens=False).input_ids for half in (text[:cut], text[cut:]))
        ids = [i for half in halves for i in half if i != any_tokenizer.unk_token_id]
        shown = any_tokenizer.decode(ids)
        check(token_spans(any_tokenizer, ids, shown, language=language), shown, language)
        tidy = " ".join(shown.split())
        check(token_spans(any_tokenizer, ids, tidy, language=language), tidy, language)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(ids=st.lists(st.integers(0, 599), max_size=20))
def test_laws_on_any_ids(tokenizer: Seq2SeeTokenizer, ids: list[int]) -> None:
    """A bad model may emit anything, broken characters included."""
    ids = [i for i in ids if i < len(tokenizer) and i != tokenizer.unk_token_id]
    text = tokenizer.decode_text(ids)
    check(tokenizer.spans(ids, text, language="en"), text, "en", covered=False)


def test_unknown_characters_keep_their_place(t5: T5Tokenizer) -> None:
    text = "the 漢字 wolf"
    unknown = [p for p in token_spans(t5, encode(t5, text), text, language="en") if p.text == "漢字"]
    assert [(p.start, p.end, p.special) for p in unknown] == [(4, 6, False)]
