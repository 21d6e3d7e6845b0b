"""What the page computes from a trace before it draws anything: its modules in Node."""

import pytest
from node import Node

from seq2see.lens.show.trace_page import trace_record


@pytest.fixture(scope="module")
def node(trace):
    with Node("trace", "wording") as node:
        node.evaluate("(record) => { globalThis.trace = new s2s_trace.Trace(record); }", trace_record(trace))
        yield node


@pytest.mark.parametrize("unit", ["words", "tokens"])
def test_the_column_that_is_pointed_at_is_of_the_word_pointed_at(node, trace, unit):
    """A word may have several tokens, and tokens are numbered differently from words."""
    assert any(piece != token.word for piece, token in enumerate(trace.source) if token.word is not None)
    found = node.evaluate("""(unit) => {
      const map = trace.map({ kind: "cross", layer: 0, head: 0 }, { unit });
      return trace.record.source.map((_, piece) => map.columns[trace.columnOf(map, "source", piece)]?.word ?? null);
    }""", unit)
    assert found == [token.word for token in trace.source]


def test_of_a_translation_the_end_is_shown_and_the_tags_are_not(node, trace):
    """Both are special tokens; a tag was given, and the end was written."""
    shown = node.evaluate("() => trace.rows('cross', 'words').map((unit) => unit.pieces[0])")
    given = {place for place, token in enumerate(trace.target) if token.special and place < trace.given}
    ends = [place for place, token in enumerate(trace.target) if token.special and place >= trace.given]
    assert given.isdisjoint(shown) and ends and set(ends) <= set(shown)


@pytest.mark.parametrize(("kind", "rows", "begins"), [
    ("cross", "predicts", "While writing"), ("cross", "reads", "Just after reading"),
    ("encoder", "reads", "While reading"),
])
def test_a_row_of_a_map_is_said_to_be_read_or_written_as_it_is(node, kind, rows, begins):
    said = node.evaluate("""([kind, rows]) => {
      const map = { head: { kind, layer: 0, head: 0 }, view: Object.keys(trace.maps[kind])[0], unit: "words", rows };
      const row = trace.rows(kind, "words", rows).find((one) => one.word !== null);
      return String(s2s_wording.rowSentence(trace, map, { piece: row.pieces[0], column: null }));
    }""", [kind, rows])
    assert said.startswith(begins)
