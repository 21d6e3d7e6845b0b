"""Two models on one translation: heads matched up to permutation, shares and chances by other code."""

import copy
import math
import re
from dataclasses import replace
from html import escape, unescape
from itertools import permutations

import numpy as np
import pytest
import tiny
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.optimize import linear_sum_assignment

from seq2see import Translator
from seq2see.errors import UserError
from seq2see.lens import compare
from seq2see.lens.comparisons.side_by_side import Difference, differences_page, marked
from seq2see.lens.comparisons.two_models import SPECIAL, assignment, paired_layers, word_shares
from seq2see.passes.hooks import Head
from seq2see.webpage.static_page import percent

TEXT, FRENCH = "The cat did not cross the street.", "Le chat n'a pas traversé la rue."
KINDS = ("encoder", "decoder", "cross")


def looked(model, tokenizer, text=TEXT, translation=FRENCH):
    return Translator(model, tokenizer).look_at(text, translation, source="en", target="fr")


def swapped(model, order):
    """The model with the heads of every attention module in another order, which computes the same."""
    model, order = copy.deepcopy(model), list(order)
    for module in model.modules():
        if hasattr(module, "q_proj"):
            size = module.q_proj.weight.shape[0] // len(order)
            index = torch.cat([torch.arange(head * size, (head + 1) * size) for head in order])
            with torch.no_grad():
                for part in (module.q_proj, module.k_proj, module.v_proj):
                    part.weight.copy_(part.weight[index])
                    if part.bias is not None:
                        part.bias.copy_(part.bias[index])
                module.out_proj.weight.copy_(module.out_proj.weight[:, index])
    return model


@given(arrays(float, st.tuples(st.integers(1, 16), st.integers(1, 16)), elements=st.integers(0, 9)))
def test_the_assignment_is_one_of_least_cost(cost):
    found = assignment(cost)
    assert len(found) == min(cost.shape) == len({row for row, _ in found}) == len({column for _, column in found})
    assert sum(cost[one] for one in found) == cost[linear_sum_assignment(cost)].sum()


@given(st.integers(1, 5), st.integers(0, 10**6))
def test_a_permutation_is_found(size, seed):
    rng = np.random.default_rng(seed)
    order = rng.permutation(size)
    points = rng.normal(size=(size, 3))
    cost = np.abs(points[:, None] - points[order][None]).sum(-1)
    assert assignment(cost) == [(row, int(np.flatnonzero(order == row)[0])) for row in range(size)]
    best = min(sum(cost[row, column] for row, column in enumerate(one)) for one in permutations(range(size)))
    assert sum(cost[one] for one in assignment(cost)) == pytest.approx(best)


def test_heads_in_another_order_are_the_same_heads():
    """Of a model whose heads are swapped every head is found again, and nothing has changed."""
    model, tokenizer = tiny.seq2see()
    same = compare(looked(model, tokenizer), looked(swapped(model, (1, 0)), tokenizer))
    assert len(same.heads) == 2 * (2 + 3 + 3) and not same.alone
    for one in same.heads:
        assert one.second == Head(one.first.kind, one.first.layer, 1 - one.first.head)
        assert one.distance == pytest.approx(0, abs=1e-5)
    assert same.log_probs[0] == pytest.approx(same.log_probs[1], abs=1e-4)


@pytest.mark.parametrize("kind", ["marian", "seq2see"])
def test_distances_and_chances_are_those_of_other_code(kind):
    """By loops over tokens, in float64; the other model has other tokens and another size."""
    first = looked(*tiny.seq2see())
    second = looked(*tiny.make(kind)) if kind != "seq2see" else looked(*tiny.seq2see(seed=1))
    found = compare(first, second)

    def shares(trace, kind):
        rows = trace.source if kind == "encoder" else trace.target
        columns = trace.inputs if kind == "decoder" else trace.source
        maps = trace.maps(kind).astype(float)
        made = {}
        for r, row in enumerate(rows):
            if row.word is not None:
                made.setdefault(row.word, []).append(r)
        sums = {}
        for word, members in made.items():
            for r in members:
                for c, column in enumerate(columns):
                    key = word, column.word
                    sums[key] = sums.get(key, 0) + maps[:, :, r, c] / len(members)
        return sums, set(made)

    for one in found.heads:
        (own, rows), (other, others) = (shares(trace, one.first.kind) for trace in (first, second))
        each = {row: sum(abs(own.get(key, np.zeros((9, 9)))[one.first[1:]] - other.get(key, np.zeros((9, 9)))[
            one.second[1:]]) for key in {*own, *other} if key[0] == row) / 2 for row in rows & others}
        assert one.distance == pytest.approx(np.mean([*each.values()]), abs=1e-5)
        assert one.at_row == pytest.approx(max(each.values()), abs=1e-5)
        words = first.source_words if one.first.kind == "encoder" else first.target_words
        assert one.row.word in {words[row].text for row, value in each.items() if value >= one.at_row - 1e-5}
    assert [one.distance for one in found.heads] == sorted((one.distance for one in found.heads), reverse=True)
    own, other = ({token.word for token in trace.target} - {None} for trace in (first, second))
    both = sorted(own & other)  # the other model's tokens may join two words
    assert [word.word for word in found.words] == [first.target_words[number].text for number in both]
    assert len(both) > 5
    for number, word in zip(both, found.words, strict=True):
        for trace, chance, instead in ((first, word.first, word.first_instead), (second, word.second,
                                                                                word.second_instead)):
            steps = [t for t, token in enumerate(trace.target) if token.word == number]
            assert chance == pytest.approx(math.prod(math.exp(trace.log_probs[t]) for t in steps), rel=1e-4)
            assert (instead == "") == all(trace.log_probs[t] >= trace.top[t][0].log_prob - 1e-6 for t in steps)


