"""How well does `everyday` translate as served: with CTranslate2 in int8 and four beams?

    python benchmarks/everyday.py RUN --test FOLDER         RUN: a trained model, everyday by default
    python benchmarks/everyday.py RUN --only storybook bias some sections; --quick: a few sentences of each
    python benchmarks/everyday.py RUN --only forms --data FOLDER      what training/everyday/prepare.py wrote
    python benchmarks/everyday.py RUN --only strings --strings FOLDER with test.tsv.gz, strings of applications

The FOLDER of --test has en-fr.tsv.gz, en-de.tsv.gz and en-es.tsv.gz, the lines of tatoeba-test-v2021-08-07
(Helsinki-NLP, OPUS-MT-testsets), and en-XX.clean.tsv.gz, the lines with neither side in the training tables of
everyday.

*published*: BLEU and chrF2 on all lines and on the clean ones, with signatures, beside what others have published on
all.  Several translations of one source are not merged: each pair counts separately, with one reference.
*phrasebook*: the same on the pairs of the phrasebook that no training has.
*storybook*: its families of pairs, with the share of right pronouns.
*forms*: chrF2 on plurals that no training pair has, of words that it has.
*strings*: chrF2 on buttons, menus and messages of applications.
*first*: everyday_first.tsv, what people type first, each with its right translations: how many are one of them.
*invented*: 200 clean lines a language: how many have a word that neither the training text nor the source has.
*sentences*: everyday_sentences.tsv in all languages, a table for human marking; --out FILE writes it.
*copied*: 180 sentences each with a name, a number, a URL, an e-mail address or a name in quotes, and 200 each with a
date or a quantity: how many keep it, a date and a decimal point as the language writes them.
*written*: 300 clean lines a language written in other ways (lower case, as a title, no final stop ...): chrF2 without
regard to case, quotes and final stops.
*texts*: 500 texts of 2 to 6 unrelated clean lines a language: how many lose or add a sentence.
*bias*: occupations in 40 templates, with he, she or neither: the gender in the translation, by two rules.  *Article*:
the first word, if it is one of ARTICLES (not l').  *Pronoun*: the first of PRONOUNS.  Counts without judgement.
"""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

import yaml
from _frame import arguments, end, is_trained
from sacrebleu.metrics import CHRF

from seq2see import Translator
from seq2see.errors import UserError
from seq2see.text.segments import count_sentences
from seq2see.training.config import DataConfig
from seq2see.training.evaluation import scores_of
from seq2see.training.everyday.variation import MONTHS
from seq2see.training.pairs import Pair, evenly_spaced, load_split

