"""What every lesson must have, how figures become text and JSON, and what the workbench keeps."""

import ast
import inspect
import json
import math
import re
from dataclasses import dataclass
from pathlib import Path
from string import Formatter
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch

from seq2see.lessons import contents, prose, record
from seq2see.lessons.interval import Interval, over_seeds, ranks, spelled, to_data
from seq2see.lessons.lesson import Check, Claim, Table, count
from seq2see.lessons.workbench import Budget, Workbench
from seq2see.storybook import generate

WRITTEN = contents.chosen(None)


def test_there_are_eighteen_lessons_each_in_one_chapter() -> None:
    assert list(contents.NUMBERS) == list(range(1, 19))


@pytest.mark.parametrize("name", WRITTEN)
def test_prose_and_module_fit_together(name: str) -> None:
    """Claims by the same keys, and a figure for each placeholder, as far as can be told without measuring."""
    lesson: Any = contents.load(name)
    text = prose.read_prose(name)
    assert list(text.claims) == list(text.findings) and len(text.claims) > 1
    assert all((text.title, text.claim, text.how, text.summary, text.next))
    assert lesson.SHOWN and all(inspect.isfunction(item) or inspect.isclass(item) for item in lesson.SHOWN)
    for function in ("measure", "claims", "tables", "panels"):
        assert len(inspect.signature(getattr(lesson, function)).parameters) == 1
    tree = ast.parse(inspect.getsource(as_module(name)))
    [made] = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and ast.unparse(node.func) == "Figures"]
    figures = {keyword.arg for keyword in made.keywords}
    filled = "".join((text.how, text.summary, *text.findings.values(), *text.slips))
    named = {re.split(r"[.\[]", field)[0] for _, field, _, _ in Formatter().parse(filled) if field}
    assert named <= figures or None in figures, named - figures


@pytest.mark.parametrize("name", WRITTEN)
def test_no_figure_is_typed(name: str) -> None:
    """Whatever was measured comes from the record: outside placeholders, code and examples no sentence has a digit."""
    text = prose.read_prose(name)
    for sentence in (text.summary, *text.findings.values(), *text.slips):
        left = re.sub(r"\{[^}]*\}|`[^`]*`|\*[^*]*\*", "", sentence)
        assert not re.search(r"(?<![\w₀-₉])\d", left), sentence


@pytest.mark.parametrize("name", WRITTEN)
def test_a_source_is_named(name: str) -> None:
    """A textbook or paper with its year."""
    text = prose.read_prose(name)
    assert re.search(r"\((?:[^()]|\([^()]*\))*\b(?:19|20)\d\d\b|\w \((?:19|20)\d\d", text.claim), text.claim


@pytest.mark.parametrize("name", WRITTEN)
def test_no_verdict_is_written_by_hand(name: str) -> None:
    """A check compares what was measured with a threshold: its value is never a number in the source."""
    tree = ast.parse(inspect.getsource(as_module(name)))
    made = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and ast.unparse(node.func) == "Check"]
    assert not [ast.unparse(call) for call in made if isinstance(call.args[0], ast.Constant)]


def as_module(name: str) -> ModuleType:
    module: Any = contents.load(name)
    assert isinstance(module, ModuleType)
    return module


@pytest.mark.parametrize("value, comparison, word", [
    (0.9, "<", "holds"), (1.0, "<", "does not hold here"), (1.0, "≤", "holds"), (1.1, "≤", "does not hold here"),
    (1.0, "=", "holds"), (0.9, "=", "does not hold here"), (1.0, "≥", "holds"), (0.9, "≥", "does not hold here"),
    (1.1, ">", "holds"), (1.0, ">", "does not hold here"), (math.nan, "<", "not decidable here"),
])  # fmt: skip
def test_a_check_compares(value: float, comparison: Any, word: str) -> None:
    assert Claim("", "", (Check(value, comparison, 1.0),)).word == word


def test_a_claim_holds_if_all_its_checks_pass() -> None:
    good, bad, unknown = Check(2, ">", 1), Check(0, ">", 1), Check(math.nan, ">", 1)
    for checks, word in (((good, good), "holds"), ((good, bad), "does not hold here"),
                         ((good, unknown), "not decidable here"), ((unknown, bad), "does not hold here")):
        assert Claim("", "", checks).word == word


def test_a_verdict_counts_claims() -> None:
    good, bad, unknown = (Claim("", "", (Check(value, ">", 1),)) for value in (2.0, 0.0, math.nan))
    assert count([good, good, bad]) == "2 of 3 claims hold"
    assert count([good, bad, unknown]) == "1 of 3 claims hold, 1 not decidable"


