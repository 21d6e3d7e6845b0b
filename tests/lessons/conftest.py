"""A small untrained model in a run's folder, and a workbench around it, for whatever must run and need not be right."""

import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from seq2see import Seq2SeeConfig, Seq2SeeForConditionalGeneration
from seq2see.lessons.workbench import Workbench
from seq2see.storybook import StoryPair, generate
from seq2see.tokenizer import train_tokenizer


@pytest.fixture(autouse=True, scope="session")
def written_once() -> Iterator[None]:
    """Workbenches of one seed and budget share their corpus, which takes a second to write."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("seq2see.lessons.workbench.generate", cache(generate))
        yield


@pytest.fixture(scope="session")
def pairs(once: Any) -> tuple[StoryPair, ...]:
    return once("few-stories", lambda: generate(train_size=300).train)


@pytest.fixture(scope="session")
def run(pairs: tuple[StoryPair, ...], tmp_path_factory: pytest.TempPathFactory) -> Path:
    return made(tmp_path_factory.mktemp("lessons") / "run", pairs, layers=2, heads=4)


@pytest.fixture(scope="session")
def smallest(pairs: tuple[StoryPair, ...], tmp_path_factory: pytest.TempPathFactory) -> Workbench:
    """A workbench around a model of one layer and one head."""
    return Workbench(made(tmp_path_factory.mktemp("smallest") / "run", pairs, layers=1, heads=1), quick=True,
                     shelf=tmp_path_factory.mktemp("shelf"))


def made(folder: Path, pairs: tuple[StoryPair, ...], *, layers: int, heads: int) -> Path:
    """Random weights wide enough that attention is neither uniform nor one-hot, and a tokenizer of the corpus."""
    import torch

    tokenizer = train_tokenizer([text for pair in pairs for text in (pair.source, pair.target)], vocab_size=700,
                                languages=["fr"])
    torch.manual_seed(0)
    model = Seq2SeeForConditionalGeneration(Seq2SeeConfig(
        vocab_size=len(tokenizer), d_model=32, encoder_layers=layers, decoder_layers=layers,
        encoder_attention_heads=heads, decoder_attention_heads=heads, encoder_ffn_dim=32, decoder_ffn_dim=32,
        language_pairs=[["en", "fr"]],
    ))
    with torch.no_grad():
        for weight in model.parameters():
            if weight.dim() > 1:
                weight.normal_(std=0.3)
    model.generation_config.update(forced_bos_token_id=tokenizer.tag_id("fr"), max_length=24)
    model.eval().save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    (folder / "metrics.json").write_text(json.dumps({
        "evaluation": {"test": {"pairs": 2, "exact_match": 50.0}}, "training": {"seconds": 6.0},
    }))
    (folder / "run.yaml").write_text("data: {path: storybook, source: en, target: fr}\ntraining: {seed: 0}\n")
    return folder


@pytest.fixture(scope="session")
def bench(run: Path, tmp_path_factory: pytest.TempPathFactory) -> Workbench:
    return Workbench(run, quick=True, shelf=tmp_path_factory.mktemp("shelf"))
