"""`seq2see train` and `seq2see evaluate` end to end on toy data: what lies in a run folder, what is refused."""

import ast
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import torch
import yaml
from safetensors.torch import load_file

from seq2see.cli.command import main
from seq2see.modeling.loading import load_checkpoint
from seq2see.tokenizer.tokenization_seq2see import Seq2SeeTokenizer
from seq2see.training.batching import EncodedPairs
from seq2see.training.before import sample
from seq2see.training.card import model_card
from seq2see.training.config import load_config
from seq2see.training.finetuning import start_from
from seq2see.training.pairs import load_corpus
from seq2see.training.trainer import Seq2SeeTrainer
from .conftest import last_error, train


@pytest.fixture(scope="module")
def run(tmp_path_factory, toy_file) -> Path:
    """A finished run on the toy language, translations longer than the positions asked for, and under a umask."""
    folder = tmp_path_factory.mktemp("toy") / "run"
    settings = ["generation.num_beams=4", "generation.max_length=256", "model.max_position_embeddings=64"]
    before = os.umask(0o027)
    try:
        assert train(f"data.path={toy_file}", f"training.output_dir={folder}", *settings) == 0
    finally:
        os.umask(before)
    return folder


def read(path: Path) -> dict:
    return (json.loads if path.suffix == ".json" else yaml.safe_load)(path.read_text("utf-8"))


def test_a_finished_run_folder_has_all_its_parts_with_the_mode_that_the_umask_allows(run):
    names = {item.name for item in run.iterdir()}
    assert {"README.md", "curve.png", "modeling_seq2see.py", "manifest.json"} <= names
    assert "training_args.bin" not in names  # a pickle: nobody should have to open one
    assert {item.stat().st_mode & 0o777 for item in run.rglob("*") if item.is_file()} == {0o640}
    config, generation = read(run / "config.json"), read(run / "generation_config.json")
    assert config["use_cache"] is True and config["language_pairs"] == [["en", "fr"]]
    assert 5 < generation.pop("source_pieces") <= 64 and 2 <= generation.pop("source_sentences") <= 6
    assert {key: value for key, value in generation.items() if key[0] != "_" and key != "transformers_version"} == {
        "pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2, "decoder_start_token_id": 1, "forced_bos_token_id": 4,
        "num_beams": 4, "early_stopping": True, "length_penalty": 1.0, "max_length": 64,
    }
    assert read(run / "seen_words.json")["fr"][:3] == ["aujourd'hui", "chat", "cheval"]
    assert read(run / "run.yaml")["model"]["d_model"] == 16
    metrics = read(run / "metrics.json")
    assert "tok:13a" in metrics["evaluation"]["val"]["bleu_signature"]
    losses = {row["step"]: row["eval_loss"] for row in metrics["training"]["log"] if "eval_loss" in row}
    assert metrics["training"]["kept_step"] == min(losses, key=losses.__getitem__)


def test_the_card_has_front_matter_scores_and_lines_that_run(run):
    _, front, body = (run / "README.md").read_text("utf-8").split("---\n", 2)
    assert yaml.safe_load(front)["language"] == ["en", "fr"]
    assert "license" not in yaml.safe_load(front)
    assert "](curve.png)" in body and (run / "curve.png").read_bytes().startswith(b"\x89PNG")
    assert "| val (" in body and "nrefs:1|case:mixed" in body
    assert "were translated as seq2see translate does, with CTranslate2 in int8." in body
    code = body.split("```python\n")[1].split("```")[0]
    assert "seq2see" not in code
    exec(compile(code, "README.md", "exec"), {})


def test_each_score_stands_under_its_name_on_the_card(run):
    metrics = read(run / "metrics.json")
    metrics["evaluation"]["val"] |= {"pairs": 44, "bleu": 11.0, "chrf": 22.0, "exact_match": 33.0}
    card = model_card(load_config(str(run / "run.yaml")), metrics, folder=run)
    names, row = ([cell.strip() for cell in line.strip("|").split("|")] for line in card.splitlines()
                  if line.startswith(("| pairs", "| val")))
    expected = {"pairs": "val (44)", "BLEU": "11.0", "chrF2": "22.0", "exact match": "33.0 %"}
    assert dict(zip(names, row, strict=True)) == expected


def test_the_card_names_the_run_as_its_folder_was_given(run):
    metrics = read(run / "metrics.json")
    given = Path("mine/it's \"one\"")
    card = model_card(load_config(str(run / "run.yaml")), metrics, folder=given)
    code = "".join(block.split("```")[0] for block in card.split("```python\n")[1:])
    named = [call.args[0].value for call in ast.walk(ast.parse(code))
             if isinstance(call, ast.Call) and getattr(call.func, "attr", "") == "from_pretrained"]
    assert named == [str(given)] * 3 and f"# {given.name}\n" in card


