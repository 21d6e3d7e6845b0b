"""A drawing shows the weights as they are, named by their pieces, and nothing in a text can break out of it."""

import base64
import json
import re

import numpy as np
import pytest

from seq2see.errors import UserError
from seq2see.lens import to_html, to_terminal
from seq2see.lens.explorer import measured_record, script, style, trace_record
from seq2see.lens.kinds import KINDS
from seq2see.lens.roles import HeadRole
from seq2see.lens.summary import sink_shares
from seq2see.lens.wording import label, labels
from seq2see.tokenizer.words import Piece


def cells(drawing, trace, kind):
    """The numbers of a terminal drawing, row by row, blocks joined; `.` is 0."""
    names = labels(trace.row_pieces(kind))
    assert all(len(name) <= 13 for name in names), "choose a text of short pieces"
    margin = max(map(len, names)) + 1
    plain = re.sub(r"\x1b\[[0-9;]*m", "", drawing).splitlines()
    rows = [[] for _ in names]
    for block in "\n".join(plain[4:-3]).split("\n\n"):
        for row, line in zip(rows, block.splitlines()[-len(names) :], strict=True):
            row += [int(cell.replace(".", "0")) for cell in re.findall("...", line[margin:])]
    return rows


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("colour", "width"), [(False, 300), (True, 300), (False, 50)])
def test_the_terminal_shows_the_weights_in_hundredths(trace, kind, colour, width):
    drawing = to_terminal(trace, kind=kind, layer=1, head=1, colour=colour, width=width)
    weights = trace.maps(kind)[1, 1]
    for t, (row, expected) in enumerate(zip(cells(drawing, trace, kind), weights, strict=True)):
        wanted = expected[: t + 1] if kind == "decoder" else expected
        assert row == [round(float(w) * 100) for w in wanted]
    assert ("\x1b[" in drawing) == colour
    assert colour or max(map(len, drawing.splitlines()[4:-3])) <= width


def test_labels_stand_over_the_last_place_of_their_cells(trace):
    lines = to_terminal(trace, layer=1, head=1, width=300).splitlines()
    margin = max(map(len, labels(trace.target))) + 1
    last = "".join(name[-1] for name in labels(trace.source))
    assert last in [line[margin + 2 :: 3] for line in lines]


@pytest.mark.parametrize(("layer", "head"), [(3, 0), (-1, 0), (0, 2), (0, -1), (10**9, 0)])
def test_a_layer_or_head_that_is_not_there_is_named(trace, layer, head):
    with pytest.raises(UserError, match=r"there is no (layer|head) -?\d+ here: expected 0 to [12]"):
        to_terminal(trace, layer=layer, head=head)


def test_the_terminal_says_which_other_maps_there_are(trace):
    assert "--layer 0-2, --head 0-1" in to_terminal(trace, layer=1, head=1)


def test_labels_show_spaces_and_hide_no_control_character():
    assert label(" the") == "▁the"
    assert label("a\x1b[31m\n\u202e") == "a\\x1b[31m\\n\\u202e"
    pieces = [Piece("tr", 0, 0, 2, False), Piece("aver", 0, 2, 6, False), Piece("se", 1, 7, 9, False),
              Piece("</s>", None, 9, 9, True), Piece("</s>", None, 9, 9, True)]
    assert labels(pieces) == ["tr", "·aver", "se", "</s>", "</s>"]


def test_escape_sequences_in_a_text_do_not_reach_the_terminal(seq2see):
    from seq2see.lens import trace_hypotheses

    model, tokenizer = seq2see
    target = tokenizer.encode_target("\x1b[2J\x07", language="fr")
    [made] = trace_hypotheses(model, tokenizer, ["\x1b]0;x\x07 a"], [target])
    assert not set(to_terminal(made)) & {"\x1b", "\x07"}


def test_the_terminal_says_how_much_goes_to_sinks(trace):
    end, tags, marks = sink_shares(trace, "cross")[2, 0]
    told = f"{end:.0%} of this head's attention is on the closing </s>, {tags:.0%} on tags and the start, {marks:.0%}"
    assert told in to_terminal(trace)


def unpacked(sent):
    """An array as the browser reads it."""
    return np.frombuffer(base64.b64decode(sent["data"]), sent["dtype"]).reshape(sent["shape"])


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("view", ["raw", "norm", "rollout", "mixing", "contributions"])
def test_the_browser_is_given_every_weight_to_three_digits(full_trace, kind, view):
    sent = trace_record(full_trace)["maps"][kind][view]
    np.testing.assert_allclose(unpacked(sent), full_trace.maps(kind, view), rtol=1e-3, atol=1e-4)


def test_the_browser_is_given_what_falls_and_what_rises_without_a_word(full_trace):
    maps = trace_record(full_trace)["maps"]
    assert full_trace.left_out.min() < 0 < full_trace.left_out.max()
    np.testing.assert_allclose(unpacked(maps["cross"]["left_out"]), full_trace.left_out, rtol=1e-3, atol=1e-4)
    assert "left_out" not in maps["decoder"]


def test_words_and_tokens_are_the_trace_s_own(trace):
    sent = trace_record(trace)
    sides = (("source", trace.source, trace.source_words), ("target", trace.target, trace.target_words))
    for side, pieces, words in sides:
        assert sent["labels"][side] == labels(pieces)
        assert [one["text"] for one in sent["words"][side] if one["word"] is not None] == [word.text for word in words]
        assert [i for one in sent["words"][side] for i in one["pieces"]] == list(range(len(pieces)))


def test_a_drawing_too_large_for_a_browser_is_refused(trace, monkeypatch):
    monkeypatch.setattr("seq2see.lens.explorer.CELLS_DRAWN", 100)
    with pytest.raises(UserError, match=r"too many to draw"):
        to_html(trace)


def test_the_page_is_one_file_and_text_stays_data(seq2see):
    from seq2see.lens import trace_hypotheses

    model, tokenizer = seq2see
    attack = "</script><script>alert(1)</script>"
    target = tokenizer.encode_target(attack, language="fr")
    [made] = trace_hypotheses(model, tokenizer, [attack], [target], model_name=attack)
    page = to_html(made)
    fetching = page.replace("http://www.w3.org/2000/svg", "")  # the name of a kind of picture
    assert not re.search(r"https?://|//cdn|<link|src=|@import", fetching)
    assert page.count("</script>") == 2 and attack not in page
    data = re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)
    assert json.loads(data[1])["first"]["traces"][0]["source_text"] == attack
    assert '<script>alert' not in made._repr_html_() and "sandbox" in made._repr_html_()


def test_the_drawing_asks_no_other_site_and_runs_no_text():
    running = r"insertAdjacentHTML|document\.write|\beval\b|XMLHttp|new Function|https?://(?!www.w3.org)"
    assert not re.search(running, script())
    assert not re.search(r"url\((?!data:)", style()) and "@import" not in style()


def test_every_value_in_the_drawing_s_html_is_escaped():
    """What stands in innerHTML is made by `html`, or by a template with nothing to fill in."""
    for line in re.findall(r"innerHTML = ([^;]+);", script()):
        assert re.match(r"element\.painted = text|String\((?:html|frame)|target\.dataset\.tip|said$|was$", line), line


def test_the_reader_is_told_of_a_head_trained_with_gold_links():
    own, taught = (HeadRole("alignment", 0.8, 0.7, 0.9, 0.3, supervised=supervised) for supervised in (False, True))
    sent = measured_record({("cross", 1, 0): (taught,), ("cross", 0, 0): (own,)}, None)["roles"]
    assert [one["supervised"] for one in sent] == [True, False]