BEAMS = 4
QUICK = 20  # pairs or sentences with --quick
LANGUAGES = ("fr", "de", "es")
PEERS = {  # BLEU on all lines, nrefs:1|case:mixed|eff:no|tok:13a, by the leaderboards of OPUS-MT and of external models
    "OPUS-MT en-XX": (51.8, 44.7, 53.8), "NLLB-200-distilled-600M": (48.6, 40.9, 53.8),
    "M2M-100 418M": (38.7, 31.0, 42.6),
}
SENTENCES, FIRST = (Path(__file__).with_name(f"everyday_{name}.tsv") for name in ("sentences", "first"))
OCCUPATIONS = (
    "doctor", "nurse", "teacher", "engineer", "secretary", "lawyer", "cook", "pilot", "baker", "scientist", "cleaner",
    "farmer", "hairdresser", "mechanic", "librarian", "soldier",
)
HE_OR_SHE = (  # 18 for either pronoun, and 4 without: 40
    "The {job} said that {he} was tired.", "The {job} thinks that {he} is right.", "The {job} says {he} needs help.",
    "The {job} knew that {he} was late.", "The {job} left because {he} was sick.", "The {job} smiled when {he} saw me.",
    "The {job} told us that {he} had two children.", "The {job} will come if {he} has time.",
    "The {job} hopes that {he} will win.", "The {job} was angry because {he} had to wait.",
    "The {job} called before {he} left.", "The {job} admitted that {he} had made a mistake.",
    "The {job} says that {he} likes the new house.", "The {job} promised that {he} would help us.",
    "The {job} stayed at home because {he} was ill.", "The {job} explained why {he} was leaving.",
    "The {job} was happy when {he} heard the news.", "The {job} forgot what {he} wanted to say.",
)
NEITHER = ("The {job} is tired.", "The {job} has just arrived.", "The {job} lives next door.", "The {job} helped me.")
WRITTEN: dict[str, Callable[[str], str]] = {
    "as it is": str, "lower case": str.lower, "capitals": str.upper,
    "title case": lambda text: re.sub(r"(?<![\w'’])\w", lambda found: found[0].upper(), text),
    "no final stop": lambda text: text.rstrip(".!?"),
    "typographic": lambda text: re.sub(r'"([^"]*)"', r"“\1”", text).replace("'", "’"),
    "spaces before": lambda text: f"   {text}", "emoji": lambda text: f"{text} 🙂",
}
_FIRST = ["Tomasz", "Ayesha", "Bjorn", "Chidi", "Ximena", "Yuki", "Oksana", "Priya", "Farouk", "Niamh", "Lorenz"]
_LAST = ["Kowalski", "Okafor", "Lindqvist", "Haddad", "Nakamura", "Petrenko", "Quispe", "Farrell", "Brandt", "Szabo"]
_SITES = ["example.org", "blue-harbor.net", "museum-of-salt.eu", "ticket24.com", "docs.openfield.io"]
_BRANDS = ["Zentrix", "Mirolla", "Kestrel", "Duvano", "Halcyon", "Ostrava", "Pelikano"]
_UNITS = ("km", "kg", "cm", "m", "g", "km/h", "°C", "%", "ml")
Draw = Callable[[Random], str]
COPIED: dict[str, tuple[Draw, tuple[str, ...]]] = {
    "number": (lambda draw: draw.choice((f"{draw.randint(11, 9999)}", f"{draw.randint(2, 99)}.{draw.randint(11, 99)}")),
               ("It costs {x} euros.", "I paid {x} dollars for this.", "The answer is {x}.", "He weighs {x} kilos.")),
    "name": (lambda draw: f"{draw.choice(_FIRST)} {draw.choice(_LAST)}",
             ("My name is {x}.", "{x} is my best friend.", "I met {x} in the park.", "Have you seen {x} today?")),
    "URL": (lambda draw: f"https://{draw.choice(_SITES)}/{draw.choice(_BRANDS).lower()}/{draw.randint(1, 999)}",
            ("Please visit {x} for more.", "I found it on {x} yesterday.", "Do you know {x}?")),
    "e-mail address": (lambda draw: f"{draw.choice(_FIRST).lower()}.{draw.randint(1, 99)}@{draw.choice(_SITES)}",
                       ("Write to {x} if you need help.", "My address is {x}.", "She sent it to {x} on Monday.")),
    "name in quotes": (lambda draw: f"{draw.choice(_BRANDS)} {draw.choice(_BRANDS)}",
                       ('The film is called "{x}".', 'He reads "{x}" every day.', 'Have you heard of "{x}"?')),
    "date": (lambda draw: f"{draw.randint(2, 28)} {draw.choice(MONTHS['en'].split())}",
             ("The meeting is on {x}.", "I was born on {x}.", "We arrive on {x} and leave the next day.",
              "The shop is closed until {x}.")),
    "quantity": (lambda draw: f"{draw.randint(2, 99)}{draw.choice(('', '.5', '.25'))} {draw.choice(_UNITS)}",
                 ("It is about {x}.", "The label says {x}.", "We need {x} more.", "Yesterday it was only {x}.")),
}
EACH = {"date": 200, "quantity": 200}  # of the other kinds 180
ARTICLES = {"fr": ("le un", "la une"), "de": ("der ein", "die eine"), "es": ("el un", "la una")}
PRONOUNS = {"fr": ("il", "elle"), "de": ("er", "sie"), "es": ("él", "ella")}


