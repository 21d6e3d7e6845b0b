"""Sentence pairs: cleaned, split, and kept in Arrow files, so that a corpus takes no more memory than it has readers.

`load_pairs` gives training and validation pairs, `load_split` one named split.  Text is stripped and brought to
Unicode NFC here; the tokenizer never changes it.  Nothing is cut short: a pair with an empty or overlong side, or a
row that cannot be read, is an error, or with `data.on_invalid=skip` left out and counted.  reading.py says where pairs
come from.  `datasets` would split rows, not source sentences.
"""

from __future__ import annotations

import hashlib
import json
import math
import unicodedata
from array import array
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, overload

import numpy as np
import pyarrow as pa

from seq2see.errors import UserError
from .cache import cache_folder, fingerprint, get_or_build
from .config import DataConfig
from .offensive import is_offensive
from .progress import Watched, say
from .reading import Fault, Part, find_part, is_table

COLUMNS = pa.schema(
    [("source", pa.string()), ("target", pa.string()), ("target_language", pa.string()), ("row", pa.int64())]
)
SIDES = ("train", "val", "test")
ALL = "all"  # the part of one table that is the whole of it
ROWS = 10_000  # of a record batch: what is held in memory while a file is written or read through
TOKENIZER_PAIRS = 500_000  # at most so many teach a vocabulary


@dataclass(frozen=True)
class Pair:
    source: str
    target: str
    source_language: str
    target_language: str
    row: int = field(default=-1, compare=False)  # in the part it is of, from 0; -1 where that was split off train


class StoredPairs(Sequence[Pair]):
    """Pairs in an Arrow file, which is mapped into memory: the system reads what is asked for, and may forget it.

    Args:
        folder: holds `pairs.arrow`; what is made of the pairs may be kept beside it.
    """

    def __init__(self, folder: Path, *, source_language: str):
        self.folder, self.source_language = folder, source_language
        self.file = str(folder / "pairs.arrow")
        self.table = pa.ipc.open_stream(pa.memory_map(self.file)).read_all()

    def __len__(self) -> int:
        return len(self.table)

    @overload
    def __getitem__(self, index: int) -> Pair: ...
    @overload
    def __getitem__(self, index: slice) -> list[Pair]: ...
    def __getitem__(self, index: int | slice) -> Pair | list[Pair]:
        if isinstance(index, slice):
            return [self[i] for i in range(len(self))[index]]
        source, target, language, row = (column[index].as_py() for column in self.table.columns)
        return Pair(source, target, self.source_language, language, row)

    def __iter__(self) -> Iterator[Pair]:
        """Read through the file once more: pages of a mapped one would stay."""
        with pa.OSFile(self.file) as file:
            for batch in pa.ipc.open_stream(file):
                columns = (column.to_pylist() for column in batch.columns)
                for source, target, language, row in zip(*columns, strict=True):
                    yield Pair(source, target, self.source_language, language, row)