def test_a_check_says_what_was_measured_and_which_threshold_was_moved() -> None:
    assert str(Check(0.98765, "≥", 0.9)) == "0.988, required ≥ 0.9"
    moved = "growth −3, required < 2 (set after a first result; it was 1.5)"
    assert str(Check(-3, "<", 2, "growth", was=1.5)) == moved


MARKDOWN = """# Title

About it (Somebody 2017).

## Claims

- one: It is
  so.

## What was done

First.

Then.

## What came out

In short {share:.0%}.

- one: {share:.1%} of {names}.

## Try next

More.
"""


def test_markdown_is_read_by_its_sections() -> None:
    text = prose.parse(MARKDOWN, "x.md")
    assert (text.title, text.claim, text.how) == ("Title", "About it (Somebody 2017).", "First.\n\nThen.")
    assert text.claims == {"one": "It is so."} and text.findings == {"one": "{share:.1%} of {names}."}
    assert (text.summary, text.next, text.slips) == ("In short {share:.0%}.", "More.", ())
    assert prose.parse(f"{MARKDOWN}## Common slips\n\n- A\n  b.\n- C.", "x.md").slips == ("A b.", "C.")
    with pytest.raises(ValueError, match=r"x\.md: the sections must be Claims, "):
        prose.parse(MARKDOWN.replace("## Try next", "## Try"), "x.md")


def test_placeholders_take_figures() -> None:
    figures = SimpleNamespace(share=-0.5, part=Interval(0.5, 0.25, 1.0), rows=[0.1, 0.2], by={"a": 1.0}, none=math.nan)
    assert prose.fill("{share:.0%}, {part:.0%}, {part.value:.2f}", figures) == "−50%, 50% (25% to 100%), 0.50"
    assert prose.fill("{rows:.1f}; {rows[1]:.0%}; {by:.0f}", figures) == "0.1, 0.2; 20%; a 1"
    assert prose.fill("A – b: {none:.0%}.", figures) == "A – b: –. (–: could not be measured here.)"
    with pytest.raises(KeyError):
        prose.fill("{missing}", figures)


@pytest.mark.parametrize("value, text", [
    (3, "3"), (-12345, "−12,345"), (True, "yes"), (np.bool_(False), "no"), (0.0, "0"), (0.25, "0.250"), (-1.5, "−1.50"),
    (1234.5, "1,234"), (1e-6, "1.0e−06"), (math.nan, "–"), ("word", "word"), (np.float32(2.0), "2.00"),
    (math.inf, "inf"), (Interval(0.5, 0.25, 1.0), "0.500 (0.250 to 1.00)"), (Interval(2.0, 2.0, 2.0), "2.00"),
])  # fmt: skip
def test_figures_as_text(value: Any, text: str) -> None:
    assert spelled(value) == text


def test_an_interval_counts_variants_of_a_sentence_as_one() -> None:
    alone, together = Interval.of([0, 1] * 20), Interval.of([0, 1] * 20, ["a", "b"] * 20)
    assert alone.value == together.value == 0.5
    assert (together.low, together.high) == (0, 1) and 0 < alone.low < alone.high < 1
    assert f"{Interval.of([]):.0%}" == "–"


def test_over_seeds_ends_are_the_lowest_and_the_highest() -> None:
    assert over_seeds(np.array([[1.0, 3.0], [2.0, 2.0]])) == [Interval(2.0, 1.0, 3.0), Interval(2.0, 2.0, 2.0)]


def test_ranks_share_ties() -> None:
    assert ranks(np.array([10, 20, 20, 5])).tolist() == [2, 3.5, 3.5, 1]


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
def test_what_is_kept_and_damaged_is_computed_again(
    bench: Workbench, left: bytes | None, capsys: pytest.CaptureFixture[str]
) -> None:
    bench.cached(two)
    [kept] = bench.shelf.glob("test_framework-two-*/kept.pt")
    kept.unlink() if left is None else kept.write_bytes(left)
    capsys.readouterr()
    assert bench.cached(two)["ones"].tolist() == [1, 1]
    said = capsys.readouterr().err
    assert str(kept.parent) in said and "computing it again" in said and said.count("\n") == 1
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


def test_a_listing_is_the_file_itself() -> None:
    shown = record.listing(Table.of.__func__)  # type: ignore[attr-defined]
    lines = Path(inspect.getfile(Table)).read_text("utf-8").splitlines()
    assert shown["file"] == "lessons/lesson.py" and lines[shown["line"] - 1].strip() == "@classmethod"
    assert shown["source"].startswith("@classmethod\ndef of(")
