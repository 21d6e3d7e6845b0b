"""How claims are tested: on figures made to hold, and on the same with one thing wrong."""

from types import SimpleNamespace
from typing import Any

from seq2see.lessons.lesson import Claim


def words(lesson: Any, figures: SimpleNamespace, **changes: Any) -> dict[str, str]:
    """The word of each claim, on these figures with some of them changed."""
    checks = lesson.claims(SimpleNamespace(**vars(figures) | changes))
    return {key: Claim("", "", tuple(one)).word for key, one in checks.items()}


def check(lesson: Any, figures: SimpleNamespace, changes: dict[str, dict[str, Any]]) -> None:
    """Every claim holds; and each falls with the change that concerns it, alone. A change may concern several claims,
    with their keys joined by a blank."""
    assert set(words(lesson, figures).values()) == {"holds"}
    assert sorted(" ".join(changes).split()) == sorted(words(lesson, figures))
    for keys, change in changes.items():
        fallen = words(lesson, figures, **change)
        assert {key for key, word in fallen.items() if word == "does not hold here"} == set(keys.split()), change
        assert set(fallen.values()) == {"holds", "does not hold here"}
