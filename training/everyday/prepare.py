"""The training data of `everyday` as JSONL: Tatoeba, storybook and the phrasebook, varied, without the test.

    python -m seq2see.training.everyday.prepare --tatoeba FOLDER --test FOLDER --strings FOLDER

FOLDER of --tatoeba has en-fr.tsv.gz, en-de.tsv.gz and en-es.tsv.gz with the columns named by language: the sentences of
tatoeba.org as paired by manythings.org/anki.  That of --test has the same three names: tatoeba-test-v2021-08-07 of
Helsinki-NLP/OPUS-MT-testsets.  That of --strings has train.tsv.gz, buttons, menus and messages of applications with
the columns en, fr, de and es.  Into everyday-data are written train.jsonl with the word links of its pairs in
train.links, val.jsonl, and two tests: test.jsonl, the lines of the published test without a side in those tables, and
forms.jsonl, plurals that no training pair has (frames.py).

With --keep MODEL, a model that is to be trained on, about half of Tatoeba's pairs have its own translations (kept.py).

From the training pairs are left out: those with a side that is in the published test, by its letters and digits alone;
those with a slur or a vulgar word (offensive_words.yaml); and, in every language, a source that is held out, from
Tatoeba or from the phrasebook.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from random import Random

from seq2see.errors import UserError
from ...storybook import in_language
from ...text.plain import DOTS
from ...text.word_links import Link, to_pharaoh
from ...translate import Translator
from ..config import DataConfig, OnDuplicates
from ..pairs import load_split, sentence_key
from ..reading import hash_fraction
from .frames import held_out_forms, nouns_of, typed
from .kept import kept
from .offensive import is_offensive
from .variation import NAME, Pair, other_date, other_numbers, varied, with_dash, without_placeholders

Line = tuple[Pair, tuple[Link, ...]]

SOURCE, TARGETS = "en", ("fr", "de", "es")
FIRST_WORDS = Path(__file__).parent.with_name("phrasebook") / "first_words.tsv"
VALIDATION = 0.005  # of Tatoeba's source sentences
STORYBOOK = 3  # times that storybook is in a pass
PHRASEBOOK = 3  # times that the phrasebook is
STRINGS = 2  # times that the strings of applications are
SHORT, SHORT_WORDS = 4, 3  # further copies of texts with at most this many words
FIRST = 6  # further copies of the phrasebook's first words
NAMED = 3  # how many times as often Tatoeba's pairs with a name are drawn
PLAIN_STRINGS = 0.8  # share of them with names and numbers for their placeholders
DASHES = 0.02  # share of the pairs that are joined to the one before by a dash
DATED, NUMBERED = 10, 3  # times that a pair with a date or a number is: there are few, and each time it has another


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tatoeba", type=Path, required=True, metavar="FOLDER", help="the tables to train on")
    parser.add_argument("--test", type=Path, required=True, metavar="FOLDER", help="the tables of the published test")
    parser.add_argument("--strings", type=Path, required=True, metavar="FOLDER", help="the strings of applications")
    parser.add_argument("--out", type=Path, default=Path("everyday-data"), metavar="FOLDER",
                        help="what is written (everyday-data)")
    parser.add_argument("--passes", type=int, default=1, metavar="N", help="passes, each with other variations (1)")
    parser.add_argument("--share", type=float, default=1, metavar="X",
                        help="share of the pairs of Tatoeba, storybook and the phrasebook in a pass (1)")
    parser.add_argument("--keep", metavar="MODEL", help="the model to be trained on, which is to forget nothing")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    try:
        prepare(args.tatoeba, args.test, args.strings, args.out, passes=args.passes, share=args.share,
                keep=args.keep, seed=args.seed)
    except (UserError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


def prepare(
    tatoeba: Path, test: Path, strings: Path, out: Path, *, passes: int, share: float, keep: str | None, seed: int
) -> None:
    """Write the five files into `out`, and print what was left out; UserError where a table cannot be read."""
    tables = {language: _table(tatoeba, language, duplicates="skip") for language in TARGETS}
    tests = {language: _table(test, language, duplicates="keep") for language in TARGETS}
    shown = [(source.replace("…", DOTS), text.replace("…", DOTS), language)  # as the model reads every text
             for source, text, language in _pairs(str(strings / "train.tsv.gz"))]
    out.mkdir(parents=True, exist_ok=True)
    counts = Counter[str]()
    _write(out / "test.jsonl", ((pair, ()) for language in TARGETS for pair in clean(tests, tables, language)))
    learnt = list(without(tests, [pair for language in TARGETS for pair in tables[language]], counts))
    written, phrases, untouched = ([*_pairs("phrasebook", split)] for split in ("train", "val", "test"))
    first = [*_pairs(str(FIRST_WORDS))]
    teacher = Translator.from_pretrained(keep) if keep else None
    val = [*(pair for pair in learnt if hash_fraction(sentence_key(pair[0])) < VALIDATION), *phrases]
    stories = [story.source for language in TARGETS for story in in_language(language, seed=0).train]
    nouns = {language: nouns_of([*learnt, *written, *shown], language, stories) for language in TARGETS}
    forms = [*without(tests, (pair for language in TARGETS for pair in held_out_forms(nouns[language][1], language)),
                      counts)]
    _write(out / "forms.jsonl", ((pair, ()) for pair in forms))
    held_out = {sentence_key(pair[0]) for pair in (*val, *untouched)}
    _write(out / "val.jsonl", ((pair, ()) for pair in val))

    def one(draw: Random) -> Iterator[Line]:
        drawn = [pair for pair in learnt if draw.random() < share * (NAMED if NAME.search(pair[0]) else 1)]
        phrases = [pair for pair in written * PHRASEBOOK if draw.random() < share]
        short = [pair for pair in (*written, *shown) if len(pair[0].split()) <= SHORT_WORDS]
        more = (without_placeholders(pair, draw) if draw.random() < PLAIN_STRINGS else pair
                for pair in (*shown * STRINGS, *short * SHORT))
        made = (pair for language in TARGETS for pair in typed(*nouns[language], language, draw))
        if teacher:
            drawn = [*kept(drawn, teacher, counts)]
        pairs = [*drawn, *without(tests, (*phrases, *first * FIRST, *more, *made), Counter())]
        return one_pass(pairs, held_out, draw, share=share)

    train = (line for number in range(passes) for line in one(Random(seed + number)))
    counts["training pairs"] = _write(out / "train.jsonl", train, links=out / "train.links")
    for what, count in counts.items():
        print(f"{count:9,} {what}")


def _table(folder: Path, target: str, *, duplicates: OnDuplicates) -> list[Pair]:
    data = DataConfig(path=str(folder / f"{SOURCE}-{target}.tsv.gz"), source=SOURCE, target=target, on_invalid="skip",
                      duplicates=duplicates)
    return [(pair.source, pair.target, target) for pair in load_split(data, "all")]


def _pairs(path: str, split: str = "all") -> Iterator[Pair]:
    data = DataConfig(path=path, source=SOURCE, target=[*TARGETS], on_invalid="skip")
    return ((pair.source, pair.target, pair.target_language) for pair in load_split(data, split))


def clean(tests: dict[str, list[Pair]], tables: dict[str, list[Pair]], target: str) -> Iterator[Pair]:
    """The pairs of the published test without a side in the table of their language pair."""
    known = {sentence_key(side) for pair in tables[target] for side in pair[:2]}
    return (pair for pair in tests[target] if not known.intersection(map(sentence_key, pair[:2])))


def without(tests: dict[str, list[Pair]], pairs: Iterable[Pair], counts: Counter[str]) -> Iterator[Pair]:
    """The pairs that may be learnt from: neither in the published test, in whatever language, nor offensive."""
    tested = {sentence_key(side) for some in tests.values() for pair in some for side in pair[:2]}
    for source, target, language in pairs:
        if tested.intersection((sentence_key(source), sentence_key(target))):
            counts[f"pairs to {language} with a side in the published test"] += 1
        elif is_offensive(source, language=SOURCE) or is_offensive(target, language=language):
            counts[f"pairs to {language} with an offensive word"] += 1
        else:
            yield source, target, language


def one_pass(pairs: Iterable[Pair], held_out: set[str], draw: Random, *, share: float = 1) -> Iterator[Line]:
    """Every training pair with its word links, which storybook alone has; the others as people type them.

    Of storybook's pairs this share."""
    for language in TARGETS:
        for story in in_language(language, seed=0).train * STORYBOOK:
            if draw.random() < share:
                yield (story.source, story.target, language), story.links
    last: Pair | None = None
    for pair in pairs:
        if last and last[2] == pair[2] and draw.random() < DASHES and sentence_key(pair[0]) not in held_out:
            yield with_dash(last, pair, draw), ()
        last = pair if sentence_key(pair[0]) not in held_out else None
        times = DATED if other_date(pair, draw) != pair else NUMBERED if other_numbers(pair, draw) != pair else 1
        for _ in range(times):
            found = varied(pair, draw)
            if not held_out.intersection((sentence_key(pair[0]), sentence_key(found[0]))):
                yield found, ()


def _write(path: Path, lines: Iterable[Line], *, links: Path | None = None) -> int:
    """Write the pairs, a record each, and the links of each; how many there were."""
    count = 0
    with path.open("w", encoding="utf-8") as records, open(links or os.devnull, "w", encoding="utf-8") as linked:
        for (source, target, language), some in lines:
            records.write(json.dumps({SOURCE: source, language: target}, ensure_ascii=False) + "\n")
            linked.write(to_pharaoh(some) + "\n")
            count += 1
    return count


if __name__ == "__main__":
    raise SystemExit(main())
