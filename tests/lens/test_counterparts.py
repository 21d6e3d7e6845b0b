"""Which word belongs to which, and which choice of maps is the best known."""

import pytest

from seq2see.lens.alignment import AlignmentChoice, best_known, counterparts, first_steps, naive_choice, shares
from seq2see.lens.intervals import Figure
from seq2see.lens.trust import MapTrust, Trust


def map_trust(view, name, aer):
    return MapTrust(view, "predicts", name, Figure(aer, aer - 0.01, aer + 0.01), None)


TRUST = Trust("some sentences", 300, 200, map_trust("random", (), 0.9),
              best=(map_trust("norm", (0, 1), 0.3), map_trust("raw", (1, 0), 0.2), map_trust("left_out", (), 0.1)),
              maps=())
FITTED = AlignmentChoice("raw", "reads", ((2, 1),), "both", 0.2, "the fit", 9, 0.1, 0.05, 0.15)


def test_links_are_the_choices_with_their_shares(trace):
    choice = naive_choice(*trace.cross["raw"].shape[:2])
    found = counterparts(trace, choice)
    assert {(pair.source, pair.target) for pair in found} == choice.links(trace)
    rows = shares(trace, "raw", "predicts", choice.maps).mean(0)
    assert [pair.share for pair in found] == [rows[pair.target, pair.source] for pair in found]
    assert [pair.target for pair in found] == sorted(pair.target for pair in found)


def test_what_was_fitted_goes_before_what_was_measured_and_that_before_a_guess():
    assert best_known(layers=3, heads=2, fitted=FITTED, trust=TRUST).choice is FITTED
    measured = best_known(layers=3, heads=2, fitted=None, trust=TRUST)
    assert (measured.choice.view, measured.choice.maps) == ("raw", ((1, 0),)), "left_out costs a pass for each word"
    assert "AER 20.0 %" in measured.said and "300 sentences of some sentences" in measured.said
    guess = best_known(layers=3, heads=2, fitted=None, trust=None)
    assert guess.choice == naive_choice(3, 2) and "error unknown" in guess.said
    assert "AER 10.0 %" in best_known(layers=3, heads=2, fitted=FITTED, trust=None).said


def test_each_word_has_the_step_at_which_it_begins(trace):
    steps = first_steps(trace)
    assert len(steps) == len(trace.target_words)
    for word, step in enumerate(steps):
        first = trace.target_words[word].start
        assert trace.target[step].start <= first < trace.target[step].end

    words = [piece.word for piece in trace.target]
    assert [words.index(word) for word in range(len(steps)) if word in words] == [
        step for word, step in enumerate(steps) if word in words]


@pytest.mark.parametrize("text", ["", "Le"])
def test_a_translation_of_few_words_has_few_steps(seq2see, text):
    from seq2see.lens import trace_hypotheses

    model, tokenizer = seq2see
    [made] = trace_hypotheses(model, tokenizer, ["The cat."], [tokenizer.encode_target(text, language="fr")], given=1,
                              source_language="en", target_language="fr")
    assert len(first_steps(made)) == len(made.target_words) == len(text.split())
