"""The site's sources: every page has a place, every link leads somewhere, and what is generated is up to date.

`make site` builds it, which CI does; here it is read as GitHub shows it, without the site's tools.
"""

import importlib.util
import re
from pathlib import Path

import pytest
import yaml

from seq2see.cli.parser import build_parser

ROOT = Path(__file__).resolve().parents[2]


def script(name):
    spec = importlib.util.spec_from_file_location(name, ROOT / "docs" / f"{name}.py")
    spec.loader.exec_module(module := importlib.util.module_from_spec(spec))
    return module


build_site, generate = script("build_site"), script("generate")
GENERATED = [path for path in sorted((ROOT / "docs").glob("*.md")) if generate.PART.search(path.read_text("utf-8"))]
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
                if not link.exists()]  # fmt: skip


def test_links_are_put_right_for_the_site():
    text = "[a](docs/look.md#x) [b](LOG.md) [c](Makefile) `[d](e)` ![f](docs/page.png)"
    page = build_site.relinked(text, "README.md", "index.md")
    assert page == "[a](look.md#x) [b](log.md) c (`Makefile`) `[d](e)` ![f](page.png)"
    assert build_site.relinked("[a](../LOG.md)", "docs/log/x.md", "log/x.md") == "[a](../LOG.md)", "nothing is there"
    assert build_site.relinked("[a](../../LOG.md)", "docs/log/x.md", "log/x.md") == "[a](../log.md)"


@pytest.mark.parametrize("path", GENERATED, ids=lambda path: path.name)
def test_what_is_generated_is_up_to_date(path):
    page = path.read_text("utf-8")
    assert page == generate.generated(page), "python docs/generate.py"


def test_every_generated_part_is_on_a_page():
    there = [name for path in GENERATED for _, name, _ in generate.PART.findall(path.read_text("utf-8"))]
    assert sorted(there) == sorted(generate.PARTS)


def test_every_route_has_its_row():
    page = (ROOT / "docs/http-api.md").read_text("utf-8")
    found = dict(re.findall(r"^\| `([A-Z]+ /\S*)` \| .+ \| (.*) \| .* \|$", page, re.MULTILINE))
    assert {"POST /translate", "POST /v1/look", "POST /models/{model}", "GET /languages"} <= set(found)
    assert found["POST /translate"] == "[LibreTranslateBody](#libretranslatebody)"
    assert "\n## LibreTranslateBody\n" in page and "| `q` (required) | string or list of string |" in page


def test_every_verb_has_its_section():
    verbs = re.findall(r"^    (\w+)(?: |$)", build_parser().format_help(), re.MULTILINE)
    said = re.findall(r"^## seq2see (\w+)$", (ROOT / "docs/command-line.md").read_text("utf-8"), re.MULTILINE)
    assert len(verbs) > 10 and said == verbs


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
