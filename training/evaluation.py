"""`seq2see evaluate RUN [--data PATH] [--split NAME] [--to LANGUAGE]`: BLEU and chrF, and what storybook can tell.

Tokenised references and storybook's stories are found by a pair's row: pairs may have been left out, by cleaning or
because there are many.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from seq2see.errors import UserError
from ..translate import Translator
from .config import DataConfig, RunConfig
from .metrics import pronoun_accuracy, score, tokenized_bleu
from .pairs import Corpus, Pair, evenly_spaced, load_split
from .reading import VALIDATION, book, read_lines
from .translation import pipeline, translate_pairs

ENGINES = {"ctranslate2": "CTranslate2", "torch": "PyTorch"}
FINAL_PAIRS = 2000  # at most so many validation pairs are translated once training is over


def evaluate_run(translator: Translator, config: RunConfig, corpus: Corpus) -> dict[str, dict[str, Any]]:
    """The scores of a finished run on its validation pairs and, where it has split off some itself, on test pairs."""
    seed = config.training.get("seed", 0)
    parts = corpus.parts or [(config.data, corpus)]
    scores = {}
    for (data, part), own in zip(parts, labels([data for data, _ in parts]), strict=True):
        test = load_split(data, "test", seed=seed) if data.path == "storybook" else part.test
        for split, pairs in {"val": part.val, "test": test}.items():
            if not pairs:
                continue
            languages = [pair.target_language for pair in pairs]
            pairs = [pairs[index] for index in evenly_spaced(languages, FINAL_PAIRS // len(parts))]
            row = scores_of(data, split, pairs, translate_pairs(translator, pairs), seed=seed)
            scores[f"{own} {split}" if corpus.parts else split] = row | pipeline(translator)
    return scores


def labels(corpora: Sequence[DataConfig]) -> list[str]:
    """Each of several corpora, as its scores are named: `en-fr.tsv.gz en-fr`, or with its path where two are alike."""
    paths = [str(data.path[0] if isinstance(data.path, list) else data.path) for data in corpora]
    pairs = [f"{data.source}-{','.join(data.targets)}" for data in corpora]
    short = [f"{Path(path).name} {pair}" for path, pair in zip(paths, pairs, strict=True)]
    return [one if short.count(one) == 1 else f"{path} {pair}"
            for one, path, pair in zip(short, paths, pairs, strict=True)]


def scores_of(data: DataConfig, split: str, pairs: list[Pair], hypotheses: list[str], *, seed: int) -> dict[str, Any]:
    """The scores of translations; where there are tokenised references also the BLEU of the literature."""
    row = score(hypotheses, [pair.target for pair in pairs]).to_dict()
    if references := tokenized_references(data, split, pairs):
        bleu, row["bleu_lc_tok_signature"] = tokenized_bleu(hypotheses, references, language=data.targets[0])
        row["bleu_lc_tok"] = round(bleu, 2)
    if data.path == "storybook":
        stories = getattr(book(*data.targets, seed), split)
        row["families"] = pronoun_accuracy([stories[pair.row] for pair in pairs], hypotheses)
    return row


def tokenized_references(data: DataConfig, split: str, pairs: list[Pair]) -> list[str] | None:
    """The line of each pair in `{split}.lc.norm.tok.{language}[.gz]` beside the text, where one target language is
    asked for; None where there is no such file, or it is of other pairs: those that were split off train."""
    if not isinstance(data.path, str) or len(data.targets) > 1 or any(pair.row < 0 for pair in pairs):
        return None
    names = [f"{name}.lc.norm.tok.{data.targets[0]}{end}" for name in (VALIDATION if split == "val" else (split,))
             for end in ("", ".gz")]  # fmt: skip
    for path in filter(Path.is_file, (Path(data.path) / name for name in names)):
        lines = list(read_lines(path))
        if max(pair.row for pair in pairs) >= len(lines):
            raise UserError(f"{path} has {len(lines)} lines, fewer than the text has pairs")
        return [lines[pair.row] for pair in pairs]
    return None


def print_scores(name: str, row: Mapping[str, Any]) -> None:
    """An evaluation as people read it."""
    print(f"{name}: {row['pairs']} pairs, exact match {row['exact_match']} %")
    print(f"  {wording(row)}")
    print(f"  BLEU {row['bleu']}  {row['bleu_signature']}")
    print(f"  chrF2 {row['chrf']}  {row['chrf_signature']}")
    if "bleu_lc_tok" in row:
        print(f"  lower-cased tokenised BLEU {row['bleu_lc_tok']}  {row['bleu_lc_tok_signature']}")
    for family, figures in row.get("families", {}).items():
        pronoun = f"  right pronoun {figures['pronoun']:6.2f} %" if "pronoun" in figures else ""
        print(f"  {family:40} {figures['pairs']:6} pairs  exact {figures['exact_match']:6.2f} %{pronoun}")
    sys.stdout.flush()


def wording(row: Mapping[str, Any]) -> str:
    """Which pipeline and engine wrote the translations that these scores are of."""
    how = {"translate": "translated as by seq2see translate", "raw": "each source translated whole (raw)"}
    return f"{how[row['pipeline']]}, with {ENGINES[row['engine']]} in {row['precision']}"


def print_comparison(row: Mapping[str, Any]) -> None:
    """The other model's scores on the same pairs, and whether the difference is more than chance."""
    against = row["against"]
    print(f"{against['model']} on the same pairs:")
    for name, metric in ("bleu", "BLEU"), ("chrf", "chrF2"):
        print(f"  {metric} {against[name]}, difference {row[name] - against[name]:+.2f}, p {against[f'{name}_p']}")
    sys.stdout.flush()