@dataclass(frozen=True)
class Corpus:
    train: StoredPairs
    val: list[Pair]
    test: list[Pair]  # of one table that data.test_fraction splits; of other data `load_split` reads it
    skipped: dict[str, int]  # what was wrong with pairs that data.on_invalid=skip left out -> how many
    noticed: dict[str, int]  # what else was found, and mended or let be -> how many
    fingerprint: str  # of all pairs in their order and of their sides
    parts: tuple[tuple[DataConfig, Corpus], ...] = ()  # the corpora it was put together from, where there are several


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
    for first, (language, there) in enumerate(places.items()):
        share = shares[language]
        drawn += [there[(index * targets + first) * len(there) // (share * targets)] for index in range(share)]
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


@dataclass
class Cleaner:
    """Turns rows into pairs, and counts the bad ones; unless they are to be skipped, it refuses them at the end."""

    data: DataConfig
    skipped: Counter[str] = field(default_factory=Counter)
    noticed: Counter[str] = field(default_factory=Counter)

    def pairs(self, part: Part) -> Iterator[Pair]:
        faults: Counter[str] = Counter()
        first: dict[str, int] = {}
        copies = Copies(leave_out=self.data.duplicates == "skip")
        offensive = 0
        part.mended.clear()
        for row, (line, sides) in enumerate(part.rows()):
            for found in [sides] if isinstance(sides, Fault) else self._checked(row, sides):
                if isinstance(found, Fault):
                    faults[found] += 1
                    first.setdefault(found, line)
                elif self.data.offensive == "skip" and _offends(found):
                    offensive += 1
                elif copies.new(found):
                    yield found
        if faults and self.data.on_invalid == "error":
            fault, count = faults.most_common(1)[0]
            raise UserError(
                f"{part.where}, line {first[fault]}: {fault} ({count} such, {sum(faults.values())} bad pairs in all);"
                " mend the file, or train without such pairs by data.on_invalid=skip"
            )
        copied = copies.count()
        if copied and self.data.duplicates == "error":
            raise UserError(f"{part.where} holds {copied} copies of other pairs; take them out, or set data.duplicates")
        self.skipped.update(faults)
        self.skipped.update({"offensive words": offensive} if offensive else {})
        self.noticed.update(part.mended)
        self.noticed.update({"copies of other pairs, left out" if copies.leave_out else "copies of other pairs, kept":
                             copied} if copied else {})  # fmt: skip

    def _checked(self, row: int, sides: list[str]) -> Iterator[Pair | Fault]:
        """The pairs of a row, one for each target language."""
        texts = [unicodedata.normalize("NFC", side.strip()) for side in sides]
        for text, language in zip(texts[1:], self.data.targets, strict=True):
            fault = self._fault(texts[0], text)
            yield Fault(fault) if fault else Pair(texts[0], text, self.data.source, language, row)

    def _fault(self, source: str, target: str) -> str | None:
        if max(len(source), len(target)) > self.data.max_characters:
            return f"a side longer than data.max_characters={self.data.max_characters}"
        try:
            source.encode(), target.encode()
        except UnicodeEncodeError as error:
            if "\udc80" <= error.object[error.start] <= "\udcff":
                return "a byte that is not UTF-8"
            return "a lone surrogate, which is half of a character"
        if not visible(source) or not visible(target):
            return "an empty side"
        return None


def _offends(pair: Pair) -> bool:
    return is_offensive(pair.source, language=pair.source_language) or is_offensive(
        pair.target, language=pair.target_language
    )


def visible(text: str) -> bool:
    """Whether there is anything to see, and not spaces and invisible marks alone."""
    return any(character.isprintable() and not character.isspace() for character in text)


class Copies:
    """Counts pairs that came before; to leave them out takes more memory than to count them.

    Eight bytes of each pair are kept, so that one in some billions may be taken for another's copy.
    """

    def __init__(self, *, leave_out: bool):
        self.leave_out = leave_out
        self.known: set[int] = set()
        self.all = array("q")

    def new(self, pair: Pair) -> bool:
        """Whether this pair is to be kept."""
        key = hash((pair.source, pair.target, pair.target_language))
        self.all.append(key)
        if not self.leave_out:
            return True
        before = len(self.known)
        self.known.add(key)
        return len(self.known) > before

    def count(self) -> int:
        return len(self.all) - len(np.unique(np.frombuffer(self.all, dtype=np.int64))) if self.all else 0


def load_pairs(data: DataConfig, *, seed: int = 0) -> Corpus:
    """The pairs of `data.path`; any of the sides may be empty.

    One table is split by a hash of the source sentence (`data.val_fraction`, `data.test_fraction`).  The pairs are read
    once and then found in the cache, by the content of the files and by the settings.
    """
    train, val = find_part(data, "train", seed=seed), find_part(data, "val", seed=seed)
    assert train is not None
    names = ("pairs.py", "reading.py", "offensive.py", "offensive_words.yaml")
    code = [Path(__file__).with_name(name).read_text("utf-8") for name in names]
    parts = [part and part.fingerprint() for part in (train, val)]
    key = fingerprint(code, parts, {**asdict(data), **dict.fromkeys(("path", "joined", "varied"))})
    folder = get_or_build(cache_folder() / key, lambda folder: _store(folder, data, train, val))
    stored = {side: StoredPairs(folder / side, source_language=data.source) for side in SIDES}
    found = json.loads((folder / "found.json").read_text("utf-8"))
    return Corpus(stored["train"], list(stored["val"]), list(stored["test"]), **found)


def load_split(data: DataConfig, split: str, *, seed: int = 0) -> list[Pair]:
    """The pairs of one part: `train`, `val`, or any other part that storybook, a folder or a Hub dataset has; one table
    has `all`, and `test` where `data.test_fraction` sets it aside.

    What cleaning found is told on stderr.
    """
    if split == ALL and is_table(data):
        return load_all(data)
    optional = ("val", "test") if data.test_fraction else ("val",)
    part = None if split == "train" else find_part(data, split, seed=seed, optional=optional)
    if part is not None:
        return _cleaned(data, part)
    sides = SIDES if data.test_fraction else ("train", "val")
    if split not in sides:
        raise UserError(
            f"{data.path} is one table, of which there are {', '.join(sides)} and {ALL}; there is no {split!r}"
        )
    corpus = load_pairs(data, seed=seed)
    tell(str(data.path), corpus.skipped, corpus.noticed)
    return list(getattr(corpus, split))


def load_all(data: DataConfig) -> list[Pair]:
    """Every pair of one table or of parallel files."""
    part = find_part(data, "train")
    return _cleaned(data, part) if part else []


def _cleaned(data: DataConfig, part: Part) -> list[Pair]:
    cleaner = Cleaner(data)
    pairs = list(cleaner.pairs(part))
    tell(part.where, cleaner.skipped, cleaner.noticed)
    return pairs


def tell(where: str, skipped: Mapping[str, int], noticed: Mapping[str, int]) -> None:
    """Say what cleaning left out, and what else it saw."""
    for fault, count in skipped.items():
        say(f"{where}: left out {count} pairs: {fault}")
    for what, count in noticed.items():
        say(f"{where}: noticed {count} {what}")


def _store(folder: Path, data: DataConfig, train: Part, val: Part | None) -> None:
    """Read everything through and write the sides into the folder."""
    cleaner = Cleaner(data)
    fractions = {} if val else {"val": data.val_fraction, "test": data.test_fraction}
    counts: Counter[str] = Counter()
    digest = hashlib.blake2b(digest_size=12)

    def keep(pair: Pair, side: str) -> None:
        counts[side] += 1
        digest.update(json.dumps([side, pair.source, pair.target, pair.target_language]).encode())
        writers[side].add(pair)

    with ExitStack() as stack:
        writers = {side: stack.enter_context(closing(PairWriter(folder / side))) for side in SIDES}
        for pair in Watched(cleaner.pairs(train), f"reading {train.where}"):
            side = _side(pair.source, fractions)
            keep(pair if side == "train" else replace(pair, row=-1), side)
        for pair in cleaner.pairs(val) if val else ():
            keep(pair, "val")
    noticed = cleaner.noticed | _uneven(counts, fractions)
    found = {"skipped": cleaner.skipped, "noticed": noticed, "fingerprint": digest.hexdigest()}
    (folder / "found.json").write_text(json.dumps(found), "utf-8")


def _side(source: str, fractions: Mapping[str, float]) -> str:
    """All pairs of one source sentence fall on the same side, whatever else the corpus holds.

    Case and punctuation do not make another sentence of it: what was trained as *Go!* is not tested as *Go.*  An emoji
    does (or another symbol of Unicode's category So).
    """
    drawn = place(sentence_key(source))
    for side, fraction in fractions.items():
        if drawn < fraction:
            return side
        drawn -= fraction
    return "train"


def sentence_key(source: str) -> str:
    """What two writings of one sentence have in common: letters, digits and symbols, without case."""
    kept = (item for item in source.casefold() if item.isalnum() or unicodedata.category(item) == "So")
    return "".join(kept) or source


def place(text: str) -> float:
    """A number from 0 to below 1 that is this text's own."""
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "big") / 2**64


def _uneven(counts: Mapping[str, int], fractions: Mapping[str, float]) -> Counter[str]:
    """The sides whose number of pairs is half as many again as their fraction of all, or half, and not by chance."""
    total = sum(counts.values())
    found: Counter[str] = Counter()
    for side, fraction in fractions.items():
        share = fraction * total
        if abs(counts[side] - share) > share / 2 + 3 * math.sqrt(share):
            found[f"pairs of {total} set apart by data.{side}_fraction={fraction}, expected about {share:.0f}: all"
                  " pairs of a source stay together, whatever its case and punctuation; set another fraction, or give"
                  f" a folder that has a {side} part"] = counts[side]  # fmt: skip
    return found


class PairWriter:
    """Writes pairs into an Arrow file, a batch at a time."""

    def __init__(self, folder: Path):
        folder.mkdir(exist_ok=True)
        self.file = pa.OSFile(str(folder / "pairs.arrow"), "wb")
        self.stream = pa.ipc.new_stream(self.file, COLUMNS)
        self.rows: list[tuple[str, str, str, int]] = []

    def add(self, pair: Pair) -> None:
        self.rows.append((pair.source, pair.target, pair.target_language, pair.row))
        if len(self.rows) == ROWS:
            self._flush()

    def close(self) -> None:
        self._flush()
        self.stream.close()
        self.file.close()

    def _flush(self) -> None:
        if self.rows:
            columns = dict(zip(COLUMNS.names, zip(*self.rows, strict=True), strict=True))
            self.stream.write_batch(pa.record_batch(columns, schema=COLUMNS))
            self.rows.clear()
