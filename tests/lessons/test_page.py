"""The page of a whole quick run: text and data, and what a browser makes of it."""

import copy
import html
import json
import re
from pathlib import Path
from typing import Any

import pytest
from accessibility import violations

from seq2see import cli
from seq2see.lessons import command, contents, record
from seq2see.lessons.page import page, table, text
from seq2see.lessons.workbench import Workbench
from seq2see.training import packaged

FEW = ["l03_scaling", "l05_worked_example"]  # on the page that the browser sees: what takes no time


@pytest.fixture(scope="module")
def made(bench: Workbench) -> dict[str, Any]:
    return record.collect(bench, FEW, errata=True)


def test_the_record_is_json_and_has_its_shape(made: dict[str, Any]) -> None:
    assert json.loads(json.dumps(made, allow_nan=False)) == made
    assert [lesson["number"] for lesson in made["lessons"]] == [3, 5]
    assert made["chapters"] == [{"title": "Attention", "about": made["chapters"][0]["about"], "lessons": [3, 5]}]
    for lesson in made["lessons"]:
        assert lesson["verdict"]["word"] in ("holds", "holds partly", "does not hold here")
        assert lesson["svg"].startswith("<svg viewBox=") and lesson["svg"].endswith("</svg>")
        assert lesson["code"] and lesson["tables"] and lesson["result"]
    assert made["budget"] == "reduced" and made["model"].endswith("50.0% of 2 unseen sentences translated exactly")


def test_pictures_take_their_colours_from_the_page(made: dict[str, Any]) -> None:
    for lesson in made["lessons"]:
        left = re.findall(r"(?<!, )#[0-9a-fA-F]{6}", lesson["svg"])  # after a comma: where the page has no such name
        assert not left, set(left)
        assert "var(--ink, #1b2430)" in lesson["svg"]


def test_pictures_carry_nothing_that_is_not_seen(made: dict[str, Any]) -> None:
    for lesson in made["lessons"]:
        tags = re.findall("<[^>]+>", lesson["svg"])
        assert "font-family" not in lesson["svg"]
        assert not [tag for tag in tags if re.search(r"\d\.\d{3}", tag)] and "\n " not in lesson["svg"]
        assert len(lesson["svg"]) < 60_000
    example = made["lessons"][1]
    assert max(len(table["columns"]) for table in example["tables"]) <= 25
    assert len(example["result"]["model"]["stream_ND"][0]) == 32, "the data has every component"


def test_ids_are_unique_and_links_lead_somewhere(made: dict[str, Any]) -> None:
    whole = page(made)
    ids = re.findall(r'\bid="([^"]+)"', whole)
    assert len(ids) == len(set(ids))
    assert set(re.findall(r'href="#([^"]+)"', whole)) | set(re.findall(r"url\(#([^)]+)\)", whole)) <= set(ids)


def test_the_page_wants_nothing_from_elsewhere(made: dict[str, Any]) -> None:
    # Names of XML namespaces are no addresses to fetch.
    outside = re.findall(r'(?:src|href|url)\s*[=(]\s*"?https?:[^"\s)]*', page(made))
    assert not outside


def test_text_is_escaped_and_marked_up() -> None:
    assert text("a < b, `x < y` and *it*") == "a &lt; b, <code>x &lt; y</code> and <em>it</em>"
    assert text("3 * 4 * 5") == "3 * 4 * 5"
    assert text("off by 2e-16, 0e+00, −1.5e−06 and -0.5") == (
        "off by 2 × 10<sup>−16</sup>, 0, −1.5 × 10<sup>−6</sup> and −0.5"
    )
    assert text("10% and 3 %") == "10\u202f% and 3\u202f%"
    assert text("`1e-5`, p-1, 2020-11-20") == "<code>1e-5</code>, p-1, 2020-11-20"


