"""Several corpora in one run (`data.corpora`): each is cleaned and split by itself, then their training pairs are put
together.

A sentence that any corpus holds out, for validation or for a test, is in no corpus's training pairs, in whatever
language: sides are distinguished by the source sentence.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from seq2see.errors import UserError
from .cache import cache_folder, fingerprint, get_or_build
from .config import DataConfig
from .pairs import Corpus, Pair, StoredPairs, hash_fraction, load_pairs, load_split, pair_writer, sentence_key
from .progress import watched
from .reading import find_part
from .variation import varied

HELD_OUT = "training pairs whose source is held out by another corpus"


def load_corpus(data: DataConfig, *, seed: int = 0) -> Corpus:
    """The pairs of `data.path`, or of all `data.corpora`, of which each is in `parts`.

    They are read once and then found in the cache, by the content of the files and by the settings.  UserError where
    there is nothing to train on, or nothing to validate with.
    """
    if not data.corpora:
        return _checked(load_pairs(data, seed=seed), data)
    configs = data.parts()
    parts = [load_pairs(one, seed=seed) for one in configs]
    shares = [one.share for one in data.corpora]
    code = [Path(__file__).with_name(name).read_text("utf-8") for name in ("corpora.py", "pairs.py", "variation.py")]
    tests = [find_part(one, "test", seed=seed, optional=("val", "test")) for one in configs]
    content = [part.fingerprint for part in parts], [test and test.fingerprint() for test in tests]
    key = fingerprint(code, content, [one.path == "storybook" for one in configs], shares, data.varied, seed)

    def mix(folder: Path) -> None:
        held_out = {sentence_key(pair.source) for one, part, test in zip(configs, parts, tests, strict=True)
                    for pair in (*part.val, *part.test, *(load_split(one, "test", seed=seed) if test else ()))}
        left_out = 0
        with pair_writer(folder) as add:
            for one, part, share in zip(configs, parts, shares, strict=True):
                kept = [pair for pair in part.train if sentence_key(pair.source) not in held_out]
                left_out += len(part.train) - len(kept)
                pairs = repeated(kept, share)
                pairs = varied(pairs, data.varied) if one.path != "storybook" else pairs
                for pair in watched(pairs, f"mixing in {one.where}"):
                    if sentence_key(pair.source) not in held_out:  # nor once it is written another way
                        add(pair)
        (folder / "mixed.json").write_text(json.dumps(left_out), "utf-8")

    folder = get_or_build(cache_folder() / key, mix)
    left_out = Counter({HELD_OUT: json.loads((folder / "mixed.json").read_text("utf-8"))})
    return _checked(Corpus(
        train=StoredPairs(folder, source_language=data.source),
        val=[pair for part in parts for pair in part.val],
        test=[pair for part in parts for pair in part.test],
        skipped=dict(sum((Counter(part.skipped) for part in parts), left_out)),
        fingerprint=fingerprint(content, shares, data.varied),
        parts=tuple(zip(configs, parts, strict=True)),
    ), data)  # fmt: skip


def _checked(corpus: Corpus, data: DataConfig) -> Corpus:
    if not corpus.train or not corpus.val:
        raise UserError(
            f"{data.where} gives {len(corpus.train)} training and {len(corpus.val)} validation pairs; both are"
            " needed: give more pairs or raise data.val_fraction"
        )
    return corpus


def repeated(pairs: Sequence[Pair], share: float) -> Iterator[Pair]:
    """All pairs as often as `share` has whole parts, and of the rest those whose source's hash is below its fraction:
    a sentence is in the share of every language, or of none."""
    whole, fraction = int(share), share - int(share)
    for _ in range(whole):
        yield from pairs
    for pair in pairs if fraction else ():
        if hash_fraction(f"share {sentence_key(pair.source)}") < fraction:
            yield pair
