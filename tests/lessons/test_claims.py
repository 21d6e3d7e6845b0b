"""The claims of the lessons: on figures made to hold, and on the same with one thing wrong."""

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from judging import check, words

from seq2see.lens.heads import RoleScore
from seq2see.lens.hooks import Head
from seq2see.lens.kinds import KINDS
from seq2see.lessons import l01_similarity as similarity
from seq2see.lessons import l02_attention as attention
from seq2see.lessons import l03_scaling as scaling
from seq2see.lessons import l04_temperature as temperature
from seq2see.lessons import l05_worked_example as worked
from seq2see.lessons import l06_causal_mask as mask
from seq2see.lessons import l07_many_heads as heads
from seq2see.lessons import l08_positions as positions
from seq2see.lessons import l09_recurrence as recurrence
from seq2see.lessons import l10_kv_caching as caching
from seq2see.lessons import l11_words as word_vectors
from seq2see.lessons import l12_meaning as meaning
from seq2see.lessons import l13_heads_and_layers as layers
from seq2see.lessons import l14_overfitting as overfitting
from seq2see.lessons import l15_it as it
from seq2see.lessons import l16_cross_attention as crossing
from seq2see.lessons import l17_last_vector as last_vector
from seq2see.lessons import l18_values as values
from seq2see.lessons.held_out import named, role_row
from seq2see.lessons.interval import Interval
from seq2see.lessons.lesson import Figures

LITTLE, HALF, MUCH = Interval(0.05, 0.02, 0.08), Interval(0.5, 0.45, 0.55), Interval(0.97, 0.95, 1.0)
UP, DOWN = Interval(0.2, 0.1, 0.3), Interval(-0.2, -0.3, -0.1)
FALLS = "does not hold here"


def role(*, score: float = 0.6, place: float = 0.2, rival: float | None = None) -> RoleScore:
    return RoleScore(Head("cross", 1, 2), "antecedent", score, score - 0.05, score + 0.05, 0.1, place, rival, 100,
                     True, {})  # fmt: skip


def test_similarity() -> None:
    held = Figures(doubled=2.0, moved=0.0, same=0.5, after=3.0, before=0.2, worse=1.3)
    check(similarity, held, {
        "direction": {"moved": 0.1},
        "differ": {"same": 0.99},
        "length learnt": {"after": 0.5},
        "used": {"worse": 1.0},
    })  # fmt: skip
    assert words(similarity, held, before=2.0)["learnt"] == FALLS
    assert words(similarity, held, doubled=1.0)["direction"] == FALLS


def test_attention() -> None:
    others = ("one matrix", "query = key", "key = value")
    held = Figures(
        off_alone=0.0, off_order=0.0, mirrored=0.0, bank=0.8, first=1.0, unscaled=0.95, scaled=0.95, tight=1e-9,
        at={"none": 0.3, "three matrices": 1.0}, behind=dict.fromkeys(others, 0.5), closest=dict.fromkeys(others, 0.5),
    )  # fmt: skip
    check(attention, held, {
        "parallel": {"off_alone": 0.1},
        "order": {"off_order": 0.1},
        "symmetric": {"mirrored": 0.1},
        "context": {"bank": 1.0},
        "itself": {"scaled": 0.2},
        "dictionary": {"tight": 0.5},
        "nothing": {"at": {"none": 1.0, "three matrices": 1.0}},
        **{key: {"closest": held.closest | {way: 0.0}}
           for key, way in zip(("one", "query", "value"), others, strict=True)},
    })  # fmt: skip
    assert words(attention, held, first=0.1)["itself"] == FALLS
    assert words(attention, held, behind=held.behind | {"key = value": 0.0})["value"] == FALLS


def test_a_way_that_catches_up_at_some_size_is_close_there() -> None:
    sizes = len(attention.SIZES)
    right = {way: np.full((sizes, 2), 0.4) for way in attention.MATRICES} | {"none": np.full((1, 2), 0.3)}
    right["three matrices"] = np.ones((sizes, 2))
    found: Any = attention.needed(right)
    assert found["size"] == attention.SIZES[0] and found["at"]["none"] == pytest.approx(0.3)
    assert found["behind"]["one matrix"] == found["closest"]["one matrix"] == pytest.approx(0.6)
    right["key = value"][-1] = 1.0
    assert attention.needed(right)["closest"]["key = value"] == 0  # type: ignore[index]