@dataclass(frozen=True)
class Bench:
    """The subject of the sections: `translator(texts, target=...)` gives translations, `seen(language)` the words of
    the training text, casefolded."""

    translator: Callable[..., Any]
    test: Path | None = None
    quick: bool = False
    out: Path | None = None
    data: Path | None = None
    strings: Path | None = None
    seen: Callable[[str], frozenset[str] | None] = lambda language: None

    def translate(self, texts: Sequence[str], target: str) -> list[str]:
        """Translate each distinct text once."""
        once = list(dict.fromkeys(texts))
        found = dict(zip(once, (result.text for result in self.translator(once, target=target)), strict=True))
        return [found[text] for text in texts]

    def lines(self, language: str, *, clean: bool = True) -> list[Pair]:
        """The published test; UserError without its folder."""
        if self.test is None:
            raise UserError("give --test FOLDER, the published test: see --help", exit_code=2)
        file = self.test / f"en-{language}{'.clean' if clean else ''}.tsv.gz"
        return load_split(DataConfig(path=str(file), source="en", target=language), "all")

    def scores(self, data: DataConfig, pairs: list[Pair]) -> dict[str, Any]:
        if self.quick:
            pairs = [pairs[index] for index in evenly_spaced([pair.target_language for pair in pairs], QUICK)]
        hypotheses = self.translate([pair.source for pair in pairs], data.targets[0])
        return scores_of(data, "test", pairs, hypotheses, seed=0)


    def records(self, file: Path) -> dict[str, Any]:
        """The scores on a file with the column en and those of the languages."""
        data = DataConfig(path=str(file), source="en", target=[*LANGUAGES])
        pairs = load_split(data, "all")
        return {f"en-{language}": self.scores(replace(data, target=language), [
                    pair for pair in pairs if pair.target_language == language]) for language in LANGUAGES}


def published(bench: Bench) -> dict[str, Any]:
    table = {f"en-{language}, {'clean' if clean else 'all'} lines": bench.scores(
                DataConfig(path="published", target=language), bench.lines(language, clean=clean))
             for clean in (True, False) for language in LANGUAGES}
    return table | {f"{peer}, all lines": dict(zip(LANGUAGES, bleu, strict=True)) for peer, bleu in PEERS.items()}


def phrasebook(bench: Bench) -> dict[str, Any]:
    return _of_package(bench, "phrasebook")


def storybook(bench: Bench) -> dict[str, Any]:
    return _of_package(bench, "storybook")


def forms(bench: Bench) -> dict[str, Any]:
    return bench.records(given(bench.data, "--data") / "forms.jsonl")


def strings(bench: Bench) -> dict[str, Any]:
    return bench.records(given(bench.strings, "--strings") / "test.tsv.gz")


def given(folder: Path | None, option: str) -> Path:
    if folder is None:
        raise UserError(f"give {option} FOLDER: see --help", exit_code=2)
    return folder


def first(bench: Bench) -> dict[str, Any]:
    rows = rows_of(FIRST)[: QUICK if bench.quick else None]
    table: dict[str, Any] = {"table": []}
    for language in LANGUAGES:
        found = bench.translate([row["sentence"] for row in rows], language)
        right = [plain(text) in map(plain, row[language].split("|")) for row, text in zip(rows, found, strict=True)]
        kinds = dict.fromkeys(row["kind"] for row in rows)
        table[language] = {"right": f"{sum(right)} of {len(rows)}"} | {
            kind: sum(one for row, one in zip(rows, right, strict=True) if row["kind"] == kind) for kind in kinds}
        table["table"] += [[language, row["sentence"], text, one]
                           for row, text, one in zip(rows, found, right, strict=True)]
    return table


def invented(bench: Bench) -> dict[str, Any]:
    table: dict[str, Any] = {"table": []}
    for language in LANGUAGES:
        known = {*words_of(" ".join(bench.seen(language) or ()))}  # of aujourd'hui both parts
        some = [pair.source for pair in shuffled(bench.lines(language))[: QUICK if bench.quick else 200]]
        unseen = [sorted({*words_of(text)} - known - {*words_of(source)})
                  for source, text in zip(some, bench.translate(some, language), strict=True)]
        table[language] = f"{sum(map(bool, unseen))} of {len(some)}"
        table["table"] += [[language, source, *words] for source, words in zip(some, unseen, strict=True) if words]
    return table


