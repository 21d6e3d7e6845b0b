"""The claims of the lessons: on figures made to hold, and on the same with one thing wrong."""

from dataclasses import replace

import pytest
from judging import check, words

from seq2see.lens.ablation import Head
from seq2see.lens.heads import RoleScore
from seq2see.lessons import l03_scaling as scaling
from seq2see.lessons import l07_many_heads as heads
from seq2see.lessons.held_out import named, role_row
from seq2see.lessons.lesson import Figures


def role(*, score: float = 0.6, place: float = 0.2, rival: float | None = None) -> RoleScore:
    return RoleScore(Head("cross", 1, 2), "antecedent", score, score - 0.05, score + 0.05, 0.1, place, rival, 100,
                     True, {})  # fmt: skip


def test_scaling() -> None:
    held = Figures(off_width=0.01, off_one=0.01, left=1e-4, kept=1.0, near={"untrained": 1.0, "trained": 0.8})
    check(scaling, held, {
        "grows": {"off_width": 1.0},
        "scaled": {"off_one": 1.0},
        "vanishes": {"left": 0.5},
        "stays": {"kept": 0.5},
        "heads": {"near": {"untrained": 1.0, "trained": 0.2}},
    })  # fmt: skip


def test_many_heads() -> None:
    held = Figures(off=1e-15, gain=0.2, gap=0.1, best=dict.fromkeys(heads.ROLES, role()))
    check(heads, held, {
        "sum": {"off": 1e-3},
        "better": {"gain": 0.01},
        **{name: {"best": held.best | {name: role(score=0.25)}} for name in heads.ROLES},
    })  # fmt: skip
    assert words(heads, held, gap=-0.1)["better"] == "does not hold here", "seeds overlap"
    for wrong in (role(place=0.58), role(rival=0.55), replace(role(), low=0.15)):
        assert words(heads, held, best=held.best | {"state": wrong})["state"] == "does not hold here"
    unknown = words(heads, held, best=held.best | {"state": None})
    assert unknown["state"] == "not decidable here" and unknown["action"] == "holds"


@pytest.mark.parametrize("supervised", [False, True])
def test_a_supervised_head_is_said_to_be_one_wherever_its_role_is_named(supervised: bool) -> None:
    one = replace(role(), supervised=supervised)
    assert ("supervised" in named(one), "supervised" in role_row(one, "who")[1]) == (supervised, supervised)
