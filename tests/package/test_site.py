"""The site's sources: every page has a place, every link leads somewhere, and what the code says is written in.

`make site` builds it, which CI does; here it is read as GitHub shows it, without the site's tools.
"""

import importlib.util
import re
import sys
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]


def script(name):
    """A script of docs/, which other scripts there may import by its name."""
    spec = importlib.util.spec_from_file_location(name, ROOT / "docs" / f"{name}.py")
    sys.modules[name] = module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


generate, build_site = script("generate"), script("build_site")
EXPERIMENTS = sorted((ROOT / "docs/log").glob("*.md"))
DOCUMENTS = [ROOT / "README.md", *(ROOT / name for name in build_site.PAGES), *(ROOT / "docs").glob("*.md")]


def listed(entry):
    if isinstance(entry, str):
        return [entry]
    return [page for one in (entry.values() if isinstance(entry, dict) else entry) for page in listed(one)]


def linked(document):
    text = re.sub(r"^```.*?^```|`[^`\n]*`", "", document.read_text("utf-8"), flags=re.MULTILINE | re.DOTALL)
    return {(document.parent / link).resolve() for link in re.findall(r"\]\(([^)#\s]+)", text) if "://" not in link}


def test_every_page_is_in_the_navigation_once_and_every_experiment_in_the_log():
    pages = [path.name for path in (ROOT / "docs").glob("*.md")] + list(build_site.PAGES.values())
    assert sorted(listed(yaml.safe_load((ROOT / "mkdocs.yml").read_text("utf-8"))["nav"])) == sorted(pages)
    assert set(EXPERIMENTS) <= linked(ROOT / "LOG.md")


def test_every_link_of_a_document_leads_somewhere():
    assert not [(document.name, link) for document in [*DOCUMENTS, *EXPERIMENTS] for link in linked(document)
                if not link.exists()]


def test_no_document_names_a_script_that_is_gone():
    rooms = "|".join(sorted(path.name for path in ROOT.iterdir() if path.is_dir() and path.name.isidentifier()))
    script = re.compile(rf"(?<![\w/.-])(?:{rooms})/[a-z0-9_/]+\.(?:py|m?js)\b(?!on)")
    texts = {document: document.read_text("utf-8") for document in [*DOCUMENTS, *EXPERIMENTS]}
    assert sum(len(script.findall(text)) for text in texts.values()) > 50
    assert not [(document.name, name) for document, text in texts.items() for name in script.findall(text)
                if not (ROOT / name).is_file()]


def test_the_front_page_has_a_place_for_the_explorer():
    assert len(build_site.PICTURE.findall((ROOT / "docs/index.md").read_text("utf-8"))) == 1


def test_the_network_is_shown_whole():
    """Each piece ends where it ends, and no function of the network but helpers and ready hooks is left out."""
    script = (ROOT / generate.NETWORK).read_text("utf-8")
    shown = {name: generate.javascript_of(script, name) for *_, names in generate.PIECES for name in names}
    assert shown["softmax"].startswith("function softmax(x, at, size) {") and shown["softmax"].endswith("\n}")
    assert shown["Network.logits"].startswith("// The score [R,V]") and shown["Network.logits"].count("\n") == 1
    every = set(re.findall(r"^(?:export )?(?:function|class) (\w+)", script, re.MULTILINE))
    others = {"linear", "erf", "fourRows", "oneRow", "fourRowsOfInt8", "oneRowOfInt8", "longer", "join", "resolved",
              "logSum", "together", "recorder", "mapsOf", "headsOff", "feedForwardOff"}
    assert every - {name.partition(".")[0] for name in shown} <= others


def test_links_are_put_right_for_the_site():
    text = "[a](docs/look.md#x) [b](LOG.md) [c](Makefile) `[d](e)` ![f](docs/page.png)"
    page = build_site.relinked(text, "README.md", "index.md")
    assert page == "[a](look.md#x) [b](log.md) c (`Makefile`) `[d](e)` ![f](page.png)"
    text = "[a](../lessons/03-scaling.md) [b](../lessons/) [c](lessons.md#x)"
    page = build_site.relinked(text, "docs/look.md", "look.md")
    assert page == "[a](explorer.html#lesson-3) [b](explorer.html#lessons) [c](lessons.md#x)"
    assert build_site.relinked("[a](../LOG.md)", "docs/log/x.md", "log/x.md") == "[a](../LOG.md)", "nothing is there"
    assert build_site.relinked("[a](../../LOG.md)", "docs/log/x.md", "log/x.md") == "[a](../log.md)"


