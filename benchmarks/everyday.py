"""How well does `everyday` translate as served: with CTranslate2 in int8 and four beams?

    python benchmarks/everyday.py RUN                       RUN: a trained model, everyday by default
    python benchmarks/everyday.py RUN --data FOLDER         where the corpora of its run.yaml lie now
    python benchmarks/everyday.py RUN --only scores bias    some sections; --quick: a few sentences of each

*scores*: BLEU and chrF2 on the full test set of each corpus, for each target language, with signatures.  Several
translations of one source are not merged: each pair counts separately, with one reference.  For storybook also the
families of pairs, with the share of right pronouns.
*sentences*: everyday_sentences.tsv in all languages, a table for human marking; --out FILE writes it.
*copied*: 300 sentences with a number, a name, a URL, an e-mail address or a name in quotes: how many keep it.
*written*: 300 test sentences a language written in other ways (lower case, no final stop ...): chrF2 without regard to
case, quotes and final stops.
*texts*: 500 texts of 2 to 6 unrelated test sentences a language: how many lose or add a sentence.
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
from seq2see.tokenizer.segments import count_sentences
from seq2see.training.checkpoints import find_record
from seq2see.training.config import DataConfig, load_record
from seq2see.training.corpora import load_corpus
from seq2see.training.evaluation import labels, scores_of
from seq2see.training.pairs import Pair, evenly_spaced, load_split

BEAMS = 4
QUICK = 20  # pairs or sentences with --quick
SENTENCES = Path(__file__).with_name("everyday_sentences.tsv")
OCCUPATIONS = (
    "doctor", "nurse", "teacher", "engineer", "secretary", "lawyer", "cook", "pilot", "baker", "scientist", "cleaner",
    "farmer", "hairdresser", "mechanic", "librarian", "soldier",
)  # fmt: skip
HE_OR_SHE = (  # 18 for either pronoun, and 4 without: 40
    "The {job} said that {he} was tired.", "The {job} thinks that {he} is right.", "The {job} says {he} needs help.",
    "The {job} knew that {he} was late.", "The {job} left because {he} was sick.", "The {job} smiled when {he} saw me.",
    "The {job} told us that {he} had two children.", "The {job} will come if {he} has time.",
    "The {job} hopes that {he} will win.", "The {job} was angry because {he} had to wait.",
    "The {job} called before {he} left.", "The {job} admitted that {he} had made a mistake.",
    "The {job} says that {he} likes the new house.", "The {job} promised that {he} would help us.",
    "The {job} stayed at home because {he} was ill.", "The {job} explained why {he} was leaving.",
    "The {job} was happy when {he} heard the news.", "The {job} forgot what {he} wanted to say.",
)  # fmt: skip
NEITHER = ("The {job} is tired.", "The {job} has just arrived.", "The {job} lives next door.", "The {job} helped me.")
WRITTEN: dict[str, Callable[[str], str]] = {
    "as it is": str, "lower case": str.lower, "capitals": str.upper, "no final stop": lambda text: text.rstrip(".!?"),
    "typographic": lambda text: re.sub(r'"([^"]*)"', r"“\1”", text).replace("'", "’"),
    "spaces before": lambda text: f"   {text}", "emoji": lambda text: f"{text} 🙂",
}  # fmt: skip
_FIRST = ["Tomasz", "Ayesha", "Bjorn", "Chidi", "Ximena", "Yuki", "Oksana", "Priya", "Farouk", "Niamh", "Lorenz"]
_LAST = ["Kowalski", "Okafor", "Lindqvist", "Haddad", "Nakamura", "Petrenko", "Quispe", "Farrell", "Brandt", "Szabo"]
_SITES = ["example.org", "blue-harbor.net", "museum-of-salt.eu", "ticket24.com", "docs.openfield.io"]
_BRANDS = ["Zentrix", "Mirolla", "Kestrel", "Duvano", "Halcyon", "Ostrava", "Pelikano"]
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
}  # fmt: skip
ARTICLES = {"fr": ("le un", "la une"), "de": ("der ein", "die eine"), "es": ("el un", "la una")}
PRONOUNS = {"fr": ("il", "elle"), "de": ("er", "sie"), "es": ("él", "ella")}


@dataclass(frozen=True)
class Bench:
    """The subject of the sections: `translator(texts, target=...)` gives translations."""

    translator: Callable[..., Any]
    data: DataConfig
    seed: int = 0
    quick: bool = False
    out: Path | None = None

    def translate(self, texts: Sequence[str], target: str) -> list[str]:
        """Translate each distinct text once."""
        once = list(dict.fromkeys(texts))
        found = dict(zip(once, (result.text for result in self.translator(once, target=target)), strict=True))
        return [found[text] for text in texts]


def scores(bench: Bench) -> dict[str, Any]:
    corpus = load_corpus(bench.data, seed=bench.seed)
    tests = []
    for data, part in corpus.parts or ((bench.data, corpus),):
        pairs = part.test or load_split(data, "test", seed=bench.seed)
        tests += [(replace(data, target=language), [one for one in pairs if one.target_language == language])
                  for language in data.targets]  # fmt: skip
    table = {}
    for name, (data, pairs) in zip(labels([data for data, _ in tests]), tests, strict=True):
        if bench.quick:
            pairs = [pairs[index] for index in evenly_spaced([name] * len(pairs), QUICK)]
        if pairs:
            hypotheses = bench.translate([pair.source for pair in pairs], data.targets[0])
            table[name] = scores_of(data, "test", pairs, hypotheses, seed=bench.seed)
    return table


def sentences(bench: Bench) -> dict[str, Any]:
    with SENTENCES.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))[: QUICK if bench.quick else None]
    english = [row["sentence"] for row in rows]
    columns = [[row["kind"] for row in rows], english,
               *(bench.translate(english, language) for language in bench.data.targets)]  # fmt: skip
    table = [["kind", "English", *bench.data.targets], *map(list, zip(*columns, strict=True))]
    lines = "".join("\t".join(row) + "\n" for row in table)
    print(lines)
    if bench.out:
        bench.out.write_text(lines, "utf-8")
    return {"sentences": len(rows), "table": table}


def copied(bench: Bench) -> dict[str, Any]:
    draw = Random(0)
    table: dict[str, Any] = {}
    for kind, (make, frames) in COPIED.items():
        said = [make(draw) for _ in range(QUICK if bench.quick else 60)]
        texts = [frames[number % len(frames)].format(x=x) for number, x in enumerate(said)]
        for language in bench.data.targets:
            kept = [x in text or re.sub("[.,]", "", x) in re.sub(r"(?<=\d)[.,\s](?=\d)", "", text)
                    for x, text in zip(said, bench.translate(texts, language), strict=True)]  # fmt: skip
            table.setdefault(language, {})[kind] = f"{sum(kept)} of {len(kept)}"
    return table


def written(bench: Bench) -> dict[str, Any]:
    table: dict[str, Any] = {}
    for language, pairs in tatoeba(bench).items():
        some = pairs[: QUICK if bench.quick else 300]
        references = [plain(pair.target) for pair in some]
        table[language] = {
            name: round(CHRF().corpus_score(
                [plain(text) for text in bench.translate([change(pair.source) for pair in some], language)],
                [references]).score, 1)
            for name, change in WRITTEN.items()
        }  # fmt: skip
    return table


def texts(bench: Bench) -> dict[str, Any]:
    table: dict[str, Any] = {}
    for language, pairs in tatoeba(bench).items():
        draw = Random(0)
        single = [pair.source for pair in pairs if count_sentences(pair.source, language="en") == 1]
        drawn = [draw.sample(single, draw.randint(2, 6)) for _ in range(QUICK if bench.quick else 500)]
        alone = dict(zip(single, bench.translate(single, language), strict=True))
        more = [count_sentences(text, language=language)
                - sum(count_sentences(alone[one], language=language) for one in those)
                for those, text in zip(drawn, bench.translate([" ".join(one) for one in drawn], language), strict=True)]
        table[language] = {"texts": len(more), "lost": sum(n < 0 for n in more), "added": sum(n > 0 for n in more)}
    return table


def tatoeba(bench: Bench) -> dict[str, list[Pair]]:
    """The test pairs of each language in a fixed random order, storybook's left out."""
    found: dict[str, list[Pair]] = {}
    for data, part in load_corpus(bench.data, seed=bench.seed).parts:
        if data.path != "storybook":
            found.setdefault(data.targets[0], []).extend(part.test)
    for pairs in found.values():
        Random(0).shuffle(pairs)
    return found


