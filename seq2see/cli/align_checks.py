"""Argument checks of `align` and `calibrate`, made before torch is imported, which takes seconds."""

import argparse
from itertools import islice
from pathlib import Path

from seq2see.errors import UserError
from seq2see.measures.pairs import read_pairs
from seq2see.streams import LINES_CHECKED


def check_command(args: argparse.Namespace) -> None:
    """For `align`: `args.src`, `args.tgt`, `args.links`, `args.fit`, `args.trust`."""
    check_pair(args)
    if args.fit and args.trust:
        raise UserError("--fit and --trust use different sentences: run one after the other", exit_code=2)
    if args.links and not (args.fit or args.trust):
        raise UserError("--links needs --fit or --trust: without them links are the output", exit_code=2)
    if args.fit and args.src and not args.links:
        raise UserError("--fit needs --links FILE with the gold links of --src and --tgt, in lines such as 0-0 1-2",
                        exit_code=2)
    if not (args.fit or args.trust or args.src):
        raise UserError("give --src FILE and --tgt FILE to align, or --fit, or --trust", exit_code=2)
    if args.links:
        Path(args.links).stat()
    check_files(args)


def check_pair(args: argparse.Namespace) -> None:
    if bool(args.src) != bool(args.tgt):
        raise UserError("--src and --tgt go together: line N of one is the translation of line N of the other",
                        exit_code=2)


def check_files(args: argparse.Namespace) -> None:
    """The files `args.src` and `args.tgt`, if given: they exist, and their first lines are valid."""
    check_pair(args)
    if not args.src:
        return
    for path in (args.src, args.tgt):
        Path(path).stat()
    if Path(args.src).is_file() and Path(args.tgt).is_file():  # a pipe is read only once
        for _ in islice(read_pairs(args.src, args.tgt), LINES_CHECKED):
            pass
