"""What teachers write joins the training pairs: each once more a teacher, in order, in parts that several may make."""

import dataclasses
import json
import shutil

import pytest
import torch

from seq2see.errors import UserError
from seq2see.modeling.loading import load_checkpoint
from seq2see.tokenizer.tokenization_seq2see import load_tokenizer
from seq2see.training import distillation
from seq2see.training.config import DataConfig, load_config
from seq2see.training.corpora import load_corpus
from seq2see.training.distillation import with_teachers
from seq2see.training.run import run_experiment
from seq2see.training.translation import translate_pairs

CPU = torch.device("cpu")
SETTINGS = [
    "tokenizer.vocab_size=400", "model.d_model=32", "model.encoder_layers=1", "model.decoder_layers=1",
    "model.encoder_ffn_dim=16", "model.decoder_ffn_dim=16", "training.warmup_steps=2", "training.max_tokens=200",
    "training.use_cpu=true", "training.cpu_processes=1", "training.bf16=false", "training.eval_strategy=no",
    "training.save_strategy=no", "training.load_best_model_at_end=false", "training.patience=0",
    "evaluation.max_length=12",
]  # fmt: skip


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    """Nothing is found that another test made, and parts are small enough for several."""
    monkeypatch.setattr("seq2see.training.pairs.cache_folder", lambda: tmp_path / "cache")
    monkeypatch.setattr(distillation, "PART", 50)


@pytest.fixture(scope="module")
def teacher(tmp_path_factory, toy_file):
    """A tiny model that has seen the toy language for a moment: it writes something, mostly wrong."""
    folder = tmp_path_factory.mktemp("teacher") / "run"
    return run_experiment(load_config("finetune", [
        *SETTINGS, f"data.path={toy_file}", f"training.output_dir={folder}", "training.max_steps=300",
        "training.learning_rate=1e-2",
    ]))  # fmt: skip


def copy_of(teacher, folder, name, **changes):
    """The teacher's folder with other settings in its file `name`."""
    shutil.copytree(teacher, folder, ignore=shutil.ignore_patterns("manifest.json"))
    settings = json.loads((folder / name).read_text("utf-8"))
    (folder / name).write_text(json.dumps(settings | changes), "utf-8")
    return folder


def test_each_pair_comes_once_more_with_what_the_teacher_writes(teacher, toy_file):
    data = DataConfig(path=str(toy_file), teacher=str(teacher))
    plain = load_corpus(data)
    taught = with_teachers(plain, data, device=CPU)
    pairs = list(plain.train)
    written = translate_pairs(load_checkpoint(teacher), load_tokenizer(teacher), pairs)
    assert len(set(written)) > 5
    again = [dataclasses.replace(pair, target=text.strip())
             for pair, text in zip(pairs, written, strict=True) if text.strip()]  # fmt: skip
    assert list(taught.train) == [*pairs, *again]
    assert (taught.val, taught.test) == (plain.val, plain.test)


def test_the_same_weights_with_other_languages_are_another_teacher(teacher, toy_file, tmp_path):
    data = DataConfig(path=str(toy_file), teacher=str(teacher))
    with_teachers(load_corpus(data), data, device=CPU)
    other = copy_of(teacher, tmp_path / "other", "config.json", language_pairs=[["en", "de"]])
    with pytest.raises(UserError, match="other translates en to de"):
        with_teachers(load_corpus(data), DataConfig(path=str(toy_file), teacher=str(other)), device=CPU)


def test_what_teachers_invent_has_not_been_seen(teacher, toy_file, tmp_path, monkeypatch):
    """Words that nobody wrote stay unknown to who looks at a translation."""
    monkeypatch.setattr(
        distillation.translation, "translate_pairs", lambda model, tokenizer, pairs: ["blabla blabli"] * len(pairs)
    )
    changes = [f"data.path={toy_file}", f"data.teacher={teacher}", f"training.output_dir={tmp_path / 'run'}"]
    run = run_experiment(load_config("finetune", [*SETTINGS, *changes, "training.max_steps=1"]))
    seen = [json.loads((folder / "seen_words.json").read_text("utf-8")) for folder in (run, teacher)]
    assert seen[0] == seen[1]
    data = DataConfig(path=str(toy_file), teacher=str(teacher))
    corpus = with_teachers(load_corpus(data), data, device=CPU)
    assert "blabla blabli" in {pair.target for pair in corpus.train}
    assert list(corpus.written_by_people) == list(load_corpus(data).train)


