"""A finished run of a toy language, into French and German, and a model of the package that is made from it."""

import json
from pathlib import Path

from seq2see.measures.release import release
from seq2see.training.config import load_config
from seq2see.training.run import run_experiment

WORDS = {"fr": ["rouge", "énorme", "triste", "jeune", "calme"], "de": ["rot", "riesig", "traurig", "jung", "ruhig"]}
COMMIT = "0123456789abcdef0123456789abcdef01234567"
SMALL = [
    "tokenizer.vocab_size=400", "model.d_model=16", "model.encoder_layers=1", "model.decoder_layers=1",
    "model.encoder_attention_heads=2", "model.decoder_attention_heads=2", "model.encoder_ffn_dim=32",
    "model.decoder_ffn_dim=32", "model.max_position_embeddings=256", "generation.max_length=24",
    "evaluation.eval_samples=4",
    "training.max_steps=8", "training.max_tokens=300", "training.guided_weight=0", "training.use_cpu=true",
    "training.guided_links=null", "data.val_fraction=0.1",
]


def finished_run(folder: Path) -> Path:
    """A run as training leaves it, from data that are named by their absolute paths."""
    data = folder / "data"
    data.mkdir(parents=True)
    pairs = [{"en": f"The {a} cat sees {n} boats.", target: f"X {b} {n}."} for target, words in WORDS.items()
             for a, b in zip(WORDS["fr"], words, strict=True) for n in range(2, 22)]
    (data / "pairs.jsonl").write_text("".join(json.dumps(pair) + "\n" for pair in pairs), "utf-8")
    settings = [f"data.path={data / 'pairs.jsonl'}", "data.target=[fr, de]", f"training.output_dir={folder / 'run'}"]
    return run_experiment(load_config("everyday", [*SMALL, *settings]))


def released(run: Path, home: Path, *names: str) -> Path:
    """These models of the package, made from the run, in a folder of their own."""
    home.mkdir(parents=True, exist_ok=True)
    for name in names:
        release(run, name, commit=COMMIT, home=home)
    return home
