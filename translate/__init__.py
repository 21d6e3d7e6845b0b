"""Translation: `Translator`, decoding options, results and the engines.

Imports lens, modeling, passes, text and tokenizer.
Begin with `translator.py`, then `segment_translator.py`.
"""

from .results import Doubt, Hypothesis, Translation
from .translator import Translator

__all__ = ["Doubt", "Hypothesis", "Translation", "Translator"]
