"""Seq2SeeTrainingArguments: transformers' own arguments with defaults that suit small translation models, and ours."""

import platform
import sys
from dataclasses import dataclass, field
from math import inf
from pathlib import Path
from typing import Any, Literal

import torch
from transformers import SchedulerType, Seq2SeqTrainingArguments, get_scheduler

RANGES = {  # name: the least that it may be, and what it stays below
    "max_tokens": (1, inf), "ema_decay": (0, 1), "muon": (0, inf), "patience": (0, inf),
    "num_train_epochs": (1e-6, inf), "learning_rate": (0, inf), "weight_decay": (0, inf), "adam_beta1": (0, 1),
    "adam_beta2": (0, 1), "label_smoothing_factor": (0, 1), "gradient_accumulation_steps": (1, inf),
    "dataloader_num_workers": (0, inf), "seed": (0, 2**32),
}  # fmt: skip
METRICS = ("loss", "bleu", "chrf")  # of an evaluation
PLAIN_SCHEDULES = ("reduce_lr_on_plateau", "greedy")  # need no arguments, and may have one for each parameter group


@dataclass
class Seq2SeeTrainingArguments(Seq2SeqTrainingArguments):
    """Everything `transformers.Seq2SeqTrainingArguments` has, and eleven fields more.

    A batch is the pairs of one optimizer step, over all processes and accumulation steps: raising
    `gradient_accumulation_steps` or the number of processes saves memory or time and leaves the trajectory as it is.
    `per_device_train_batch_size` is therefore not used; what else is not is in config.py (`IGNORED`).
    """

    max_tokens: int = field(default=4096, metadata={"help": "most pieces in one side of a batch, padding counted"})
    ema_decay: float = field(default=0.0, metadata={"help": "decay of the averaged weights; 0 keeps no average"})
    muon: float = field(
        default=0.0, metadata={"help": "matrices are Muon's, with so many times AdamW's step; 0: all is optim's"}
    )
    patience: int = field(default=0, metadata={"help": "stop after so many evaluations without a gain; 0 never"})
    on_bad_loss: Literal["stop", "skip"] = field(
        default="stop", metadata={"help": "what to do about a batch whose loss is no number, or far too large"}
    )
    resume: bool | Literal["force"] = field(
        default=False, metadata={"help": "resume from output_dir's newest complete checkpoint; force: on changed data"}
    )

    guided_alignment: float = field(default=0.0, metadata={"help": "weight of the loss that guides one head; 0: none"})
    guided_layer: int = field(default=-1, metadata={"help": "decoder layer of the guided head, from 0; -1: the last"})
    guided_head: int = field(default=0, metadata={"help": "number of the guided cross-attention head, from 0"})
    guided_links: str | None = field(default=None, metadata={"help": "Pharaoh file; storybook has its own"})

    cpu_processes: int = field(
        default=0, metadata={"help": "processes to train in without a GPU; 0: by cores, processor and batches"}
    )

    bf16: bool | None = None  # None: bfloat16 where it is faster than float32
    num_train_epochs: float = 20
    learning_rate: float = 3e-3
    lr_scheduler_type: Literal[  # spelt out, as report_to is, so that a wrong one is refused before torch is imported
        "linear", "cosine", "cosine_with_restarts", "polynomial", "constant", "constant_with_warmup", "inverse_sqrt",
        "reduce_lr_on_plateau", "cosine_with_min_lr", "cosine_warmup_with_min_lr", "warmup_stable_decay", "greedy",
    ] = "inverse_sqrt"  # fmt: skip
    warmup_steps: float = 200
    adam_beta2: float = 0.98
    label_smoothing_factor: float = 0.1
    eval_strategy: str = "epoch"
    save_strategy: str = "epoch"
    save_total_limit: int | None = 2
    load_best_model_at_end: bool = True
    metric_for_best_model: str | None = "loss"
    logging_steps: float = 50
    seed: int = 0
    report_to: None | list[str] | Literal[
        "none", "all", "azure_ml", "clearml", "codecarbon", "comet_ml", "dagshub", "dvclive", "flyte", "kubeflow",
        "mlflow", "neptune", "swanlab", "tensorboard", "trackio", "wandb",
    ] = "none"  # fmt: skip
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
        super().__post_init__()
        if self.patience and self.eval_strategy == "no":
            raise ValueError("patience counts evaluations, and eval_strategy=no makes none; set patience=0")
        metric = self.metric_for_best_model
        if self.patience and metric is None:
            raise ValueError("patience needs a metric_for_best_model, or set patience=0")
        if metric is not None and metric.removeprefix("eval_") not in METRICS:
            raise ValueError(f"metric_for_best_model={metric}: expected {', '.join(METRICS[:-1])} or {METRICS[-1]}")
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
