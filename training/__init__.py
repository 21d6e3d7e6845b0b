"""Pairs in, checkpoint out.

Imports modeling, passes, storybook, text, tokenizer and translate.
Begin with `run.py`, then `config.py`.
"""
