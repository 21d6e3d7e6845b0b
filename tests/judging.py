"""How verdicts are tested: on figures made to hold, and on the same with one thing wrong."""

from dataclasses import replace
from typing import Any


def words(lesson: Any, result: Any) -> list[str]:
    return [finding.word for finding in lesson.judge(result).findings]


def check(lesson: Any, held: Any, changes: dict[int, dict[str, Any]], leave: int | None = None) -> None:
    """All of it holds; and each finding, by its number, falls with the change that concerns it, and it alone. One whose
    figures decide another, too, is left to its own test."""
    assert set(words(lesson, held)) == {"holds"} and lesson.judge(held).word == "holds"
    assert {*changes, *([] if leave is None else [leave])} == set(range(len(words(lesson, held))))
    for number, change in changes.items():
        fallen = words(lesson, replace(held, **change))
        assert [i for i, word in enumerate(fallen) if word != "holds"] == [number], change
        assert lesson.judge(replace(held, **change)).word == "holds partly"
