"""The tokenizer: lossless, safe from its users' text, the same for a stranger, the same every time."""

import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from seq2see import Seq2SeeConfig
from seq2see.errors import UserError
from seq2see.tokenizer import Seq2SeeTokenizer, split_words, train_tokenizer
from seq2see.tokenizer.layout import FIRST_LEARNT
from .conftest import SENTENCES, TEXTS

AWKWARD = [
    "", " ", "  two  spaces, inside and at both ends  ", "\n\nlines\r\n\tand tabs\n", "▁not a space▁",
    "</s> <s> <pad> <unk> <2fr> <tag7>", "<0x41> <0xE2><0x96>", "nul \0 nul", "e\u0301 \u0301 \u0301\u0301",
    "\ufffd \ufeff \u200b \u2028", "क्\u200dष 👩🏽‍🚀 🇫🇷", "never seen: 漢字 ﷽ 𝕏 \U0010ffff",
]


def test_batches_equal_single_texts_and_all_of_them_come_back(tokenizer: Seq2SeeTokenizer) -> None:
    tokenizer(AWKWARD, padding=True, truncation=True, max_length=3)  # leaves the backend truncating
    sources = tokenizer.encode_sources(AWKWARD)
    assert sources == [tokenizer.encode_source(text) for text in AWKWARD]
    assert [tokenizer.decode_text(ids) for ids in sources] == AWKWARD
    languages = [["de", "fr", "hi"][i % 3] for i in range(len(AWKWARD))]
    singles = [tokenizer.encode_target(t, language=lang) for t, lang in zip(AWKWARD, languages, strict=True)]
    assert tokenizer.encode_targets(AWKWARD, languages) == singles
    assert tokenizer.encode_sources([]) == tokenizer.encode_targets([], []) == []


def test_a_lone_surrogate_is_refused(tokenizer: Seq2SeeTokenizer) -> None:
    for act in (
        lambda: train_tokenizer(["\ud800"], vocab_size=400, languages=["fr"], model_type="unigram"),
        lambda: tokenizer.encode_source("ok \udfff ok"),
        lambda: tokenizer.encode_target("\ud800", language="fr"),
        lambda: train_tokenizer(["\ud800"], vocab_size=400, languages=["fr"]),
    ):
        with pytest.raises(UserError, match=r"lone surrogate \(U\+D[8F]"):
            act()


@pytest.mark.parametrize("model_type", ["bpe", "unigram"])
def test_a_text_about_byte_tokens_in_the_training_data_comes_back(model_type: str) -> None:
    texts = [*AWKWARD * 20, "<0x41></s>" * 50, "a" * 20_000]
    greedy = train_tokenizer(texts, vocab_size=5000, languages=["fr"], model_type=model_type)
    assert [greedy.decode_text(ids) for ids in greedy.encode_sources(texts)] == texts


def test_layout(tokenizer: Seq2SeeTokenizer) -> None:
    tokens = tokenizer.convert_ids_to_tokens(list(range(len(tokenizer))))
    assert tokens[:8] == ["<pad>", "<s>", "</s>", "<unk>", "<2de>", "<2fr>", "<2hi>", "<tag3>"]
    assert tokens[35:37] == ["<tag31>", "<0x00>"] and tokens[291] == "<0xFF>"
    assert len(set(tokens)) == len(tokens) == tokenizer.vocab_size
    special = tokenizer.pad_token_id, tokenizer.bos_token_id, tokenizer.eos_token_id, tokenizer.unk_token_id
    assert special == (0, 1, 2, 3)
    assert set(tokenizer.added_tokens_decoder) == set(range(36))  # byte tokens are ordinary: decoding keeps them
    assert tokenizer.model_max_length == Seq2SeeConfig().max_position_embeddings


@pytest.mark.parametrize("model_type", ["bpe", "unigram"])
def test_a_number_is_spelled_digit_by_digit(model_type: str) -> None:
    """However often it was seen, so that any other can be copied."""
    texts = ["In 1984 it cost 1984 dollars, 10 000 or 10,000.", "१९८४ ٢٠٢٦ x1984y"] * 50
    learnt = train_tokenizer(texts, vocab_size=5000, languages=["fr"], model_type=model_type)
    learned = [learnt.convert_ids_to_tokens(i) for i in range(FIRST_LEARNT, len(learnt))]
    assert not [token for token in learned if sum(map(str.isdigit, token)) > 1]
    assert [token.strip() for token in learnt.tokenize("19841984")] == [*"19841984"]


