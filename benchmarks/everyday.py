"""How well does `everyday` translate as served: with CTranslate2 in int8 and four beams?

    python benchmarks/everyday.py RUN                       RUN: a trained model, everyday by default
    python benchmarks/everyday.py RUN --data FOLDER         where the corpora of its run.yaml lie now
    python benchmarks/everyday.py RUN --only scores texts   some sections; --quick: a few sentences of each

*scores*: BLEU and chrF2 on the full test set of each corpus, for each target language, with signatures.  Several
translations of one source are not merged: each pair counts separately, with one reference.  For storybook also the
families of pairs, with the share of right pronouns.
*texts*: 500 texts per language, of 2 to 6 unrelated sentences of the test set, as in long_texts.py: how many texts lose
or add a sentence, and how many sentences differ in any character from their translation alone.  A sentence that refers
back is translated with the one before it, and may legitimately differ.
*copied*: 300 template sentences with a string to copy: how many copy it exactly, and how many by the convention of the
target language, by the rules of _everyday_texts.py.
*written*: 1,000 test pairs per language in another spelling.  A row covers the pairs that the variant changes: those
without a quotation mark or apostrophe have no typographic form.  The reference changes too where the translation
should: no final stop, capitals, emoji.  *Plain* is the chrF2 of the translation of the plain sentence, changed by rule;
*fall* is the loss of chrF2 against that.
*links*: the alignment error rate on storybook's gold links, with its 95 % interval over groups of variants: the choice
fitted on the validation set, the guided head with its best rule there, and the last layer's mean.  Computed in torch.
*sentences*: everyday_sentences.tsv in all languages, a table for human marking; --out FILE writes it.
*bias*: occupations in 40 templates, with he, she or neither: the gender in the translation, by the rules of
_everyday_texts.py.  Counts without judgement.
"""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import yaml
from _everyday_texts import (
    ARTICLES,
    GENDERS,
    KINDS,
    OCCUPATIONS,
    copied_sentences,
    gender_by_article,
    gender_by_pronoun,
    occupation_sentences,
)
from _frame import arguments, end, is_trained
from alignment import storybook_parts, traces_of
from long_texts import MOST_SENTENCES, texts_row

from seq2see import Translator
from seq2see.errors import UserError
from seq2see.lens.fitting import GoldSentences
from seq2see.lens.hooks import supervised_heads
from seq2see.measures.alignment import Aligner
from seq2see.tokenizer.segments import count_sentences
from seq2see.training.checkpoints import find_record
from seq2see.training.config import DataConfig, load_record
from seq2see.training.corpora import load_corpus
from seq2see.training.evaluation import labels, scores_of
from seq2see.training.metrics import score
from seq2see.training.pairs import Pair, evenly_spaced, load_split
from seq2see.training.variation import capitals, lower_case, typographic, with_emoji, without_stop

BEAMS = 4
COUNTS = {"texts": 500, "copied": 300, "written": 1_000}
QUICK = 20  # pairs, texts or sentences with --quick
EXAMPLES = 3  # of strings not copied, for each kind
SENTENCES = Path(__file__).with_name("everyday_sentences.tsv")


def with_leading_spaces(pair: Pair) -> Pair:
    return replace(pair, source=f"   {pair.source}")


WRITINGS: dict[str, Callable[[Pair], Pair]] = {
    "no final stop": without_stop, "lower case": lower_case, "capitals": capitals, "typographic marks": typographic,
    "leading spaces": with_leading_spaces, "emoji at the end": with_emoji,
}  # fmt: skip


@dataclass(frozen=True)
class Bench:
    """The subject of the sections: `translator(texts, target=...)` gives translations."""

    run: str
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

    def count(self, section: str) -> int:
        return QUICK if self.quick else COUNTS[section]

    @cached_property
    def tests(self) -> list[tuple[DataConfig, list[Pair]]]:
        """The test pairs of each corpus and target language."""
        corpus = load_corpus(self.data, seed=self.seed)
        found = []
        for data, part in corpus.parts or ((self.data, corpus),):
            pairs = part.test or load_split(data, "test", seed=self.seed)
            found += [(replace(data, target=language), [one for one in pairs if one.target_language == language])
                      for language in data.targets]  # fmt: skip
        return found

    def everyday(self, language: str) -> list[Pair]:
        """The test pairs of a language, except storybook's."""
        return [pair for data, pairs in self.tests if data.path != "storybook" and data.targets == [language]
                for pair in pairs]  # fmt: skip


def scores(bench: Bench) -> dict[str, Any]:
    table = {}
    names = labels([data for data, _ in bench.tests])
    for name, (data, pairs) in zip(names, bench.tests, strict=True):
        if bench.quick:
            pairs = some(pairs, QUICK)
        if pairs:
            hypotheses = bench.translate([pair.source for pair in pairs], data.targets[0])
            table[name] = scores_of(data, "test", pairs, hypotheses, references=None, seed=bench.seed)
    return table


def texts(bench: Bench) -> dict[str, Any]:
    table = {}
    for language in bench.data.targets:
        sources = dict.fromkeys(pair.source for pair in bench.everyday(language))
        single = [one for one in sources if one[-1] in ".!?" and count_sentences(one, language="en") == 1]
        if len(single) >= MOST_SENTENCES:
            table[language] = texts_row(bench.translator, single, count=bench.count("texts"), target=language,
                                        exactly=True)  # fmt: skip
    return table


