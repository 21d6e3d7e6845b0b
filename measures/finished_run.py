"""Measurements of a run after its training, within a fifth of the training time.

The calibration of its probabilities; if the model was trained on storybook, which has gold links, word links,
faithfulness of the views and roles of heads; and the replay, if weights were kept for it.  Each is measured on a few
sentences first, to estimate how many there is time for; the files record their number and intervals.  The replay counts
moments instead.

No failure here affects the training: the model is saved before.
"""

import shutil
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from seq2see.errors import UserError
from seq2see.json_files import read_json
from ..lens import alignment_choice, calibration, replay, roles, trust
from ..training.moments import FOLDER, MOMENTS
from ..training.progress import duration, report
from ..translate.loaded_checkpoint import fingerprint
from ..translate.translator import Translator
from .aligner import Aligner, fit_to_stories, settings_of, storybook, trained_on_storybook
from .calibration_fitting import SENTENCES, calibrate
from .card_sections import show_measurements
from .gold import in_halves
from .held_out_faithfulness import measure_on_stories
from .pronoun_heads import measure_roles, save_report
from .training_replay import kept_moments, make_replay

SHARE = 0.2  # of the training time
CAUTION = 0.8  # share of the remaining time to plan for, from an estimate on a few sentences

Save = Callable[[Path], None]


@dataclass(frozen=True)
class Measure:
    """A measurement on a number of sentences: on `few` to estimate the time for one, then on `least` to `most`.

    `take` measures, and returns a function that writes the result to a file.
    """

    name: str
    file: str
    take: Callable[[int], Save]
    few: int
    least: int
    most: int
    command: str = ""  # that measures it without a time limit
    unit: str = "sentences"

    def within(self, seconds: float) -> Save:
        """The result on as many as there is time for, reporting their number; UserError if these are too few."""
        count, took = 0, 0.0
        if seconds > 0:
            began = time.monotonic()
            self.take(self.few)
            took = time.monotonic() - began
            count = min(self.most, int(self.few * CAUTION * (seconds - took) / took))
        if count < self.least:
            raise UserError(f"{self.least} {self.unit} take longer than the {max(seconds, 0):.1f} s available")
        report(f"{self.name}: {count} {self.unit}, about {duration(took * count / self.few)}")
        return self.take(count)


def measure_run(run: Path) -> None:
    """Measure a finished run of `seq2see train`, save the results in it, and remove the weights of its moments."""
    seconds = SHARE * read_json(run / "metrics.json")["training"]["seconds"]
    ends = time.monotonic() + seconds
    report(f"measuring {run} for at most {duration(seconds)}; the model itself is finished")
    try:
        translator = Translator.from_pretrained(run, engine="torch")
        measures = [*measures_of(translator, run), *replay_of(translator, run)]
    except Exception as error:
        measures = []
        report(f"nothing was measured ({reason_of(error)})")
    for number, measure in enumerate(measures):
        try:
            save = measure.within((ends - time.monotonic()) / (len(measures) - number))
            save(run / measure.file)
            report(f"wrote {run / measure.file}")
        except Exception as error:
            later = f"; to measure it: {measure.command}" if measure.command else ""
            report(f"not measured: {measure.name} ({reason_of(error)}){later}")
    show_measurements(run)
    shutil.rmtree(run / FOLDER, ignore_errors=True)




def reason_of(error: Exception) -> str:
    return " ".join(str(error).split()) or type(error).__name__


def replay_of(translator: Translator, run: Path) -> Iterator[Measure]:
    """The replay, if moments were kept."""
    _, files = kept_moments(run)
    if files:
        yield Measure("replay of the training", replay.FILE,
                      lambda count: make_replay(translator, run, count=count).save,
                      few=1, least=2, most=min(MOMENTS, len(files) + 1), unit="moments")


def measures_of(translator: Translator, run: Path) -> Iterator[Measure]:
    """The calibration and, of a model trained on storybook, what needs gold links."""
    settings = settings_of(run)
    yield Measure("calibration", calibration.FILE, lambda count: calibrate(translator, str(run), limit=count).save,
                  few=60, least=80, most=SENTENCES, command=f"seq2see calibrate {run}")
    if trained_on_storybook(settings):
        stories, aligner = storybook(settings), Aligner(translator)
        half = min(map(len, in_halves(stories.test)))
        yield Measure("word links", alignment_choice.FILE,
                      lambda count: fit_to_stories(aligner, run, stories.val[:count]).save,
                      few=24, least=48, most=len(stories.val), command=f"seq2see align {run} --fit")
        yield Measure("faithfulness", trust.FILE,
                      lambda count: measure_on_stories(aligner, run, *in_halves(stories.test, count)).save,
                      few=12, least=48, most=half, command=f"seq2see align {run} --trust")
        yield Measure("head roles", roles.FILE,
                      lambda count: partial(save_report, measure_roles(translator, *in_halves(stories.test, count))[0]
                                            | {"weights": fingerprint(run)}),
                      few=50, least=100, most=half, command=f"seq2see heads {run} --out {run / roles.FILE}")