def test_columns_of_figures_stand_to_the_right() -> None:
    shown = table({"caption": "c", "columns": ["", "n"], "rows": [["a", "−1.50"], ["b", "1.0e−06"]], "folded": False})
    assert "<td>a</td><td class=\"figure\">−1.50</td>" in shown and "6</sup></td>" in shown
    folded = table({"caption": "c", "columns": ["", "n"], "rows": [["a", "1"]], "folded": True})
    assert folded.startswith("<details>") and "(1 × 1)" in folded


def test_a_quick_page_says_that_its_verdicts_mean_nothing(made: dict[str, Any]) -> None:
    assert "Its verdicts mean nothing" in page(made)
    full = copy.deepcopy(made) | {"budget": "full"}
    assert "mean nothing" not in page(full)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_browser_shows_it(made: dict[str, Any], scheme: str, tmp_path: Path, browser: Any) -> None:
    file = tmp_path / "index.html"
    file.write_text(page(made), "utf-8")
    view = browser.new_page(viewport={"width": 390, "height": 800}, color_scheme=scheme)
    wrong: list[str] = []
    view.on("pageerror", lambda error: wrong.append(str(error)))
    view.on("console", lambda message: wrong.append(message.text) if message.type in ("error", "warning") else None)
    view.on("request", lambda request: wrong.append(request.url) if not request.url.startswith("file:") else None)
    view.goto(file.as_uri())
    assert view.evaluate("document.documentElement.dataset.theme") == scheme
    assert view.evaluate("document.documentElement.scrollWidth") <= 390  # nothing sticks out on a phone
    inks = view.evaluate("[...document.querySelectorAll('figure svg text')].map((one) => getComputedStyle(one).fill)")
    assert view.evaluate("getComputedStyle(document.body).color") in inks
    assert violations(view) == []
    view.get_by_role("button", name="Light" if scheme == "dark" else "Dark").click()
    assert view.evaluate("document.documentElement.dataset.theme") != scheme
    view.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert view.locator("details:not([open])").count() == 0
    assert view.evaluate("document.documentElement.dataset.theme") == "light"
    view.evaluate("dispatchEvent(new Event('afterprint'))")
    assert view.locator("details:not([open])").count() > 0
    view.close()
    assert not wrong


def test_one_lesson_from_the_command_line(run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["lessons", "3", "--run", str(run), "--out", str(tmp_path / "out"), "--quick"]) == 0
    out, err = capsys.readouterr()
    assert "Lesson 3: Scaling" in out and "Verdict: holds" in out and "lesson 3" in err
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["lesson-3.html", "lesson-3.json"]
    assert html.escape("√d") in (tmp_path / "out" / "lesson-3.html").read_text("utf-8")


def test_all_lessons_make_the_page_and_its_data(
    bench: Workbench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(command, "chosen", lambda number: FEW)
    monkeypatch.setattr(command, "set_up", lambda run, *, quick: bench)  # its corpus is written already
    assert cli.main(["lessons", "--out", str(tmp_path), "--quick"]) == 0
    data = json.loads((tmp_path / "lessons.json").read_text("utf-8"))
    assert data["format"] == 1 and len(data["errata"]) > 5 and (tmp_path / "index.html").is_file()
    assert capsys.readouterr().out.splitlines()[0].split()[:2] == ["3", "holds"]


def test_a_run_that_is_not_there_is_trained_and_told(
    run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    trained: list[Path] = []
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(command, "train_storybook", trained.append)
    assert command.set_up(None, quick=False).run == Path("runs/storybook")
    assert trained == [Path("runs/storybook")]
    assert "runs/storybook holds no finished model: training it first" in capsys.readouterr().err
    assert command.set_up(str(run), quick=False).run == run and len(trained) == 1
    assert packaged.is_finished(run)


def test_wrong_numbers_and_folders_cost_a_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["lessons", "3", "--out", "/dev/null/x"]) == 1
    assert capsys.readouterr().err.count("\n") == 1
    with pytest.raises(SystemExit):
        cli.main(["lessons", "19"])
    assert "from 1 to 18" in capsys.readouterr().err


def test_only_a_lesson_that_is_there_can_be_asked_for(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(contents, "CHAPTERS", ())
    assert cli.main(["lessons", "3", "--out", str(tmp_path)]) == 2
