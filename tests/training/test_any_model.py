"""`seq2see train finetune model.init_from=ANY`: each family of transformers learns its pairs by the command line, and
plain transformers loads what is saved and translates the same."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from transformers import (
    AutoModelForSeq2SeqLM,
    AutoTokenizer,
    ByT5Tokenizer,
    MBartTokenizer,
    PegasusConfig,
    PegasusForConditionalGeneration,
    T5Config,
    T5ForConditionalGeneration,
)

from seq2see import Translator
from seq2see.cli.command import main
from ..tiny import foreign_model, foreign_tokenizer, m2m_100, mbart_50, nllb, opus_mt, save, spread_out, t5
from .conftest import last_error, toy_pairs

LEARN = [
    "training.max_tokens=600", "training.use_cpu=true", "training.ema_decay=0", "training.patience=0",
    "training.label_smoothing_factor=0", "training.learning_rate=0.01", "training.warmup_steps=20",
    "training.lr_scheduler_type=linear", "evaluation.eval_samples=10", "model.dropout=0", "data.val_fraction=0.02",
    "training.eval_strategy=no", "training.save_strategy=no", "training.load_best_model_at_end=false",
]  # fmt: skip


def short_pairs(count: int) -> list[tuple[str, str]]:
    return [(pair.source, pair.target) for pair in toy_pairs(20 * count) if len(pair.source.split()) <= 3][:count]


@pytest.fixture(scope="module")
def pairs() -> list[tuple[str, str]]:
    return short_pairs(200)


@pytest.fixture(scope="module")
def table(pairs, tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("data") / "mine.csv"
    path.write_text("en,fr\n" + "".join(f"{source},{target}\n" for source, target in pairs), "utf-8")
    return path
