"""The verb `align`: word alignment of given translations from a model's cross-attention.

The maps and their weights come from RUN/alignment.json, which `--fit` has fitted on development sentences with gold
links.  Without it, or if it is of other weights, the last layer's mean is used, and stderr says so.
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
    """`args.run`, `args.src`, `args.tgt`, `args.links`, `args.fit`, `args.trust`, `args.source`, `args.target`,
    checked by `align_checks.py`."""
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


def print_trust(trust: Trust) -> None:
    """One line per view: its best map; then the result of random maps."""
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
