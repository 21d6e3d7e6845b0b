"""What is measured: which pairs, beside which references; and that no finished training is lost for it."""

import itertools
import json
import re
import shutil
from collections import Counter
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest
import tiny
from hypothesis import example, given
from hypothesis import strategies as st

from seq2see import Translator
from seq2see.cli.command import main
from seq2see.errors import UserError
from seq2see.tokenizer.tokenization_seq2see import load_tokenizer
from seq2see.training import evaluation, metrics
from seq2see.training.config import DataConfig, RunConfig, load_config
from seq2see.training.evaluation import evaluate_run
from seq2see.training.metrics import compare, score
from seq2see.training.pairs import Pair, TrainingPairs, evenly_spaced, load_corpus, load_split
from seq2see.training.translation import translate_pairs
from .conftest import last_error, tiny_model, toy_pairs, train

LINES = [(f"the cat number {i} sleeps here", f"le chat {i} dort ici") for i in range(40)]
FAULTY = [*LINES[:3], (" ", LINES[3][1]), *LINES[4:9], LINES[1], *LINES[9:25]]  # in row 3 a fault, in row 9 a copy


@pytest.fixture
def measured(monkeypatch) -> list[Pair]:
    """Every translation is perfect; the pairs that were translated."""
    seen: list[Pair] = []

    def translate(translator, pairs, **settings) -> list[str]:
        seen.extend(pairs)
        return [pair.target for pair in pairs]

    pipeline = evaluation.pipeline
    monkeypatch.setattr(evaluation, "translate_pairs", translate)
    monkeypatch.setattr(evaluation, "pipeline", lambda model, **how: pipeline(model, **how) if model else {})
    return seen


def write_files(folder: Path, split: str, lines: list[tuple[str, str]], languages=("en", "fr")) -> None:
    for language, column in zip(languages, zip(*lines, strict=True), strict=True):
        (folder / f"{split}.{language}").write_text("".join(f"{text}\n" for text in column), "utf-8")


def write_references(folder: Path, split: str, lines: list[tuple[str, str]]) -> None:
    write_files(folder, split, [(target,) for _, target in lines], ["lc.norm.tok.fr"])


def write_table(path: Path, lines: list[tuple[str, str]]) -> Path:
    path.write_text("en\tfr\n" + "".join(f"{source}\t{target}\n" for source, target in lines), "utf-8")
    return path


def finished(folder: Path, **fields) -> dict:
    """The scores that a finished run on this folder has."""
    config = RunConfig("x", DataConfig(str(folder), **fields))
    return evaluate_run(None, config, load_corpus(config.data))  # type: ignore[arg-type]


@pytest.mark.parametrize(("final_pairs", "as_table"), [(7, True), (2000, True), (2000, False)])
def test_references_stay_beside_their_pairs(tmp_path, measured, monkeypatch, final_pairs, as_table):
    """Of a table too, whose lines are one more than its rows; whatever cleaning and thinning have left out."""
    monkeypatch.setattr(evaluation, "FINAL_PAIRS", final_pairs)
    write_files(tmp_path, "train", LINES[25:])
    if as_table:
        write_table(tmp_path / "val.tsv", FAULTY)
    else:
        write_files(tmp_path, "val", FAULTY)
    write_references(tmp_path, "val", FAULTY)
    row = finished(tmp_path, on_invalid="skip", duplicates="skip")["val"]
    assert row["pairs"] == len(measured) == min(final_pairs, 24)
    assert row["bleu_lc_tok"] == 100


def test_pairs_split_off_train_have_no_references(tmp_path, measured):
    """Though there are files of that name, with as many rows."""
    write_files(tmp_path, "train", LINES)
    write_files(tmp_path, "test", LINES)
    for split in ("val", "test"):
        write_references(tmp_path, split, LINES)
    scores = finished(tmp_path, val_fraction=0.3, test_fraction=0.3)
    assert set(scores) == {"val", "test"} and not any("bleu_lc_tok" in row for row in scores.values())


