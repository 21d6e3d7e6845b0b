"""The page of a whole quick run: text and data, and what a browser makes of it."""

import gzip
import html
import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest
from accessibility import violations

from seq2see.cli import command as cli
from seq2see.cli import lessons as command
from seq2see.errors import UserError
from seq2see.lessons import record
from seq2see.lessons.drawing import INK, Bars, to_svg
from seq2see.lessons.lesson_page import page, text
from seq2see.lessons.workbench import Workbench
from seq2see.manifest import write_manifest
from seq2see.serve.dialects.lessons import Lessons
from seq2see.serve.service import Service
from seq2see.serve.settings import ServerSettings

COMMAND = "seq2see lessons --run 'runs/a & b' --quick"
FEW = ["l03_scaling", "l15_worked_example"]  # on the page that the browser sees: what takes no time


@pytest.fixture(scope="module")
def made(bench: Workbench) -> dict[str, Any]:
    return record.collect(bench, FEW, command=COMMAND)


def test_the_shipped_page_says_what_the_lessons_say_today() -> None:
    """Else it was not made again: see *Releases* in CONTRIBUTING.md."""
    root = Path(__file__).resolve().parents[2]
    shipped = gzip.decompress((root / "lessons" / "lessons.html.gz").read_bytes()).decode()

    def plain(markup: str) -> str:
        return " ".join(html.unescape(re.sub(r"<[^>]+>|[*`]", "", markup)).split())

    said, told = plain(shipped), 0
    for path in (root / "lessons").glob("*.md"):
        for paragraph in re.split(r"\n\n|\n(?=- )", path.read_text("utf-8")):
            if "{" not in paragraph and not paragraph.startswith(("#", "-")):
                assert plain(paragraph) in said, (path.name, paragraph)
                told += 1
    assert told > 60


def test_the_record_is_json_and_has_its_shape(made: dict[str, Any]) -> None:
    assert json.loads(json.dumps(made, allow_nan=False)) == made
    assert [lesson["number"] for lesson in made["lessons"]] == [3, 5]
    assert made["chapters"] == [{"title": "Attention", "about": made["chapters"][0]["about"], "lessons": [3, 5]}]
    for lesson in made["lessons"]:
        assert re.fullmatch(r"\d+ of \d+ claims hold(, \d+ not decidable)?", lesson["verdict"]["word"])
        assert all(item["checks"] and item["why"] for item in lesson["verdict"]["findings"])
        assert "{" not in "".join((lesson["how"], lesson["verdict"]["why"], *lesson["slips"]))
        assert lesson["svg"].startswith("<svg viewBox=") and lesson["svg"].endswith("</svg>")
        assert lesson["code"] and lesson["tables"] and lesson["result"]
    assert made["budget"] == "reduced" and made["model"].endswith("50.0% of 2 unseen sentences translated exactly")


def test_pictures_take_their_colours_from_the_page(made: dict[str, Any]) -> None:
    for lesson in made["lessons"]:
        left = re.findall(r"(?<!, )#[0-9a-fA-F]{6}", lesson["svg"])  # after a comma: where the page has no such name
        assert not left, set(left)
        assert f"var(--ink, {INK})" in lesson["svg"]


def test_ids_are_unique_and_links_lead_somewhere(made: dict[str, Any]) -> None:
    whole = page(made)
    ids = re.findall(r'\bid="([^"]+)"', whole)
    assert len(ids) == len(set(ids))
    assert set(re.findall(r'href="#([^"]+)"', whole)) | set(re.findall(r"url\(#([^)]+)\)", whole)) <= set(ids)


def test_text_is_escaped_and_marked_up() -> None:
    assert text("a < b, `x < y` and *it*") == "a &lt; b, <code>x &lt; y</code> and <em>it</em>"
    assert text("3 * 4 * 5") == "3 * 4 * 5" and text("10% and 3 %") == "10\u202f% and 3\u202f%"
    assert text("off by 2e-16, −1.5e−06 and -0.5") == "off by 2 × 10<sup>−16</sup>, −1.5 × 10<sup>−6</sup> and −0.5"
    assert text("`1e-5`, p-1, 2020-11-20") == "<code>1e-5</code>, p-1, 2020-11-20"
    svg = to_svg([Bars("", ["a"], {"": [1.0]})], name="x", title='a "b" \\1 & <c>')
    assert svg.startswith("<svg viewBox=") and 'aria-label="a &quot;b&quot; \\1 &amp; &lt;c&gt;">' in svg


