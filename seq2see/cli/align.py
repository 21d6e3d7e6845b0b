"""The verb `align`: word alignment of given translations from a model's cross-attention.

The maps and their weights come from alignment.json, which `seq2see measure` has fitted to gold links.  Without it, or
if it is of other weights, the last layer's mean is used, and stderr says so.
"""

import argparse
import sys
from itertools import islice
from pathlib import Path

from seq2see.errors import UserError
from seq2see.measures.parallel_files import read_pairs
from seq2see.streams import LINES_CHECKED, only_results_on_stdout
from seq2see.text.word_links import to_pharaoh


def run(args: argparse.Namespace) -> None:
    """`args.run`, `args.src`, `args.tgt`, `args.source`, `args.target`."""
    check(args)
    from seq2see.lens.heads.alignment_choice import FILE  # these import torch, which takes seconds
    from seq2see.measures.aligner import Aligner
    from seq2see.training.checkpoints import find_record
    from seq2see.translate import Translator

    with only_results_on_stdout():
        translator = Translator.from_pretrained(args.run, engine="torch", device=args.device)
        aligner = Aligner(translator, source=args.source, target=args.target)
    choice, known = translator.alignment, "fitted"
    if choice is None:
        stale = translator.folder and find_record(translator.folder, FILE)
        why = f"not fitted to these weights ({FILE} belongs to other weights)" if stale else "not fitted"
        choice, known = aligner.naive(), f"{why}, so their error is unknown (to fit them: seq2see measure {args.run})"
    print(f"word links {known}: {choice.describe()}", file=sys.stderr)
    for trace in aligner.traces(read_pairs(args.src, args.tgt), views=("raw", choice.view)):
        sys.stdout.write(to_pharaoh(choice.links(trace) if trace else ()) + "\n")


def check(args: argparse.Namespace) -> None:
    """The files `args.src` and `args.tgt`: they exist, and their first lines are valid."""
    if not (args.src and args.tgt):
        raise UserError("give --src FILE and --tgt FILE: line N of --tgt translates line N of --src",
                        exit_code=2)
    for path in (args.src, args.tgt):
        Path(path).stat()
    if Path(args.src).is_file() and Path(args.tgt).is_file():  # a pipe is read only once
        for _ in islice(read_pairs(args.src, args.tgt), LINES_CHECKED):
            pass
