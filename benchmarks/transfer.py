"""How much does a pretrained model help a language with 2,700 pairs?  Fine-tunes English-French to Hindi, four ways.

    python benchmarks/transfer.py --start runs/tatoeba-en-fr --data en-hi.tsv --out FOLDER [--seeds 0 1 2]
    python benchmarks/transfer.py --quick          a few steps, on packaged data

| row | vocabulary | starts from |
| --- | --- | --- |
| `joint` | retrained on old and new text, as `seq2see train finetune-en-hi` does | the trained model |
| `bytes` | the old one, which encodes Hindi in bytes | the trained model |
| `scratch` | that of `joint` | random weights; same peak learning rate, or that of new models (`scratch, high peak`) |
| `joint, no remedies` | that of `joint` | the trained model; dropout, smoothing, decay and averaging off |

All are scored on the same test pairs, whose English sentences no run has seen with Hindi translations.  FOLDER keeps
the runs, which are reused, and gets `overfitting.png`: the loss on training and validation pairs, both without dropout
and smoothing, after each epoch of `joint` with and without remedies.  Losses are of the averaged weights where there
are any.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from _frame import arguments, end, show

from seq2see import Seq2SeeForConditionalGeneration, Seq2SeeTokenizer, load_checkpoint
from seq2see.training.config import load_config
from seq2see.training.corpora import load_corpus
from seq2see.training.pairs import Pair

RECIPE = "finetune-en-hi"
NO_REMEDIES = (
    "model.dropout=0", "training.label_smoothing_factor=0", "training.weight_decay=0", "training.ema_decay=0",
)  # fmt: skip
CURVES = {"joint": "with the remedies", "joint, no remedies": "without"}
SHOWN = 200  # training pairs, and maximum validation pairs, for the curves

Curve = dict[str, list[float]]  # of each part, nats per token after each epoch


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--start", type=Path, help="folder of the trained English-French model")
    parser.add_argument("--data", type=Path, help="table of English and Hindi")
    parser.add_argument("--out", type=Path, help="folder for the runs and the plot")
    parser.add_argument("--seeds", type=int, nargs="+", default=[0])
    args = parser.parse_args()
    if not args.quick and not (args.start and args.data and args.out):
        parser.error("expected --start, --data and --out, or --quick")
    with tempfile.TemporaryDirectory() as scratch:
        if args.quick:
            rows = measure(*miniature(Path(scratch)), Path(scratch), [0], ["training.max_steps=3"])
        else:
            rows = measure(args.start, args.data, args.out, args.seeds, [])
    show(rows)
    end("transfer", rows)


def miniature(folder: Path) -> tuple[Path, Path]:
    """A starting model and a table from packaged data: storybook and its Hindi idioms."""
    from seq2see.storybook import generate

    train("storybook", folder / "start", "training.max_steps=3", "evaluation.num_beams=1", "evaluation.max_length=20",
          "training.load_best_model_at_end=false")  # fmt: skip
    idioms = [pair for pair in generate(train_size=1000).idioms if pair.target_language == "hi"]
    lines = [f"{pair.source}\t{pair.target}\n" for pair in idioms]
    (folder / "hi.tsv").write_text("en\thi\n" + "".join(lines), "utf-8")
    return folder / "start", folder / "hi.tsv"


def measure(start: Path, data: Path, out: Path, seeds: Sequence[int], extra: Sequence[str]) -> list[dict[str, Any]]:
    """Train every row with every seed; a row of means over the seeds each, with the scores of each."""
    found: dict[str, list[dict[str, Any]]] = {}

    def run(name: str, seed: int, begin: Path, *overrides: str) -> None:
        output = folder_of(out, seed, name)
        if not (output / "metrics.json").is_file():
            train(RECIPE, output, f"model.init_from={begin}", "training.save_total_limit=null", f"data.path={data}",
                  f"training.seed={seed}", *extra, *overrides)  # fmt: skip
        found.setdefault(name, []).append(figures(output))

    for seed in seeds:
        folder = out / f"seed-{seed}"
        run("joint", seed, start)
        run("joint, no remedies", seed, start, *NO_REMEDIES)
        fresh = forgotten(folder_of(out, seed, "joint"), folder / "start-scratch")
        run("scratch", seed, fresh)
        run("scratch, high peak", seed, fresh, "training.learning_rate=3e-3")
        run("bytes", seed, spelling_in_bytes(start, folder / "start-bytes"))
    corpus = load_corpus(load_config(RECIPE, [f"data.path={data}"]).data)
    parts = {"training": list(corpus.train)[:: -(-len(corpus.train) // SHOWN)], "validation": corpus.val[:SHOWN]}
    curves = {name: learning_curve(folder_of(out, seeds[0], name), parts) for name in CURVES}
    draw(out / "overfitting.png", curves)
    means = ("chrf", "bleu", "tokens", "seconds")
    return [
        {"name": name, **runs[0], **{key: round(statistics.mean(run[key] for run in runs), 2) for key in means},
         "runs": [[run["chrf"], run["bleu"]] for run in runs], "curve": curves.get(name)}
        for name, runs in found.items()
    ]  # fmt: skip


def folder_of(out: Path, seed: int, name: str) -> Path:
    return out / f"seed-{seed}" / name.replace(", ", "-").replace(" ", "-")


def train(recipe: str, output: Path, *overrides: str) -> None:
    command = [sys.executable, "-m", "seq2see", "train", recipe, f"training.output_dir={output}", *overrides]
    subprocess.run([*command, "training.disable_tqdm=true"], check=True, stdout=subprocess.DEVNULL)


def spelling_in_bytes(start: Path, folder: Path) -> Path:
    """The trained model with a tag for Hindi, whose embedding is the mean of the other tags', and no new tokens."""
    model, tokenizer = load_checkpoint(start), Seq2SeeTokenizer.from_pretrained(start)
    tags = [tokenizer.tag_id(language) for language in tokenizer.languages]
    embedding_VD = model.get_input_embeddings().weight.data
    embedding_VD[tokenizer.add_language("hi")] = embedding_VD[tags].mean(0)
    return saved(model, tokenizer, folder)


