"""Words instead of tokens: sums of columns, means of rows, so that rows that sum to 1 still do; sinks as numbers."""

import json
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import entropy

from seq2see.lens import word_map
from seq2see.lens.data.summary import SINKS, is_punctuation, sinks
from seq2see.lens.data.word_maps import by_units, units
from seq2see.passes.attention_kinds import KINDS
from seq2see.tokenizer.words import TokenSpan, Word, split_words

CLOSE = {"rtol": 0, "atol": 1e-5}


@st.composite
def a_side(draw):
    """Tokens of some words, in order, tags and `</s>` among them."""
    tokens, word = [], -1
    for _ in range(draw(st.integers(1, 12))):
        what = draw(st.sampled_from(["next", "same", "special", "nothing"]))
        word += what == "next" or (what == "same" and word < 0)
        number = word if what in ("next", "same") else None
        tokens.append(TokenSpan("x", number, 0, 0, what == "special"))
    return tokens, [Word(f"w{i}", 0, 0) for i in range(word + 1)]


@settings(deadline=None, max_examples=100)
@given(a_side(), a_side(), st.integers(0, 2**32 - 1))
def test_rows_of_any_grouping_still_sum_to_one(row_side, column_side, seed):
    rows, columns = units(*row_side), units(*column_side)
    weights = np.random.default_rng(seed).dirichlet(np.full(len(column_side[0]), 0.1), size=(2, 3, len(row_side[0])))
    maps = by_units(weights.astype(np.float32), rows, columns)
    assert maps.shape == (2, 3, len(rows), len(columns))
    np.testing.assert_allclose(maps.sum(-1), 1, **CLOSE)
    for side, found in ((row_side[0], rows), (column_side[0], columns)):
        assert [i for unit in found for i in unit.pieces] == list(range(len(side))), "every token once, in order"


def test_a_words_row_is_the_mean_over_the_steps_that_predict_or_read_it(full_trace):
    words = [word.text for word in split_words(full_trace.target_text, language="fr")]
    number = words.index("traversé")
    steps = [t for t, token in enumerate(full_trace.target) if token.word == number]
    assert len(steps) > 1
    for rows, offset in (("predicts", 0), ("reads", 1)):
        found = word_map(full_trace, "cross", rows=rows)
        [at] = [i for i, unit in enumerate(found.rows) if unit.word == number]
        assert found.rows[at].text == "traversé" and found.row_meaning == rows
        expected = full_trace.cross["raw"][:, :, [t + offset for t in steps]].mean(-2)
        for column, unit in enumerate(found.columns):
            np.testing.assert_allclose(found.maps[:, :, at, column], expected[..., list(unit.pieces)].sum(-1), **CLOSE)


def test_what_is_no_word_stands_for_itself(full_trace):
    predicts, reads = (word_map(full_trace, "cross", rows=rows).rows for rows in ("predicts", "reads"))
    assert [predicts[0].text, predicts[-1].text] == ["<2fr>", "</s>"]
    assert [reads[0].text, reads[1].text, reads[-1].text] == ["<s>", "<2fr>", predicts[-2].text]
    assert predicts[0].special and predicts[0].word is None
    assert [unit.text for unit in word_map(full_trace, "encoder").rows][:3] == ["The", "cat", ","]


def test_sinks_are_the_closing_token_the_tags_and_punctuation(trace):
    end, tags, marks = ([trace.source[i].text for i in np.flatnonzero(which)] for which in sinks(trace, "cross"))
    assert (end, tags) == (["</s>"], [])
    assert {"".join(mark.split()) for mark in marks} >= {","} and all(set(mark) <= set(",./ ") for mark in marks)
    end, tags, _ = sinks(trace, "decoder")
    assert not end.any() and [trace.inputs[i].text for i in np.flatnonzero(tags)] == ["<s>", "<2fr>"]
    assert not is_punctuation(TokenSpan("<2fr>", None, 0, 0, True))
    assert is_punctuation(TokenSpan("▁...", 0, 0, 3, False))
    assert not is_punctuation(TokenSpan("€", 0, 0, 1, False)), "a symbol is no punctuation"


def test_the_summary_holds_every_number_for_every_head(full_trace):
    summary = json.loads(json.dumps(full_trace.summary()))
    assert summary["log_prob"] == pytest.approx(full_trace.log_prob)
    assert summary["source_share"] == pytest.approx(float(full_trace.source_share.mean()))
    for kind, view in product(KINDS, ("raw", "norm", "rollout")):
        maps = full_trace.maps(kind, view)
        for name, which in zip(SINKS, sinks(full_trace, kind), strict=True):
            expected = (maps[..., which].sum(-1) / maps.sum(-1)).mean(-1)
            np.testing.assert_allclose(summary[kind]["sinks"][view][name], expected, **CLOSE)
        entropies = entropy(full_trace.maps(kind), axis=-1).mean(-1)
        np.testing.assert_allclose(summary[kind]["entropy"], entropies, atol=1e-4)
