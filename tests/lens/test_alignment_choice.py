"""Alignment error by hand, links by rule, and choices that are fitted, kept and applied."""

import itertools
import json
from dataclasses import replace

import numpy as np
import pytest
import tiny

from seq2see.errors import UserError
from seq2see.lens import VIEWS, trace_texts
from seq2see.lens.data.view_names import ATTRIBUTIONS, SLOW
from seq2see.lens.heads.alignment_choice import (
    AlignmentChoice,
    best_known,
    counterparts,
    drops_by_words,
    linked,
    map_names,
    naive_choice,
    shares,
)
from seq2see.lens.heads.alignment_fitting import WAYS, GoldSentences, check_links, fit_alignment, regression
from seq2see.lens.records.intervals import Estimate, agreement, error_rate, resampled, summed
from seq2see.lens.records.trust import MapTrust, Trust
from seq2see.text.word_links import Links, from_pharaoh, to_pharaoh
from seq2see.tokenizer.words import split_words

PAIRS = [
    ("The cat did not cross the street.", "Le chat n'a pas traversé la rue."),
    ("An owl lent 12 ladders to the crow, didn't it?", "La boîte n'entrait pas dans le sac."),
    ("The box.", "La boîte."),
]


@pytest.fixture(scope="module", params=["seq2see", "t5"])
def traces(request):
    model, tokenizer = tiny.make(request.param)
    sources, targets = zip(*PAIRS, strict=True)
    return trace_texts(model, tokenizer, sources, targets, source_language="en", target_language="fr", views=VIEWS)


def test_aer_of_a_case_worked_out_by_hand():
    """Found 0-0 1-1 2-2 3-2, sure 0-0 1-1 3-3, possible besides 2-2: 2 of 3 sure ones, 3 of 4 found are possible.

    AER = 1 - (2 + 3) / (4 + 3) = 2/7.
    """
    gold, found = from_pharaoh("0-0 1-1 3-3 2p2"), [(0, 0), (1, 1), (2, 2), (3, 2)]
    measured = agreement([found], [gold])
    assert list(measured) == ["aer", "precision", "recall"]
    for one, expected in zip(measured.values(), (2 / 7, 3 / 4, 2 / 3), strict=True):
        assert one == pytest.approx([expected] * 3)  # one sentence, drawn again and again


def test_aer_is_of_the_corpus_not_the_mean_of_its_sentences():
    gold = [Links(frozenset({(0, 0)})), Links(frozenset((i, i) for i in range(9)))]
    measured = agreement([[], [(i, i) for i in range(9)]], gold)
    assert measured["aer"].value == pytest.approx(1 - 18 / 19)
    assert measured["aer"][1:] == (0, 1)  # only the first, only the second: rare, but 25 % of the draws
    assert measured["precision"].value == 1 and measured["recall"] == pytest.approx((9 / 10, 0, 1))
    assert set(agreement([[]], [Links(frozenset())]).values()) == {(0, 0, 0)}


def test_an_interval_leaves_out_a_fortieth_of_the_resampled_corpora_at_each_end():
    right_N = np.random.default_rng(0).integers(20, 40, 100)
    counts_N4 = np.stack([np.full(100, 50), np.full(100, 45), right_N, right_N + 5], axis=-1)
    measured = summed(counts_N4)["aer"]
    errors = error_rate(resampled(100) @ counts_N4)
    assert [(errors < measured.low).mean(), (errors > measured.high).mean()] == pytest.approx([0.025] * 2, abs=2e-3)


def test_variants_of_a_sentence_are_drawn_together():
    right = np.random.default_rng(0).random(200) < 0.7
    found, gold = [[(0, int(not one))] for one in right], [Links(frozenset({(0, 0)}))] * 200
    names = [str(number) for number in range(200)]
    twice = agreement(found * 2, gold * 2, groups=names * 2)
    assert twice == agreement(found, gold)
    grouped, ungrouped = twice["aer"], agreement(found * 2, gold * 2)["aer"]
    assert (grouped.high - grouped.low) / (ungrouped.high - ungrouped.low) == pytest.approx(2**0.5, rel=0.1)


