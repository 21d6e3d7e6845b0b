"""Seq2SeeTrainingArguments: transformers' own arguments with defaults that suit small translation models, and ours."""

import platform
from dataclasses import dataclass
from pathlib import Path

import torch
from transformers import Seq2SeqTrainingArguments
from transformers.trainer_utils import IntervalStrategy

from .config import TrainingFields

MUON = "muon"  # a name of training.optim
NO_WARM_UP = ("constant", "reduce_lr_on_plateau", "greedy")  # names of training.lr_scheduler_type


@dataclass
class Seq2SeeTrainingArguments(TrainingFields, Seq2SeqTrainingArguments):
    """Everything `transformers.Seq2SeqTrainingArguments` has, and the fields of config.py.

    A batch is the pairs of one optimizer step, over all processes and accumulation steps: raising
    `gradient_accumulation_steps` or the number of processes saves memory or time and leaves the trajectory as it is.
    `per_device_train_batch_size` is therefore not used.
    """

    use_cache: bool = True  # what the Trainer writes into config.json; our loss itself never asks for a cache
    remove_unused_columns: bool = False
    dataloader_pin_memory: bool = False
    ddp_find_unused_parameters: bool | None = False  # every parameter takes part in every batch
    ddp_bucket_cap_mb: int | None = 100  # small models' gradients in one message
    ddp_broadcast_buffers: bool | None = False  # they are constants
    log_level_replica: str = "error"  # one process speaks for all
    disable_tqdm: bool | None = True  # a line for each log says more than a bar
    hub_strategy: str = "end"  # a checkpoint is put in place whole, and is none of transformers' to copy from

    def __post_init__(self) -> None:
        if not (torch.cuda.is_available() or torch.backends.mps.is_available()):
            self.use_cpu = True
        if self.bf16 is None:
            self.bf16 = not self.fp16 and has_fast_bfloat16(self.use_cpu)
        if self.hub_strategy != "end":
            raise ValueError(f"hub_strategy={self.hub_strategy}: expected end, because a run is pushed when it is"
                             " finished")
        muon = self.optim == MUON
        self.optim = type(self).optim if muon else self.optim  # transformers knows no muon
        super().__post_init__()
        self.optim = MUON if muon else self.optim
        evaluated = IntervalStrategy(self.eval_strategy).value
        if self.patience and (evaluated == "no" or not self.metric_for_best_model):
            raise ValueError(f"patience={self.patience} needs evaluations and a metric, but eval_strategy={evaluated}"
                             f" and metric_for_best_model={self.metric_for_best_model}; set patience=0, or"
                             " change these settings")
        self._n_gpu = min(self.n_gpu, 1)  # several GPUs are for torchrun: DataParallel would cut batches a second time

    def warm_up_remark(self, steps: int) -> str | None:
        """What to say of a training of so many steps that ends before its learning rate has reached the peak."""
        warm_up = 0 if self.lr_scheduler_type in NO_WARM_UP else self.get_warmup_steps(steps)
        if warm_up < max(steps, 1):
            return None
        return (f"the learning rate never reaches its peak: the training has {steps:,} steps, the warm-up {warm_up:,};"
                " lower training.warmup_steps, or train longer")


def has_fast_bfloat16(use_cpu: bool) -> bool:
    """Whether the hardware multiplies bfloat16 faster than float32.

    Emulated, it is slower; and Intel's AVX512_BF16 without AMX, as virtual machines may have it, has half the speed of
    float32.  Decided by the processor, not by timing: a run and its resumption agree.
    """
    if use_cpu:
        return torch.cpu._is_amx_tile_supported() or (torch.cpu._is_avx512_bf16_supported() and is_made_by_amd())
    return torch.cuda.is_available() and torch.cuda.is_bf16_supported(including_emulation=False)


def is_made_by_amd() -> bool:
    try:
        processor = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    except OSError:  # not Linux
        processor = platform.processor()
    return "AuthenticAMD" in processor
