"""The lessons in the order of the course.  A lesson's number is in its name and is what `seq2see lessons NUMBER` takes.
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
    Chapter("From words to a translation",
            "How a model reads a sentence and writes it in another language, word by word.",
            ("l01_words", "l02_attention", "l03_scaling", "l04_causal_mask", "l05_many_heads", "l06_cross_attention",
             "l07_temperature", "l08_kv_caching")),
    Chapter("Looking inside", "What a map shows and what it leaves open, and how to test what a head does.",
            ("l09_values", "l10_it", "l11_last_vector", "l12_heads_and_layers")),
    Chapter("The parts again, in detail", "Word order, two measures of similarity, and one row of numbers.",
            ("l13_positions", "l14_similarity", "l15_worked_example")),
    Chapter("What came before, and what goes wrong", "Other networks, fine-tuning, and training on too little.",
            ("l16_recurrence", "l17_meaning", "l18_overfitting")),
)


def number_of(name: str) -> int:
    """3 for `l03_scaling`."""
    return int(name[1:3])


def load(name: str) -> ModuleType:
    return import_module(f"seq2see.lessons.{name}")


def chosen(number: int | None) -> list[str]:
    """Every lesson in order, or the one of that number."""
    return [name for chapter in CHAPTERS for name in chapter.names if number in (None, number_of(name))]
