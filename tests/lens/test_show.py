"""A drawing shows the weights as they are, named by their tokens, and nothing in a text can break out of it."""

import base64
import json
import re

import numpy as np
import pytest

from seq2see.errors import UserError
from seq2see.lens import to_html, to_terminal, trace_hypotheses
from seq2see.lens.show.trace_page import script, trace_record
from seq2see.lens.show.wording import label, labels
from seq2see.passes.attention_kinds import KINDS
from seq2see.tokenizer.words import TokenSpan


def cells(drawing, trace, kind):
    """The numbers of a terminal drawing, row by row, blocks joined; `.` is 0."""
    names = labels(trace.row_tokens(kind))
    assert all(len(name) <= 13 for name in names), "choose a text of short tokens"
    margin = max(map(len, names)) + 1
    plain = re.sub(r"\x1b\[[0-9;]*m", "", drawing).splitlines()
    rows, drawn = [[] for _ in names], [line for line in plain[4:-3] if line[:1].strip()]  # of headers all are indented
    for number, line in enumerate(drawn):
        assert line.startswith(names[number % len(names)])
        rows[number % len(names)] += [int(cell.replace(".", "0")) for cell in re.findall("...", line[margin:])]
    return rows


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("colour", "width"), [(True, 300), (False, 50)])
def test_the_terminal_shows_the_weights_in_hundredths(trace, kind, colour, width):
    drawing = to_terminal(trace, kind=kind, layer=1, head=1, colour=colour, width=width)
    weights = trace.maps(kind)[1, 1]
    for t, (row, expected) in enumerate(zip(cells(drawing, trace, kind), weights, strict=True)):
        wanted = expected[: t + 1] if kind == "decoder" else expected
        assert row == [round(float(w) * 100) for w in wanted]
    assert ("\x1b[" in drawing) == colour
    assert colour or max(map(len, drawing.splitlines()[4:-3])) <= width


def test_labels_show_spaces_and_hide_no_control_character():
    assert label(" the") == "▁the"
    assert label("a\x1b[31m\n\u202e") == "a\\x1b[31m\\n\\u202e"
    tokens = [TokenSpan("tr", 0, 0, 2, False), TokenSpan("aver", 0, 2, 6, False), TokenSpan("se", 1, 7, 9, False),
              TokenSpan("</s>", None, 9, 9, True), TokenSpan("</s>", None, 9, 9, True)]
    assert labels(tokens) == ["tr", "·aver", "se", "</s>", "</s>"]


@pytest.mark.parametrize(("tag", "source", "target"), [
    ("fra_Latn", "from French", "to French"), ("__fr__", "from French", "to French"), ("zh_CN", "from Chinese (China)",
                                                                                  "to Chinese (China)"),
    (">>fra<<", "to French", "to French"), ("<2de>", "to German", "to German"), ("</s>", "</s>", "</s>"),
    ("translate", "translate", "translate"),
])
def test_a_language_tag_is_named_as_on_the_page(tag, source, target):
    token = [TokenSpan(tag, None, 0, 0, True)]
    assert labels(token, source=True) == [source] and labels(token) == [target]
    assert labels([TokenSpan(tag, 0, 0, 5, False)]) == [tag], "a word of the text is none"


def unpacked(sent):
    return np.frombuffer(base64.b64decode(sent["data"]), sent["dtype"]).reshape(sent["shape"])


@pytest.mark.parametrize("kind", KINDS)
def test_the_browser_is_given_every_number_to_three_digits(full_trace, kind):
    sent = trace_record(full_trace)["maps"][kind]
    assert set(sent) - {"left_out"} == set(getattr(full_trace, kind)) and ("left_out" in sent) == (kind == "cross")
    for view, packed in sent.items():
        wanted = full_trace.left_out if view == "left_out" else full_trace.maps(kind, view)
        np.testing.assert_allclose(unpacked(packed), wanted, rtol=1e-3, atol=1e-4)


def test_words_and_tokens_are_the_trace_s_own(trace):
    sent = trace_record(trace)
    sides = (("source", trace.source, trace.source_words), ("target", trace.target, trace.target_words))
    for side, tokens, words in sides:
        assert sent["labels"][side] == labels(tokens)
        assert [one["text"] for one in sent["words"][side] if one["word"] is not None] == [word.text for word in words]
        assert [i for one in sent["words"][side] for i in one["pieces"]] == list(range(len(tokens)))


def test_a_drawing_too_large_for_a_browser_is_refused(trace, monkeypatch):
    monkeypatch.setattr("seq2see.lens.show.trace_page.CELLS_DRAWN", 100)
    with pytest.raises(UserError, match=r"too many to draw"):
        to_html(trace)


def test_the_page_is_one_file_and_text_stays_data(seq2see):
    """Nothing in a text ends the script, and no escape sequence reaches the terminal."""
    model, tokenizer = seq2see
    attack = "</script><script>alert(1)</script>\x1b]0;x\x07"
    target = tokenizer.encode_target(attack, language="fr")
    [made] = trace_hypotheses(model, tokenizer, [attack], [target], model_name=attack)
    assert not set(to_terminal(made)) & {"\x1b", "\x07"}
    page = to_html(made)
    fetching = page.replace("http://www.w3.org/2000/svg", "")  # the name of a kind of picture
    assert not re.search(r'https?://|//cdn|<link|src=(?!"\$\{)|@import', fetching)
    assert page.count("</script>") == 2 and attack not in page
    data = re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)
    assert json.loads(data[1])["first"]["traces"][0]["source_text"] == attack
    assert '<script>alert' not in made._repr_html_() and "sandbox" in made._repr_html_()


WRITTEN = (r"element\.painted = (?:text|String\(markup\))|String\((?:html|frame|FRAME)|target\.dataset\.(?:tip|tell)"
           r"|said$|was$")


def test_every_value_in_the_drawing_s_html_is_escaped():
    """What stands in innerHTML is made by `html`, or by a template with nothing to fill in."""
    for line in re.findall(r"innerHTML = ([^;]+);", script()):
        assert re.match(WRITTEN, line), line
