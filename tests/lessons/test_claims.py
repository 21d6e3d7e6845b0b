"""The claims of the lessons: all hold on figures made to hold, and each falls with one thing wrong that concerns it."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from seq2see.lens.heads.role_scores import RoleScore
from seq2see.lens.records.intervals import Estimate
from seq2see.lessons import contents
from seq2see.lessons import l02_attention as attention
from seq2see.lessons import l05_many_heads as heads
from seq2see.lessons import l06_cross_attention as crossing
from seq2see.lessons import l10_it as it
from seq2see.lessons import l12_heads_and_layers as layers
from seq2see.lessons import l18_overfitting as overfitting
from seq2see.lessons.lesson import Figures, word_of
from seq2see.passes.attention_kinds import KINDS
from seq2see.passes.hooks import Head

LITTLE, HALF, MUCH = Estimate(0.05, 0.02, 0.08), Estimate(0.5, 0.45, 0.55), Estimate(0.97, 0.95, 1.0)
UP, DOWN = Estimate(0.2, 0.1, 0.3), Estimate(-0.2, -0.3, -0.1)
FALLS = "does not hold here"
ROLE = RoleScore(Head("cross", 1, 2), "antecedent", 0.6, 0.55, 0.65, 0.1, 0.2, None, 100, True, {})
WEAK, BEATEN = replace(ROLE, score=0.25, low=0.2, high=0.3), replace(ROLE, rival=0.55)
BY_PLACE = replace(ROLE, positional=0.58)

WAYS = ("one matrix", "query = key", "key = value")
APART = dict.fromkeys(WAYS, 0.5)
ROLES = dict.fromkeys(heads.ROLES, ROLE)
SHARE = {"elman": LITTLE, "gru": HALF, "transformer": MUCH}
STEPS = dict.fromkeys(KINDS, [UP, UP])
LAST = dict.fromkeys(it.PLACES, MUCH)
DESTROYED = {crossing.SHUFFLED: 0.1, crossing.PREFIX_ALONE: 0.2}
OTHER_FIRST, GAIN = dict.fromkeys(KINDS, HALF), dict.fromkeys(KINDS, UP)


def shares(*of: float) -> dict[str, dict[str, float]]:
    return {"plain": dict(zip(("before", "after"), of[:2], strict=True)),
            "learnt": dict(zip(("before", "after"), of[2:], strict=True))}


def curves(few: float, dropout: float, some: float, all_: float, *, before: float = 1.0) -> dict[str, np.ndarray]:
    """Over four marks, equal but for the second."""
    return {name: np.array([[last, last * before, last, last]])
            for name, last in zip(overfitting.RECIPES, (few, dropout, some, all_), strict=True)}


def overfitted(**changes: dict[str, np.ndarray]) -> Figures:
    by_column = {
        "seen": curves(0.01, 0.1, 0.1, 0.1), "validation": curves(2.0, 1.2, 0.8, 0.2, before=0.7),
        "unseen": curves(2.0, 1.2, 0.8, 0.2, before=0.7), "pronoun": curves(0.5, 0.55, 0.6, 0.9),
        "exact": curves(0.01, 0.02, 0.2, 0.7), "noun": curves(0.1, 0.1, 0.1, 0.3), "state": curves(0.1, 0.1, 0.1, 0.3),
    }
    return overfitting.summarised(by_column | changes, {"few": 60}, (37, 75, 150, 300))


# By lesson: figures on which every claim holds, and the claims that fall with each change.
CASES: dict[str, tuple[Figures, list[tuple[str, dict[str, Any]]]]] = {
    "l14_similarity": (Figures(doubled=2.0, moved=0.0, same=0.5, after=3.0, before=0.2, worse=1.3), [
        ("direction", {"moved": 0.1}), ("direction", {"doubled": 1.0}), ("differ", {"same": 0.99}),
        ("length learnt", {"after": 0.5}), ("learnt", {"before": 2.0}), ("used", {"worse": 1.0}),
    ]),
    "l02_attention": (Figures(
        off_alone=0.0, off_order=0.0, mirrored=0.0, bank=0.8, first=1.0, unscaled=0.95, scaled=0.95, tight=1e-9,
        at={"none": 0.3, "three matrices": 1.0}, behind=APART, closest=APART), [
        ("parallel", {"off_alone": 0.1}), ("order", {"off_order": 0.1}), ("symmetric", {"mirrored": 0.1}),
        ("context", {"bank": 1.0}), ("itself", {"scaled": 0.2}), ("itself", {"first": 0.1}),
        ("dictionary", {"tight": 0.5}), ("nothing", {"at": {"none": 1.0, "three matrices": 1.0}}),
        *((key, {"closest": APART | {way: 0.0}}) for key, way in zip(("one", "query", "value"), WAYS, strict=True)),
        ("value", {"behind": APART | {"key = value": 0.0}}),
    ]),
    "l03_scaling": (Figures(off_width=0.01, off_one=0.01, left=1e-4, kept=1.0,
                            near={"untrained": 1.0, "trained": 0.8}), [
        ("grows", {"off_width": 1.0}), ("scaled", {"off_one": 1.0}), ("vanishes", {"left": 0.5}),
        ("stays", {"kept": 0.5}), ("heads", {"near": {"untrained": 1.0, "trained": 0.2}}),
    ]),
    "l07_temperature": (Figures(off_sum=0.0, least=1e-9, rise=0.1, winners=1, varied=0.5, lost=0.0), [
        ("softmax", {"least": 0.0}), ("flatter", {"rise": -0.1}), ("winner", {"winners": 2}),
        ("varied", {"varied": 0.0}), ("creative", {"lost": 20.0}),
    ]),
    "l15_worked_example": (Figures(off_torch=0.0, worst=1e-7, rows=(7, 7), count=7, size=4, heads=2, width=8,
                                   off_alone=0.0, off_row=0.0, later=0.0), [
        ("hand", {"off_torch": 0.1}), ("model", {"worst": 2e-5}), ("matrix", {"rows": (7, 5)}), ("size", {"size": 7}),
        ("same", {"off_alone": 0.1}), ("row", {"later": 0.2}),
    ]),
    "l04_causal_mask": (Figures(collapse=0.1, share=0.0, off=1e-6, times=8.0), [
        ("collapses", {"collapse": 0.9}), ("fails", {"share": 0.9}), ("equal", {"off": 0.1}),
        ("cheaper", {"times": 1.0}),
    ]),
    "l05_many_heads": (Figures(off=1e-15, gain=0.2, gap=0.1, best=ROLES), [
        ("sum", {"off": 1e-3}), ("better", {"gain": 0.01}), ("better", {"gap": -0.1}),  # seeds overlap
        *((name, {"best": ROLES | {name: WEAK}}) for name in heads.ROLES),
        *(("state", {"best": ROLES | {"state": wrong}}) for wrong in (BY_PLACE, BEATEN, replace(ROLE, low=0.15))),
    ]),
    "l13_positions": (Figures(encoder=[0.7, 1e-7], output=1e-7, first=1e-7, last=0.3, worse=0.1, distance=1e-8,
                              shift=1e-8, read=[0.95, 0.1, 0.7], twins=[0.8, 0.0]), [
        ("set", {"encoder": [0.7, 0.7]}), ("decoder", {"last": 0.0}), ("trained", {"worse": 0.9}),
        ("sinusoid", {"shift": 0.1}), ("read", {"read": [0.5, 0.1, 0.7]}), ("twins", {"twins": [0.8, 0.8]}),
    ]),
    "l16_recurrence": (Figures(share=SHARE, bare=20.0, more=15.0, waiting={"gru": 32, "transformer": 2}), [
        ("forgets mends", {"share": SHARE | {"elman": HALF}}), ("distance", {"share": SHARE | {"transformer": LITTLE}}),
        ("falls", {"bare": 1.0}), ("parallel", {"waiting": {"gru": 2, "transformer": 2}}),
    ]),
    "l08_kv_caching": (Figures(same=1.0, times=(1.0, 10.0), growth=(1.1, 9.0), runs=[1, 1], encoder=0.1,
                               decoder=0.0), [
        ("same", {"same": 0.9}), ("faster", {"times": (1.0, 1.2)}), ("flat", {"growth": (4.0, 9.0)}),
        ("decoder", {"decoder": 0.1}), ("decoder", {"runs": [1, 9]}),
    ]),
    "l01_words": (Figures(first=HALF, last=MUCH, overlap=Estimate(0.6, 0.5, 0.7), overlap_chance=0.1, right=0.9), [
        ("static", {"first": Estimate(0.6, 0.5, 0.7)}), ("context", {"last": Estimate(0.7, 0.6, 0.8)}),
        ("alike", {"overlap": Estimate(0.3, 0.2, 0.4)}), ("alike", {"overlap_chance": 0.55}),
        ("analogy", {"right": 0.2}),
    ]),
    "l17_meaning": (Figures(idiom=shares(0, 0, 0, 0.95), cake=shares(1, 1, 1, 0.05),
                            literal=shares(0.9, 0.9, 0.9, 0.9), gain=0.95), [
        ("before", {"cake": shares(0.5, 1, 1, 0.05)}), ("never", {"idiom": shares(0, 0.95, 0, 0.95)}),
        ("difference", {"gain": 0.0}), ("both", {"literal": shares(0.9, 0.9, 0.9, 0.2)}),
    ]),
    "l12_heads_and_layers": (Figures(
        having=24, count=24, places={"next": ROLE, "end": ROLE}, antecedent=ROLE,
        steps={"distance": STEPS, "across": STEPS}, roled=UP, unroled=Estimate(0.0, 0.0, 0.0)), [
        ("focus", {"having": 23}), ("next", {"places": {"next": WEAK, "end": ROLE}}),
        ("end", {"places": {"next": ROLE, "end": WEAK}}), ("antecedent", {"antecedent": BEATEN}),
        ("wider", {"steps": {"distance": STEPS | {"decoder": [UP, DOWN]}, "across": STEPS}}),
        ("beyond", {"steps": {"distance": STEPS, "across": STEPS | {"cross": [DOWN, UP]}}}),
        ("matter", {"unroled": UP}),
    ]),
    "l18_overfitting": (overfitted(), [
        ("memorised", vars(overfitted(seen=curves(0.5, 0.1, 0.1, 0.1)))),
        ("pronoun", vars(overfitted(pronoun=curves(0.8, 0.8, 0.8, 0.9)))),
        ("heads", vars(overfitted(noun=curves(0.3, 0.3, 0.3, 0.3)))),
        ("heads", vars(overfitted(state=curves(0.1, 0.1, 0.1, 0.3) | {  # seeds meet
            "few": np.array([[0.1] * 4, [0.2] * 4]), "all": np.array([[0.2] * 4, [0.4] * 4])}))),
        ("stopping", vars(overfitted(unseen=curves(2.0, 1.2, 0.8, 0.2)))),
        ("dropout", vars(overfitted(unseen=curves(2.0, 2.0, 0.8, 0.2, before=0.7)))),
        ("more", vars(overfitted(unseen=curves(2.0, 1.2, 0.8, 0.2, before=0.09)))),
    ]),
    "l10_it": (Figures(worst=0.95, asked=ROLE, turned=MUCH, cost=UP, last=LAST), [
        ("flips", {"worst": 0.5}), ("looks", {"asked": BEATEN}), ("sufficient", {"turned": HALF}),
        ("necessary", {"cost": Estimate(0.1, -0.1, 0.3)}), ("state", {"last": LAST | {"it": LITTLE}}),
    ]),
    "l06_cross_attention": (Figures(asked="cross", costly="cross", alignment=ROLE, destroyed=DESTROYED, gain=0.5), [
        ("asks", {"asked": "the"}), ("asks", {"costly": "the"}), ("asks", {"alignment": BY_PLACE}),
        ("values", {"destroyed": DESTROYED | {crossing.SHUFFLED: 0.9}}),
        ("source", {"destroyed": DESTROYED | {crossing.PREFIX_ALONE: 0.9}}), ("both", {"gain": 0.0}),
    ]),
    "l11_last_vector": (Figures(off=1e-6, begin=MUCH, gains=[UP, UP], own=LITTLE, seen=MUCH,
                                alone=[MUCH, MUCH]), [
        ("alone", {"off": 0.1}), ("begins", {"begin": HALF}), ("nearer", {"gains": [UP, DOWN]}),
        ("entire", {"seen": LITTLE}), ("relies", {"alone": [LITTLE, MUCH]}),
    ]),
    "l09_values": (Figures(off=1e-6, by_figure={"other first": OTHER_FIRST, "gain": GAIN}), [
        ("sum", {"off": 1.0}),
        ("other", {"by_figure": {"other first": OTHER_FIRST | {"cross": LITTLE}, "gain": GAIN}}),
        ("effect", {"by_figure": {"other first": OTHER_FIRST, "gain": GAIN | {"decoder": Estimate(0.1, -0.1, 0.3)}}}),
    ]),
}


def words(lesson: Any, figures: Figures, **changes: Any) -> dict[str, str]:
    """The word of each claim, on these figures with some of them changed."""
    return {key: word_of(checks) for key, checks in lesson.claims(Figures(**vars(figures) | changes)).items()}


@pytest.mark.parametrize("name", contents.chosen(None))
def test_every_claim_holds_and_falls_alone(name: str) -> None:
    lesson, (figures, changes) = contents.load(name), CASES[name]
    assert set(words(lesson, figures).values()) == {"holds"}
    assert {key for keys, _ in changes for key in keys.split()} == set(words(lesson, figures))
    for keys, change in changes:
        fallen = words(lesson, figures, **change)
        assert {key for key, word in fallen.items() if word == FALLS} == set(keys.split()), change
        assert set(fallen.values()) == {"holds", FALLS}


def test_heads_and_layers_that_could_not_be_measured_are_not_decidable() -> None:
    figures, _ = CASES["l12_heads_and_layers"]
    unknown = {"antecedent": None, "unroled": Estimate.of([]), "steps": {"distance": dict.fromkeys(KINDS, []),
                                                                         "across": STEPS}}
    found = words(layers, figures, **unknown)
    assert {key for key, word in found.items() if word == "not decidable here"} == {"antecedent", "matter", "wider"}


def test_early_stopping_reads_the_validation_loss() -> None:
    later = curves(2.0, 1.2, 0.8, 0.2) | {"few": np.array([[0.5, 1.95, 2.0, 2.0]])}
    found = overfitted(unseen=later)
    assert (found.stop, found.best) == (75, 1.95), "after 75 steps, whatever is lowest on the test set"


def test_a_way_that_catches_up_at_some_size_is_close_there() -> None:
    sizes = len(attention.SIZES)
    right = {way: np.full((sizes, 2), 0.4) for way in attention.MATRICES} | {"none": np.full((1, 2), 0.3)}
    right["three matrices"] = np.ones((sizes, 2))
    found: Any = attention.needed(right)
    assert found["size"] == attention.SIZES[0] and found["at"]["none"] == pytest.approx(0.3)
    assert found["behind"]["one matrix"] == found["closest"]["one matrix"] == pytest.approx(0.6)
    right["key = value"][-1] = 1.0
    assert attention.needed(right)["closest"]["key = value"] == 0  # type: ignore[index]