def test_tokens_stay_within_words(tokenizer: Seq2SeeTokenizer) -> None:
    sentences = [*SENTENCES, ("en", "He said ('no') and left: 'good-bye'."), ("fr", "Il dit (‘non’) et s’en va-t-il ?")]
    texts = [text for _, text in sentences] * 4
    big = train_tokenizer(texts, vocab_size=5000, languages=["fr"], model_type=tokenizer.model_type)
    for language, text in sentences:
        words = split_words(text, language=language)
        for token in big.spans(big.encode_source(text), text, language=language):
            if not token.special:
                assert token.word is not None and token.end <= words[token.word].end


def test_add_language(tokenizer: Seq2SeeTokenizer, tmp_path: Path) -> None:
    tokenizer.save_pretrained(tmp_path / "old")
    new = Seq2SeeTokenizer.from_pretrained(tmp_path / "old")
    assert new.add_language("cs") == 7 and new.add_language("fr") == 5
    new.save_pretrained(tmp_path / "new")
    for again in (new, Seq2SeeTokenizer.from_pretrained(tmp_path / "new")):
        assert again.languages == ["de", "fr", "hi", "cs"]
        assert len(again) == len(tokenizer)
        text = "La chèvre <2cs> <tag3>"
        assert again.encode_target(text, language="cs") == [7, *tokenizer.encode_source(text)]
        assert again.decode_text([7, *tokenizer.encode_source(text)]) == text
    assert tokenizer.languages == ["de", "fr", "hi"]


@pytest.mark.parametrize(("size", "languages", "message"), [
    (400, ["fr", "fr"], "duplicate"), (400, ["f r"], "not a language code"), (400, [f"l{i}" for i in range(33)],
    "at most 32"), (200, ["fr"], "vocab_size 200 is too small.* 292 "),
])
def test_bad_languages_and_sizes_are_refused(size: int, languages: list[str], message: str) -> None:
    with pytest.raises(UserError, match=message):
        train_tokenizer(TEXTS, vocab_size=size, languages=languages)


def test_text_target_gives_labels_with_the_tag(tokenizer: Seq2SeeTokenizer, tmp_path: Path) -> None:
    tokenizer.save_pretrained(tmp_path)
    mine = Seq2SeeTokenizer.from_pretrained(tmp_path)
    for language in ("de", "hi"):
        if language != mine.tgt_lang:
            mine.tgt_lang = language
        both = mine("the wolf", text_target="le loup")
        assert both.input_ids == tokenizer.encode_source("the wolf")
        assert both.labels == tokenizer.encode_target("le loup", language=language)
        french = mine("the wolf", text_target="le loup", tgt_lang="fr").labels
        assert french == tokenizer.encode_target("le loup", language="fr")
        assert mine.tgt_lang == language  # the argument is for one call
        with pytest.raises(UserError, match="'cs'.*de, fr, hi"):
            mine("the wolf", text_target="le loup", tgt_lang="cs")
    with pytest.raises(ValueError):
        mine("the wolf", text_target=[None])
    mine.save_pretrained(tmp_path)  # in target mode, for that call failed half way
    again = Seq2SeeTokenizer.from_pretrained(tmp_path)
    assert again("le loup").input_ids == tokenizer.encode_source("le loup")
    assert again(text_target="le loup").input_ids == tokenizer.encode_target("le loup", language="hi")
    assert Seq2SeeTokenizer.from_pretrained(tmp_path, tgt_lang="fr").tgt_lang == "fr"


def test_threads_do_not_disturb_each_other(tokenizer: Seq2SeeTokenizer) -> None:
    """A thread that builds labels puts the tag into what the plain call adds; the others must not get it."""
    expected = tokenizer.encode_sources(TEXTS)

    def labels_or_sources(turn: int) -> list[list[int]]:
        if turn % 2:
            tokenizer(text_target=TEXTS, split_special_tokens=True)
            return expected
        return tokenizer.encode_sources(TEXTS)

    with ThreadPoolExecutor(8) as pool:
        assert all(ids == expected for ids in pool.map(labels_or_sources, range(200)))


