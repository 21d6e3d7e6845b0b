"""Nothing is taken for granted of a model: with one layer of one head whatever is named is there."""

import json
from types import SimpleNamespace
from typing import Any

import pytest

from seq2see.lens.ablation import Head
from seq2see.lessons import l05_worked_example as worked
from seq2see.lessons import l07_many_heads as many_heads
from seq2see.lessons import l11_words as words
from seq2see.lessons import l13_heads_and_layers as layers
from seq2see.lessons import l15_it as it
from seq2see.lessons import l16_cross_attention as crossing
from seq2see.lessons import l17_last_vector as last_vector
from seq2see.lessons import l18_values as values
from seq2see.lessons import record
from seq2see.lessons.errata import ERRATA
from seq2see.lessons.lesson import Look
from seq2see.lessons.workbench import Workbench


def test_one_head_is_followed_where_there_is_one(smallest: Workbench) -> None:
    lesson: Any = worked
    told = record.run_lesson(smallest, lesson)
    assert max(told["result"]["off"].values()) < 1e-5
    assert told["look"] == {"text": worked.SOURCE, "kind": "decoder", "layer": 0, "head": 0}
    assert "1 decoder layer of 1 head;" in record.about_model(smallest)


def test_the_errata_of_one_head(smallest: Workbench) -> None:
    shown = {item["title"]: item for item in (record.run_erratum(smallest, erratum) for erratum in ERRATA)}
    json.dumps(shown, allow_nan=False)
    assert [title for title, item in shown.items() if item["stands"]] == ["The size of the weight matrices"]
    assert "but one head" in shown["The size of the weight matrices"]["why"]
    assert "one head" in shown["What a head reads"]["why"]


def told(**fields: Any) -> Any:
    """So much of a result as `look` reads."""
    return SimpleNamespace(**fields)


def score(kind: str, layer: int, head: int, above: float, role: str = "antecedent") -> Any:
    return told(head=Head(kind, layer, head), role=role, score=0.2 + above, baseline=0.2)  # type: ignore[arg-type]


@pytest.mark.parametrize("lesson, result, place", [
    (many_heads, told(roles=(score("cross", 0, 1, 0.1), score("encoder", 1, 3, 0.4))), ("encoder", 1, 3)),
    (many_heads, told(roles=()), ("cross", 0, 0)),
    (words, told(meanings=[told(value=value) for value in (0.9, 0.9, 0.5, 0.8, 0.6)]), ("encoder", 1, 0)),
    (layers, told(best=(score("cross", 2, 1, 0.4), score("encoder", 1, 2, 0.1))), ("encoder", 1, 2)),
    (layers, told(best=(score("encoder", 1, 2, 0.1, "next"),)), ("encoder", 0, 0)),
    (it, told(heads=(Head("encoder", 0, 0), Head("decoder", 1, 1)), best=(1, 0)), ("decoder", 1, 1)),
    (crossing, told(alignment=score("cross", 1, 1, 0.5)), ("cross", 1, 1)),
    (last_vector, told(in_sight=(1, 1)), ("decoder", 1, 0)),
    (values, told(head=Head("cross", 0, 2)), ("cross", 0, 2)),
])  # fmt: skip
def test_the_map_to_open_is_of_a_head_that_was_found(lesson: Any, result: Any, place: tuple[str, int, int]) -> None:
    look: Look = lesson.look(result)
    assert (look.kind, look.layer, look.head) == place