def test_shares_of_a_word_sum_to_one():
    trace = looked(*tiny.seq2see())
    for kind in KINDS:
        shares = word_shares(trace, kind)
        np.testing.assert_allclose(shares.sum(-1), 1, atol=1e-5)
    assert SPECIAL not in {word.text for word in trace.source_words}


@pytest.mark.parametrize(("first", "second", "pairs"), [
    (2, 2, [(0, 0), (1, 1)]), (2, 4, [(0, 0), (1, 3)]), (4, 2, [(0, 0), (3, 1)]), (1, 3, [(0, 0)]),
    (3, 6, [(0, 0), (1, 3), (2, 5)]), (6, 6, [(n, n) for n in range(6)]),
])
def test_layers_of_the_same_relative_depth_are_paired(first, second, pairs):
    assert paired_layers(first, second) == pairs


def test_heads_without_a_partner_are_named():
    first, second = looked(*tiny.seq2see()), looked(*tiny.make("t5"))
    found = compare(first, second)
    assert {one.first.layer for one in found.heads if one.first.kind == "cross"} == {0, 2}, "three layers and two"
    assert found.alone == tuple((0, Head(kind, 1, head)) for kind in ("decoder", "cross") for head in range(2))


def test_traces_of_other_texts_cannot_be_compared():
    model, tokenizer = tiny.seq2see()
    with pytest.raises(UserError, match="the traces have different texts: trace the same translation"):
        compare(looked(model, tokenizer), looked(model, tokenizer, translation="Le chat."))


@pytest.mark.few(1)
@pytest.mark.parametrize("name", ["mine", "<b>other"])
def test_a_comparison_displays_itself_in_a_notebook_and_fetches_nothing(name):
    first, second = looked(*tiny.seq2see()), looked(*tiny.seq2see(seed=1))
    found = compare(replace(first, model="mine"), replace(second, model=name))
    shown = found._repr_html_()
    frame = re.fullmatch(r'<iframe title="Two models" sandbox style="[^"]*" srcdoc="([^"]*)"></iframe>', shown)
    page = unescape(frame[1])
    assert "default-src 'none'" in page and "<script" not in page
    assert not re.findall(r'(?:src|href)="?(?!"?data:)|url\((?!data:)|@import', page)
    names = ("mine (1)", "mine (2)") if name == "mine" else ("mine", "&lt;b&gt;other")
    for text in (*names, escape(FRENCH), *(f"<td>{one.first}</td><td>{one.second}</td>" for one in found.heads)):
        assert text in page
    assert page.count("<img") == 4 and "<b>other" not in page
    assert repr(found).endswith(f"{len(found.heads)} pairs of heads)") and found == compare(*found.traces)


@pytest.mark.parametrize(("texts", "expected"), [
    (("Le chat dort.", "Le chien dort."), ("Le <mark>chat</mark> dort.", "Le <mark>chien</mark> dort.")),
    (("a < b", "a"), ("a <mark>&lt;</mark> <mark>b</mark>", "a")),
    (("Le chat", "Le chat"), ("Le chat", "Le chat")), (("", "Oui"), ("", "<mark>Oui</mark>")),
    (("\x1b[2J", "<b>"), ("<mark>\\x1b</mark><mark>[</mark><mark>2J</mark>",
                          "<mark>&lt;</mark><mark>b</mark><mark>&gt;</mark>")),
])
def test_words_that_the_other_lacks_are_marked_and_nothing_in_a_text_is_markup(texts, expected):
    assert marked(texts, language="fr") == expected


def test_the_largest_differences_come_first_and_equal_translations_are_left_out():
    each = [Difference(1, "a", "b", ("x", "x"), (5.0, 5.0)), Difference(2, "<i>", "b", ("x y", "x z"), (10.0, 12.5)),
            Difference(3, "c", "d", ("e", "f"), (90.0, 10.0)), Difference(4, "g", "h", ("i", "j"), (20.0, 60.0))]
    page = differences_page(["one", "two<"], each, language="fr", scores="4 pairs.", most=2)
    assert page.index("+80.0") < page.index("−40.0") and "3 translations differ. The 2 that differ most" in page
    assert "&lt;i&gt;" not in page and "chrF of two&lt;" in page
    whole = differences_page(["one", "two"], each, language="fr", scores="", most=9)
    assert "3 translations differ. All are listed" in whole
    assert "&lt;i&gt;" in whole and "<i>" not in whole and "<td class=n>−2.5</td>" in whole
    assert whole.index("chrF of two") < whole.index(">difference<") < whole.index(">source<"), "numbers before texts"
    assert "<td class=n>2</td>" in whole and "<td class=n>1</td>" not in whole


@pytest.mark.parametrize(("share", "text"), [(1, "100.0 %"), (0.9999, "> 99.9 %"), (0.9994, "99.9 %"), (0.5, "50.0 %"),
                                             (0.0004, "< 0.1 %"), (0.0006, "0.1 %"), (0, "0.0 %")])
def test_a_share_is_never_rounded_to_certainty(share, text):
    assert percent(share) == text
