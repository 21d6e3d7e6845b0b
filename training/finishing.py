"""The end of a training: the finished model with its metrics, curve and card is put in place, scores are printed."""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from seq2see.folders import step_of
from seq2see.manifest import write_manifest
from ..modeling.loading import resolve_folder
from ..tokenizer.words import split_words
from ..translate import Translator
from .before import compare_with_before, print_comparison_with_before
from .card import model_card
from .checkpoints import atomic_files, find_record
from .config import RunConfig
from .curve import draw_curve
from .evaluation import evaluate_run, print_scores
from .finetuning import average_with_start
from .hub import push_run
from .joining import JoinedPairs
from .lora import merge_adapter
from .pairs import Pair
from .progress import report
from .starting import Prepared
from .trainer import Seq2SeeTrainer

COPIED = 5  # pairs


def finish(prepared: Prepared, trainer: Seq2SeeTrainer, config: RunConfig) -> None:
    """Evaluate the trained model and put the finished files in place."""
    model, tokenizer, corpus, state = prepared.model, prepared.tokenizer, prepared.corpus, trainer.state
    output = config.output
    seconds, best = trainer.pace.elapsed(), trainer.args.load_best_model_at_end and state.best_model_checkpoint
    kept = step_of(Path(best)) if best else None  # the step of the weights; None: the last one
    prepared.start.set_generation(config)  # again: the Trainer has filled in what was unset
    model.eval()
    with atomic_files(output) as folder:
        if config.model.init_share:
            average_with_start(model, config)
        if prepared.adapter:
            model = merge_adapter(prepared.adapter, folder / "adapter")
        if prepared.start.ours:
            write_what_was_seen(folder, prepared, trainer, config)
        model.save_pretrained(folder)
        tokenizer.save_pretrained(folder)
        write_manifest(folder)
    translator = Translator.from_pretrained(output.resolve())
    evaluation = evaluate_run(translator, config, corpus)
    metrics: dict[str, Any] = {
        "evaluation": evaluation,
        "before": compare_with_before(translator, config, corpus, evaluation),
        "training": {
            "steps": state.global_step,
            "kept_step": state.global_step if kept is None else kept,
            "epochs": round(state.epoch or 0, 2),
            "seconds": round(seconds, 1),
            "parameters": model.num_parameters(),
            "pairs": len(corpus.train),
            "skipped_pairs": corpus.skipped,
            "left_out_batches": sum("left_out" in row for row in state.log_history),
            "log": state.log_history,
        },
    }
    with atomic_files(output) as folder:
        write_json(folder / "metrics.json", metrics)
        draw_curve(folder / "curve.png", metrics["training"], name=config.name,
                   label_smoothing=trainer.args.label_smoothing_factor)
        card = model_card(config, metrics, folder=output, ours=prepared.start.ours, base=config.model.init_from,
                          supervised=getattr(model.config, "supervised_heads", None) or ())
        (folder / "README.md").write_text(card, "utf-8")
    report(f"finished in {seconds:.0f} s, including evaluations and saving: {output}")
    for split, row in metrics["evaluation"].items():
        print_scores(f"{output} {split}", row)
    print_comparison_with_before(metrics["before"])
    if trainer.hub_model_id:
        push_run(output, trainer.hub_model_id, trainer.args)


def write_what_was_seen(folder: Path, prepared: Prepared, trainer: Seq2SeeTrainer, config: RunConfig) -> None:
    """The words of a Seq2See model's training pairs and, in its generation settings, how long texts were."""
    model, pairs = prepared.model, prepared.corpus.train
    start = resolve_folder(config.model.init_from) if config.model.init_from else None
    for name, number in source_limits(trainer.train_dataset, start=start).items():
        setattr(model.generation_config, name, number)  # `update` passes over what transformers does not know
    write_json(folder / "seen_words.json", seen_words(pairs, start=start))


def seen_words(pairs: Iterable[Pair], *, start: Path | None = None) -> dict[str, list[str]]:
    """For each language the casefolded words of these pairs: what the model can be expected to know.

    A word that both sides of a pair have, such as a name, also before *'s*, counts from COPIED pairs on: it is copied,
    and data whose names vary have many that are no words.  With the words of `start`, the run that training began from.
    """
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for pair in pairs:
        sides = [({word.text.casefold() for word in split_words(text, language=language)}, language)
                 for text, language in pair.texts]
        copied = set.intersection(*({bare(word) for word in side if any(map(str.isalpha, word))} for side, _ in sides))
        for side, language in sides:
            counts[language].update({word: 1 if bare(word) in copied else COPIED for word in side})
    words = {language: {word for word, count in found.items() if count >= COPIED} for language, found in counts.items()}
    if start and (known := find_record(start, "seen_words.json")):
        for language, items in json.loads(known.read_text("utf-8")).items():
            words.setdefault(language, set()).update(items)
    return {language: sorted(items) for language, items in sorted(words.items())}


def bare(word: str) -> str:
    """A word without *'s*, *'ll* and the like."""
    return re.split("['’]", word, maxsplit=1)[0]


def source_limits(dataset: JoinedPairs, *, start: Path | None = None) -> dict[str, int]:
    """For generation_config.json: how many sentences the model may be given together (`source_sentences`: as many as
    pairs were joined) and how many tokens (`source_pieces`, the longest source).  Texts are cut to that; `start` as
    above.
    """
    longest = int(dataset.lengths_R2[:, 0].max())
    if start and (known := find_record(start, "generation_config.json")):
        longest = max(longest, json.loads(known.read_text("utf-8")).get("source_pieces") or 0)
    return {"source_sentences": dataset.most_joined, "source_pieces": longest}


def write_json(path: Path, content: Any) -> None:
    path.write_text(json.dumps(content, ensure_ascii=False, indent=1) + "\n", "utf-8")
