"""The benchmark of looking, in miniature: what it reports is made of what it measured.  How fast is not asked here."""

from collections.abc import Callable
from typing import Any

import pytest


@pytest.fixture(scope="module")
def bench(imported: Callable[[str], Any]) -> Any:
    return imported("look")


def test_a_round_translates_once_and_then_looks(bench: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[str] = []
    seconds = {"translate": 2.0, "raw": 1.0, "norm": 3.0}

    class Fake:
        def __call__(self, texts: list[str], *, num_beams: int) -> str:
            assert num_beams == 4
            calls.append("translate")
            return "results"

        def look(self, results: str, *, views: list[str]) -> None:
            assert results == "results"
            calls.append(views[0])

    monkeypatch.setattr(bench.time, "perf_counter", lambda: sum(seconds[call] for call in calls))
    rows = bench.measure(Fake(), ["a", "b"], rounds=5, views=["raw", "norm"])
    assert calls == ["translate", "raw", "norm"] * 6
    assert [(row["ours"], row["peer"], row["ratio"]) for row in rows] == [(3.0, 2.0, 1.5), (5.0, 2.0, 2.5)]
    assert rows[0]["wanted"] == 1.3 and "wanted" not in rows[1] and rows[0]["unit"] == "s for 2 sentences"


def test_beside_the_fast_engine_a_trace_stands_alone(bench: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [0.0]

    class Fake:
        def __call__(self, texts: list[str], *, num_beams: int) -> str:
            assert num_beams == 1
            clock[0] += 0.5
            return "results"

        def look(self, results: str) -> None:
            clock[0] += 2.0

    monkeypatch.setattr(bench.time, "perf_counter", lambda: clock[0])
    monkeypatch.setattr(bench.time, "process_time", lambda: clock[0])
    row = bench.measure_fast(Fake(), ["a", "b"], rounds=3)
    assert (row["ours"], row["peer"], row["ratio"], row["ratio_processor"]) == (2.0, 0.5, 4.0, 4.0)


def test_the_sentences_are_of_the_test_set(bench: Any) -> None:
    texts = bench.some_sentences()
    assert len(set(texts)) == 32
