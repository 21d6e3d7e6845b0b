"""Translating and showing: the engine, the page."""

if not __name__.startswith("seq2see."):
    raise ImportError("import seq2see.serve, not serve: under the bare name every class would exist twice")

from seq2see.serve.engine import Hypothesis
from seq2see.serve.jobs import Translation
from seq2see.serve.translator import Translator

__all__ = ["Hypothesis", "Translation", "Translator"]
