"""Which parts of circuits recur in another training, and which heads are the same but for their order."""

import numpy as np
import pytest

from seq2see.lens import Circuit, Part
from seq2see.lens.sums.circuits import Ranked

FEED_FORWARD = Part("decoder", 0, "feed_forward")


def heads(*numbers):
    return [Part("decoder", 0, "cross", number) for number in numbers]


def circuit(*parts):
    rest = [part for part in (*heads(0, 1, 2, 3), FEED_FORWARD) if part not in parts]
    return Circuit(0.9, 1, 1.0, -1.0, len(parts), tuple(Ranked(part, 0, 0, 0) for part in (*parts, *rest)))


def test_heads_in_another_order_are_found_and_chance_is_that_of_a_random_order(imported):
    study, order = imported("circuits"), [2, 0, 3, 1]
    first = [np.random.default_rng(n).dirichlet(np.ones(5), size=(1, 4, 3)) for n in range(2)]
    second = [maps[:, order] for maps in first]
    maps = [{"cross": first}, {"cross": second}]
    assert study.matched(*maps) == {("cross", 0, head): ("cross", 0, order.index(head)) for head in range(4)}
    circuits = [circuit(*heads(0, 2), FEED_FORWARD), circuit(*heads(1, 2), FEED_FORWARD)]  # 0 is 1 there, and 2 is 0
    assert study.shared(circuits, maps) == {"heads": 2.0, "shared": 1.0, "by_chance": 1.0}
    assert study.recurring(circuits) == {"cross 0": "2 of 2 (2 2)", "decoder feed-forward 0": "2 of 2 (1 1)"}
    circuits = [circuit(*heads(0)), circuit(*heads(1, 2, 3), FEED_FORWARD)]
    assert study.shared(circuits, maps) == pytest.approx({"heads": 2.0, "shared": 1.0, "by_chance": 0.75})
    assert study.recurring(circuits)["decoder feed-forward 0"] == "1 of 2 (0 1)"
