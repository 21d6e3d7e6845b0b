"""A tokenizer that leads elsewhere is refused in one line, by its file, before the library opens it."""

import pytest
from spoiling import copied, edit, refused

from seq2see.vetting import vet

HUGE = 10**9


def around(*, id=0):
    """A template with tokens of one name in front of the text."""
    special = {"SpecialToken": {"id": "x", "type_id": 0}}
    return {"type": "TemplateProcessing", "single": [special, {"Sequence": {"id": "A", "type_id": 0}}], "pair": [],
            "special_tokens": {"x": {"id": "x", "ids": [id] * 10, "tokens": ["x"] * 10}}}


@pytest.mark.parametrize("values", [
    {"post_processor": around(id=HUGE)},
    {"post_processor": {"type": "BertProcessing", "sep": ["x", HUGE], "cls": ["x", 0]}},
    {"added_tokens": [{"id": HUGE, "content": "zzz"}]},
    {"added_tokens": [{"id": 5, "content": ""}]},
    {"added_tokens": "abc"},
    {"model": None},
    {"model": {"type": "Exec", "vocab": {}}},
    {"model": {"type": "BPE", "vocab": {"a": 0}, "dropout": 0.5}},
    {"model": {"type": "BPE", "vocab": {"a": HUGE}}},
    {"model": {"type": "BPE", "vocab": {"a": -1}}},
    {"model": {"type": "Unigram", "unk_id": 0, "vocab": [["a", -1.0]] * 100_000}},
    {"model": {"type": "Unigram", "unk_id": 0, "vocab": [["a", -1.0], ["b", 1e999]]}},
    {"model": {"type": "Unigram", "unk_id": 0, "vocab": [["a", 10**400]]}},
])  # fmt: skip
def test_a_program_that_is_none_or_has_other_tokens_than_the_vocabulary(folder, values):
    edit(folder / "tokenizer.json", **values)
    assert "tokenizer.json" in refused(folder)


@pytest.mark.parametrize("processor", [
    around(), {"type": "RobertaProcessing", "sep": ["</s>", 2], "cls": ["<s>", 0], "trim_offsets": True,
               "add_prefix_space": False},
])  # fmt: skip
def test_what_published_tokenizers_add_to_a_text_passes(folder, processor):
    edit(folder / "tokenizer.json", post_processor=processor)
    vet(folder)


@pytest.mark.parametrize("values", [
    {"vocab_file": "/etc/passwd"},
    {"fast_tokenizer_files": ["tokenizer.json", "../tokenizer.4.0.json"]},
    {"source_spm": "../other.spm"},
    {"added_tokens_decoder": {"1000000": {"content": "x"}}},
    {"added_tokens_decoder": {"x": {}}},
])
def test_settings_of_a_tokenizer(folder, values):
    edit(folder / "tokenizer_config.json", **values)
    assert "tokenizer_config.json" in refused(folder)


def test_the_vocabulary_in_a_file_of_its_own(marian, tmp_path):
    folder = copied(marian, tmp_path / "copy")
    edit(folder / "vocab.json", a=0, b=HUGE)
    assert "vocab.json" in refused(folder)