def plain(text: str) -> str:
    """Without case, typographic quotes, final stops, the emoji and outer spaces."""
    return text.casefold().replace("’", "'").replace("“", '"').replace("”", '"').strip(" .!?¡¿🙂")


def bias(bench: Bench) -> dict[str, Any]:
    table = {}
    sampled = list(occupation_sentences(OCCUPATIONS[:1] if bench.quick else OCCUPATIONS))
    for language in (one for one in bench.data.targets if one in ARTICLES):
        translated = bench.translate([text for *_, text in sampled], language)
        said = [(pronoun, job, *genders(text, language))
                for (pronoun, job, _), text in zip(sampled, translated, strict=True)]  # fmt: skip
        table[language] = {
            "article": counted((one, article) for one, _, article, _ in said),
            "pronoun": counted((one, pronoun) for one, _, _, pronoun in said),
            "article, by occupation": {job: counted((one, article) for one, other, article, _ in said if other == job)
                                       for job in dict.fromkeys(job for _, job, *_ in said)},
        }  # fmt: skip
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
            for said in dict.fromkeys(said for said, _ in found)}  # fmt: skip


SECTIONS: dict[str, Callable[[Bench], dict[str, Any]]] = {
    one.__name__: one for one in (scores, sentences, copied, written, texts, bias)
}


