"""Slips in training: batches, loss, steps left out, checkpoints, resuming and data."""

from . import fault

TRAINER, TRAJECTORY = "training/test_trainer.py", "training/test_trajectory.py"


@fault("training.trainer.Seq2SeeTrainer.compute_loss", TRAJECTORY)
def each_part_of_a_batch_counts_alike(original, self, model, inputs, return_outputs=False, num_items_in_batch=None):
    loss = original(self, model, inputs, return_outputs)
    return loss if num_items_in_batch is None else loss / self.args.gradient_accumulation_steps


@fault("training.loss.smoothed_cross_entropy", TRAJECTORY)
def the_loss_forgets_its_smoothing(original, logits_NV, labels_N, *, smoothing):
    return original(logits_NV, labels_N, smoothing=0.0)


@fault("training.trainer.Seq2SeeTrainer.restore_average", TRAJECTORY)
def resuming_trains_the_averaged_weights(original, self, checkpoint):
    self.average = [parameter.data.clone() for parameter in self.model.parameters()]


@fault("training.trainer.Seq2SeeTrainer.evaluate", TRAINER)
def an_evaluation_leaves_the_averaged_weights_in_place(original, self, *given, **how):
    metrics = original(self, *given, **how)
    for parameter, average in zip(self.model.parameters(), self.average or (), strict=False):
        parameter.data.copy_(average.data)
    return metrics


@fault("training.fault_tolerance.FaultTolerantTrainer.on_pre_optimizer_step", "training/test_lasting.py")
def a_gradient_that_is_not_finite_reaches_the_weights(original, self, *given, **how):
    self.left_out = False


@fault("training.checkpoints.check_manifest", TRAINER)
def a_damaged_checkpoint_is_resumed_from(original, folder, **how):
    if not (folder / "manifest.json").is_file():
        original(folder, **how)


@fault("training.resuming.UNCHANGEABLE", "training/test_run.py")
def a_run_is_resumed_with_another_seed(original):
    return tuple(name for name in original if name != "seed")


@fault("training.joining.JoinedPairs.set_epoch", "training/test_joining.py")
def every_epoch_joins_the_same_pairs(original, self, epoch):
    original(self, 0)


@fault("training.guided_alignment.guide_of", "training/test_guided.py")
def a_head_is_taught_source_and_target_exchanged(original, *given, **how):
    return original(*given, **how)[:, [1, 0, 2]]


@fault("training.pairs.sentence_key", "training/test_pairs.py")
def another_case_makes_another_sentence(original, source):
    return source


@fault("training.kernels.short_attention", "training/test_kernels.py")
def fast_attention_ignores_its_mask(original, module, query, key, value, mask, **how):
    return original(module, query, key, value, None, **how)
