"""`seq2see circuit RUN SENTENCE OTHER`: what is said is what the lens finds."""

import json
import re

import pytest
import tiny

from seq2see import Translator
from seq2see.lens import SentencePair, find_circuit

TEXTS = "The cat was too tired.", "The cat was too wide."
GIVEN = ["--translations", "Le chat.", "La boîte."]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tiny.save(tmp_path_factory.mktemp("model"), *tiny.seq2see())


@pytest.fixture
def circuit(command, folder):
    return lambda *arguments: command("circuit", folder, *arguments, "--engine", "torch")


@pytest.fixture(scope="module")
def found(folder):
    """The circuit, the traces of given translations, and their first tokens that differ."""
    model = Translator.from_pretrained(folder, engine="torch")
    traces = [model.look_at(text, given, calibrated=False) for text, given in zip(TEXTS, GIVEN[1:], strict=True)]
    pair = SentencePair.between(*traces)
    return find_circuit(model.model, [pair]), [one.target[len(pair.donor.prefix_ids)].text for one in traces]


def test_the_terminal_has_the_circuit_in_order(circuit, found):
    code, out, err = circuit(*TEXTS, *GIVEN)
    expected, (one, other) = found
    assert (code, err) == (0, "")
    assert f": {one.strip()} rather than {other.strip()}\nA  {TEXTS[0]} → Le chat.\nB  {TEXTS[1]} → La boîte.\n" in out
    assert f"{expected.margin:+.2f} nats in A, {expected.corrupted:+.2f} nats with all" in out
    rows = re.findall(r"^ +(\d+) (.+?) +([+-][\d.]+) +(-?[\d.]+) % +(-?[\d.]+) %$", out, re.MULTILINE)
    assert rows == [(f"{k}", str(one.part), f"{one.alone:+.2f}", f"{100 * one.faithfulness:.1f}",
                     f"{100 * one.completeness:.1f}") for k, one in enumerate(expected.order, 1)][: len(rows)]
    assert len(rows) == min(expected.size + 4, len(expected.order))
    assert f"{expected.size} of 21 parts keep " in out


def test_json_is_one_object_with_every_part(circuit, found):
    code, out, err = circuit(*TEXTS, *GIVEN, "--json")
    plain = json.loads(out)
    assert (code, err) == (0, "") and out.count("\n") == 1
    assert plain["sentences"] == [*TEXTS] and plain["translations"] == GIVEN[1:] and plain["tokens"] == found[1]
    assert plain["order"] == json.loads(json.dumps(found[0].to_dict()))["order"]


@pytest.mark.long
def test_without_translations_they_are_the_model_s_own(circuit, folder):
    model = Translator.from_pretrained(folder, engine="torch")
    texts = TEXTS[0], "An owl lent 12 ladders to the crow."
    code, out, err = circuit(*texts, "--json", "--share", "0.5")
    assert code == 0, err
    plain = json.loads(out)
    written = [model.look(model(text))[0].target_text for text in texts]
    assert plain["translations"] == written and plain["share"] == 0.5


def test_the_page_draws_every_part_and_fills_those_of_the_circuit(circuit, found, tmp_path):
    path = tmp_path / "x.html"
    code, _, err = circuit("The cat was <b> too tired.", TEXTS[1], *GIVEN, "--html", path)
    page = path.read_text("utf-8")
    assert code == 0 and err == f"wrote {path}\n" and "<b>" not in page and "light-dark(" in page
    circuit("The cat was too tired.", TEXTS[1], *GIVEN, "--html", path)
    page, expected = path.read_text("utf-8"), found[0]
    cells = re.findall(r"<g class=(in|out)><title>([^<,]+)(?:, number (\d+) of the circuit)?</title>", page)
    assert {name for _, name, _ in cells} == {str(one.part) for one in expected.order} and len(cells) == 21
    filled = sorted((int(place), name) for look, name, place in cells if look == "in")
    assert filled == [*enumerate(map(str, expected.parts), 1)]
    lines = [[float(point.split(",")[1]) for point in line.split()] for line in
             re.findall(r'<polyline points="([^"]+)"', page)]
    for line, start, shares in ((lines[0], 0, [one.faithfulness for one in expected.order]),
                                (lines[1], 1, [one.completeness for one in expected.order])):
        assert len(line) == 22
        drawn = [(lines[0][0] - y) / (lines[0][0] - lines[1][0]) for y in line]
        assert drawn == pytest.approx([min(max(share, -0.25), 1.25) for share in [start, *shares]], abs=0.01)
    assert not re.search("(src|href)=", page), "it works offline"


@pytest.mark.browser
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_drawing_is_seen_in_both_themes(browser, circuit, tmp_path, scheme):
    path = tmp_path / "x.html"
    assert circuit(*TEXTS, *GIVEN, "--html", path)[0] == 0
    tab = browser.new_page(viewport={"width": 600, "height": 900}, color_scheme=scheme)
    tab.goto(path.as_uri())
    sizes = tab.evaluate("[...document.querySelectorAll('svg rect')].map(one => one.getBoundingClientRect().width)")
    assert len(sizes) == 21 and min(sizes) > 15
    colours = tab.evaluate("[...document.querySelectorAll('svg g')].map(one => [one.className.baseVal,"
                           " getComputedStyle(one.firstElementChild.nextElementSibling).fill])")
    fills = {which: {fill for look, fill in colours if look == which} for which in ("in", "out")}
    assert fills["in"] and fills["out"] and fills["in"].isdisjoint(fills["out"])
    assert tab.evaluate("document.documentElement.scrollWidth <= innerWidth")
    tab.close()


@pytest.mark.few(4)
@pytest.mark.parametrize(("arguments", "said"), [
    ([*TEXTS, "--translations", "Le chat.", "Le chat."], "both sentences have the same translation, 'Le chat.'"),
    ([*TEXTS], "both sentences have the same translation"),
    ([*TEXTS, *GIVEN, "--share", "2"], "share 2.0: expected more than 0 and at most 1"),
    ([*TEXTS, *GIVEN, "--share", "much"], "invalid float value: 'much'"),
    ([*TEXTS, *GIVEN, "--to", "xx"], "does not translate to xx"),
    ([*TEXTS, *GIVEN, "--html", "no/such/folder/x.html"], "cannot write no/such/folder/x.html"),
    ([*TEXTS, "--translations", "Le chat."], "--translations"),
    (["tired", "The old box was not too wide.", *GIVEN], "no word of 'tired' corresponds to one of"),
    ([TEXTS[0]], "the following arguments are required: OTHER"),
    ([TEXTS[0], " "], ""),
])
def test_a_mistake_is_one_line(circuit, arguments, said):
    code, _, err = circuit(*arguments)
    assert code and said in err and err.count("\n") == 1 and "Traceback" not in err
