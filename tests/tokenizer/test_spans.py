"""From pieces to words to characters: every visible character has its piece, and no piece points elsewhere."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from transformers import BartTokenizer, PreTrainedTokenizerBase, T5Tokenizer

from seq2see.tokenizer import Piece, Seq2SeeTokenizer, piece_spans, split_words
from .conftest import SENTENCES

ODD = [("en", "  a  wolf 漢字 👩🏽‍🚀 naïve  "), ("zh", "我是学生。"), ("fr", "«\u00a0L'été\u00a0»"), ("en", " ")]


@pytest.fixture(scope="session", params=["ours", "t5", "bart"])
def any_tokenizer(
    request: pytest.FixtureRequest, tokenizer: Seq2SeeTokenizer, t5: T5Tokenizer, bart: BartTokenizer
) -> PreTrainedTokenizerBase:
    return {"ours": tokenizer, "t5": t5, "bart": bart}[request.param]


def encode(tokenizer: PreTrainedTokenizerBase, text: str) -> list[int]:
    return list(tokenizer(text, split_special_tokens=True).input_ids)


def check(pieces: list[Piece], text: str, language: str, *, covered: bool = True) -> None:
    """The laws of spans."""
    words = split_words(text, language=language)
    seen: set[int] = set()
    start = end = 0
    for piece in pieces:
        if piece.special:
            assert piece.word is None and piece.start == piece.end == end
            continue
        assert start <= piece.start <= piece.end <= len(text)
        assert piece.start >= end - 1 and piece.end >= end  # left to right; pieces of one character share it
        start, end = piece.start, piece.end
        seen.update(range(piece.start, piece.end))
        if piece.word is not None:
            assert words[piece.word].start <= piece.start < words[piece.word].end
        if piece.start < piece.end:
            assert piece.word is not None
            assert text[piece.start : piece.end].strip() == text[piece.start : piece.end]
    if covered:
        assert seen >= {i for i, character in enumerate(text) if not character.isspace()}


@pytest.mark.parametrize(("language", "text"), [*SENTENCES, *ODD])
def test_laws_on_text_that_was_encoded(any_tokenizer: PreTrainedTokenizerBase, language: str, text: str) -> None:
    ids = [any_tokenizer.pad_token_id, *encode(any_tokenizer, text)]
    pieces = piece_spans(any_tokenizer, ids, text, language=language)
    assert len(pieces) == len(ids)
    assert pieces[0].special and pieces[-1].special and pieces[-1].text == "</s>"
    check(pieces, text, language)


@pytest.mark.parametrize(("language", "text"), SENTENCES)
def test_laws_on_text_cut_otherwise(any_tokenizer: PreTrainedTokenizerBase, language: str, text: str) -> None:
    """A model may emit pieces that its tokenizer would not have chosen: here, the cut of halves at a random place."""
    for cut in range(1, len(text), 5):
        halves = (any_tokenizer(half, add_special_tokens=False).input_ids for half in (text[:cut], text[cut:]))
        ids = [i for half in halves for i in half if i != any_tokenizer.unk_token_id]
        shown = any_tokenizer.decode(ids)
        check(piece_spans(any_tokenizer, ids, shown, language=language), shown, language)
        tidy = " ".join(shown.split())
        check(piece_spans(any_tokenizer, ids, tidy, language=language), tidy, language)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(ids=st.lists(st.integers(0, 599), max_size=20))
def test_laws_on_any_ids(tokenizer: Seq2SeeTokenizer, ids: list[int]) -> None:
    """A bad model may emit anything, broken characters included."""
    ids = [i for i in ids if i < len(tokenizer) and i != tokenizer.unk_token_id]
    text = tokenizer.decode_text(ids)
    check(tokenizer.spans(ids, text, language="en"), text, "en", covered=False)


def test_unknown_characters_keep_their_place(t5: T5Tokenizer) -> None:
    text = "the 漢字 wolf"
    unknown = [p for p in piece_spans(t5, encode(t5, text), text, language="en") if p.text == "漢字"]
    assert [(p.start, p.end, p.special) for p in unknown] == [(4, 6, False)]
