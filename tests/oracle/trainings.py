"""Section: the weights after 50 steps of three recipes, what is said on the way, and the files that are left."""

import json
from typing import Any

from side import Records, Side, tensors

BRIEF = ["evaluation.num_beams=1", "evaluation.max_length=8"]
SMALL = [*BRIEF, "data.val_fraction=0.1", "training.max_tokens=256"]
TABLE = ["tokenizer.vocab_size=500", "model.encoder_layers=2", "model.decoder_layers=2", "training.warmup_steps=10"]
UNSTEADY = ("seconds", "runtime", "per_second", "elapsed", "memory", "_time", "speed")


def trained(side: Side, recipe: str, name: str, *settings: str, steps: int = 50) -> Records:
    """What a training says, and the run it leaves."""
    run = side.scratch / name
    settings = (f"training.max_steps={steps}", f"training.output_dir={run}", *settings)
    yield f"{name}/says", side.call("train", recipe, *settings)
    yield f"{name}/weights", tensors(run / "model.safetensors")
    yield f"{name}/metrics", steady(json.loads((run / "metrics.json").read_text("utf-8")))
    yield f"{name}/files", {path: text for path, text in side.files(run).items() if path != "metrics.json"}


def steady(value: Any) -> Any:
    """The same without what is measured by a clock."""
    if isinstance(value, dict):
        return {key: steady(one) for key, one in value.items() if not any(word in key for word in UNSTEADY)}
    return list(map(steady, value)) if isinstance(value, list) else value


def record(side: Side) -> Records:
    table = f"data.path={side.made / 'pairs.tsv'}"
    yield from trained(side, "storybook", "storybook", *BRIEF)
    yield from trained(side, "multi30k-en-fr", "table", table, *SMALL, *TABLE)
    yield from trained(side, "finetune", "finetuned", table, *SMALL, f"model.init_from={side.run}")
