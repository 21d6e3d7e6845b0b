"""Word alignment: attention compared with a statistical aligner on the same pairs.

    python benchmarks/alignment.py --storybook runs/storybook --aligned runs/storybook-guided \\
        --multi30k runs/multi30k-en-de --data ../shared/data/multi30k
    python benchmarks/alignment.py --quick        a hundred sentences, the packaged storybook model

Storybook has gold links, by its frozen guideline.  Everything is chosen on the validation set and reported on the test
set, the held-out combinations: every map alone with its best rule, the fitted choice, and the last layer's mean, which
most tools draw.  `--storybook` takes several runs, with different seeds.
`--aligned` is a model with a head supervised by gold links: reported separately, since the head shows its training.

eflomal learns from the same pairs, without gold links; the symmetrisation that is best on the validation set counts.
As usual, it also sees the test pairs.  Install it anywhere, see _statistical.py.
Multi30k has no gold links: the intersection of eflomal's directions serves as silver links, so an error against them is
a distance to eflomal.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from _frame import arguments, end, folder, sentences, show
from _statistical import both_directions, find_eflomal, symmetrised

from seq2see import Translator
from seq2see.lens import VIEWS, Trace
from seq2see.lens.alignment_choice import AlignmentChoice
from seq2see.lens.alignment_fitting import GoldSentences
from seq2see.lens.intervals import Estimate, agreement
from seq2see.measures.aligner import Aligner, texts_and_links
from seq2see.measures.gold import groups_of
from seq2see.storybook import generate
from seq2see.tokenizer.links import Link, Links

POINTS = 10.0  # target for the fitted choice's advantage over the last layer's mean
QUICK = 100  # sentences

TextPair = tuple[str, str]


@dataclass
class Part:
    """Sentence pairs with their reference links, and eflomal's links."""

    pairs: list[TextPair]
    gold: list[Links]
    languages: tuple[str, str]
    groups: list[str] | None = None  # the sentence that each is a variant of
    statistical: dict[str, list[frozenset[Link]]] = field(default_factory=dict)

    def error(self, way: str) -> Estimate:
        """The AER of eflomal, symmetrised in this way."""
        return agreement(self.statistical[way], self.gold, groups=self.groups)["aer"]


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--storybook", nargs="*", default=[], metavar="RUN", help="ordinary models of storybook")
    parser.add_argument("--aligned", nargs="*", default=[], metavar="RUN", help="models of storybook-guided")
    parser.add_argument("--multi30k", nargs="*", default=[], metavar="RUN", help="models of Multi30k en-de")
    parser.add_argument("--data", default="../shared/data/multi30k", help="Multi30k's folder (%(default)s)")
    args = parser.parse_args()
    torch.set_num_threads(1)
    program = find_eflomal()
    if program is None:
        print("eflomal-align not found, so its rows are omitted (pip install eflomal, or set EFLOMAL to the program)")
    if not (args.storybook or args.aligned or args.multi30k):
        args.storybook = [folder("storybook")]
    rows: list[dict[str, Any]] = []
    if args.storybook or args.aligned:
        parts = storybook_parts(program, quick=args.quick)
        for run in args.storybook:
            rows += measure(f"storybook: {run}", run, *parts, supervised=False)
        for run in args.aligned:
            rows += measure(f"storybook, supervised by gold links: {run}", run, *parts, supervised=True)
    if args.multi30k:
        if program is None:
            raise SystemExit("links for Multi30k come from eflomal: install it (see benchmarks/_statistical.py)")
        parts = multi30k_parts(program, Path(args.data), quick=args.quick)
        for run in args.multi30k:
            rows += measure(f"Multi30k, silver links: {run}", run, *parts, supervised=False)
    show(rows)
    end("alignment", rows)


