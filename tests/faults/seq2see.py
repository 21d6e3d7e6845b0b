"""Faults of the command line."""

from . import Fault

FAULTS = [
    Fault(
        "a blank pair leaves no line of links",
        "seq2see/align.py",
        "yield from (next(found) if number in at else None for number, _ in chunk)",
        "yield from found",
        tests="tests/package/test_align_command.py -k a_line_for_each",
    ),
    Fault(
        "the variants of a sentence fall into both halves",
        "seq2see/gold.py",
        'story.contrast_key or f"alone {number}"',
        'f"alone {number}"',
        tests="tests/package/test_heads_command.py",
    ),
]
