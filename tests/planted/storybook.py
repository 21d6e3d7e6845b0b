"""Faults of the built-in corpus: its grammar, splits and links."""

from dataclasses import replace
from typing import Any

from . import fault

CORPUS, FRENCH = "storybook/test_storybook.py", "storybook/test_storybook_french.py"


@fault("one feminine noun makes a list feminine", "storybook.clauses:conjoined", CORPUS)
def _(original: Any, phrases: Any) -> Any:
    return replace(original(phrases), gender="f" if any(one.gender == "f" for one in phrases) else "m")


@fault("si elides before elle", "storybook.morphology:elide", CORPUS)
def _(original: Any, word: str, following: str) -> Any:
    return original(word, "il" if word == "si" and following.startswith("elle") else following)


@fault("de les is not contracted", "storybook.morphology:contract", FRENCH)
def _(original: Any, word: str, following: str) -> Any:
    return None if (word, following) == ("de", "les") else original(word, following)


@fault("a split is decided by one combination", "storybook.splits:split_of", CORPUS)
def _(original: Any, combinations: Any) -> Any:
    return original(sorted(combinations)[:1])