def test_scaling() -> None:
    held = Figures(off_width=0.01, off_one=0.01, left=1e-4, kept=1.0, near={"untrained": 1.0, "trained": 0.8})
    check(scaling, held, {
        "grows": {"off_width": 1.0},
        "scaled": {"off_one": 1.0},
        "vanishes": {"left": 0.5},
        "stays": {"kept": 0.5},
        "heads": {"near": {"untrained": 1.0, "trained": 0.2}},
    })  # fmt: skip


def test_temperature() -> None:
    check(temperature, Figures(off_sum=0.0, least=1e-9, rise=0.1, winners=1, varied=0.5, lost=0.0), {
        "softmax": {"least": 0.0},
        "flatter": {"rise": -0.1},
        "winner": {"winners": 2},
        "varied": {"varied": 0.0},
        "creative": {"lost": 20.0},
    })  # fmt: skip


def test_the_worked_example() -> None:
    held = Figures(off_torch=0.0, worst=1e-7, rows=(7, 7), count=7, size=4, heads=2, width=8, off_alone=0.0,
                   off_row=0.0, later=0.0)  # fmt: skip
    check(worked, held, {
        "hand": {"off_torch": 0.1},
        "model": {"worst": 2e-5},
        "matrix": {"rows": (7, 5)},
        "size": {"size": 7},
        "same": {"off_alone": 0.1},
        "row": {"later": 0.2},
    })  # fmt: skip


def test_causal_mask() -> None:
    check(mask, Figures(collapse=0.1, share=0.0, off=1e-6, times=8.0), {
        "collapses": {"collapse": 0.9},
        "fails": {"share": 0.9},
        "equal": {"off": 0.1},
        "cheaper": {"times": 1.0},
    })  # fmt: skip


def test_many_heads() -> None:
    held = Figures(off=1e-15, gain=0.2, gap=0.1, best=dict.fromkeys(heads.ROLES, role()))
    check(heads, held, {
        "sum": {"off": 1e-3},
        "better": {"gain": 0.01},
        **{name: {"best": held.best | {name: role(score=0.25)}} for name in heads.ROLES},
    })  # fmt: skip
    assert words(heads, held, gap=-0.1)["better"] == FALLS, "seeds overlap"
    for wrong in (role(place=0.58), role(rival=0.55), replace(role(), low=0.15)):
        assert words(heads, held, best=held.best | {"state": wrong})["state"] == FALLS
    unknown = words(heads, held, best=held.best | {"state": None})
    assert unknown["state"] == "not decidable here" and unknown["action"] == "holds"


@pytest.mark.parametrize("supervised", [False, True])
def test_a_supervised_head_is_said_to_be_one_wherever_its_role_is_named(supervised: bool) -> None:
    one = replace(role(), supervised=supervised)
    assert ("supervised" in named(one), "supervised" in role_row(one, "who")[1]) == (supervised, supervised)


def test_positions() -> None:
    held = Figures(encoder=[0.7, 1e-7], output=1e-7, first=1e-7, last=0.3, worse=0.1, distance=1e-8, shift=1e-8,
                   read=[0.95, 0.1, 0.7], twins=[0.8, 0.0])  # fmt: skip
    check(positions, held, {
        "set": {"encoder": [0.7, 0.7]},
        "decoder": {"last": 0.0},
        "trained": {"worse": 0.9},
        "sinusoid": {"shift": 0.1},
        "read": {"read": [0.5, 0.1, 0.7]},
        "twins": {"twins": [0.8, 0.8]},
    })  # fmt: skip


