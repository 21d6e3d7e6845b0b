"""The verb `measure`: how far a model's views, heads and probabilities can be relied on, measured on held-out pairs."""

import argparse
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from seq2see.errors import UserError
from seq2see.streams import only_results_on_stdout

if TYPE_CHECKING:
    from seq2see.lens.records.trust import Trust
    from seq2see.measures.measure import LeftOut, Measure


def run(args: argparse.Namespace) -> int:
    """`args.run`, `args.data`, `args.check`, `args.links`, `args.source`, `args.target`, `args.sentences`,
    `args.attributions`; fails if nothing could be measured."""
    check(args)
    from seq2see.measures.card_sections import show_measurements  # these import torch, which takes seconds
    from seq2see.measures.measure import measures_of
    from seq2see.translate import Translator

    with only_results_on_stdout():
        translator = Translator.from_pretrained(args.run, device=args.device)
    folder = translator.measured_files.writable()
    replacing = replaced(translator.folder, folder)
    if replacing:
        print(f"From now on Seq2See shows the new measurements instead of {replacing}.", file=sys.stderr, flush=True)
    measures = measures_of(translator, args.data, args.check, links=args.links, source=args.source, target=args.target,
                           attributions=args.attributions)
    written = [measured(measure, folder, most=args.sentences) for measure in measures]
    show_measurements(folder)
    if replacing and any(written):
        aer = "" if args.links else ", except the alignment error of each view, which needs --links"
        print(f"Seq2See now shows these measurements of {translator.name} instead of {replacing}. What they leave out"
              f" stays as it was{aer}.")
    return 0 if any(written) else 1


def replaced(model: Path | None, folder: Path) -> str:
    """Which measurements beside the model those in `folder` replace, and how to return to them; "" for none."""
    from seq2see.lens.measurements import Measurements
    from seq2see.pretrained import is_packaged

    if model is None or folder == model or not Measurements(model, alone=True):
        return ""
    which = "the packaged ones" if is_packaged(model) else f"those in {model}"
    return f"{which} (to return to them, delete {folder})"


def check(args: argparse.Namespace) -> None:
    if args.links and len(args.data) != 1:
        raise UserError("--links needs one file of pairs: give --data FILE", exit_code=2)
    for path in filter(None, [args.links]):
        Path(path).stat()


def measured(measure: "Measure | LeftOut", folder: Path, *, most: int) -> bool:
    """Measure, print and write, or say on stderr why not; whether it was written."""
    from seq2see.measures.measure import LeftOut
    from seq2see.training.progress import duration

    began = time.monotonic()
    try:
        if isinstance(measure, LeftOut):
            raise UserError(measure.why)
        if measure.most < measure.least:
            raise UserError(measure.too_few())
        result = measure.take(min(measure.most, most))
    except UserError as error:
        print(f"not measured: {measure.name} ({error})", file=sys.stderr)
        return False
    path = folder / measure.file
    result.save(path)
    print(f"# {measure.name}")
    print_found(result.found)
    print(f"wrote {path} after {duration(time.monotonic() - began)}\n", flush=True)
    return True


def print_found(found: Any) -> None:
    from seq2see.cli.heads_report import print_report, print_roles
    from seq2see.lens.heads.alignment_choice import AlignmentChoice
    from seq2see.lens.records.example_record import Examples
    from seq2see.lens.records.trust import Trust
    from seq2see.measures.reliability import describe

    match found:
        case AlignmentChoice():
            print(found.describe())
        case Trust():
            print_trust(found)
        case Examples():
            print(found.describe())
        case {"needed": _}:
            print_report(found)
        case dict():
            print_roles(found)
        case _:
            print(describe(found))


def print_trust(trust: "Trust") -> None:
    """One line per view: its best map; then the result of random maps."""
    from seq2see.lens.records.trust import NOISE

    print(f"Cross-attention by words, measured on {trust.sentences} sentences of {trust.measured_on}.\n"
          f"The best map of each view was chosen on {trust.chosen_on} other sentences. Layers and heads count from 0.\n"
          "Brackets: 95 % intervals.\n")
    print("  AER  alignment error rate, if each target word is linked to the source word with the largest weight"
          "\n       (0 %: no error)")
    print("  tau  Kendall's tau between the weights and the erasure drops of source words (1: same order), over the"
          f"\n       {trust.words:,} source words whose drop is at least {NOISE} nats\n")
    if trust.random.deletion:
        print("  deletion   area under the probability of a target word as source words are removed in the order of"
              "\n             its row (smaller is better)"
              "\n  insertion  the same as source words are put back (larger is better)\n")
    if any(one.supervised for one in trust.best):
        print("  supervised  the head was trained with gold links\n")
    widest = max(14, *(len(one.view) for one in trust.best))
    for one in (*trust.best, trust.random):
        name = "random weights" if one is trust.random else one.name
        print(f"  {one.view:{widest}} {name:32} {one}")
