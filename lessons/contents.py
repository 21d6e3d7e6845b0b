"""The one list of lessons, in reading order: from words to vectors to attention to translation.

A lesson's number is in its name and is what `seq2see lessons NUMBER` wants; the order of reading is the order here.
"""

from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from typing import cast

from .lesson import Lesson


@dataclass(frozen=True)
class Chapter:
    title: str
    about: str
    names: tuple[str, ...]  # of modules of this folder


CHAPTERS = (
    Chapter("Words", "A model cannot read. It is given numbers for words, and what it knows of them it has learnt.",
            ("l11_words",)),
    Chapter("Vectors", "What can be done with words once they are numbers: compare, weigh, say where one stands.",
            ("l01_similarity", "l04_temperature", "l08_positions")),
    Chapter("Attention", "How words take from one another what they need, built up from nothing.",
            ("l02_attention", "l03_scaling", "l05_worked_example", "l18_values", "l07_many_heads", "l06_causal_mask",
             "l09_recurrence", "l10_kv_caching")),
    Chapter("Translation", "A whole model at work: what its heads do, what it understands, and where it fails.",
            ("l16_cross_attention", "l17_last_vector", "l15_it", "l13_heads_and_layers", "l12_meaning",
             "l14_overfitting")),
)  # fmt: skip
NUMBERS = tuple(sorted(int(name[1:3]) for chapter in CHAPTERS for name in chapter.names))


def number_of(name: str) -> int:
    """Of `seq2see.lessons.l03_scaling` or `l03_scaling`: 3."""
    return int(name.rpartition(".")[2][1:3])


def there(chapter: Chapter) -> list[str]:
    """The chapter's modules that are written."""
    return [name for name in chapter.names if find_spec(f"seq2see.lessons.{name}")]


def load(name: str) -> Lesson:
    return cast(Lesson, import_module(f"seq2see.lessons.{name}"))


def chosen(number: int | None) -> list[str]:
    """Every lesson in reading order, or the one of that number."""
    return [name for chapter in CHAPTERS for name in there(chapter) if number in (None, number_of(name))]
