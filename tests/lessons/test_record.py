"""The record of a quick run, the one that ships, and the page that holds it; what a browser makes of them is tested in
tests/webpage/test_lessons_move.py."""

import base64
import gzip
import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from seq2see.cli import command as cli
from seq2see.cli import lessons as command
from seq2see.errors import UserError
from seq2see.folders import LESSONS_FORMAT, packaged_lessons
from seq2see.lessons import record
from seq2see.lessons.contents import chosen
from seq2see.lessons.drawing import INK, Bars, to_svg
from seq2see.lessons.workbench import Workbench
from seq2see.manifest import write_manifest
from seq2see.serve.apis.lessons import Lessons
from seq2see.serve.service import Service
from seq2see.serve.settings import ServerSettings

COMMAND = "seq2see lessons --quick"
FEW = ["l03_scaling", "l15_worked_example"]  # what takes no time


@pytest.fixture(scope="module")
def made(bench: Workbench) -> dict[str, Any]:
    return record.collect(bench, FEW, command=COMMAND)


def plain(markup: str) -> str:
    return " ".join(re.sub(r"[*`]", "", markup).split())


def test_the_shipped_record_is_whole_and_says_what_the_lessons_say_today() -> None:
    """Else it was not made again: see *Releases* in CONTRIBUTING.md."""
    root, shipped = Path(__file__).resolve().parents[2], json.loads(gzip.decompress(packaged_lessons()))
    assert (shipped["budget"], shipped["run"], shipped["seeds"]) == ("full", "storybook", [0, 1, 2])
    assert [lesson["name"] for lesson in shipped["lessons"]] == chosen(None)
    said, told = plain(json.dumps(shipped, ensure_ascii=False).replace('\\"', '"').replace("\\n", "\n")), 0
    for path in (root / "lessons").glob("*.md"):
        for paragraph in re.split(r"\n\n|\n(?=- )", path.read_text("utf-8")):
            if "{" not in paragraph and not paragraph.startswith(("#", "-")):
                assert plain(paragraph) in said, (path.name, paragraph)
                told += 1
    assert told > 60


def test_the_record_is_json_and_has_its_shape(made: dict[str, Any]) -> None:
    assert json.loads(json.dumps(made, allow_nan=False)) == made
    assert [lesson["number"] for lesson in made["lessons"]] == [3, 15]
    assert [(one["title"], one["lessons"]) for one in made["chapters"]] == [
        ("From words to a translation", [3]), ("The parts again, in detail", [15])]
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


def test_a_picture_says_its_title_escaped() -> None:
    svg = to_svg([Bars("", ["a"], {"": [1.0]})], name="x", title='a "b" \\1 & <c>')
    assert svg.startswith("<svg viewBox=") and 'aria-label="a &quot;b&quot; \\1 &amp; &lt;c&gt;">' in svg


def inside(page: Path, name: str) -> Any:
    """A part of a page with a model inside."""
    text = re.search(rf'<script type="[^"]*" id="{name}">(.*?)</script>', page.read_text("utf-8"), re.DOTALL)
    assert text
    return json.loads(text[1] if name == "settings" else gzip.decompress(base64.b64decode(text[1])))


def test_one_lesson_from_the_command_line(run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["lessons", "3", "--run", str(run), "--out", str(tmp_path / "out"), "--quick"]) == 0
    out, err = capsys.readouterr()
    assert "Lesson 3: Scaling" in out and "5 claims hold" in out and "lesson 3" in err
    page, data = sorted((tmp_path / "out").iterdir())
    assert (page.name, data.name) == ("lesson-3.html", "lesson-3.json")
    written = inside(page, "lessons")
    assert written == json.loads(data.read_text("utf-8"))
    assert (written["command"], written["budget"]) == (f"seq2see lessons 3 --run {run} --quick", "reduced")
    assert inside(page, "settings")["opened"] == "lesson-3"
    width = json.loads((run / "config.json").read_text("utf-8"))["d_model"]
    assert inside(page, "model")["model"]["architecture"]["d_model"] == width, "the run's own model is in the page"


def test_all_lessons_make_a_page_and_the_record_that_a_server_shows(
    bench: Workbench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(command, "chosen", lambda number: FEW)
    monkeypatch.setattr(command, "set_up", lambda run, *, quick: bench)  # its corpus is written already
    assert cli.main(["lessons", "--out", str(tmp_path), "--quick"]) == 0
    written = json.loads((tmp_path / "lessons.json").read_text("utf-8"))
    assert written == inside(tmp_path / "index.html", "lessons") and written["format"] == LESSONS_FORMAT
    assert inside(tmp_path / "index.html", "settings")["opened"] == "lessons"
    served = Lessons(Service(settings=ServerSettings(lessons=str(tmp_path)))).reply()
    assert served.own and served.record == written
    packaged = Lessons(Service(settings=ServerSettings(lessons=str(tmp_path / "none")))).reply()
    assert not packaged.own and packaged.record == json.loads(gzip.decompress(packaged_lessons()))


def test_of_a_model_that_no_browser_runs_the_record_alone_is_written(
    bench: Workbench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def refuse(*_: Any, **__: Any) -> None:
        raise UserError("not in a browser")

    monkeypatch.setattr("seq2see.webpage_data.one_file.web_page", refuse)
    monkeypatch.setattr(command, "set_up", lambda run, *, quick: bench)
    assert cli.main(["lessons", "3", "--out", str(tmp_path), "--quick"]) == 0
    assert [path.name for path in tmp_path.iterdir()] == ["lesson-3.json"]
    assert f"wrote {tmp_path / 'lesson-3.json'}, but no page: not in a browser" in capsys.readouterr().err


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
])
def test_a_run_of_another_corpus_or_with_cut_weights_is_refused(
    settings: str, said: str, run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
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
