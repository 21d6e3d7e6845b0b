"""The verbs `translate` and `look`: a line for a line, in order, at once; every fault in one line with its code."""

import io
import json
import os
import shutil
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
from tiny import SENTENCES

from seq2see import Translator, lens
from seq2see.cli.command import main
from seq2see.cli.lines import windows
from seq2see.cli.translate import CUT_OFF, UNKNOWN, Remarks
from seq2see.errors import UserError
from seq2see.lens import Trace, measure_trust, to_terminal
from seq2see.lens.trust import UNMEASURED
from seq2see.lens.wording import printable
from seq2see.translate.checkpoint import fingerprint
from seq2see.translate.export import weights_hash


@pytest.fixture
def run(monkeypatch, capsysbinary, folder):
    """Run a verb on the tiny Seq2See with `stdin` bytes; gives the exit code, stdout and stderr."""

    def call(verb, *arguments, stdin=b""):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        engine = [] if verb == "score" else ["--engine", "torch"]
        code = main([verb, str(folder), *engine, *arguments])
        out, err = capsysbinary.readouterr()
        return code, out.decode(), err.decode()

    return call


def test_a_line_comes_out_for_each_line_in_in_order(run, translator, monkeypatch):
    monkeypatch.setattr("seq2see.cli.lines.LINES_AT_ONCE", 3)
    lines = [SENTENCES[0], "", "The box.", "  ", "An owl.", SENTENCES[1], "The cat\u2028did."]
    expected = [" ".join(translator(line, num_beams=1).text.splitlines()) for line in lines]
    for end, last in (("\n", "\n"), ("\r\n", "\r\n"), ("\n", "")):
        stdin = (end.join(lines) + last).encode()
        code, out, err = run("translate", "--num-beams", "1", stdin=stdin)
        assert (code, err.count("in 4 of 7 lines"), err.count("in 5 of 7 lines")) == (0, 1, 1)
        assert out == "\n".join(expected) + "\n"


def test_lines_of_unknown_words_are_counted_at_the_end(run, monkeypatch):
    monkeypatch.setattr("seq2see.cli.lines.LINES_AT_ONCE", 2)
    code, out, err = run("translate", stdin=b"The cat.\n\nThe \x1bzebra.\nThe cat did.\nAn owl.\n")
    assert (code, out.count("\n")) == (0, 5) and "\x1b" not in err
    said = f"{UNKNOWN}, in 2 of 5 lines (first: line 3: \\x1b, zebra)"
    assert [line for line in err.splitlines() if line.startswith(UNKNOWN)] == [said]


def test_what_has_no_remarks_is_translated_without_the_lens_whose_import_takes_long():
    code = ("import sys; from seq2see.cli.translate import Remarks; Remarks().print();"
            "sys.exit(bool({'numpy', 'torch', 'transformers', 'seq2see.lens'} & set(sys.modules)))")
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


def test_translations_without_their_end_are_counted_and_words_shown_are_few(translator, capsys):
    result = translator("The cat.")
    remarks = Remarks()
    for number, finished in enumerate((True, False, False), start=1):
        remarks.note(number, replace(result, hypotheses=(replace(result.hypotheses[0], finished=finished),)))
    words = [f"zebra{letter}" for letter in "abcdefghij"]
    remarks.note(1_000, replace(result, source_text=" ".join(words * 2), hypotheses=()))
    remarks.note(1_001, replace(result, source_text="zebra", seen=None, hypotheses=()))
    remarks.print()
    shown = f"{', '.join(words)[:60]}…"
    assert capsys.readouterr() == ("", f"{CUT_OFF}, in 2 of 1,001 lines (first: line 2)\n"
                                       f"{UNKNOWN}, in 1 of 1,001 lines (first: line 1,000: {shown})\n")


def test_nothing_in_nothing_out(run):
    assert run("translate") == (0, "", "")


def test_a_byte_order_mark_is_no_text(run):
    marked = b"\xef\xbb\xbfThe cat.\n\xef\xbb\xbfAn owl.\n"  # two files, joined
    assert run("translate", stdin=marked) == run("translate", stdin=b"The cat.\nAn owl.\n")


def test_a_translation_with_line_ends_stays_on_one_line(run, monkeypatch):
    monkeypatch.setattr("seq2see.translate.codec.TokenizerCodec.decode", lambda codec, ids: "a\nb\r\n\u2028c\x0b")
    assert run("translate", stdin=b"The cat.\n")[1] == "a b  c\n"


