"""Questions about one prediction, answered by running the model again.

Imports changes, data, records, trace, tracing and views.
Begin with `evidence.py`, then `what_if.py`.
"""
