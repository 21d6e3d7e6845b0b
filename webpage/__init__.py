"""The page in a browser: its scripts, a folder for each of their subjects, its style and its colours.

Imports nothing of ours.
Begin with `assembly.py`, which makes one script of all; then `explorer/`, and the README of each folder.
"""
