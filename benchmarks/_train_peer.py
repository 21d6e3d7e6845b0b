"""The peer of `train_speed.py`: MarianMTModel with the stock Seq2SeqTrainer, in a process of its own.

    python _train_peer.py JOB.json                   under torchrun too
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import datasets
import transformers

from seq2see.tokenizer.tokenization_seq2see import Seq2SeeTokenizer


class Announce(transformers.TrainerCallback):
    def on_step_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        if state.is_world_process_zero:
            print(f"step {state.global_step}/{state.max_steps}", flush=True)


def train(job: dict[str, Any]) -> None:
    """Announces each update, and records the target tokens of all."""
    arguments = transformers.Seq2SeqTrainingArguments(
        **job["training"], train_sampling_strategy="group_by_length", use_cpu=True, save_strategy="no",
        logging_strategy="no", report_to="none", disable_tqdm=True, ddp_find_unused_parameters=False,
        dataloader_pin_memory=False,
    )
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


if __name__ == "__main__":
    train(json.loads(Path(sys.argv[1]).read_text()))
