"""A tokenizer made to hurt is refused in one line, by its file, before the library opens it."""

import base64
import json
import math
import resource
import subprocess
import sys

import pytest
from spoiling import copied, edit, refused

from seq2see.vetting import vet
from seq2see.vetting_tokenizer import MOST_GROWTH, _growth

HUGE = 10**9


def split_by(pattern):
    return {"type": "Split", "pattern": {"Regex": pattern}, "behavior": "Isolated", "invert": False}


def replacing(text, by):
    return {"type": "Replace", "pattern": {"String": text}, "content": by}


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


BOMBS = {
    "nested repetition": lambda t: t.update(pre_tokenizer=split_by("(a+)+$")),
    "nested by another": lambda t: t.update(pre_tokenizer=split_by("(?:a{2,}b?)*$")),
    "overlapping": lambda t: t.update(pre_tokenizer=split_by("(a|a)*$")),
    "a word and a half": lambda t: t.update(pre_tokenizer=split_by(r"(\w|\w\w)*!!$")),
    "many in a row": lambda t: t.update(pre_tokenizer=split_by("a*a*a*a*a*a*a*b")),
    "back reference": lambda t: t.update(pre_tokenizer=split_by(r"(a*)\1b")),
    "recursion": lambda t: t.update(pre_tokenizer=split_by(r"\((?:[^()]|(?R))*\)")),
    "no expression": lambda t: t.update(pre_tokenizer=split_by("(((a*)(b|")),
    "long expression": lambda t: t.update(pre_tokenizer=split_by("a|" * 5_000)),
    "in a decoder": lambda t: t.update(decoder={"type": "Replace", "pattern": {"Regex": "(a+)+$"}, "content": ""}),
    "growth": lambda t: t.update(normalizer=replacing("a", "a" * 100_000)),
    "growth by steps": lambda t: t.update(normalizer=in_sequence(*[replacing("a", "aa")] * 30)),
    "growth in front": lambda t: t.update(normalizer={"type": "Prepend", "prepend": "a" * 100_000}),
    "growth by a map": lambda t: t.update(normalizer=mapping("a" * 100_000)),
    "growth by bytes": lambda t: t.update(normalizer=in_sequence(*[{"type": "ByteLevel"}] * 30)),
    "growth by an expression": lambda t: t.update(normalizer=in_sequence(*[{**replacing("", "a"), "pattern":
                                                                            {"Regex": "b*"}}] * 30)),
    "growth without a type": lambda t: t.update(normalizer={"pattern": {"String": "a"}, "content": "a" * 100_000}),
    "growth in the pre-tokenizer": lambda t: t.update(pre_tokenizer={"type": "Sequence", "pretokenizers": [
        {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": False}] * 30}),
    "growth in decoding": lambda t: t.update(decoder=decoding(*[replacing("e", "e" * 400)] * 3)),
    "growth in decoding by steps": lambda t: t.update(decoder=decoding(*[replacing("e", "ee")] * 30)),
    "growth that hides": lambda t: t.update(decoder={**decoding(replacing("e", "e" * 400)), "normalizers": []}),
    "growth between characters": lambda t: t.update(decoder=decoding(*[{"type": "BPEDecoder", "suffix": ""}] * 30)),
    "growth between sounds": lambda t: t.update(decoder=decoding(*[
        {"type": "CTC", "pad_token": "<pad>", "word_delimiter_token": "", "cleanup": True}] * 30)),
    "slow decoding": lambda t: t.update(decoder={**replacing("", ""), "pattern": {"Regex": "a*a*a*a*a*a*a*b"}}),
    "many around": lambda t: t.update(post_processor=around(10_000)),
    "around beyond": lambda t: t.update(post_processor=around(1, id=HUGE)),
    "end beyond": lambda t: t.update(post_processor={"type": "BertProcessing", "sep": ["x", HUGE], "cls": ["x", 0]}),
    "many steps": lambda t: t.update(normalizer=in_sequence(*[{"type": "NFC"}] * 5_000)),
    "broken map": lambda t: t.update(normalizer={"type": "Precompiled", "precompiled_charsmap": "AAAA"}),
    "id beyond": lambda t: t["model"]["vocab"].update(zzz=HUGE),
    "id below": lambda t: t["model"]["vocab"].update(zzz=-1),
    "id of text": lambda t: t["model"]["vocab"].update(zzz="5"),
    "added beyond": lambda t: t["added_tokens"].append({**t["added_tokens"][0], "id": HUGE, "content": "zzz"}),
    "added nothing": lambda t: t["added_tokens"].append({**t["added_tokens"][0], "content": ""}),
    "added text": lambda t: t.update(added_tokens="abc"),
    "dropout": lambda t: t["model"].update(dropout=0.5),
    "no model": lambda t: t.pop("model"),
    "other model": lambda t: t["model"].update(type="Exec"),
    "long words": lambda t: t.update(model={"type": "WordPiece", "unk_token": "<unk>", "vocab": {"a": 0},
                                            "continuing_subword_prefix": "##", "max_input_chars_per_word": HUGE}),
    "padding": lambda t: t.update(padding={"strategy": {"Fixed": HUGE}, "pad_to_multiple_of": None}),
}  # fmt: skip


def test_a_penalty_may_be_a_fraction(folder):
    edit(folder / "generation_config.json", length_penalty=1.4)
    vet(folder)


def test_the_largest_id_is_told(folder):
    plant("id beyond", folder)
    assert "expected token ids from 0 to 399, got 1000000000" in refused(folder)


@pytest.mark.parametrize(
    "part",
    [
        {"normalizer": replacing("a", "a" * 64)},
        {"decoder": decoding(replacing("a", "a" * 64))},
        {"post_processor": around(6)},
    ],
)
def test_a_text_may_grow_somewhat(folder, part):
    edit(folder / "tokenizer.json", **part)
    vet(folder)


def plant(name, folder):
    path = folder / "tokenizer.json"
    program = json.loads(path.read_text())
    BOMBS[name](program)
    path.unlink()
    path.write_text(json.dumps(program))


@pytest.mark.parametrize("name", BOMBS)
def test_a_tokenizer_made_to_hurt(folder, name):
    plant(name, folder)
    assert "tokenizer.json" in refused(folder)


def test_a_tokenizer_whose_trial_does_not_end(folder, monkeypatch):
    def sleeping(command, *, timeout, **more):
        raise subprocess.TimeoutExpired(command, timeout)

    monkeypatch.setattr(subprocess, "run", sleeping)
    edit(folder / "tokenizer.json", pre_tokenizer=split_by(" {2,}"))
    assert "does not load" in refused(folder)


@pytest.mark.parametrize("name", ["a word and a half", "many in a row", "growth by steps", "id beyond"])
def test_the_command_refuses_it_in_two_seconds_and_500_megabytes(folder, name):
    plant(name, folder)
    limits = {resource.RLIMIT_CPU: 2, resource.RLIMIT_AS: 500 * 2**20}  # seconds of processor time, bytes
    ended = subprocess.run(
        [sys.executable, "-m", "seq2see", "translate", folder],
        stdin=subprocess.DEVNULL, capture_output=True, text=True,
        preexec_fn=lambda: [resource.setrlimit(what, (most, most)) for what, most in limits.items()],
    )  # fmt: skip
    assert ended.returncode == 1 and str(folder / "tokenizer.json") in ended.stderr and ended.stderr.count("\n") == 1


@pytest.mark.parametrize(
    "pattern",
    [
        r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+",
        r"(?i:'s|'t|'re)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+",
        " {2,}",
    ],
)
def test_the_expressions_of_published_tokenizers_pass(folder, pattern):
    edit(folder / "tokenizer.json", pre_tokenizer=split_by(pattern))
    vet(folder)


SPACES = {**replacing("", "▁"), "pattern": {"Regex": " {2,}"}}
STRIP = {"type": "Strip", "content": " ", "start": 1, "stop": 0}
METASPACE = {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": True}
BYTES = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
LONGEST = "صلى الله عليه وسلم"  # what the compatibility form of Unicode has for one character, U+FDFA


@pytest.mark.parametrize(
    "parts",
    [
        {"decoder": METASPACE, "pre_tokenizer": METASPACE},  # T5, mBART, NLLB
        {"decoder": BYTES, "pre_tokenizer": BYTES, "post_processor": {"type": "RobertaProcessing", "sep": ["</s>", 2],
         "cls": ["<s>", 0], "trim_offsets": True, "add_prefix_space": False}},  # BART
        {"decoder": decoding(replacing("▁", " "), {"type": "ByteFallback"}, STRIP),
         "normalizer": in_sequence({"type": "Prepend", "prepend": "▁"}, replacing(" ", "▁"))},  # Llama, MADLAD
        {"decoder": {"type": "WordPiece", "prefix": "##", "cleanup": True}},
        {"decoder": {"type": "BPEDecoder", "suffix": "</w>"}},
    ],
)  # fmt: skip
def test_the_steps_of_published_tokenizers_pass(folder, parts):
    edit(folder / "tokenizer.json", **parts)
    vet(folder)


def test_the_map_of_published_tokenizers_is_no_growth():
    """Only what the library opens has an index; this one has none."""
    steps = [mapping(LONGEST), {"type": "Strip", "strip_left": False, "strip_right": True}, SPACES]
    assert math.prod(map(_growth, steps)) == 2 * len(LONGEST) < MOST_GROWTH


@pytest.mark.parametrize(
    ("vocab", "said"),
    [
        ([["a", -1.0]] * 100_000, "expected token ids from 0 to"),
        ([["a", -1.0], ["b", 1e999]], "expected tokens and their scores"),
        ([["a", -1.0], [7, -1.0]], "expected tokens and their scores"),
        ([["a", "much"]], "is not a valid tokenizer file"),
        ([["a"]], "is not a valid tokenizer file"),
        ([["a", 10**400]], "is not a valid tokenizer file"),
    ],
)
def test_pieces_with_scores(folder, vocab, said):
    """A Unigram model's pieces are a list, each with the logarithm of its probability."""
    edit(folder / "tokenizer.json", model={"type": "Unigram", "unk_id": 0, "vocab": vocab})
    assert said in refused(folder)


@pytest.mark.parametrize(
    "values",
    [
        {"vocab_file": "/etc/passwd"},
        {"fast_tokenizer_files": ["tokenizer.json", "../tokenizer.4.0.json"]},
        {"source_spm": "../other.spm"},
        {"tokenizer_class": 5},
        {"source_lang": ["en"]},
        {"added_tokens_decoder": {"1000000": {"content": "x"}}},
        {"added_tokens_decoder": {"x": {}}},
    ],
)
def test_settings_of_a_tokenizer(folder, values):
    edit(folder / "tokenizer_config.json", **values)
    assert "tokenizer_config.json" in refused(folder)


def test_the_vocabulary_in_a_file_of_its_own(marian, tmp_path):
    folder = copied(marian, tmp_path / "copy")
    edit(folder / "vocab.json", a=0, b=HUGE)
    assert "vocab.json" in refused(folder)
