"""The verb `evaluate`: BLEU and chrF of what `seq2see translate` writes, also beside another model's, and the scores
specific to storybook."""

import argparse
import dataclasses
import json
from typing import Any

from seq2see.errors import UserError
from seq2see.tokenizer.language_pairs import LanguagePairs
from seq2see.training.checkpoints import find_record
from seq2see.training.config import DataConfig, load_record
from seq2see.training.evaluation import labels, print_comparison, print_scores, scores_of
from seq2see.training.metrics import compare
from seq2see.training.pairs import ALL, Pair, load_split
from seq2see.training.progress import say
from seq2see.training.reading import is_nowhere, is_table
from seq2see.training.translation import pipeline, translate_pairs
from seq2see.translate import Translator


def run(args: argparse.Namespace) -> int:
    """`args.run`, `args.against`, `args.data`, `args.split`, `args.source`, `args.target`, `args.num_beams`,
    `args.raw`, `args.engine`, `args.device` and `args.json`; the last line on stdout is one JSON object."""
    model, other = opened(args)
    data, whole, seed = data_of(model, args)
    corpora = [(part, dataclasses.replace(part, target=target)) for part in data.parts() for target in part.targets
               if args.target in (None, target)]
    for target in dict.fromkeys(target for _, one in corpora for target in one.targets):
        for translator in filter(None, (model, other)):
            check(translator, data.source, target)
    names = labels([one for _, one in corpora])
    split = args.split or (ALL if args.data and any(is_table(one) for _, one in corpora) else "test")
    where = data.path or data.where
    result: dict[str, Any] = {"run": str(args.run), "data": where, "split": split, "source": data.source}
    for (part, one), name in zip(corpora, names, strict=True):
        [target] = one.targets
        name = name if data.corpora else target
        read = part if data.corpora else whole or one
        pairs = [pair for pair in load_split(read, split, seed=seed) if pair.target_language == target]
        if not pairs:
            raise UserError(f"{one.path} has no pairs in {split} to score")
        say(f"{data.source}-{target}: scoring {len(pairs)} pairs of {one.path}, {split}")
        hypotheses = translations(model, pairs, args)
        result[name] = scores_of(one, split, pairs, hypotheses, seed=seed) | pipeline(model, raw=args.raw)
        if not args.json:
            print_scores(name if data.corpora else f"{data.source}-{target}", result[name])
        if other:
            say(f"{data.source}-{target}: the same pairs with {args.against}")
            theirs = translations(other, pairs, args)
            compared = compare(hypotheses, theirs, [pair.target for pair in pairs])
            result[name]["against"] = {"model": str(args.against), **compared}
            if not args.json:
                print_comparison(result[name])
    print(json.dumps(result, ensure_ascii=False))
    return 0


def opened(args: argparse.Namespace) -> tuple[Translator, Translator | None]:
    """The model and, if asked for, the one to compare it with, on one engine: what is compared is not rounding."""
    names = [args.run, *([args.against] if args.against else [])]
    models = [Translator.from_pretrained(name, engine=args.engine, device=args.device) for name in names]
    if len({model.engine.name for model in models}) > 1:
        models = [Translator.from_pretrained(name, engine="torch", device=args.device) for name in names]
    return models[0], models[1] if args.against else None


def check(model: Translator, source: str, target: str) -> None:
    """UserError, before anything is translated, for a pair that the model does not translate."""
    try:
        model.tag(model.pair(source, target)[1])  # which its tokenizer must have too
    except UserError as error:
        raise UserError(f"{model.name}: {error}", exit_code=error.exit_code) from None


def translations(model: Translator, pairs: list[Pair], args: argparse.Namespace) -> list[str]:
    try:
        return translate_pairs(model, pairs, raw=args.raw, num_beams=args.num_beams)
    except UserError as error:
        raise UserError(f"{model.name}: {error}", exit_code=error.exit_code) from None


def data_of(model: Translator, args: argparse.Namespace) -> tuple[DataConfig, DataConfig | None, int]:
    """The data to evaluate on: the run's own (its run.yaml), overridden by --data, --from and --to; the full data of
    the run, if this is a part of it; and the run's seed.

    Nothing is filtered out of other data, whatever the run filters out of its own.
    """
    own, folder = None, model.folder
    assert folder is not None
    if record := find_record(folder, "run.yaml"):
        config = load_record(record)
        data, seed = config.data, config.training.get("seed", 0)
    elif args.data:
        pairs = model.language_pairs or LanguagePairs.of([("en", "fr")])
        data, seed = DataConfig(path=args.data, source=pairs.sources[0], target=[*pairs.targets]), 0
    else:
        raise UserError(f"{folder} has no run.yaml that names its training data; give --data PATH", exit_code=2)
    if not args.data:
        own = None if data.corpora else data
    else:
        longest = max(data.max_characters, DataConfig.max_characters)
        data = dataclasses.replace(data, path=args.data, corpora=None, folder=None, target=data.targets,
                                   max_characters=longest, on_invalid="error", duplicates="keep")
    changes = {"source": args.source, "target": None if data.corpora else args.target}
    data = dataclasses.replace(data, **{key: value for key, value in changes.items() if value})
    if data.corpora and args.target and args.target not in data.targets:
        raise UserError(f"{folder} was not trained to translate to {args.target}; choose {', '.join(data.targets)}",
                        exit_code=2)
    if own and (own.source != data.source or not set(data.targets) <= set(own.targets)):
        own = None
    if nowhere := [part.path for part in data.parts() if is_nowhere(part)]:
        raise UserError(
            f"--data {nowhere[0]} does not exist; give a file or folder, storybook, or a Hub dataset as owner/name"
            if args.data
            else f"{folder} was trained on {nowhere[0]}, which does not exist here; give --data PATH"
        )
    return data, own, seed
