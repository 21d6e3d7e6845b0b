"""The verb `calibrate`: measures a model's confidence and fits its calibration."""

import argparse
from pathlib import Path

from seq2see.streams import only_results_on_stdout


def run(args: argparse.Namespace) -> None:
    """Fit on the files `args.data` or on the run's own held-out pairs, and measure on `args.check` or on a part of the
    same."""
    from seq2see.lens.calibration import FILE
    from seq2see.measures.calibration_fitting import calibrate
    from seq2see.measures.card_sections import show_measurements
    from seq2see.measures.reliability import PICTURE, describe
    from seq2see.translate import Translator

    with only_results_on_stdout():
        translator = Translator.from_pretrained(args.run, device=args.device)
    found = calibrate(translator, args.run, args.data, args.check, source=args.source, target=args.target)
    found.save(Path(args.run) / FILE)
    show_measurements(Path(args.run))
    print(f"{describe(found)}\nwrote {Path(args.run) / FILE} and {PICTURE}")