def test_a_run_finds_its_data_from_any_folder_and_when_it_was_moved_with_them(toy_file, tmp_path, monkeypatch, capsys):
    project, moved = tmp_path / "project", tmp_path / "moved"
    project.mkdir()
    shutil.copy(toy_file, project / "mine.tsv")
    monkeypatch.chdir(project)
    settings = ["data.path=mine.tsv", "training.output_dir=run", "training.max_steps=2"]
    assert train(*settings) == 0
    assert read(Path("run/run.yaml"))["data"]["path"] == str(project / "mine.tsv")
    monkeypatch.chdir(tmp_path)
    assert main(["evaluate", "project/run", "--split", "val"]) == 0
    project.rename(moved)
    assert main(["evaluate", "moved/run", "--split", "val"]) == 1
    told = f"moved/run was trained on {project / 'mine.tsv'}, which does not exist here; give --data PATH"
    assert last_error(capsys).endswith(told)
    monkeypatch.chdir(moved)
    assert train(*settings, "training.resume=true") == 0


def test_a_run_is_never_trained_over(run, toy_file, capsys):
    before = (run / "model.safetensors").stat().st_mtime_ns
    settings = [f"data.path={toy_file}", f"training.output_dir={run}", "model.max_position_embeddings=64"]
    assert train(*settings) == 2 and "already contains a run" in last_error(capsys)
    for name, value in (("tokenizer.vocab_size", "350"), ("training.optim", "adafactor"), ("training.seed", "1"),
                        ("training.learning_rate", "0.01"), ("training.weight_decay", "0.1"),
                        ("training.adam_beta1", "0.5"), ("training.adam_epsilon", "1e-05"),
                        ("training.lr_scheduler_type", "greedy"), ("training.metric_for_best_model", "bleu"),
                        ("evaluation.eval_samples", "3")):
        assert train(*settings, "training.resume=true", f"{name}={value}") == 2
        assert re.search(rf"{name} is '?{value}'?, but the run", last_error(capsys))
    assert (run / "model.safetensors").stat().st_mtime_ns == before


def test_resuming_a_finished_run_with_more_epochs_goes_on(toy_file, tmp_path, capsys):
    """And accumulation, which makes the same batches, may change."""
    settings = [f"data.path={toy_file}", f"training.output_dir={tmp_path / 'run'}"]
    assert train(*settings, "training.num_train_epochs=1") == 0
    steps = read(tmp_path / "run" / "metrics.json")["training"]["steps"]
    more = ["training.resume=true", "training.num_train_epochs=2", "training.gradient_accumulation_steps=2"]
    assert train(*settings, *more) == 0 and f"resuming from {tmp_path}" in capsys.readouterr().err
    assert read(tmp_path / "run" / "metrics.json")["training"]["steps"] == 2 * steps


def test_what_a_resumed_run_can_take_takes_effect_and_is_recorded(toy_file, tmp_path):
    """Intervals too, which transformers reads from the checkpoint; and another function of the step as schedule."""
    run = tmp_path / "run"
    settings = [f"data.path={toy_file}", f"training.output_dir={run}", "training.eval_strategy=steps",
                "training.save_strategy=steps", "training.load_best_model_at_end=false", "training.save_total_limit=9"]
    every = {"eval_steps": 4, "save_steps": 4, "logging_steps": 4}
    assert train(*settings, "training.max_steps=4", *(f"training.{name}={n}" for name, n in every.items())) == 0
    taken = {"eval_steps": 1, "save_steps": 2, "logging_steps": 1, "max_steps": 6, "lr_scheduler_type": "linear",
             "warmup_steps": 1}
    assert train(*settings, "training.resume=true", *(f"training.{name}={value}" for name, value in taken.items())) == 0
    recorded = read(run / "run.yaml")["training"]
    assert {name: recorded[name] for name in taken} == taken
    log = read(run / "metrics.json")["training"]["log"]
    assert [row["step"] for row in log if "eval_loss" in row] == [4, 5, 6]
    assert [row["step"] for row in log if "loss" in row] == [4, 5, 6]
    assert [row["learning_rate"] for row in log if "loss" in row][-1] < 1e-3  # linear is near its end
    assert {path.name for path in run.glob("checkpoint-*")} == {"checkpoint-4", "checkpoint-6"}


