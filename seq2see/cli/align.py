"""The verb `align`: the words of given translations that belong together, read off a model's cross-attention.

What is read, and how, is the choice that `--fit` has fitted on development sentences with known links and left in
RUN/alignment.json.  Where there is none, or one of other weights, it is the last layer's mean, and stderr says so.
"""

import argparse
import sys
from pathlib import Path

from seq2see.lens.alignment import FILE
from seq2see.lens.trust import FILE as TRUST
from seq2see.lens.trust import NOISE, Trust
from seq2see.measures.alignment import Aligner, fit
from seq2see.measures.faithfulness import measure
from seq2see.measures.pairs import LinkedFiles, read_pairs
from seq2see.streams import only_results_on_stdout
from seq2see.tokenizer.links import to_pharaoh
from seq2see.training.checkpoints import find_record
from seq2see.translate import Translator


def run(args: argparse.Namespace) -> None:
    """`args.run`, `args.src`, `args.tgt`, `args.links`, `args.fit`, `args.trust`, `args.source`, `args.target`, which
    `align_checks.py` has passed."""
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
        why = f"not fitted to these weights ({FILE} is of others)" if stale else "not fitted"
        choice, known = aligner.naive(), f"{why}, so nobody knows its error (seq2see align {args.run} --fit)"
    print(f"{known}: {choice.describe()}", file=sys.stderr)
    for trace in aligner.traces(read_pairs(args.src, args.tgt), views=("raw", choice.view)):
        sys.stdout.write(to_pharaoh(choice.links(trace) if trace else ()) + "\n")


def print_trust(trust: Trust) -> None:
    """A line a view: its best map, and what random maps would have had."""
    print(f"Cross-attention by words, on {trust.sentences} sentences of {trust.measured_on}; each view's best map\n"
          f"was chosen on {trust.chosen_on} others. Layers and heads count from 0; in brackets 95 % intervals.\n")
    print("  AER  error of linking each target word to the source word it has most from (0 %: none)")
    print("  tau  Kendall's, with the fall in log-probability when each source word is left out (1: same order), over"
          f"\n       the {trust.words:,} words whose fall or rise is at least {NOISE} nats\n")
    if any(one.supervised for one in trust.best):
        print("  supervised: this head was trained with gold links\n")
    for one in (*trust.best, trust.random):
        name = "evenly drawn weights" if one is trust.random else one.name
        print(f"  {one.view:14} {name:32} {one}")