def test_recurrence() -> None:
    share = {"elman": LITTLE, "gru": HALF, "transformer": MUCH}
    held = Figures(share=share, bare=20.0, more=15.0, waiting={"gru": 32, "transformer": 2})
    check(recurrence, held, {
        "forgets mends": {"share": share | {"elman": HALF}},
        "distance": {"share": share | {"transformer": LITTLE}},
        "falls": {"bare": 1.0},
        "parallel": {"waiting": {"gru": 2, "transformer": 2}},
    })  # fmt: skip
    assert words(recurrence, held, bare=math.nan, more=math.nan)["falls"] == "not decidable here", "nothing to lose"


def test_caching() -> None:
    held = Figures(same=1.0, times=(1.0, 10.0), growth=(1.1, 9.0), runs=[1, 1], encoder=0.1, decoder=0.0)
    check(caching, held, {
        "same": {"same": 0.9},
        "faster": {"times": (1.0, 1.2)},
        "flat": {"growth": (4.0, 9.0)},
        "decoder": {"decoder": 0.1},
    })  # fmt: skip
    assert words(caching, held, runs=[1, 9])["decoder"] == FALLS


def test_words() -> None:
    held = Figures(first=HALF, last=MUCH, overlap=Interval(0.6, 0.5, 0.7), overlap_chance=0.1, right=0.9)
    check(word_vectors, held, {
        "static": {"first": Interval(0.6, 0.5, 0.7)},
        "context": {"last": Interval(0.7, 0.6, 0.8)},
        "alike": {"overlap": Interval(0.3, 0.2, 0.4)},
        "analogy": {"right": 0.2},
    })  # fmt: skip
    assert words(word_vectors, held, overlap_chance=0.55)["alike"] == FALLS


def test_meaning() -> None:
    def shares(*of: float) -> dict[str, dict[str, float]]:
        return {"plain": dict(zip(("before", "after"), of[:2], strict=True)),
                "learnt": dict(zip(("before", "after"), of[2:], strict=True))}  # fmt: skip

    held = Figures(idiom=shares(0, 0, 0, 0.95), cake=shares(1, 1, 1, 0.05), literal=shares(0.9, 0.9, 0.9, 0.9),
                   gain=0.95)  # fmt: skip
    check(meaning, held, {
        "before": {"cake": shares(0.5, 1, 1, 0.05)},
        "never": {"idiom": shares(0, 0.95, 0, 0.95)},
        "difference": {"gain": 0.0},
        "both": {"literal": shares(0.9, 0.9, 0.9, 0.2)},
    })  # fmt: skip


def test_heads_and_layers() -> None:
    steps = dict.fromkeys(KINDS, [UP, UP])
    held = Figures(having=24, count=24, places={"next": role(), "end": role()}, antecedent=role(),
                   steps={"distance": steps, "across": steps}, roled=UP, unroled=Interval(0.0, 0.0, 0.0))  # fmt: skip
    check(layers, held, {
        "focus": {"having": 23},
        "next": {"places": {"next": role(score=0.4), "end": role()}},
        "end": {"places": {"next": role(), "end": role(score=0.4)}},
        "antecedent": {"antecedent": role(rival=0.55)},
        "wider": {"steps": {"distance": steps | {"decoder": [UP, DOWN]}, "across": steps}},
        "beyond": {"steps": {"distance": steps, "across": steps | {"cross": [DOWN, UP]}}},
        "matter": {"unroled": UP},
    })  # fmt: skip
    unknown = {"antecedent": None, "unroled": Interval.of([]), "steps": {"distance": dict.fromkeys(KINDS, []),
                                                                         "across": steps}}
    left = {key for key, word in words(layers, held, **unknown).items() if word == "not decidable here"}
    assert left == {"antecedent", "matter", "wider"}


def curves(few: float, dropout: float, some: float, all_: float, *, before: float = 1.0) -> dict[str, np.ndarray]:
    """Over four marks, equal but for the second."""
    return {name: np.array([[last, last * before, last, last]])
            for name, last in zip(overfitting.RECIPES, (few, dropout, some, all_), strict=True)}


