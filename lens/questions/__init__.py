"""Questions about one prediction, answered by running the model again.

Imports changes, data, heads, records, trace, tracing and views.
Begin with `evidence.py`, then `what_if.py`.
"""
