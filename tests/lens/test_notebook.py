"""The notebook runs from its first cell to its last, and what it says and shows is what it said and showed."""

import importlib.util
import json
import re
from html import unescape
from pathlib import Path

import pytest
import torch

from seq2see import Seq2SeeConfig, Seq2SeeForConditionalGeneration
from seq2see.storybook import generate
from seq2see.tokenizer import train_tokenizer

DOCS = Path(__file__).resolve().parents[2] / "docs"
NOTEBOOK = DOCS / "lens.ipynb"
MOST = 500_000  # bytes of the notebook, outputs included
NUMBER = re.compile(r"[-+\u2212]?\d+(?:\.\d+)?")
SPEC = importlib.util.spec_from_file_location("run_notebook", DOCS / "run_notebook.py")
run_notebook = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(run_notebook)


def cells():
    return [cell for cell in json.loads(NOTEBOOK.read_text("utf-8"))["cells"] if cell["cell_type"] == "code"]


def ran():
    """The outputs of every cell, and the names that they leave."""
    space = {"__name__": "__main__"}
    return [run_notebook.outputs("".join(cell["source"]), number, space)
            for number, cell in enumerate(cells(), start=1)], space


def text_of(outputs):
    return "".join("".join(one.get("text") or one["data"]["text/plain"]) for one in outputs)


@pytest.mark.docs
def test_it_says_what_it_said_and_shows_itself_offline():
    """On the packaged model; numbers may differ as much as processors do."""
    found, space = ran()
    for number, (cell, outputs) in enumerate(zip(cells(), found, strict=True), start=1):
        kept, now = text_of(cell["outputs"]), text_of(outputs)
        assert NUMBER.sub("#", now) == NUMBER.sub("#", kept), f"cell {number}: python docs/run_notebook.py"
        for one, other in zip(NUMBER.findall(now), NUMBER.findall(kept), strict=True):
            assert float(one) == pytest.approx(float(other), rel=0.02, abs=0.03), f"cell {number}"
        assert outputs and [list(one.get("data", ())) for one in outputs] == [list(one.get("data", ()))
                                                                              for one in cell["outputs"]]
    for name in ("trace", "compared"):
        page = unescape(space[name]._repr_html_())
        assert page.startswith("<iframe") and "default-src 'none'" in page
        assert not re.findall(r'<(?:script|link|img)[^>]*(?:src|href)="?(?!"?(?:data:|\$\{))|@import', page)
    assert NOTEBOOK.stat().st_size <= MOST


@pytest.mark.long
def test_every_cell_runs_with_another_model(tmp_path, monkeypatch):
    """A small one, untrained."""
    texts = [text for pair in generate(train_size=1000).train for text in (pair.source, pair.target)]
    tokenizer = train_tokenizer(texts, vocab_size=2500, languages=["fr"])
    torch.manual_seed(0)
    model = Seq2SeeForConditionalGeneration(Seq2SeeConfig(
        vocab_size=len(tokenizer), d_model=16, encoder_layers=3, decoder_layers=3, encoder_attention_heads=2,
        decoder_attention_heads=2, encoder_ffn_dim=32, decoder_ffn_dim=32, language_pairs=[["en", "fr"]],
    ))
    model.generation_config.forced_bos_token_id = tokenizer.tag_id("fr")
    model.generation_config.max_length = 20
    model.save_pretrained(tmp_path)
    tokenizer.save_pretrained(tmp_path)
    monkeypatch.setenv("SEQ2SEE_RUN", str(tmp_path))
    assert all(ran()[0])