def overfitted(**changes: dict[str, np.ndarray]) -> Figures:
    by_column = {
        "seen": curves(0.01, 0.1, 0.1, 0.1), "validation": curves(2.0, 1.2, 0.8, 0.2, before=0.7),
        "unseen": curves(2.0, 1.2, 0.8, 0.2, before=0.7), "pronoun": curves(0.5, 0.55, 0.6, 0.9),
        "exact": curves(0.01, 0.02, 0.2, 0.7), "noun": curves(0.1, 0.1, 0.1, 0.3), "state": curves(0.1, 0.1, 0.1, 0.3),
    }  # fmt: skip
    return overfitting.summarised(by_column | changes, {"few": 60}, (37, 75, 150, 300))


def test_overfitting() -> None:
    check(overfitting, overfitted(), {
        "memorised": vars(overfitted(seen=curves(0.5, 0.1, 0.1, 0.1))),
        "pronoun": vars(overfitted(pronoun=curves(0.8, 0.8, 0.8, 0.9))),
        "heads": vars(overfitted(noun=curves(0.3, 0.3, 0.3, 0.3))),
        "stopping": vars(overfitted(unseen=curves(2.0, 1.2, 0.8, 0.2))),
        "dropout": vars(overfitted(unseen=curves(2.0, 2.0, 0.8, 0.2, before=0.7))),
        "more": vars(overfitted(unseen=curves(2.0, 1.2, 0.8, 0.2, before=0.09))),
    })  # fmt: skip
    later = curves(2.0, 1.2, 0.8, 0.2) | {"few": np.array([[0.5, 1.95, 2.0, 2.0]])}  # validation says: after 75 steps
    assert (overfitted(unseen=later).stop, overfitted(unseen=later).best) == (75, 1.95)
    seeds = {"few": np.array([[0.1] * 4, [0.2] * 4]), "all": np.array([[0.2] * 4, [0.4] * 4])}
    assert words(overfitting, overfitted(state=curves(0.1, 0.1, 0.1, 0.3) | seeds))["heads"] == FALLS, "seeds meet"


def test_it() -> None:
    last = dict.fromkeys(it.PLACES, MUCH)
    held = Figures(worst=0.95, asked=role(), turned=MUCH, cost=UP, last=last)
    check(it, held, {
        "flips": {"worst": 0.5},
        "looks": {"asked": role(rival=0.55)},
        "sufficient": {"turned": HALF},
        "necessary": {"cost": Interval(0.1, -0.1, 0.3)},
        "state": {"last": last | {"it": LITTLE}},
    })  # fmt: skip
    assert words(it, held, asked=None)["looks"] == "not decidable here"


def test_cross_attention() -> None:
    destroyed = {crossing.SHUFFLED: 0.1, crossing.PREFIX_ALONE: 0.2}
    held = Figures(asked="cross", costly="cross", alignment=role(), destroyed=destroyed, gain=0.5)
    check(crossing, held, {
        "asks": {"asked": "the"},
        "values": {"destroyed": destroyed | {crossing.SHUFFLED: 0.9}},
        "source": {"destroyed": destroyed | {crossing.PREFIX_ALONE: 0.9}},
        "both": {"gain": 0.0},
    })  # fmt: skip
    for wrong in ({"costly": "the"}, {"alignment": role(place=0.58)}):
        assert words(crossing, held, **wrong)["asks"] == FALLS


def test_last_vector() -> None:
    check(last_vector, Figures(off=1e-6, begin=MUCH, gains=[UP, UP], own=LITTLE, seen=MUCH, alone=[MUCH, MUCH]), {
        "alone": {"off": 0.1},
        "begins": {"begin": HALF},
        "nearer": {"gains": [UP, DOWN]},
        "entire": {"seen": LITTLE},
        "relies": {"alone": [LITTLE, MUCH]},
    })  # fmt: skip


def test_values() -> None:
    by_figure = {"other first": dict.fromkeys(KINDS, HALF), "gain": dict.fromkeys(KINDS, UP)}
    held = Figures(off=1e-6, by_figure=by_figure)
    check(values, held, {
        "sum": {"off": 1.0},
        "other": {"by_figure": by_figure | {"other first": by_figure["other first"] | {"cross": LITTLE}}},
        "effect": {"by_figure": by_figure | {"gain": by_figure["gain"] | {"decoder": Interval(0.1, -0.1, 0.3)}}},
    })  # fmt: skip
