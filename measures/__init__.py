"""Measurements of a trained model on annotated text, saved beside it.

Imports lens, modeling, passes, storybook, text, tokenizer, training and translate.
Begin with `measure.py`.
"""
