"""The verdicts of lessons 11, 13, 15, 16, 17 and 18: on figures made to hold, and on the same with one thing wrong."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from judging import check, words

from seq2see.lens.ablation import Head
from seq2see.lens.forcing import encode_source, encode_target, forced_pass, looking
from seq2see.lens.heads import RoleScore
from seq2see.lens.kinds import KINDS
from seq2see.lens.roles import CONTENTS
from seq2see.lessons import held_out
from seq2see.lessons import l07_many_heads as many_heads
from seq2see.lessons import l11_words as word_vectors
from seq2see.lessons import l13_heads_and_layers as layers
from seq2see.lessons import l15_it as it
from seq2see.lessons import l16_cross_attention as crossing
from seq2see.lessons import l17_last_vector as last_vector
from seq2see.lessons import l18_values as values
from seq2see.lessons.held_out import Share
from seq2see.lessons.keys import Told
from seq2see.lessons.lesson import Verdict
from seq2see.lessons.workbench import Workbench

LITTLE, HALF, MUCH = Share(0.05, 0.02, 0.08), Share(0.5, 0.45, 0.55), Share(0.97, 0.95, 1.0)
UP, DOWN = Share(0.2, 0.1, 0.3), Share(-0.2, -0.3, -0.1)
HEADS = tuple(Head(kind, layer, 0) for kind in KINDS for layer in (0, 1))


def role(head: Head, name: str, score: float, *, rival: float | None = None, place: float = 0.2) -> RoleScore:
    """A score with its interval, beside an even head's 0.1 and a best place's."""
    holds = score >= max(place + 0.1 if name in CONTENTS else 0.2, (rival or 0) + 0.1)
    best_place = place if name in CONTENTS else None
    return RoleScore(head, name, score, score - 0.01, score + 0.01, 0.1, best_place, rival, 100, holds, {})


def relation(right: float) -> word_vectors.Relation:
    return word_vectors.Relation("he and she", "woman − man + king = queen", 9, right, right, 0.1, 1.0, 0.5)


WORDS = word_vectors.Result(
    stages=("static", "with its position", "after layer 0"), meanings=(Share(0.5, 0.5, 0.5), HALF, MUCH), occurrences=9,
    bank=np.array([1.0, 0.9]), moved=np.array([1.0, 0.9]), words=50, overlap=Share(0.6, 0.5, 0.7),
    overlap_by_chance=0.1, deciles=np.linspace(0.1, 0.5, 10), kinds=Share(0.7, 0.6, 0.8), kinds_by_chance=0.2, nouns=20,
    opposites=HALF, synonyms=MUCH, neighbours=(("cat", "dog 0.50"),), relations=(relation(0.9),),
)  # fmt: skip


def test_words() -> None:
    check(word_vectors, WORDS, {
        0: {"meanings": (Share(0.6, 0.5, 0.7), HALF, MUCH)},
        1: {"meanings": (Share(0.5, 0.5, 0.5), HALF, Share(0.7, 0.6, 0.8))},
        2: {"overlap": Share(0.3, 0.2, 0.4)},
        3: {"opposites": MUCH},
        4: {"relations": (relation(0.2),)},
    })  # fmt: skip
    for cosine, said in ((0.8, "they differ as well"), (0.9995, "they hardly differ")):
        assert said in word_vectors.judge(replace(WORDS, bank=np.array([1.0, cosine]))).findings[1].why
    meanings = (*WORDS.meanings[:2], Share(0.5, 0.4, 0.6))
    near = Share(0.12, 0.09, 0.15)
    fallen = words(word_vectors, replace(WORDS, meanings=meanings, overlap=near, relations=(relation(0.0),)))
    assert [fallen[1], fallen[2], fallen[4]] == ["does not hold here"] * 3


def test_what_stands_near_what_is_counted_on_both_sides() -> None:
    sentences = [["the", "cat", "slept"], ["the", "dog", "slept"], ["a", "stone", "fell"]]
    names = ["the", "cat", "dog", "slept", "stone", "fell", "a"]
    used = word_vectors.used_with(sentences, names)
    like = word_vectors.cosines(used)
    assert np.allclose(used, used.T) and (used.diagonal() == 0).all()
    assert like[1, 2] == pytest.approx(1) and like[1, 4] == 0


def test_of_meanings_that_tie_each_counts() -> None:
    known = np.array([[1.0, 0], [2, 0], [0, 1]])
    assert word_vectors.nearest_meaning(np.array([1.0, 0.1]), known, np.array([True, False, False])) == 0.5
    assert word_vectors.nearest_meaning(np.array([0.0, 3.0]), known, np.array([False, False, True])) == 1


def reach(*, distance: tuple[Share, ...] = (UP, UP), across: tuple[Share, ...] = (UP, UP)) -> layers.Reach:
    shares = (HALF, MUCH, MUCH)
    return layers.Reach(shares, distance, shares, (UP, UP), shares, across, 0.5, 20)


HEADS_AND_LAYERS = layers.Result(
    heads=(*HEADS, Head("encoder", 0, 1)),
    roles=(*((role(head, "previous", 0.9),) for head in HEADS), (role(Head("encoder", 0, 1), "next", 0.9),)),
    best=(role(HEADS[0], "next", 0.9), role(HEADS[1], "end", 0.6), role(HEADS[1], "antecedent", 0.8, rival=0.1)),
    sentences=100, reach=dict.fromkeys(KINDS, reach()), costs=(UP,) * 7,
)  # fmt: skip


def left(verdict: Verdict) -> list[str]:
    """The claims that are undecided."""
    return [finding.claim for finding in verdict.findings if finding.word == "not decidable here"]


def decided(result: layers.Result) -> list[str]:
    """All but whether heads with a role matter, which takes heads without one."""
    return [word for word in words(layers, result) if word != "not decidable here"]


def test_heads_and_layers() -> None:
    nexts, ends, antecedents = HEADS_AND_LAYERS.best
    nothing = Share(0.0, 0.0, 0.0)
    assert decided(HEADS_AND_LAYERS) == ["holds"] * 5 and layers.judge(HEADS_AND_LAYERS).word == "holds"
    for number, change in enumerate((
        {"roles": (*HEADS_AND_LAYERS.roles[:-1], ()), "costs": (UP,) * 6 + (nothing,)},
        {"best": (role(HEADS[0], "next", 0.4), ends, antecedents)},
        {"best": (nexts, ends, role(HEADS[1], "antecedent", 0.8, rival=0.75))},
        {"reach": HEADS_AND_LAYERS.reach | {"decoder": reach(distance=(UP, DOWN))}},
        {"reach": HEADS_AND_LAYERS.reach | {"cross": reach(across=(Share(0.1, -0.1, 0.3), UP))}},
    )):  # fmt: skip
        fallen = decided(replace(HEADS_AND_LAYERS, **change))
        assert [i for i, word in enumerate(fallen) if word != "holds"] == [number], change
    idle = {"roles": (*HEADS_AND_LAYERS.roles[:-1], ())}  # the head without a role costs as much as the others
    assert words(layers, replace(HEADS_AND_LAYERS, **idle))[5] == "does not hold here"
    assert words(layers, replace(HEADS_AND_LAYERS, **idle, costs=(UP,) * 6 + (nothing,)))[5] == "holds"
    none = replace(HEADS_AND_LAYERS, roles=((),) * 7, best=(role(HEADS[0], "next", 0.15),
                                                            role(HEADS[1], "antecedent", 0.2)),
                   reach=dict.fromkeys(KINDS, reach(distance=(DOWN, DOWN), across=(DOWN, DOWN))))
    assert decided(none) == ["does not hold here"] * 5


def test_heads_and_layers_judge_by_what_the_claim_names() -> None:
    others = tuple(role(HEADS[0], name, 0.9) for name in ("previous", "first", "punctuation"))
    antecedents = HEADS_AND_LAYERS.best[2]
    assert words(layers, replace(HEADS_AND_LAYERS, best=(*others, antecedents)))[1] == "does not hold here"
    one = (*others, role(HEADS[0], "next", 0.9), antecedents)
    assert words(layers, replace(HEADS_AND_LAYERS, best=one))[1] == "holds partly"


def test_heads_and_layers_leave_undecided_what_no_figure_could_decide() -> None:
    def open_with(**changes: Any) -> list[str]:
        return left(layers.judge(replace(HEADS_AND_LAYERS, **changes)))

    matter = "The heads that have a role are those that matter."
    looks = "A head looks from a pronoun to the noun it stands for."
    assert open_with() == open_with(roles=((),) * 7) == [matter]
    known = role(HEADS[1], "antecedent", 0.97, place=0.91)
    for best in ((*HEADS_AND_LAYERS.best[:2], known), HEADS_AND_LAYERS.best[:2]):
        assert open_with(best=best) == [looks, matter]
    [first, _] = open_with(reach=dict.fromkeys(KINDS, reach(distance=())))
    assert first == "With each layer attention reaches wider."
    unknown = Share.of([])
    [first, _] = open_with(reach=dict.fromkeys(KINDS, reach(across=(unknown, unknown))))
    assert first == "With each layer attention goes further beyond the sentence."


def test_a_step_is_from_each_layer_to_the_next(bench: Workbench) -> None:
    traces = held_out.traces(bench)[1]
    found = layers.reach(traces, "encoder", [str(i) for i in range(len(traces))])
    assert len(found.distance_steps) == len(found.distance) - 1 == bench.model.config.encoder_layers - 1
    rises = np.diff([share.value for share in found.distance])
    assert [step.value for step in found.distance_steps] == pytest.approx(list(rises))


EXAMPLE = it.Example("The cat ...", "Le chat ...", False, ("cat", "street", "cross"), (0.9, 0.1, 0.0), (0.5, 0.1, 0.0))
IT = it.Result(
    examples=(EXAMPLE,), flips=dict.fromkeys(it.FAMILIES, MUCH),
    looks={kind: role(Head(kind, 0, 0), "antecedent", 0.8, rival=0.1) for kind in KINDS}, heads=HEADS,
    turned=(MUCH,) * 6, right=(HALF,) * 6, costs=(UP,) * 6, apart=(0.5,) * 6, whole=MUCH, best=(2, 0, 1), together=MUCH,
    by_place=dict.fromkeys(it.PLACES, (HALF, MUCH)), pairs=40, alive=Told(0, 1, MUCH, MUCH), one=Told(1, 0, MUCH, MUCH),
)  # fmt: skip


def test_it() -> None:
    check(it, IT, {
        0: {"flips": IT.flips | {"fit": HALF}},
        1: {"looks": IT.looks | {"encoder": role(Head("encoder", 0, 0), "antecedent", 0.3, rival=0.25)}},
        2: {"one": Told(1, 0, MUCH, Share(0.7, 0.6, 0.8))},
        3: {"turned": (MUCH, MUCH, LITTLE, MUCH, MUCH, MUCH)},
        4: {"by_place": IT.by_place | {"it": (MUCH, LITTLE)}},
    })  # fmt: skip
    assert words(it, replace(IT, alive=Told(0, 1, HALF, MUCH)))[2] == "does not hold here"
    free = it.judge(replace(IT, costs=(UP, UP, Share(0.1, 0.0, 0.2), UP, UP, UP))).findings[3]
    assert free.word == "holds partly" and "sufficient, and not necessary" in free.why
    neither = replace(IT, turned=(LITTLE,) * 6, together=LITTLE)
    assert "sufficient" not in it.judge(neither).findings[3].why
    known = {kind: role(Head(kind, 0, 0), "antecedent", 0.95, place=0.9) for kind in KINDS}
    some = it.judge(replace(IT, looks=IT.looks | {"decoder": known["decoder"]}))
    assert some.findings[1].word == "holds" and "decoder 0.0" not in some.findings[1].why
    assert left(it.judge(replace(IT, looks=known))) == ["It looks at the noun that it stands for."]
    blind = {kind: role(Head(kind, 0, 0), "antecedent", 0.15, rival=0.1) for kind in KINDS}
    fallen = words(it, replace(IT, looks=blind, turned=(LITTLE,) * 6, together=LITTLE))
    assert fallen[1] == fallen[3] == "does not hold here"


CROSSING = crossing.Result(
    words=("the", "cat", "cross", "</s>"), names=("0.0", "0.1"), weights=np.array([[0.1, 0, 0.9, 0], [0, 0, 1, 0]]),
    falls=(0.1, 0.0, 5.0), alignment=role(Head("cross", 0, 1), "alignment", 0.7), asked="cross", sentences=20,
    right={"as it is": MUCH, "keys and values shuffled together": MUCH, "values shuffled": LITTLE,
           "another source": HALF, "prefix alone": LITTLE, "source alone": LITTLE},
    spread=dict.fromkeys(("keys and values shuffled together", "values shuffled"), (0.1, 0.2)), reordered=1e-6,
    wrote={"as it is": "Le chat"}, steps=(crossing.Step("Le", 0.9, 0.1, 0.1),),
)  # fmt: skip


def test_cross_attention() -> None:
    well = Share(0.7, 0.65, 0.75)
    check(crossing, CROSSING, {
        0: {"asked": "the"},
        1: {"reordered": 0.1},
        2: {"right": CROSSING.right | {"values shuffled": MUCH}},
        3: {"right": CROSSING.right | {"prefix alone": well}},
        4: {"right": CROSSING.right | {"source alone": MUCH}},
    })  # fmt: skip
    assert words(crossing, replace(CROSSING, falls=(6.0, 0.0, 5.0)))[0] == "does not hold here"


def supervised(one: RoleScore) -> RoleScore:
    return replace(one, supervised=True)


def test_a_supervised_head_is_said_to_be_one_wherever_its_role_is_told() -> None:
    drawn = layers.draw(replace(HEADS_AND_LAYERS, roles=(*HEADS_AND_LAYERS.roles[:-1], (supervised(
        HEADS_AND_LAYERS.roles[-1][0]),))))
    assert sum("supervised" in text.get_text() for text in drawn.axes[0].texts) == 1
    best = replace(HEADS_AND_LAYERS, best=tuple(map(supervised, HEADS_AND_LAYERS.best)))
    looks = replace(IT, looks={kind: supervised(one) for kind, one in IT.looks.items()})
    aligned = layers.tables(best)[1].rows
    for text in (layers.judge(best).findings[2].why, *(row[1] for row in aligned), it.judge(looks).findings[1].why):
        assert "supervised: trained with gold links" in text
    verdict = crossing.judge(replace(CROSSING, alignment=supervised(CROSSING.alignment)))
    assert "supervised" in verdict.why and "supervised" in verdict.findings[0].why
    for lesson, result in ((layers, HEADS_AND_LAYERS), (it, IT), (crossing, CROSSING)):
        told = lesson.judge(result)
        assert "supervised" not in "".join([told.why, *(one.why for one in told.findings), str(lesson.tables(result))])


def test_lessons_know_which_heads_were_trained_with_gold_links(bench: Workbench) -> None:
    taught = Workbench(bench.run, bench.budget, shelf=bench.shelf / "taught")
    taught.model.config.supervised_heads = [[1, 0], [1, 1], [1, 2], [1, 3], [0, 0], [0, 1], [0, 2], [0, 3]]
    for found in (held_out.measured(taught)[1], held_out.measured(bench)[1]):
        assert len(found.supervised) in (0, 8) and bool(found.supervised) is (found is held_out.measured(taught)[1])
    roles, _ = many_heads.what_heads_look_at(taught)
    assert {one.supervised for one in roles} == {False, True}
    assert all(one.supervised is (one.head.kind == "cross") for one in roles)


def test_the_order_of_the_source_means_nothing_and_that_of_its_values_all(bench: Workbench) -> None:
    model = bench.model
    source = encode_source(bench.tokenizer, "The cat did not cross the street.")
    target = encode_target(bench.tokenizer, "Le chat n'a pas traversé la rue.", language="fr", first=None)
    order = torch.arange(len(source)).flip(0)[None]

    def logits() -> torch.Tensor:
        found: torch.Tensor = forced_pass(model, [source], [target])[0].logits
        return found

    with looking(model):
        plain = logits()
        with crossing.reordered_source(model, order):
            assert torch.allclose(logits(), plain, atol=1e-4)
        with crossing.shuffled_values(model, order):
            assert not torch.allclose(logits(), plain, atol=1e-2)
        with crossing.without_words(model, torch.zeros(model.config.d_model)):
            blank = logits()
            other = [target[0], *target[1:-1][::-1], target[-1]]
            assert torch.equal(forced_pass(model, [source], [other])[0].logits, blank)
        assert torch.equal(logits(), plain)


LAST = last_vector.Result(
    sentences=20, off=1e-6, stages=("before any layer", "after layer 0", "after layer 1"), read=(MUCH, HALF, LITTLE),
    to_come=(LITTLE, HALF, MUCH), gains=(UP, UP),
    owed={"the piece just read": (MUCH, LITTLE), "the pieces before it": (LITTLE, HALF), "the source": (LITTLE, HALF)},
    in_sight=(LITTLE, MUCH), turned=dict.fromkeys(last_vector.PLACES, (MUCH, MUCH)), words=("Le",),
    says=(("<s>", "<s>", "Le"),),
)  # fmt: skip


def test_last_vector() -> None:
    check(last_vector, LAST, {
        0: {"off": 0.1},
        1: {"read": (HALF, HALF, LITTLE)},
        2: {"gains": (UP, DOWN)},
        3: {"in_sight": (LITTLE, LITTLE)},
        4: {"turned": LAST.turned | {"the last vector": (LITTLE, MUCH)}},
    })  # fmt: skip
    worse = replace(LAST, gains=(DOWN, DOWN), turned=dict.fromkeys(last_vector.PLACES, (LITTLE, LITTLE)),
                    in_sight=(LITTLE, LITTLE), owed=LAST.owed | {"the piece just read": (MUCH, MUCH)})
    assert words(last_vector, worse)[2:] == ["does not hold here"] * 3


def test_what_a_state_is_owed_to_adds_up_and_leaves_out_what_is_hidden(bench: Workbench) -> None:
    trace = held_out.inside(bench)[0]
    owed = last_vector.owed_to(trace, 0)
    assert np.allclose(owed[:, :3].sum(-1), 1, atol=1e-5)
    assert owed[0, 1] == 0  # nothing stands before the start
    assert (owed[:, 3] > 0).all() and (owed[:, 3] <= 1).all()


def compared(**fields: Any) -> values.Compared:
    plain = {"other_first": HALF, "sinks_by_weight": Share(0.3, 0.25, 0.35), "sinks_by_length": LITTLE,
             "sinks_fall": UP, "by_weight": HALF, "by_length": MUCH, "gain": UP, "kept": HALF}
    return values.Compared(**{**plain, **fields})


VALUES = values.Result(
    moved=0.0, off=1e-6, sentences=20, kinds=dict.fromkeys(KINDS, compared()), cells=900, head=Head("cross", 0, 0),
    columns=("a", "b"), example=np.ones((3, 2)) / 2,
    noted=("The", "cat", "sat", "."), owed=np.array([[0.1, 0.5, 0.3, 0.1], [0.1, 0.3, 0.4, 0.2]]),
)  # fmt: skip


def test_values() -> None:
    check(values, VALUES, {
        0: {"moved": 0.1},
        1: {"off": 1.0},
        2: {"kinds": VALUES.kinds | {"cross": compared(other_first=LITTLE)}},
        3: {"owed": np.array([[0.3, 0.6, 0.02, 0.08], [0.1, 0.3, 0.4, 0.2]])},
        4: {"kinds": VALUES.kinds | {"decoder": compared(gain=Share(0.1, -0.1, 0.3))}},
        5: {"kinds": VALUES.kinds | {"encoder": compared(sinks_by_length=Share(0.2, 0.1, 0.3))}},
    })  # fmt: skip
    none = dict.fromkeys(KINDS, compared(other_first=LITTLE, gain=DOWN, sinks_by_length=HALF))
    nothing = np.array([[0.4, 0.5, 0.0, 0.1], [0.4, 0.0, 0.5, 0.1]])
    assert words(values, replace(VALUES, kinds=none, owed=nothing))[2:] == ["does not hold here"] * 4


def test_what_a_word_owes_to_the_others_adds_up(bench: Workbench) -> None:
    noted, owed = values.owed(bench)
    assert [noted.index(word) for word in values.PAIR] == [1, 2]
    assert owed.shape == (2, len(noted)) and np.allclose(owed.sum(-1), 1, atol=1e-5)


def test_the_effect_of_a_value_is_none_where_there_is_no_weight(bench: Workbench) -> None:
    trace = held_out.inside(bench)[0]
    weights = trace.maps("decoder")[0, 1].sum(0)
    unread = len(trace.inputs) - 1  # the last column is read by the last step alone
    effects = values.effects(bench, trace, [("decoder", 0, 1, 0), ("decoder", 0, 1, unread), ("cross", 1, 0, 1)])
    assert effects.shape == (3,) and (effects > -1e-4).all()
    assert effects[0] > 1e-3 and weights[0] > weights[unread]


def test_what_is_looked_into_is_of_the_half_that_is_reported_on(bench: Workbench) -> None:
    chosen_on, reported_on = ({trace.source_text for trace in half} for half in held_out.traces(bench))
    assert not chosen_on & reported_on
    assert {trace.source_text for trace in held_out.inside(bench)} <= reported_on


def test_a_share_counts_variants_of_a_sentence_as_one() -> None:
    alone, together = Share.of([0, 1] * 20), Share.of([0, 1] * 20, ["a", "b"] * 20)
    assert alone.value == together.value == 0.5
    assert (together.low, together.high) == (0, 1) and 0 < alone.low < alone.high < 1
    assert str(Share.of([])) == "none to measure"
