"""The data of the recipe `everyday`: sentences chosen, varied and cleaned.

Imports training, storybook, text and tokenizer.
Begin with `prepare.py`.
"""
