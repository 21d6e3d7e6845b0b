"""A tokenizer made to hurt is refused in one line, by its file, before the library opens it."""

import base64
import resource
import subprocess
import sys

import pytest
from spoiling import copied, edit, refused

from seq2see.vetting import vet

HUGE = 10**9


def split_by(pattern):
    return {"type": "Split", "pattern": {"Regex": pattern}, "behavior": "Isolated", "invert": False}


def replacing(text, by):
    return {"type": "Replace", "pattern": {"String": text}, "content": by}


def replacing_all(pattern, by):
    return {"type": "Replace", "pattern": {"Regex": pattern}, "content": by}


def in_sequence(*steps):
    return {"type": "Sequence", "normalizers": list(steps)}


def decoding(*steps):
    return {"type": "Sequence", "decoders": [{"type": "Fuse"}, *steps]}


def mapping(text):
    """A SentencePiece model's map to `text`, with an empty index."""
    return {"type": "Precompiled", "precompiled_charsmap": base64.b64encode(bytes(4) + text.encode() + b"\0").decode()}


def around(number, *, id=0):
    """A template with so many tokens of one name in front of the text."""
    special = {"SpecialToken": {"id": "x", "type_id": 0}}
    return {"type": "TemplateProcessing", "single": [special] * number + [{"Sequence": {"id": "A", "type_id": 0}}],
            "pair": [], "special_tokens": {"x": {"id": "x", "ids": [id] * 10, "tokens": ["x"] * 10}}}


SPLITS = {
    "nested repetition": "(a+)+$",
    "overlapping": "(a|a)*$",
    "a word and a half": r"(\w|\w\w)*!!$",
    "many in a row": "a*a*a*a*a*a*a*b",
    "back reference": r"(a*)\1b",
    "recursion": r"\((?:[^()]|(?R))*\)",
    "no expression": "(((a*)(b|",
    "long expression": "a|" * 5_000,
}
BYTES = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
BETWEEN = {"type": "BPEDecoder", "suffix": ""}
CTC = {"type": "CTC", "pad_token": "<pad>", "word_delimiter_token": "", "cleanup": True}
BOMBS = {name: {"pre_tokenizer": split_by(pattern)} for name, pattern in SPLITS.items()} | {
    "growth": {"normalizer": replacing("a", "a" * 100_000)},
    "growth by steps": {"normalizer": in_sequence(*[replacing("a", "aa")] * 30)},
    "growth of what is not named": {"normalizer": replacing_all(r"\x72\x71", "z" * 1_000)},
    "growth in front": {"normalizer": {"type": "Prepend", "prepend": "a" * 100_000}},
    "growth by a map": {"normalizer": mapping("a" * 100_000)},
    "growth by bytes": {"normalizer": in_sequence(*[{"type": "ByteLevel"}] * 30)},
    "growth by an expression": {"normalizer": in_sequence(*[replacing_all("b*", "a")] * 30)},
    "growth without a type": {"normalizer": {"pattern": {"String": "a"}, "content": "a" * 100_000}},
    "growth in pieces": {"pre_tokenizer": {"type": "Sequence", "pretokenizers": [BYTES] * 30}},
    "growth in decoding": {"decoder": decoding(*[replacing("e", "e" * 400)] * 3)},
    "growth that hides": {"decoder": {**decoding(replacing("e", "e" * 400)), "normalizers": []}},
    "growth between characters": {"decoder": {"type": "Sequence", "decoders": [BETWEEN] * 30}},
    "growth between sounds": {"decoder": decoding(*[CTC] * 30)},
    "slow decoding": {"decoder": replacing_all("a*a*a*a*a*a*a*b", "")},
    "many around": {"post_processor": around(7)},
    "around beyond": {"post_processor": around(1, id=HUGE)},
    "end beyond": {"post_processor": {"type": "BertProcessing", "sep": ["x", HUGE], "cls": ["x", 0]}},
    "many steps": {"normalizer": in_sequence(*[{"type": "NFC"}] * 5_000)},
    "broken map": {"normalizer": {"type": "Precompiled", "precompiled_charsmap": "AAAA"}},
    "added beyond": {"added_tokens": [{"id": HUGE, "content": "zzz"}]},
    "added nothing": {"added_tokens": [{"id": 5, "content": ""}]},
    "added text": {"added_tokens": "abc"},
    "no model": {"model": None},
    "other model": {"model": {"type": "Exec", "vocab": {}}},
    "long words": {"model": {"type": "WordPiece", "vocab": {"a": 0}, "max_input_chars_per_word": HUGE}},
    "sampled": {"model": {"type": "BPE", "vocab": {"a": 0}, "dropout": 0.5}},
    "id beyond": {"model": {"type": "BPE", "vocab": {"a": HUGE}}},
    "id below": {"model": {"type": "BPE", "vocab": {"a": -1}}},
    "many tokens": {"model": {"type": "Unigram", "unk_id": 0, "vocab": [["a", -1.0]] * 100_000}},
    "no score": {"model": {"type": "Unigram", "unk_id": 0, "vocab": [["a", -1.0], ["b", 1e999]]}},
    "a huge score": {"model": {"type": "Unigram", "unk_id": 0, "vocab": [["a", 10**400]]}},
}


