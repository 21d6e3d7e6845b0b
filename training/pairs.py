"""Sentence pairs: cleaned, split, and kept in Arrow files, so that a corpus takes no more memory than it has readers.

`load_corpus` gives training and validation pairs, `load_split` one named split.  Text is stripped and brought to
Unicode NFC here; the tokenizer never changes it.  Nothing is cut short: a pair with an empty or overlong side, or a
row that cannot be read, is an error, or with `data.on_invalid=skip` left out and counted.  reading.py says where pairs
come from.  `datasets` writes and maps the files; it would split rows, and not source sentences.
"""

from __future__ import annotations

import hashlib
import json
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, overload

import datasets
import numpy as np
from datasets.arrow_writer import ArrowWriter

from seq2see.errors import UserError
from .cache import cache_folder, fingerprint, get_or_build
from .config import DataConfig
from .progress import report, watched
from .reading import MISSING, Fault, TablePart, find_part, hash_fraction, is_header, is_table

COLUMNS = datasets.Features(
    {"source": datasets.Value("string"), "target": datasets.Value("string"),
     "target_language": datasets.Value("string"), "row": datasets.Value("int64")}
)
SIDES = ("train", "val", "test")
ALL = "all"  # the part of one table that is the whole of it
ROWS = 10_000  # of a batch: what is held in memory while a file is written or read through
TOKENIZER_PAIRS = 500_000  # at most so many teach a vocabulary
COPIES = "copies of other pairs"
DOUBLED = 3  # so many pairs, if all are of one text twice, are one column twice
LABELLED, LABELS = 100, 20  # so many pairs with fewer texts on one side are texts and their labels
FILE = "pairs.arrow"


@dataclass(frozen=True)
class Pair:
    source: str
    target: str
    source_language: str
    target_language: str
    row: int = field(default=-1, compare=False)  # in the part it is of, from 0; -1 where that was split off train

    @property
    def texts(self) -> tuple[tuple[str, str], tuple[str, str]]:
        """Each side with its language."""
        return (self.source, self.source_language), (self.target, self.target_language)


class StoredPairs(Sequence[Pair]):
    """Pairs in an Arrow file, which is mapped into memory: the system reads what is asked for, and may forget it.

    Args:
        folder: holds `pairs.arrow`; what is made of the pairs may be kept beside it.
    """

    def __init__(self, folder: Path, *, source_language: str):
        self.folder, self.source_language = folder, source_language
        self.rows = datasets.Dataset.from_file(str(folder / FILE))

    def __len__(self) -> int:
        return len(self.rows)

    @overload
    def __getitem__(self, index: int) -> Pair: ...
    @overload
    def __getitem__(self, index: slice) -> list[Pair]: ...
    def __getitem__(self, index: int | slice) -> Pair | list[Pair]:
        if isinstance(index, slice):
            return [self[i] for i in range(len(self))[index]]
        return Pair(**self.rows[index], source_language=self.source_language)

    def __iter__(self) -> Iterator[Pair]:
        for batch in self.rows.iter(ROWS):
            for source, target, language, row in zip(*batch.values(), strict=True):
                yield Pair(source, target, self.source_language, language, row)


@contextmanager
def pair_writer(folder: Path) -> Iterator[Callable[[Pair], None]]:
    """A function that writes a pair into `pairs.arrow` of the folder, which takes them a batch at a time."""
    folder.mkdir(exist_ok=True)
    with ArrowWriter(features=COLUMNS, path=str(folder / FILE), writer_batch_size=ROWS) as writer:
        yield lambda pair: writer.write({name: getattr(pair, name) for name in COLUMNS})
        writer.finalize()


@dataclass(frozen=True)
class TrainingPairs:
    train: StoredPairs
    val: list[Pair]
    test: list[Pair]  # of one table that data.test_fraction splits; of other data `load_split` reads it
    skipped: dict[str, int]  # what pairs were left out for -> how many
    fingerprint: str  # of all pairs in their order and of their sides