def storybook_parts(program: str | None, *, quick: bool) -> tuple[Part, Part]:
    book, limit = (generate(train_size=1), QUICK) if quick else (generate(), None)
    dev, test = (Part(*texts_and_links(stories), ("en", "fr"), groups_of(stories))
                 for stories in (book.val[:limit], book.test[:limit]))  # fmt: skip
    if program:
        add_statistical(program, [] if quick else texts_and_links(book.train)[0], dev, test)
        for way in test.statistical:
            print(f"eflomal, {way:22} AER {test.error(way):.1%}")
    return dev, test


def multi30k_parts(program: str, folder: Path, *, quick: bool) -> tuple[Part, Part]:
    def read(part: str) -> list[TextPair]:
        return list(zip(*(sentences(folder / f"{part}.{language}.gz") for language in ("en", "de")), strict=True))

    limit = QUICK if quick else None
    dev, test = (Part(read(name)[:limit], [], ("en", "de")) for name in ("val", "test_2016_flickr"))
    add_statistical(program, read("train"), dev, test)
    for part in (dev, test):
        part.gold = [Links(links) for links in part.statistical.pop("intersection")]
        part.statistical.clear()  # compared with itself it would have no error
    return dev, test


def add_statistical(program: str, more: list[TextPair], *parts: Part) -> None:
    pairs = more + [pair for part in parts for pair in part.pairs]
    sources, targets = (list(side) for side in zip(*pairs, strict=True))
    forward, reverse = both_directions(program, sources, targets, languages=parts[0].languages)
    at = len(more)
    for part in parts:
        found = [symmetrised(*both) for both in zip(forward[at:], reverse[at:], strict=True)][: len(part.pairs)]
        part.statistical = {name: [one[name] for one in found] for name in found[0]}
        at += len(part.pairs)


def measure(title: str, run: str, dev: Part, test: Part, *, supervised: bool) -> list[dict[str, Any]]:
    """A row for each peer: the fitted choice against the last layer's mean, and against eflomal."""
    aligner = Aligner(Translator.from_pretrained(run, engine="torch"))
    tried_on = GoldSentences(traces_of(aligner, dev), dev.gold, dev.groups)
    fitted = tried_on.fit(fitted_on="the validation part", guided=supervised)
    tested = GoldSentences(traces_of(aligner, test), test.gold, test.groups)
    print(f"\n{title}")
    print("  AER in % of every map on the test set, each with its rule and threshold from the validation set")
    print_maps([(one.choice, tested.agreement(one.choice)["aer"]) for one in tried_on.try_maps()])
    choices = {"fitted choice": fitted, "last layer's mean": aligner.naive()}
    found = {name: tested.agreement(choice)["aer"] for name, choice in choices.items()}
    if test.statistical:
        best = min(dev.statistical, key=lambda way: dev.error(way).value)
        found[f"eflomal, {best}"] = test.error(best)
    for name, measured in found.items():
        print(f"  {name:18} AER {measured:.1%}")
    ours, *peers = found.items()
    return [
        {"name": title, "ours": round(100 * ours[1].value, 2), "than": name, "peer": round(100 * peer.value, 2),
         "unit": "% AER", "won": round(100 * (peer.value - ours[1].value), 2),
         "wanted": POINTS if name == "last layer's mean" and not supervised else None, "choice": fitted.describe()}
        for name, peer in peers
    ]  # fmt: skip


def print_maps(found: list[tuple[AlignmentChoice, Estimate]]) -> None:
    """A line per view, row meaning and layer, with the figures of its heads side by side."""
    lines: dict[tuple[str, str, str], list[str]] = {}
    for choice, measured in found:
        [name] = choice.maps
        layer = f"layer {name[0]}" if name else ""
        lines.setdefault((choice.view, choice.rows, layer), []).append(f"{100 * measured.value:5.1f}")
    for (view, rows, layer), figures in lines.items():
        print(f"    {view:14} {rows:9} {layer:8} {' '.join(figures)}")


def traces_of(aligner: Aligner, part: Part) -> Iterator[Trace]:
    for trace in aligner.traces(part.pairs, views=VIEWS):
        assert trace is not None
        yield trace


if __name__ == "__main__":
    main()