@pytest.mark.parametrize("name", BOMBS)
def test_a_tokenizer_made_to_hurt(folder, name):
    edit(folder / "tokenizer.json", **BOMBS[name])
    assert "tokenizer.json" in refused(folder)


def test_a_tokenizer_whose_trial_does_not_end(folder, monkeypatch):
    def sleeping(command, *, timeout, **more):
        raise subprocess.TimeoutExpired(command, timeout)

    monkeypatch.setattr(subprocess, "run", sleeping)
    edit(folder / "tokenizer.json", pre_tokenizer=split_by(" {2,}"))
    assert "does not load" in refused(folder)


@pytest.mark.parametrize("name", ["a word and a half", "growth by steps", "id beyond"])
def test_the_command_refuses_it_in_two_seconds_and_500_megabytes(folder, name):
    edit(folder / "tokenizer.json", **BOMBS[name])
    limits = {resource.RLIMIT_CPU: 2, resource.RLIMIT_AS: 500 * 2**20}  # seconds of processor time, bytes
    ended = subprocess.run(
        [sys.executable, "-m", "seq2see", "translate", folder],
        stdin=subprocess.DEVNULL, capture_output=True, text=True,
        preexec_fn=lambda: [resource.setrlimit(what, (most, most)) for what, most in limits.items()],
    )  # fmt: skip
    assert ended.returncode == 1 and str(folder / "tokenizer.json") in ended.stderr and ended.stderr.count("\n") == 1


STRIP = {"type": "Strip", "content": " ", "start": 1, "stop": 0}
METASPACE = {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": True}
GPT_2 = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
LLAMA_3 = (r"(?i:'s|'t|'re)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)"
           r"|\s+")  # fmt: skip


@pytest.mark.parametrize("parts", [
    {"pre_tokenizer": split_by(GPT_2)},
    {"pre_tokenizer": split_by(LLAMA_3)},
    {"decoder": METASPACE, "pre_tokenizer": METASPACE},  # T5, mBART, NLLB
    {"decoder": BYTES, "pre_tokenizer": BYTES, "post_processor": {"type": "RobertaProcessing", "sep": ["</s>", 2],
     "cls": ["<s>", 0], "trim_offsets": True, "add_prefix_space": False}},  # BART
    {"decoder": decoding(replacing("▁", " "), {"type": "ByteFallback"}, STRIP),
     "normalizer": in_sequence({"type": "Prepend", "prepend": "▁"}, replacing(" ", "▁"))},  # Llama, MADLAD
    {"decoder": {"type": "WordPiece", "prefix": "##", "cleanup": True}},
    {"decoder": {"type": "BPEDecoder", "suffix": "</w>"}},
    {"normalizer": replacing("a", "a" * 64), "decoder": replacing("a", "a" * 64), "post_processor": around(6)},
])  # fmt: skip
def test_the_steps_of_published_tokenizers_pass(folder, parts):
    edit(folder / "tokenizer.json", **parts)
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
