"""Translating: `Translator`, what it is asked and answers, and the engines that search."""

from .results import Hypothesis, Translation
from .translator import Translator

__all__ = ["Hypothesis", "Translation", "Translator"]