def copied(bench: Bench) -> dict[str, Any]:
    table = {}
    sampled = list(copied_sentences(bench.count("copied")))
    for language in bench.data.targets:
        rows = {kind: {"sentences": 0, "exact": 0, "by convention": 0, "changed": []} for kind in KINDS}
        for one, translation in zip(sampled, bench.translate([one.text for one in sampled], language), strict=True):
            row: dict[str, Any] = rows[one.kind]
            row["sentences"] += 1
            how = one.comes_back(translation, language)
            if how:
                row[how] += 1
            else:
                row["changed"] = [*row["changed"], f"{one.string} -> {translation}"][:EXAMPLES]
        table[language] = {kind: {"exact %": percent(row["exact"], row["sentences"])} | row
                           for kind, row in rows.items() if row["sentences"]}  # fmt: skip
    return table


def written(bench: Bench) -> dict[str, Any]:
    table: dict[str, Any] = {}
    for language in bench.data.targets:
        pairs = some(bench.everyday(language), bench.count("written"))
        plain = bench.translate([pair.source for pair in pairs], language)
        for name, way in WRITINGS.items():
            changed = [number for number, pair in enumerate(pairs) if way(pair) != pair]
            if not changed:
                continue
            others = [way(pairs[number]) for number in changed]
            references = [other.target for other in others]
            before = score([way(replace(pairs[number], target=plain[number])).target for number in changed], references)
            after = score(bench.translate([other.source for other in others], language), references)
            table.setdefault(language, {"signature": after.chrf_signature})[name] = {
                "pairs": len(changed), "plain chrF2": round(before.chrf, 2), "chrF2": round(after.chrf, 2),
                "fall": round(before.chrf - after.chrf, 2)}  # fmt: skip
    return table


def links(bench: Bench) -> dict[str, Any]:
    if "fr" not in bench.data.targets:
        return {}
    aligner = Aligner(Translator.from_pretrained(bench.run, engine="torch"), source="en", target="fr")
    heads = sorted(supervised_heads(aligner.model))
    dev, test = storybook_parts(None, quick=bench.quick)
    tried_on = GoldSentences(traces_of(aligner, dev), dev.gold, dev.groups)
    choices = {"fitted choice": tried_on.fit(fitted_on="the validation part", guided=bool(heads)),
               "last layer's mean": aligner.naive()}  # fmt: skip
    for layer, head in heads:
        alone = [one for one in tried_on.try_maps() if one.choice.view == "raw" and one.choice.maps == ((layer, head),)]
        choices[f"guided head, layer {layer} head {head}"] = min(alone, key=lambda one: one.aer).choice
    tested = GoldSentences(traces_of(aligner, test), test.gold, test.groups)
    table = {}
    for name, choice in choices.items():
        measured = asdict(tested.agreement(choice))
        table[name] = {key: value if key == "sentences" else round(100 * value, 2) for key, value in measured.items()}
        table[name]["choice"] = choice.describe()
    return {"unit": "%", **table}


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


def bias(bench: Bench) -> dict[str, Any]:
    table = {}
    sampled = list(occupation_sentences(OCCUPATIONS[:1] if bench.quick else OCCUPATIONS))
    for language in (one for one in bench.data.targets if one in ARTICLES):
        translated = bench.translate([text for *_, text in sampled], language)
        said = [(pronoun, job, gender_by_article(text, language), gender_by_pronoun(text, language))
                for (pronoun, job, _), text in zip(sampled, translated, strict=True)]  # fmt: skip
        table[language] = {
            "article": genders((one, article) for one, _, article, _ in said),
            "pronoun": genders((one, pronoun) for one, _, _, pronoun in said),
            "article, by occupation": {job: genders((one, article) for one, other, article, _ in said if other == job)
                                       for job in dict.fromkeys(job for _, job, *_ in said)},
        }  # fmt: skip
    return table


def genders(pairs: Iterable[tuple[str, str]]) -> dict[str, dict[str, int]]:
    """For each English pronoun (he, she, neither): how many translations have which gender."""
    found = Counter(pairs)
    return {said: {gender: found[said, gender] for gender in (*GENDERS, "unknown")}
            for said in dict.fromkeys(said for said, _ in found)}  # fmt: skip


SECTIONS: dict[str, Callable[[Bench], dict[str, Any]]] = {
    one.__name__: one for one in (scores, texts, copied, written, links, sentences, bias)
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
    bench = Bench(args.run, partial(translator, source=config.data.source, num_beams=BEAMS),
                  moved(config.data, args.data), config.training.get("seed", 0), args.quick, args.out)  # fmt: skip
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
    end("everyday", rows, run=args.run, engine=translator.engine.name, precision=translator.engine.precision,
        beams=BEAMS, quick=args.quick)


def moved(data: DataConfig, folder: Path | None) -> DataConfig:
    """The data with its corpora in another folder, under the same names."""
    def there(path: str | list[str]) -> str | list[str]:
        if isinstance(path, list):
            return [str(there(one)) for one in path]
        return path if path == "storybook" else str(folder / Path(path).name)

    if folder is None:
        return data
    if not data.corpora:
        return replace(data, path=there(data.path))
    return replace(data, corpora=[replace(one, path=there(one.path)) for one in data.corpora], folder=None)


def some(pairs: list[Pair], count: int) -> list[Pair]:
    return [pairs[index] for index in evenly_spaced([pair.target_language for pair in pairs], count)]


def percent(count: int, of: int) -> float:
    return round(100 * count / of, 1)


if __name__ == "__main__":
    main()
