"""Write configs/reference.yaml, every key with its default and a comment: `python -m seq2see.training.reference`."""

import json
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path

from .config import DataConfig, EvaluationConfig, GenerationSection, ModelConfig, TokenizerConfig, TrainingFields

SECTIONS = {
    "data": DataConfig, "tokenizer": TokenizerConfig, "model": ModelConfig, "training": TrainingFields,
    "evaluation": EvaluationConfig, "generation": GenerationSection,
}
HEAD = """\
# All settings with their defaults. A recipe contains only the settings that differ. The command line overrides both:
#   seq2see train RECIPE section.key=value
# Generated: python -m seq2see.training.reference
"""
COMMENTS = 42  # the column where they begin


def reference() -> str:
    return HEAD + "".join(f"{line}\n" for line in lines())


def lines() -> Iterator[str]:
    for section, cls in SECTIONS.items():
        note = "also most fields of transformers' Seq2SeqTrainingArguments" if section == "training" else ""
        yield f"{section}:{' ' * (COMMENTS - len(section) - 1)}# {note}" if note else f"{section}:"
        for one in fields(cls):
            yield f"{f'  {one.name}: {spelled(one.default)}':<{COMMENTS}}# {one.metadata['description']}"


def spelled(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value)


if __name__ == "__main__":
    path = Path(__file__).resolve().parent.parent / "configs" / "reference.yaml"
    path.write_text(reference(), "utf-8")
    print(path)
