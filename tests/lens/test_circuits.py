"""Circuits: every figure is that of a float64 pass which shares nothing with the lens, and the order is greedy."""

import json

import families
import pytest
import tiny
import torch
from independent_pass import Pass

from seq2see.errors import UserError
from seq2see.lens import Part, SentencePair, find_circuit, margins, trace_texts, word_mapping
from seq2see.lens.changes.choices import Choice
from seq2see.lens.sums.circuits import AT_ONCE, Corruption, parts_of

SOURCE, OTHER, PREFIX = [5, 6, 7, 8, 9, 2], [5, 6, 31, 8, 9, 2], [5, 11, 7]
RIGHT, WRONG = 40, 50
NEAR = {"rel": 1e-4, "abs": 1e-4}  # float32 beside float64


def pair_of(source, other, prefix=PREFIX):
    return SentencePair(Choice(tuple(source), tuple(prefix), RIGHT, WRONG),
                        Choice(tuple(other), tuple(prefix), WRONG, RIGHT))


PAIRS = [pair_of(SOURCE, OTHER), pair_of([9, 8, 7, 2], [9, 8, 33, 2], [5, 6])]


@pytest.fixture(scope="module", params=["Seq2See", pytest.param("Marian", marks=pytest.mark.long), "T5"])
def model(request):
    return families.made("T5") if request.param == "T5" else tiny.make(request.param.lower())[0]


def place_of(part):
    """The name of an activation and the head."""
    if part.head is None:
        return f"{part.stack}.{part.layer}.hook_mlp_out", None
    return f"{part.stack}.{part.layer}.{'cross_attn' if part.kind == 'cross' else 'attn'}.hook_z", part.head


class Float64:
    """Mean margins of pairs with a set of parts corrupted, in float64."""

    def __init__(self, model, pairs):
        self.runs = []
        for pair in pairs:
            (receiver, other), donor = (Pass(model, one.source_ids, one.target_ids) for one in
                                        (pair.receiver, pair.donor)), {}
            other.run(lambda name, x, donor=donor: donor.setdefault(name, x))
            self.runs.append((receiver, donor))

    def margin(self, corrupted):
        places = [place_of(part) for part in corrupted]
        found = []
        for run, donor in self.runs:

            def tap(name, x, donor=donor):
                x = x.clone()
                for head in [head for place, head in places if place == name]:
                    if head is None:
                        x = donor[name]
                    else:
                        x[:, head] = donor[name][:, head]
                return x

            last = run.run(tap)[-1]
            found.append(float(last[RIGHT] - last[WRONG]))
        return sum(found) / len(found)


@pytest.mark.few(1)
def test_every_figure_is_that_of_float64_and_the_order_is_greedy(model):
    found = find_circuit(model, PAIRS, share=0.8)
    runs, order = Float64(model, PAIRS), [one.part for one in found.order]
    whole, none = runs.margin([]), runs.margin(order)
    assert (found.margin, found.corrupted) == (pytest.approx(whole, **NEAR), pytest.approx(none, **NEAR))
    assert len(order) < 2 * AT_ONCE and {*order} == {*parts_of(model)}, "one part goes at a time"
    share = lambda corrupted: (runs.margin(corrupted) - none) / (whole - none)  # noqa: E731
    for k, one in enumerate(found.order, 1):
        figures = runs.margin([one.part]) - whole, share(order[k:]), share(order[:k])
        assert (one.alone, one.faithfulness, one.completeness) == pytest.approx(figures, rel=1e-3, abs=1e-3)
        lost = [abs(share([*order[k:], part]) - 1) for part in order[:k]]
        assert lost[-1] <= min(lost) + 1e-3, "another would have kept the difference nearer to what it was"
    enough = [one.faithfulness >= 0.8 for one in found.order]
    assert found.size == enough.index(True) + 1 and found.parts == tuple(order[: found.size])


def test_with_every_part_corrupted_the_margin_is_the_other_sentence_s_own(model):
    runs = Corruption(model, PAIRS)
    assert runs.corrupted == pytest.approx(-margins(model, [pair.donor for pair in PAIRS]).mean(), **NEAR)
    assert runs.margin == pytest.approx(margins(model, [pair.receiver for pair in PAIRS]).mean(), **NEAR)
    assert abs(runs.margin - runs.corrupted) > 0.05, "the pair is alike: this test would see nothing"
    everything = {*runs.parts}
    assert [*runs.faithfulness([set(), everything]), *runs.completeness([set(), everything])] == pytest.approx(
        [0, 1, 1, 0], abs=1e-6)
    half = {*runs.parts[::2]}
    assert runs.faithfulness([half]) == pytest.approx(runs.completeness([everything - half]), abs=1e-6)


