"""Serving: HTTP, the APIs of other clients, the page, and engines on Ray.

Imports documents, lens, modeling, passes, text, tokenizer, translate, webpage and webpage_data.
Begin with `app.py`, then `service.py`.
"""