def evenly_spaced(languages: Sequence[Any], most: int) -> list[int]:
    """Indices of at most `most` pairs of these target languages, evenly spaced; each language has an equal share."""
    places: dict[Any, list[int]] = {}
    for index, language in enumerate(languages):
        places.setdefault(language, []).append(index)
    left, targets, shares = min(len(languages), most), len(places), dict[Any, int]()
    for number, language in enumerate(sorted(places, key=lambda language: len(places[language]))):
        shares[language] = min(len(places[language]), -(-left // (targets - number)))  # what is too few, others fill
        left -= shares[language]
    drawn: list[int] = []
    for first, (language, indices) in enumerate(places.items()):
        share = shares[language]
        drawn += [indices[(index * targets + first) * len(indices) // (share * targets)] for index in range(share)]
    return sorted(drawn)


@dataclass(frozen=True)
class Texts:
    """Both sides of the pairs, or of so many drawn from them, in order; to be gone through as often as one likes."""

    pairs: Sequence[Pair]
    most: int = TOKENIZER_PAIRS

    def __iter__(self) -> Iterator[str]:
        drawn = np.zeros(len(self.pairs), dtype=bool)
        drawn[np.random.default_rng(0).permutation(len(self.pairs))[: self.most]] = True
        for pair, taken in zip(self.pairs, drawn.tolist(), strict=True):
            if taken:
                yield pair.source
                yield pair.target


def clean(data: DataConfig, part: TablePart, skipped: Counter[str]) -> Iterator[Pair]:
    """The pairs of a part, without those that are to be left out, which are counted by why.

    Raises UserError at the end, for a fault that is not to be skipped, and where one column was read twice, or labels.
    """
    faults, copies, first = Counter[str](), 0, dict[str, int]()
    count, doubled, different = 0, 0, (set[str](), set[str]())
    known = set[int]()  # eight bytes of each pair: one in some billions may be taken for another's copy
    for row, (line, sides) in enumerate(part.rows()):
        for found in [sides] if isinstance(sides, Fault) else _pairs_of(data, row, sides):
            if isinstance(found, Fault):
                faults[found] += 1
                first.setdefault(found, line)
                continue
            if data.duplicates != "keep":
                key = hash((found.source, found.target, found.target_language))
                if key in known:
                    copies += 1
                    continue
                known.add(key)
            count, doubled = count + 1, doubled + (found.source == found.target)
            for some, text in zip(different, (found.source, found.target), strict=True):
                if len(some) < LABELS:
                    some.add(text)
            yield found
    if faults and data.on_invalid == "error":
        fault, count = faults.most_common(1)[0]
        raise UserError(
            f"{part.where}, line {first[fault]}: {fault} (invalid pairs: {faults.total()}); correct"
            " the file, or skip such pairs with data.on_invalid=skip"
        )
    if doubled == count >= DOUBLED:
        raise UserError(f"{part.where}: both sides of all {count} pairs are the same text; expected translations")
    if count >= LABELLED and (fewest := min(map(len, different))) < LABELS:
        raise UserError(f"{part.where}: one side has only {fewest} different texts in {count} pairs, like labels;"
                        " expected"
                        " translations")
    if copies and data.duplicates == "error":
        raise UserError(f"{part.where} has {copies} {COPIES}; remove them, or set data.duplicates=skip")
    skipped.update(faults | Counter({COPIES: copies} if copies else {}))


def _pairs_of(data: DataConfig, row: int, sides: Sequence[str]) -> Iterator[Pair | Fault]:
    """The pairs of a row, one for each target language that it has."""
    languages = [data.source, *data.targets]
    there = [(code, unicodedata.normalize("NFC", side.strip()))
             for code, side in zip(languages, sides, strict=True) if side is not MISSING]
    texts, targets = [text for _, text in there], [code for code, _ in there[1:]]
    if is_header(texts, [data.source, *targets]):
        yield Fault("a header among the pairs, as in concatenated files")
        return
    for text, language in zip(texts[1:], targets, strict=True):
        fault = _fault(texts[0], text, most=data.max_characters)
        yield Fault(fault) if fault else Pair(texts[0], text, data.source, language, row)


def _fault(source: str, target: str, *, most: int) -> str | None:
    if max(len(source), len(target)) > most:
        return f"a side longer than data.max_characters={most}"
    try:
        source.encode(), target.encode()
    except UnicodeEncodeError:
        return "a byte that is not UTF-8, or half a character"
    return None if visible(source) and visible(target) else "an empty side"


def visible(text: str) -> bool:
    """Whether there is anything to see, and not spaces and invisible marks alone."""
    return any(character.isprintable() and not character.isspace() for character in text)


def load_corpus(data: DataConfig, *, seed: int = 0) -> TrainingPairs:
    """The pairs to train on and validate with; UserError where there are none of either."""
    corpus = load_pairs(data, seed=seed)
    if not corpus.train or not corpus.val:
        raise UserError(
            f"{data.path} has {len(corpus.train)} training and {len(corpus.val)} validation pairs, but both are needed;"
            " give more pairs, or raise data.val_fraction"
        )
    return corpus


def load_pairs(data: DataConfig, *, seed: int = 0) -> TrainingPairs:
    """The pairs of `data.path`; any of the sides may be empty.

    One table is split by a hash of the source sentence (`data.val_fraction`, `data.test_fraction`).  The pairs are read
    once and then found in the cache, by the content of the files and by the settings.
    """
    train, val = find_part(data, "train", seed=seed), find_part(data, "val", seed=seed)
    assert train is not None
    code = [Path(__file__).with_name(name).read_text("utf-8") for name in ("pairs.py", "reading.py")]
    parts = [part and part.fingerprint() for part in (train, val)]
    key = fingerprint(code, parts, {**asdict(data), "path": None, "joined": None})
    folder = get_or_build(cache_folder() / key, lambda folder: _store(folder, data, train, val))
    stored = {side: StoredPairs(folder / side, source_language=data.source) for side in SIDES}
    found = json.loads((folder / "found.json").read_text("utf-8"))
    return TrainingPairs(stored["train"], list(stored["val"]), list(stored["test"]), **found)


def load_split(data: DataConfig, split: str, *, seed: int = 0) -> list[Pair]:
    """The pairs of one part: `train`, `val`, or any other part that a corpus of the package, a folder or a Hub dataset
    has; one table has `all`, and `test` where `data.test_fraction` sets it aside.

    What cleaning left out is reported on stderr.
    """
    optional = ("val", "test") if data.test_fraction else ("val",)
    whole = split == ALL and is_table(data)
    part = None if split == "train" else find_part(data, "train" if whole else split, seed=seed, optional=optional)
    if part is not None:
        skipped = Counter[str]()
        pairs = list(clean(data, part, skipped))
        report_skipped(part.where, skipped)
        return pairs
    sides = SIDES if data.test_fraction else ("train", "val")
    if split not in sides:
        remedy = ": the training set no test pairs aside (data.test_fraction); give --split val, or other --data"
        raise UserError(
            f"{data.path} is one table with the splits {', '.join(sides)} and {ALL}; there is no {split!r}"
            f"{remedy if split == 'test' else ''}"
        )
    corpus = load_pairs(data, seed=seed)
    report_skipped(str(data.path), corpus.skipped)
    return list(getattr(corpus, split))


def report_skipped(where: str, skipped: Mapping[str, int]) -> None:
    """A line for each reason why cleaning left out pairs, with their number."""
    for fault, count in skipped.items():
        report(f"{where}: skipped {count} pairs: {fault}")


def _store(folder: Path, data: DataConfig, train: TablePart, val: TablePart | None) -> None:
    """Read everything through and write the sides into the folder."""
    skipped, fractions = Counter[str](), {} if val else {"val": data.val_fraction, "test": data.test_fraction}
    digest = hashlib.blake2b(digest_size=12)
    with ExitStack() as stack:
        add = {side: stack.enter_context(pair_writer(folder / side)) for side in SIDES}

        def keep(pair: Pair, side: str) -> None:
            digest.update(json.dumps([side, pair.source, pair.target, pair.target_language]).encode())
            add[side](pair)

        for pair in watched(clean(data, train, skipped), f"reading {train.where}"):
            side = _side(pair.source, fractions)
            keep(pair if side == "train" else replace(pair, row=-1), side)
        for pair in clean(data, val, skipped) if val else ():
            keep(pair, "val")
    (folder / "found.json").write_text(json.dumps({"skipped": skipped, "fingerprint": digest.hexdigest()}), "utf-8")


def _side(source: str, fractions: Mapping[str, float]) -> str:
    """All pairs of one source sentence fall on the same side, whatever else the corpus holds.

    Case and punctuation do not make another sentence of it: what was trained as *Go!* is not tested as *Go.*  An emoji
    does (or another symbol of Unicode's category So).
    """
    drawn = hash_fraction(sentence_key(source))
    for side, fraction in fractions.items():
        if drawn < fraction:
            return side
        drawn -= fraction
    return "train"


def sentence_key(source: str) -> str:
    """What two writings of one sentence have in common: letters, digits and symbols, without case."""
    kept = (item for item in source.casefold() if item.isalnum() or unicodedata.category(item) == "So")
    return "".join(kept) or source
