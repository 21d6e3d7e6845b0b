"""From tokens to words to characters: every visible character has its token, and no token points elsewhere."""

import re

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import (
    BartTokenizer,
    ByT5Tokenizer,
    PreTrainedTokenizerBase,
    PreTrainedTokenizerFast,
    T5Tokenizer,
)

from seq2see.tokenizer import Seq2SeeTokenizer, TokenSpan, split_words, token_spans
from seq2see.tokenizer.words import token_names
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


def test_laws_on_text_that_was_encoded(any_tokenizer: PreTrainedTokenizerBase) -> None:
    for language, text in [*SENTENCES, *ODD]:
        ids = [any_tokenizer.pad_token_id, *encode(any_tokenizer, text)]
        tokens = token_spans(any_tokenizer, ids, text, language=language)
        assert len(tokens) == len(ids)
        assert tokens[0].special and tokens[-1].special and tokens[-1].text == "</s>"
        check(tokens, text, language)


def test_laws_on_text_cut_otherwise(any_tokenizer: PreTrainedTokenizerBase) -> None:
    """A model may emit tokens that its tokenizer would not have chosen: here, the cut of halves at a random place."""
    for language, text in SENTENCES:
        for cut in range(1, len(text), 5):
            halves = (any_tokenizer(half, add_special_tokens=False).input_ids for half in (text[:cut], text[cut:]))
            ids = [i for half in halves for i in half if i != any_tokenizer.unk_token_id]
            for shown in ((said := any_tokenizer.decode(ids)), " ".join(said.split())):
                check(token_spans(any_tokenizer, ids, shown, language=language), shown, language)


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


def byte_level():
    """A tokenizer as GPT-2 and BART have it, whose vocabulary names each byte by a character."""
    core = Tokenizer(models.BPE())
    core.pre_tokenizer, core.decoder = pre_tokenizers.ByteLevel(add_prefix_space=False), decoders.ByteLevel()
    core.train_from_iterator(["un été, un été"] * 4, trainers.BpeTrainer(
        vocab_size=270, special_tokens=["<s>", "<pad>", "</s>", "<unk>"],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet()))
    return PreTrainedTokenizerFast(tokenizer_object=core, pad_token="<pad>", eos_token="</s>", unk_token="<unk>")


@pytest.mark.parametrize("make", [ByT5Tokenizer, byte_level])
@pytest.mark.parametrize("text", ["un été à 日本!", "Où? 😀 ça", "a  b", "été", "x"])
def test_tokens_of_bytes_are_readable(make, text):
    """Every byte of a character that several tokens share has the span of that character, and is shown in hex."""
    tokenizer = make()
    ids = [id for id in tokenizer(text)["input_ids"] if id != tokenizer.eos_token_id]
    tokens = token_spans(tokenizer, ids, text, language="fr")
    for token in tokens:
        assert re.fullmatch(r"(?:<0x[89A-F][0-9A-F]>)+", token.text) or token.text.replace("▁", " ").strip() in text
        assert token.start == token.end or text[token.start : token.end]
    shown = {place for token in tokens for place in range(token.start, token.end)}
    assert shown == {place for place, c in enumerate(text) if not c.isspace()}
    assert "".join(token_names(tokenizer, tokenizer("un x", add_special_tokens=False)["input_ids"])) == "un▁x"


def test_a_name_says_what_a_token_spells():
    tokenizer = byte_level()
    names = token_names(tokenizer, range(len(tokenizer)))
    assert "▁été" in names and not {"Ġ", "Ã", "©"} & {*"".join(names)} and "</s>" in names
    assert len({*names}) == len(names)
