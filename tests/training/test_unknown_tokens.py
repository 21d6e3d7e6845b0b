"""What the tokenizer cannot write is said before it is trained on, and by the training."""

import re

import pytest

from seq2see.training.batching import EncodedPairs
from seq2see.training.config import load_config
from seq2see.training.foreign import ForeignStart
from seq2see.training.pairs import Pair
from seq2see.training.unknown_tokens import unknown_remark
from .foreign_models import FAMILIES, PAIRS, tune, write_table

ODD = [("The cat", "Le időt"), ("The box", "Le {a}"), ("The bag", "Le chat"), ("The cat", "時間")]


@pytest.mark.few(1)
@pytest.mark.parametrize("dry", [True, False])
def test_a_training_says_which_characters_are_lost(dry, tmp_path, capsys):
    base = FAMILIES["marian"](tmp_path / "base")
    data = write_table(tmp_path / "mine.csv", pairs=[*PAIRS, *ODD])
    assert tune(base, data, tmp_path / "run", "training.max_steps=1", *["--dry-run"] * dry) == 0
    said = capsys.readouterr()
    found = re.search(r"(\d+) of (\d+) training targets \(([\d.]+) %\) have characters that the tokenizer lacks.*",
                      said.out if dry else said.err)
    assert found and 1 <= int(found[1]) <= 3
    assert float(found[3]) == pytest.approx(100 * int(found[1]) / int(found[2]), 0.1)
    assert any(repr(char) in found[0] for char in "ő{}時間")


@pytest.mark.parametrize(("family", "count"), [("marian", 3), ("byt5", 0), ("bart", 0)])
def test_the_examples_are_what_becomes_unknown(family, count, tmp_path):
    folder = FAMILIES[family](tmp_path / "base")
    config = load_config("finetune", [f"model.init_from={folder}", "data.path=x.tsv", "data.source=en",
                                      "data.target=fr"])
    start = ForeignStart.open(folder, config)
    pairs = [Pair(source, target, "en", "fr") for source, target in ODD]
    remark = unknown_remark(EncodedPairs(pairs, start.encoder, max_length=None), start.tokenizer)
    if not count:
        assert remark is None
    else:
        assert remark.startswith(f"{count} of 4 training targets (75 %)")
        assert "'ő', '{', '}', '時', '間'" in remark and "as in 'Le időt'" in remark
