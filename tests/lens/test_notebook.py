"""The notebook runs from its first cell to its last, on a small model, untrained."""

import ast
import json
from pathlib import Path

import pytest
import torch

from seq2see import Seq2SeeConfig, Seq2SeeForConditionalGeneration
from seq2see.storybook import generate
from seq2see.tokenizer import train_tokenizer

NOTEBOOK = Path(__file__).resolve().parents[2] / "docs" / "lens.ipynb"


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("run")
    texts = [text for pair in generate(train_size=1000).train for text in (pair.source, pair.target)]
    tokenizer = train_tokenizer(texts, vocab_size=2500, languages=["fr"])
    torch.manual_seed(0)
    model = Seq2SeeForConditionalGeneration(Seq2SeeConfig(
        vocab_size=len(tokenizer), d_model=16, encoder_layers=3, decoder_layers=3, encoder_attention_heads=2,
        decoder_attention_heads=2, encoder_ffn_dim=32, decoder_ffn_dim=32, language_pairs=[["en", "fr"]],
    ))  # fmt: skip
    model.generation_config.forced_bos_token_id = tokenizer.tag_id("fr")
    model.generation_config.max_length = 20
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def test_every_cell_runs(run, monkeypatch, capsys):
    monkeypatch.setenv("SEQ2SEE_RUN", str(run))
    cells = [cell for cell in json.loads(NOTEBOOK.read_text("utf-8"))["cells"] if cell["cell_type"] == "code"]
    assert len(cells) > 10
    space: dict[str, object] = {"__name__": "__main__"}
    for number, cell in enumerate(cells, start=1):
        tree = ast.parse("".join(cell["source"]))
        last = ast.Expression(tree.body.pop().value) if isinstance(tree.body[-1], ast.Expr) else None
        exec(compile(tree, f"cell {number}", "exec"), space)
        if last is not None:
            shown = eval(compile(last, f"cell {number}", "eval"), space)
            assert shown is not None or "print" in ast.dump(last)
    assert "<iframe" in space["trace"]._repr_html_()
    said = capsys.readouterr().out
    assert "True ['cross_attention'" in said and "at layer 0 the same: True" in said