def test_parts_are_all_heads_and_feed_forward_layers():
    names = [str(part) for part in parts_of(families.made("BART"))]
    assert names[:3] == ["encoder 0.0", "encoder 0.1", "encoder feed-forward 0"] and len(names) == len({*names}) == 16
    assert names[-5:] == ["decoder 1.0", "decoder 1.1", "cross 1.0", "cross 1.1", "decoder feed-forward 1"]
    assert Part("decoder", 1, "cross", 0) in parts_of(families.made("BART"))


def test_of_many_parts_some_go_together_and_each_comes_once(monkeypatch):
    monkeypatch.setattr("seq2see.lens.sums.circuits.AT_ONCE", 4)
    found = find_circuit(tiny.make("seq2see")[0], PAIRS)
    assert len({one.part for one in found.order}) == len(found.order) == 21
    last = found.order[-1]
    assert (last.faithfulness, last.completeness) == pytest.approx((1, 0), abs=1e-6)
    assert all(one.faithfulness < found.share for one in found.order[: found.size - 1])


def traces(*texts, translations=("Le chat.", "La boîte.")):
    model, tokenizer = tiny.seq2see()
    return model, trace_texts(model, tokenizer, [*texts], [*translations], source_language="en", target_language="fr")


def test_a_pair_of_traces_is_read_up_to_the_first_token_that_differs():
    _, (one, other) = traces("The cat was tired.", "The cat was wide.")
    pair = SentencePair.between(one, other)
    at = len(pair.receiver.prefix_ids)
    assert one.target_ids[:at] == other.target_ids[:at] == pair.receiver.prefix_ids == pair.donor.prefix_ids
    assert (pair.receiver.right, pair.receiver.wrong) == (one.target_ids[at], other.target_ids[at])
    assert (pair.donor.right, pair.donor.wrong) == (other.target_ids[at], one.target_ids[at])
    assert (pair.receiver.source_ids, pair.donor.source_ids) == (one.source_ids, other.source_ids)


def test_sentences_of_other_lengths_are_joined_by_words_and_the_decoder_wholly():
    model, (one, other) = traces("The cat was too tired.", "The old cat was not too wide.")
    pair = SentencePair.between(one, other)
    assert len(one.source_ids) != len(other.source_ids) and pair.mapping.source == word_mapping(one, other).source
    assert [*pair.mapping.target] == [*range(len(pair.receiver.target_ids))]
    runs = Corruption(model, [pair])
    assert runs.corrupted == pytest.approx(-margins(model, [pair.donor])[0], **NEAR)
    encoder = {part for part in runs.parts if part.stack == "encoder"}
    assert abs(runs.completeness([encoder])[0] - 1) > 0.01, "words are joined: the encoder's parts are corrupted"


@pytest.mark.few(1)
def test_as_json_each_part_has_its_name(model):
    found = find_circuit(model, PAIRS)
    plain = json.loads(json.dumps(found.to_dict()))
    assert plain["size"] == found.size and plain["pairs"] == 2
    assert [one["part"]["name"] for one in plain["order"]] == [str(one.part) for one in found.order]
    assert plain["order"][0]["faithfulness"] == found.order[0].faithfulness


@pytest.mark.few(1)
def test_nothing_is_left_in_the_model(model):
    def hooks():
        return [(len(m._forward_hooks), len(m._forward_pre_hooks), m.training) for m in model.modules()]

    with torch.no_grad():
        before = hooks()
        find_circuit(model, PAIRS)
        assert hooks() == before


@pytest.mark.parametrize(("pairs", "share", "said"), [
    (PAIRS, 0.0, "share 0.0: expected more than 0 and at most 1"),
    (PAIRS, 1.1, "share 1.1"),
    (PAIRS, float("nan"), "share nan"),
    ([], 0.9, "no pair of sentences"),
    ([pair_of(SOURCE, SOURCE)], 0.9, "do not differ at this token"),
    ([pair_of(SOURCE, OTHER[1:])], 0.9, "positions in the donor and 6 here"),
])
def test_a_mistake_is_one_line(model, pairs, share, said):
    with pytest.raises(UserError, match=said) as error:
        find_circuit(model, pairs, share=share)
    assert "\n" not in str(error.value)


def test_translations_that_are_the_same_have_no_difference_to_carry():
    _, (one, other) = traces("The cat was tired.", "The cat was wide.", translations=("Le chat.", "Le chat."))
    with pytest.raises(UserError, match="both sentences have the same translation, 'Le chat.'"):
        SentencePair.between(one, other)
    _, (one, other) = traces("tired", "The old box was not too wide.")
    with pytest.raises(UserError, match="no word of 'tired' corresponds to one"):
        SentencePair.between(one, other)