def main() -> None:
    parser = arguments(__doc__, run=True)
    parser.set_defaults(run="everyday")
    parser.add_argument("--data", type=Path, help="the folder of the corpora (that of run.yaml)")
    parser.add_argument("--only", nargs="+", choices=list(SECTIONS), default=list(SECTIONS), metavar="SECTION",
                        help="one or more of " + ", ".join(SECTIONS))  # fmt: skip
    parser.add_argument("--out", type=Path, metavar="FILE", help="output file for the table of sentences")
    args = parser.parse_args()
    if not is_trained(args.run):
        return end("everyday", [])
    record = find_record(Path(args.run), "run.yaml")
    if record is None:
        raise SystemExit(f"{args.run} has no run.yaml that names its corpora")
    config = load_record(record)
    translator = Translator.from_pretrained(args.run, engine="ctranslate2", precision="int8")
    data = moved(config.data, args.data) if args.data else config.data
    bench = Bench(partial(translator, source=data.source, num_beams=BEAMS), data, config.training.get("seed", 0),
                  args.quick, args.out)  # fmt: skip
    rows = []
    for name in args.only:
        print(f"== {name}")
        try:
            found = SECTIONS[name](bench)
        except UserError as error:
            raise SystemExit(str(error)) from None
        shown = {key: value for key, value in found.items() if key != "table"}
        print(yaml.safe_dump(shown, sort_keys=False, allow_unicode=True, default_flow_style=None, width=200))
        rows.append({"name": name} | found)
    end("everyday", rows, run=args.run, beams=BEAMS, quick=args.quick)


def moved(data: DataConfig, folder: Path) -> DataConfig:
    """The data with its corpora in another folder, under the same names."""
    def there(path: str | list[str]) -> str | list[str]:
        if isinstance(path, list):
            return [str(there(one)) for one in path]
        return path if path == "storybook" else str(folder / Path(path).name)

    if not data.corpora:
        return replace(data, path=there(data.path))
    return replace(data, corpora=[replace(one, path=there(one.path)) for one in data.corpora], folder=None)


if __name__ == "__main__":
    main()
