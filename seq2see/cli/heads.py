"""The verb `heads`: what each attention head does for the pronoun, as a table and a file for the page."""

import argparse
import os
import sys
from pathlib import Path

from seq2see.cli.heads_table import print_report
from seq2see.errors import UserError
from seq2see.measures.heads import measure_heads, save_report
from seq2see.translate import Translator
from seq2see.translate.checkpoint import fingerprint


def run(args: argparse.Namespace) -> None:
    """The command: `args.run`, `args.sentences` (a limit per half; None: all), `args.out` (a file, or None)."""
    translator = Translator.from_pretrained(args.run, engine="torch", device=args.device)
    if translator.language_pairs and ("en", "fr") not in translator.language_pairs:
        raise UserError(f"heads are measured on storybook, English to French, and {args.run} does not translate it")
    if not translator.language_pairs:
        print(f"{args.run} does not name its languages: assuming English to French", file=sys.stderr)
    if args.json:
        print("--json FILE is called --out FILE now", file=sys.stderr)
    name = args.out or args.json
    out = Path(name) if name else None
    if out is not None:
        _check_writable(out)
    report = measure_heads(translator, limit=args.sentences)
    if translator.folder is not None:
        report["weights"] = fingerprint(translator.folder)  # the page shows roles of these weights only
    print_report(args.run, report)
    if out is not None:
        save_report(report, out)
        print(f"wrote {out}", file=sys.stderr)


def _check_writable(out: Path) -> None:
    """UserError before minutes of work if the report cannot be written."""
    if out.is_dir() or not os.access(out if out.exists() else out.resolve().parent, os.W_OK):
        raise UserError(f"--out {out} cannot be written: give the name of a file in a writable folder", exit_code=2)
