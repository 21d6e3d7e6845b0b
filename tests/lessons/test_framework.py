"""What every lesson must have, how figures become text and JSON, and what the workbench keeps."""

import ast
import inspect
import json
import math
import re
from dataclasses import dataclass
from pathlib import Path
from string import Formatter
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch

from seq2see.lens.heads.role_scores import RoleScore
from seq2see.lens.records.intervals import Estimate
from seq2see.lessons import contents, prose
from seq2see.lessons.drawing import head_map
from seq2see.lessons.figures import likeness, rank_correlation, spelled, to_data
from seq2see.lessons.held_out import named, role_table
from seq2see.lessons.lesson import Check, count, word_of
from seq2see.lessons.workbench import Workbench
from seq2see.passes.hooks import Head
from seq2see.storybook import generate

WRITTEN = contents.chosen(None)


@pytest.mark.parametrize("name", WRITTEN)
def test_prose_and_module_fit_together(name: str) -> None:
    """Claims by the same keys, a figure for each placeholder, and no figure typed by hand."""
    lesson: Any = contents.load(name)
    text = prose.read_prose(name)
    assert list(text.claims) == list(text.findings) and len(text.claims) > 1
    tree = ast.parse(inspect.getsource(lesson))
    [made] = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and ast.unparse(node.func) == "Figures"]
    figures = {keyword.arg for keyword in made.keywords}
    filled = "".join((text.how, text.summary, *text.findings.values(), *text.slips))
    named = {re.split(r"[.\[]", field)[0] for _, field, _, _ in Formatter().parse(filled) if field}
    assert named <= figures or None in figures, named - figures
    for sentence in (text.summary, *text.findings.values(), *text.slips):
        left = re.sub(r"\{[^}]*\}|`[^`]*`|\*[^*]*\*", "", sentence)  # placeholders, code and examples
        assert not re.search(r"(?<![\w₀-₉])\d", left), sentence


@pytest.mark.parametrize("value, comparison, word", [
    (1.0, "<", "does not hold here"), (1.0, "≤", "holds"), (0.9, "=", "does not hold here"), (1.0, "≥", "holds"),
    (1.0, ">", "does not hold here"), (math.nan, "<", "not decidable here"),
])
def test_a_check_compares(value: float, comparison: Any, word: str) -> None:
    assert word_of([Check(value, comparison, 1.0)]) == word


def test_a_claim_holds_if_all_its_checks_pass() -> None:
    good, bad, unknown = Check(2, ">", 1), Check(0, ">", 1), Check(math.nan, ">", 1)
    for checks, word in (((good, good), "holds"), ((good, bad), "does not hold here"),
                         ((good, unknown), "not decidable here"), ((unknown, bad), "does not hold here")):
        assert word_of(checks) == word


@pytest.mark.parametrize(("words", "said"), [
    (["holds"], "1 of 1 claim holds"), (["holds", "does not hold here"], "1 of 2 claims hold"),
    (["not decidable here", "holds", "not decidable here"], "1 of 3 claims hold, 2 not decidable"),
])
def test_the_verdict_counts_what_holds_and_what_is_open(words: list[Any], said: str) -> None:
    assert count(words) == said


def test_equal_values_share_the_mean_of_their_ranks() -> None:
    """Ranks 1.5, 1.5, 3, 4 and 1, 2, 3, 4."""
    assert rank_correlation(np.array([7, 7, 8, 9]), np.array([1, 2, 3, 4])) == pytest.approx(0.9**0.5)


def test_a_check_says_what_was_measured_and_which_threshold_was_moved() -> None:
    assert str(Check(0.98765, "≥", 0.9)) == "0.988, required ≥ 0.9"
    moved = "growth: −3, required < 2 (set after a first result; the first threshold was 1.5)"
    assert str(Check(-3, "<", 2, "growth", was=1.5)) == moved


def test_placeholders_take_figures() -> None:
    figures = SimpleNamespace(share=-0.5, part=Estimate(0.5, 0.25, 1.0), rows=[0.1, 0.2], by={"a": 1.0}, none=math.nan)
    assert prose.fill("{share:.0%}, {part:.0%}, {part.value:.2f}", figures) == "−50%, 50% (25% to 100%), 0.50"
    assert prose.fill("{rows:.1f}; {rows[1]:.0%}; {by:.0f}", figures) == "0.1, 0.2; 20%; a 1"
    assert prose.fill("A – b: {none:.0%}.", figures) == "A – b: –. (–: could not be measured here.)"
    with pytest.raises(KeyError):
        prose.fill("{missing}", figures)


@pytest.mark.parametrize("value, text", [
    (-12345, "−12,345"), (np.bool_(False), "no"), (0.25, "0.250"), (1e-6, "1.0e−06"), (math.nan, "–"),
    (np.float32(2.0), "2.00"), (Estimate(0.5, 0.25, 1.0), "0.500 (0.250 to 1.00)"), (Estimate(2.0, 2.0, 2.0), "2.00"),
])
def test_figures_as_text(value: Any, text: str) -> None:
    assert spelled(value) == text


def test_two_computations_of_the_same_are_told_in_words() -> None:
    assert likeness(5.6e-17, within=1e-6) == "are the same, but for rounding"
    assert likeness(0.25, within=1e-6) == "differ by up to 0.250"
    assert likeness(math.nan, within=1e-6) == "differ by up to –"


def test_an_interval_counts_variants_of_a_sentence_as_one() -> None:
    alone, together = Estimate.of([0, 1] * 20), Estimate.of([0, 1] * 20, ["a", "b"] * 20)
    assert alone.value == together.value == 0.5
    assert (together.low, together.high) == (0, 1) and 0 < alone.low < alone.high < 1
    assert f"{Estimate.of([]):.0%}" == "–"


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


@pytest.mark.long
def test_the_corpus_is_the_one_that_the_run_was_trained_on(tmp_path: Path) -> None:
    (tmp_path / "run.yaml").write_text("data: {path: storybook}\ntraining: {seed: 3}\n")
    train = Workbench(tmp_path, quick=True).corpus.train
    assert train == generate(seed=3, train_size=2_000).train != generate(seed=0, train_size=2_000).train


def test_readers_count_layers_and_heads_from_1() -> None:
    """In Markdown, tables and maps; the record keeps what code needs, from 0."""
    heads = [Head("decoder", 1, 0), Head("cross", 0, 2)]
    figures = SimpleNamespace(head=heads[0], few=heads)
    first, second = "decoder self-attention, layer 2, head 1", "cross-attention, layer 1, head 3"
    assert prose.fill("{head}: {few}", figures) == f"{first}: {first}; {second}"
    assert to_data(figures.few) == [["decoder", 1, 0], ["cross", 0, 2]]
    drawn = head_map("", heads, [0.5, 0.2])
    assert (drawn.rows, drawn.columns) == (["decoder, layer 2", "cross, layer 1"], ["head 1", "head 2", "head 3"])
    role = RoleScore(heads[1], "antecedent", 0.6, 0.5, 0.7, 0.1, 0.2, None, 100, True, {})
    assert f"The best head is {second}. It gives" in named(role)
    assert role_table("", [role]).rows[0][1] == second


@pytest.mark.parametrize("name", WRITTEN)
def test_no_prose_counts_layers_or_heads_from_0(name: str) -> None:
    text = prose.read_prose(name)
    assert not re.search(r"count from 0|(layer|head) 0", " ".join((text.claim, text.how, text.summary, *text.slips)))
