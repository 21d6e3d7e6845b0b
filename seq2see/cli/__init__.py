"""The command line: `command.py` runs it, `parser.py` declares the arguments, and each verb has a module.

Imports every room.
Begin with `command.py`, then `parser.py`.
"""
