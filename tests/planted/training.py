"""Faults of training: batches, loss, steps left out, checkpoints, resuming, data and scores."""

from typing import Any

from . import fault

TRAJECTORY, LASTING, TRAINER = "training/test_trajectory.py", "training/test_lasting.py", "training/test_trainer.py"


@fault("each part of a batch counts alike", "training.trainer:Seq2SeeTrainer.compute_loss", TRAJECTORY)
def _(original: Any, self: Any, model: Any, inputs: Any, return_outputs: bool = False,
      num_items_in_batch: Any = None) -> Any:  # fmt: skip
    found = original(self, model, inputs, return_outputs)
    parts = self.args.gradient_accumulation_steps
    return found if num_items_in_batch is None else (found[0] / parts, found[1]) if return_outputs else found / parts


@fault("the loss forgets its smoothing", "training.loss:smoothed_cross_entropy", TRAJECTORY)
def _(original: Any, logits: Any, labels: Any, *, smoothing: float) -> Any:
    return original(logits, labels, smoothing=0.0)


@fault("resumed, the averaged weights are trained", "training.trainer:Seq2SeeTrainer.restore_average",
       f"{TRAJECTORY}::test_resuming_is_exact_to_the_bit")  # fmt: skip
def _(original: Any, self: Any, checkpoint: Any) -> None:
    self.average = [parameter.data.clone() for parameter in self.model.parameters()]


@fault("an evaluation leaves the averaged weights in place", "training.trainer:Seq2SeeTrainer.evaluate", TRAINER)
def _(original: Any, self: Any, *given: Any, **how: Any) -> Any:
    found = original(self, *given, **how)
    for parameter, average in zip(self.model.parameters(), self.average or (), strict=False):
        parameter.data.copy_(average.data)
    return found


@fault("only the loss, not the gradient, is checked", "training.fault_tolerance:FaultTolerantTrainer.fault_of_step",
       LASTING)  # fmt: skip
def _(original: Any, self: Any, loss: float, norm: float) -> Any:
    return original(self, loss, 0.0)


@fault("a damaged checkpoint is resumed from", "training.checkpoints:check_manifest", TRAINER)
def _(original: Any, folder: Any, **how: Any) -> None:
    if not (folder / "manifest.json").is_file():
        original(folder, **how)


fault("a run is resumed with another seed", "training.resuming:UNCHANGEABLE", "training/test_run.py")(
    ("optim", "muon_lr_scale", "max_tokens"))  # fmt: skip


@fault("every epoch joins the same pairs", "training.joining:JoinedPairs.set_epoch", "training/test_joining.py")
def _(original: Any, self: Any, epoch: int) -> None:
    original(self, 0)


@fault("a head is taught source and target exchanged", "training.guided_alignment:guide_of", "training/test_guided.py")
def _(original: Any, pair: Any, links: Any, tokenizer: Any, **how: Any) -> Any:
    guide = original(pair, links, tokenizer, **how)
    return guide[:, [1, 0, 2]]


@fault("case makes another sentence", "training.pairs:sentence_key", "training/test_pairs.py")
def _(original: Any, source: str) -> str:
    return source


@fault("fast attention ignores its mask", "training.kernels:short_attention", "training/test_kernels.py")
def _(original: Any, module: Any, query: Any, key: Any, value: Any, mask: Any, **how: Any) -> Any:
    return original(module, query, key, value, mask * 0 if mask is not None else None, **how)