def test_the_interval_of_a_mean_knows_of_variants_too():
    values = np.random.default_rng(0).random(200)
    names = [str(number) for number in range(200)]
    once, twice = Estimate.of(values), Estimate.of([*values, *values], names * 2)
    assert twice == pytest.approx(once, abs=0.003)
    apart = Estimate.of([*values, *values])
    assert (twice.high - twice.low) / (apart.high - apart.low) == pytest.approx(2**0.5, rel=0.1)


SHARES = np.array([[[0.6, 0.3, 0.1], [0.5, 0.4, 0.1], [0.0, 0.0, 0.0]]], dtype=np.float32)  # rows: target words


@pytest.mark.parametrize("rule, threshold, expected", [
    ("target", 0.0, "0-0 0-1"),  # no link for the row without any share
    ("source", 0.0, "0-0 1-1 2-0"),  # of equals the first
    ("both", 0.0, "0-0"),
    ("either", 0.0, "0-0 0-1 1-1 2-0"),
    ("either", 0.4, "0-0 0-1 1-1"),
    ("target", 0.55, "0-0"),
    ("all", 0.3, "0-0 0-1 1-0 1-1"),
])
def test_every_rule_by_hand(rule, threshold, expected):
    found = linked(SHARES, rule, threshold)[0]
    assert to_pharaoh((i, j) for j, i in np.argwhere(found)) == expected


def planted(trace, rows, name):
    """A trace in which one head looks where it should: target word j at source word j, rolled round.

    A token may reach over several words, and counts as the first one's: the others can have no links.
    """
    cross = trace.cross["raw"].copy()
    tokens = trace.row_tokens("cross", rows=rows)
    sources, targets = (sorted({one.word for one in side} - {None}) for side in (trace.source, trace.target))
    links = {(sources[j % len(sources)], j) for j in targets}
    for t, token in enumerate(tokens):
        if token.word is not None:
            aim = sources[token.word % len(sources)]
            wanted = np.array([one.word == aim for one in trace.source], dtype=np.float32)
            cross[*name, t] = 0.9 * wanted / wanted.sum() + 0.1 / len(wanted)
    return replace(trace, cross=trace.cross | {"raw": cross}), Links(frozenset(links))


@pytest.mark.parametrize("rows", ["predicts", "reads"])
def test_a_planted_aligner_is_found_kept_and_applied(traces, rows, tmp_path):
    made, gold = zip(*(planted(trace, rows, (1, 0)) for trace in traces), strict=True)
    choice = fit_alignment(made, gold, fitted_on="three sentences")
    assert (choice.view, choice.rows, choice.aer, choice.sentences) == ("raw", rows, 0.0, 3)
    assert (1, 0) in choice.maps and not choice.guided
    choice.save(tmp_path / "alignment.json")
    assert AlignmentChoice.load(tmp_path / "alignment.json") == choice
    assert [choice.links(trace) for trace in made] == [truth.sure for truth in gold]
    assert choice.links(traces[0]) != gold[0].sure


def test_a_choice_in_tokens_and_in_a_batch_gives_the_same_error(traces):
    """What the fit counts is what `links` finds, for every way and for the mean of several maps."""
    rng = np.random.default_rng(0)
    gold = [Links(frozenset((int(rng.integers(len(t.source_words))), j) for j in range(len(t.target_words))),
                  frozenset({(0, 0)})) for t in traces]
    sentences = GoldSentences(iter(traces), gold)
    maps = sentences.try_maps()
    tried = [*maps[::7], *(one for one in maps if one.choice.view in SLOW), *sentences.try_weights()]
    assert {one.choice.view for one in tried} == set(VIEWS)
    for one in tried[:-3]:
        assert one.halves or one.aer == pytest.approx(sentences.agreement(one.choice)["aer"].value)
    means = [AlignmentChoice(view, "predicts", tuple(map_names(traces[0])[view, "predicts"][:3]), *way)
             for view, way in itertools.product(("raw", "contributions", "left_out"), WAYS[::4])]
    for choice in (*means, *(one.choice for one in tried)):
        assert sentences.agreement(choice) == agreement([choice.links(trace) for trace in traces], gold)


