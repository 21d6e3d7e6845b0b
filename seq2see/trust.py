"""`seq2see align RUN --trust`: how far each view of a model's attention can be trusted, on held-out sentences.

The figures are left in RUN/trust.json, and shown from then on with every map of that model.
"""

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path

from tqdm.auto import tqdm

from seq2see.align import Aligner, TextPair, known, linked_pairs, place, settings_of, storybook
from seq2see.errors import UserError
from seq2see.gold import groups_of, in_halves
from seq2see.lens import VIEWS, Trace
from seq2see.lens.anatomy import supervised_heads
from seq2see.lens.trust import FILE, NOISE, Trust, measure_trust
from seq2see.serve.checkpoint import fingerprint
from seq2see.tokenizer.links import Links

LEAST = 300  # sentences that figures are reported on


def measure(aligner: Aligner, args: argparse.Namespace) -> None:
    """Measure on storybook's held-out combinations, or on the given files; keep the figures and print them."""
    path = place(args.run, FILE)
    dev_gold: list[Links] | None
    test_gold: list[Links] | None
    groups: list[str] | None = None
    if args.src:
        name = f"{Path(args.src).name} and {Path(args.tgt).name}"
        pairs, gold = linked_pairs(args, aligner)
        dev, test = pairs[::2], pairs[1::2]
        dev_gold, test_gold = (gold[::2], gold[1::2]) if gold else (None, None)
    else:
        name = "storybook's held-out combinations"
        halves = in_halves(storybook(settings_of(path.parent)).test)
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
    print_trust(trust)
    print(f"wrote {path}")


def _traces(aligner: Aligner, pairs: Sequence[TextPair], bar: tqdm) -> Iterator[Trace]:
    for trace in aligner.traces(pairs, views=VIEWS):
        bar.update()
        assert trace is not None  # no side is blank
        yield trace


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
