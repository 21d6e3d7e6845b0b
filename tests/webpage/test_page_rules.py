"""Small rules of the page: its functions in Node, with plain objects for a trace."""

import math

import pytest
from node import Node

from seq2see.rules import RULES
from seq2see.text.capitals import in_capitals

HEAD = {"kind": "cross", "layer": 0, "head": 0}


@pytest.fixture(scope="module")
def node():
    with Node("flips", "effects", "difference", "heads", "erased_words", "machine_sums", "machine_figures",
              "model_input", "probabilities", "whole_chance", "wording", "word_links", "lesson_recurrence") as node:
        yield node


def test_an_example_offers_the_other_word(node):
    pairs = [{"before": "The ", "after": " sat.", "options": ["cat", "dog"]}]
    ask = "([pairs, text]) => s2s_flips.flipOf({ pairs }, text)"
    found = node.evaluate(ask, [pairs, "The dog sat."])
    assert (found["own"], found["other"], found["text"]) == ("dog", "cat", "The cat sat.")
    assert node.evaluate(ask, [pairs, "The owl sat."]) is None


def test_the_ends_of_a_chance_are_said_where_they_were_measured(node):
    ask = "(ends) => { s2s_wording.sayEnds(ends); return [1e-9, 0.5, 1].map(s2s_wording.chance); }"
    assert node.evaluate(ask, [True, True]) == ["under 0.1%", "50%", "over 99%"]
    assert node.evaluate(ask, [False, False]) == ["0.1%", "50%", "99%"]


@pytest.mark.parametrize(("instead", "fall", "it_does"), [
    ("x", 0, True), (None, RULES["MATTERS"], True), (None, RULES["MATTERS"] / 2, False),
])
def test_another_word_matters_and_so_does_a_fall(node, instead, fall, it_does):
    assert node.evaluate("(one) => s2s_effects.matters(one)", {"instead": instead, "fall": fall}) is it_does


def test_a_source_word_without_which_a_word_is_likelier_has_no_share_in_it(node):
    """Erased, the second of three source words raises the chance of both pieces of the only written word."""
    links = node.evaluate("""() => {
      const target = [0, 0].map((word) => ({ word })), words = { source: [{}, {}, {}], target: [{}] };
      const map = { shape: [1, 2, 3], values: [.3, -.4, .1, .3, -.2, .1] };
      return s2s_word_links.linksOf({ words, tokens: { target }, leftOut: () => map },
        { view: "left_out", rows: "predicts", maps: [[0]], weights: [], rule: "all", threshold: 0 });
    }""")
    assert links == [[0, 0, 0.75], [2, 0, 0.25]]


@pytest.mark.parametrize(("left", "right"), [(0.9, 0), (0.5, 1), (0.1, 2)])
def test_what_is_left_in_a_recurrent_network_is_of_the_first_token(node, left, right):
    profile = {name: [[1, 1], [left, 1, 1, 1]] for name in ("elman", "gru", "gru with attention", "transformer")}
    lesson = {"result": {"lengths": [2, 4], "profile": profile}}
    ask = "(lesson) => s2s_lesson_recurrence.recurrence.predict.right([], lesson)"
    assert node.evaluate(ask, lesson) == right


# The map of a sentence, and of the other of its pair, whose translation has another word and one more.
MAPS = """const columns = ["The", "cat", "."].map((label) => ({ label }));
  const map = (labels, at) => ({ columns, at, rows: labels.map((label, i) => ({ label, pieces: [i] })) });
  const trace = (one, source) => ({ source, written: one.rows, map: () => one, once: (_, make) => make() });
  const after = trace(map(["Il", "dort", "."], [[.1, .2, .7], [.3, .6, .1], [.5, .4, .1]]), "after");
  const before = trace(map(["Elle", "ne", "dort", "."],
    [[.2, .2, .6], [.9, 0, .1], [.1, .2, .7], [.4, .5, .1]]), "before");
  const state = (mode, word) => ({ ...s2s_state.START, traces: [after], twin: before, swapped: true, mode, word });"""


def test_a_word_keeps_its_row_in_the_map_of_the_other_sentence(node):
    rows, words, partner = node.evaluate(f"""() => {{ {MAPS}
      const {{ mapOf, partnerOf, rowOf, wordAt }} = s2s_difference;
      const row = (shown) => rowOf(shown, mapOf(shown));
      return [["after", "before"].map((mode) => [0, 1, 2].map((word) => row(state(mode, word)))),
        [0, 2, 3].map((i) => wordAt(state("before", 0), i) ?? null), partnerOf(after, before, after.written[1]).label];
    }}""")
    assert rows == [[0, 1, 2], [-1, 2, 3]]
    assert words == [None, 1, 2] and partner == "dort"


