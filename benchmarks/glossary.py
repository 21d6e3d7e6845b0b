"""Does a glossary get its terms, and what does it cost the translation?  With CTranslate2 in int8 and four beams.

    python benchmarks/glossary.py RUN --test FOLDER         RUN: a trained model, everyday by default

FOLDER: as for `everyday.py`; without it the phrasebook that comes with the package.  For each language 300 sentences
with a term each: a noun of the source and the word that the reference has for it.  Half are terms that the model does
not write by itself.  Which word stands for which is learnt from the lines by IBM model 1 in both directions, not asked
of the model.  A term is honoured if the translation has it exactly, but for the case of its first letter.  *both*: a
glossary of each sentence's own term; *all*: one glossary of all terms, so that others of it are forced too.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product
from pathlib import Path
from random import Random
from typing import Any

from _frame import arguments, end, is_trained, show, timed
from sacrebleu.metrics import CHRF

from seq2see import Translator
from seq2see.text.glossary import Glossary
from seq2see.training.config import DataConfig
from seq2see.training.pairs import Pair, load_split

BEAMS = 4
HALF = 150  # sentences whose term the model writes by itself, and as many others; with --quick QUICK
QUICK = 5
LANGUAGES = ("fr", "de", "es")
ROUNDS = 5  # of IBM model 1
SURE = 0.15  # probability of a word given the other, in each direction
TWICE = 2  # lines that have both
SHORTEST = 4  # letters
BEFORE = {"the", "a", "an", "my", "your", "his", "her", "our", "their", "this", "that", "these", "those", "every", "no"}
AFTER = {"is", "was", "are", "were", "of", "in", "on", "at", "to", "and", "or", "but", "for", "with", "from", "by",
         "that", "who", "which", "will", "would", "can", "could", "has", "have", "had", "if", "when", "than",
         "as"}
_WORD = re.compile(r"[^\W\d_]+")
Lexicon = dict[tuple[str, str], float]  # P(second | first)


@dataclass(frozen=True)
class Line:
    """A sentence, its reference, and a term of each."""

    source: str
    reference: str
    term: str
    target: str

    def is_in(self, translation: str) -> bool:
        first = f"[{self.target[0].lower()}{self.target[0].upper()}]"
        return re.search(rf"(?<!\w){first}{re.escape(self.target[1:])}(?!\w)", translation) is not None


def lexicon(texts: Sequence[tuple[list[str], list[str]]]) -> Lexicon:
    """IBM model 1 (Brown et al. 1993), with an empty word."""
    found: Lexicon = defaultdict(lambda: 1.0)
    for _ in range(ROUNDS):
        counts: Lexicon = defaultdict(float)
        totals: dict[str, float] = defaultdict(float)
        for source, target in texts:
            for word in target:
                shares = [(other, found[other, word]) for other in (*source, "")]
                whole = sum(share for _, share in shares)
                for other, share in shares:
                    counts[other, word] += share / whole
                    totals[other] += share / whole
        found = defaultdict(float, {pair: count / totals[pair[0]] for pair, count in counts.items()})
    return found


def with_terms(lines: Sequence[Pair], lexicon_pairs: Sequence[Pair], language: str) -> Iterator[Line]:
    """The lines with a noun (after a determiner, before a function word or a mark) and the one word for it."""
    texts = [(_words(pair.source), _words(pair.target)) for pair in lexicon_pairs]
    there = lexicon(texts)
    back = lexicon([(target, source) for source, target in texts])
    lines_with = Counter(pair for source, target in texts for pair in product(set(source), set(target)))
    likely: dict[str, set[str]] = defaultdict(set)
    for (word, other), share in there.items():
        if share > SURE and back[other, word] > SURE and lines_with[word, other] >= TWICE:
            likely[word].add(other)
    for pair in lines:
        words, own = list(_WORD.finditer(pair.source)), _WORD.findall(pair.target)
        often, counts = Counter(_words(pair.target)), Counter(_words(pair.source))
        for before, word, after in zip(words, words[1:], [*words[2:], None], strict=False):
            is_noun = before[0].lower() in BEFORE and word[0].islower() and len(word[0]) >= SHORTEST and (
                pair.source[word.end() : word.end() + 1] in tuple(".,!?;:")
                or (after is not None and after[0].lower() in AFTER))
            fits = [one for one in own if one.lower() in likely[word[0]] and often[one.lower()] == 1
                    and len(one) >= SHORTEST and (language != "de" or one[0].isupper())]
            if is_noun and counts[word[0]] == len(fits) == 1:
                yield Line(pair.source, pair.target, word[0], fits[0])
                break


def _words(text: str) -> list[str]:
    return [word.lower() for word in _WORD.findall(text)]


def measured(translate: Any, lines: Sequence[Line], language: str) -> list[dict[str, Any]]:
    """A row for each kind of sentences."""
    alone = [result.text for result in translate([line.source for line in lines], target=language)]
    one_by_one = [translate(line.source, target=language, glossary=Glossary.of({line.term: line.target}))
                  for line in lines]
    kinds = {"written anyway": [line.is_in(text) for line, text in zip(lines, alone, strict=True)]}
    kinds |= {"not written": [not one for one in kinds["written anyway"]], "both": [True] * len(lines)}
    own = [result.text for result in one_by_one]
    rows = [_row(language, kind, *zip(*_where(chosen, zip(lines, alone, own, strict=True)), strict=True))
            for kind, chosen in kinds.items() if any(chosen)]
    terms: dict[str, str] = {}
    for line in lines:
        terms.setdefault(line.term, line.target)
    glossary = Glossary.of(terms)
    found: list[Any] = []
    sources = [line.source for line in lines]
    seconds = timed(lambda: found.extend(translate(sources, target=language, glossary=glossary)))
    before = timed(lambda: translate(sources, target=language))
    forced, missing = (sum(len(getattr(one, name)) for one in found) for name in ("terms", "missing_terms"))
    texts = [one.text for one in found]
    return [*rows, {"pair": f"en-{language}", "kind": "all", "sentences": len(lines), "terms": forced,
                    "honoured": _share(forced - missing, forced), "chrF2": _chrf(lines, alone),
                    "with glossary": _chrf(lines, texts), "times the seconds": round(seconds / before, 2)}]


def _row(language: str, kind: str, lines: Sequence[Line], alone: Sequence[str], own: Sequence[str]) -> dict[str, Any]:
    honoured = sum(line.is_in(text) for line, text in zip(lines, own, strict=True))
    return {"pair": f"en-{language}", "kind": kind, "sentences": len(lines), "terms": len(lines),
            "honoured": _share(honoured, len(lines)), "chrF2": _chrf(lines, alone), "with glossary": _chrf(lines, own)}


def _where(chosen: Sequence[bool], items: Iterable[Any]) -> list[Any]:
    return [item for is_chosen, item in zip(chosen, items, strict=True) if is_chosen]


def _share(count: int, of: int) -> str:
    return f"{100 * count / of:.1f} %"


def _chrf(lines: Sequence[Line], texts: Sequence[str]) -> float:
    return round(float(CHRF().corpus_score(list(texts), [[line.reference for line in lines]]).score), 1)


def main() -> None:
    parser = arguments(__doc__, run=True)
    parser.set_defaults(run="everyday")
    parser.add_argument("--test", type=Path, metavar="FOLDER", help="the published test")
    parser.add_argument("--to", nargs="+", choices=LANGUAGES, default=LANGUAGES, help="some of the languages")
    parser.add_argument("--show", type=int, default=0, metavar="N", help="print so many translations of each language")
    args = parser.parse_args()
    if not is_trained(args.run):
        return end("glossary", [])
    translate = partial(Translator.from_pretrained(args.run, engine="ctranslate2", precision="int8"), num_beams=BEAMS)
    half, rows = QUICK if args.quick else HALF, []
    for language in args.to:
        path = str(args.test / f"en-{language}{{}}.tsv.gz") if args.test else "phrasebook"
        clean, every = (load_split(DataConfig(path=path.format(kind), source="en", target=language),
                                   "all" if args.test else "train")
                        for kind in (".clean", ""))
        lines = Random(0).sample(clean, len(clean))
        found = list(with_terms(lines, every[:2_000] if args.quick else every, language))[: 12 * half]
        alone = [line.is_in(result.text) for line, result in zip(
            found, translate([line.source for line in found], target=language), strict=True)]
        chosen = [line for wanted in (True, False) for line in _where([one is wanted for one in alone], found)[:half]]
        for line in chosen[-args.show :] if args.show else ():
            texts = [translate(line.source, target=language, glossary=one).text
                     for one in (None, Glossary.of({line.term: line.target}))]
            print("", line.source, f"{line.term} = {line.target}", *texts, sep="\n    ")
        rows += measured(translate, chosen, language)
    show(rows)
    metric = CHRF()
    metric.corpus_score(["a"], [["a"]])
    end("glossary", rows, run=args.run, beams=BEAMS, quick=args.quick, signature=str(metric.get_signature()))


if __name__ == "__main__":
    main()
