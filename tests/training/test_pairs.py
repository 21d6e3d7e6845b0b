"""Pairs read from every kind of file, columns found by their languages, and each fault in one line that says where."""

import dataclasses
import gzip
import json
import re
import time
import tracemalloc
import unicodedata
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pyarrow
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import parquet

from seq2see.errors import UserError
from seq2see.training import pairs as pairs_module
from seq2see.training.cache import get_or_build
from seq2see.training.config import DataConfig
from seq2see.training.pairs import Pair, Texts, _side, clean, load_corpus, load_split
from seq2see.training.reading import find_part

PAIRS = [("Hello.", "Bonjour."), ("A cat, a dog.", 'Un chat, "un" chien.'), ("line\u2028end", "l'été"), ("x", "y")]
EXPECTED = [Pair(source, target, "en", "fr") for source, target in PAIRS]


def tsv(path: Path, header: str | None = "en\tfr") -> Path:
    path.write_text("".join(f"{line}\n" for line in [*([header] if header else []), *map("\t".join, PAIRS)]), "utf-8")
    return path


def data(path, **fields) -> DataConfig:
    return DataConfig(path=str(path), **fields)


def load_all(config: DataConfig) -> list[Pair]:
    return load_split(config, "all")


def test_tables_of_every_kind(tmp_path):
    with_header = tsv(tmp_path / "a.tsv")
    tables = {
        "c.tsv": "id\tfr\ten\n" + "".join(f"1\t{fr}\t{en}\n" for en, fr in PAIRS),
        "d.csv": "fr,en\n" + "".join('"{}","{}"\n'.format(fr.replace('"', '""'), en) for en, fr in PAIRS),
        "e.jsonl": "".join(json.dumps({"en": en, "fr": fr}) + "\n" for en, fr in PAIRS),
        "f.jsonl": "".join(json.dumps({"translation": {"en": en, "fr": fr}}) + "\n" for en, fr in PAIRS),
    }
    for name, text in tables.items():
        (tmp_path / name).write_text(text, "utf-8")
    tsv(tmp_path / "b.tsv", header=None)
    (tmp_path / "g.tsv").write_bytes(b"\xef\xbb\xbf" + with_header.read_bytes().replace(b"\n", b"\r\n"))
    (tmp_path / "h.tsv.gz").write_bytes(gzip.compress(with_header.read_bytes()))
    rows = [{"en": en, "fr": fr} for en, fr in PAIRS]
    parquet.write_table(pyarrow.Table.from_pylist(rows), tmp_path / "i.parquet")
    parquet.write_table(pyarrow.table({"translation": rows}), tmp_path / "j.parquet")
    for path in sorted(tmp_path.iterdir()):
        assert load_all(data(path)) == EXPECTED, path
    assert len(list(tmp_path.iterdir())) == 10


def test_parallel_files_and_folders(tmp_path):
    for name in ("train", "val", "test_old"):
        (tmp_path / f"{name}.en").write_text("".join(f"{en}\n" for en, _ in PAIRS), "utf-8")
        (tmp_path / f"{name}.fr.gz").write_bytes(gzip.compress("\n".join(fr for _, fr in PAIRS).encode()))
        (tmp_path / f"{name}.de").write_text("".join(f"{en} auf Deutsch\n" for en, _ in PAIRS), "utf-8")
    corpus = load_corpus(data(tmp_path))
    assert list(corpus.train) == corpus.val == load_split(data(tmp_path), "test_old") == EXPECTED
    for path in ("train", "train.en", "train.fr.gz"):
        assert load_all(data(tmp_path / path)) == EXPECTED
    both = load_split(data(tmp_path, target=["fr", "de"]), "train")
    assert both[:2] == [EXPECTED[0], Pair("Hello.", "Hello. auf Deutsch", "en", "de")]


