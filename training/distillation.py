"""`seq2see distil`: a data set of training pairs and teachers' translations of them (Kim and Rush 2016, section 3.2).

People say one thing in many ways, a trained model says it mostly in one, which a small model learns more easily.  Each
training pair is therefore written twice: as it is, and with the teacher's translation as its target; with several
teachers once for each, so that what most of them write is seen most (Freitag, Al-Onaizan and Sankaran 2017).
"""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import torch
from transformers import PreTrainedModel

from seq2see.atomic import atomic_write
from seq2see.errors import UserError
from seq2see.manifest import sha256
from ..modeling.loading import load_checkpoint, resolve_folder
from ..tokenizer.tokenization_seq2see import Seq2SeeTokenizer, load_tokenizer
from ..translate import Translator
from .cache import cache_folder, fingerprint, get_or_build
from .config import DataConfig
from .pairs import Pair, load_corpus, visible
from .progress import report
from .translation import translate_pairs

PART = 1_000  # pairs that are translated and kept at a time
DECIDES = ("config.json", "model.safetensors", "generation_config.json", "tokenizer.json")  # what a teacher writes


def distil(teachers: Sequence[str], data: DataConfig, out: Path, *, device: torch.device) -> None:
    """Write `train.jsonl`, `val.jsonl` and, where there are test pairs, `test.jsonl` into the folder `out`.

    A teacher searches as its generation_config says; where it writes nothing, the pair comes once less.  Translations
    are kept in the cache, part by part, so that a command that was stopped goes on with them.

    Raises UserError where a folder holds no model for these languages.
    """
    if len(data.targets) != 1:
        raise UserError(f"data.target is {data.targets}, expected one language; run the command once for"
                        " each", exit_code=2)
    if out.exists():
        raise UserError(f"{out} already exists; give another folder with --out", exit_code=2)
    loaded = [load_teacher(resolve_folder(name), data) for name in teachers]  # before any has translated
    corpus = load_corpus(data)
    written = (translated(list(corpus.train), folder, model.to(device), tokenizer)
               for folder, model, tokenizer in loaded)
    parts: dict[str, Iterable[Pair]] = {"val": corpus.val, "test": corpus.test}
    parts["train"] = [*corpus.train, *(pair for pairs in written for pair in pairs)]
    out.mkdir(parents=True)
    for split, pairs in parts.items():
        rows = [json.dumps({data.source: pair.source, data.targets[0]: pair.target}, ensure_ascii=False)
                for pair in pairs]
        if rows:
            atomic_write(out / f"{split}.jsonl", "".join(f"{row}\n" for row in rows))
            report(f"{out / split}.jsonl: {len(rows):,} pairs")


def load_teacher(folder: Path, data: DataConfig) -> tuple[Path, PreTrainedModel, Seq2SeeTokenizer]:
    teacher, tokenizer = load_checkpoint(folder), load_tokenizer(folder)
    known = [tuple(pair) for pair in getattr(teacher.config, "language_pairs", None) or []]
    if (data.source, data.targets[0]) not in known:
        can = ", ".join(f"{a} to {b}" for a, b in known) or "unknown languages"
        raise UserError(f"{folder} translates {can}, not {data.source} to {data.targets[0]}", exit_code=2)
    return folder, teacher, tokenizer


def translated(
    pairs: Sequence[Pair], folder: Path, teacher: PreTrainedModel, tokenizer: Seq2SeeTokenizer
) -> Iterator[Pair]:
    """The pairs with the teacher's translations as their targets."""
    decides = [sha256(folder / name) for name in DECIDES]

    def write(kept: Path, part: Sequence[Pair]) -> None:
        written = translate_pairs(Translator(teacher, tokenizer), part, raw=True)
        texts = [unicodedata.normalize("NFC", text.strip()) for text in written]
        (kept / "texts.json").write_text(json.dumps(texts), "utf-8")

    for start in range(0, len(pairs), PART):
        part = pairs[start : start + PART]
        key = fingerprint(decides, [(pair.source, pair.target_language) for pair in part])
        kept = get_or_build(cache_folder() / f"distilled-{key}", partial(write, part=part))
        report(f"{folder} translated pairs {start + 1:,} to {start + len(part):,} of {len(pairs):,}")
        texts = json.loads((kept / "texts.json").read_text("utf-8"))
        yield from (replace(pair, target=text) for pair, text in zip(part, texts, strict=True) if visible(text))