@pytest.mark.long
def test_storybook_s_stories_stay_beside_their_pairs(stories, measured, monkeypatch):
    monkeypatch.setattr(evaluation, "FINAL_PAIRS", 100)
    monkeypatch.setattr("seq2see.storybook.generate", lambda seed: stories)
    data = DataConfig("storybook", max_characters=60, on_invalid="skip")
    val, test = (load_split(data, split) for split in ("val", "test"))
    assert 100 < len(val) < len(stories.val) and 100 < len(test) < len(stories.test)
    corpus = TrainingPairs(train=None, val=val, test=[], skipped={}, fingerprint="")  # type: ignore[arg-type]
    scores = evaluate_run(None, RunConfig("x", data), corpus)  # type: ignore[arg-type]
    for row in scores.values():
        kinds = [figures for name, figures in row["families"].items() if "/" not in name]
        assert sum(figures["pairs"] for figures in kinds) == row["pairs"] <= 100
        assert {figures["exact_match"] for figures in kinds} == {100}


def test_a_test_pair_that_is_too_long_is_refused_before_training(tmp_path, capsys):
    table = write_table(tmp_path / "own.tsv", LINES)
    data = DataConfig(str(table), val_fraction=0.3, test_fraction=0.3)
    long = load_corpus(data).test[0]
    write_table(table, [(source, target + " ici" * 40 * (source == long.source)) for source, target in LINES])
    settings = [f"data.path={table}", "data.val_fraction=0.3", "data.test_fraction=0.3", "tokenizer.vocab_size=320",
                "model.max_position_embeddings=64", f"training.output_dir={tmp_path / 'run'}"]
    assert train(*settings) in (1, 2) and "but the model has 64 positions;" in last_error(capsys)
    assert not (tmp_path / "run").exists()


@pytest.fixture
def run(tmp_path, tokenizer) -> Path:
    """A run that has left copies, faulty and long pairs out of its table, and split it."""
    table = write_table(tmp_path / "own.tsv", [*FAULTY, ("x " * 40, "long")])
    data = DataConfig(
        str(table), val_fraction=0.3, test_fraction=0.3, max_characters=60, on_invalid="skip", duplicates="skip"
    )
    folder = tmp_path / "run"
    tiny_model(tokenizer).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    (folder / "run.yaml").write_text(RunConfig("own", data).to_yaml(), "utf-8")
    return folder


def change(run: Path, **fields) -> None:
    """Other data in the record of a run."""
    config = load_config(str(run / "run.yaml"))
    (run / "run.yaml").write_text(replace(config, data=replace(config.data, **fields)).to_yaml(), "utf-8")


def texts(pairs: list[Pair]) -> list[tuple[str, str]]:
    return [(pair.source, pair.target) for pair in pairs]


def evaluated(run: Path, capsys, *arguments: str) -> tuple[dict, str]:
    """The JSON object, and what is said beside it."""
    assert main(["evaluate", str(run), "--json", *map(str, arguments)]) == 0
    out, err = capsys.readouterr()
    return json.loads(out), err


def refused(run: Path, capsys, *arguments: str) -> str:
    assert main(["evaluate", str(run), *map(str, arguments)]) in (1, 2)
    return last_error(capsys)


def test_of_a_table_all_is_measured_or_the_part_that_is_named(run, tmp_path, measured, capsys):
    table = write_table(tmp_path / "other.tsv", LINES)
    result, said = evaluated(run, capsys, "--data", table)
    assert (result["split"], result["fr"]["pairs"]) == ("all", 40) and texts(measured) == LINES
    assert f"40 pairs of {table}, all" in said
    parts = {}
    for split in ("train", "val", "test"):
        measured.clear()
        result, said = evaluated(run, capsys, "--data", table, "--split", split)
        parts[split] = texts(measured)
        assert result["split"] == split and f"{len(measured)} pairs of {table}, {split}" in said
        assert parts[split] == texts(load_split(DataConfig(str(table), val_fraction=0.3, test_fraction=0.3), split))
    assert all(parts.values()) and sorted(sum(parts.values(), [])) == sorted(LINES)


def test_as_many_beams_search_as_are_asked_for(run, tmp_path, monkeypatch, capsys):
    asked = []
    monkeypatch.setattr(evaluation, "translate_pairs", lambda model, pairs, num_beams, **how:
                        asked.append(num_beams) or [pair.target for pair in pairs])
    table = write_table(tmp_path / "other.tsv", LINES)
    evaluated(run, capsys, "--data", table, "--num-beams", "3")
    evaluated(run, capsys, "--data", table)
    assert asked == [3, None]


