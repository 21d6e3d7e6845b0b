"""What `seq2see distil` writes: each training pair as it is, and with the translation of each teacher."""

import json
import shutil

import pytest
import tiny

from seq2see import Translator
from seq2see.cli.command import main
from seq2see.modeling.loading import load_checkpoint
from seq2see.tokenizer.tokenization_seq2see import load_tokenizer
from seq2see.training import distillation
from seq2see.training.config import DataConfig
from seq2see.training.pairs import load_corpus
from seq2see.training.translation import translate_pairs
from .conftest import tiny_model, train

QUICK = [
    "training.eval_strategy=no", "training.save_strategy=no", "training.load_best_model_at_end=false",
    "training.patience=0", "generation.max_length=12", "training.ema_decay=0",
]


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    """Nothing is found that another test made, and parts are small enough for several."""
    monkeypatch.setattr(distillation, "cache_folder", lambda: tmp_path / "cache")
    monkeypatch.setattr(distillation, "PART", 50)


@pytest.fixture(scope="module")
def teacher(tmp_path_factory, tokenizer):
    """A tiny random model: what it writes is wrong, and another text for each sentence."""
    model = tiny_model(tokenizer)
    model.generation_config.max_length = 12
    return tiny.save(tmp_path_factory.mktemp("teacher") / "run", tiny.spread_out(model), tokenizer)


def copy_of(teacher, folder, name, **changes):
    """The teacher's folder with other settings in its file `name`."""
    shutil.copytree(teacher, folder, ignore=shutil.ignore_patterns("manifest.json"))
    settings = json.loads((folder / name).read_text("utf-8"))
    (folder / name).write_text(json.dumps(settings | changes), "utf-8")
    return folder


def written(out, split="train"):
    rows = [json.loads(line) for line in (out / f"{split}.jsonl").read_text("utf-8").splitlines()]
    return [(row["en"], row["fr"]) for row in rows]


def test_pairs_come_as_they_are_and_then_each_teachers_and_a_student_trains_on_them(teacher, toy_file, tmp_path):
    """The sentences kept for validation stay so."""
    other = copy_of(teacher, tmp_path / "other", "generation_config.json", num_beams=1, max_length=3)
    out = tmp_path / "distilled"
    assert main(["distil", str(teacher), str(other), f"data.path={toy_file}", "--out", str(out), "--device=cpu"]) == 0
    corpus = load_corpus(DataConfig(path=str(toy_file)))
    pairs = list(corpus.train)
    expected = [(pair.source, pair.target) for pair in pairs]
    for folder in (teacher, other):
        texts = translate_pairs(Translator(load_checkpoint(folder), load_tokenizer(folder)), pairs, raw=True)
        assert len(set(texts)) > 5
        expected += [(pair.source, text.strip()) for pair, text in zip(pairs, texts, strict=True) if text.strip()]
    assert written(out) == expected
    assert written(out, "val") == [(pair.source, pair.target) for pair in corpus.val]
    assert train(*QUICK, f"data.path={out}", f"training.output_dir={tmp_path / 'student'}", "training.max_steps=1") == 0
    metrics = json.loads((tmp_path / "student" / "metrics.json").read_text("utf-8"))
    assert metrics["training"]["pairs"] == len(expected)


def test_parts_that_are_there_are_not_translated_again(teacher, toy_file, tmp_path, monkeypatch):
    asked = []

    def counted(translator, pairs, raw):
        asked.append(pairs[0].source)
        if len(asked) == 3:
            raise KeyboardInterrupt
        return [" " if index == 0 else pair.target for index, pair in enumerate(pairs)]

    monkeypatch.setattr(distillation, "translate_pairs", counted)
    command = ["distil", str(teacher), f"data.path={toy_file}", "--out", str(tmp_path / "distilled"), "--device=cpu"]
    assert main(command) == 130 and not (tmp_path / "distilled").exists()
    assert main(command) == 0
    pairs = list(load_corpus(DataConfig(path=str(toy_file))).train)
    firsts = [pair.source for pair in pairs[::50]]
    assert asked == [*firsts[:3], *firsts[2:]]
    assert len(written(tmp_path / "distilled")) == 2 * len(pairs) - len(firsts)  # a teacher may write nothing


@pytest.mark.parametrize(("arguments", "said"), [
    (["TEACHER", "OTHER", "TABLE"], "other translates en to de, not en to fr"),  # before the first has translated
    (["TEACHER", "TABLE", "data.target=[fr, de]"], "expected one language"),
    (["FOLDER", "TABLE"], "config.json"), (["TABLE"], "no teacher"), (["TEACHER"], "data.path"),
    (["TEACHER", "TABLE", "--out", "FOLDER"], "already exists"),
])
def test_a_mistake_is_one_line(teacher, toy_file, tmp_path, monkeypatch, capsys, arguments, said):
    monkeypatch.setattr(distillation, "translate_pairs", lambda *args, **how: pytest.fail("translated"))
    other = copy_of(teacher, tmp_path / "other", "config.json", language_pairs=[["en", "de"]])
    names = {"OTHER": str(other), "TEACHER": str(teacher), "TABLE": f"data.path={toy_file}", "FOLDER": str(tmp_path)}
    arguments = ["--out", str(tmp_path / "out"), *(names.get(item, item) for item in arguments)]
    assert main(["distil", *arguments, "--device=cpu"]) in (1, 2)
    assert said in capsys.readouterr().err.splitlines()[-1]
    assert not (tmp_path / "out").exists()
