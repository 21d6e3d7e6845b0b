"""What every lesson must have, how figures become text and JSON, and what the workbench keeps."""

import ast
import inspect
import json
import math
from dataclasses import dataclass, is_dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
import torch

from seq2see.lessons import contents, record
from seq2see.lessons.errata import ERRATA
from seq2see.lessons.lesson import Finding, Table, found, overall, spelled, to_data, undecided
from seq2see.lessons.workbench import Budget, Workbench
from seq2see.storybook import generate

WRITTEN = contents.chosen(None)


def test_there_are_eighteen_lessons_each_in_one_chapter() -> None:
    assert list(contents.NUMBERS) == list(range(1, 19))


def test_a_lesson_not_yet_written_is_passed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(contents, "CHAPTERS", (contents.Chapter("A", "", ("l03_scaling", "l99_nothing")),))
    assert contents.chosen(None) == contents.chosen(3) == ["l03_scaling"]
    assert contents.chosen(99) == []


@pytest.mark.parametrize("name", WRITTEN)
def test_every_lesson_has_the_same_shape(name: str) -> None:
    lesson: Any = contents.load(name)
    assert all(isinstance(getattr(lesson, text), str) and getattr(lesson, text) for text in ("TITLE", "CLAIM", "HOW",
                                                                                            "TRY"))
    assert lesson.SHOWN and all(inspect.isfunction(item) or inspect.isclass(item) for item in lesson.SHOWN)
    assert is_dataclass(lesson.Result)
    for function, arguments in (("compute", 1), ("judge", 1), ("tables", 1), ("look", 1), ("draw", 1)):
        assert len(inspect.signature(getattr(lesson, function)).parameters) == arguments


@pytest.mark.parametrize("name", WRITTEN)
def test_no_verdict_is_written_by_hand(name: str) -> None:
    """A finding's word comes from a comparison: no call of `Finding` or `Verdict`, and none of `found` with a bare
    word, yes or no."""
    tree = ast.parse(inspect.getsource(as_module(name)))
    for call in (node for node in ast.walk(tree) if isinstance(node, ast.Call)):
        called = ast.unparse(call.func)
        assert called not in ("Finding", "Verdict"), ast.unparse(call)
        if called == "found":
            assert not isinstance(call.args[1], ast.Constant), ast.unparse(call)


def as_module(name: str) -> ModuleType:
    module: Any = contents.load(name)
    assert isinstance(module, ModuleType)
    return module


def test_a_verdict_is_made_of_its_findings() -> None:
    good, bad = Finding("", "holds", ""), Finding("", "does not hold here", "")
    assert overall([good, good], "").word == "holds"
    assert overall([bad, bad], "").word == "does not hold here"
    assert overall([good, bad], "").word == "holds partly"


def test_what_is_undecided_counts_neither_way_and_is_said() -> None:
    good, bad = Finding("", "holds", ""), Finding("", "does not hold here", "")
    open_ = undecided("It is so.", "Who knows?")
    for findings, word in (([good], "holds"), ([bad], "does not hold here"), ([good, bad], "holds partly")):
        verdict = overall([*findings, open_], "Why.")
        assert (verdict.word, verdict.findings) == (word, (*findings, open_))
        assert verdict.why == f"Why. Not decidable here: 1 of {len(findings) + 1} parts."
    assert overall([open_], "").word == open_.word == "not decidable here"
    assert overall([good], "Why.").why == "Why."


def test_a_sentence_never_says_nan() -> None:
    none = math.nan
    said = found("", False, f"Of nannies {none:.0%} ({none:+.1%} to {none:.2f}), against {0.5:.0%}.")
    assert said.why == "Of nannies – (– to –), against 50%. (–: not measurable here.)"
    assert overall([said], f"{none:.3f} and {1:.0f}.").why == "– and 1. (–: not measurable here.)"
    assert overall([said], "All of it.").why == "All of it."


@pytest.mark.parametrize("value, text", [
    (3, "3"), (-12345, "−12,345"), (True, "yes"), (np.bool_(False), "no"), (0.0, "0"), (0.25, "0.250"), (-1.5, "−1.50"),
    (1234.5, "1,234"), (1e-6, "1.0e−06"), (math.nan, "–"), ("word", "word"), (np.float32(2.0), "2.00"),
    (math.inf, "inf"),
])  # fmt: skip
def test_figures_as_text(value: Any, text: str) -> None:
    assert spelled(value) == text


