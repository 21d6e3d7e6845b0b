"""Changing a pass: heads switched off, activations replaced, paths patched.

Imports data.
Begin with `interventions.py`, then `activations.py`.
"""