def words_of(text: str) -> list[str]:
    return re.findall(r"[^\W\d_]+", text.casefold())


def rows_of(file: Path) -> list[dict[str, str]]:
    with file.open(encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE))


def _of_package(bench: Bench, name: str) -> dict[str, Any]:
    table = {}
    for language in LANGUAGES:
        data = DataConfig(path=name, target=language)
        table[f"en-{language}"] = bench.scores(data, load_split(data, "test"))
    return table


def sentences(bench: Bench) -> dict[str, Any]:
    rows = rows_of(SENTENCES)[: QUICK if bench.quick else None]
    english = [row["sentence"] for row in rows]
    columns = [[row["kind"] for row in rows], english,
               *(bench.translate(english, language) for language in LANGUAGES)]
    table = [["kind", "English", *LANGUAGES], *map(list, zip(*columns, strict=True))]
    lines = "".join("\t".join(row) + "\n" for row in table)
    print(lines)
    if bench.out:
        bench.out.write_text(lines, "utf-8")
    return {"sentences": len(rows), "table": table}


def copied(bench: Bench) -> dict[str, Any]:
    draw = Random(0)
    table: dict[str, Any] = {}
    for kind, (make, frames) in COPIED.items():
        said = [make(draw) for _ in range(QUICK if bench.quick else EACH.get(kind, 180))]
        texts = [frames[number % len(frames)].format(x=x) for number, x in enumerate(said)]
        for language in LANGUAGES:
            kept = [_kept(x, text, language) if kind == "date" else x in text or _digits(x) in _digits(text)
                    for x, text in zip(said, bench.translate(texts, language), strict=True)]
            table.setdefault(language, {})[kind] = f"{sum(kept)} of {len(kept)}"
    return table


def _kept(date: str, text: str, language: str) -> bool:
    """Whether a date is in a text as the language writes it."""
    day, month = date.split()
    month = MONTHS[language].split()[MONTHS["en"].split().index(month)]
    return {"fr": f"{day} {month}", "de": f"{day}. {month}", "es": f"{day} de {month}"}[language] in text


def _digits(text: str) -> str:
    """Without the separators of numbers, nor the space before a unit."""
    return re.sub(r"(?<=\d)(?:[.,\s](?=\d)|\s(?=[%°a-z]))", "", text)


def written(bench: Bench) -> dict[str, Any]:
    table: dict[str, Any] = {}
    for language in LANGUAGES:
        some = shuffled(bench.lines(language))[: QUICK if bench.quick else 300]
        references = [plain(pair.target) for pair in some]
        table[language] = {
            name: round(CHRF().corpus_score(
                [plain(text) for text in bench.translate([change(pair.source) for pair in some], language)],
                [references]).score, 1)
            for name, change in WRITTEN.items()
        }
    return table


def texts(bench: Bench) -> dict[str, Any]:
    table: dict[str, Any] = {}
    for language in LANGUAGES:
        draw, pairs = Random(0), shuffled(bench.lines(language))
        single = [pair.source for pair in pairs if count_sentences(pair.source, language="en") == 1]
        drawn = [draw.sample(single, draw.randint(2, 6)) for _ in range(QUICK if bench.quick else 500)]
        alone = dict(zip(single, bench.translate(single, language), strict=True))
        whole = bench.translate([" ".join(one) for one in drawn], language)
        more = [count_sentences(text, language=language)
                - count_sentences(" ".join(alone[one] for one in those), language=language)  # a final "no." joins too
                for those, text in zip(drawn, whole, strict=True)]
        table[language] = {"texts": len(more), "lost": sum(n < 0 for n in more), "added": sum(n > 0 for n in more)}
    return table


def shuffled(pairs: list[Pair]) -> list[Pair]:
    """In a fixed random order."""
    return Random(0).sample(pairs, len(pairs))


def plain(text: str) -> str:
    """Without case, typographic quotes, final stops, the emoji and outer spaces."""
    return text.casefold().replace("’", "'").replace("“", '"').replace("”", '"').strip(" .!?¡¿🙂")


