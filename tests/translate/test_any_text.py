"""Whatever text is given, its translation comes to an end and depends on nothing else that is translated."""

import shutil
import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from seq2see import Translator
from seq2see.tokenizer.layout import END, FIRST_TAG, TAG_SLOTS

INJECTED = st.sampled_from(
    ["</s>", "<pad>", "<s>", "<unk>", "<2fr>", "<2de>", "<tag3>", "<0x41>", "▁", "<b>", "</b>", "&lt;"]
)
TEXTS = st.lists(INJECTED | st.text(max_size=12), max_size=6).map("".join)
SHORT = {"num_beams": 1, "max_new_tokens": 6}


@pytest.fixture(scope="module", params=["torch", "ctranslate2"])
def engine(request, folder, tmp_path_factory):
    pytest.importorskip("ctranslate2")
    copy = tmp_path_factory.mktemp("any") / "run"
    shutil.copytree(folder, copy)
    return Translator.from_pretrained(copy, engine=request.param, precision="float32", threads=1)


@example(text="\0")
@example(text="a" * 1_000)
@example(text="猫" * 3_000)
@example(text=". " * 200)
@example(text="\ufdfa" * 50)
@given(text=TEXTS)
def test_any_text_is_translated_and_comes_to_an_end(engine, text):
    result = engine(text, **SHORT)
    for part in result.parts:
        [found] = part.hypotheses
        assert len(found.token_ids) <= 6 + 1
    assert result.parts or result.text == text
    assert engine(text, format="html", **SHORT).source_text == unicodedata.normalize("NFC", text)


@given(text=TEXTS)
def test_what_is_typed_is_text(engine, text):
    [ids] = engine.codec.encode([text])
    assert [id for id in ids if id < FIRST_TAG + TAG_SLOTS] == [engine.codec.tokens().index(END)]


@given(texts=st.lists(TEXTS, min_size=2, max_size=4))
def test_a_batch_is_its_members(engine, texts):
    for text, together in zip(texts, engine(texts, **SHORT), strict=True):
        alone = engine(text, **SHORT)
        assert together.text == alone.text
        for a, b in zip(together.parts, alone.parts, strict=True):
            assert a.hypotheses[0].score == pytest.approx(b.hypotheses[0].score, abs=1e-3)