def test_a_quick_page_says_its_command_and_that_its_verdicts_mean_nothing(made: dict[str, Any]) -> None:
    assert "<code>seq2see lessons --run &#x27;runs/a &amp; b&#x27; --quick</code>" in page(made)
    assert "Its verdicts mean nothing" in page(made) and "mean nothing" not in page(made | {"budget": "full"})


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
    view.locator("[tabindex='0']").first.wait_for()
    assert view.locator("[tabindex='0']:not([role='group'][aria-label])").count() == 0
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
    assert "Lesson 3: Scaling" in out and "5 claims hold" in out and "lesson 3" in err
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["lesson-3.html", "lesson-3.json"]
    written = (tmp_path / "out" / "lesson-3.html").read_text("utf-8")
    assert html.escape("√d") in written
    assert f"Made by <code>seq2see lessons 3 --run {run} --quick</code>" in written


def test_all_lessons_make_the_page_that_a_server_shows_and_its_data(
    bench: Workbench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(command, "chosen", lambda number: FEW)
    monkeypatch.setattr(command, "set_up", lambda run, *, quick: bench)  # its corpus is written already
    assert cli.main(["lessons", "--out", str(tmp_path), "--quick"]) == 0
    assert json.loads((tmp_path / "lessons.json").read_text("utf-8"))["format"] == 2
    written = (tmp_path / "index.html").read_text("utf-8")
    served = Lessons(Service(settings=ServerSettings(lessons=str(tmp_path)))).reply()
    assert served.own and served.html == written
    assert not Lessons(Service(settings=ServerSettings(lessons=str(tmp_path / "none")))).reply().own


def test_the_run_is_the_one_that_is_named_or_that_of_here_or_the_packaged_one(
    run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("seq2see.pretrained.HOME", tmp_path / "package")
    with pytest.raises(UserError, match=r"package/storybook/manifest\.json is missing: restore .* storybook: pip"):
        command.set_up(None, quick=False)
    packaged = shutil.copytree(run, tmp_path / "package" / "storybook")
    (packaged / "ctranslate2-int8-0").mkdir()
    for folder in (packaged / "ctranslate2-int8-0", packaged):
        write_manifest(folder)
    assert command.set_up(None, quick=False).run == command.set_up("storybook", quick=False).run == packaged
    shutil.copytree(run, "runs/storybook")
    assert command.set_up(None, quick=False).run == Path("runs/storybook")
    assert command.set_up("storybook", quick=False).run == packaged
    assert command.set_up(str(run), quick=False).run == run


@pytest.mark.parametrize("quick", [True, False])
def test_a_named_run_that_is_not_finished_is_refused(
    tmp_path: Path, quick: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "begun").mkdir()
    (tmp_path / "begun" / "run.yaml").write_text("data: {path: storybook}\n")
    for name in ("misspelt", "begun"):
        folder = str(tmp_path / name)
        said = refused(["3", "--run", folder, *(["--quick"] if quick else [])], tmp_path, capsys)
        assert said.startswith(f"seq2see: error: {folder} is not a finished run")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["begun", "out"]


def refused(words: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> str:
    """The one line that `seq2see lessons` ends with, before anything is run."""
    capsys.readouterr()
    assert cli.main(["lessons", "--out", str(tmp_path / "out"), *words]) in (1, 2)
    said = capsys.readouterr().err
    assert said.count("\n") == 1, said
    return said


@pytest.mark.parametrize("settings, said", [
    ("data: {path: multi30k, source: en, target: de}", "trained on multi30k, en to de."),
    ("data: {path: storybook, source: fr, target: en}", "trained on storybook, fr to en."),
    ("", "trained on unknown data:"),
])  # fmt: skip
def test_a_run_of_another_corpus_or_with_cut_weights_is_refused(
    settings: str, said: str, run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    other = tmp_path / "runs" / "storybook"
    shutil.copytree(run, other)
    (other / "model.safetensors").write_bytes(b"cut")
    assert "model.safetensors" in refused(["3", "--run", str(other), "--quick"], tmp_path, capsys)
    (other / "run.yaml").write_text(settings)
    monkeypatch.chdir(tmp_path)
    assert said in refused(["3", "--run", str(other), "--quick"], tmp_path, capsys)
    assert said in refused(["3"], tmp_path, capsys), "it may hold another run"


def test_wrong_numbers_and_folders_cost_a_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "--out is empty" in refused(["3", "--out", ""], tmp_path, capsys)
    assert "/dev/null/x" in refused(["3", "--out", "/dev/null/x"], tmp_path, capsys)
    with pytest.raises(SystemExit):
        cli.main(["lessons", "19"])
    assert "from 1 to 18" in capsys.readouterr().err
