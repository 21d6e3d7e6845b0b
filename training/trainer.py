"""Seq2SeeTrainer: transformers' Seq2SeqTrainer, with batches by length, a cheaper loss, and averaged weights.

transformers' own Seq2SeqTrainer trains a Seq2See model rightly too; this one is the fast one.  What is notable:
- logits are computed at real target positions only, and the loss is averaged over the tokens of the whole batch,
  however many processes and accumulation steps it is cut into;
- with `ema_decay`, what is evaluated and saved is an exponential moving average of the weights; the weights being
  trained lie beside it in each checkpoint, so that resuming is exact.

What makes it survive kills, signals, full disks and bad batches is in fault_tolerance.py.
"""

# B pairs, T target length, N real target positions, V vocabulary

from __future__ import annotations

import inspect
import time
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import Any

import torch
from accelerate.utils import gather_object
from safetensors.torch import load_file, save_file
from torch import Tensor
from torch.utils.data import DataLoader
from transformers import PreTrainedModel, PrinterCallback, TrainerControl, TrainerState
from transformers.trainer_utils import get_last_checkpoint

from ..modeling.modeling_seq2see import Seq2SeePreTrainedModel
from ..translate import Translator
from .arguments import MUON, Seq2SeeTrainingArguments
from .batching import Collator, EncodedPairs, MicroBatches, encoded_rows, plan_epoch
from .checkpoints import RAW_WEIGHTS
from .fault_tolerance import FaultTolerantTrainer
from .kernels import fast_kernels
from .loss import smoothed_cross_entropy
from .metrics import score
from .muon import Muon, grouped
from .pace import Pace
from .pairs import evenly_spaced
from .progress import report
from .signals import ignore_signals
from .translation import translate_pairs


