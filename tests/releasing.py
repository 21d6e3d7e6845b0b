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
    "data.val_fraction=0.1", "data.varied=0",
]  # fmt: skip


def finished_run(folder: Path) -> Path:
    """A run as training leaves it, from data that are named by their absolute paths."""
    data = folder / "data"
    data.mkdir(parents=True)
    for target, words in WORDS.items():
        pairs = [f"The {a} cat sees {n} boats.\tX {b} {n}." for a, b in zip(WORDS["fr"], words, strict=True)
                 for n in range(2, 22)]
        (data / f"{target}.tsv").write_text("\n".join([f"en\t{target}", *pairs]) + "\n", "utf-8")
    corpora = json.dumps([{"path": f"{target}.tsv", "target": target} for target in WORDS])
    settings = [f"data.corpora={corpora}", f"data.folder={data}", f"training.output_dir={folder / 'run'}"]
    return run_experiment(load_config("everyday", [*SMALL, *settings]))


def released(run: Path, home: Path, *names: str) -> Path:
    """These models of the package, made from the run, in a folder of their own."""
    home.mkdir(parents=True, exist_ok=True)
    for name in names:
        release(run, name, commit=COMMIT, home=home)
    return home