def test_a_difference_is_of_words_that_both_have(node):
    found = node.evaluate(f"() => {{ {MAPS} return s2s_difference.mapOf(state('difference', 0)).at; }}")
    assert found[0] == [None] * 3
    assert [round(value, 6) for value in found[1]] == [0.2, 0.4, -0.6]


def test_the_head_that_matters_most_is_number_1(node):
    drawn = node.evaluate("""(head) => {
      const trace = { mattering: () => [head], once: (_, make) => make(), layers: () => [[head, { ...head, head: 1 }]],
        tone: () => "slate", languages: ["en", "fr"] };
      return String(s2s_heads.headStrip({ ...s2s_state.START, traces: [trace] }));
    }""", HEAD)
    assert '<span class="rank" aria-hidden="true">1</span>' in drawn and ">2</span></span>" not in drawn


def test_equal_source_words_are_told_apart_by_their_number(node):
    said = node.evaluate("""() => {
      const words = ["the", "cat", "the"].map((text, word) => ({ text, word }));
      const erased = [{ word: words[2], chance: 0.1, fall: 0.5, instead: null }];
      const trace = { evidence: { others: [] }, erased: () => erased, words: () => words, languages: ["en", "fr"],
        sourceShare() {} };
      return String(s2s_erased_words.erasedWords(s2s_state.START, trace, { pieces: [0] }, { pairs: [] }));
    }""")
    assert "(2nd)" in said and "falls to 10%" in said


@pytest.mark.parametrize(("values", "is_most"), [([1] * 10, False), ([2, 1, 0], True), ([3, 3, 3, 9, -20], True)])
def test_most_is_more_than_half(node, values, is_most):
    found = node.evaluate("(all) => s2s_machine_sums.mostOf(all.map((value) => ({ value })))", values)
    assert found["isMost"] is is_most
    adding = sum(value for value in values if value > 0)
    assert found["isMost"] == (sum(one["value"] for one in found["most"]) > adding / 2)
    assert (found["against"] is None) == (min(values) > -20)


def test_the_growth_of_a_row_ends_at_what_it_gives(node):
    read = {"start": [1], "attention_rows": [[0.5], [2]], "feed_forward": [[0.25], [4]]}
    assert node.evaluate("(read) => s2s_machine_sums.growth({ read, source: [9] }, 0)", read) == [1, 1.5, 1.75, 3.75, 9]


@pytest.mark.parametrize("shares", [[1 / 3] * 3, [0.125] * 8, [0.999, 0.001], [0.5, 0.5]])
def test_percents_sum_to_100(node, shares):
    found = node.evaluate("(all) => s2s_machine_figures.percents(all)", shares)
    assert sum(found) == 100 and all(abs(one - 100 * share) < 1 for one, share in zip(found, shares, strict=True))


def test_sums_at_every_temperature_are_those_of_the_formula(node):
    weights, best = [0.5, 2.0, 0.125, 1.0], 1
    found = node.evaluate("([weights, best]) => s2s_probabilities.logSums({ weights }, best)", [weights, best])
    expected = [math.log(sum((one / weights[best]) ** (1 / temperature) for one in weights))
                for temperature in RULES["TEMPERATURES"]]
    assert found == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize(("odds", "chance"), [([], 0.8), ([0.25], 0.8), ([0.5, 0.5], 0.5)])
def test_translations_of_a_text_have_a_chance_of_at_most_1_together(node, odds, chance):
    found = node.evaluate("""(odds) => {
      const words = [{ text: "cat", word: 0 }], trace = { target: "chat", languages: ["en", "fr"], words: () => words,
        evidence: { links: [[0, 0, 1]] }, record: { words: { target: [{ text: "chat", word: 0 }] } } };
      const others = odds.map((one) => ({ odds: one }));
      return s2s_whole_chance.wholeChance([{ text: "chat", probability: 0.8 }, ...others], trace);
    }""", odds)
    assert found == pytest.approx(chance)


@pytest.mark.parametrize("text", ["NO SMOKING", "The NASA", "NASA", "STOP!", "USA, UK", "CLOSED", "IT WAS MINE",
                                  "WE RAN. Go", ""])
def test_capitals_are_those_of_python(node, text):
    assert node.evaluate("(text) => s2s_model_input.inCapitals(text)", text) is in_capitals(text)
