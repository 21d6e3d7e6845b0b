"""The end of a training: the finished model with its metrics, curve and card is put in place, scores are printed."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from transformers import PreTrainedModel, TrainerState

from seq2see.manifest import write_manifest
from ..modeling.loading import resolve_folder
from ..tokenizer.tokenization_seq2see import Seq2SeeTokenizer
from .arguments import Seq2SeeTrainingArguments
from .batching import EncodedPairs
from .card import model_card
from .checkpoints import atomic_files, step_of
from .config import RunConfig
from .curve import draw_curve
from .evaluation import evaluate_run
from .hub import push_run
from .joining import JoinedPairs
from .lora import merge_adapter
from .pairs import Corpus
from .progress import duration, say
from .scores import print_scores
from .seen import seen_words, source_limits
from .shortlist import write_shortlist


@dataclass(frozen=True)
class Trained:
    model: PreTrainedModel
    adapter: Any
    tokenizer: Seq2SeeTokenizer
    corpus: Corpus
    dataset: JoinedPairs  # the training pairs
    state: TrainerState
    arguments: Seq2SeeTrainingArguments
    seconds: float  # before any interruption too
    saves: bool  # whether this process writes the results
    repository: str | None  # of the Hub, that the finished run is pushed to


def finish(trained: Trained, config: RunConfig, output: Path) -> None:
    """Evaluate the trained model and put the finished files in place."""
    model, tokenizer, corpus, state = trained.model, trained.tokenizer, trained.corpus, trained.state
    model.eval()
    with atomic_files(output) as folder:
        if trained.adapter:
            model = merge_adapter(trained.adapter, folder / "adapter")
        start = resolve_folder(config.model.init_from) if config.model.init_from else None
        for name, number in source_limits(trained.dataset, start=start).items():
            setattr(model.generation_config, name, number)  # `update` passes over what transformers does not know
        model.save_pretrained(folder)
        tokenizer.save_pretrained(folder)
        write_json(folder / "seen_words.json", seen_words(corpus.train, start=start))
        if config.evaluation.shortlist:
            pairs = EncodedPairs(corpus.train, tokenizer, max_length=model.config.max_position_embeddings)
            write_shortlist(folder, pairs, size=config.evaluation.shortlist)
        write_manifest(folder)
    kept = step_kept(trained)
    metrics: dict[str, Any] = {
        "evaluation": evaluate_run(model, tokenizer, config, corpus),
        "training": {
            "steps": state.global_step,
            "kept_step": state.global_step if kept is None else kept,
            "epochs": round(state.epoch or 0, 2),
            "seconds": round(trained.seconds, 1),
            "parameters": model.num_parameters(),
            "pairs": len(corpus.train),
            **corpora_record(corpus),
            "skipped_pairs": corpus.skipped,
            "left_out_batches": sum("left_out" in row for row in state.log_history),
            "log": state.log_history,
        },
    }
    with atomic_files(output) as folder:
        write_json(folder / "metrics.json", metrics)
        draw_curve(
            folder / "curve.png",
            state.log_history,
            title=f"{config.name}: {model.num_parameters() / 1e6:.2f} M parameters, trained in"
                  f" {duration(trained.seconds)}",
            label_smoothing=trained.arguments.label_smoothing_factor,
            kept=kept,
        )  # fmt: skip
        (folder / "README.md").write_text(
            model_card(config, metrics, folder=output, supervised=model.config.supervised_heads or ()), "utf-8")
    say(f"finished in {trained.seconds:.0f} s, evaluations and saves among them: {output}")
    for split, row in metrics["evaluation"].items():
        print_scores(f"{output} {split}", row)
    if trained.repository:
        push_run(output, trained.repository, trained.arguments)


def step_kept(trained: Trained) -> int | None:
    """The step of the checkpoint whose weights the model has; None where it has simply the last ones.

    Says so where the best evaluation was at another step: evaluations may be more frequent than checkpoints.
    """
    if not trained.arguments.load_best_model_at_end:
        return None
    best, checkpoint = trained.state.best_global_step, trained.state.best_model_checkpoint
    kept = step_of(Path(checkpoint)) if checkpoint else None
    if best != kept:
        weights = "the last ones" if kept is None else f"those of step {kept}"
        say(f"the weights of the best evaluation, at step {best}, were never saved: the model has {weights}")
    return kept


def write_json(path: Path, content: Any) -> None:
    path.write_text(json.dumps(content, ensure_ascii=False, indent=1) + "\n", "utf-8")


def corpora_record(corpus: Corpus) -> dict[str, Any]:
    """How many pairs each of several corpora has."""
    rows = [{"path": data.path, "target": data.target, "pairs": len(part.train), "val": len(part.val)}
            for data, part in corpus.parts]
    return {"corpora": rows} if rows else {}
