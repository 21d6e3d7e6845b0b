"""Claims about attention, each measured: prose in Markdown, a module beside it, and a record of a run of both.

Imports lens, measures, modeling, passes, storybook, text, tokenizer, training, translate and webpage.
Begin with `lesson.py`, then `l01_words.py`.
"""
