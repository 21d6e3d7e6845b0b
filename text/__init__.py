"""Text before and after the model: segments, what is kept or forced, and elements in a translation.

Imports tokenizer.
Begin with `model_input.py`, which joins `protection.py` and `glossary.py`; then `placing.py`.
"""