def test_a_run_is_resumed_on_changed_data_only_by_force(toy_file, tmp_path, capsys):
    path, record = tmp_path / "mine.tsv", tmp_path / "run" / "data.json"
    header, *rows = toy_file.read_text("utf-8").splitlines(keepends=True)
    settings = [f"data.path={path}", f"training.output_dir={tmp_path / 'run'}", "training.max_steps=2"]
    path.write_text(header + "".join(rows), "utf-8")
    assert train(*settings) == 0
    trained = read(record)
    counts = "{train} training and {val} validation pairs".format(**trained)
    for text, now in (
        (header + "".join(rows).replace("chien", "lapin"), counts),  # as many letters
        (header + "".join(rows[:100]), r"\d+ training and \d+ validation pairs"),
    ):
        path.write_text(text, "utf-8")
        assert train(*settings, "training.resume=true") == 2
        told = rf"mine\.tsv has changed since .*\({counts}, now {now}.*training.resume=force"
        assert re.search(told, last_error(capsys))
    assert train(*settings, "training.resume=force") == 0
    assert train(*settings, "training.resume=true") == 0  # what it was forced to is its data now
    record.unlink()  # a run of an earlier version does not say
    path.write_text(header + "".join(rows), "utf-8")
    assert train(*settings, "training.resume=true") == 0 and read(record) == trained


@pytest.mark.parametrize(("override", "code", "message"), [
    ("training.lr_scheduler_type=steep", 2, "steep is not a valid SchedulerType"),
    ("model.d_model=15", 2, "model section: "), ("tokenizer.vocab_size=10", 1, "vocab_size"),
    ("training.output_dir=/proc/run", 1, "/proc/run"),
])
def test_mistakes_are_one_line(toy_file, tmp_path, capsys, override, code, message):
    assert train(f"data.path={toy_file}", f"training.output_dir={tmp_path / 'run'}", override) == code
    assert message in last_error(capsys) and not list(tmp_path.glob("run/*.safetensors"))


NO_LANGUAGE = {
    "a.tsv": "question\tanswer\nHallo\tCiao\n", "b.csv": "text,label\nHello,1\n",
    "c.jsonl": '{"a": "Hello", "b": "Bonjour"}\n',
    "d.tsv": "en\tfr\tfr\nHello\tBonjour\tSalut\n", "e/train.tsv": "id\ttext\tlabel\n1\tHello\t0\n",
    "f/val.tsv": "de\tit\nHallo\tCiao\n", "g/dev.de": "Hallo\n",
}


@pytest.mark.parametrize("name", NO_LANGUAGE)
def test_a_file_that_names_no_language_is_refused_before_anything_is_loaded(tmp_path, capsys, name):
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    (path.parent / "train.tsv").write_text("en\tfr\nHello\tBonjour\n")
    path.write_text(NO_LANGUAGE[name], "utf-8")
    at = path if path.parent == tmp_path else path.parent
    assert main(["train", "finetune", f"data.path={at}", f"training.output_dir={tmp_path / 'run'}"]) == 1
    error = capsys.readouterr().err
    assert error.count("\n") == 1 and path.stem in error and "loading PyTorch" not in error
    assert not (tmp_path / "run").exists()


def test_evaluating_such_a_file_is_refused_without_loading_pytorch(tmp_path):
    table = tmp_path / "a.tsv"
    table.write_text("de\tit\nHallo\tCiao\n")
    code = ("import sys; from seq2see.cli.command import main;"
            " print(main(['evaluate', 'storybook', '--data', sys.argv[1]])); print('torch' in sys.modules)")
    done = subprocess.run([sys.executable, "-c", code, str(table)], capture_output=True, text=True)
    assert done.stdout == "1\nFalse\n" and "a.tsv, line 1: expected a header with the columns en, fr" in done.stderr


