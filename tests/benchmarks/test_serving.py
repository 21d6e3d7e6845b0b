"""The benchmark of serving, in miniature: it compares every answer, and the ways take turns."""

from argparse import Namespace
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

import pytest

TEXTS = [f"text {number}" for number in range(400)]


@pytest.fixture(scope="module")
def bench(imported: Callable[[str], Any]) -> Any:
    return imported("serving")


def test_every_answer_is_compared_and_every_second_round_is_in_reverse(
    bench: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[str] = []

    class Engine:
        @classmethod
        def from_pretrained(cls, run: str) -> "Engine":
            return cls()

        def __call__(self, text: Any, *, num_beams: int) -> Any:
            if isinstance(text, str):
                return SimpleNamespace(text=text.upper())
            calls.append("offline")

    @contextmanager
    def server(args: Namespace, *settings: str) -> Iterator[tuple[str, int]]:
        yield "unbatched" if settings else "batched", 0

    @contextmanager
    def plain_server(args: Namespace) -> Iterator[tuple[str, int]]:
        yield "plain", 0

    def ask(args: Namespace, way: str, texts: list[str]) -> dict[str, Any]:
        if len(texts) == bench.CLIENTS:
            return {}
        calls.append(way)
        answers = [text.upper() for text in texts]
        if way == "batched":
            answers[-1] = answers[-2]
        return {"seconds": 1.0, "records": [[n, 200, 0.01, text, None] for n, text in enumerate(answers)]}

    counts = iter(range(1, 100))
    monkeypatch.setattr("seq2see.Translator", Engine)
    monkeypatch.setattr(bench, "batch_sizes", lambda url: dict.fromkeys(("sum", "count"), float(next(counts))))
    for name, fake in {"server": server, "plain_server": plain_server, "ask": ask}.items():
        monkeypatch.setattr(bench, name, fake)
    rows = bench.speed(Namespace(run="", beams=1, quick=False), TEXTS)
    there = ["offline", "batched", "unbatched", "plain"]
    assert calls == [*there, *reversed(there)] * 2 + there
    [compared] = [row for row in rows if row["name"] == "swapped or different"]
    assert (compared["ours"], compared["of"]) == (5, 5 * 2 * len(TEXTS))