def test_several_teachers_come_one_after_another_and_nothing_is_written_twice(teacher, toy_file, tmp_path, monkeypatch):
    other = copy_of(teacher, tmp_path / "other", "generation_config.json", num_beams=1, max_length=3)
    both = [str(teacher), str(other)]
    data = DataConfig(path=str(toy_file), teacher=both)
    corpus = load_corpus(data)
    pairs = list(corpus.train)
    alone = [list(with_teachers(corpus, DataConfig(path=str(toy_file), teacher=one), device=CPU).train)[len(pairs) :]
             for one in both]  # fmt: skip
    assert alone[0] != alone[1]
    monkeypatch.setattr(
        distillation.translation, "translate_pairs", lambda *args: pytest.fail("what was written is written again")
    )
    assert list(with_teachers(corpus, data, device=CPU).train) == [*pairs, *alone[0], *alone[1]]


def test_a_wrong_teacher_is_told_before_the_others_have_translated(teacher, toy_file, tmp_path, monkeypatch):
    wrong = copy_of(teacher, tmp_path / "wrong", "config.json", language_pairs=[["en", "de"]])
    data = DataConfig(path=str(toy_file), teacher=[str(teacher), str(wrong)])
    monkeypatch.setattr(distillation.translation, "translate_pairs", lambda *args: pytest.fail("translated"))
    with pytest.raises(UserError, match="wrong translates en to de, not en to fr"):
        with_teachers(load_corpus(data), data, device=CPU)


def test_a_run_learns_from_both(teacher, toy_file, tmp_path):
    changes = [f"data.path={toy_file}", f"data.teacher={teacher}", f"training.output_dir={tmp_path / 'pupil'}"]
    pupil = run_experiment(load_config("finetune", [*SETTINGS, *changes, "training.max_steps=1"]))
    taught, alone = (json.loads((run / "metrics.json").read_text("utf-8")) for run in (pupil, teacher))
    assert alone["training"]["pairs"] < taught["training"]["pairs"] <= 2 * alone["training"]["pairs"]
    assert f"`{teacher}` wrote" in (pupil / "README.md").read_text("utf-8")


def test_parts_that_are_there_are_not_translated_again(teacher, toy_file, monkeypatch):
    data = DataConfig(path=str(toy_file), teacher=str(teacher))
    corpus = load_corpus(data)
    asked = []

    def counted(model, tokenizer, pairs):
        asked.append(pairs[0].source)
        if len(asked) == 3:
            raise KeyboardInterrupt
        return [pair.target for pair in pairs]

    monkeypatch.setattr(distillation.translation, "translate_pairs", counted)
    with pytest.raises(KeyboardInterrupt):
        with_teachers(corpus, data, device=CPU)
    taught = with_teachers(corpus, data, device=CPU, begin=0.5)  # as another process begins
    pairs = list(corpus.train)
    assert list(taught.train) == pairs * 2
    firsts = [pair.source for pair in pairs[::50]]
    assert asked[:2] == firsts[:2] and sorted(asked[:2] + asked[3:]) == sorted(firsts)
    assert asked[3] == firsts[len(firsts) // 2]
    monkeypatch.setattr(distillation, "load_teacher", lambda *args: pytest.fail("the teacher was loaded again"))
    assert list(with_teachers(corpus, data, device=CPU).train) == pairs * 2


def test_a_teacher_that_writes_nothing_adds_nothing(teacher, toy_file, monkeypatch):
    data = DataConfig(path=str(toy_file), teacher=str(teacher))
    corpus = load_corpus(data)
    monkeypatch.setattr(distillation.translation, "translate_pairs", lambda model, tokenizer, pairs: [" "] * len(pairs))
    assert list(with_teachers(corpus, data, device=CPU).train) == list(corpus.train)


def test_a_teacher_of_other_languages_is_refused(teacher, toy_file):
    path = toy_file.with_name("german.tsv")
    path.write_text(toy_file.read_text("utf-8").replace("en\tfr", "en\tde", 1), "utf-8")
    data = DataConfig(path=str(path), target="de", teacher=str(teacher))
    with pytest.raises(UserError, match="translates en to fr, not en to de"):
        with_teachers(load_corpus(data), data, device=CPU)


def test_a_teacher_that_is_not_there_is_one_line(toy_file, tmp_path):
    data = DataConfig(path=str(toy_file), teacher=str(tmp_path / "none"))
    with pytest.raises(UserError, match="none"):
        with_teachers(load_corpus(data), data, device=CPU)


def test_a_folder_without_a_model_is_one_line(toy_file, tmp_path):
    data = DataConfig(path=str(toy_file), teacher=str(tmp_path))
    with pytest.raises(UserError, match=r"data.teacher: .* has no config.json; give the folder of a trained"):
        with_teachers(load_corpus(data), data, device=CPU)
