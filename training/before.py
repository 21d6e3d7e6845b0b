"""What the model that a training starts from can do: its scores on the held-out pairs, and its translations of a fixed
sample, which the finished model is later compared with.

A fine-tuned model may forget what it could do before.  The sample shows how much: sentences of other kinds than the
training pairs, which both models translate; chrF of the later translations against the earlier ones is 100 where
nothing has changed.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from seq2see.atomic import atomic_write
from seq2see.errors import UserError
from ..tokenizer.language_codes import iso
from ..translate import Translator
from .config import RunConfig
from .evaluation import evaluate_run
from .metrics import score
from .pairs import Pair, TrainingPairs, evenly_spaced
from .progress import report
from .reading import book, read_lines
from .translation import translate_pairs

FILE = "before.json"  # in a run
SENTENCES = 50  # of the sample, for each language pair
MOST_PAIRS = 4  # a model of more language pairs translates the sample in that which it is trained on
SAMPLE = "translating the sample, which shows what the model forgets"
STORYBOOK = ("fr", "de", "es")  # beside English, the languages of the built-in corpus


def record_before(config: RunConfig, corpus: TrainingPairs) -> None:
    """Write the record into the run folder, and print the scores."""
    path = config.output / FILE
    if path.exists():  # of a training that was interrupted
        return
    report("scoring the model before training")
    base = Translator.from_pretrained(str(config.model.init_from))
    record: dict[str, Any] = {"evaluation": {}, "sample": []}
    try:
        record["evaluation"] = evaluate_run(base, config, corpus, most=config.evaluation.eval_samples,
                                            when="before training")
    except UserError as error:  # a language that it is yet to learn
        report(f"scores of the model before training: none, {error}")
    for split, row in record["evaluation"].items():
        report(f"before training: BLEU {row['bleu']}, chrF2 {row['chrf']} on {row['pairs']} pairs ({split})")
    for source, target in _pairs_to_keep(base, config):
        pairs = [Pair(text, "", source, target) for text in sample(config, source)]
        for pair, text in zip(pairs, translate_pairs(base, pairs, title=SAMPLE), strict=True):
            record["sample"].append([source, target, pair.source, text])
    atomic_write(path, json.dumps(record, ensure_ascii=False, indent=1) + "\n")


def compare_with_before(translator: Translator, config: RunConfig, corpus: TrainingPairs,
                        final: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """Scores before and after, by split, and the chrF2 and the share of equal translations of the sample; empty of a
    model that is new.  `final`: the scores of the finished model, which are those after where they are of all pairs."""
    path = config.output / FILE
    if not path.exists():
        return {}
    record = json.loads(path.read_text("utf-8"))
    found: dict[str, Any] = {}
    if before := record["evaluation"]:
        of_all = all(final[split]["pairs"] == row["pairs"] for split, row in before.items())
        after = final if of_all else evaluate_run(translator, config, corpus, most=config.evaluation.eval_samples)
        names = ("bleu", "chrf", "exact_match", "pairs")
        found["held_out"] = {split: {"before": {name: row[name] for name in names},
                                     "after": {name: after[split][name] for name in names}}
                             for split, row in before.items()}
    if rows := record["sample"]:
        pairs = [Pair(text, earlier, source, target) for source, target, text, earlier in rows]
        scores = score(translate_pairs(translator, pairs, title=SAMPLE), [pair.target for pair in pairs])
        where = config.evaluation.sample or "storybook"
        found["sample"] = {"sentences": len(pairs), "where": where, "chrf": round(scores.chrf, 2),
                           "equal": round(scores.exact_match, 2)}
    return found


def print_comparison_with_before(found: dict[str, Any]) -> None:
    for line in wording_of(found):
        print(line)
    sys.stdout.flush()


def wording_of(found: dict[str, Any]) -> list[str]:
    """The comparison as people read it, a line each."""
    lines = []
    for split, row in found.get("held_out", {}).items():
        before, after = row["before"], row["after"]
        lines.append(f"{split} ({after['pairs']} pairs), before and after training: BLEU {before['bleu']} and"
                     f" {after['bleu']},"
                     f" chrF2 {before['chrf']} and {after['chrf']}, exact match {before['exact_match']} % and"
                     f" {after['exact_match']} %")
    if row := found.get("sample"):
        lines.append(f"forgetting ({row['sentences']} sentences of {row['where']}): {row['equal']} % are"
                     f" translated as before training; chrF2 {row['chrf']} against the earlier translations (100: no"
                     " change)")
    return lines


def sample(config: RunConfig, source: str) -> list[str]:
    """At most `SENTENCES` sentences in a language, of `evaluation.sample` or of the built-in corpus, which has English,
    French, German and Spanish; none in other languages."""
    if config.evaluation.sample:
        lines = [line.strip() for line in read_lines(Path(config.evaluation.sample)) if line.strip()]
        texts = list(map(str, lines))
    elif (language := iso(source)) == "en":
        texts = [pair.source for pair in book(STORYBOOK[0], 0).test]
    elif language in STORYBOOK:
        texts = [pair.target for pair in book(language, 0).test]
    else:
        report(f"no sample of sentences in {source}, so forgetting is not measured; give evaluation.sample=FILE")
        return []
    return [texts[index] for index in evenly_spaced([source] * len(texts), SENTENCES)]


def _pairs_to_keep(base: Translator, config: RunConfig) -> Sequence[tuple[str, str]]:
    """The language pairs whose translations are kept for comparison: all of a model of few, with the source language of
    the sample; else those that are trained, where the model has them."""
    trained = [(config.data.source, target) for target in config.data.targets]
    known = base.language_pairs
    if not known:
        return trained
    if len(known) <= MOST_PAIRS:
        own = [pair for pair in known if not config.evaluation.sample or iso(pair[0]) == iso(config.data.source)]
        return own
    return [pair for pair in trained if known.has(*pair)]