def test_a_part_that_a_table_does_not_have_is_one_line(run, tmp_path, measured, capsys):
    table = write_table(tmp_path / "other.tsv", LINES)
    assert "there is no 'nonsense'" in refused(run, capsys, "--data", table, "--split", "nonsense")
    assert "train, val, test and all" in refused(run, capsys, "--split", "nonsense")
    change(run, test_fraction=0.0)
    assert "no 'test': the training set no test pairs aside" in (line := refused(run, capsys)) and "--split val" in line
    assert f"{table} has no pairs in all" in refused(run, capsys, "--data", write_table(table, []))
    assert not measured


def test_a_test_part_split_off_a_folder_is_found_again(run, tmp_path, measured, capsys):
    write_files(tmp_path, "train", LINES)
    change(run, path=str(tmp_path))
    corpus = load_corpus(load_config(str(run / "run.yaml")).data)
    assert evaluated(run, capsys)[0]["fr"]["pairs"] == len(corpus.test) > 0 and measured == corpus.test


@pytest.mark.parametrize("asked", [None, "de"])
def test_of_several_targets_each_is_measured(run, tmp_path, measured, capsys, asked):
    """However the run names its data: what needs all columns, or all files, gets them."""
    tokenizer = load_tokenizer(run)
    tokenizer.add_language("de")
    tokenizer.save_pretrained(run)
    config = json.loads((run / "config.json").read_text("utf-8"))
    (run / "config.json").write_text(json.dumps(config | {"language_pairs": [["en", "fr"], ["en", "de"]]}), "utf-8")
    rows = [(source, target, f"{target} auf Deutsch") for source, target in LINES]
    table = tmp_path / "three.tsv"
    table.write_text("".join("\t".join(row) + "\n" for row in rows), "utf-8")
    write_files(tmp_path, "side", rows, ("en", "fr", "de"))
    for data in (str(table), [str(tmp_path / f"side.{language}") for language in ("en", "fr", "de")]):
        measured.clear()
        change(run, path=data, target=["fr", "de"])
        test = load_corpus(load_config(str(run / "run.yaml")).data).test
        expected = [pair for to in ([asked] if asked else ["fr", "de"]) for pair in test if pair.target_language == to]
        result, _ = evaluated(run, capsys, *(["--to", asked] if asked else []))
        assert measured == expected and result["de"]["pairs"] == len(test) // 2 > 0


