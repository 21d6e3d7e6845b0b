"""How far each view of a model's attention can be trusted, on held-out sentences.

The figures are left in RUN/trust.json, and shown from then on with every map of that model.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path

from tqdm.auto import tqdm

from seq2see.errors import UserError
from ..lens import VIEWS, Trace
from ..lens.anatomy import supervised_heads
from ..lens.trust import FILE, Trust
from ..lens.trust_measurement import measure_trust
from ..tokenizer.links import Links
from ..translate.checkpoint import fingerprint
from .alignment import Aligner, known, linked_pairs, place, settings_of, storybook
from .gold import groups_of, in_halves
from .pairs import LinkedFiles, TextPair

LEAST = 300  # sentences that figures are reported on


def measure(aligner: Aligner, run: str, files: LinkedFiles | None) -> Trust:
    """The figures on storybook's held-out combinations, or on the given files, which are left beside the run."""
    path = place(run, FILE)
    dev_gold: list[Links] | None
    test_gold: list[Links] | None
    groups: list[str] | None = None
    if files:
        name = f"{Path(files.source).name} and {Path(files.target).name}"
        pairs, gold = linked_pairs(files, aligner)
        dev, test = pairs[::2], pairs[1::2]
        dev_gold, test_gold = (gold[::2], gold[1::2]) if gold else (None, None)
    else:
        name = "storybook's held-out combinations"
        halves = in_halves(storybook(settings_of(path.parent)).test)
        aligner.source, aligner.target = "en", "fr"  # whatever else the model translates
        (dev, dev_gold), (test, test_gold) = map(known, halves)
        groups = groups_of(halves[1])
    if len(test) < LEAST:
        raise UserError(f"{len(dev) + len(test)} sentence pairs are too few: {LEAST} are reported on, and on as many"
                        " others each view's best map is chosen")  # fmt: skip
    with tqdm(desc="Measuring", total=len(dev) + len(test), disable=None, leave=False, dynamic_ncols=True) as bar:
        trust = measure_trust(
            _traces(aligner, dev, bar), _traces(aligner, test, bar), dev_gold=dev_gold, test_gold=test_gold,
            measured_on=name, groups=groups, weights=fingerprint(path.parent),
            supervised=supervised_heads(aligner.model),
        )
    trust.save(path)
    return trust


def _traces(aligner: Aligner, pairs: Sequence[TextPair], bar: tqdm) -> Iterator[Trace]:
    for trace in aligner.traces(pairs, views=VIEWS):
        bar.update()
        assert trace is not None  # no side is blank
        yield trace