def test_the_language_is_the_one_asked_for(run, translator):
    code, out, _ = run("translate", "--from", "en", "--to", "de", stdin=b"The cat.\n")
    assert (code, out) == (0, " ".join(translator("The cat.", target="de").text.splitlines()) + "\n")
    code, out, err = run("translate", "--to", "xx", stdin=b"The cat.\n")
    assert (code, out) == (1, "") and "choose en to fr, en to de" in err and err.count("\n") == 1


def test_a_line_that_is_not_utf8_is_named_after_those_before_it(run):
    code, out, err = run("translate", stdin=b"The cat.\nThe box.\nb\xe9b\xe9\nThe owl.\n")
    assert code == 1 and out.count("\n") == 2
    assert "line 3 of the input, byte 2: not UTF-8" in err and err.count("\n") == 1


@pytest.mark.parametrize("verb", ["translate", "score"])
@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be"])
def test_utf_16_is_told_as_such(run, verb, encoding):
    code, out, err = run(verb, stdin="The cat.\tLe chat.\nAn owl.\tx\n".encode(encoding))
    assert (code, out) == (1, "") and err.count("\n") == 1
    assert "line 1 of the input: not UTF-8 but UTF-16; convert it with iconv -f UTF-16 -t UTF-8" in err


@pytest.mark.parametrize("verb", ["translate", "score"])
@pytest.mark.parametrize(("text", "told"), [("a" * 100_000, "a word has 100,000 characters: at most 1,000"),
                                            ("The cat. " * 111_112, "a text has 1,000,00")])
def test_what_is_far_too_long_is_refused_in_one_line(run, verb, text, told):
    code, out, err = run(verb, stdin=f"{text}\tx\n".encode() if verb == "score" else f"{text}\n".encode())
    assert (code, out) == (1, "") and err.count("\n") == 1 and told in err and len(err) < 200


def test_lines_without_words_come_out_as_they_are(run):
    lines = "12345\n...\n\n https://x.org/a \n{x} %s\n😀\n"
    assert run("translate", stdin=lines.encode()) == (0, lines, "")
    for text in ("", " ", "12345"):
        code, out, err = run("look", text)
        assert (code, out) == (1, "") and "the text has no words" in err


def test_a_line_that_cannot_be_translated_is_named_after_those_before_it(run):
    marks = "a" + "\u0301" * 100  # one character, more pieces than the model has positions
    code, out, err = run("translate", stdin=f"The cat.\n{marks}\nThe owl.\n".encode())
    assert code == 1 and out.count("\n") == 1
    assert "line 2: the text" in err and "too long" in err and err.count("\n") == 1


def test_a_line_too_long_is_translated_in_parts(run):
    code, out, err = run("translate", stdin=b"The cat.\n" + b"box " * 100 + b"\nThe owl.\n")
    assert code == 0 and out.count("\n") == 3 and "too long" not in err


def test_what_has_arrived_is_translated_without_waiting_for_more():
    read, write = os.pipe()
    with open(read, "rb") as stream, open(write, "wb", buffering=0) as writer:
        writer.write(b"one\n")
        groups = windows(stream, str)
        assert next(groups) == [(1, "one")]
        writer.write(b"two\n")
        assert next(groups) == [(2, "two")]
        writer.write(b"thr")
        writer.close()
        assert list(groups) == [[(3, "thr")]]


@pytest.mark.parametrize("verb", ["translate", "score"])
def test_the_first_line_of_a_pipe_is_refused_before_a_model_is_looked_for(verb):
    """Though the pipe stays open."""
    command = [sys.executable, "-m", "seq2see", verb, "runs/none"]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(command, **pipes) as process:
        process.stdin.write("The cat.\n".encode("utf-16"))
        process.stdin.flush()
        told = process.stderr.read().decode()
        assert process.wait(60) == 1 and told.count("\n") == 1 and "line 1 of the input: not UTF-8 but UTF-16" in told


