"""`seq2see evaluate RUN [--data PATH] [--split NAME] [--to LANGUAGE]`: BLEU and chrF, and what storybook can tell.

Tokenised references and storybook's stories are found by a pair's row: pairs may have been left out, by cleaning or
because there are many.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
from pathlib import Path
from typing import Any

from transformers import PreTrainedModel

from seq2see.errors import UserError
from seq2see.modeling import Seq2SeeForConditionalGeneration
from seq2see.tokenizer.tokenization_seq2see import Seq2SeeTokenizer, load_tokenizer
from seq2see.training.checkpoints import find_record
from seq2see.training.config import DataConfig, RunConfig, load_record
from seq2see.training.metrics import pronoun_accuracy, score, tokenized_bleu
from seq2see.training.pairs import ALL, Corpus, Pair, drawn_evenly, load_split
from seq2see.training.progress import say
from seq2see.training.reading import find_part, is_nowhere, is_table, read_lines
from seq2see.training.scores import print_scores
from seq2see.training.translation import translate_pairs

FINAL_PAIRS = 2000  # at most so many validation pairs are translated once training is over


def evaluate(args: argparse.Namespace) -> int:
    """The command; the last line on stdout is one JSON object.

    `args` has run, data, split, source, target, num_beams and json, as `seq2see evaluate --help` describes them.
    """
    from seq2see.modeling.loading import load_checkpoint, resolve_folder

    folder = resolve_folder(args.run)
    model = load_checkpoint(folder)
    if not isinstance(model, Seq2SeeForConditionalGeneration):
        raise UserError(f"{folder} is a {model.config.model_type} model, and only Seq2See models are measured here:"
                        " translate the text by seq2see translate, and score that by sacrebleu")
    tokenizer = load_tokenizer(folder)
    data, whole, seed = data_of(folder, model, args)
    for target in data.targets:
        tokenizer.tag_id(target)
    corpora = {target: dataclasses.replace(data, target=target) for target in data.targets}
    split = args.split or (ALL if args.data and any(map(is_table, corpora.values())) else "test")
    result: dict[str, Any] = {"run": str(args.run), "data": data.path, "split": split, "source": data.source}
    for target, one in corpora.items():
        pairs = [pair for pair in load_split(whole or one, split, seed=seed) if pair.target_language == target]
        if not pairs:
            raise UserError(f"{data.path} has no pairs of {split} to measure on")
        say(f"{data.source}-{target}: measured on {len(pairs)} pairs of {data.path}, {split}")
        references = tokenized_references(one, split, pairs)
        hypotheses = translate_pairs(model, tokenizer, pairs, num_beams=args.num_beams)
        result[target] = scores_of(one, split, pairs, hypotheses, references=references, seed=seed)
        if not args.json:
            print_scores(f"{data.source}-{target}", result[target])
    print(json.dumps(result, ensure_ascii=False))
    return 0


def data_of(
    folder: Path, model: PreTrainedModel, args: argparse.Namespace
) -> tuple[DataConfig, DataConfig | None, int]:
    """What to evaluate on: what the run was trained on (its run.yaml), with --data, --from and --to over it; what that
    is a part of, where it is of the run's own data; and the run's seed.

    Of other data nothing is left out, whatever the run left out of its own.
    """
    own = None
    if record := find_record(folder, "run.yaml"):
        config = load_record(record)
        data, seed = config.data, config.training.get("seed", 0)
    elif args.data:
        pairs = getattr(model.config, "language_pairs", None) or [["en", "fr"]]
        data, seed = DataConfig(path=args.data, source=pairs[0][0], target=[target for _, target in pairs]), 0
    else:
        raise UserError(f"{folder} has no run.yaml to say what it was trained on; give --data PATH", exit_code=2)
    if not args.data:
        own = data
    else:
        longest = max(data.max_characters, DataConfig.max_characters)
        data = dataclasses.replace(data, path=args.data, max_characters=longest, on_bad="refuse", duplicates="keep")
    changes = {"source": args.source, "target": args.target}
    data = dataclasses.replace(data, **{key: value for key, value in changes.items() if value})
    if own and (own.source != data.source or not set(data.targets) <= set(own.targets)):
        own = None
    if is_nowhere(data):
        raise UserError(
            f"--data {data.path} is no file or folder here; give one, or storybook, or a Hub dataset as owner/name"
            if args.data
            else f"{folder} was trained on {data.path}, which is not here; give --data PATH"
        )
    return data, own, seed


def evaluate_run(
    model: PreTrainedModel, tokenizer: Seq2SeeTokenizer, config: RunConfig, corpus: Corpus
) -> dict[str, dict[str, Any]]:
    """The scores of a finished run on its validation pairs and, where it has split off some itself, on test pairs."""
    data, seed = config.data, config.training.get("seed", 0)
    test = load_split(data, "test", seed=seed) if data.path == "storybook" else corpus.test
    scores = {}
    for split, pairs in {"val": corpus.val, "test": test}.items():
        if not pairs:
            continue
        pairs = [pairs[index] for index in drawn_evenly(len(pairs), FINAL_PAIRS, targets=len(data.targets))]
        try:
            references = tokenized_references(data, split, pairs)
        except UserError as error:  # which a finished training is not lost for
            say(f"scored without the tokenised references: {error}")
            references = None
        hypotheses = translate_pairs(model, tokenizer, pairs)
        scores[split] = scores_of(data, split, pairs, hypotheses, references=references, seed=seed)
    return scores


def scores_of(
    data: DataConfig,
    split: str,
    pairs: list[Pair],
    hypotheses: list[str],
    *,
    references: list[str] | None,
    seed: int,
) -> dict[str, Any]:
    """The scores of translations; with tokenised `references` also the BLEU of the literature."""
    row = score(hypotheses, [pair.target for pair in pairs]).to_dict()
    if references:
        bleu, row["bleu_lc_tok_signature"] = tokenized_bleu(hypotheses, references, language=data.targets[0])
        row["bleu_lc_tok"] = round(bleu, 2)
    if data.path == "storybook":
        from seq2see.training.storybook import generate

        stories = getattr(generate(seed=seed), split)
        row["families"] = pronoun_accuracy([stories[pair.row] for pair in pairs], hypotheses)
    return row


def tokenized_references(data: DataConfig, split: str, pairs: list[Pair]) -> list[str] | None:
    """The line of each pair in `{split}.lc.norm.tok.{language}[.gz]` beside the text, where one target language is
    asked for.

    Raises UserError where that file's lines are not those of the text.
    """
    if isinstance(data.path, list) or len(data.targets) > 1:
        return None
    for ending in ("", ".gz"):
        path = Path(data.path) / f"{split}.lc.norm.tok.{data.targets[0]}{ending}"
        if path.is_file():
            if any(pair.row < 0 for pair in pairs):
                raise UserError(f"{path} is not of the {split} pairs, which were split off train")
            lines, part = list(read_lines(path)), find_part(data, split)
            count = sum(1 for _ in part.rows()) if part else 0
            if len(lines) != count:
                raise UserError(f"{data.path}: {len(lines)} tokenised references of {split} for {count} pairs")
            return [lines[pair.row] for pair in pairs]
    return None
