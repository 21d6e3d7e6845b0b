"""The verb `translate`: a line for a line, in order, at once; what is wrong in one line with its code."""

import os
import subprocess
import sys
from dataclasses import replace

import pytest
from tiny import SENTENCES

from seq2see.cli.lines import line_by_line, windows
from seq2see.cli.translating.file_report import print_remarks
from seq2see.errors import UserError
from seq2see.translate.remarks import CUT_OFF, UNKNOWN, UNLIKELY, Doubts, Remarks

PIPES = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}


@pytest.fixture
def run(command, folder):
    """Translate lines with the tiny Seq2See; gives the exit code, stdout and stderr."""
    return lambda stdin, *arguments: command("translate", folder, "--engine", "torch", *arguments, stdin=stdin)


def test_a_line_comes_out_for_each_line_in_in_order(run, translator, monkeypatch):
    monkeypatch.setattr("seq2see.cli.lines.LINES_AT_ONCE", 3)
    lines = [SENTENCES[0], "", "The box.", "  ", "An owl.", SENTENCES[1], "The cat\u2028did."]
    expected = [" ".join(translator(line, num_beams=1).text.splitlines()) for line in lines]
    for end, last in (("\n", "\n"), ("\r\n", "\r\n"), ("\n", "")):
        code, out, err = run(end.join(lines) + last, "--num-beams", "1")
        assert (code, err.count("4 of 7 lines: "), err.count("5 of 7 lines: ")) == (0, 1, 1)
        assert out == "\n".join(expected) + "\n"


def test_lines_of_unknown_words_are_counted_at_the_end(run, monkeypatch):
    monkeypatch.setattr("seq2see.cli.lines.LINES_AT_ONCE", 2)
    code, out, err = run("The cat.\n\nThe ze\x1bbra.\nThe cat did.\nAn owl.\n")
    assert (code, out.count("\n")) == (0, 5) and "\x1b" not in err
    said = f"2 of 5 lines: {UNKNOWN} (first: line 3: ze\\x1bbra)"
    assert [line for line in err.splitlines() if UNKNOWN in line] == [said]


def test_a_check_counts_more_doubts(run):
    code, out, err = run("The cat did not cross the street.\n")
    checked = run("The cat did not cross the street.\n", "--check")
    assert checked[:2] == (0, out) == (code, out)
    assert UNLIKELY in checked[2] and UNLIKELY not in err, "a random net is sure of nothing"


@pytest.mark.parametrize(("texts", "said"), [
    ("Je suis très fatigué.\nOù est la gare ?", "the text seems to be French, and was read as English: "),
    ("The cat is tired.\nWhere is Gruyères?", None), ("12\nTom", None),
])
def test_texts_in_another_language_are_told(texts, said, capsys):
    remarks = Remarks("lines")
    for number, text in enumerate(texts.splitlines(), start=1):
        remarks.note(number, Doubts(warnings=("unchanged",)), text=text)
    print_remarks(remarks, source="en")
    assert [line.startswith(said or "") for line in capsys.readouterr().err.splitlines()[1:]] == [True] * bool(said)
    print_remarks(remarks)
    assert capsys.readouterr().err.count("\n") == 1, "the language is not known"


def test_translations_without_their_end_are_counted(translator, capsys):
    result, remarks = translator("The cat."), Remarks("lines")
    for number, finished in enumerate((True, False, False), start=1):
        ended = replace(result, hypotheses=(replace(result.hypotheses[0], finished=finished),))
        remarks.note(number, Doubts.of([ended]))
    print_remarks(remarks)
    assert f"2 of 3 lines: {CUT_OFF} (first: line 2)\n" in capsys.readouterr().err


def test_a_byte_order_mark_is_no_text(run):
    marked = b"\xef\xbb\xbfThe cat.\n\xef\xbb\xbfAn owl.\n"  # two files, joined
    assert run(marked) == run("The cat.\nAn owl.\n")


def test_a_translation_with_line_ends_stays_on_one_line(run, monkeypatch):
    monkeypatch.setattr("seq2see.translate.codec.TokenizerCodec.decode", lambda codec, ids: "a\nb\r\n\u2028c\x0b")
    assert run("The cat.\n")[1] == "a b  c\n"


