"""Traces of many sentences, and of moments of a training.

Imports data, heads, records, trace and tracing.
Begin with `corpus_tracing.py`.
"""