def test_weights_are_those_of_logistic_regression():
    """At the optimum what is predicted and what is true agree in every piece of evidence, but for the ridge."""
    rng = np.random.default_rng(0)
    truth = np.array([3.0, -2.0, 0.5, -1.0])
    x_KC = rng.random((3, 20_000))
    y_C = (rng.random(20_000) < 1 / (1 + np.exp(-truth[:3] @ x_KC - truth[3]))).astype(float)
    parts = [(x_KC[:, at : at + 999], y_C[at : at + 999]) for at in range(0, 20_000, 999)]
    weights = regression(parts)
    np.testing.assert_allclose(weights, truth, atol=0.15)
    p_C = 1 / (1 + np.exp(-weights[:3] @ x_KC - weights[3]))
    np.testing.assert_allclose(x_KC @ (p_C - y_C), -weights[:3], atol=1e-3)
    assert (p_C - y_C).sum() == pytest.approx(0, abs=1e-3)


def aligned(traces):
    return [Links(frozenset((j % len(t.source_words), j) for j in range(len(t.target_words)))) for t in traces]


def test_the_error_told_of_weights_is_that_of_sentences_apart(traces, tmp_path, monkeypatch):
    monkeypatch.setattr(GoldSentences, "try_maps", lambda self: [])
    sentences = GoldSentences(traces[:2], aligned(traces[:2]))
    best = min(sentences.try_weights(), key=lambda tried: tried.aer)
    choice = sentences.fit(fitted_on="two sentences", fingerprint="abc")
    assert replace(best.choice, fitted_on="two sentences") == replace(
        choice, aer=None, low=None, high=None, sentences=0, fingerprint="")
    assert (choice.aer, choice.low, choice.high, choice.sentences) == (
        best.aer, best.halves.low, best.halves.high, 2)
    assert sentences.agreement(choice)["aer"].value != choice.aer, "of weights that know all of these sentences"
    assert "on the 2 sentences of two sentences, cross-validated over two halves" in choice.describe()
    choice.save(tmp_path / "alignment.json")
    assert AlignmentChoice.load(tmp_path / "alignment.json") == choice and choice.weights


def test_variants_of_a_sentence_are_in_one_half(traces):
    two, gold = traces[:2], aligned(traces[:2])
    four, twice = [two[0], two[0], two[1], two[1]], [gold[0], gold[0], gold[1], gold[1]]
    for weighed in GoldSentences(four, twice, ["a", "a", "b", "b"]).try_weights():
        view, rule, threshold = weighed.choice.view, weighed.choice.rule, weighed.choice.threshold
        parts = [GoldSentences([t, t], [truth, truth])._fitted_to(slice(None), view)
                 for t, truth in zip(two, gold, strict=True)]
        found = [replace(other, rule=rule, threshold=threshold).links(t)
                 for t, other in zip(two, parts[::-1], strict=True)]
        assert weighed.halves == agreement(found, gold)["aer"]
    assert GoldSentences(four[:2], twice[:2], ["a", "a"]).try_weights() == []


@pytest.mark.parametrize("beyond", [(2, 0), (0, 3)])
def test_links_reach_to_the_last_word_and_not_beyond(beyond):
    words = split_words("The cat", language="en"), split_words("Le chat noir", language="fr")
    check_links(Links(frozenset({(1, 2)}), frozenset({(0, 0)})), words, "here")
    for links in (Links(frozenset({beyond})), Links(frozenset(), frozenset({beyond}))):
        with pytest.raises(UserError, match="here: link {}-{}".format(*beyond)):
            check_links(links, words, "here")


@pytest.mark.parametrize(("name", "value"), [
    ("view", "zzz"), ("maps", [[0, -1]]), ("threshold", float("nan")), ("low", 2),
    ("weights", [1.0, 0.0, 0.0, 0.0, float("nan")]), ("fingerprint", None),
])
def test_a_field_that_holds_what_it_cannot_is_named(tmp_path, name, value):
    path = tmp_path / "choice.json"
    AlignmentChoice("raw", "predicts", ((0, 0),), "target", 0.0).save(path)
    path.write_text(json.dumps(json.loads(path.read_text()) | {name: value}))
    with pytest.raises(UserError, match=rf"is not a valid alignment choice \({name}[\[\]\d]* is") as told:
        AlignmentChoice.load(path)
    assert "seq2see measure" in str(told.value) and "\n" not in str(told.value)