@dataclass(frozen=True)
class Figures:
    array: np.ndarray
    more: tuple[Any, ...]


def test_results_become_json() -> None:
    data = to_data(Figures(np.array([[1.23456789, np.nan]]), (np.int64(3), {"a": Figures(np.zeros(1), ())}, None)))
    assert json.loads(json.dumps(data, allow_nan=False)) == {
        "array": [[1.23457, None]], "more": [3, {"a": {"array": [0.0], "more": []}}, None],
    }
    with pytest.raises(TypeError, match="a set"):
        to_data({1})


def count_up(path: str, by: int) -> dict[str, Any]:
    Path(path).write_text(str(int(Path(path).read_text()) + by))
    return {"sum": torch.ones(2) * by}


def test_what_was_made_once_is_found_again(bench: Workbench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    counter = tmp_path / "count"
    counter.write_text("0")
    for by in (1, 1, 5):
        assert bench.cached(count_up, str(counter), by)["sum"].tolist() == [by, by]
    assert counter.read_text() == "6"
    source = inspect.getsource
    monkeypatch.setattr(inspect, "getsource", lambda item: source(item) + "# another source")
    bench.cached(count_up, str(counter), 1)
    assert counter.read_text() == "7"


def two() -> dict[str, Any]:
    return {"ones": torch.ones(2)}


@pytest.mark.parametrize("left", [None, b"", b"PK\x03\x04 cut", b"\x80\x02garbage"])
def test_what_is_kept_and_damaged_is_made_anew(
    bench: Workbench, left: bytes | None, capsys: pytest.CaptureFixture[str]
) -> None:
    bench.cached(two)
    [kept] = bench.shelf.glob("test_framework-two-*/kept.pt")
    kept.unlink() if left is None else kept.write_bytes(left)
    capsys.readouterr()
    assert bench.cached(two)["ones"].tolist() == [1, 1]
    said = capsys.readouterr().err
    assert str(kept.parent) in said and "making it anew" in said and said.count("\n") == 1
    assert bench.cached(two)["ones"].tolist() == [1, 1] and not capsys.readouterr().err


def test_the_corpus_is_the_one_that_the_run_was_trained_on(tmp_path: Path) -> None:
    (tmp_path / "run.yaml").write_text("data: {path: storybook}\ntraining: {seed: 3}\n")
    train = Workbench(tmp_path, Budget.REDUCED).corpus.train
    assert train == generate(seed=3, train_size=2_000).train != generate(seed=0, train_size=2_000).train


def threads() -> int:
    return torch.get_num_threads()


def test_what_is_kept_is_made_on_one_thread_wherever(bench: Workbench) -> None:
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        assert bench.cached(threads) == 1 and torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(before)


def test_seeds_and_budgets(bench: Workbench) -> None:
    assert bench.pick("full", "reduced") == "reduced" and bench.seeds == (0,)
    assert Workbench(bench.run).seeds == (0, 1, 2) and Workbench(bench.run).budget is Budget.FULL
    first, drawn = bench.seed(3).normal(), torch.rand(1)
    assert bench.seed(3).normal() == first and torch.rand(1) == drawn


def test_errata_are_decided_by_figures(bench: Workbench) -> None:
    """Every slip is one for any model: none of the sentences stands, and each has its figures."""
    shown = [record.run_erratum(bench, erratum) for erratum in ERRATA]
    assert not [item["title"] for item in shown if item["stands"]]
    assert all(item["table"]["rows"] and item["code"][0]["source"] for item in shown)
    json.dumps(shown, allow_nan=False)


def test_a_listing_is_the_file_itself() -> None:
    shown = record.listing(Table.of.__func__)  # type: ignore[attr-defined]
    lines = Path(inspect.getfile(Table)).read_text("utf-8").splitlines()
    assert shown["file"] == "lessons/lesson.py" and lines[shown["line"] - 1].strip() == "@classmethod"
    assert shown["source"].startswith("@classmethod\ndef of(")
