"""Faults of how data are read and split, and of what a run remembers of them."""

from . import Fault

FAULTS = [
    Fault(
        "data: an unclosed quote takes the lines after it along",
        "training/reading.py",
        "again.extendleft(reversed(taken[lost:]))",
        "pass",
        tests="tests/training/test_csv.py",
    ),
    Fault(
        "data: parts of a field with line breaks are rows",
        "training/reading.py",
        "if has_line_breaks else 1",
        "if False else 1",
        tests="tests/training/test_csv.py",
    ),
    Fault(
        "data: a row that an unclosed quote has joined is a row",
        "training/reading.py",
        "isinstance(cells, list) and len(cells) == columns",
        "isinstance(cells, list)",
        tests="tests/training/test_csv.py",
    ),
    Fault(
        "data: the header of a joined table is a pair",
        "training/reading.py",
        "elif named and cells == first:",
        "elif False:",
        tests="tests/training/test_pairs.py -k one_line",
    ),
    Fault(
        "data: the first of two columns of one name is taken",
        "training/reading.py",
        "if any(header.count(language) > 1 for language in wanted):",
        "if False:",
        tests="tests/training/test_pairs.py -k one_line",
    ),
    Fault(
        "data: a table in UTF-16 has bytes that are not UTF-8",
        "training/reading.py",
        "if number == 1 and is_utf16(line):",
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
        "data: a part far from its share is not told",
        "training/pairs.py",
        "if abs(counts[side] - share) >",
        "if share - counts[side] >",
        tests="tests/training/test_pairs.py -k share",
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
    Fault(
        "a JSON array is read as lines",
        "training/reading.py",
        'if number == 1 and line.lstrip().startswith("["):',
        "if False:",
        tests="tests/training/test_reading.py -k json_array",
    ),
]
