"""Views of a trace: what each cell of a map shows, computed with the model.

Imports data.
Begin with `add_views.py`.
"""
