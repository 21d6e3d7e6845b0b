"""Drawing one map or a whole trace: for a terminal, as a picture, as a page.

Imports data and records.
Begin with `maps.py`, then `trace_page.py`.
"""
