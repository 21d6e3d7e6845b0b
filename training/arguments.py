"""Seq2SeeTrainingArguments: transformers' own arguments with defaults that suit small translation models, and ours."""

import platform
import sys
from dataclasses import dataclass
from math import inf
from pathlib import Path
from typing import Any, Literal

import torch
from transformers import SchedulerType, Seq2SeqTrainingArguments, get_scheduler

from .config import setting

RANGES = {  # name: the least that it may be, and what it stays below
    "max_tokens": (1, inf), "ema_decay": (0, 1), "muon_lr_scale": (0, inf), "patience": (0, inf),
    "num_train_epochs": (1e-6, inf), "learning_rate": (0, inf), "weight_decay": (0, inf), "adam_beta1": (0, 1),
    "adam_beta2": (0, 1), "label_smoothing_factor": (0, 1), "gradient_accumulation_steps": (1, inf),
    "dataloader_num_workers": (0, inf), "seed": (0, 2**32),
}  # fmt: skip
MUON = "muon"  # a name of training.optim
PLAIN_SCHEDULES = ("reduce_lr_on_plateau", "greedy")  # need no arguments, and may have one for each parameter group


@dataclass
class Seq2SeeTrainingArguments(Seq2SeqTrainingArguments):
    """Everything `transformers.Seq2SeqTrainingArguments` has, and the fields below that have no namesake there.

    A batch is the pairs of one optimizer step, over all processes and accumulation steps: raising
    `gradient_accumulation_steps` or the number of processes saves memory or time and leaves the trajectory as it is.
    `per_device_train_batch_size` is therefore not used; what else is not is in config.py (`IGNORED`).
    """

    max_tokens: int = setting(4096, "tokens of either side of a batch, with padding, over all processes")
    num_train_epochs: float = setting(20, "passes over the training pairs")
    max_steps: int = setting(-1, "steps, each of one batch; -1: as num_train_epochs says")
    optim: str = setting("adamw_torch_fused", "muon: Muon for matrices, AdamW for the rest; or one of transformers'")
    muon_lr_scale: float = setting(1.0, "a step of Muon in those of AdamW")
    learning_rate: float = setting(3e-3, "peak, after the warm-up")
    lr_scheduler_type: Literal[  # spelt out, as report_to is, so that a wrong one is refused before torch is imported
        "linear", "cosine", "cosine_with_restarts", "polynomial", "constant", "constant_with_warmup", "inverse_sqrt",
        "reduce_lr_on_plateau", "cosine_with_min_lr", "cosine_warmup_with_min_lr", "warmup_stable_decay", "greedy",
    ] = setting("inverse_sqrt", "after the warm-up: inverse_sqrt falls as 1/sqrt(step), linear straight to 0")
    warmup_steps: float = setting(200, "steps until the peak; below 1 a share of all steps")
    weight_decay: float = setting(0.0, "share of each weight, times the learning rate, taken off in a step")
    adam_beta2: float = setting(0.98, "decay of AdamW's second moment")
    label_smoothing_factor: float = setting(0.1, "probability taken from the right token and spread over all")
    ema_decay: float = setting(0.0, "decay, a step, of the moving average that is the finished model; 0: none")
    guided_alignment: float = setting(0.0, "weight of the loss that teaches one head the word links; 0: none")
    guided_layer: int = setting(-1, "decoder layer of that head, counted from 0; -1: the last")
    guided_head: int = setting(0, "that cross-attention head, counted from 0")
    guided_links: str | None = setting(None, "Pharaoh file of word links, a line for each pair; storybook has its own")
    gradient_accumulation_steps: int = setting(1, "parts of a batch computed one after another; more needs less memory")
    eval_strategy: str = setting("epoch", "when to evaluate: epoch, steps (every eval_steps) or no")
    save_strategy: str = setting("epoch", "when to write a checkpoint: epoch, steps (every save_steps) or no")
    save_total_limit: int | None = setting(2, "checkpoints that are kept; null: all")
    load_best_model_at_end: bool = setting(True, "true keeps the best evaluation's weights, false the last")
    metric_for_best_model: str | None = setting("loss", "what is best: loss, bleu or chrf")
    patience: int = setting(0, "evaluations without a gain before training stops; 0: never")
    on_bad_loss: Literal["stop", "skip"] = setting("stop", "a batch whose loss is NaN or explodes: stop, or skip it")
    resume: bool | Literal["force"] = setting(False, "true resumes the newest checkpoint; force: on changed data too")
    seed: int = setting(0, "of the weights, the order of batches, dropout, and of storybook's sentences")
    bf16: bool | None = setting(None, "bfloat16; null: where it is faster than float32")
    cpu_processes: int = setting(0, "processes without a GPU; 0: chosen by the processor and max_tokens")
    logging_steps: float = setting(50, "steps between two lines")
    report_to: None | list[str] | Literal[
        "none", "all", "azure_ml", "clearml", "codecarbon", "comet_ml", "dagshub", "dvclive", "flyte", "kubeflow",
        "mlflow", "neptune", "swanlab", "tensorboard", "trackio", "wandb",
    ] = setting("none", "where curves are drawn live: tensorboard, wandb ...")  # fmt: skip

    use_cache: bool = True  # what the Trainer writes into config.json; our loss itself never asks for a cache
    remove_unused_columns: bool = False
    dataloader_pin_memory: bool = False
    ddp_find_unused_parameters: bool | None = False  # every parameter takes part in every batch
    ddp_bucket_cap_mb: int | None = 100  # small models' gradients in one message
    log_level_replica: str = "error"  # one process speaks for all
    disable_tqdm: bool | None = None  # None: no bar where stderr is not a terminal

    def __post_init__(self) -> None:
        if self.disable_tqdm is None:
            self.disable_tqdm = not sys.stderr.isatty()
        if not (torch.cuda.is_available() or torch.backends.mps.is_available()):
            self.use_cpu = True
        if self.bf16 is None:
            self.bf16 = not self.fp16 and has_fast_bfloat16(self.use_cpu)
        for name, (least, most) in RANGES.items():
            value = getattr(self, name)
            if not least <= value < most:
                raise ValueError(f"{name}={value}: expected at least {least} and less than {most}")
        muon = self.optim == MUON
        self.optim = type(self).optim if muon else self.optim  # transformers knows no muon
        super().__post_init__()
        self.optim = MUON if muon else self.optim
        if self.patience and self.eval_strategy == "no":
            raise ValueError("patience counts evaluations, and eval_strategy=no makes none; set patience=0")
        metric = self.metric_for_best_model
        if self.patience and metric is None:
            raise ValueError("patience needs a metric_for_best_model, or set patience=0")
        check_schedule(self.lr_scheduler_type, self.lr_scheduler_kwargs, learning_rate=self.learning_rate)
        self._n_gpu = min(self.n_gpu, 1)  # several GPUs are for torchrun: DataParallel would cut batches a second time


