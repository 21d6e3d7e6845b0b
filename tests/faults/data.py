"""Faults of how data are read and split, and of what a run remembers of them."""

from . import Fault

FAULTS = [
    Fault(
        "data: a table in UTF-16 has bytes that are not UTF-8",
        "training/reading.py",
        "if number == 0 and \"\\0\" in line:",
        "if False:",
        tests="tests/training/test_pairs.py -k one_line",
    ),
    Fault(
        "data: a symbol makes no other sentence",
        "training/pairs.py",
        ' or unicodedata.category(item) == "So"',
        "",
        tests="tests/training/test_pairs.py -k symbols",
    ),
    Fault(
        "data: the fingerprint sees the lengths of texts alone",
        "training/pairs.py",
        "json.dumps([side, pair.source, pair.target, pair.target_language])",
        "json.dumps([side, len(pair.source), len(pair.target), pair.target_language])",
        tests="tests/training/test_run.py -k changed_data",
    ),
    Fault(
        "data: a run that was forced keeps its old fingerprint",
        "training/run.py",
        "atomic_write(output / DATA, json.dumps(data_record(corpus)) + \"\\n\")",
        "(output / DATA).exists() or atomic_write(output / DATA, json.dumps(data_record(corpus)))",
        tests="tests/training/test_run.py -k changed_data",
    ),
]