def test_a_word_of_several_tokens_falls_by_the_sum_of_its_tokens(full_trace):
    """Log-probabilities of its tokens add up to its own; tokens outside words are in no row."""
    dice = np.random.default_rng(0)
    left_out = dice.normal(size=full_trace.left_out.shape).astype(np.float32)
    rows = {word: [at for at, token in enumerate(full_trace.target) if token.word == word]
            for word in range(len(full_trace.target_words))}
    assert max(map(len, rows.values())) > 1 and sum(map(len, rows.values())) < len(full_trace.target)
    drops = drops_by_words(replace(full_trace, left_out=left_out))
    assert drops.shape == (len(rows), left_out.shape[1])
    for word, tokens in rows.items():
        np.testing.assert_allclose(drops[word], left_out[tokens].sum(0), rtol=1e-5)


def test_a_rise_has_no_share_in_what_words_left_out_take_away(full_trace):
    """Shares are of the falls alone: none is below 0, and a row sums to 1, or is 0 where nothing falls."""
    dice = np.random.default_rng(0)
    left_out = dice.normal(size=full_trace.left_out.shape).astype(np.float32)
    last = len(full_trace.target_words) - 1
    left_out[[at for at, token in enumerate(full_trace.target) if token.word == last]] = -1.0  # rises only
    trace = replace(full_trace, left_out=left_out)
    [found] = shares(trace, "left_out", "predicts", [()])
    falls = np.where(drops_by_words(trace) > 0, drops_by_words(trace), 0)
    assert (found >= 0).all() and (drops_by_words(trace)[:last] < 0).any(1).all() and not found[last].any()
    np.testing.assert_allclose(found[:last], falls[:last] / falls[:last].sum(1, keepdims=True), rtol=1e-5)


def test_a_negative_attribution_has_no_share(full_trace):
    """Whatever its size: a word whose attributions all are negative has no links."""
    for view in ATTRIBUTIONS:
        below = replace(full_trace, cross=full_trace.cross | {view: -abs(full_trace.cross[view]) - 1})
        names = map_names(below)[view, "predicts"]
        assert not shares(below, view, "predicts", names).any()
        assert (shares(below, view, "predicts", names, signed=True) < 0).any()


def test_links_are_the_choices_with_their_shares(trace):
    choice = naive_choice(*trace.cross["raw"].shape[:2])
    found = counterparts(trace, choice)
    assert {(source, target) for source, target, _ in found} == choice.links(trace)
    rows = shares(trace, "raw", "predicts", choice.maps).mean(0)
    assert [share for *_, share in found] == pytest.approx([rows[j, i] for i, j, _ in found], abs=1e-4)
    assert [target for _, target, _ in found] == sorted(target for _, target, _ in found)


def test_what_was_fitted_goes_before_what_was_measured_and_that_before_a_guess():
    random, *best = (MapTrust(view, "predicts", name, Estimate(aer, aer, aer), None) for view, name, aer in (
        ("random", (), 0.9), ("norm", (0, 1), 0.3), ("raw", (1, 0), 0.2), ("left_out", (), 0.1)))
    trust = Trust("some sentences", 300, 200, random, tuple(best), maps=())
    fitted = AlignmentChoice("raw", "reads", ((2, 1),), "both", 0.2, "the fit", 9, 0.1, 0.05, 0.15)
    assert best_known(layers=3, heads=2, fitted=fitted, trust=trust) is fitted
    measured = best_known(layers=3, heads=2, fitted=None, trust=trust)
    assert (measured.view, measured.maps) == ("raw", ((1, 0),)), "left_out costs a pass for each word"
    assert best_known(layers=3, heads=2, fitted=None, trust=None) == naive_choice(3, 2)
