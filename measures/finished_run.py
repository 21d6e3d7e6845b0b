"""Measurements of a run after its training, within a fifth of the training time.

All of `measure.py`, and the replay, if weights were kept for it.  Each is measured on a few sentences first, to
estimate how many there is time for; the files record their number and intervals.  The replay counts moments instead.

No failure here affects the training: the model is saved before.
"""

import shutil
import time
from collections.abc import Iterator
from pathlib import Path

from seq2see.errors import UserError
from seq2see.json_files import read_json
from ..lens.corpora import replay
from ..training.moments import FOLDER, MOMENTS
from ..training.progress import duration, report
from ..translate.translator import Translator
from .card_sections import show_measurements
from .measure import Measure, Result, measures_of
from .training_replay import kept_moments, make_replay

SHARE = 0.2  # of the training time
CAUTION = 0.8  # share of the remaining time to plan for, from an estimate on a few sentences


def within(measure: Measure, seconds: float) -> Result:
    """The result on as many sentences as there is time for, reporting their number; UserError if these are too few."""
    count, took = 0, 0.0
    if measure.most < measure.least:
        raise UserError(f"at least {measure.least} {measure.unit} are needed; there are {measure.most}")
    if seconds > 0:
        began = time.monotonic()
        measure.take(measure.few)
        took = time.monotonic() - began
        count = min(measure.most, int(measure.few * CAUTION * (seconds - took) / took))
    if count < measure.least:
        raise UserError(f"{max(seconds, 0):.1f} s are left, too little for {measure.least} {measure.unit}")
    report(f"{measure.name}: {count} {measure.unit}, about {duration(took * count / measure.few)}")
    return measure.take(count)


def measure_run(run: Path) -> None:
    """Measure a finished run of `seq2see train`, save the results in it, and remove the weights of its moments."""
    seconds = SHARE * read_json(run / "metrics.json")["training"]["seconds"]
    ends = time.monotonic() + seconds
    report(f"the model is finished; measuring {run} for at most {duration(seconds)}")
    try:
        translator = Translator.from_pretrained(run, engine="torch")
        all_of_it = measures_of(translator, full=False)
        measures = [*(one for one in all_of_it if isinstance(one, Measure)), *replay_of(translator, run)]
    except Exception as error:
        measures = []
        report(f"nothing was measured ({reason_of(error)})")
    for number, measure in enumerate(measures):
        try:
            result = within(measure, (ends - time.monotonic()) / (len(measures) - number))
            result.save(run / measure.file)
            report(f"wrote {run / measure.file}")
        except Exception as error:
            command = measure.command + " --data PAIRS" * (measure.most < measure.least)  # the run has too few
            later = f"; to measure this: {command}" if measure.command else ""
            report(f"not measured: {measure.name} ({reason_of(error)}){later}")
    show_measurements(run)
    shutil.rmtree(run / FOLDER, ignore_errors=True)


def reason_of(error: Exception) -> str:
    return " ".join(str(error).split()) or type(error).__name__


def replay_of(translator: Translator, run: Path) -> Iterator[Measure]:
    """The replay, if moments were kept."""
    _, files = kept_moments(run)
    if files:
        def replay_on(count: int) -> Result:
            found = make_replay(translator, run, count=count)
            return Result(found, found.save)

        yield Measure("replay of the training", replay.FILE, replay_on, few=1, least=2,
                      most=min(MOMENTS, len(files) + 1), unit="moments")
