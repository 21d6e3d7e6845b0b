"""A language has one meaning everywhere, whatever it is called: in headers, names of files, `--to`, and by clients."""

import json

import pytest

from seq2see import Translator
from seq2see.cli.command import main
from seq2see.measures.held_out_pairs import held_out_pairs
from seq2see.training.config import DataConfig
from seq2see.training.pairs import load_split
from ..tiny import nllb, opus_mt
from .conftest import last_error
from .foreign_models import many_to_many, tune, write_table

FEW = ["training.max_steps=1", "evaluation.eval_samples=1"]
ROWS = [("The cat", "O gato"), ("The box", "A caixa")]


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """NLLB, trained on a table whose header is `en,fr`."""
    folder = tmp_path_factory.mktemp("languages")
    assert tune(nllb(folder / "base"), write_table(folder / "mine.csv"), folder / "run", *FEW) == 0
    return folder / "run"


@pytest.mark.few(2)
@pytest.mark.parametrize("asked", [None, "fr", "fra_Latn", "French", "fra"])
def test_measure_takes_what_training_took(run, asked):
    translator = Translator.from_pretrained(run, engine="torch")
    [own], _ = held_out_pairs(translator, target=asked)
    assert own.languages == ("eng_Latn", "fra_Latn") and own.held


@pytest.mark.few(2)
@pytest.mark.parametrize("asked", [[], ["--to", "fr"], ["--to", "fra_Latn"], ["--from", "English", "--to", "French"]])
def test_evaluate_takes_what_training_took(run, asked, capsys):
    assert main(["evaluate", str(run), "--split", "val", "--engine", "torch", *asked]) == 0
    assert json.loads(capsys.readouterr().out.splitlines()[-1])["fr"]["pairs"] > 0


@pytest.mark.few(2)
@pytest.mark.parametrize("header", ["en,fr", "eng_Latn,fra_Latn", "English,French", "en,fr-FR", "eng,fra"])
def test_evaluate_takes_any_header(run, header, tmp_path, capsys):
    table = write_table(tmp_path / "other.csv", header, pairs=ROWS)
    for model in (run, run.parent / "base"):
        assert main(["evaluate", str(model), "--data", str(table), "--engine", "torch"]) == 0, capsys.readouterr().err
        capsys.readouterr()


def test_a_trained_pair_becomes_the_default_of_a_model_with_many(tmp_path, capsys):
    base = many_to_many(tmp_path / "base")
    with pytest.raises(Exception, match="choose one"):
        Translator.from_pretrained(base, engine="torch").pair("en", None)
    assert tune(base, write_table(tmp_path / "mine.csv", "en,de"), tmp_path / "run", *FEW) == 0
    translator = Translator.from_pretrained(tmp_path / "run", engine="torch")
    assert translator.pair(None, None) == ("en", "deu") and translator.pair(None, "French") == ("en", "fra")
    assert translator("The cat").target_language == "deu"
    capsys.readouterr()
    for asked in ("deu", "de", "German"):
        assert main(["evaluate", str(tmp_path / "run"), "--split", "val", "--engine", "torch", "--to", asked]) == 0
        capsys.readouterr()
    assert main(["evaluate", str(tmp_path / "run"), "--split", "val", "--engine", "torch", "--to", "tlh"]) != 0
    assert "tlh" in last_error(capsys)


@pytest.mark.parametrize(("names", "languages"), [
    ("en,pt", ("en", "por")), ("eng_Latn,por_Latn", ("en", "pt")), ("en_XX,pt_XX", ("eng", "por")),
    ("en-GB,pt-BR", ("en", "pt")), ("English,Portuguese", ("eng_Latn", "por_Latn")), ("pt,en", ("eng", "por")),
])
def test_columns_and_files_have_any_name_of_their_language(names, languages, tmp_path):
    source, target = languages
    pairs = ROWS if not names.startswith("pt") else [pair[::-1] for pair in ROWS]
    table = write_table(tmp_path / "table.csv", names, pairs=pairs)
    lines = tmp_path / "table.jsonl"
    lines.write_text("\n".join(json.dumps(dict(zip(names.split(","), pair, strict=True))) for pair in pairs), "utf-8")
    paths = [table, lines]
    if names != "English,Portuguese":  # the ends of files are codes
        for name, texts in zip(names.split(","), zip(*pairs, strict=True), strict=True):
            (tmp_path / f"dev.{name}").write_text("\n".join(texts) + "\n", "utf-8")
        paths += [tmp_path / "dev", tmp_path / f"dev.{names.split(',')[0]}"]
    for path in paths:
        read = load_split(DataConfig(path=str(path), source=source, target=target), "all")
        assert [(one.source, one.target) for one in read] == ROWS


def test_a_header_may_have_codes_that_the_model_alone_has(tmp_path, capsys):
    base = tmp_path / "base"
    base.mkdir()
    opus_mt(base, tags=[">>pob<<", ">>por<<"], source_lang="en", target_lang="pt")
    data = write_table(tmp_path / "mine.csv", "en,pob")
    assert tune(base, data, tmp_path / "run", "--dry-run", *FEW) == 0 and ">>pob<<" in capsys.readouterr().out


def test_two_columns_of_one_language_are_said(tmp_path, capsys):
    base = tmp_path / "base"
    base.mkdir()
    opus_mt(base, target_lang="zh")
    data = write_table(tmp_path / "mine.csv", "en,zh_CN,zh_TW", pairs=[("a", "b", "c")][:0])
    assert tune(base, data, tmp_path / "run", "data.source=en", "data.target=zh", *FEW) != 0
    assert "two columns or keys for one side" in last_error(capsys)
