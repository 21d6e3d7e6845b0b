"""The verb `translate` with files: which words are files, where each is written, and files of lines that survive kills.

An engine that copies (identity.py) makes the law exact: what comes out is what went in, byte for byte.
"""

import contextlib
import hashlib
import io
import json
import os
import random
import re
import signal
import sys
import time
from functools import partial
from multiprocessing import get_context

import psutil
import pytest
from identity import copying, copying_lines

from seq2see.cli.parser import build_parser, parse
from seq2see.cli.translating import line_files
from seq2see.cli.translating.document_files import translated_name
from seq2see.cli.translating.line_files import LineFile, translate_lines
from seq2see.cli.translating.part import FilePart, only_writer
from seq2see.cli.translating.request import TranslationRequest
from seq2see.documents import formats
from seq2see.documents.protocol import Document, FileOptions, Left
from seq2see.errors import UserError
from seq2see.text.html_markup import Html
from seq2see.tokenizer.words import split_words
from seq2see.training.progress import Progress
from seq2see.translate import Translator
from seq2see.translate.remarks import Doubts, Remarks
from tests.full_disk import files_of_at_most

LINES = (b"\xef\xbb\xbfThe cat is tired.\r\n\r\nIt was raining. The owl lent the ladder to the crow.\n  \n12345\x0c\n"
         b"The cat\xe2\x80\xa8saw the box.\n\xef\xbb\xbfThe dog. \n\tThe owl")


@pytest.fixture
def copied(command, monkeypatch, tmp_path):
    """`seq2see translate` where everything copies, in a folder of its own."""
    translator = copying(threads=1)
    monkeypatch.setattr(Translator, "from_pretrained", lambda *_, **__: translator)
    monkeypatch.chdir(tmp_path)
    return partial(command, "translate")


def translated(lines: bytes, folder, **how) -> bytes:
    """The lines of a file, copied, or resumed from what is there."""
    source, out = folder / "in.en", folder / "out.fr"
    source.write_bytes(lines)
    translate_lines(LineFile.checked(source), out, copying_lines(), copying_lines, overwrite=True,
                    **{"resume": True, **how})
    return out.read_bytes()


# --- which words are files, and where they are written


