"""Translation: `Translator`, decoding options, results and the engines."""

from .results import Hypothesis, Translation
from .translator import Translator

__all__ = ["Hypothesis", "Translation", "Translator"]
