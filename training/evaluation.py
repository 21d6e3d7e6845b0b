"""BLEU and chrF of a finished run, and of any model in `seq2see evaluate`, also beside another model's; on storybook
the scores of its families.

Tokenised references and storybook's stories are found by a pair's row: pairs may have been left out, by cleaning or
because there are many.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from seq2see.errors import UserError
from ..tokenizer.language_codes import codes_of
from ..tokenizer.language_pairs import LanguagePairs
from ..translate import Translator
from ..translate.devices import Device
from ..translate.translator import EngineName
from .checkpoints import find_record
from .config import BUILT_IN, DataConfig, RunConfig, load_record
from .header import languages_of
from .metrics import TEST, compare, pronoun_accuracy, score, tokenized_bleu
from .pairs import ALL, Pair, TrainingPairs, evenly_spaced, load_split
from .progress import report
from .reading import VALIDATION, book, is_nowhere, is_table, read_lines
from .translation import pipeline, translate_pairs

ENGINES = {"ctranslate2": "CTranslate2", "torch": "PyTorch"}
FINAL_PAIRS = 2000  # at most so many validation pairs are translated once training is over


def evaluate_run(
    translator: Translator, config: RunConfig, corpus: TrainingPairs, *, most: int | None = None,
    when: str = "after training"
) -> dict[str, dict[str, Any]]:
    """The scores of a finished run on its validation pairs and, where it has split off some itself, on test pairs: on
    at most so many of each.  Of several target languages each has its own, such as `en-fr val`."""
    most = (most or FINAL_PAIRS) // len(config.data.targets) or 1
    data, seed = config.data, config.training.get("seed", 0)
    test = load_split(data, "test", seed=seed) if data.path in BUILT_IN else corpus.test
    scores = {}
    for split, pairs in {"val": corpus.val, "test": test}.items():
        for target in data.targets:
            own = [pair for pair in pairs if pair.target_language == target]
            if own := [own[index] for index in evenly_spaced([target] * len(own), most)]:
                name = split if len(data.targets) == 1 else f"{data.source}-{target} {split}"
                texts = translate_pairs(translator, own, title=f"scoring {when}, {name}")
                row = scores_of(replace(data, target=target), split, own, texts, seed=seed)
                scores[name] = row | pipeline(translator)
    return scores


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
             for end in ("", ".gz")]
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
    """What models are scored on: `split` of `data`, into each of its target languages.  They are a part of
    `whole` and are read like it: data of a run are split like its training pairs, by `seed`."""

    data: DataConfig
    whole: DataConfig
    split: str
    seed: int


def evaluation_data(model: Translator, *, path: str | None, split: str | None, source: str | None,
                    target: str | None) -> EvaluationData:
    """The data to score a run on: its own (its run.yaml), or those at `path`; of these one language pair, if asked for.

    UserError for data that do not exist, and for a language that the run was not trained on.
    """
    data, own, seed = _data_of(model, path=path, source=source, target=target)
    return EvaluationData(data, own or data, split or (ALL if path and is_table(data) else "test"), seed)


@dataclass(frozen=True)
class ScoredTranslations:
    """The pairs of a language that were scored, and what the models wrote, a list for each."""

    pairs: Sequence[Pair]
    written: Sequence[Sequence[str]]


def evaluate(models: Sequence[tuple[str, Translator]], on: EvaluationData, *, raw: bool,
             num_beams: int | None) -> Iterator[tuple[str, dict[str, Any], ScoredTranslations]]:
    """The scores of the first named model by target language, and what was scored; "against" compares them with those
    of the second, if there is one, on the same pairs.

    UserError, before anything is translated, for a language pair that a model does not translate.
    """
    for target in on.data.targets:
        for _, model in models:
            check_language_pair(model, on.data.source, target)
    (_, own), *others = models
    every = load_split(on.whole, on.split, seed=on.seed)
    for target in on.data.targets:
        direction, data = f"{on.data.source}-{target}", replace(on.data, target=target)
        pairs = [pair for pair in every if pair.target_language == target]
        if not pairs:
            raise UserError(f"{data.path} has no pairs in {on.split} to score")
        report(f"{direction}: scoring {len(pairs)} pairs of {data.path}, {on.split}")
        hypotheses = translations(own, pairs, raw=raw, num_beams=num_beams)
        row = scores_of(data, on.split, pairs, hypotheses, seed=on.seed) | pipeline(own, raw=raw)
        written = [hypotheses]
        for name, other in others:
            report(f"{direction}: scoring the same pairs with {name}")
            written.append(theirs := translations(other, pairs, raw=raw, num_beams=num_beams))
            compared = compare(hypotheses, theirs, [pair.target for pair in pairs])
            row["against"] = {"model": name, **compared, "test": TEST}
        yield target, row, ScoredTranslations(pairs, written)


def check_language_pair(model: Translator, source: str, target: str) -> None:
    """UserError for a pair that the model does not translate."""
    try:
        model.tag(model.pair(source, target)[1])  # which its tokenizer must have too
    except UserError as error:
        raise UserError(f"{model.name}: {error}", exit_code=error.exit_code) from None


def translations(model: Translator, pairs: list[Pair], *, raw: bool, num_beams: int | None) -> list[str]:
    """The translation of each source; a UserError names the model."""
    try:
        return translate_pairs(model, pairs, raw=raw, num_beams=num_beams, title=model.name or "scoring")
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
        source, target = _as_named(model, data, source, target)
    elif path:
        pairs = model.language_pairs or LanguagePairs.of([("en", "fr")])
        data, seed = DataConfig(path=path, source=pairs.sources[0], target=[*pairs.targets]), 0
        given = tuple(filter(None, (source, target)))
        named = [code for code in languages_of(Path(path)) if not codes_of(code, given)]
        if len(named) == 2 and not (source or target):
            source, target = named if pairs.has(*named) else named[::-1]
        elif len(named) == 1:
            source, target = source or named[0], target or named[0]
    else:
        raise UserError(f"{folder} has no run.yaml, so its own data are unknown; give --data PATH", exit_code=2)
    if not path:
        own = data
    else:
        longest = max(data.max_characters, DataConfig.max_characters)
        data = replace(data, path=path, max_characters=longest, on_invalid="error", duplicates="keep")
    data = replace(data, source=source or data.source, target=target or data.target)
    if own and (own.source != data.source or not set(data.targets) <= set(own.targets)):
        own = None
    if is_nowhere(data):
        raise UserError(
            f"--data {data.path} does not exist; give a file or folder, {' or '.join(BUILT_IN)}, or a Hub dataset as"
            " owner/name" if path else
            f"{folder} was trained on {data.path}, which does not exist here; give --data PATH"
        )
    return data, own, seed


def _as_named(model: Translator, data: DataConfig, source: str | None,
              target: str | None) -> tuple[str | None, str | None]:
    """The languages that are asked for, as the data of the run name them: `pt` for `por`, where the model has one code
    for both; others as they are."""
    def codes(source: str, target: str) -> tuple[str, str] | None:
        with suppress(UserError):
            return model.pair(source, target)
        return None

    asked = [codes(source or data.source, target or each) for each in data.targets]
    for each, wanted in zip(data.targets, asked, strict=True):
        if wanted is not None and wanted == codes(data.source, each):
            return source and data.source, target and each
    return source, target


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
    how = {"translate": "translated as seq2see translate does", "raw": "each source translated unchanged (--raw)"}
    return f"{how[row['pipeline']]}, with {ENGINES[row['engine']]} in {row['precision']}"


def print_comparison(row: Mapping[str, Any]) -> None:
    """The other model's scores on the same pairs, and whether the difference is more than chance."""
    against = row["against"]
    print(f"{against['model']} on the same pairs:")
    for name, metric in ("bleu", "BLEU"), ("chrf", "chrF2"):
        print(f"  {metric} {against[name]}, difference {row[name] - against[name]:+.2f}, p {against[f'{name}_p']}"
              f" ({against['test']})")
    sys.stdout.flush()