def test_split_keeps_all_translations_of_a_sentence_on_one_side(tmp_path):
    """Wherever its rows stand, and whatever else there is."""
    path = tmp_path / "many.tsv"
    lines = [f"sentence {i % 100}\tphrase {i}" for i in range(400)]
    path.write_text("\n".join(["en\tfr", *lines]), "utf-8")
    settings = data(path, val_fraction=0.2, test_fraction=0.3)
    corpus = load_corpus(settings)
    sides = [{pair.source for pair in side} for side in (corpus.train, corpus.val, corpus.test)]
    assert len(set.union(*sides)) == sum(map(len, sides)) == 100
    assert len(corpus.train) + len(corpus.val) + len(corpus.test) == 400
    assert 8 <= len(sides[1]) <= 35 and 15 <= len(sides[2]) <= 45 and load_split(settings, "test") == corpus.test
    path.write_text("\n".join(["en\tfr", "sentence new\tphrase new", *reversed(lines)]), "utf-8")
    assert {pair.source for pair in load_corpus(settings).val} - {"sentence new"} == sides[1]


def test_case_and_punctuation_make_no_other_sentence(tmp_path):
    path = tmp_path / "a.tsv"
    rows = [f"{text}\tx {i}\n" for i in range(200) for text in (f"Go {i}!", f"go, {i}.", f"GO {i}")]
    path.write_text("en\tfr\n" + "".join(rows), "utf-8")
    for side in (load_corpus(data(path, val_fraction=0.4)).val, load_corpus(data(path, val_fraction=0.4)).train):
        counts = Counter(pair.target for pair in side)
        assert counts and set(counts.values()) == {3}


@given(symbol=st.characters(categories=["So"]), fraction=st.sampled_from([0.05, 0.2, 0.5]))
@pytest.mark.parametrize("text", ["I like {}!", "{}{} 3"])
def test_symbols_make_another_sentence(symbol, fraction, text):
    """Texts that differ in an emoji alone are spread over both sides, and punctuation still makes none."""
    symbols = [chr(code) for code in range(0x1F300, 0x1F600) if unicodedata.category(chr(code)) == "So"]
    sides = Counter(_side(text.format(one, one), {"val": fraction}) for one in symbols)
    assert abs(sides["val"] / len(symbols) - fraction) < 0.08
    for same in (f"go {symbol}", f"Go, {symbol}!", f"GO{symbol}..."):
        assert _side(same, {"val": fraction}) == _side(f"go {symbol}", {"val": fraction})


def written(name: str, content: str | bytes):
    def make(folder: Path) -> str:
        (folder / name).write_bytes(content if isinstance(content, bytes) else content.encode())
        return str(folder / name)

    return make


def unequal(folder: Path) -> str:
    (folder / "train.en").write_text("a\nb\nc\n")
    (folder / "train.fr").write_text("a\nb\n")
    return str(folder)


