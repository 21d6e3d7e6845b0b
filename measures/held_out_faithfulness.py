"""The faithfulness of each view of a model's attention, on held-out sentences.

The figures are saved in RUN/trust.json and shown with every map of that model.
"""

from collections.abc import Sequence
from pathlib import Path

from seq2see.errors import UserError
from ..lens.faithfulness import measure_trust
from ..lens.hooks import supervised_heads
from ..lens.trust import FILE, Trust
from ..storybook import StoryPair
from ..tokenizer.links import Links
from ..translate.loaded_checkpoint import fingerprint
from .aligner import Aligner, linked_pairs, output_path, settings_of, storybook, texts_and_links
from .card_sections import show_measurements
from .gold import groups_of, in_halves
from .parallel_files import LinkedFiles, TextPair

LEAST = 300  # sentences for reporting
Half = tuple[list[TextPair], list[Links] | None]


def measure(aligner: Aligner, run: str, files: LinkedFiles | None) -> Trust:
    """Measure on storybook's held-out combinations or on the given files, and save the figures in the run."""
    path = output_path(run, FILE)
    if files:
        pairs, gold = linked_pairs(files, aligner)
        halves = [(pairs[half::2], gold and gold[half::2]) for half in (0, 1)]
        _check_count(*(len(part) for part, _ in halves))
        name = f"{Path(files.source).name} and {Path(files.target).name}"
        trust = _measured(aligner, path.parent, *halves, measured_on=name)
    else:
        stories = in_halves(storybook(settings_of(path.parent)).test)
        _check_count(*map(len, stories))
        trust = measure_on_stories(aligner, path.parent, *stories)
    trust.save(path)
    show_measurements(path.parent)
    return trust


def measure_on_stories(aligner: Aligner, folder: Path, dev: Sequence[StoryPair], test: Sequence[StoryPair]) -> Trust:
    """The figures for the model in this folder, on sentences of storybook's held-out combinations."""
    aligner.source, aligner.target = "en", "fr"  # also for a model with other languages
    return _measured(aligner, folder, texts_and_links(dev), texts_and_links(test),
                     measured_on="storybook's held-out combinations", groups=groups_of(test))


def _check_count(dev: int, test: int) -> None:
    if test < LEAST:
        raise UserError(f"{dev + test} sentence pairs are too few: {LEAST} are needed for reporting, and as many"
                        " others for choosing each view's best map")  # fmt: skip


def _measured(aligner: Aligner, folder: Path, dev: Half, test: Half, *, measured_on: str,
              groups: Sequence[str] | None = None) -> Trust:
    (dev_pairs, dev_gold), (test_pairs, test_gold) = dev, test
    return measure_trust(
        aligner.all_views(dev_pairs, "Choosing maps"), aligner.all_views(test_pairs, "Measuring"), dev_gold=dev_gold,
        test_gold=test_gold, measured_on=measured_on, groups=groups, weights=fingerprint(folder),
        supervised=supervised_heads(aligner.model),
    )
