"""The processes that `train_speed.py` starts: the peer, and our own command without some of its optimisations.

    python _train_workers.py peer JOB.json                   under torchrun too
    python _train_workers.py without '["byte dropout"]' train multi30k-en-de ...
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any


def train_peer(job: dict[str, Any]) -> None:
    """MarianMTModel with the stock Seq2SeqTrainer; announces each update, and records the target tokens of all."""
    import datasets
    import transformers

    from seq2see.tokenizer.tokenization_seq2see import Seq2SeeTokenizer

    class Announce(transformers.TrainerCallback):
        def on_step_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
            if state.is_world_process_zero:
                print(f"step {state.global_step}/{state.max_steps}", flush=True)

    arguments = transformers.Seq2SeqTrainingArguments(
        **job["training"], train_sampling_strategy="group_by_length", use_cpu=True, save_strategy="no",
        logging_strategy="no", report_to="none", disable_tqdm=True, ddp_find_unused_parameters=False,
        dataloader_pin_memory=False,
    )  # fmt: skip
    transformers.set_seed(arguments.seed)
    model = transformers.MarianMTModel(transformers.MarianConfig(**job["shape"], forced_eos_token_id=None))
    folder = Path(job["folder"])
    tokenizer = Seq2SeeTokenizer.from_pretrained(folder / "tokenizer")
    pairs = datasets.Dataset.from_dict(json.loads((folder / "pairs.json").read_text()))
    collate, counts = transformers.DataCollatorForSeq2Seq(tokenizer, model=model), list[int]()

    def count_and_collate(items: list[dict[str, list[int]]]) -> Any:
        counts.append(sum(len(item["labels"]) for item in items))
        return collate(items)

    trainer = transformers.Seq2SeqTrainer(
        model, arguments, data_collator=count_and_collate, train_dataset=pairs, processing_class=tokenizer
    )
    trainer.add_callback(Announce())
    trainer.train()
    counts_file = Path(arguments.output_dir) / f"counts-{arguments.process_index}.json"
    counts_file.write_text(json.dumps(counts[: arguments.max_steps]))


def switch_off(names: Sequence[str]) -> None:
    """Replace our optimisations by the standard implementation, in this process and those that the command starts."""
    import torch

    from seq2see.training import batching, kernels, processes, trainer

    collate = batching.Collator.__call__

    def padding_counts(self: Any, items: Any) -> Any:
        """Padding becomes a token to predict, at the cost of a discarded prediction."""
        batch = collate(self, items)
        return batch | {"labels": batch["labels"].masked_fill(batch["labels"] == -100, self.pad_token_id)}

    def plain_loss(logits_NV: Any, labels_N: Any, *, smoothing: float) -> Any:
        logits_NV = logits_NV.float()
        return torch.nn.functional.cross_entropy(logits_NV, labels_N, label_smoothing=smoothing, reduction="sum")

    patches: dict[str, tuple[Any, str, Any]] = {
        "token batches": (batching, "plan_epoch", partial(plain_plan, ours=batching.plan_epoch)),
        "real positions": (batching.Collator, "__call__", padding_counts),
        "short attention": (kernels, "SHORT_ATTENTION", "eager"),
        "short attention (sdpa)": (kernels, "SHORT_ATTENTION", "sdpa"),
        "byte dropout": (kernels, "ByteDropout", torch.nn.Dropout),
        "in-place loss": (trainer, "smoothed_cross_entropy", plain_loss),
    }
    here = Path(__file__)
    first = f"import sys; sys.path.insert(0, {str(here.parent)!r}); from {here.stem} import switch_off"
    follow = f"{first}; switch_off({list(names)!r}); {processes.FOLLOW}"
    for owner, name, value in [*(patches[name] for name in names), (processes, "FOLLOW", follow)]:
        getattr(owner, name)  # fails for a name that no longer exists, instead of measuring nothing
        setattr(owner, name, value)


def plain_plan(lengths: Any, *, ours: Callable[..., list[Any]], seed: int, epoch: int, **limits: Any) -> list[Any]:
    """Batches like the stock Trainer's `group_by_length`, as many as ours, in random order."""
    import numpy as np
    import torch
    from transformers.trainer_pt_utils import get_length_grouped_indices

    size = max(1, round(len(lengths) / len(ours(lengths, seed=seed, epoch=epoch, **limits))))
    generator = torch.Generator().manual_seed(1_000 * seed + epoch)
    order = get_length_grouped_indices(lengths[:, 0].tolist(), size, generator=generator)
    batches = [np.array(order[start : start + size]) for start in range(0, len(order), size)]
    return [batches[index] for index in torch.randperm(len(batches), generator=generator)]


if __name__ == "__main__":
    if sys.argv[1] == "peer":
        train_peer(json.loads(Path(sys.argv[2]).read_text()))
    else:
        switch_off(json.loads(sys.argv[2]))
        from seq2see.cli.command import main

        sys.exit(main(sys.argv[3:]))
