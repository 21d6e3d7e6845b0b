"""Files to translate: each format gives the texts of a file, and the file again with their translations.

Imports text, tokenizer and passes.
Begin with `formats.py`, then `protocol.py`.
"""
