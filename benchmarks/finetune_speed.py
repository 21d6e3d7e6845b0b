"""Fine-tuning speed on a CPU: `Seq2SeeTrainer` and the stock `Seq2SeqTrainer` on one random Marian of OPUS-MT's size.

    python benchmarks/finetune_speed.py                    74 M parameters, sentences as long as people's
    python benchmarks/finetune_speed.py --quick            one round of few updates

Equal: model, pairs, precision, optimizer, learning rate, label smoothing, pairs in an update on the mean.  The stock
trainer groups pairs by length too, by source lengths alone; ours fills batches with tokens.  Contenders take turns,
each in a fresh process; the clock runs from the end of one update to the end of a later one.  Memory is the peak
resident memory.
"""

from __future__ import annotations

import json
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from typing import Any

from _frame import arguments, end, show, turns

SHAPE = {
    "vocab_size": 58_101, "d_model": 512, "encoder_layers": 6, "decoder_layers": 6, "encoder_attention_heads": 8,
    "decoder_attention_heads": 8, "encoder_ffn_dim": 2048, "decoder_ffn_dim": 2048, "pad_token_id": 58_100,
    "eos_token_id": 0, "decoder_start_token_id": 58_100, "forced_eos_token_id": None, "scale_embedding": True,
    "max_position_embeddings": 512, "activation_function": "swish",
}
MAX_TOKENS, WARM_UP, WANTED = 2048, 2, 1.3
CONTENDERS = ("ours", "stock")


def rows(count: int) -> list[dict[str, list[int]]]:
    """Pairs of random tokens, of lengths that vary as those of sentences do: 27 tokens on the mean."""
    import numpy as np

    rng = np.random.default_rng(0)
    sources = np.clip(rng.lognormal(3.1, 0.6, count), 3, 200).astype(int)
    targets = np.clip(sources * rng.lognormal(0, 0.2, count), 3, 200).astype(int)
    ids = [[[*rng.integers(2, 58_000, length - 1).tolist(), 0] for length in side] for side in (sources, targets)]
    return [{"input_ids": source, "labels": target} for source, target in zip(*ids, strict=True)]


def train(contender: str, steps: int) -> dict[str, float]:
    """Target tokens a second and MiB of one contender, in this process."""
    import datasets
    import torch
    import transformers

    from seq2see.training.arguments import Seq2SeeTrainingArguments
    from seq2see.training.batching import EncodedRows, plan_epoch
    from seq2see.training.trainer import Seq2SeeTrainer

    data = datasets.Dataset.from_list(rows(4000))
    batches = plan_epoch(EncodedRows(data.with_format("arrow")[:]).lengths(), max_tokens=MAX_TOKENS, seed=0, epoch=0)
    torch.manual_seed(0)
    model = transformers.MarianMTModel(transformers.MarianConfig(**SHAPE))
    seen, times = list[int](), dict[int, float]()

    class Clock(transformers.TrainerCallback):
        def on_step_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
            times[state.global_step] = time.perf_counter()

    with tempfile.TemporaryDirectory() as folder:
        common: dict[str, Any] = {
            "output_dir": folder, "max_steps": WARM_UP + steps, "learning_rate": 2e-5, "use_cpu": True,
            "lr_scheduler_type": "linear", "warmup_steps": 10, "save_strategy": "no", "report_to": "none",
            "label_smoothing_factor": 0.1, "disable_tqdm": True, "optim": "adamw_torch_fused", "logging_strategy": "no",
        }
        ours = Seq2SeeTrainingArguments(
            **common, max_tokens=MAX_TOKENS, load_best_model_at_end=False, eval_strategy="no")
        if contender == "ours":
            trainer: Any = Seq2SeeTrainer(model, ours, train_dataset=data)
            collate = trainer.collate
            count = [int(sum(len(data[int(i)]["labels"]) for i in batch)) for batch in batches[: WARM_UP + steps]]
            seen.extend(count)
        else:
            collate = transformers.DataCollatorForSeq2Seq(_Padding(), model=model)

            def counted(items: list[dict[str, list[int]]]) -> Any:
                seen.append(sum(len(item["labels"]) for item in items))
                return collate(items)

            stock = transformers.Seq2SeqTrainingArguments(
                **common, bf16=ours.bf16, train_sampling_strategy="group_by_length",
                per_device_train_batch_size=round(len(data) / len(batches)))
            trainer = transformers.Seq2SeqTrainer(model, stock, data_collator=counted, train_dataset=data)
        trainer.add_callback(Clock())
        trainer.train()
    tokens = sum(seen[WARM_UP : WARM_UP + steps])
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {"tokens_per_second": tokens / (times[WARM_UP + steps] - times[WARM_UP]), "memory_mib": memory}


class _Padding:
    """What `DataCollatorForSeq2Seq` needs of a tokenizer."""

    padding_side = "right"

    def pad(self, items: list[dict[str, list[int]]], **_: Any) -> Any:
        import torch
        from transformers import BatchEncoding

        longest = max(len(item["input_ids"]) for item in items)
        fill = SHAPE["pad_token_id"]
        padded = [[*item["input_ids"], *[fill] * (longest - len(item["input_ids"]))] for item in items]
        mask = [[1] * len(item["input_ids"]) + [0] * (longest - len(item["input_ids"])) for item in items]
        return BatchEncoding({"input_ids": torch.tensor(padded), "attention_mask": torch.tensor(mask)})


def measure(contender: str, steps: int) -> dict[str, float]:
    command = [sys.executable, __file__, "--one", contender, "--steps", str(steps)]
    output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return dict(json.loads(output.strip().splitlines()[-1]))


def main(argv: list[str]) -> None:
    parser = arguments(__doc__)
    parser.add_argument("--steps", type=int, default=20, help="timed updates")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--one", choices=CONTENDERS, help="train one contender here, and print its figures as JSON")
    args = parser.parse_args(argv)
    if args.quick:
        args.steps, args.rounds = 5, 1
    if args.one:
        print(json.dumps(train(args.one, args.steps)))
        return
    runs: dict[str, list[dict[str, float]]] = {name: [] for name in CONTENDERS}
    for number, name in turns(CONTENDERS, args.rounds):
        runs[name].append(measure(name, args.steps))
        print(f"round {number + 1}: {name}, {runs[name][-1]}", file=sys.stderr)
    table = [{"name": name, **{key: round(statistics.median(run[key] for run in found), 1) for key in found[0]}}
             for name, found in runs.items()]
    pairs = [mine["tokens_per_second"] / theirs["tokens_per_second"] for mine, theirs in
             zip(*runs.values(), strict=True)]
    ratios = [{"name": "fine-tuning OPUS-MT's size", "ours": table[0]["tokens_per_second"],
               "peer": table[1]["tokens_per_second"], "unit": "target tokens/s", "wanted": WANTED,
               "ratio": round(statistics.median(pairs), 3), "low": round(min(pairs), 3), "high": round(max(pairs), 3)}]
    show([*table, *ratios])
    end("finetune_speed", ratios, contenders=table, steps=args.steps, rounds=args.rounds)


if __name__ == "__main__":
    main(sys.argv[1:])