STRANGER = """
import json, sys
sys.modules["seq2see"] = None  # importing it now raises ImportError
from transformers import AutoTokenizer
texts = json.loads(sys.argv[2])
for options in {}, {"trust_remote_code": True}:
    tokenizer = AutoTokenizer.from_pretrained(sys.argv[1], **options)
    ids = [tokenizer(text).input_ids for text in texts]
    decoded = [tokenizer.decode([1, 5, *row], skip_special_tokens=True) for row in ids]
    labels = tokenizer("a", text_target="b").labels
    name, pad, longest = type(tokenizer).__name__, tokenizer.pad_token_id, tokenizer.model_max_length
    print()
    print(json.dumps([name, ids, decoded, labels, pad, longest]))
"""


@pytest.mark.long
def test_a_stranger_without_the_package_reads_the_same(tokenizer: Seq2SeeTokenizer, tmp_path: Path) -> None:
    """In a folder with remote code transformers may ask whether to run it; nobody answers here, and it goes on."""
    tokenizer.save_pretrained(tmp_path)
    mine = Seq2SeeTokenizer.from_pretrained(tmp_path, split_special_tokens=True)
    mine.save_pretrained(tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {"tokenizer.json", "tokenizer_config.json"}
    settings = json.loads((tmp_path / "tokenizer_config.json").read_text(encoding="utf-8"))
    assert type(mine) is Seq2SeeTokenizer and not {"auto_map", "split_special_tokens"} & set(settings)
    Seq2SeeConfig(vocab_size=len(tokenizer)).save_pretrained(tmp_path)
    texts = [text for text in AWKWARD if "</s>" not in text] + [text for _, text in SENTENCES]
    command = [sys.executable, "-c", STRANGER, str(tmp_path), json.dumps(texts)]
    run = subprocess.run(
        command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, cwd=tmp_path,
        env={**os.environ, "HF_HOME": str(tmp_path / "hub")},
    )
    assert run.returncode == 0, run.stderr
    found = [json.loads(line) for line in run.stdout.splitlines() if line.startswith("[")]
    ids, labels = tokenizer.encode_sources(texts), tokenizer.encode_source("b")
    assert found == [["TokenizersBackend", ids, texts, labels, 0, 1024]] * 2


THREADS = """
import os, sys
os.environ.update(TOKENIZERS_PARALLELISM="true", RAYON_NUM_THREADS="2")
"""
TRAIN = """
from seq2see.tokenizer import train_tokenizer
texts = [f"{a}{b} {b}{a} {c}" for a in "abcdefghij" for b in "klmnopqrst" for c in "uvwxyz"] * 2
for kind in ("bpe", "unigram"):
    tokenizer = train_tokenizer(iter(texts), model_type=kind, vocab_size=450, languages=["fr", "de"])
    tokenizer.save_pretrained(f"{folder}/{kind}")
"""


@pytest.mark.long
def test_the_same_texts_give_the_same_files(tmp_path: Path) -> None:
    """Every pair of letters is as frequent as the next, so whatever breaks ties shows: threads, hash seeds, sets."""
    here, there = tmp_path / "here", tmp_path / "there"
    seeded = {**os.environ, "PYTHONHASHSEED": "2" if os.environ.get("PYTHONHASHSEED") == "1" else "1"}
    subprocess.run([sys.executable, "-c", f"{THREADS}folder = {str(there)!r}{TRAIN}"], check=True, cwd=tmp_path,
                   env=seeded)
    exec(TRAIN, {"folder": here})  # here: in one thread, and with another hash seed
    for kind in ("bpe", "unigram"):
        for name in ("tokenizer.json", "tokenizer_config.json"):
            assert (here / kind / name).read_bytes() == (there / kind / name).read_bytes()


def test_a_new_vocabulary_still_spells_every_text(tokenizer):
    new = tokenizer.train_new_from_iterator([["the cat", "the cat sat"], ["the hat"]], 320)
    text = "hello 😀 é"
    assert new.decode_text(new.encode_source(text)) == text and new.unk_token_id not in new.encode_source(text)
    assert new.languages == tokenizer.languages and len(new) <= 320 and new.model_type == tokenizer.model_type
    with pytest.raises(UserError, match="only its own special tokens"):
        tokenizer.train_new_from_iterator(["a"], 320, new_special_tokens=["<x>"])
