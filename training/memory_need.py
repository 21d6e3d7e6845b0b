"""How much memory a training takes, estimated before it starts, and what to change where that is not free."""

# N tokens of a micro-batch, D width, F inner width, V vocabulary

from __future__ import annotations

import torch
from transformers import PreTrainedModel

from seq2see.memory import available_memory
from .arguments import Seq2SeeTrainingArguments

NUMBER = 4  # bytes of a float32
LITTLE = 2**30  # bytes that any machine has
WIDE, NARROW = 20, 4  # numbers of width D and of width F that a layer keeps for each token until its gradient
LOGITS = 2  # copies of [N,V]


def estimate(model: PreTrainedModel, arguments: Seq2SeeTrainingArguments) -> dict[str, float]:
    """Bytes by what they hold: the weights and what each trained one adds, and the values of a batch."""
    total, trained = model.num_parameters(), model.num_parameters(only_trainable=True)
    config = model.get_encoder().config
    tokens = arguments.max_tokens / arguments.gradient_accumulation_steps / arguments.world_size
    width = model.get_input_embeddings().embedding_dim
    inner = max(getattr(config, name, 0) or 0 for name in ("encoder_ffn_dim", "decoder_ffn_dim", "d_ff"))
    layers = sum(_count(config, *names) for names in (
        ("encoder_layers", "num_layers"), ("decoder_layers", "num_decoder_layers")))
    vocabulary = model.get_input_embeddings().num_embeddings
    return {
        "weights": NUMBER * total,
        "gradients": NUMBER * trained,
        "optimizer": 2 * NUMBER * trained,
        "average": NUMBER * total if arguments.ema_decay else 0,
        "batch": NUMBER * tokens * (layers * (WIDE * width + NARROW * inner) + LOGITS * vocabulary),
    }


def _count(config: object, *names: str) -> int:
    return next((value for name in names if (value := getattr(config, name, None))), 0)


def free_memory(device: torch.device) -> float:
    """Bytes that the device has free."""
    if device.type == "cuda":
        return float(torch.cuda.mem_get_info(device)[0])
    return float(available_memory())


def memory_remark(model: PreTrainedModel, arguments: Seq2SeeTrainingArguments, *, lora: bool) -> str:
    """What the training takes, what is free, and what to change if it takes more; "" where it is LITTLE and fits."""
    parts = estimate(model, arguments)
    loaded = parts["weights"] if arguments.device.type == "cpu" else 0  # is no longer free, but there already
    need, free = sum(parts.values()), free_memory(arguments.device) + loaded
    shown = ", ".join(f"{name} {_size(size)}" for name, size in parts.items() if size)
    remark = f"memory: about {_size(need)} ({shown}); {_size(free)} are free"
    if need <= free:
        return remark if need > LITTLE else ""
    accumulation = 4 * arguments.gradient_accumulation_steps
    ways = [f"training.gradient_accumulation_steps={accumulation}"]
    if parts["average"]:
        ways.insert(0, "training.ema_decay=0")
    if not lora:
        ways.insert(0, "model.lora=8")
    return f"{remark}; the training may not fit; set {', '.join(ways)}"


def _size(size: float) -> str:
    return f"{size / 2**30:.1f} GiB" if size >= 2**29 else f"{size / 2**20:.0f} MiB"