def test_a_list_after_text_or_code_is_a_list_on_the_site_too():
    text = "# A\n- a\n  b\n- c\n\nText:\n- d\n```yaml\nx:\n- e\n```\n1. f\n2. g\n"
    room = build_site.with_room(text)
    assert room == "# A\n- a\n  b\n- c\n\nText:\n\n- d\n```yaml\nx:\n- e\n```\n\n1. f\n2. g\n"


def test_every_part_is_on_one_page_and_says_what_the_code_has():
    pages = {path: path.read_text("utf-8") for path in (ROOT / "docs").glob("*.md")}
    assert sorted(name for page in pages.values() for name in generate.PART.findall(page)) == sorted(generate.PARTS)
    written = "\n".join(map(generate.generated, pages.values()))
    for words in ("| `training.learning_rate` |", "## seq2see serve", "`--no-browser`", "`POST /v1/translate`",
                  "| `num_beams` | 1 to 64 |", "[Translator](../", "[attribute](../", "function softmax(",
                  "::: seq2see.lens.ablate"):
        assert words in written, words


@pytest.mark.parametrize(("page", "fault"), [
    ('<a href="b.html">b</a>', "links b.html, which is not there"),
    ('<a href="#b">b</a>', "links #b, which has no such anchor"),
    ('<img src="https://a.example/b.png">', "loads https://a.example/b.png"),
    ('<link rel="stylesheet" href="//a.example/b.css">', "loads //a.example/b.css"),
])
def test_a_broken_site_is_told(tmp_path, page, fault):
    (tmp_path / "a.html").write_text('<a href="a.html#c" id="c">a</a><a href="https://a.example">b</a>', "utf-8")
    assert not list(build_site.broken(tmp_path))
    (tmp_path / "a.html").write_text(page, "utf-8")
    assert list(build_site.broken(tmp_path)) == [f"a.html {fault}"]


SHEET = ROOT / "docs" / "class-hour.html"


def section(page, heading):
    text = (ROOT / "docs" / f"{page}.md").read_text("utf-8")
    return re.search(rf"^## {re.escape(heading)}\n(.*?)(?:^## |\Z)", text, re.MULTILINE | re.DOTALL)[1]


def test_the_sheet_of_the_class_hour_needs_no_other_file_and_its_questions_have_answers():
    text = SHEET.read_text("utf-8")
    assert not re.search(r"(?:src|href)=|url\(|@import", text)
    questions = re.findall(r"<li><b>(.*?)</b>", text)
    answers = re.findall(r"^\d\. \*(.*?)\*", section("answers", "The class hour"), re.MULTILINE)
    subjects = ("three vectors", "prevent", "mask|words after it", "head", "cross-attention", "temperature", "cache",
                "map")
    assert len(questions) == len(answers) == len(subjects) == 8
    for subject, question, answer in zip(subjects, questions, answers, strict=True):
        assert re.search(subject, question) and re.search(subject, answer), (question, answer)
    assert build_site.shutil.ignore_patterns(*build_site.UNPUBLISHED)(str(ROOT / "docs"), [SHEET.name]) == set()


def test_every_question_of_the_question_sheet_has_an_answer():
    lessons = [str(int(path.name[:2])) for path in sorted((ROOT / "lessons").glob("[0-9]*.md"))]
    for page, heading in (("question-sheet", "Questions"), ("answers", "The questions")):
        assert re.findall(r"^(\d+)\. ", section(page, heading), re.MULTILINE) == lessons
    asked = re.findall(r"\b([A-G])\. ", section("question-sheet", "One exercise of 85 minutes: why *il*?"))
    answered = re.findall(r"^- \*\*([A-G])\*\*", section("answers", "The exercise: why *il*?"), re.MULTILINE)
    assert asked == answered == [*"ABCDEFG"]


@pytest.mark.browser
@pytest.mark.parametrize("paper", [{"prefer_css_page_size": True}, {"format": "A4"}, {"format": "Letter"}])
def test_the_sheet_of_the_class_hour_is_one_page(browser, paper):
    tab = browser.new_page()
    tab.goto(SHEET.as_uri())
    printed = tab.pdf(**paper)
    tab.close()
    assert len(re.findall(rb"/Type\s*/Page\b", printed)) == 1
    if paper.get("format") != "Letter":
        width, height = map(float, re.search(rb"/MediaBox\s*\[0 0 ([\d.]+) ([\d.]+)\]", printed).groups())
        assert (width, height) == pytest.approx((595, 842), abs=1), "A4"
