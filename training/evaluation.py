"""BLEU and chrF of a finished run, and of any model in `seq2see evaluate`, also beside another model's; on storybook
the scores of its families.

Tokenised references and storybook's stories are found by a pair's row: pairs may have been left out, by cleaning or
because there are many.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from seq2see.errors import UserError
from ..tokenizer.language_pairs import LanguagePairs
from ..translate import Translator
from ..translate.devices import Device
from ..translate.translator import EngineName
from .checkpoints import find_record
from .config import DataConfig, RunConfig, load_record
from .metrics import compare, pronoun_accuracy, score, tokenized_bleu
from .pairs import ALL, Corpus, Pair, evenly_spaced, load_split
from .progress import report
from .reading import VALIDATION, book, is_nowhere, is_table, read_lines
from .translation import pipeline, translate_pairs

ENGINES = {"ctranslate2": "CTranslate2", "torch": "PyTorch"}
FINAL_PAIRS = 2000  # at most so many validation pairs are translated once training is over


def evaluate_run(
    translator: Translator, config: RunConfig, corpus: Corpus, *, most: int | None = None
) -> dict[str, dict[str, Any]]:
    """The scores of a finished run on its validation pairs and, where it has split off some itself, on test pairs:
    on at most so many of each."""
    most = most or FINAL_PAIRS
    seed = config.training.get("seed", 0)
    parts = corpus.parts or [(config.data, corpus)]
    scores = {}
    for (data, part), own in zip(parts, labels([data for data, _ in parts]), strict=True):
        test = load_split(data, "test", seed=seed) if data.path == "storybook" else part.test
        for split, pairs in {"val": part.val, "test": test}.items():
            if not pairs:
                continue
            languages = [pair.target_language for pair in pairs]
            pairs = [pairs[index] for index in evenly_spaced(languages, max(1, most // len(parts)))]
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


# --- `seq2see evaluate`


def load_on_one_engine(
    names: Sequence[str], *, engine: EngineName, device: Device, trust_remote_code: bool = False
) -> list[Translator]:
    """The models on one engine, so that a difference between them is not one of rounding."""
    load = partial(Translator.from_pretrained, device=device, trust_remote_code=trust_remote_code)
    models = [load(name, engine=engine) for name in names]
    if len({model.engine.name for model in models}) > 1:
        models = [load(name, engine="torch") for name in names]
    return models


@dataclass(frozen=True)
class EvaluationData:
    """What models are scored on: `split` of each of `corpora`, which have one target language each.  A corpus stands
    beside the data set that it is read from: one that is a part of the run's data is split as that is, by `seed`."""

    data: DataConfig
    corpora: tuple[tuple[DataConfig, DataConfig], ...]  # the data set, and the corpus in it
    split: str
    seed: int


def evaluation_data(model: Translator, *, path: str | None, split: str | None, source: str | None,
                    target: str | None) -> EvaluationData:
    """The data to score a run on: its own (its run.yaml), or those at `path`; of these one language pair, if asked for.

    UserError for data that do not exist, and for a language that the run was not trained on.
    """
    data, whole, seed = _data_of(model, path=path, source=source, target=target)
    one_each = [(part, replace(part, target=one)) for part in data.parts() for one in part.targets
                if target in (None, one)]
    corpora = tuple((part if data.corpora else whole or one, one) for part, one in one_each)
    tables = path and any(is_table(one) for _, one in corpora)
    return EvaluationData(data, corpora, split or (ALL if tables else "test"), seed)


def evaluate(models: Sequence[tuple[str, Translator]], on: EvaluationData, *, raw: bool,
             num_beams: int | None) -> Iterator[tuple[str, dict[str, Any]]]:
    """The scores of the first named model on each corpus, by the corpus's name or, where there is one data set, by
    target language; "against" compares them with those of the second, if there is one, on the same pairs.

    UserError, before anything is translated, for a language pair that a model does not translate.
    """
    for target in dict.fromkeys(target for _, one in on.corpora for target in one.targets):
        for _, model in models:
            check_language_pair(model, on.data.source, target)
    (_, own), *others = models
    for (read, one), label in zip(on.corpora, labels([one for _, one in on.corpora]), strict=True):
        [target] = one.targets
        direction = f"{on.data.source}-{target}"
        pairs = [pair for pair in load_split(read, on.split, seed=on.seed) if pair.target_language == target]
        if not pairs:
            raise UserError(f"{one.path} has no pairs in {on.split} to score")
        report(f"{direction}: scoring {len(pairs)} pairs of {one.path}, {on.split}")
        hypotheses = translations(own, pairs, raw=raw, num_beams=num_beams)
        row = scores_of(one, on.split, pairs, hypotheses, seed=on.seed) | pipeline(own, raw=raw)
        for name, other in others:
            report(f"{direction}: the same pairs with {name}")
            theirs = translations(other, pairs, raw=raw, num_beams=num_beams)
            row["against"] = {"model": name, **compare(hypotheses, theirs, [pair.target for pair in pairs])}
        yield label if on.data.corpora else target, row


def check_language_pair(model: Translator, source: str, target: str) -> None:
    """UserError for a pair that the model does not translate."""
    try:
        model.tag(model.pair(source, target)[1])  # which its tokenizer must have too
    except UserError as error:
        raise UserError(f"{model.name}: {error}", exit_code=error.exit_code) from None


def translations(model: Translator, pairs: list[Pair], *, raw: bool, num_beams: int | None) -> list[str]:
    """The translation of each source; a UserError names the model."""
    try:
        return translate_pairs(model, pairs, raw=raw, num_beams=num_beams)
    except UserError as error:
        raise UserError(f"{model.name}: {error}", exit_code=error.exit_code) from None


def _data_of(model: Translator, *, path: str | None, source: str | None,
             target: str | None) -> tuple[DataConfig, DataConfig | None, int]:
    """The data; the full data of the run, if they are a part of them; and the run's seed.

    Nothing is filtered out of other data, whatever the run filters out of its own.
    """
    own, folder = None, model.folder
    assert folder is not None
    if record := find_record(folder, "run.yaml"):
        config = load_record(record)
        data, seed = config.data, config.training.get("seed", 0)
    elif path:
        pairs = model.language_pairs or LanguagePairs.of([("en", "fr")])
        data, seed = DataConfig(path=path, source=pairs.sources[0], target=[*pairs.targets]), 0
    else:
        raise UserError(f"{folder} has no run.yaml that names its training data; give --data PATH", exit_code=2)
    if not path:
        own = None if data.corpora else data
    else:
        longest = max(data.max_characters, DataConfig.max_characters)
        data = replace(data, path=path, corpora=None, folder=None, target=data.targets,
                       max_characters=longest, on_invalid="error", duplicates="keep")
    data = replace(data, source=source or data.source, target=data.target if data.corpora else target or data.target)
    if data.corpora and target and target not in data.targets:
        raise UserError(f"{folder} was not trained to translate to {target}; choose {', '.join(data.targets)}",
                        exit_code=2)
    if own and (own.source != data.source or not set(data.targets) <= set(own.targets)):
        own = None
    if nowhere := [part.path for part in data.parts() if is_nowhere(part)]:
        raise UserError(
            f"--data {nowhere[0]} does not exist; give a file or folder, storybook, or a Hub dataset as owner/name"
            if path else f"{folder} was trained on {nowhere[0]}, which does not exist here; give --data PATH"
        )
    return data, own, seed


# --- as people read them


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
