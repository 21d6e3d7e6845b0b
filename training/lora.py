"""LoRA (Hu et al. 2021): fine-tuning that leaves every matrix W as it is and trains a narrow addition to it.

    W x   becomes   W x + 2 B A x,   A [rank, in] random at first, B [out, rank] zero: nothing is changed at the start

by `peft`, for all projections of attention and both feed-forward matrices.  Checkpoints hold W, A and B apart and serve
to go on from; the finished model has W + 2 B A as its W, so that it loads and runs as any other.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from torch import nn
from transformers import PreTrainedModel


def matrices(model: PreTrainedModel) -> list[str]:
    """The names of the linear layers inside encoder and decoder: `q_proj` ... `fc2` of most families, `q` ... `wo` of
    T5's."""
    output = model.get_output_embeddings()
    found = (name.rpartition(".")[2] for name, module in model.named_modules()
             if isinstance(module, nn.Linear) and module is not output)
    return list(dict.fromkeys(found))


def add_adapter(model: PreTrainedModel, *, rank: int, train_embedding: bool, base: str) -> Any:
    """Put an adapter into `model`, in place, and freeze the rest; returns peft's PeftModel around it.

    With `train_embedding` the embedding matrix is trained whole: the rows of a new vocabulary have much to learn.
    """
    from peft import LoraConfig, TaskType, get_peft_model

    adapter = get_peft_model(
        model, LoraConfig(r=rank, lora_alpha=2 * rank, target_modules=matrices(model), task_type=TaskType.SEQ_2_SEQ_LM)
    )
    adapter.peft_config["default"].base_model_name_or_path = base
    model.get_input_embeddings().weight.requires_grad_(train_embedding)
    return adapter


def merge_adapter(adapter: Any, folder: Path) -> PreTrainedModel:
    """Save the adapter by itself into `folder`, and make it part of the matrices: the model as it was before, trained.

    An embedding matrix that was trained is saved with it.
    """
    embedding = adapter.get_input_embeddings().weight
    adapter.save_pretrained(folder, save_embedding_layers=embedding.requires_grad)
    (folder / "README.md").unlink()  # a form that nobody has filled in
    model: PreTrainedModel = adapter.merge_and_unload(safe_merge=True)
    return model.requires_grad_(True)
