"""Whatever text is given, and whatever a client sends, there is an answer: no error but ours, no translation without
end, and none that depends on what else is translated.

pytest tests/serve/test_any_text.py
"""

import json
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
@example(text="\U0002f800")
@given(text=TEXTS)
def test_any_text_is_translated_and_comes_to_an_end(engine, text):
    """But for one character of more pieces than the model takes (an `a` of a hundred accents): it is refused."""
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


# Requests

PATHS = ["/translate", "/detect", "/", "/models/stub", "/v1/translate", "/v1/look"]
NAMES = ["q", "source", "target", "format", "alternatives", "inputs", "parameters", "texts", "text", "src_lang",
         "tgt_lang", "generate_parameters", "num_beams", "max_new_tokens", "views", "api_key"]  # fmt: skip
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20) | st.sampled_from(["en", "fr"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(NAMES), inner, max_size=3),
    max_leaves=6,
)
OBJECTS = st.dictionaries(st.sampled_from(NAMES), VALUES, max_size=6)
BODIES = OBJECTS.map(json.dumps).map(str.encode) | st.binary(max_size=60)
TYPES = st.sampled_from(["application/json", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x",
                         "text/plain", "application/json; charset=utf-16", "x"])  # fmt: skip


@example(path="/translate", kind="application/json", body=b'{"q": "\\ud800", "source": "en", "target": "fr"}')
@example(path="/v1/translate", kind="application/json", body=b'{"texts": ["a"], "num_beams": 1e999}')
@given(path=st.sampled_from(PATHS), kind=TYPES, body=BODIES)
def test_any_request_is_answered(stub, path, kind, body):
    answer = stub.post(path, content=body, headers={"Content-Type": kind})
    assert answer.status_code < 500, answer.text
    if answer.status_code >= 400:
        told = answer.json()
        assert set(told) == {"error", "code"} and "\n" not in told["error"]


@given(query=st.dictionaries(st.sampled_from(NAMES), st.text(st.characters(exclude_categories=["Cs"]), max_size=10)))
def test_any_question_is_answered(stub, query):
    for path in ("/languages", "/translate", "/v1/models", "/health"):
        assert stub.get(path, params=query).status_code < 500
