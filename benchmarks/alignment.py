"""Word alignment: attention compared with a statistical aligner on the same pairs.

    python benchmarks/alignment.py --storybook runs/storybook --aligned runs/storybook-aligned \\
        --multi30k runs/multi30k-en-de --data ../shared/data/multi30k
    python benchmarks/alignment.py --quick        a hundred sentences of a barely trained model

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

import json
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from _frame import arguments, end, sentences
from _statistical import both_directions, find_eflomal, symmetrised

from seq2see import Translator
from seq2see.lens import VIEWS, Trace
from seq2see.lens.alignment import AlignmentChoice
from seq2see.lens.fitting import GoldSentences
from seq2see.lens.intervals import Agreement, agreement
from seq2see.measures.alignment import Aligner, texts_and_links
from seq2see.measures.gold import groups_of
from seq2see.storybook import generate
from seq2see.tokenizer.links import Link, Links
from seq2see.tokenizer.words import split_words

POINTS = 10.0  # target for the fitted choice's advantage over the last layer's mean

TRAIN = """
import sys
from pathlib import Path
from seq2see.training.config import load_config
from seq2see.training.run import prepare, train_model

config = load_config("storybook", sys.argv[1:])
output = Path(config.training["output_dir"])
trainer = train_model(prepare(config, output), config, output)
for part in (trainer.model, trainer.processing_class):
    part.save_pretrained(output)
"""

TextPair = tuple[str, str]


@dataclass
class Part:
    """Sentence pairs with their reference links, and eflomal's links."""

    pairs: list[TextPair]
    gold: list[Links]
    languages: tuple[str, str]
    groups: list[str] | None = None  # the sentence that each is a variant of
    statistical: dict[str, list[frozenset[Link]]] = field(default_factory=dict)

    def twice(self, number: int) -> tuple[set[int], set[int]]:
        """The words on each side of a pair that occur more than once in their sentence."""
        sides = []
        for text, language in zip(self.pairs[number], self.languages, strict=True):
            words = [word.text.casefold() for word in split_words(text, language=language)]
            often = Counter(words)
            sides.append({k for k, word in enumerate(words) if often[word] > 1})
        return sides[0], sides[1]

    def measure(self, found: Sequence[Iterable[Link]], *, repeated: bool = False) -> Agreement:
        """Agreement with the gold links; with `repeated`, only of links of a word that occurs more than once."""
        if not repeated:
            return agreement(found, self.gold, groups=self.groups)
        kept, gold, groups = [], [], []
        for number, (links, truth) in enumerate(zip(found, self.gold, strict=True)):
            sources, targets = self.twice(number)
            if sources or targets:
                kept.append([link for link in links if link[0] in sources or link[1] in targets])
                gold.append(Links(frozenset(one for one in truth.sure if one[0] in sources or one[1] in targets)))
                groups.append(self.groups[number] if self.groups else f"alone {number}")
        return agreement(kept, gold, groups=groups)


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--storybook", nargs="*", default=[], metavar="RUN", help="ordinary models of storybook")
    parser.add_argument("--aligned", nargs="*", default=[], metavar="RUN", help="models of storybook-aligned")
    parser.add_argument("--multi30k", nargs="*", default=[], metavar="RUN", help="models of Multi30k en-de")
    parser.add_argument("--data", default="../shared/data/multi30k", help="Multi30k's folder (%(default)s)")
    args = parser.parse_args()
    torch.set_num_threads(1)
    program = find_eflomal()
    if program is None:
        print("eflomal-align not found, so its rows are omitted (pip install eflomal, or set EFLOMAL to the program)")
    rows: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as scratch:
        if args.quick and not args.storybook:
            args.storybook = [train_a_little(Path(scratch) / "run")]
        if not (args.storybook or args.aligned or args.multi30k):
            raise SystemExit("nothing to measure: seq2see train storybook, then --storybook runs/storybook; or --quick")
        if args.storybook or args.aligned:
            dev, test = storybook_parts(program, quick=args.quick)
            if program:
                print_statistical(dev, test)
            for kind, runs in (("ordinary", args.storybook), ("supervised by gold links", args.aligned)):
                for run in runs:
                    rows += measure_run(f"storybook, {kind}: {run}", run, dev, test, supervised=kind != "ordinary")
    if args.multi30k:
        if program is None:
            raise SystemExit("links for Multi30k come from eflomal: install it (see benchmarks/_statistical.py)")
        dev, test = multi30k_parts(program, Path(args.data), quick=args.quick)
        for run in args.multi30k:
            rows += measure_run(f"Multi30k, silver links: {run}", run, dev, test, supervised=False)
    end("alignment", rows)


def storybook_parts(program: str | None, *, quick: bool) -> tuple[Part, Part]:
    book = generate(train_size=1) if quick else generate()
    limit = 100 if quick else None
    parts = [Part(*texts_and_links(stories), ("en", "fr"), groups_of(stories))
             for stories in (book.val[:limit], book.test[:limit])]
    if program:
        add_statistical(program, [] if quick else texts_and_links(book.train)[0], parts)
    return parts[0], parts[1]


def multi30k_parts(program: str, folder: Path, *, quick: bool) -> tuple[Part, Part]:
    def read(part: str) -> list[TextPair]:
        return list(zip(*(sentences(folder / f"{part}.{language}.gz") for language in ("en", "de")), strict=True))

    limit = 100 if quick else None
    parts = [Part(read(name)[:limit], [], ("en", "de")) for name in ("val", "test_2016_flickr")]
    add_statistical(program, read("train"), parts)
    for part in parts:
        part.gold = [Links(links) for links in part.statistical["intersection"]]
    return parts[0], parts[1]


