"""The verb `align`: word alignment of given translations from a model's cross-attention.

The maps and their weights come from RUN/alignment.json, which `--fit` has fitted on development sentences with gold
links.  Without it, or if it is of other weights, the last layer's mean is used, and stderr says so.
"""

import argparse
import sys
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from seq2see.errors import UserError
from seq2see.measures.parallel_files import LinkedFiles, read_pairs
from seq2see.streams import LINES_CHECKED, only_results_on_stdout
from seq2see.tokenizer.links import to_pharaoh

if TYPE_CHECKING:
    from seq2see.lens.trust import Trust


def run(args: argparse.Namespace) -> None:
    """`args.run`, `args.src`, `args.tgt`, `args.links`, `args.fit`, `args.trust`, `args.source`, `args.target`."""
    check(args)
    from seq2see.lens.alignment_choice import FILE  # these import torch, which takes seconds
    from seq2see.lens.trust import FILE as TRUST
    from seq2see.measures.aligner import Aligner, fit
    from seq2see.measures.held_out_faithfulness import measure
    from seq2see.training.checkpoints import find_record
    from seq2see.translate import Translator

    with only_results_on_stdout():
        translator = Translator.from_pretrained(args.run, engine="torch", device=args.device)
        aligner = Aligner(translator, source=args.source, target=args.target)
    files = LinkedFiles(args.src, args.tgt, args.links) if args.src else None
    if args.fit:
        print(f"{fit(aligner, args.run, files).describe()}\nwrote {Path(args.run) / FILE}")
        return
    if args.trust:
        print_trust(measure(aligner, args.run, files))
        print(f"wrote {Path(args.run) / TRUST}")
        return
    choice, known = translator.alignment, "fitted"
    if choice is None:
        stale = translator.folder and find_record(translator.folder, FILE)
        why = f"not fitted to these weights ({FILE} is for others)" if stale else "not fitted"
        choice, known = aligner.naive(), f"{why}, so its error is unknown (to fit: seq2see align {args.run} --fit)"
    print(f"{known}: {choice.describe()}", file=sys.stderr)
    for trace in aligner.traces(read_pairs(args.src, args.tgt), views=("raw", choice.view)):
        sys.stdout.write(to_pharaoh(choice.links(trace) if trace else ()) + "\n")


def print_trust(trust: "Trust") -> None:
    """One line per view: its best map; then the result of random maps."""
    from seq2see.lens.trust import NOISE

    print(f"Cross-attention by words, on {trust.sentences} sentences of {trust.measured_on}; each view's best map\n"
          f"was chosen on {trust.chosen_on} others. Layers and heads count from 0; 95 % intervals in brackets.\n")
    print("  AER  alignment error of linking each target word to the source word with most weight (0 %: none)")
    print("  tau  Kendall's tau against the change in log-probability when a source word is erased (1: same order),"
          f"\n       over the {trust.words:,} words whose change is at least {NOISE} nats\n")
    if any(one.supervised for one in trust.best):
        print("  supervised: this head was trained with gold links\n")
    for one in (*trust.best, trust.random):
        name = "random weights" if one is trust.random else one.name
        print(f"  {one.view:14} {name:32} {one}")


def check(args: argparse.Namespace) -> None:
    check_files(args)
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


def check_files(args: argparse.Namespace) -> None:
    """The files `args.src` and `args.tgt`, if given: they exist, and their first lines are valid."""
    if bool(args.src) != bool(args.tgt):
        raise UserError("--src and --tgt go together: line N of one is the translation of line N of the other",
                        exit_code=2)
    if not args.src:
        return
    for path in (args.src, args.tgt):
        Path(path).stat()
    if Path(args.src).is_file() and Path(args.tgt).is_file():  # a pipe is read only once
        for _ in islice(read_pairs(args.src, args.tgt), LINES_CHECKED):
            pass