def test_a_pipe_in_which_nothing_comes_keeps_no_error_back():
    command = [sys.executable, "-m", "seq2see", "translate", "runs/none"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.wait(30) == 1 and b"there is no folder runs/none" in process.stderr.read()


def test_a_file_is_read_from_where_it_stands(tmp_path):
    path = tmp_path / "in.txt"
    path.write_bytes(b"one\n" + b"two\n" * 20_000)
    with path.open("rb") as stream:
        stream.readline()
        read = [line for lines in windows(stream, str) for line in lines]
    assert read == [(number, "two") for number in range(1, 20_001)]


def test_the_beginning_of_a_file_is_refused_at_once(tmp_path):
    path = tmp_path / "in.txt"
    path.write_bytes(b"one\n" * 5_000 + b"b\xe9\n")
    with path.open("rb") as stream, pytest.raises(UserError, match="line 5001 of the input, byte 2: not UTF-8"):
        windows(stream, str)


def test_a_long_input_goes_in_large_windows():
    groups = list(windows(io.BytesIO(b"x\n" * 3000), str))
    assert [number for lines in groups for number, _ in lines] == list(range(1, 3001))
    assert max(map(len, groups)) <= 256


def test_a_refused_line_ends_it_though_more_may_come(folder):
    """Who writes to it leaves the pipe open, so that the reading thread still waits."""
    command = [sys.executable, "-m", "seq2see", "translate", str(folder), "--num-beams", "1"]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(command, **pipes) as process:
        process.stdin.write(b"The cat.\na" + "\u0301".encode() * 100 + b"\n")  # one character, of too many pieces
        process.stdin.flush()
        assert process.stderr.read().decode().count("\n") == 1
        assert process.wait(60) == 1


def test_a_reader_who_leaves_ends_it_quietly(folder):
    command = [sys.executable, "-m", "seq2see", "translate", str(folder), "--num-beams", "1"]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(command, **pipes) as process:
        process.stdin.write(b"The cat.\n" * 400)
        process.stdin.flush()
        assert process.stdout.readline()
        process.stdout.close()
        process.stdin.write(b"The cat.\n" * 400)
        process.stdin.close()
        assert process.stderr.read() == b""
        assert process.wait(timeout=60) == 141


def test_look_prints_the_translation_and_one_head(run, translator):
    code, out, err = run("look", "The cat zebra.", "--layer", "1", "--head", "0", "--kind", "encoder")
    assert code == 0
    assert "Encoder, layer 1 of 0-1, head 0 of 0-1" in out and "\x1b" not in out
    assert "zebra" in err and "not seen" in err


def test_look_writes_numbers_that_are_the_traces(run, translator, tmp_path):
    path = tmp_path / "x.json"
    code, out, err = run("look", "The cat.", "--to", "de", "--alternative", "2", "--out", str(path))
    assert (code, out) == (0, "") and f"wrote {path}" in err
    [expected] = translator.look(translator("The cat.", target="de", alternatives=3), alternative=2)
    np.testing.assert_array_equal(Trace.load(path).cross["raw"], expected.cross["raw"])
    assert json.loads(path.read_text())["target_ids"] == list(expected.target_ids)


def test_look_draws_the_view_rows_and_words_asked_for(run, translator, folder):
    asked = ["--view", "norm", "--kind", "decoder", "--layer", "1", "--head", "1", "--words", "--rows", "reads"]
    code, out, _ = run("look", "The cat did not cross.", *asked)
    [trace] = translator.look(translator("The cat did not cross."), views=["raw", "norm"])
    trace = replace(trace, model=str(folder))  # a server among the tests calls it by another name
    wanted = to_terminal(trace, view="norm", kind="decoder", layer=1, head=1, words=True, rows="reads")
    assert code == 0 and out == f"{printable(trace.target_text)}\n\n{wanted}\n"


@pytest.mark.parametrize("name", ["x.png", "x.svg", "x.npz"])
def test_look_writes_pictures_and_all_numbers(run, tmp_path, name):
    path = tmp_path / name
    assert run("look", "The cat.", "--view", "left_out", "--out", str(path))[0] == 0
    if name == "x.npz":
        assert Trace.load(path).views == ("raw", "left_out") and Trace.load(path).logits is not None
    else:
        start = path.read_bytes()[:8]
        assert start == b"\x89PNG\r\n\x1a\n" or b"<?xml" in start
        assert name == "x.png" or "Source words left out" in path.read_text("utf-8")


def test_a_page_has_every_view_or_the_one_asked_for(run, tmp_path):
    path = tmp_path / "x.html"
    for asked, held in (([], lens.VIEWS), (["--view", "norm"], ("raw", "norm"))):
        assert run("look", "The cat.", *asked, "--out", str(path))[0] == 0
        data = json.loads(path.read_text("utf-8").partition('id="data">')[2].partition("</script>")[0])
        [trace] = data["first"]["traces"]
        assert set(trace["maps"]["cross"]) == set(held) and data["start"]["view"] == held[-1 if asked else 0]


def test_trust_is_shown_for_the_weights_it_was_measured_on(run, folder, translator, tmp_path):
    [trace] = translator.look(translator("The cat did."), views=["raw", "left_out"])
    assert trace.trust is None and UNMEASURED in run("look", "The cat.")[1]
    copy = shutil.copytree(folder, tmp_path / "run")
    weights = fingerprint(copy)
    made = measure_trust([trace], [trace] * 4, dev_gold=None, test_gold=None, measured_on="four", weights=weights)
    made.save(copy / "trust.json")
    assert main(["look", str(copy), "--engine", "torch", "The cat.", "--out", str(tmp_path / "x.json")]) == 0
    assert Trace.load(tmp_path / "x.json").trust == made
    assert fingerprint(copy) == weights and weights_hash(copy) == weights_hash(folder), "no part of the model"
    replace(made, weights="of others").save(copy / "trust.json")
    assert Translator.from_pretrained(copy, engine="torch").trust is None
    (copy / "trust.json").write_text("[]")
    with pytest.raises(UserError, match="measure them again"):
        _ = Translator.from_pretrained(copy, engine="torch").trust


def test_look_shows_every_part_of_a_text(run, translator, tmp_path):
    text = "The cat.\nThe box did not fit."
    first, second = translator.look(translator(text))
    assert first.source_text == "The cat." and second.source_text == "The box did not fit."
    out = run("look", text)[1]
    assert out == run("look", first.source_text)[1] + "\n" + run("look", second.source_text)[1]
    code, out, err = run("look", text, "--out", str(tmp_path / "maps.npz"))
    assert (code, out) == (0, "") and err.count("wrote") == 2 and not (tmp_path / "maps.npz").exists()
    for number, trace in ((1, first), (2, second)):
        written = Trace.load(tmp_path / f"maps-{number}.npz")
        np.testing.assert_allclose(written.maps("cross"), trace.maps("cross"), atol=1e-5)


def test_look_writes_a_page(run, tmp_path):
    path = tmp_path / "x.html"
    assert run("look", "The zebra.", "--out", str(path))[0] == 0
    page = path.read_text(encoding="utf-8")
    assert page.startswith("<!doctype html>") and '"unknown_words": ["zebra"]' in page


@pytest.mark.parametrize(
    ("arguments", "code", "told"),
    [
        (["The cat.", "--out", "x.pdf"], 2, "one of .html (a page), .json (numbers), .npz (numbers), .png (a picture)"),
        (["The cat.", "--view", "rollout", "--head", "0"], 2, "view rollout has no heads"),
        (["The cat.", "--view", "left_out", "--kind", "decoder"], 2, "has no decoder map"),
        (["The cat.", "--view", "left_out", "--layer", "1", "--out", "x.html"], 2, "neither layers nor heads"),
        (["The cat.", "--kind", "encoder", "--layer", "2", "--out", "x.json"], 2, "no layer 2 here: expected 0 to 1"),
        (["The cat.", "--kind", "encoder", "--rows", "reads"], 2, "is no step that reads"),
        (["The cat.", "--out", "no/such/x.html"], 1, "cannot write no/such/x.html (No such file or directory)"),
        (["The cat.", "--layer", "7"], 2, "there is no layer 7 here: expected 0 to 2"),
        (["The cat.", "--head", "2"], 2, "there is no head 2 here: expected 0 to 1"),
        (["The cat.", "--alternative", "99"], 2, "alternatives 100: expected a whole number from 1 to 64"),
        (["   "], 1, "the text has no words"),
        (["The cat.", "--to", "hi"], 1, "choose en to fr, en to de"),
    ],
)
def test_look_refuses_in_one_line(run, arguments, code, told):
    got, out, err = run("look", *arguments)
    assert (got, out) == (code, "")
    assert told in err and err.count("\n") == 1