def add_statistical(program: str, more: list[TextPair], parts: list[Part]) -> None:
    pairs = more + [pair for part in parts for pair in part.pairs]
    sources, targets = (list(side) for side in zip(*pairs, strict=True))
    forward, reverse = both_directions(program, sources, targets, languages=parts[0].languages)
    at = len(more)
    for part in parts:
        found = [symmetrised(*both) for both in zip(forward[at:], reverse[at:], strict=True)][: len(part.pairs)]
        part.statistical = {name: [one[name] for one in found] for name in found[0]}
        at += len(part.pairs)


def print_statistical(dev: Part, test: Part) -> None:
    print(f"storybook, eflomal on the {len(test.pairs)} test pairs")
    for way, found in test.statistical.items():
        print(f"  {way:22} {test.measure(found)}")
    best = best_way(dev)
    print(f"  words that occur twice, {best}: {test.measure(test.statistical[best], repeated=True)}")


def best_way(dev: Part) -> str:
    """The symmetrisation that is best on the validation set."""
    return min(dev.statistical, key=lambda way: dev.measure(dev.statistical[way]).aer)


def measure_run(title: str, run: str, dev: Part, test: Part, *, supervised: bool) -> list[dict[str, Any]]:
    aligner = Aligner(Translator.from_pretrained(run, engine="torch"))
    tried_on = GoldSentences(traces_of(aligner, dev), dev.gold, dev.groups)
    fitted = tried_on.fit(fitted_on="the validation part", guided=supervised)
    chosen = {"fitted choice": fitted, "last layer's mean": aligner.naive()}
    links: dict[str, list[frozenset[Link]]] = {name: [] for name in chosen}

    def noted(traces: Iterator[Trace]) -> Iterator[Trace]:
        for trace in traces:
            for name, choice in chosen.items():
                links[name].append(choice.links(trace))
            yield trace

    tested = GoldSentences(noted(traces_of(aligner, test)), test.gold, test.groups)
    print(f"\n{title}")
    print("  AER in % of every map on the test set, each with its rule and threshold from the validation set")
    print_maps([(one.choice, tested.agreement(one.choice)) for one in tried_on.try_maps()])
    print(f"  fitted: {fitted.describe()}")
    compared: dict[str, list[frozenset[Link]]] = dict(links)
    if test.statistical and not title.startswith("Multi30k"):
        compared["eflomal"] = test.statistical[best_way(dev)]
    measured = {name: test.measure(found) for name, found in compared.items()}
    twice = {name: test.measure(found, repeated=True) for name, found in compared.items()}
    for name in compared:
        print(f"  {name:18} {measured[name]}")
        print(f"  {'  occurring twice':18} {twice[name]}")
    bleu = bleu_of(Path(run))
    if bleu is not None:
        print(f"  BLEU on its test set {bleu}")
    return compared_rows(title, measured, twice, supervised=supervised, bleu=bleu, choice=fitted)


def compared_rows(
    title: str, measured: dict[str, Agreement], twice: dict[str, Agreement], *, supervised: bool, bleu: float | None,
    choice: AlignmentChoice,
) -> list[dict[str, Any]]:
    """Gains in AER over the last layer's mean; a supervised model is also compared with eflomal."""
    sides = [("last layer's mean", "all words", measured, None if supervised else POINTS)]
    if "eflomal" in measured:
        wanted = 0.0 if supervised else None
        sides += [("eflomal", "all words", measured, wanted), ("eflomal", "words that occur twice", twice, wanted)]
    return [
        {"name": f"{title}, {words}, fitted against {peer}", "ours": round(100 * found["fitted choice"].aer, 2),
         "peer": round(100 * found[peer].aer, 2), "unit": "% AER",
         "won": round(100 * (found[peer].aer - found["fitted choice"].aer), 2), "wanted": wanted, "bleu": bleu,
         "choice": choice.describe()}
        for peer, words, found, wanted in sides
    ]  # fmt: skip


def print_maps(found: list[tuple[AlignmentChoice, Agreement]]) -> None:
    """A line per view, row meaning and layer, with the figures of its heads side by side."""
    lines: dict[tuple[str, str, str], list[str]] = {}
    for choice, measured in found:
        [name] = choice.maps
        layer = f"layer {name[0]}" if name else ""
        lines.setdefault((choice.view, choice.rows, layer), []).append(f"{100 * measured.aer:5.1f}")
    for (view, rows, layer), figures in lines.items():
        print(f"    {view:14} {rows:9} {layer:8} {' '.join(figures)}")


def traces_of(aligner: Aligner, part: Part) -> Iterator[Trace]:
    for trace in aligner.traces(part.pairs, views=VIEWS):
        assert trace is not None
        yield trace


def bleu_of(run: Path) -> float | None:
    """The BLEU of the run's own evaluation."""
    path = run / "metrics.json"
    if not path.is_file():
        return None
    evaluation = json.loads(path.read_text(encoding="utf-8"))["evaluation"]
    return float(evaluation["test"]["bleu"]) if "test" in evaluation else None


def train_a_little(folder: Path) -> str:
    """A small model, trained for a few steps with the command's code."""
    settings = ["training.max_steps=30", "model.d_model=32", "model.encoder_ffn_dim=32", "model.decoder_ffn_dim=32",
                "model.encoder_layers=2", "model.decoder_layers=2", "training.eval_strategy=no",
                "evaluation.eval_samples=1", "training.save_strategy=no", "training.cpu_processes=1",
                f"training.output_dir={folder}"]
    done = subprocess.run([sys.executable, "-c", TRAIN, *settings], capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(done.stderr)
    return str(folder)


if __name__ == "__main__":
    main()