@pytest.mark.parametrize(("words", "run", "files"), [
    ("", "everyday", []),
    ("storybook", "storybook", []),
    ("letter.txt", "everyday", ["letter.txt"]),
    ("everyday letter.txt", "everyday", ["letter.txt"]),
    ("run letter.txt page.html", "run", ["letter.txt", "page.html"]),
    ("folder letter.txt", "everyday", ["folder", "letter.txt"]),
    ("org/model letter.txt", "org/model", ["letter.txt"]),
    ("letter.txt org/model", "everyday", ["letter.txt", "org/model"]),
    ("misspelt.txt", "everyday", ["misspelt.txt"]),
    ("corpus.en --lines --to fr more.en -o out", "everyday", ["corpus.en", "more.en"]),
    ("--to fr run corpus.en", "run", ["corpus.en"]),
    ("run --to fr corpus.en -o out more.en", "run", ["corpus.en", "more.en"]),
])
def test_the_first_word_is_the_model_if_it_can_be(words, run, files, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("letter.txt", "page.html", "corpus.en"):
        (tmp_path / name).write_text("")
    for name in ("run", "folder"):
        (tmp_path / name).mkdir()
    (tmp_path / "run/config.json").write_text("{}")
    args = parse(build_parser(), ["translate", *words.split()])
    assert (args.run, args.files) == (run, files)


@pytest.mark.parametrize(("name", "source", "target", "expected"), [
    ("letter.docx", "en", "fr", "letter.fr.docx"),
    ("letter.en.docx", "en", "fr", "letter.fr.docx"),
    ("corpus.en", "en", "fr", "corpus.fr"),
    ("en.en.txt", "en", "fr", "en.fr.txt"),
    ("corpus", "en", "fr", "corpus.fr"),
    ("messages.pot", "en", "fr", "messages.fr.po"),
    ("a.b.txt", "", "translated", "a.b.translated.txt"),
])
def test_an_output_lies_beside_its_input(name, source, target, expected):
    assert translated_name(name, source, target) == expected


def test_files_are_written_beside_themselves_or_where_asked(copied, tmp_path, monkeypatch):
    monkeypatch.setitem(formats.FORMATS, "note", "plain_text")  # a document whose format this is
    for name in ("a.txt", "b.en.note"):
        (tmp_path / name).write_bytes(LINES)
    code, out, err = copied("storybook", "a.txt", "b.en.note")
    assert (code, out, err.count("the translation is the same as its source")) == (0, "a.fr.txt\nb.fr.note\n", 2)
    assert copied("a.txt", "-o", "given")[:2] == copied("a.txt", "-o", "given")[:2] == (0, "given\n")
    assert copied("a.txt", "b.en.note", "-o", "folder")[1] == "folder/a.fr.txt\nfolder/b.fr.note\n"
    written = [tmp_path / name for name in ("a.fr.txt", "b.fr.note", "given", "folder/a.fr.txt", "folder/b.fr.note")]
    assert {path.read_bytes() for path in written} == {LINES}
    assert len(list(tmp_path.rglob("*.*"))) == 6  # and nothing else


@pytest.mark.parametrize(("words", "code", "said"), [
    ("none.txt", 1, "No such file or directory: none.txt"),
    ("model.safetensors", 1, "model.safetensors is a file of a model: give its folder, ."),
    ("a.xyz", 1, "a.xyz: files of this format cannot be translated; expected one of txt"),
    ("folder", 1, "folder is a folder, but not a model: it has no config.json"),
    ("a.txt -o a.txt", 2, "the translation of a.txt would overwrite a.txt: give another -o"),
    ("a.txt --to en,fr", 1, "does not translate to en"),
    ("old.txt --from en --to fr b/old.txt -o out", 2, "old.txt and b/old.txt would both be written to out/old.fr.txt"),
    ("a.txt b/a.txt -o old.txt", 2, "-o old.txt is a file, but several inputs need a folder"),
    ("a.txt -o none/b.txt", 1, "there is no folder none"),
    ("old.txt", 1, "old.fr.txt already exists; to overwrite it, add -o old.fr.txt"),
    ("latin.txt", 1, "latin.txt is not UTF-8 (byte 11)"),
    ("latin.txt --lines", 1, "line 2 of latin.txt, byte 2: not UTF-8"),
    ("a.note --resume", 2, "--resume is only for files of lines; if each line of a.note is a text, add --lines"),
    ("a.note --to fr,de", 2, "a.note is a document, which takes one target language"),
    ("latin.note", 1, "latin.note is not UTF-8"),
    ("a.xyz --lines --alternatives 2", 2, "--alternatives needs --jsonl"),
    ("a.txt --jsonl --to fr,de", 2, "--jsonl takes one target language"),
    ("misspelt --lines", 2, "--lines needs a file to translate; there is no file misspelt"),
    ("-o out", 2, "-o needs a file to translate"),
    ("--lines", 2, "--lines needs a file to translate; standard input is always translated line by line"),
    ("a.note --columns ,", 2, "',' is not a list of names, such as A,B"),
    ("a.note --columns foo", 2, "--columns is only for csv, tsv files, but no such file is given"),
    ("a.txt --keys bar", 2, "--keys is only for json files, but no such file is given"),
    ("t.csv --lines --columns comment", 2, "--columns is only for csv, tsv files, but --lines translates whole lines"),
    ("a.txt old.txt", 1, "old.fr.txt already exists; to overwrite it, add -o ."),
    ("a.txt -o -", 2, "-o - is not supported: give the name of a file, or translate standard input to standard output"),
    ("a.txt -o out/", 1, "out/a.fr.txt is a folder"),
    ("a.txt --resume -o out", 1, "out/a.fr.txt is a folder"),
    ("a.txt --lines -o pipe", 1, "pipe is not a regular file, so an interrupted translation could not be resumed"),
    ("a.txt -o dangling", 1, "there is no folder"),
    ("a.txt -o b.odt", 2, "the translation of a.txt is a file of the same format; give an -o that ends in .txt"),
    ("a.docx --lines", 2, "a.docx is not a file of lines; leave --lines out"),
])
def test_what_is_wrong_is_one_line_and_nothing_is_written(words, code, said, copied, tmp_path, monkeypatch):
    monkeypatch.setitem(formats.FORMATS, "note", "plain_text")
    for folder in ("folder", "b", "out/a.fr.txt"):
        (tmp_path / folder).mkdir(parents=True)
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "dangling").symlink_to("none/b.txt")
    for name in ("a.txt", "b/a.txt", "b/old.txt", "a.note", "a.xyz", "t.csv", "old.txt", "old.fr.txt", "a.docx",
                 "model.safetensors"):
        (tmp_path / name).write_text("The cat.\n")
    for name in ("latin.txt", "latin.note"):
        (tmp_path / name).write_bytes(b"The cat.\nl\xe9\n")
    before = sorted(tmp_path.rglob("*"))
    got, out, err = copied(*words.split())
    assert (got, out) == (code, "") and said in err and err.count("\n") == 1
    assert sorted(tmp_path.rglob("*")) == before


