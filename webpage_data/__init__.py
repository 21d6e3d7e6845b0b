"""What the page needs of a model and its measurements, and the page in one file.

Imports lens, tokenizer, translate and webpage.
Begin with `one_file.py`, then `page_model.py`.
"""
