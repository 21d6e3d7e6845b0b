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
    Fault(
        "a damaged file passes the manifest",
        "seq2see/manifest.py",
        "if sha256(file) != expected:",
        "if False:",
        tests="tests/package/test_manifest.py",
    ),
    Fault(
        "a damaged manifest is believed",
        "seq2see/manifest.py",
        'content["of_these_sums"] == _sum_of(sums) and all',
        "all",
        tests="tests/package/test_manifest.py",
    ),
    Fault(
        "links out of the folder are followed",
        "seq2see/vetting.py",
        "if path.is_symlink() and not any(",
        "if False and not any(",
        tests="tests/package/vetting -k link",
    ),
    Fault(
        "tensors of whole numbers are weights",
        "seq2see/vetting.py",
        '"BF16": 2}',
        '"BF16": 2, "I64": 8}',
        tests="tests/package/vetting -k weights",
    ),
    Fault(
        "ids beyond the vocabulary pass",
        "seq2see/vetting_tokenizer.py",
        "not 0 <= id < most:",
        "not 0 <= id:",
        tests="tests/package/vetting -k hurt",
    ),
    Fault(
        "an awkward tokenizer is not tried",
        "seq2see/vetting_tokenizer.py",
        "        _try(path, patterns)",
        "        pass",
        tests="tests/package/vetting -k hurt",
    ),
    Fault(
        "a line without end is read on and on",
        "serve/commands.py",
        "stream.readline(LONGEST_LINE + 1)",
        "stream.readline()",
        tests="tests/package/test_streams.py -k line",
    ),
    Fault(
        "heads: a head is needed for what the whole model cannot do",
        "seq2see/heads.py",
        "test.apart() > NEEDED >= test.apart(chosen)",
        "NEEDED >= test.apart(chosen)",
        tests="tests/package/test_heads_command.py -k report",
    ),
]