def test_a_document_is_written_whole_or_not(copied, tmp_path, monkeypatch):
    monkeypatch.setitem(formats.FORMATS, "note", "plain_text")
    (tmp_path / "a.note").write_bytes(b"The cat is tired.\n" * 200)
    with files_of_at_most(1000):
        code, out, err = copied("a.note")
    assert (code, out, err) == (1, "", "seq2see: error: File too large: a.fr.note\n")
    assert [path.name for path in tmp_path.iterdir()] == ["a.note"]


def test_a_bad_file_of_several_keeps_no_other_from_its_translation(copied, tmp_path):
    for name, data in {"a.md": b"The cat.", "b.docx": b"no zip", "c.txt": b"l\xe9", "d.lines": b"x", "e.md": b"12",
                       "f.po": b'msgid "A %s"\nmsgstr ""\n'}.items():
        (tmp_path / name).write_bytes(data)
    names = ["a.md", "b.docx", "c.txt", "d.lines", "e.md", "missing.md", "f.po"]
    code, out, err = copied(*names, "--report", "report.json")
    assert code == 1 and out.split() == ["a.fr.md", "e.fr.md", "f.fr.po"]
    assert "seq2see: error: 4 of 7 files were not translated: b.docx, c.txt, d.lines, missing.md" in err
    assert "b.docx is broken" in err and "c.txt is not UTF-8" in err and "missing.md" in err
    assert (tmp_path / "a.fr.md").read_text() == "The cat."
    files = {one["file"]: one for one in json.loads((tmp_path / "report.json").read_text())["files"]}
    assert list(files) == names and "b.docx is broken" in files["b.docx"]["error"]
    assert (files["a.md"]["output"], files["a.md"]["texts"]) == ("a.fr.md", 1)


