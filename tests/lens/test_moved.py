"""What moves in the maps when a word is changed."""

import numpy as np
import pytest

from seq2see.lens import trace_hypotheses, word_map
from seq2see.lens.by_words import Unit
from seq2see.lens.changes import changed
from seq2see.lens.moved import matched, moves
from seq2see.tokenizer.words import split_words


def units(text):
    return [Unit(word, (number,), number, False) for number, word in enumerate(text.split())]


@pytest.mark.parametrize(("before", "after", "pairs"), [
    ("a b c", "a b c", [(0, 0), (1, 1), (2, 2)]),
    ("a b c", "a x c", [(0, 0), (1, 1), (2, 2)]),  # one stands for one
    ("a b c d", "a x y c d", [(0, 0), (2, 3), (3, 4)]),  # two for one: which is which, nobody knows
    ("a b", "c", []),
])
def test_words_are_matched(before, after, pairs):
    assert matched(units(before), units(after)) == pairs


def test_a_special_piece_is_no_word_of_that_name():
    assert matched([Unit("</s>", (0,), None, True), Unit("a", (1,), 0, False)],
                   [Unit("</s>", (0,), 0, False), Unit("a", (1,), 1, False)]) == [(0, 0), (1, 1)]
    assert not matched([Unit("</s>", (0,), None, True)], [Unit("</s>", (0,), 0, False), Unit("a", (1,), 1, False)])


def test_changed_words_are_those_of_both_sides():
    a, b = (split_words(text, language="en") for text in ("The goat chased it.", "The goat fled from it."))
    was, now = changed(a, b)
    assert [one.text for one in was] == ["chased"] and [one.text for one in now] == ["fled", "from"]


@pytest.fixture(scope="module")
def pair(seq2see):
    model, tokenizer = seq2see
    targets = [tokenizer.encode_target(text, language="fr") for text in ("Le chat était.", "La chat était.")]
    return trace_hypotheses(model, tokenizer, ["The cat was.", "The box was."], targets, given=1, source_language="en",
                            target_language="fr")


def test_a_move_is_the_row_that_changed_most_of_its_head(pair):
    old, new = (word_map(trace, "cross") for trace in pair)
    change = new.maps - old.maps  # word by word: both have as many
    found = {(move.layer, move.head): move for move in moves(*pair, most=99, kinds=["cross"])}
    assert set(found) == set(np.ndindex(change.shape[:2]))
    for (layer, head), move in found.items():
        rows = np.abs(change[layer, head]).sum(-1) / 2
        assert move.row[0] == rows.argmax() and move.moved == pytest.approx(rows.max(), abs=1e-6)
        row = change[layer, head, move.row[0]]
        assert (move.away[0], move.to[0]) == (row.argmin(), row.argmax())
        assert move.gained[1] - move.gained[0] == pytest.approx(row.max(), abs=1e-6)
        assert move.lost[1] - move.lost[0] == pytest.approx(row.min(), abs=1e-6)


def test_the_largest_come_first_and_nothing_moves_of_the_same(pair):
    found = [move.moved for move in moves(*pair, most=4)]
    assert len(found) == 4 and found == sorted(found, reverse=True)
    assert all(move.moved == 0 for move in moves(pair[0], pair[0]))
