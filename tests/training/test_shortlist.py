"""The vocabulary shortlist: what IBM Model 1 finds in pairs is a candidate, and what must always be one is."""

import json

import pytest

from seq2see.training import shortlist
from seq2see.training.batching import EncodedPair
from seq2see.training.shortlist import model_1, write_shortlist

TAG, END, A, B, C, X, Y, Z = 4, 2, 300, 301, 302, 400, 401, 402
# A is always with X, B with Y, C with Z; no pair alone could tell.
PAIRS = [
    EncodedPair([A, B, END], [TAG, X, Y, END]),
    EncodedPair([A, C, END], [TAG, X, Z, END]),
    EncodedPair([B, C, END], [TAG, Z, Y, END]),
]


@pytest.fixture
def none_frequent(monkeypatch):
    monkeypatch.setattr(shortlist, "FREQUENT", 0)


def test_the_first_step_of_model_1_by_hand():
    """Brown et al.: two pairs, one step from even odds."""
    pairs = [EncodedPair([0, 1], [5, 6]), EncodedPair([0], [5])]
    source, target, probability = model_1(pairs, iterations=1)
    found = {(int(e), int(f)): float(p) for e, f, p in zip(source, target, probability, strict=True)}
    assert found == pytest.approx({(0, 5): 1.5 / 2, (0, 6): 0.5 / 2, (1, 5): 0.5, (1, 6): 0.5})


def test_probabilities_of_a_source_sum_to_one_and_find_the_counterpart():
    source, target, probability = model_1(PAIRS, iterations=20)
    for one, other in ((A, X), (B, Y), (C, Z)):
        mine = source == one
        assert probability[mine].sum() == pytest.approx(1)
        assert target[mine][probability[mine].argmax()] == other
    assert sorted(set(source.tolist())) == [END, A, B, C]


def test_a_source_token_may_become_itself_and_its_likeliest(tmp_path, none_frequent):
    write_shortlist(tmp_path, PAIRS, size=1)
    content = json.loads((tmp_path / "shortlist.json").read_text("utf-8"))
    assert content["always"] == list(range(292)), "special tokens, tags and bytes"
    assert [content["candidates"][str(one)] for one in (A, B, C)] == [[A, X], [B, Y], [C, Z]]
    assert set(shortlist.shortlist(PAIRS, size=9)[1][A]) == {A, X, Y, Z}


def test_of_two_target_languages_in_turn_both_are_looked_at(none_frequent, monkeypatch):
    monkeypatch.setattr(shortlist, "MOST_PAIRS", 2)
    in_turn = [EncodedPair([A], [TAG, X, END]), EncodedPair([A], [TAG + 1, Y, END])] * 2
    assert set(shortlist.shortlist(in_turn, size=9)[1][A]) == {A, X, Y}
