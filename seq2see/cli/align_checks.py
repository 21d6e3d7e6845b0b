"""What the verbs `align` and `calibrate` are refused for before torch is imported, which takes seconds."""

import argparse
from itertools import islice
from pathlib import Path

from seq2see.errors import UserError
from seq2see.measures.pairs import read_pairs
from seq2see.streams import LINES_CHECKED


def check_command(args: argparse.Namespace) -> None:
    """Of `align`: `args.src`, `args.tgt`, `args.links`, `args.fit`, `args.trust`."""
    check_pair(args)
    if args.fit and args.trust:
        raise UserError("--fit and --trust measure on different sentences: do one after the other", exit_code=2)
    if args.links and not (args.fit or args.trust):
        raise UserError("--links are for --fit and --trust: without them links are what comes out", exit_code=2)
    if args.fit and args.src and not args.links:
        raise UserError("--fit needs --links FILE with the known links of --src and --tgt, as lines of 0-0 1-2",
                        exit_code=2)
    if not (args.fit or args.trust or args.src):
        raise UserError("give --src FILE and --tgt FILE to be aligned, or --fit, or --trust", exit_code=2)
    if args.links:
        Path(args.links).stat()
    check_files(args)


def check_pair(args: argparse.Namespace) -> None:
    if bool(args.src) != bool(args.tgt):
        raise UserError("--src and --tgt go together: a line of one is the translation of that line of the other",
                        exit_code=2)


def check_files(args: argparse.Namespace) -> None:
    """`args.src` and `args.tgt`, the files or None: that they are there, and how they begin."""
    check_pair(args)
    if not args.src:
        return
    for path in (args.src, args.tgt):
        Path(path).stat()
    if Path(args.src).is_file() and Path(args.tgt).is_file():  # a pipe is read only once
        for _ in islice(read_pairs(args.src, args.tgt), LINES_CHECKED):
            pass
