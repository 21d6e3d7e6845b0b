"""Passes of any encoder-decoder: forced to a translation, in batches, with hooks that read and change it.

Imports nothing of ours.
Begin with `forced_pass.py`, then `hooks.py`.
"""