def test_evaluate_ends_with_one_json_object(run, toy_file, capsys):
    assert main(["evaluate", str(run), "--split", "val"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert json.loads(lines[-1])["fr"] == read(run / "metrics.json")["evaluation"]["val"]
    assert any("BLEU" in line and "tok:13a" in line for line in lines[:-1])
    assert "  translated as seq2see translate does, with CTranslate2 in int8" in lines
    checkpoint = next(run.glob("checkpoint-*"))
    arguments = ["--data", str(toy_file), "--num-beams", "1", "--engine", "torch", "--raw", "--json"]
    assert main(["evaluate", str(checkpoint), *arguments]) == 0
    row = json.loads(capsys.readouterr().out)["fr"]
    assert (row["pairs"], row["pipeline"], row["engine"], row["precision"]) == (200, "raw", "torch", "float32")


def test_evaluate_refuses_what_it_cannot_measure(run, tmp_path, capsys):
    for language in ("en", "fr"):
        (tmp_path / f"test.{language}").write_text("the dog\na big cat\n")
    (tmp_path / "test.lc.norm.tok.fr").write_text("le chien\n")
    for arguments, message in (
        ([str(run)], "no 'test'"), ([str(run), "--to", "de"], "does not translate to de"),
        ([str(tmp_path / "nowhere")], "nowhere"),
        ([str(run), "--data", "no/pairs.tsv"], "--data no/pairs.tsv does not exist"),
        ([str(run), "--data", str(tmp_path)], "has 1 lines, fewer than the text has pairs"),
    ):
        assert main(["evaluate", *arguments]) in (1, 2)
        assert message in last_error(capsys)


@pytest.fixture(scope="module")
def hindi_file(tmp_path_factory) -> Path:
    words = {"dog": "कुत्ता", "cat": "बिल्ली", "the": "यह", "a": "एक", "sees": "देखता", "big": "बड़ा", "here": "यहाँ"}
    path = tmp_path_factory.mktemp("hindi") / "hi.tsv"
    sentences = [[a, b, c] for a in words for b in words for c in words]
    lines = ["\t".join([" ".join(row), " ".join(words[word] for word in row)]) for row in sentences]
    path.write_text("en\thi\n" + "\n".join(lines) + "\n", "utf-8")
    return path


def test_fine_tuning_to_a_new_language(run, hindi_file, tmp_path):
    settings = [f"model.init_from={run}", f"data.path={hindi_file}", "data.target=hi", "tokenizer.vocab_size=500"]
    assert train(*settings, f"training.output_dir={tmp_path / 'run'}", "training.num_train_epochs=1") == 0
    old, new = Seq2SeeTokenizer.from_pretrained(run), Seq2SeeTokenizer.from_pretrained(tmp_path / "run")
    assert new.languages == ["fr", "hi"] and new.tag_id("fr") == old.tag_id("fr")
    text = "le chien voit un petit cheval aujourd'hui"
    assert len(new.encode_source(text)) <= 1.5 * len(old.encode_source(text))
    assert len(new.encode_source("कुत्ता देखता")) < len(old.encode_source("कुत्ता देखता")) / 2
    model = load_checkpoint(tmp_path / "run")
    assert model.config.language_pairs == [["en", "hi"], ["en", "fr"]]
    assert model.config.vocab_size == len(new) == model.lm_head.weight.shape[0]
    assert model.lm_head.weight.data_ptr() == model.model.shared.weight.data_ptr()
    assert model.generation_config.forced_bos_token_id == new.tag_id("hi") == new(text_target="x").input_ids[0]
    assert model.config.blank_token_ids == new.blank_token_ids and " " in new.convert_ids_to_tokens(new.blank_token_ids)
    seen = read(tmp_path / "run" / "seen_words.json")
    assert "chat" in seen["fr"] and "बिल्ली" in seen["hi"]


def test_where_the_old_data_are_gone_is_told(run, hindi_file, tmp_path, capsys):
    start = shutil.copytree(run, tmp_path / "start")
    record = (start / "run.yaml").read_text("utf-8")
    (start / "run.yaml").write_text(re.sub("path: .*", "path: /gone.tsv", record), "utf-8")
    config = load_config("finetune", [f"model.init_from={start}", f"data.path={hindi_file}", "data.target=hi"])
    start_from(config, load_corpus(config.data))
    assert "cannot be read (data.path '/gone.tsv' does not exist" in last_error(capsys)


def test_a_vocabulary_that_is_kept_has_the_size_it_has(run, toy_file, capsys):
    for size, told in (("", False), (f"={len(Seq2SeeTokenizer.from_pretrained(run))}", False), ("=9000", True)):
        asked = [f"tokenizer.vocab_size{size}"] if size else []
        config = load_config("finetune", [f"model.init_from={run}", f"data.path={toy_file}", *asked])
        tokenizer, _ = start_from(config, load_corpus(config.data))
        assert tokenizer.get_vocab() == Seq2SeeTokenizer.from_pretrained(run).get_vocab()
        assert ("tokenizer.vocab_size has no effect" in capsys.readouterr().err) is told


def test_grown_embedding_copies_what_both_vocabularies_have(run, hindi_file, pairs):
    """Before any step: rows by token, new rows as means of what spelled them, and the old language scored as before."""
    config = load_config(
        "finetune", [f"model.init_from={run}", f"data.path={hindi_file}", "data.target=hi", "tokenizer.vocab_size=500"]
    )
    old, before = Seq2SeeTokenizer.from_pretrained(run), load_file(run / "model.safetensors")["model.shared.weight"]
    new, model = start_from(config, load_corpus(config.data))
    after = model.get_input_embeddings().weight.detach()
    shared = [token for token in new.get_vocab() if token in old.get_vocab()]
    assert len(shared) > 300
    for token in shared:
        assert (after[new.get_vocab()[token]] == before[old.get_vocab()[token]]).all(), token
    assert (after[new.tag_id("hi")] == before[old.tag_id("fr")]).all()
    fresh = next(token for token in new.get_vocab() if "ब" in token and token not in old.get_vocab())
    spelled = [old.get_vocab()[f"<0x{byte:02X}>"] for byte in fresh.strip().encode()]
    if fresh.startswith(" "):
        spelled.insert(0, old.get_vocab()[" "])
    assert after[new.get_vocab()[fresh]].tolist() == pytest.approx(before[spelled].mean(0).tolist(), abs=1e-6)
    assert EncodedPairs(pairs, new, max_length=64)[0].labels[0] == old.tag_id("fr")


def test_a_fine_tuned_run_records_what_was_in_force(run, toy_file, tmp_path, capsys):
    """Nothing of the shape and the vocabulary that it keeps; and it resumes from that record."""
    settings = [f"model.init_from={run}", f"data.path={toy_file}", f"training.output_dir={tmp_path / 'run'}"]
    assert train(*settings, "training.num_train_epochs=1") == 0
    assert (tmp_path / "run" / "tokenizer.json").read_bytes() == (run / "tokenizer.json").read_bytes()
    record = read(tmp_path / "run" / "run.yaml")
    assert record["model"] == {"init_from": str(run), "lora": None, "init_share": 0.0, "dropout": None}  # as it was
    assert record["tokenizer"] == {"vocab_size": None}
    assert train(*settings, "training.resume=true") == 0
    assert load_checkpoint(tmp_path / "run").config.d_model == 16
    capsys.readouterr()
    assert train(*settings, "training.resume=true", "model.encoder_layers=2") == 2
    assert "model.encoder_layers in finetune has no effect with model.init_from" in last_error(capsys)


def test_a_share_of_the_first_weights_is_in_the_finished_model(run, toy_file, tmp_path):
    """And a finished run gets another share without further training."""
    settings = [f"model.init_from={run}", f"data.path={toy_file}", f"training.output_dir={tmp_path / 'run'}",
                "training.num_train_epochs=1", "training.eval_strategy=no"]
    assert train(*settings) == 0
    before, alone = (load_file(folder / "model.safetensors") for folder in (run, tmp_path / "run"))
    assert train(*settings, "training.resume=true", "model.init_share=0.25") == 0
    for name, weight in load_file(tmp_path / "run" / "model.safetensors").items():
        torch.testing.assert_close(weight, 0.25 * before[name] + 0.75 * alone[name])
    assert any((before[name] != alone[name]).any() for name in before)


def test_the_sample_for_forgetting_is_of_storybook_where_no_file_is_given(short_stories, monkeypatch, capsys):
    config = load_config("finetune", ["data.path=x.tsv", "data.source=en", "data.target=fr"])
    monkeypatch.setattr("seq2see.training.before.book", lambda *asked: {("fr", 0): short_stories}[asked])
    tested = short_stories.test
    for language, known in (("en", {one.source for one in tested}), ("fra_Latn", {one.target for one in tested})):
        texts = sample(config, language)
        assert len(set(texts)) == 50 and known.issuperset(texts)
    assert sample(config, "it") == [] and "no sample of sentences in it" in last_error(capsys)


def test_fine_tuning_has_a_dropout_of_its_own(run, toy_file):
    config = load_config("finetune", [f"model.init_from={run}", f"data.path={toy_file}", "model.dropout=0.35"])
    _, model = start_from(config, load_corpus(config.data))
    rates = {module.p for name, module in model.named_modules() if name.endswith(".dropout")}
    assert rates == {0.35} and model.config.dropout == 0.35
    before = load_file(run / "model.safetensors")
    assert all((weights == before[name]).all() for name, weights in model.named_parameters())


def test_only_the_first_of_several_processes_writes(make_trainer, monkeypatch):
    trainer: Seq2SeeTrainer = make_trainer(ema_decay=0.9)
    trainer.train()
    monkeypatch.setattr(type(trainer.args), "should_save", False)
    trainer.save_model(trainer.args.output_dir)
    assert not list(Path(trainer.args.output_dir).glob("*.safetensors"))
