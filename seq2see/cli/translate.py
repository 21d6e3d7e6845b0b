"""The verb `translate`: files, or standard input to standard output line by line; everything else on stderr.

`files.py` translates documents, `corpus.py` files of lines; all three get the output from `Asked`.
"""

import argparse
import sys
from pathlib import Path

from seq2see.cli.asked import Asked, Doubts, Remarks
from seq2see.cli.lines import line_by_line, stdin, windows
from seq2see.errors import UserError
from seq2see.pretrained import NAMES
from seq2see.translate.segment_translator import check_text


def run(args: argparse.Namespace) -> None:
    """`args.run` and `args.files`; the options are those of `asked.py` and `files.py`.

    From standard input, whatever has arrived is translated immediately: a slow writer at the other end of a pipe sees
    its lines come back, and a file goes through in large batches.  At the end stderr says how many lines are doubtful.
    """
    check(args)
    if args.files:
        from seq2see.cli.files import translate_files  # which standard input does not wait for

        translate_files(args)
        return
    groups = windows(stdin(), check_text)
    asked = Asked.of(args)
    remarks = Remarks("lines")
    for lines in groups:
        for (number, _), (results, line) in zip(lines, line_by_line(asked.translated, lines), strict=True):
            sys.stdout.write(line + "\n")
            remarks.note(number, Doubts.of(results))
        sys.stdout.flush()
    remarks.print()


def check(args: argparse.Namespace) -> None:
    """UserError, before anything is read, for options that do not go together."""
    of_files = {"-o": args.out, "--columns": args.columns, "--keys": args.keys, "--lines": args.lines,
                "--resume": args.resume}
    given = [name for name, value in of_files.items() if value]
    if given and not args.files:
        why = "" if args.run in NAMES or Path(args.run).exists() else f"; there is no file {args.run}"
        if args.lines and not why:
            why = "; standard input is always translated line by line"
        raise UserError(f"{given[0]} needs a file to translate{why}", exit_code=2)
    if args.out == "-":
        raise UserError("-o - is not supported: give the name of a file, or translate standard input to standard"
                        " output",
                        exit_code=2)
    if not args.jsonl and (args.alternatives > 1 or args.alignments):
        raise UserError(f"{'--alignments' if args.alignments else '--alternatives'} needs --jsonl", exit_code=2)
    if args.jsonl and args.target and "," in args.target:
        raise UserError("--jsonl takes one target language; run the command once for each", exit_code=2)
