"""Teachers' translations as training text: sequence-level knowledge distillation (Kim and Rush 2016, section 3.2).

People say one thing in many ways, a trained model says it mostly in one, which a small model learns more easily.  Each
training pair therefore comes twice: as it is, and with the teacher's translation in the place of its target; with
several teachers once more for each, so that what most of them write is seen most (Freitag, Al-Onaizan and Sankaran 2017
distil several at once too, by one search in which all have a vote).

A teacher of the other direction writes sources: the pair comes once more with the target that a person wrote and a
source said in other words (back-translation, Sennrich, Haddow and Birch 2016, here of the training text itself; both
directions together are the data diversification of Nguyen, Joty, Wu and Aw 2020).
"""

from __future__ import annotations

import inspect
import unicodedata
from collections.abc import Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, product
from pathlib import Path

import torch
from transformers import PreTrainedModel

from seq2see.errors import UserError
from seq2see.manifest import sha256
from seq2see.modeling import Seq2SeeForConditionalGeneration
from seq2see.modeling.loading import load_checkpoint, resolve_folder
from seq2see.tokenizer.tokenization_seq2see import Seq2SeeTokenizer, load_tokenizer
from seq2see.training import translation
from seq2see.training.cache import fingerprint, made_once
from seq2see.training.config import DataConfig
from seq2see.training.pairs import Corpus, Pair, PairWriter, StoredPairs, visible
from seq2see.training.progress import say

PART = 1_000  # pairs that one process translates at a time
DECIDES = ("config.json", "model.safetensors", "generation_config.json", "tokenizer.json")  # what a teacher writes


@dataclass(frozen=True)
class Teacher:
    model: PreTrainedModel
    tokenizer: Seq2SeeTokenizer
    backward: bool  # from the corpus' target languages to its source language

    def rewrite(self, pairs: Sequence[Pair]) -> list[Pair]:
        """The pairs with what the teacher writes in the place of one side, without those where it writes nothing."""
        asked = [reversed_pair(pair) for pair in pairs] if self.backward else pairs
        written = translation.translate_pairs(self.model, self.tokenizer, asked)
        texts = [unicodedata.normalize("NFC", text.strip()) for text in written]
        return [
            replace(pair, source=text) if self.backward else replace(pair, target=text)
            for pair, text in zip(pairs, texts, strict=True)
            if visible(text)
        ]


def reversed_pair(pair: Pair) -> Pair:
    return Pair(pair.target, pair.source, pair.target_language, pair.source_language)


def with_teachers(corpus: Corpus, data: DataConfig, *, device: torch.device, begin: float = 0.0) -> Corpus:
    """The corpus, each training pair once more for each of `data.teachers`, with the target that this one writes, or
    with the source where it translates the other way.  It searches as its generation_config says; where it writes
    nothing, the pair comes once less.

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
        for key, folder, teacher in zip(keys, folders, teachers, strict=True):
            side = "targets back" if teacher.backward else "sources"
            say(f"{folder} translates {len(pairs):,} {side}")
            teacher.model.to(device)
            parts += translated(pairs, key, teacher, begin=begin)
        made_once(whole, partial(join, pairs=pairs, parts=parts))
    return replace(corpus, train=StoredPairs(whole, source_language=data.source), untaught=pairs)


def translated(pairs: StoredPairs, key: str, teacher: Teacher, *, begin: float) -> list[Path]:
    """The folders, in order, of the parts that the teacher has translated."""
    starts = range(0, len(pairs), PART)
    first = int(begin * len(starts))
    for start in [*starts[first:], *starts[:first]]:
        part = pairs[start : start + PART]
        work = partial(translate_part, teacher=teacher, pairs=part)
        made_once(pairs.folder / f"taught-{key}-{start}", work)
        say(f"translated: pairs {start + 1:,} to {start + len(part):,} of {len(pairs):,}")
    return [pairs.folder / f"taught-{key}-{start}" for start in starts]


def load_teacher(folder: Path, data: DataConfig) -> Teacher:
    """A teacher that knows both directions writes targets."""
    model = load_checkpoint(folder)
    if not isinstance(model, Seq2SeeForConditionalGeneration):
        raise UserError(f"data.teacher: {folder} is a {model.config.model_type} model; give a Seq2See model's folder")
    known = {tuple(pair) for pair in model.config.language_pairs or []}
    backward = not any((data.source, target) in known for target in data.targets)
    for target in data.targets:
        if ((target, data.source) if backward else (data.source, target)) not in known:
            can = ", ".join(f"{a} to {b}" for a, b in sorted(known))
            back = ", nor back" if backward else ""
            raise UserError(
                f"data.teacher: {folder} translates {can}, not {data.source} to {target}{back}", exit_code=2
            )
    return Teacher(model, load_tokenizer(folder), backward)


def translate_part(folder: Path, *, teacher: Teacher, pairs: Sequence[Pair]) -> None:
    with closing(PairWriter(folder)) as writer:
        for pair in teacher.rewrite(pairs):
            writer.add(pair)


def join(folder: Path, *, pairs: StoredPairs, parts: Iterable[Path]) -> None:
    """The pairs as they are, and after them the teachers', one after another."""
    taught = (StoredPairs(part, source_language=pairs.source_language) for part in parts)
    with closing(PairWriter(folder)) as writer:
        for pair in chain(pairs, *taught):
            writer.add(pair)