FAULTS = {
    "unequal line counts": (unequal, r"train\.en has 3 lines, but .*train\.fr has 2"),
    "an empty side": (written("a.tsv", "en\tfr\nx\ty\nx\t \n\ty\n"),
                      r"a\.tsv, line 3: an empty side \(invalid pairs: 2\); correct .*on_invalid=skip"),
    "a long line": (written("a.tsv", f"en\tfr\nx\ty\n{'x' * 100_000}\ty\n"), r"line 3: a side longer than.*1000"),
    "not UTF-8": (written("a.tsv", b"en\tfr\nok\tok\ncaf\xe9\tcaf\xe9\n"), r"line 3: a byte that is not UTF-8.*on_inv"),
    "UTF-16": (written("a.tsv", "en\tfr\nx\ty\n".encode("utf-16")), r"a\.tsv: not UTF-8 but UTF-16"),
    "missing file": (lambda folder: str(folder / "no.tsv"), r"no\.tsv' does not exist; give a folder"),
    "another format": (written("a.txt", "x\ty\n"), r"a\.txt' is of an unknown format; give a folder"),
    "missing column": (written("a.tsv", "en\tde\nx\ty\n"), r"a\.tsv, line 1: expected .*en, fr, found 'en, de'"),
    "a torn row": (written("a.tsv", "en\tfr\nx\ty\nx\n"), r"a\.tsv, line 3: expected 2 columns as in line 1, found 1"),
    "not CSV": (written("a.csv", 'en,fr\na,b\n"c,d\ne,f\n'), r"a\.csv, line 3: not CSV \(.*\); correct the row that"),
    "semicolons": (written("a.csv", "fr;en\nTiens, toi;You\n"), r"a\.csv, line 1: .* semicolons.* as a \.tsv"),
    "semicolons, quoted": (written("a.csv", '"x, y; z";"y"\n'), r"a\.csv, line 1: .* semicolons, expected commas"),
    "not JSON": (written("a.jsonl", '{"en": "x", "fr": "y"}\n{"en":\n'), r"a\.jsonl, line 2: not JSON"),
    "a JSON array": (written("a.json", '[{"en": "x", "fr": "y"}]\n'), r"a\.json, line 1: no JSON object \(exp"),
    "JSON without a key": (written("a.jsonl", '{"en": "x"}\n'), r"a\.jsonl, line 1: no text for en, fr"),
    "not Parquet": (written("a.parquet", "en,fr\n"), r"cannot read .*a\.parquet"),
    "cut gzip": (written("a.tsv.gz", gzip.compress(b"en\tfr\n" + b"abc\tdef\n" * 1000)[:-20]), r"cannot read .*a\.tsv"),
    "header alone": (written("a.tsv", "en\tfr\n"), r"a\.tsv has 0 training"),
    "empty folder": (lambda folder: str(folder), r"has no train\.en\[\.gz\].*it contains nothing"),
    "unreachable Hub": (lambda folder: "no-such-owner/no-such-data", r"Hub dataset.*data\.path=FILE_OR_FOLDER"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_one_line_that_says_where_and_how_to_mend(tmp_path, fault):
    make, message = FAULTS[fault]
    with pytest.raises(UserError, match=message) as caught:
        load_corpus(data(make(tmp_path)))
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 600


BROKEN = {  # contents with one broken row between two good ones, and what is said of it
    "a.csv": (f'en,fr\nx,y\n"{"a" * 131_073}",b\nv,w\n', "a side longer than"),
    "b.csv": (f'en,fr\nx,y\n{"a" * 2**20},b\nv,w\n', "not CSV (a line of 1,048,576 characters or more)"),
    "c.csv": ('en,fr\nx,y\n"He said "hi" to me",b\nv,w\n', "not CSV"),
    "d.csv": ('en,fr\nx,y\n"' + "a\n" * 70_000 + '",b\nv,w\n', "a side longer than"),
    "e.tsv": (f"en\tfr\nx\ty\n{'a' * 2**20}\tb\nv\tw\n", "a line of 1,048,576 characters or more"),
    "f.jsonl": ('{"en": "x", "fr": "y"}\n{"en": "' + "a" * 2**20 + '", "fr": "b"}\n{"en": "v", "fr": "w"}\n',
                "a line of 1,048,576 characters or more"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_row_that_is_far_too_long_or_broken_may_be_skipped(tmp_path, name):
    path, (content, fault) = tmp_path / name, BROKEN[name]
    path.write_text(content, "utf-8")
    skipped, settings = Counter[str](), data(path, on_invalid="skip")
    pairs = list(clean(settings, find_part(settings, "train"), skipped))
    assert [(pair.source, pair.target) for pair in pairs] == [("x", "y"), ("v", "w")]
    assert skipped.total() == 1 and next(iter(skipped)).startswith(fault)
    with pytest.raises(UserError, match=re.escape(f"{name}, line {2 if name == 'f.jsonl' else 3}: {fault}")):
        load_all(data(path))


def test_a_long_field_is_text_where_it_is_allowed(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text(f'en,fr\n"{"a" * 200_000}",b\n', "utf-8")
    assert len(load_all(data(path, max_characters=200_000))[0].source) == 200_000


@pytest.mark.few(2)
@pytest.mark.parametrize("name", ["a.tsv.gz", "a.csv.gz", "a.jsonl.gz", "a.en.gz"])
def test_a_line_that_is_far_too_long_takes_no_more_memory_than_a_shorter_one(tmp_path, name):
    """In a gzip of as many members, each of one megabyte."""
    first = {"tsv": b"en\tfr\nx\ty\n", "csv": b"en,fr\nx,y\n", "jsonl": b'{"en": "x", "fr": "y"}\n', "en": b"x\n"}
    (tmp_path / "a.fr").write_text("y\nz\n")
    peaks = []
    for megabytes in (4, 4, 16):  # the first reads what is kept
        long = gzip.compress(b"a" * 10**6) * megabytes
        (tmp_path / name).write_bytes(gzip.compress(first[name.split(".")[1]]) + long)
        part = find_part(data(tmp_path / name.replace(".en.gz", "")), "train")
        tracemalloc.start()
        try:
            (_, good), (_, fault) = part.rows()
            peaks.append(tracemalloc.get_traced_memory()[1])
        finally:
            tracemalloc.stop()
        assert good == ["x", "y"] and "a line of 1,048,576 characters or more" in fault
    assert peaks[2] < 1.5 * peaks[1]


@pytest.mark.parametrize("name", ["dev", "valid", "validation", "val"])
@pytest.mark.parametrize("table", [True, False])
def test_a_folders_validation_set_has_any_of_its_usual_names(tmp_path, name, table):
    for split, rows in (("train", PAIRS[:3]), (name, PAIRS[3:])):
        if table:
            lines = [json.dumps({"fr": target, "en": source}) + "\n" for source, target in rows]
            (tmp_path / f"{split}.jsonl").write_text("".join(lines), "utf-8")
        else:
            for language, texts in zip(("en", "fr"), zip(*rows, strict=True), strict=True):
                (tmp_path / f"{split}.{language}").write_text("\n".join(texts) + "\n", "utf-8")
    corpus = load_corpus(data(tmp_path))
    assert (list(corpus.train), corpus.val) == (EXPECTED[:3], EXPECTED[3:])
    assert load_split(data(tmp_path), "val") == load_split(data(tmp_path), name) == EXPECTED[3:]


@pytest.mark.parametrize(("files", "said"), [
    (["dev.en", "dev.de"], r"has no dev\.en\[\.gz\], dev\.fr\[\.gz\]; it contains dev\.de, dev\.en"),
    (["validation.txt"], r"has no validation\.en.*it contains validation\.txt"), (["valid/a.tsv"], r"has no valid\.en"),
    (["val.en"], r"has no val\.en\[\.gz\], val\.fr"),
    (["dev.tsv", "val.tsv"], "the splits val and dev, expected one validation split"),
    (["dev.tsv", "valid.en", "valid.fr"], "the splits valid and dev, expected one"),
])
def test_a_validation_set_that_cannot_be_used_is_refused_and_not_passed_over(tmp_path, files, said):
    tsv(tmp_path / "train.tsv")
    for name in files:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        tsv(tmp_path / name)
    with pytest.raises(UserError, match=said):
        load_corpus(data(tmp_path))


def test_rows_that_cannot_be_read_may_be_skipped_and_are_counted(tmp_path):
    """In every kind of file, and the good rows around them are kept."""
    table, lines = tmp_path / "a.tsv", tmp_path / "a.jsonl"
    table.write_bytes(b"en\tfr\nx\ty\ncaf\xe9\ty\nz\nv\tw\n\xe2\x80\x8b\xef\xbb\xbf\ty\n")
    lines.write_text(
        '{"en": "x", "fr": "y"}\n{"en": "x"}\n[1\n"text"\n{"en": 1, "fr": null}\n' + "[" * 50_000
        + '\n{"translation": 3}\n{"en": "v", "fr": "w"}\n', "utf-8",
    )
    for path, found in (
        (table, {"a byte that is not UTF-8, or half a character": 1, "an empty side": 1,
                 "expected 2 columns as in line 1, found 1": 1}),
        (lines, {"no text for en, fr; name the keys by these codes, or source and target, or set data.source and"
                 " data.target": 3,
                 "no JSON object (expected one object per line)": 1,
                 "not JSON (expected one object per line)": 2}),
    ):
        skipped, settings = Counter(), data(path, on_invalid="skip")
        pairs = list(clean(settings, find_part(settings, "train"), skipped))
        assert [(pair.source, pair.target) for pair in pairs] == [("x", "y"), ("v", "w")]
        assert skipped == found
        with pytest.raises(UserError, match=r"line \d.*on_invalid=skip"):
            load_all(data(path))


def test_windows_line_ends_and_byte_order_marks_are_taken_off_and_text_is_composed(tmp_path):
    (tmp_path / "train.en").write_bytes(b"\xef\xbb\xbf a\r\nb \r\n")
    (tmp_path / "train.fr").write_bytes("\ufeffe\u0301\ny".encode())
    assert [(pair.source, pair.target) for pair in load_split(data(tmp_path), "train")] == [("a", "\xe9"), ("b", "y")]


def test_copies_of_pairs_are_kept_left_out_or_refused(tmp_path):
    path = tmp_path / "a.tsv"
    path.write_text("en\tfr\n" + "".join(f"source {i % 150}\ttarget {i % 150}\n" for i in range(200)), "utf-8")
    kept = load_corpus(data(path, val_fraction=0.1))
    assert (len(kept.train) + len(kept.val), kept.skipped) == (200, {})
    fewer = load_corpus(data(path, val_fraction=0.1, duplicates="skip"))
    assert (len(fewer.train) + len(fewer.val), fewer.skipped) == (150, {"copies of other pairs": 50})
    with pytest.raises(UserError, match="has 50 copies"):
        load_corpus(data(path, val_fraction=0.1, duplicates="error"))


@pytest.fixture
def cache(tmp_path, monkeypatch) -> Path:
    monkeypatch.setattr("datasets.config.HF_DATASETS_CACHE", tmp_path / "cache")
    return tmp_path / "cache" / "seq2see"


def test_a_corpus_is_read_once_and_found_again_by_its_content(tmp_path, cache, monkeypatch):
    path, copy = tsv(tmp_path / "a.tsv"), tmp_path / "other" / "a.tsv"
    settings = data(path, val_fraction=0.4)
    first = load_corpus(settings)
    assert sorted([*first.train, *first.val], key=EXPECTED.index) == EXPECTED
    copy.parent.mkdir()
    copy.write_bytes(path.read_bytes())
    with monkeypatch.context() as patch:
        patch.setattr(pairs_module, "clean", None)
        for again in (load_corpus(settings), load_corpus(dataclasses.replace(settings, path=str(copy)))):
            assert (list(again.train), again.val, again.skipped) == (list(first.train), first.val, first.skipped)
    copy.write_text(path.read_text("utf-8").replace("Bonjour", "Bonsoir"), "utf-8")  # as many bytes as before
    changed = load_corpus(dataclasses.replace(settings, path=str(copy)))
    assert {pair.target for pair in [*changed.train, *changed.val]} >= {"Bonsoir."}
    load_corpus(dataclasses.replace(settings, max_characters=50))
    assert len([item for item in cache.iterdir() if item.is_dir()]) == 3


def test_texts_are_both_sides_of_all_pairs_or_of_some_drawn_among_them():
    pairs = [Pair(f"s{number}", f"t{number}", "en", "fr") for number in range(100)]
    assert list(Texts(pairs)) == [text for pair in pairs for text in (pair.source, pair.target)]
    drawn = list(Texts(pairs, most=20))
    assert len(set(drawn)) == 40 and 25 < sum(int(text[1:]) for text in drawn) / 40 < 75


def test_of_many_at_once_one_makes_and_the_others_wait(tmp_path):
    made: list[Path] = []

    def make(folder: Path) -> None:
        made.append(folder)
        (folder / "half").touch()
        time.sleep(0.3)
        (folder / "whole").touch()

    def ask(_: int) -> list[str]:
        return sorted(item.name for item in get_or_build(tmp_path / "it", make).iterdir())

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(ask, range(4))) == [["half", "whole"]] * 4
    assert len(made) == 1


def test_what_was_not_finished_is_made_anew(tmp_path):
    def killed(folder: Path) -> None:
        (folder / "old").touch()
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        get_or_build(tmp_path / "it", killed)
    made = get_or_build(tmp_path / "it", lambda folder: (folder / "new").touch())
    assert [item.name for item in made.iterdir()] == ["new"]


def test_a_cache_that_cannot_be_written_is_one_line(tmp_path, monkeypatch):
    monkeypatch.setattr("datasets.config.HF_DATASETS_CACHE", tmp_path / "file")
    (tmp_path / "file").touch()
    with pytest.raises(UserError, match="cannot keep prepared data in .*HF_DATASETS_CACHE"):
        load_corpus(data(tsv(tmp_path / "a.tsv")))


def test_a_hub_dataset_has_its_validation_split_as_val(cache, monkeypatch):
    from datasets import Dataset, DatasetDict

    rows = [{"translation": {"fr": target, "en": source}} for source, target in PAIRS]
    splits = {"train": Dataset.from_list(rows), "validation": Dataset.from_list(rows[:1])}
    monkeypatch.setattr("datasets.load_dataset", lambda name, configuration: DatasetDict(splits))
    corpus = load_corpus(data("some-owner/some-data"))
    splits["dev"] = splits["validation"]
    with pytest.raises(UserError, match="has the splits validation and dev, expected one"):
        load_split(data("some-owner/some-data"), "val")
    del splits["dev"]
    assert (list(corpus.train), corpus.val) == (EXPECTED, EXPECTED[:1])
    with pytest.raises(UserError, match="has the splits train, validation, not 'test'"):
        load_split(data("some-owner/some-data"), "test")


KINDS = ("tsv", "csv", "jsonl", "parquet")
ROWS = [("bom dia", "bonjour"), ("um gato", "un chat")]


def table(folder: Path, kind: str, names: tuple[str, ...], rows: list[tuple[str, ...]] = ROWS) -> Path:
    """A table whose columns have these names, in this order."""
    path = folder / f"a.{kind}"
    records = [dict(zip(names, row, strict=True)) for row in rows]
    if kind == "parquet":
        parquet.write_table(pyarrow.Table.from_pylist(records), path)
    elif kind == "jsonl":
        path.write_text("".join(json.dumps(record) + "\n" for record in records), "utf-8")
    else:
        path.write_text("".join(("," if kind == "csv" else "\t").join(row) + "\n" for row in [names, *rows]), "utf-8")
    return path


def read(path: Path, *, source: str = "pt", target: str = "fr") -> list[tuple[str, str]]:
    pairs = load_split(DataConfig(str(path), source=source, target=target), "all")
    return [(pair.source, pair.target) for pair in pairs]


@pytest.mark.parametrize("kind", KINDS)
def test_a_language_is_the_same_in_any_case_with_a_hyphen_or_an_underscore(tmp_path, kind):
    """And a tag keeps the spelling that was asked for."""
    for names in (("pt_BR", "fr-FR"), ("pt-br", "FR_fr")):
        assert read(table(tmp_path, kind, names), source="PT-br", target="fr_fr") == ROWS
        path = table(tmp_path, kind, names[::-1], [row[::-1] for row in ROWS])
        assert read(path, source="PT-br", target="fr_fr") == ROWS
    pairs = load_split(DataConfig(str(path), source="fr_fr", target="PT-br"), "all")
    assert {(pair.source_language, pair.target_language) for pair in pairs} == {("fr_fr", "PT-br")}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("names", [("fr", "translation1"), ("DE", "ita")])
def test_columns_named_by_other_languages_are_refused_and_not_taken_in_order(tmp_path, kind, names):
    path = table(tmp_path, kind, names)
    with pytest.raises(UserError, match=r"line 1: .*\bpt.*data\.source and data\.target") as caught:
        read(path)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("first", [("guarda-chuva", "parapluie"), ("source 1", "target 1"), ("texto 2", "text 2")])
def test_what_names_no_language_is_a_row_and_never_taken_in_order(tmp_path, kind, first):
    path = table(tmp_path, kind, first)
    if kind in ("tsv", "csv"):
        assert read(path) == [first, *ROWS]
    else:
        with pytest.raises(UserError, match="line 1: no text for pt, fr; name the keys by these codes, or source and"):
            read(path)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("names", [("source", "target"), ("Portuguese", "French"), ("src", "TGT"), ("Source", "trg")])
def test_columns_and_keys_are_found_by_what_they_are_called_in_any_order(tmp_path, kind, names):
    assert read(table(tmp_path, kind, names)) == ROWS
    assert read(table(tmp_path, kind, names[::-1], [row[::-1] for row in ROWS])) == ROWS
    with_codes = [(*row, "from a book") for row in ROWS]
    assert read(table(tmp_path, kind, ("pt", "fr", names[0]), with_codes)) == ROWS


def test_the_order_of_keys_says_nothing_and_may_change_from_row_to_row(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text('{"target": "Oui.", "source": "Yes."}\n{"source": "No.", "id": 3, "target": "Non."}\n', "utf-8")
    assert read(path, source="en") == [("Yes.", "Oui."), ("No.", "Non.")]


DOUBLED = {
    "a.tsv": "en\tfr\tfr\nHello\tBonjour\tSalut\n", "b.tsv": "en\tfr\ten\tfr\nHello\tBonjour\tYes\tOui\n",
    "c.csv": "EN,fr,en\nHello,Bonjour,Yes\n", "d.tsv": "source\tsrc\ttarget\nHello\tYes\tBonjour\n",
    "e.jsonl": '{"en": "Hello", "fr": "Bonjour", "en": "Yes"}\n', "f.jsonl": '{"en": "a", "EN": "b", "fr": "c"}\n',
    "g.jsonl": '{"translation": {"en": "a", "fr": "b", "fr": "c"}}\n',
    "h.tsv": "Hello\tHello\nYes\tYes\nNo\tNo\n", "i.tsv": "en\tfr\nHello\tHello\nYes\tYes\nNo\tNo\n",
}


@pytest.mark.parametrize("name", DOUBLED)
def test_doubled_columns_are_no_pairs(tmp_path, name):
    (tmp_path / name).write_text(DOUBLED[name], "utf-8")
    with pytest.raises(UserError, match="two columns or keys for one side|two values for one key|all 3 pairs are the"):
        read(tmp_path / name, source="en")


@pytest.mark.parametrize("labels", [2, 19])
@pytest.mark.parametrize("reverse", [True, False])
def test_labels_are_no_translations_whatever_their_column_is_called(tmp_path, labels, reverse):
    path = tmp_path / "a.tsv"
    rows = [(f"text {i}", f"{i % labels}") for i in range(100)]
    for kept, refused in ((rows, True), (rows[:99], False), ([(a, f"{b} {a}") for a, b in rows], False)):
        path.write_text("".join("\t".join(row[::-1] if reverse else row) + "\n" for row in kept), "utf-8")
        if refused:
            with pytest.raises(UserError, match=rf"one side has only {labels} different texts in 100 pairs, like"):
                read(path, source="en")
        else:
            assert len(read(path, source="en")) == len(kept)


@pytest.mark.parametrize(("header", "again"), [
    ("en\tfr", "en\tfr"), ("en\tfr", "fr\ten"), ("id\tfr\ten", "id\tfr\ten"), ("English\tFrench", "English\tFrench"),
    ("source\ttarget", "Source\tTarget"), ("en\tfr", "source\ttarget"), ("Hello\tBonjour", "text_en\ttext_fr"),
    ("Hello\tBonjour", "text\tlabel"), ("en-GB\tfr", "en_GB\tFR"),
])
def test_a_second_header_inside_joined_files_is_a_fault(tmp_path, header, again):
    path, columns = tmp_path / "a.tsv", header.count("\t") + 1
    rows = ["\t".join(["1", "Non", "No"][-columns:]), again, "\t".join(["2", "Si", "Yes"][-columns:])]
    path.write_text("\n".join([header, *rows]) + "\n", "utf-8")
    source = header.split("\t")[0] if "GB" in header else "en"
    with pytest.raises(UserError, match=r"a\.tsv, line 3: a header among the pairs"):
        read(path, source=source)
    kept = load_split(DataConfig(str(path), source=source, on_invalid="skip"), "all")
    assert len(kept) == 2 + (header == "Hello\tBonjour")


def test_a_header_among_the_lines_of_parallel_files_or_records_is_one_too(tmp_path):
    (tmp_path / "all.en").write_text("Yes\nen\nNo\n")
    (tmp_path / "all.fr").write_text("Oui\nfr\nNon\n")
    (tmp_path / "b.jsonl").write_text('{"en": "Yes", "fr": "Oui"}\n{"en": "en", "fr": "fr"}\n')
    for name in ("all", "b.jsonl"):
        with pytest.raises(UserError, match="line 2: a header among the pairs"):
            read(tmp_path / name, source="en")


@pytest.mark.parametrize("row", [
    ("Post-it", "Post-it"), ("sentence", "phrase"), ("Text", "texte"), ("source 1", "target 1"), ("French", "français"),
    ("question", "question"), ("en", "à"), ("The title and the text.", "Le titre et le texte."),
])
def test_a_pair_about_words_of_headers_is_a_pair(tmp_path, row):
    path = tmp_path / "a.tsv"
    path.write_text("en\tfr\nYes\tOui\n" + "\t".join(row) + "\n", "utf-8")
    assert read(path, source="en") == [("Yes", "Oui"), row]


@pytest.mark.parametrize("kind", ["tsv", "csv"])
@pytest.mark.parametrize("names", [("text", "label"), ("sentence_1", "sentence_2"), ("pt_text", "Fr text"),
                                   ("question_pt", "answer-FR"), ("Input", "Output text"), ("French", "German"),
                                   ("sentence1", "sentence2"), ("prompt", "response"), ("review", "sentiment")])
def test_a_header_without_codes_is_never_read_as_a_pair(tmp_path, kind, names):
    with pytest.raises(UserError, match=r"line 1: .* is a header, not a pair; name the columns .*: pt, fr") as caught:
        read(table(tmp_path, kind, names))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("first", [("source", "source"), ("Portuguese", "portugais"), ("text", "le texte")])
def test_a_first_pair_with_a_word_of_headers_is_a_pair(tmp_path, first):
    assert read(table(tmp_path, "tsv", first)) == [first, *ROWS]


def test_a_later_record_with_other_keys_is_a_fault_and_not_read_in_order(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text('{"pt": "bom", "fr": "bon"}\n{"de": "Katze", "ita": "gatto"}\n', "utf-8")
    with pytest.raises(UserError, match="line 2: no text for pt, fr"):
        read(path)


def test_a_quote_within_a_field_is_a_character_and_blank_lines_are_no_rows(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text('pt,fr\n\na 5" disk,un "disque"\n\n"c,\nd",e\n', "utf-8")
    assert read(path) == [('a 5" disk', 'un "disque"'), ("c,\nd", "e")]


def test_a_semicolon_in_a_first_pair_is_text(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text('a; b,"c; d, e"\n', "utf-8")
    assert read(path) == [("a; b", "c; d, e")]
