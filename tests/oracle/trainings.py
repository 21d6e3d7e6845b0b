"""Section: the weights after 50 steps of three recipes, what is said on the way, and the files that are left.

What is measured at the end, on as many sentences as the clock allows, is left out.
"""

import json
from typing import Any

from side import Records, Side, tensors

BRIEF = ["generation.num_beams=1", "generation.max_length=8"]
SMALL = [*BRIEF, "data.val_fraction=0.1", "training.max_tokens=256"]
TABLE = ["tokenizer.vocab_size=500", "model.encoder_layers=2", "model.decoder_layers=2", "training.warmup_steps=10"]
MEASURED = ("replay.json.gz", "alignment.json", "trust.json", "heads.json")
UNSTEADY = ("seconds", "runtime", "per_second", "elapsed", "memory", "_time", "speed")


def trained(side: Side, recipe: str, name: str, *settings: str, steps: int = 50) -> Records:
    """What a training says, and the run it leaves."""
    run = side.scratch / name
    settings = (f"training.max_steps={steps}", f"training.output_dir={run}", *settings)
    said = side.call("train", recipe, *settings)
    yield f"{name}/says", said | {"err": said["err"].partition("measuring ")[0]}
    yield f"{name}/weights", tensors(run / "model.safetensors")
    metrics = json.loads((run / "metrics.json").read_text("utf-8"))
    metrics["training"].pop("kept_step", None)  # which an earlier side does not tell
    yield f"{name}/metrics", steady(metrics)
    compared = {path: text for path, text in side.files(run).items() if path not in ("metrics.json", *MEASURED)}
    yield f"{name}/files", compared


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
