"""`seq2see evaluate RUN [--data PATH] [--split NAME] [--to LANGUAGE]`: BLEU and chrF, and what storybook can tell."""

from __future__ import annotations

import argparse
import dataclasses
import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from transformers import PreTrainedModel

from seq2see.errors import UserError
from seq2see.tokenizer.tokenization_seq2see import Seq2SeeTokenizer, load_tokenizer
from seq2see.training.checkpoints import find_record
from seq2see.training.config import DataConfig, RunConfig, load_config
from seq2see.training.metrics import pronoun_accuracy, score, tokenized_bleu
from seq2see.training.pairs import Corpus, Pair, load_all, load_split
from seq2see.training.reading import is_table, read_lines
from seq2see.training.translation import translate_pairs

FINAL_PAIRS = 2000  # at most so many validation pairs are translated once training is over


def evaluate(args: argparse.Namespace) -> int:
    """The command; the last line on stdout is one JSON object.

    `args` has run, data, split, source, target, num_beams and json, as `seq2see evaluate --help` describes them.
    """
    from seq2see.modeling.loading import load_checkpoint, resolve_folder

    folder = resolve_folder(args.run)
    model = load_checkpoint(folder)
    tokenizer = load_tokenizer(folder)
    data, seed = data_of(folder, model, args)
    for target in data.targets:
        tokenizer.tag_id(target)
    result: dict[str, Any] = {"run": str(args.run), "data": data.path, "split": args.split, "source": data.source}
    for target in data.targets:
        one = dataclasses.replace(data, target=target)
        pairs = load_all(one) if args.data and is_table(one) else load_split(one, args.split, seed=seed)
        hypotheses = translate_pairs(model, tokenizer, pairs, num_beams=args.num_beams)
        result[target] = scores_of(one, args.split, pairs, hypotheses, seed=seed)
        if not args.json:
            print_scores(f"{data.source}-{target}", result[target])
    print(json.dumps(result, ensure_ascii=False))
    return 0


def data_of(folder: Path, model: PreTrainedModel, args: argparse.Namespace) -> tuple[DataConfig, int]:
    """What to evaluate on: what the run was trained on (its run.yaml), with --data, --from and --to over it."""
    if record := find_record(folder, "run.yaml"):
        config = load_config(str(record))
        data, seed = config.data, config.training.get("seed", 0)
    elif args.data:
        pairs = getattr(model.config, "language_pairs", None) or [["en", "fr"]]
        data, seed = DataConfig(path=args.data, source=pairs[0][0], target=[target for _, target in pairs]), 0
    else:
        raise UserError(f"{folder} has no run.yaml to say what it was trained on; give --data PATH", exit_code=2)
    changes = {"path": args.data, "source": args.source, "target": args.target}
    return dataclasses.replace(data, **{key: value for key, value in changes.items() if value}), seed


def evaluate_run(
    model: PreTrainedModel, tokenizer: Seq2SeeTokenizer, config: RunConfig, corpus: Corpus
) -> dict[str, dict[str, Any]]:
    """The scores of a finished run on its validation pairs and, where it has split off some itself, on test pairs."""
    parts = {"val": corpus.val, "test": corpus.test} if corpus.test else {"val": corpus.val}
    parts = {split: pairs[:: -(-len(pairs) // FINAL_PAIRS)] for split, pairs in parts.items()}
    if config.data.path == "storybook":
        parts["test"] = load_split(config.data, "test", seed=config.training.get("seed", 0))
    return {
        split: scores_of(config.data, split, pairs, translate_pairs(model, tokenizer, pairs),
                         seed=config.training.get("seed", 0))
        for split, pairs in parts.items()
    }


def scores_of(
    data: DataConfig, split: str, pairs: list[Pair], hypotheses: list[str], *, seed: int
) -> dict[str, Any]:
    row = score(hypotheses, [pair.target for pair in pairs]).to_dict()
    references = tokenized_references(data, split)
    if references:
        if len(references) != len(pairs):
            raise UserError(f"{data.path}: {len(references)} tokenised references of {split} for {len(pairs)} pairs")
        row["bleu_lc_tok"], row["bleu_lc_tok_signature"] = tokenized_bleu(
            hypotheses, references, language=data.targets[0]
        )
        row["bleu_lc_tok"] = round(row["bleu_lc_tok"], 2)
    if data.path == "storybook":
        from seq2see.training.storybook import generate

        row["families"] = pronoun_accuracy(getattr(generate(seed=seed), split), hypotheses)
    return row


def tokenized_references(data: DataConfig, split: str) -> list[str] | None:
    """Lines of `{split}.lc.norm.tok.{language}[.gz]` beside the text, where one target language is asked for."""
    if isinstance(data.path, list) or len(data.targets) > 1:
        return None
    for ending in ("", ".gz"):
        path = Path(data.path) / f"{split}.lc.norm.tok.{data.targets[0]}{ending}"
        if path.is_file():
            return list(read_lines(path))
    return None


def print_scores(name: str, row: Mapping[str, Any]) -> None:
    print(f"{name}: {row['pairs']} pairs, exact match {row['exact_match']} %")
    print(f"  BLEU {row['bleu']}  {row['bleu_signature']}")
    print(f"  chrF2 {row['chrf']}  {row['chrf_signature']}")
    if "bleu_lc_tok" in row:
        print(f"  lower-cased tokenised BLEU {row['bleu_lc_tok']}  {row['bleu_lc_tok_signature']}")
    for family, figures in row.get("families", {}).items():
        pronoun = f"  right pronoun {figures['pronoun']:6.2f} %" if "pronoun" in figures else ""
        print(f"  {family:40} {figures['pairs']:6} pairs  exact {figures['exact_match']:6.2f} %{pronoun}")
    sys.stdout.flush()
