"""The numbers of a trace, and what follows from them without a model.

Imports records.
Begin with `trace_data.py`.
"""
