"""What the page says of one word in several places: See, Machine and Lab give the same answer and figures.

They are drawn in Node from the answers of the model inside, for every word of some sentences.
"""

import re
from collections import Counter

import numpy as np
import pytest
from drawn import Drawn

from seq2see.lens.questions.evidence import matters
from seq2see.lens.records.calibration import Calibrator

pytestmark = pytest.mark.timeout(600)
SENTENCES = [
    "The trophy did not fit in the suitcase because it was too big.",
    "The sailor sold the boat because it was broken and she was tired.",
    *(pytest.param(text, marks=pytest.mark.long) for text in (
        "The boy lost the key because it was small, and the girl found it.", "The nun saw the rabbit and it saw her.",
        "The girl did not put the cakes in the bowl because they were too small.",
        "The crate is heavy because it is full.", "The cat did not cross the street because it was too wide.",
        "The foxes chased the hens.", "The bear gave the pear to the hen because it was hungry.",
        "The king and the queen are tired.", "Does the cat like the fish?", "The dentist repaired the umbrella.",
        "The wall hid the barn because it was high.", "She does not want her old hat.",
    )),
]
PLACES = """async (text) => {
  const look = await asked("look", { text, source: "en", target: "fr", maps: s2s_trace.KINDS, evidence: true });
  const [record] = look.traces, { START } = s2s_state, { evidence, ...early } = record, found = [];
  const about = { text: record.source_text, translation: record.target_text, target_ids: record.target_ids,
    given: record.given, source: "en", target: "fr" };
  const lens = await asked("inside", { question: { ...about, tool: "layers" } });
  for (let step = record.given; step < record.target.length; step++) {
    const panel = (one) => {
      const trace = new s2s_trace.Trace(one, look.measured), unit = trace.unitAt("target", step);
      const settings = { pairs: [] };
      const state = { ...START, traces: [trace], word: unit.pieces[0], head: trace.best(unit.pieces[0]) ?? START.head };
      return { why: String(s2s_why.why(state, settings)), head: s2s_trace.nameOf(state.head),
        candidates: String(s2s_candidates.candidates(state, trace, unit, settings)) };
    };
    const trace = new s2s_trace.Trace(record, look.measured), unit = trace.unitAt("target", step);
    const data = await asked("inside", { question: { ...about, tool: "machine", step } });
    const said = (mode) => String(s2s_machine_sentences.effect(s2s_machine_sums.sums(data, mode), data, trace));
    found.push({ word: unit.label, isOne: unit.pieces.length === 1, see: panel(record), early: panel(early),
      machine: ["for", "over"].map(said), chances: [data.top.find(({ id }) => id === data.id)?.chance,
        Math.exp(lens.log_probs.at(-1)[step]), trace.chance({ pieces: [step] })] });
  }
  return found;
}"""


def text_of(markup):
    return re.sub(r"\s+", " ", Drawn.of(f"<div>{markup}</div>").inner_text()).strip()


def named(said):
    """The place of the head that Machine names."""
    found = re.search(r"Without the head .+? \(layer (\d+), head (\d+)\), ", said)
    return found and (int(found[1]) - 1, int(found[2]) - 1)


@pytest.mark.parametrize("text", SENTENCES)
def test_see_machine_and_lab_say_the_same_of_a_word(storybook_in_node, text):
    apart, causes = [], Counter()
    for one in storybook_in_node.evaluate(PLACES, text):
        why = Drawn.of(one["see"]["why"])
        none, this, treated = (bool(why.locator(f"[data-says={kind}]").all()) for kind in (
            "no-head", "this-head", "antecedent"))
        causes["head" if this else "antecedent" if treated else "none"] += 1
        see = text_of(one["see"]["why"])
        for said in map(text_of, one["machine"]):
            is_same = none == ("No head matters alone" in said) or treated
            if this:
                _, layer, head = one["see"]["head"].split(".")
                found = re.search(r"with it off, (?:the model writes (.+?)\.|its chance (falls from .+?%)\.)", see)
                is_same = named(said) == (int(layer), int(head)) and (found[1] or found[2]).strip("“”") in said
            if not is_same:
                apart.append(f"{one['word']}: See: {see}, Machine: {said}")
        chances = [chance for chance in one["chances"] if chance is not None]
        if max(chances) - min(chances) > 0.003:
            apart.append(f"{one['word']}: its chance is {chances}")
        early = Drawn.of(one["early"]["candidates"])
        chosen, rest = (early.locator(f".{name} small").inner_text() for name in ("chosen", "rest"))
        if chosen == "over 99%" and rest not in ("under 0.1%", *(f"0.{n}%" for n in range(10))):
            apart.append(f"{one['word']}: {chosen}, others {rest}")
    assert not apart, "\n".join(apart)
    assert text != SENTENCES[0] or causes["none"] and causes["head"] + causes["antecedent"], causes