def test_all_bad_files_are_said_without_a_model(command, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(Translator, "from_pretrained", lambda *_, **__: pytest.fail("loaded"))
    code, out, err = command("translate", "a.md", "b.md")
    assert (code, out) == (1, "") and "2 of 2 files were not translated: a.md, b.md" in err


def test_a_report_has_the_places_of_what_is_doubtful_or_stays(copied, tmp_path, monkeypatch):
    (tmp_path / "a.md").write_text("I live in a small house.\n")
    (tmp_path / "b.txt").write_text("12\nI live in a small house.\n")
    document = Document(["One thing."], lambda _: b"", lost=[0], left=[Left("page 3", "Two", "no reason")])
    monkeypatch.setattr("seq2see.cli.translating.document_files.read_document", lambda *_: document)
    code, _, err = copied("a.md", "--report", "a.json")
    [found] = json.loads((tmp_path / "a.json").read_text())["files"]
    assert code == 0 and (found["texts"], found["left"]) == (1, 2)
    assert {"place": "page 3", "left": "no reason", "text": "Two"} in found["places"]
    assert "a.fr.md: 1 not translated: no reason (first: page 3)" in err
    code, _, err = copied("b.txt", "--lines", "--report", "b.json")
    [found] = json.loads((tmp_path / "b.json").read_text())["files"]
    assert (found["texts"], found["doubtful"]) == (2, 1) and found["places"][0]["place"] == "line 2"


def test_a_report_names_the_sentences_and_the_terms(command, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.txt").write_text("Where is the station?\n\nI like it. The zorblat is in the station. Tom is here.\n")
    (tmp_path / "terms.tsv").write_text("station\tgare\nlamp\tlampe\n")
    assert command("translate", "a.txt", "--to", "fr", "--glossary", "terms.tsv", "--report", "a.json")[0] == 0
    [found] = json.loads((tmp_path / "a.json").read_text())["files"]
    assert (found["texts"], found["doubtful"]) == (2, 1)
    assert found["terms"] == [{"term": "station", "translation": "gare", "times": 2, "missing": 0}]
    assert [(one["place"], one["text"]) for one in found["places"]] == [("line 3", "The zorblat is in the station.")]
    assert "gare" in found["places"][0]["translation"]


def test_missing_terms_are_counted():
    remarks, term = Remarks("texts"), ("cat", "chat")
    for number, missing in enumerate([(), (term,), (term, term)], start=1):
        remarks.note(number, Doubts(missing=missing, terms=(term, term)))
    assert remarks.record()["terms"] == [{"term": "cat", "translation": "chat", "times": 6, "missing": 3}]
    assert len(remarks.places) == remarks.doubtful == 2


def test_a_document_without_text_is_copied_and_that_is_said(copied, tmp_path):
    (tmp_path / "a.srt").write_text("1\n00:00:01,000 --> 00:00:02,000\n12 34\n")
    assert copied("a.srt") == (0, "a.fr.srt\n", "a.srt has no text to translate; a.fr.srt is a copy\n")


def test_marked_and_plain_texts_of_a_document_come_back_in_order(copied, tmp_path, monkeypatch):
    texts = [Html(f"<i>The cat {n}.</i>") if n % 3 else f"The {{cat}} {n}." for n in range(7)]
    read = lambda data, options, *, name: Document(texts, lambda found: repr((found, options)).encode())  # noqa: E731
    monkeypatch.setattr("seq2see.cli.translating.document_files.AT_ONCE", 4)
    for module in ("table", "json_strings"):
        monkeypatch.setattr(f"seq2see.documents.{module}.read", read)
    for name in ("a.csv", "a.json"):
        (tmp_path / name).write_text("")
    assert copied("a.csv", "a.json", "--columns", "a, 2", "--keys", "k", "--to", "fr")[0] == 0
    options = FileOptions("en", "fr", ("a", "2"), ("k",))
    for name in ("a.fr.csv", "a.fr.json"):
        assert (tmp_path / name).read_text() == repr((list(map(str, texts)), options))


def test_a_txt_is_a_document_unless_something_asks_for_lines(copied, tmp_path, monkeypatch):
    """Paragraphs of full lines are one text; what only lines have, and a size that no document may have, cuts them."""
    asked: list[str] = []
    translations = Translator.__call__
    texts = "The cat that was tired saw the box\nthat the owl had lent to the crow.\n"
    monkeypatch.setattr("seq2see.documents.plain_text.WIDTHS", range(30, 121))
    monkeypatch.setattr(Translator, "__call__", lambda self, given, **how: asked.extend(given) or translations(
        self, given, **how))
    (tmp_path / "a.txt").write_text(texts)
    for options in ((), ("--lines",), ("--resume",), ("--jsonl",), ("--to", "fr,fr")):
        asked.clear()
        assert copied("a.txt", "-o", f"out{len(options)}{options[:1]}", *options)[0] == 0
        assert sorted({*asked}) == sorted(texts.splitlines() if options else [" ".join(texts.split("\n")).strip()])
    monkeypatch.setattr("seq2see.cli.translating.document_files.MOST_BYTES", len(texts) - 1)
    asked.clear()
    assert copied("a.txt")[0] == 0 and asked == texts.splitlines()


@pytest.mark.long
def test_a_long_txt_is_not_one_text(copied, tmp_path):
    """A text may have no more than 250,000 characters."""
    (tmp_path / "a.txt").write_bytes((b"The cat is tired of the wet and cold street. " * 9 + b"\r\n\n") * 700)
    assert copied("a.txt")[0] == 0 and (tmp_path / "a.fr.txt").read_bytes() == (tmp_path / "a.txt").read_bytes()


@pytest.mark.parametrize("inside", "\u2028\x0c\x0b\x85")
def test_what_also_breaks_lines_breaks_no_paragraph(inside, copied, tmp_path):
    (tmp_path / "a.txt").write_text(text := "The owl lent the ladder " * 3 + f"{inside} \n")
    assert copied("a.txt")[:2] == (0, "a.fr.txt\n") and (tmp_path / "a.fr.txt").read_text() == text


@pytest.mark.skipif(sys.platform != "linux", reason="names of other bytes")
def test_a_name_that_is_no_text_is_printed_as_its_bytes(copied, tmp_path):
    names = [os.fsdecode(name) for name in (b"caf\xe9.md", b"b.md", b"l\xe9.txt")]
    for name in names:
        (tmp_path / name).write_text("The cat.\n")
    assert copied(*names)[:2] == (0, os.fsdecode(b"caf\xe9.fr.md\nb.fr.md\nl\xe9.fr.txt\n"))
    assert copied(names[2], "--lines", "-o", os.fsdecode(b"\xe9"))[:2] == (0, os.fsdecode(b"\xe9\n"))


@pytest.mark.parametrize("options", [(), ("--lines",), ("--resume",)])
def test_an_output_stays_the_file_that_it_was(options, copied, tmp_path):
    """Behind a link, and with its permissions."""
    (tmp_path / "a.txt").write_text("The cat.\n")
    (tmp_path / "there").mkdir()
    (tmp_path / "link").symlink_to("there/file")
    assert copied("a.txt", "-o", "link", *options)[:2] == (0, "link\n")
    for mode in (0o600, 0o440):
        (tmp_path / "there/file").unlink()
        (tmp_path / "there/file").write_text("old")
        (tmp_path / "there/file").chmod(mode)
        assert copied("a.txt", "-o", "link", *options)[0] == 0
        assert (tmp_path / "link").is_symlink() and (tmp_path / "there/file").read_text() == "The cat.\n"
        assert (tmp_path / "there/file").stat().st_mode & 0o777 == mode
    part = FilePart(tmp_path / "there/file", {})
    part.begin()
    assert part.path.stat().st_mode & 0o777 == 0o640  # as closed while it is unfinished


# --- lines


def test_lines_come_out_as_they_are_whatever_is_around_them(tmp_path):
    assert translated(LINES, tmp_path) == LINES
    for lines in (b"", b"\n", b"The cat.", b"\r\n" * 3, b"\xef\xbb\xbf"):
        assert translated(lines, tmp_path, resume=False) == lines


def assert_equal_but_for_last_digits(lines, others):
    """The numbers of another batch differ in their last digits."""
    number = r"-?\d+\.\d+(?:e-\d+)?"
    assert re.split(number, lines) == re.split(number, others)
    numbers, expected = ([*map(float, re.findall(number, text))] for text in (lines, others))
    assert numbers == pytest.approx(expected, rel=1e-4, abs=1e-6)


def test_lines_are_as_of_single_calls(command, tmp_path, monkeypatch):
    """As text or as JSON; and as the lines of standard input."""
    monkeypatch.setattr(line_files, "WINDOW", 2)
    texts = ["The cat is tired.", "", "The owl lent the ladder to the crow. It was grateful.", "12345", "The bag."]
    translator = Translator.from_pretrained("storybook", threads=1)
    monkeypatch.setattr(Translator, "from_pretrained", lambda *_, **__: translator)
    (tmp_path / "in.en").write_text("\n".join(texts) + "\n")
    for options in (("--calibrated",), ("--jsonl", "--alternatives", "3", "--num-beams", "3")):
        code, out, _ = command("translate", *options, tmp_path / "in.en", "--lines", "-o", tmp_path / "out")
        lines = (tmp_path / "out").read_text("utf-8")
        assert (code, out) == (0, f"{tmp_path / 'out'}\n")
        streamed = command("translate", *options, stdin="\n".join(texts) + "\n")[1]
        assert_equal_but_for_last_digits(streamed, lines)
    for text, line in zip(texts, map(json.loads, lines.splitlines()), strict=True):
        one = translator(text, num_beams=3, alternatives=3)
        assert (line["source"], line["text"]) == (text, one.text)
        hypotheses = [{"text": each.text, "score": each.score, "log_prob": each.log_prob} for each in one.hypotheses]
        assert_equal_but_for_last_digits(json.dumps(line["hypotheses"]), json.dumps(hypotheses))
        assert line["score"] == (line["hypotheses"][0]["score"] if line["hypotheses"] else None)


def test_alignments_are_those_of_the_verb_align(command, tmp_path):
    """Of a line of several segments, those of each, by the numbers of its words in the whole line."""
    texts = ["The cat is tired.", "12345", "The owl lent the ladder to the crow.",
             "The cat is tired. The owl lent the ladder to the crow."]
    (tmp_path / "in").write_text("\n".join(texts) + "\n")
    code, _, err = command("translate", "storybook", "--jsonl", "--alignments", tmp_path / "in", "--lines",
                           "-o", tmp_path / "out")
    found = [json.loads(line) for line in (tmp_path / "out").read_text().splitlines()]
    assert code == 0 and err.startswith("word links fitted: ")
    (tmp_path / "en").write_text("".join(f"{texts[number]}\n" for number in (0, 2)))
    (tmp_path / "fr").write_text("".join(f"{found[number]['text']}\n" for number in (0, 2)))
    first, second = command("align", "storybook", "--src", tmp_path / "en", "--tgt", tmp_path / "fr")[1].splitlines()
    words = [len(split_words(text, language=code)) for text, code in ((texts[0], "en"), (found[0]["text"], "fr"))]
    shifted = [f"{int(i) + words[0]}-{int(j) + words[1]}" for i, j in (link.split("-") for link in second.split())]
    assert found[3]["text"] == f"{found[0]['text']} {found[2]['text']}"
    assert [one["alignment"] for one in found] == [first, "", second, " ".join([first, *shifted])] and first


def test_a_glossary_is_read_before_the_model(copied, tmp_path):
    (tmp_path / "a.txt").write_text("The cat.\n")
    (tmp_path / "terms.tsv").write_text("cat\tchat\nno tab\n")
    code, out, err = copied("a.txt", "--glossary", "terms.tsv")
    assert (code, out, err.count("\n")) == (2, "", 1) and "row 2" in err and "terms.tsv" in err
    (tmp_path / "terms.tsv").write_text("GitHub\tGitHub\ncat\tchat\n")
    code, out, err = copied("a.txt", "--glossary", "terms.tsv", "--to", "fr,de")
    assert (code, out, err.count("\n")) == (2, "", 1) and "terms.tsv translates terms to one language" in err
    assert not list(tmp_path.glob("a.*.txt"))


def test_a_file_that_changes_meanwhile_is_no_result(tmp_path, monkeypatch):
    lines = b"The cat.\n" * 9
    monkeypatch.setattr(LineFile, "checked", lambda path: LineFile(path, 9, hashlib.sha256(lines).hexdigest()))
    assert translated(lines, tmp_path) == lines
    (tmp_path / "out.fr").unlink()
    with pytest.raises(UserError, match="in.en changed while the command translated it"):
        translated(lines + b"The dog.\n", tmp_path)
    assert not (tmp_path / "out.fr").exists()


# --- what a kill leaves, and going on


def test_whatever_a_kill_leaves_is_completed(tmp_path):
    """Of any length of the unfinished output."""
    translated(LINES, tmp_path)
    part = FilePart(tmp_path / "out.fr", line_files.about(LineFile.checked(tmp_path / "in.en"), copying_lines()))
    for size in range(random.randrange(4), len(LINES) + 1, 4):
        (tmp_path / "out.fr").unlink()
        part.begin()
        part.path.write_bytes(LINES[:size])
        assert translated(LINES, tmp_path) == LINES
        assert sorted(path.name for path in tmp_path.iterdir()) == [".out.fr.seq2see.json", "in.en", "out.fr"]


def test_what_is_there_is_not_translated_again(tmp_path, monkeypatch):
    lines = b"".join(b"The cat %d.\n" % number for number in range(40))
    (tmp_path / "in.en").write_bytes(lines)
    part = FilePart(tmp_path / "out.fr", line_files.about(LineFile.checked(tmp_path / "in.en"), copying_lines()))
    part.begin()
    part.path.write_bytes(b"done\n" * 30 + b"half")
    assert translated(lines, tmp_path) == b"done\n" * 30 + b"".join(lines.splitlines(keepends=True)[30:])


def test_only_the_same_is_resumed(copied, tmp_path, monkeypatch):
    """The same input, model, options and form; and a finished output is left as it is."""
    (tmp_path / "a.txt").write_bytes(LINES)
    again = ("a.txt", "--lines", "-o", "b.txt")

    def begun(lines=b"The cat.\n"):
        (tmp_path / "b.txt").unlink(missing_ok=True)
        part = FilePart(tmp_path / "b.txt", line_files.about(LineFile.checked(tmp_path / "a.txt"), copying_lines()))
        part.path.unlink(missing_ok=True)
        part.begin()
        part.path.write_bytes(lines)

    begun()
    code, out, err = copied(*again)
    assert code == 1 and "b.txt.part has 1 lines of an unfinished translation; continue with --resume, or delete" in err
    for options, said in ((("--num-beams", "3"), "begun with options none, not num_beams 3;"),
                          (("--jsonl",), "begun with form none, not jsonl"),
                          (("--keep", "x"), "begun with options none, not keep x;")):
        code, out, err = copied(*again, "--resume", *options)
        assert code == 1 and said in err and err.endswith(
            "; repeat the command that began it, or delete b.txt.part to start again\n")
    (tmp_path / "a.txt").write_bytes(LINES + b".")
    assert "b.txt.part was begun with another input; repeat" in copied(*again, "--resume")[2]
    (tmp_path / ".b.txt.seq2see.json").unlink()
    said = copied(*again, "--resume")[2]
    assert ".b.txt.seq2see.json is missing or damaged, so b.txt.part cannot be resumed; delete b.txt.part" in said
    (tmp_path / "a.txt").write_bytes(LINES)
    begun()
    assert copied(*again, "--resume")[:2] == (0, "b.txt\n")
    with only_writer(FilePart(tmp_path / "b.txt", {})):
        assert "another process is writing b.txt.part" in copied(*again, "--resume")[2]


def test_an_output_is_complete_only_if_it_is_known_to_be_this_one(copied, tmp_path):
    """And not for the number of its lines: another is refused or, if -o names it, written again."""
    source, out, record = tmp_path / "a.txt", tmp_path / "a.fr.txt", tmp_path / ".a.fr.txt.seq2see.json"
    source.write_bytes(LINES)
    for left in ('{"x": 1}', "no JSON", "[]"):  # and no output
        record.write_text(left)
        code, _, err = copied("a.txt", "--resume")
        assert code == 0 and "is complete" not in err and out.read_bytes() == LINES
        out.unlink()
    assert copied("a.txt", "--resume")[0] == 0
    assert copied("a.txt", "--resume") == (0, "a.fr.txt\n", "a.fr.txt is complete\n")
    out.unlink()
    assert copied("a.txt", "--resume")[0] == 0 and out.read_bytes() == LINES
    changed = {"input": lambda: source.write_bytes(LINES.replace(b"cat", b"dog")),
               "output": lambda: out.write_bytes(b"another\n" * LINES.count(b"\n") + b"last"),
               "record": record.unlink, "option": lambda: None}
    for name, change in changed.items():
        change()
        options = ("--num-beams", "3") * (name == "option")
        before = out.read_bytes()
        code, _, err = copied("a.txt", "--resume", *options)
        assert (code, err.count("\n")) == (1, 1) and out.read_bytes() == before
        assert "a.fr.txt already exists and may be another translation; to overwrite it, name it with -o" in err
        assert copied("a.txt", "--resume", "-o", "a.fr.txt", *options)[0] == 0
        assert out.read_bytes() == source.read_bytes()
        assert "is complete" in copied("a.txt", "--resume", *options)[2]
    assert copied("a.txt", "--lines", "-o", "a.fr.txt")[0] == 0 and not record.exists()


@pytest.mark.parametrize("step", ["finish", "replace"])
def test_a_kill_while_an_output_is_finished_leaves_it_to_be_resumed(step, copied, tmp_path, monkeypatch):
    (tmp_path / "a.txt").write_bytes(LINES)
    with monkeypatch.context() as killed:
        killed.setattr("seq2see.cli.translating.part." + {"finish": "FilePart.finish", "replace": "os.replace"}[step],
                       lambda *_, **__: sys.exit(9))
        assert copied("a.txt", "--resume")[0] == 9
    assert not (tmp_path / "a.fr.txt").exists()
    (tmp_path / "a.fr.txt").write_text("mine")
    assert "may be another translation" in copied("a.txt", "--resume")[2]
    (tmp_path / "a.fr.txt").unlink()
    code, _, err = copied("a.txt", "--resume")
    assert code == 0 and "is complete" not in err and (tmp_path / "a.fr.txt").read_bytes() == LINES


def test_a_full_disk_leaves_lines_to_go_on_from(copied, tmp_path, monkeypatch):
    lines = b"".join(b"The cat %d.\n" % number for number in range(300))
    monkeypatch.setattr(line_files, "WINDOW", 16)
    (tmp_path / "a.txt").write_bytes(lines)
    with files_of_at_most(2_000):
        code, out, err = copied("a.txt", "--lines")
    assert (code, out) == (1, "") and err.endswith(
        "error: File too large: a.fr.txt.part; the lines translated so far are kept: free disk"
        " space, then continue with --resume\n")
    assert not (tmp_path / "a.fr.txt").exists()
    assert copied("a.txt", "--resume")[0] == 0 and (tmp_path / "a.fr.txt").read_bytes() == lines


def test_a_line_that_a_model_refuses_is_named_and_those_before_it_stay(copied, tmp_path, monkeypatch):
    translations = TranslationRequest.translations

    def refuse(asked, texts):
        if "No." in texts:
            raise UserError("the text is too long")
        return translations(asked, texts)

    monkeypatch.setattr(line_files, "WINDOW", 4)
    monkeypatch.setattr(TranslationRequest, "translations", refuse)
    (tmp_path / "a.txt").write_text("The cat.\n" * 9 + "No.\nThe end.\n")
    code, out, err = copied("a.txt", "--lines")
    assert (code, out, err) == (1, "", "seq2see: error: a.txt, line 10: the text is too long\n")
    assert (tmp_path / "a.fr.txt.part").read_text() == "The cat.\n" * 9


# --- kills


FORKS = get_context("forkserver")
FORKS.set_forkserver_preload([__name__])


def copy_file(source, out, pooled) -> None:
    line_files.POOLED, line_files.WINDOW = pooled, 16
    translate_lines(LineFile.checked(source), out, copying_lines(), copying_lines, resume=True, overwrite=False)


@pytest.mark.long
@pytest.mark.skipif(sys.platform != "linux", reason="forks")
@pytest.mark.parametrize("pooled", [10**9, pytest.param(0, marks=pytest.mark.long)], ids=["threads", "processes"])
def test_killed_at_random_moments_no_line_is_lost_or_doubled(tmp_path, pooled):
    """Wherever it was; and the processes of one that was killed end too."""
    source, out = tmp_path / "in.en", tmp_path / "out.fr"
    source.write_bytes(b"".join(b"The cat %d is tired.\n" % number for number in range(600)))
    part, kills = FilePart(out, {}).path, 0
    for share in (0, 0.2, 0.5, 0.9):
        process = FORKS.Process(target=copy_file, args=(source, out, pooled))
        process.start()
        wanted = source.stat().st_size * (share + random.random() / 10)
        while process.is_alive() and (not part.exists() or part.stat().st_size < wanted):
            time.sleep(0.001)
        others = []
        with contextlib.suppress(psutil.NoSuchProcess):  # it may have ended by now
            others = psutil.Process(process.pid).children(recursive=True)
        process.kill()
        process.join()
        kills += process.exitcode == -signal.SIGKILL
        assert not psutil.wait_procs(others, timeout=60)[1]
    last = FORKS.Process(target=copy_file, args=(source, out, pooled))
    last.start()
    last.join()
    assert kills >= 2 and last.exitcode == 0 and out.read_bytes() == source.read_bytes()
    assert sorted(path.name for path in tmp_path.iterdir()) == [".out.fr.seq2see.json", "in.en", "out.fr"]


# --- progress


@pytest.mark.parametrize("terminal", [False, True])
def test_rate_and_time_left_are_told(terminal):
    stream, now = io.StringIO(), [0.0]
    stream.isatty = lambda: terminal
    progress = Progress("a.fr", 1_000_000, "lines", done=200_000, stream=stream, clock=lambda: now[0])
    for seconds in (0.1, 40.0, 80.0):
        now[0] = seconds
        progress.advance(100_000)
    now[0] = 160.0
    progress.advance(500_000)
    progress.end()
    said = [line for line in stream.getvalue().replace("\r\x1b[K", "\n").splitlines() if line]
    assert said == ["a.fr: 400,000 of 1,000,000 lines, 5,000 lines/s, 0:02:00 left",
                    "a.fr: 500,000 of 1,000,000 lines, 3,750 lines/s, 0:02:13 left",
                    "a.fr: 1,000,000 lines in 0:02:40, 5,000 lines/s"]
    assert stream.getvalue().count("\n") == (1 if terminal else 3)
