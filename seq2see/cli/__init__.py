"""The command line: `command.py` runs it, `parser.py` says what can be asked for, and each verb has a module."""