def test_python_and_the_page_agree_on_what_matters(storybook_in_node):
    odds = [-8.0, -2.0, -0.5, 0.0, 0.41, 1.0, 2.2, 4.6, 9.0]
    cases = [(before, after, instead) for before in odds for after in odds for instead in (None, "elle")]
    found = storybook_in_node.evaluate("""(cases) => cases.map(([before, after, instead]) => {
      const trace = Object.create(s2s_trace.Trace.prototype);
      Object.assign(trace, { evidence: { log_odds: [before] }, units: () => [{ pieces: [0] }] });
      return s2s_effects.matters(trace.after({ log_odds: [after], instead: [instead] }, 0));
    })""", cases)
    assert found == [matters(*case) for case in cases] and {True, False} == set(found)
    assert not matters(9.0, 4.6, None), "from 99.99 % to 99 % nothing changes, though odds are divided by 80"
    assert matters(2.2, 1.0, None) and not matters(1.0, 2.2, None) and matters(9.0, 9.0, "elle")


def test_a_part_is_most_only_if_it_is_more_than_half_of_what_adds(storybook_in_node):
    def most(values, **how):
        found = storybook_in_node.evaluate("""([values, how]) => {
          const { most, isMost, against } = s2s_machine_sums.mostOf(values.map((value) => ({ value })), how);
          return [most.map(({ value }) => value), isMost, against?.value ?? null];
        }""", [values, how])
        return found[0], found[1], found[2]

    assert most([1, 5, 2, -1]) == ([5], True, None)
    assert most([3, 3, 2, -4]) == ([3, 3], True, -4)
    assert most([1, 1, 1, 1, 1, 1, 1]) == ([1, 1, 1], False, None)
    assert most([2.4, 1, 3, -9], most=1) == ([3], False, -9)
    assert most([0.2, 0.1, -3], least=0.5) == ([], False, -3)


@pytest.mark.parametrize(("change", "is_said"), [({}, True), ({"probability": None}, False), ({"links": [0]}, False)])
def test_the_chance_of_a_whole_translation_is_at_most_1_and_needs_every_clause(storybook_in_node, change, is_said):
    """If no word of a clause is linked, the translation may have left the clause out."""
    found = storybook_in_node.evaluate("""async ([text, change]) => {
      const look = await asked("look", { text, source: "en", target: "fr", maps: s2s_trace.KINDS, evidence: true });
      const trace = new s2s_trace.Trace(structuredClone(look.traces[0]), look.measured), { evidence } = trace;
      if (change.links) evidence.links = evidence.links.filter(([source]) => source < 5);
      const best = { text: trace.target, probability: 0.8, odds: 1, ...change };
      return s2s_whole_chance.wholeChance([best, { odds: 0.5 }, { odds: 0.5 }], trace);
    }""", ["The crate is heavy because it is full.", change])
    assert found == (pytest.approx(0.5) if is_said else None)


def test_the_page_calibrates_as_python_does(storybook_in_node):
    scores_NV = np.random.default_rng(0).normal(size=(40, 60)) * np.linspace(0.3, 12, 40)[:, None]
    scores_NV[-1, 7] += 60  # its P rounds to 1
    curve = ((-2.0, -2.5), (0.0, -0.4), (1.5, 1.5), (4.0, 3.0))
    for calibrator in (Calibrator(), Calibrator(0.1, 0.8), Calibrator(1.0, 1.25, curve), Calibrator(0, 1, curve[:1]),
                       Calibrator(0, 1.25, ((0.0, -9.0),))):
        found = storybook_in_node.evaluate("""([rows, calibrator]) => rows.map((scores) => {
          const { weights, sum } = s2s_probabilities.chancesOf(scores, calibrator);
          return Array.from(weights, (one) => one / sum);
        })""", [scores_NV.tolist(), vars(calibrator)])
        assert np.allclose(found, np.exp(calibrator(scores_NV)), rtol=1e-6, atol=1e-12)