def test_the_language_is_the_one_asked_for(run, translator):
    code, out, _ = run("The cat.\n", "--from", "en", "--to", "de")
    assert (code, out) == (0, " ".join(translator("The cat.", target="de").text.splitlines()) + "\n")
    code, out, err = run("The cat.\n", "--to", "xx")
    assert (code, out) == (1, "") and "choose en to fr, en to de" in err and err.count("\n") == 1


def test_each_of_several_targets_has_a_column_in_the_order_asked_for(run, translator):
    texts = ["The cat.", "", "12345", "An owl\tlent."]
    own = [[" ".join(one.text.split()) for one in translator(texts, target=code)] for code in ("de", "fr")]
    code, out, err = run("\n".join(texts) + "\n", "--from", "English", "--to", "German,fra")
    columns = [[" ".join(cell.split()) for cell in line.split("\t")] for line in out.splitlines()]
    assert (code, columns) == (0, [list(both) for both in zip(*own, strict=True)])
    code, out, err = run("The cat.\n", "--to", "fr,Frensh")
    assert (code, out) == (1, "") and "does not translate to Frensh; choose en to fr, en to de" in err


def test_what_a_pattern_matches_stays(run):
    code, out, _ = run("The Zqxv did not cross.\n", "--keep", r"Zq\w+")
    assert code == 0 and "Zqxv" in out
    code, out, err = run("", "--keep", "[")
    assert (code, out, err.count("\n")) == (2, "", 1) and "keep is not a regular expression" in err


def test_lines_without_words_come_out_as_they_are(run):
    assert run("") == (0, "", "")
    lines = "12345\n...\n\n https://x.org/a \n{x} %s\n😀\n"
    assert run(lines) == (0, lines, "")


@pytest.mark.parametrize(("bad", "said"), [
    (b"b\xe9b\xe9", "line 3 of the input, byte 2: not UTF-8"),
    (b"a" * 1_001, "line 3 of the input: a word has 1,001 characters"),
])
def test_a_line_that_cannot_be_translated_is_named_after_those_before_it(run, bad, said):
    code, out, err = run(b"The cat.\nThe box.\n" + bad + b"\nThe owl.\n")
    assert code == 1 and out.count("\n") == 2 and said in err and err.count("\n") == 1


def test_a_line_that_a_model_refuses_is_named():
    def work(texts):
        if "b" in texts:
            raise UserError("the text is too long")
        return texts

    lines = line_by_line(work, [(4, "a"), (5, "b"), (6, "c")])
    assert next(lines) == "a"
    with pytest.raises(UserError, match="line 5: the text is too long"):
        next(lines)


# --- what is read when


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


def test_a_pipe_in_which_nothing_comes_keeps_no_error_back():
    with subprocess.Popen([sys.executable, "-m", "seq2see", "translate", "runs/none"], **PIPES) as process:
        assert process.wait(60) == 1 and b"there is no folder runs/none" in process.stderr.read()


def test_a_file_is_read_from_where_it_stands(tmp_path):
    path = tmp_path / "in.txt"
    path.write_bytes(b"one\n" + b"two\n" * 20_000)
    with path.open("rb") as stream:
        stream.readline()
        groups = list(windows(stream, str))
    assert [line for lines in groups for line in lines] == [(number, "two") for number in range(1, 20_001)]
    assert 1 < max(map(len, groups)) <= 256


def test_the_beginning_of_a_file_is_refused_at_once(tmp_path):
    path = tmp_path / "in.txt"
    path.write_bytes(b"one\n" * 5_000 + b"b\xe9\n")
    with path.open("rb") as stream, pytest.raises(UserError, match="line 5001 of the input, byte 2: not UTF-8"):
        windows(stream, str)


def test_a_refused_line_ends_it_though_more_may_come():
    """Who writes to it leaves the pipe open."""
    command = [sys.executable, "-m", "seq2see", "translate", "storybook", "--to", "fr"]
    with subprocess.Popen(command, **PIPES) as process:
        process.stdin.write(b"The cat.\n" + b"a" * 1_001 + b"\n")
        process.stdin.flush()
        assert process.stderr.read().decode().count("\n") == 1
        assert process.wait(60) == 1