@example(count=1014, most=200, targets=1)
@example(count=201, most=200, targets=1)
@example(count=2028, most=2000, targets=2)
@given(count=st.integers(0, 3000), most=st.integers(1, 3000), targets=st.integers(1, 6))
def test_as_many_pairs_are_drawn_as_asked_for_evenly_and_of_each_language(count, most, targets):
    drawn = evenly_spaced([str(index % targets) for index in range(count)], most)
    assert len(drawn) == min(count, most) and drawn == sorted(set(drawn)) and set(drawn) <= set(range(count))
    rows = [[index // targets for index in drawn if index % targets == part] for part in range(targets)]
    assert max(map(len, rows)) - min(map(len, rows)) <= 1
    gaps = [{after - before for before, after in itertools.pairwise(row)} for row in rows]
    assert all(max(gap) - min(gap) <= 1 for gap in gaps if gap)


def test_of_several_targets_each_is_among_the_final_pairs(tmp_path, measured, monkeypatch):
    monkeypatch.setattr(evaluation, "FINAL_PAIRS", 20)
    for split in ("train", "val"):
        write_files(tmp_path, split, [(source, target, target) for source, target in LINES], ("en", "fr", "de"))
    finished(tmp_path, target=["fr", "de"])
    shares = Counter(pair.target_language for pair in measured)
    assert set(shares) == {"fr", "de"} and max(shares.values()) - min(shares.values()) <= 1


def test_of_other_data_nothing_is_left_out_and_of_its_own_it_is_told(run, tmp_path, measured, capsys):
    _, said = evaluated(run, capsys)
    for line in ("an empty side", "a side longer", "copies of other pairs"):
        assert f"own.tsv: skipped 1 pairs: {line}" in said
    measured.clear()
    lines = [*LINES, LINES[0], (f"{'the cat ' * 9}sleeps", "x")]
    table = write_table(tmp_path / "other.tsv", lines)
    assert evaluated(run, capsys, "--data", table)[0]["fr"]["pairs"] == 42 and texts(measured) == lines
    assert "line 5: an empty side" in refused(run, capsys, "--data", write_table(table, FAULTY))


def test_a_source_that_the_model_cannot_hold_is_refused(tokenizer):
    short, long = toy_pairs(1)[0], Pair("dog " * 99, "chien", "en", "fr")
    with pytest.raises(UserError, match=r"a source has \d+ tokens, but the model has 64 positions; it starts 'dog dog"):
        translate_pairs(Translator(tiny_model(tokenizer), tokenizer), [short, long], raw=True)


def test_another_model_is_scored_on_the_same_pairs(run, tmp_path, monkeypatch, capsys):
    """Its scores are those of `seq2see evaluate` on it alone; equal translations differ by chance alone."""
    worse = tmp_path / "worse"
    shutil.copytree(run, worse)
    said = {str(run): lambda pair: pair.target, str(worse): lambda pair: pair.target[:-2]}
    monkeypatch.setattr(evaluation, "translations", lambda model, pairs, **_: list(map(said[model.name], pairs)))
    table = write_table(tmp_path / "other.tsv", LINES)
    alone, _ = evaluated(worse, capsys, "--data", table)
    result, _ = evaluated(run, capsys, "--data", table, "--against", worse)
    against = result["fr"]["against"]
    assert result["fr"]["bleu"] == 100 and against["model"] == str(worse)
    assert (against["bleu"], against["chrf"]) == (alone["fr"]["bleu"], alone["fr"]["chrf"])
    assert max(against["bleu_p"], against["chrf_p"]) < 0.01 and re.search(r"trials, seed \d+$", against["test"])
    same, _ = evaluated(run, capsys, "--data", table, "--against", run)
    assert same["fr"]["against"]["bleu"] == 100 and same["fr"]["against"]["bleu_p"] == 1
    assert main(["evaluate", str(run), "--data", str(table), "--against", str(worse)]) == 0
    assert f"{worse} on the same pairs:\n  BLEU {against['bleu']}, difference +" in capsys.readouterr().out


def test_any_encoder_decoder_is_evaluated_on_data_that_are_named(tmp_path, capsys):
    folder = tiny.save(tmp_path / "marian", *tiny.make("marian"))
    table = write_table(tmp_path / "other.tsv", LINES[:3])
    result, _ = evaluated(folder, capsys, "--data", table, "--to", "fr", "--num-beams", "1")
    translated = Translator.from_pretrained(folder, engine="torch")([source for source, _ in LINES[:3]], num_beams=1)
    assert result["fr"]["chrf"] == round(score([one.text for one in translated], [to for _, to in LINES[:3]]).chrf, 2)
    assert "has no run.yaml" in refused(folder, capsys)


def test_a_baseline_of_another_pair_is_refused_by_name_before_anything_is_translated(run, tmp_path, measured, capsys):
    table, other = write_table(tmp_path / "other.tsv", LINES), tmp_path / "german"
    marian, tokenizer = tiny.make("marian")
    tiny.save(other, marian, tokenizer)
    settings = json.loads((other / "tokenizer_config.json").read_text("utf-8"))
    (other / "tokenizer_config.json").write_text(json.dumps(settings | {"source_lang": "en", "target_lang": "de"}))
    said = refused(run, capsys, "--data", table, "--against", other)
    assert f"{other}: this model does not translate to fr; choose en to de" in said and not measured


@pytest.mark.long
def test_differences_without_effect_are_significant_as_often_as_p_says(monkeypatch):
    """Two systems that are equally good; one sentence, or equal scores, say nothing."""
    monkeypatch.setattr(metrics, "DRAWS", 200)
    random = Random(0)
    words = [f"w{i}" for i in range(30)]
    references = [" ".join(random.choices(words, k=9)) for _ in range(40)]

    def noisy() -> list[str]:
        return [" ".join(random.choice(words) if random.random() < 0.3 else word for word in line.split())
                for line in references]

    found = [compare(noisy(), noisy(), references)["chrf_p"] for _ in range(40)]
    assert sum(p < 0.05 for p in found) <= 6 and 0.3 < sum(found) / len(found) < 0.7
    assert compare(["a b"], ["c d"], ["a b"])["bleu_p"] == 1
    assert compare([f"{line} " for line in references], references, references)["chrf_p"] == 1