def check_schedule(kind: str, settings: Any, *, learning_rate: float) -> None:
    """Makes one for nothing, since only in making it does transformers find that an argument is missing."""
    if kind in PLAIN_SCHEDULES:
        return
    optimizer = torch.optim.SGD([torch.zeros(1)], lr=learning_rate)
    try:
        get_scheduler(kind, optimizer, num_warmup_steps=1, num_training_steps=2, scheduler_specific_kwargs=settings)
    except (TypeError, ValueError) as error:
        name = SchedulerType(kind).value
        raise ValueError(f"lr_scheduler_type={name} with lr_scheduler_kwargs={settings}: {error}") from error


def has_fast_bfloat16(use_cpu: bool) -> bool:
    """Whether the hardware multiplies bfloat16 faster than float32.

    Emulated, it is slower; and Intel's AVX512_BF16 without AMX, as virtual machines may have it, has half the speed of
    float32.  Told by what the processor is, not by a stopwatch: a run and its resumption agree.
    """
    if use_cpu:
        return torch.cpu._is_amx_tile_supported() or (torch.cpu._is_avx512_bf16_supported() and is_made_by_amd())
    return torch.cuda.is_available() and torch.cuda.is_bf16_supported(including_emulation=False)


def is_made_by_amd() -> bool:
    try:
        told = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    except OSError:  # not Linux
        told = platform.processor()
    return "AuthenticAMD" in told