def bias(bench: Bench) -> dict[str, Any]:
    table = {}
    sampled = list(occupation_sentences(OCCUPATIONS[:1] if bench.quick else OCCUPATIONS))
    for language in LANGUAGES:
        translated = bench.translate([text for *_, text in sampled], language)
        said = [(pronoun, job, *genders(text, language))
                for (pronoun, job, _), text in zip(sampled, translated, strict=True)]
        table[language] = {
            "article": counted((one, article) for one, _, article, _ in said),
            "pronoun": counted((one, pronoun) for one, _, _, pronoun in said),
            "article, by occupation": {job: counted((one, article) for one, other, article, _ in said if other == job)
                                       for job in dict.fromkeys(job for _, job, *_ in said)},
        }
    return table


def occupation_sentences(jobs: Sequence[str]) -> Iterator[tuple[str, str, str]]:
    """(he, she or neither; occupation; sentence): each occupation in 40 templates."""
    for job in jobs:
        for pronoun in ("he", "she"):
            yield from ((pronoun, job, template.format(job=job, he=pronoun)) for template in HE_OR_SHE)
        yield from (("neither", job, template.format(job=job)) for template in NEITHER)


def genders(text: str, language: str) -> tuple[str, str]:
    """The gender of a translation by its article and by its pronoun."""
    words = re.findall(r"\w+", text.casefold())
    return gender(words[:1], ARTICLES[language]), gender(words, PRONOUNS[language])


def gender(words: list[str], forms: tuple[str, str]) -> str:
    """The gender of the first word that is one of these forms."""
    known = {form: name for name, some in zip(("masculine", "feminine"), forms, strict=True) for form in some.split()}
    return next((known[word] for word in words if word in known), "unknown")


def counted(pairs: Iterable[tuple[str, str]]) -> dict[str, dict[str, int]]:
    """For each English pronoun (he, she, neither): how many translations have which gender."""
    found = Counter(pairs)
    return {said: {name: found[said, name] for name in ("masculine", "feminine", "unknown")}
            for said in dict.fromkeys(said for said, _ in found)}


SECTIONS: dict[str, Callable[[Bench], dict[str, Any]]] = {
    one.__name__: one for one in (
        published, phrasebook, storybook, forms, strings, first, invented, sentences, copied, written, texts, bias)
}
NEEDS = {**dict.fromkeys(("published", "written", "texts", "invented"), "test"), "forms": "data", "strings": "strings"}


def main() -> None:
    parser = arguments(__doc__, run=True)
    parser.set_defaults(run="everyday")
    parser.add_argument("--test", type=Path, metavar="FOLDER", help="the published test")
    parser.add_argument("--only", nargs="+", choices=list(SECTIONS), metavar="SECTION",
                        help=f"one or more of {', '.join(SECTIONS)}; without it, all whose folder is given")
    parser.add_argument("--data", type=Path, metavar="FOLDER", help="the prepared data")
    parser.add_argument("--strings", type=Path, metavar="FOLDER", help="the strings of applications")
    parser.add_argument("--out", type=Path, metavar="FILE", help="output file for the table of sentences")
    args = parser.parse_args()
    if not is_trained(args.run):
        return end("everyday", [])
    translator = Translator.from_pretrained(args.run, engine="ctranslate2", precision="int8")
    bench = Bench(partial(translator, source="en", num_beams=BEAMS), args.test, args.quick, args.out, args.data,
                  args.strings, translator.seen_words)
    rows = []
    for name in args.only or [one for one in SECTIONS if one not in NEEDS or getattr(args, NEEDS[one])]:
        print(f"== {name}")
        try:
            found = SECTIONS[name](bench)
        except UserError as error:
            raise SystemExit(str(error)) from None
        shown = {key: value for key, value in found.items() if key != "table"}
        print(yaml.safe_dump(shown, sort_keys=False, allow_unicode=True, default_flow_style=None, width=200))
        rows.append({"name": name} | found)
    end("everyday", rows, run=args.run, beams=BEAMS, quick=args.quick)


if __name__ == "__main__":
    main()
