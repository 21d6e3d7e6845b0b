"""A teacher's translations as training text: sequence-level knowledge distillation (Kim and Rush 2016, section 3.2).

People say one thing in many ways, a trained model says it mostly in one, which a small model learns more easily.  Each
training pair therefore comes twice: as it is, and with the teacher's translation in the place of its target; with
several teachers once more for each, so that what most of them write is seen most (Freitag, Al-Onaizan and Sankaran 2017
distil several at once too, by one search in which all have a vote).
"""

from __future__ import annotations

import inspect
import unicodedata
from collections.abc import Iterable, Sequence
from contextlib import closing
from dataclasses import replace
from functools import partial
from itertools import chain, product
from pathlib import Path

import torch
from transformers import PreTrainedModel

from seq2see.errors import UserError
from seq2see.manifest import sha256
from ..modeling import Seq2SeeForConditionalGeneration
from ..modeling.loading import load_checkpoint, resolve_folder
from ..tokenizer.tokenization_seq2see import Seq2SeeTokenizer, load_tokenizer
from . import translation
from .cache import fingerprint, get_or_build
from .config import DataConfig
from .pairs import Corpus, Pair, PairWriter, StoredPairs, visible
from .progress import say

PART = 1_000  # pairs that one process translates at a time
DECIDES = ("config.json", "model.safetensors", "generation_config.json", "tokenizer.json")  # what a teacher writes


def with_teachers(corpus: Corpus, data: DataConfig, *, device: torch.device, begin: float = 0.0) -> Corpus:
    """The corpus, each training pair once more for each of `data.teachers`, with the target that this one writes, which
    searches as its generation_config says; where it writes nothing, the pair comes once less.

    Translations are kept beside the pairs, part by part, so that a run that was stopped goes on with them and
    processes that train together share the work, if each begins at another place (`begin`, from 0 to below 1).

    Raises UserError where a folder holds no model for these languages.
    """
    folders = [resolve_folder(teacher) for teacher in data.teachers]
    for folder, name in product(folders, DECIDES):
        if not (folder / name).is_file():
            raise UserError(f"data.teacher: {folder} has no {name}; give the folder of a trained Seq2See model")
    code = [Path(path).read_text("utf-8") for path in (__file__, inspect.getfile(translation))]
    keys = [fingerprint(code, PART, [sha256(folder / name) for name in DECIDES]) for folder in folders]
    pairs = corpus.train
    whole = pairs.folder / f"taught-{fingerprint(keys)}"
    if not whole.is_dir():
        teachers = [load_teacher(folder, data) for folder in folders]  # a wrong one is told before any has translated
        parts: list[Path] = []
        for key, folder, (teacher, tokenizer) in zip(keys, folders, teachers, strict=True):
            say(f"{folder} translates {len(pairs):,} pairs")
            parts += translated(pairs, key, teacher.to(device), tokenizer, begin=begin)
        get_or_build(whole, partial(join, pairs=pairs, parts=parts))
    return replace(corpus, train=StoredPairs(whole, source_language=data.source), untaught=pairs)


def translated(
    pairs: StoredPairs, key: str, teacher: PreTrainedModel, tokenizer: Seq2SeeTokenizer, *, begin: float
) -> list[Path]:
    """The folders, in order, of the parts that the teacher has translated."""
    starts = range(0, len(pairs), PART)
    first = int(begin * len(starts))
    for start in [*starts[first:], *starts[:first]]:
        part = pairs[start : start + PART]
        work = partial(translate_part, teacher=teacher, tokenizer=tokenizer, pairs=part)
        get_or_build(pairs.folder / f"taught-{key}-{start}", work)
        say(f"translated: pairs {start + 1:,} to {start + len(part):,} of {len(pairs):,}")
    return [pairs.folder / f"taught-{key}-{start}" for start in starts]


def load_teacher(folder: Path, data: DataConfig) -> tuple[PreTrainedModel, Seq2SeeTokenizer]:
    teacher = load_checkpoint(folder)
    if not isinstance(teacher, Seq2SeeForConditionalGeneration):
        raise UserError(f"data.teacher: {folder} is a {teacher.config.model_type} model; give a Seq2See model's folder")
    known = [tuple(pair) for pair in teacher.config.language_pairs or []]
    for target in data.targets:
        if (data.source, target) not in known:
            can = ", ".join(f"{a} to {b}" for a, b in known)
            raise UserError(f"data.teacher: {folder} translates {can}, not {data.source} to {target}", exit_code=2)
    return teacher, load_tokenizer(folder)


def translate_part(
    folder: Path, *, teacher: PreTrainedModel, tokenizer: Seq2SeeTokenizer, pairs: Sequence[Pair]
) -> None:
    written = translation.translate_pairs(teacher, tokenizer, pairs)
    with closing(PairWriter(folder)) as writer:
        for pair, text in zip(pairs, written, strict=True):
            text = unicodedata.normalize("NFC", text.strip())
            if visible(text):
                writer.add(replace(pair, target=text))


def join(folder: Path, *, pairs: StoredPairs, parts: Iterable[Path]) -> None:
    """The pairs as they are, and after them the teachers', one after another."""
    taught = (StoredPairs(part, source_language=pairs.source_language) for part in parts)
    with closing(PairWriter(folder)) as writer:
        for pair in chain(pairs, *taught):
            writer.add(pair)