def forgotten(run: Path, folder: Path) -> Path:
    """An untrained model with the same shape and vocabulary."""
    torch.manual_seed(0)
    model = Seq2SeeForConditionalGeneration(load_checkpoint(run).config)
    return saved(model, Seq2SeeTokenizer.from_pretrained(run), folder)


def saved(model: Any, tokenizer: Any, folder: Path) -> Path:
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def figures(run: Path) -> dict[str, Any]:
    metrics = json.loads((run / "metrics.json").read_text("utf-8"))
    scores, training = metrics["evaluation"]["test"], metrics["training"]
    tokenizer = Seq2SeeTokenizer.from_pretrained(run)
    corpus = load_corpus(load_config(str(run / "run.yaml")).data)
    tokens = statistics.mean(len(tokenizer.encode_source(pair.target)) for pair in corpus.test)
    return {
        "chrf": scores["chrf"], "bleu": scores["bleu"], "test_pairs": scores["pairs"], "pairs": training["pairs"],
        "tokens": tokens, "seconds": training["seconds"], "steps": training["steps"],
        "signatures": [scores["chrf_signature"], scores["bleu_signature"]],
    }  # fmt: skip


def learning_curve(run: Path, parts: Mapping[str, Sequence[Pair]]) -> Curve:
    tokenizer = Seq2SeeTokenizer.from_pretrained(run)
    folders = sorted(run.glob("checkpoint-*"), key=lambda folder: int(folder.name.rpartition("-")[2]))
    curve: Curve = {name: [] for name in parts}
    for folder in folders:
        model = load_checkpoint(folder).eval()
        for name, pairs in parts.items():
            curve[name].append(loss(model, tokenizer, pairs))
    return curve


@torch.no_grad()
def loss(model: Any, tokenizer: Seq2SeeTokenizer, pairs: Sequence[Pair]) -> float:
    total, count = 0.0, 0
    for pair in pairs:
        source, labels = tokenizer.encode_source(pair.source), tokenizer.encode_target(pair.target, language="hi")
        logits_TV = model(input_ids=torch.tensor([source]), labels=torch.tensor([labels])).logits[0, 1:]  # not the tag
        log_probs = logits_TV.log_softmax(-1).gather(1, torch.tensor(labels[1:])[:, None])
        total, count = total - float(log_probs.sum()), count + len(log_probs)
    return total / count


def draw(path: Path, curves: Mapping[str, Curve]) -> None:
    from matplotlib.figure import Figure

    from seq2see.training.curve import BLUE, ORANGE

    figure = Figure(figsize=(8, 3.6), dpi=150, layout="constrained")
    for axis, name in zip(figure.subplots(1, 2, sharey=True), CURVES, strict=True):
        for (part, losses), colour in zip(curves[name].items(), (BLUE, ORANGE), strict=True):
            axis.plot(range(1, len(losses) + 1), losses, color=colour, label=part)
        axis.set_title(CURVES[name], loc="left")
        axis.set_xlabel("epochs")
        axis.set_ylim(bottom=0)
        axis.spines[["top", "right"]].set_visible(False)
        axis.legend(frameon=False)
    figure.axes[0].set_ylabel("loss per token (nats)")
    figure.savefig(path, metadata={"Software": None})


if __name__ == "__main__":
    main()