class Seq2SeeTrainer(FaultTolerantTrainer):
    """Trains an encoder-decoder of transformers; takes whatever its parent takes, but `model_init` and `data_collator`.

    A data set is an `EncodedPairs`, or rows with `input_ids` and `labels`: a `datasets.Dataset` or a list of dicts.
    With `compute_metrics`, or of rows without their texts, an evaluation is transformers' own, of the averaged weights.

    Args:
        validation_pairs: how many validation pairs each evaluation translates (greedily) for BLEU and chrF.
    """

    control: TrainerControl  # what the callbacks have asked for; Trainer makes it

    args: Seq2SeeTrainingArguments
    optimizer: torch.optim.Optimizer | None

    def __init__(
        self,
        model: PreTrainedModel,
        args: Seq2SeeTrainingArguments,
        *,
        train_dataset: Any = None,
        eval_dataset: Any = None,
        validation_pairs: int = 200,
        **parents: Any,
    ):
        self.collate = Collator(
            pad_token_id=model.config.pad_token_id,
            eos_token_id=model.config.eos_token_id,
            decoder_start_token_id=model.config.decoder_start_token_id,
        )
        super().__init__(
            model,
            args,
            data_collator=self.collate,
            train_dataset=encoded_rows(train_dataset),
            eval_dataset=encoded_rows(eval_dataset),
            **parents,
        )
        self.validation_pairs = validation_pairs
        self.model_accepts_loss_kwargs = True  # compute_loss takes num_items_in_batch, whatever model.forward does
        self.average: list[Tensor] | None = None
        self.slices_logits = "logits_to_keep" in inspect.signature(model.forward).parameters
        if self.accelerator.ddp_handler:
            self.accelerator.ddp_handler.gradient_as_bucket_view = True
        self.resumed_from: Path | None = None
        self.pace = Pace()
        self.add_callback(self.pace)
        self.remove_callback(PrinterCallback)

    def create_optimizer(self, model: Any = None) -> torch.optim.Optimizer:
        args = self.args
        if self.optimizer is None and args.optim == MUON:
            groups = grouped(
                self.model, decayed=self.get_decay_parameter_names(self.model), weight_decay=args.weight_decay
            )
            self.optimizer = Muon(
                groups,
                lr=args.learning_rate,
                betas=(args.adam_beta1, args.adam_beta2),
                eps=args.adam_epsilon,
                scale=args.muon_lr_scale,
                dtype=torch.bfloat16 if args.bf16 else torch.float32,
            )
        return super().create_optimizer(model)

    # Data

    def get_train_dataloader(self) -> DataLoader:
        """Shards itself over the processes: accelerate would repeat or drop batches of varying size."""
        self.batches = MicroBatches(
            self.train_dataset.lengths(),
            max_tokens=self.args.max_tokens,
            seed=self.args.seed,
            accumulation=self.args.gradient_accumulation_steps,
            processes=self.args.world_size,
            rank=self.args.process_index,
        )
        return DataLoader(
            self.train_dataset,
            batch_sampler=self.batches,
            collate_fn=self.collate,
            num_workers=self.args.dataloader_num_workers,
            generator=torch.Generator().manual_seed(self.args.seed),  # leaves torch's own, and so dropout, alone
            worker_init_fn=ignore_signals,
        )

    # Loss

    def compute_loss_context_manager(self) -> AbstractContextManager[None]:
        return self.accelerator.autocast()

    def floating_point_ops(self, inputs: dict[str, Any]) -> int:
        return 0  # nobody asks, and counting the parameters again in each step takes 2 % of it

    def compute_loss(
        self,
        model: torch.nn.Module,
        inputs: dict[str, Any],
        return_outputs: bool = False,
        num_items_in_batch: Tensor | int | None = None,
    ) -> Any:
        """Label-smoothed cross-entropy, summed over the real positions here and divided by those of the whole batch.

        With `return_outputs` also the model's outputs, logits [B,T,V].
        """
        smoothing = self.args.label_smoothing_factor
        loss_sum, count, outputs = self._loss_sum(model, inputs, label_smoothing=smoothing, all_logits=return_outputs)
        if num_items_in_batch is None:
            loss = loss_sum / count.clamp(min=1)
        else:
            loss = loss_sum / num_items_in_batch
            if self.args.average_tokens_across_devices:
                loss = loss * self.accelerator.num_processes  # DDP averages gradients; these are to be summed
        return (loss, outputs) if return_outputs else loss

    def _loss_sum(
        self, model: torch.nn.Module, inputs: dict[str, Any], *, label_smoothing: float, all_logits: bool = False
    ) -> tuple[Tensor, Tensor, Any]:
        """The summed loss, the number of labels, and the model's outputs.

        The loss overwrites logits.  They are computed at the labels alone, unless `all_logits` asks for outputs that
        are to be used: then all are, and the loss overwrites a copy of those at the labels.
        """
        inputs = dict(inputs)
        labels_BT = inputs.pop("labels")
        kept_BT = labels_BT != -100
        asked = {"logits_to_keep": kept_BT} if self.slices_logits and not all_logits else {}
        with nullcontext() if asked or all_logits else self._logits_at(kept_BT):
            outputs = model(**inputs, **asked, use_cache=False)
        logits_NV = outputs.logits if outputs.logits.dim() == 2 else outputs.logits[kept_BT]
        loss = smoothed_cross_entropy(logits_NV, labels_BT[kept_BT], smoothing=label_smoothing)
        return loss, kept_BT.sum(), outputs

    @contextmanager
    def _logits_at(self, kept_BT: Tensor) -> Iterator[None]:
        """Inside, the output layer computes logits [N,V] at these positions alone, in a model that cannot be asked to;
        where the layer is not called as a module, all of them remain."""
        head = self.model.get_output_embeddings()
        hook = head.register_forward_pre_hook(lambda _, inputs: (inputs[0][kept_BT],))
        try:
            yield
        finally:
            hook.remove()

    # Evaluation

    def evaluate(
        self, eval_dataset: Any = None, ignore_keys: Any = None, metric_key_prefix: str = "eval", **generation: Any
    ) -> dict[str, float]:
        """Loss per token without smoothing, and BLEU and chrF of greedy translations, of the averaged weights; each
        data set of a dict by itself.  With `compute_metrics`, or of rows without texts, as in transformers."""
        dataset = encoded_rows(self.eval_dataset if eval_dataset is None else eval_dataset)
        if isinstance(dataset, dict) or self.compute_metrics or not isinstance(dataset, EncodedPairs):
            with self.averaged() if not isinstance(dataset, dict) else nullcontext():
                return super().evaluate(dataset, ignore_keys, metric_key_prefix, **generation)
        start = time.perf_counter()
        self.model.eval()
        with self.averaged(), torch.no_grad(), self.compute_loss_context_manager():
            loss = self._validation_loss(dataset)
            drawn = evenly_spaced([pair.target_language for pair in dataset.pairs], self.validation_pairs)
            wanted = [dataset.pairs[index] for index in drawn]
            positions = getattr(self.model.config, "max_position_embeddings", None)  # T5 has no limit
            limits = [2 * int(dataset.lengths().max()) + 10, self.model.generation_config.max_length, positions]
            limit = min(limit for limit in limits if limit) - 1  # less the start
            hypotheses = self._translate(wanted, max_new_tokens=limit)
        scores = score(hypotheses, [pair.target for pair in wanted])
        figures = {"loss": loss, "bleu": scores.bleu, "chrf": scores.chrf}
        figures["runtime"] = round(time.perf_counter() - start, 2)
        metrics = {f"{metric_key_prefix}_{name}": value for name, value in figures.items()}
        self.log(metrics)
        self.control = self.callback_handler.on_evaluate(self.args, self.state, self.control, metrics)
        return metrics

    def _validation_loss(self, dataset: EncodedPairs) -> float:
        batches = plan_epoch(dataset.lengths(), max_tokens=self.args.max_tokens, seed=0, epoch=0)
        total = torch.zeros(2, device=self.args.device)
        for batch in batches[self.args.process_index :: self.args.world_size]:
            inputs = self._prepare_inputs(self.collate([dataset[index] for index in batch]))
            loss, count, _ = self._loss_sum(self.model, inputs, label_smoothing=0.0)
            total += torch.stack([loss, count])
        loss, count = self.accelerator.reduce(total).tolist()
        return loss / count

    def _translate(self, pairs: Sequence[Any], *, max_new_tokens: int) -> list[str]:
        """Each process translates every n-th pair, all get all translations: whole by a Seq2See model, which learns
        texts of several sentences, and by others as they are served."""
        mine = pairs[self.args.process_index :: self.args.world_size]
        translator = Translator(self.model, self.processing_class)
        raw = isinstance(self.model, Seq2SeePreTrainedModel)
        texts = translate_pairs(translator, mine, raw=raw, num_beams=1, max_new_tokens=max_new_tokens)
        indexed = list(zip(range(self.args.process_index, len(pairs), self.args.world_size), texts, strict=True))
        return [text for _, text in sorted(gather_object(indexed))]

    # Averaged weights

    @contextmanager
    def averaged(self) -> Iterator[None]:
        """Inside, the model has its averaged weights."""
        self._swap()
        try:
            yield
        finally:
            self._swap()

    def _swap(self) -> None:
        for parameter, average in zip(self.model.parameters(), self.average or (), strict=False):
            parameter.data, average.data = average.data, parameter.data

    def update_average(self) -> None:
        """average <- d average + (1 - d) weights; d grows up to ema_decay, so that early weights are soon forgotten.

        torch's AveragedModel would be a second module, with swapping, saving and loading still to be done here.
        """
        weights = [parameter.data for parameter in self.model.parameters()]
        if self.average is None:
            self.average = [weight.clone() for weight in weights]
        step = self.state.global_step + 1
        decay = min(self.args.ema_decay, step / (10 + step))
        torch._foreach_lerp_(self.average, weights, 1 - decay)

    # Training

    def get_batch_samples(self, *args: Any) -> Any:
        samples, count = super().get_batch_samples(*args)  # of one optimizer step, over all processes
        self.pace.tokens += count
        return samples, count

    def log(self, logs: dict[str, float], start_time: float | None = None) -> None:
        if "train_runtime" in logs:  # transformers' figures at the end are of the last resumption alone
            logs = {"train_runtime": round(self.pace.elapsed(), 2)}
        elif "loss" in logs:
            logs = logs | {"target_tokens_per_second": self.pace.rate()}
        super().log(logs, start_time)

    def train(self, resume_from_checkpoint: str | bool | None = None, **kwargs: Any) -> Any:
        """As in transformers; afterwards the model has its best (where asked for), else its averaged weights."""
        if resume_from_checkpoint is True:
            resume_from_checkpoint = get_last_checkpoint(str(self.args.output_dir))
        self.resumed_from = Path(str(resume_from_checkpoint)) if resume_from_checkpoint else None
        torch.manual_seed(self.args.seed + self.args.process_index)  # each process draws dropout masks of its own
        with fast_kernels(self.model) if self.args.device.type == "cpu" else nullcontext():
            result = super().train(resume_from_checkpoint, **kwargs)
        if not (self.args.load_best_model_at_end and self.state.best_model_checkpoint):
            self._swap()
        self.average = None
        return result

    def save_model(self, output_dir: str | None = None, _internal_call: bool = False) -> None:
        """The averaged weights, and beside them those being trained."""
        with self.averaged():
            super().save_model(output_dir, _internal_call)
        if self.average is not None and self.args.should_save:
            weights = {name: parameter.data for name, parameter in self.model.named_parameters()}
            save_file(weights, Path(output_dir or str(self.args.output_dir)) / RAW_WEIGHTS)

    def restore_average(self, checkpoint: Path) -> None:
        """Resumed, the model has the averaged weights of the checkpoint: give it those being trained."""
        self.average = [parameter.data.clone() for parameter in self.model.parameters()]
        weights = load_file(checkpoint / RAW_WEIGHTS)
        for name, parameter in self.model.named_parameters():
            parameter.data.copy_(weights[name])

    # Between the steps

    def on_train_begin(self, args: Any, state: TrainerState, control: Any, **kwargs: Any) -> None:
        super().on_train_begin(args, state, control, **kwargs)
        state.compute_steps(args, state.max_steps)  # a checkpoint's state has the intervals of an earlier configuration
        if remark := self.args.warm_up_remark(state.max_steps):
            report(remark)
        # accelerate has wrapped `forward` for mixed precision and would copy all logits to float32: our loss takes them
        # as they are, and `compute_loss_context_manager` casts.  `unwrap_model` would leave another `forward` there,
        # bound to this model, which copies of the model would share.
        self.model.__dict__.pop("forward", None)
        if self.resumed_from and args.ema_decay:
            self.restore_average(self.resumed_from)

    def on_epoch_begin(self, args: Any, state: TrainerState, control: Any, **kwargs: Any) -> None:
        """Here, since a loader that skips the batches of an interrupted epoch tells its data set no epoch."""
        epoch = state.global_step // self.batches.batches
        self.batches.set_epoch(epoch)
        self.train_dataset.set_epoch(epoch)

    def on_optimizer_step(self, args: Any, state: TrainerState, control: Any, **kwargs: Any) -> None:
        if args.ema_decay and not self.left_out:
            self.update_average()
