"""The lessons in reading order: from words to vectors to attention to translation.

A lesson's number is in its name and is what `seq2see lessons NUMBER` takes.
"""

from dataclasses import dataclass
from importlib import import_module
from types import ModuleType


@dataclass(frozen=True)
class Chapter:
    title: str
    about: str
    names: tuple[str, ...]  # of modules of this folder


CHAPTERS = (
    Chapter("Words", "A model cannot read. It works on numbers that stand for words, and learns these numbers.",
            ("l11_words",)),
    Chapter("Vectors", "What numbers make possible: words can be compared, weighted and given a position.",
            ("l01_similarity", "l04_temperature", "l08_positions")),
    Chapter("Attention", "How each word gathers what it needs from the others, built up step by step.",
            ("l02_attention", "l03_scaling", "l05_worked_example", "l18_values", "l07_many_heads", "l06_causal_mask",
             "l09_recurrence", "l10_kv_caching")),
    Chapter("Translation", "A whole model at work: what its heads do, what it understands and where it fails.",
            ("l16_cross_attention", "l17_last_vector", "l15_it", "l13_heads_and_layers", "l12_meaning",
             "l14_overfitting")),
)  # fmt: skip


def number_of(name: str) -> int:
    """3 for `l03_scaling`."""
    return int(name[1:3])


def load(name: str) -> ModuleType:
    return import_module(f"seq2see.lessons.{name}")


def chosen(number: int | None) -> list[str]:
    """Every lesson in reading order, or the one of that number."""
    return [name for chapter in CHAPTERS for name in chapter.names if number in (None, number_of(name))]
