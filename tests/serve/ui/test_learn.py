"""The tab Learn: the lessons that were run, or how to have them run."""

import json
import sys

import pytest
from accessibility import violations
from serving import running

ATTACK = "<img src=x onerror=window.hit=1>"
SVG = ('<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 10 10" onload="window.hit=1"><script>window.hit=1</script>'
       '<rect width="9" height="9" fill="var(--blue)"/></svg>')
LESSON = {
    "number": 3, "name": "l03_scaling", "title": f"Scaling {ATTACK}", "claim": "Scores of `d` numbers grow.",
    "how": "One.\n\nTwo.",
    "try": "More heads.", "verdict": {"word": "holds partly", "why": "0.3 is below 0.5.",
                                      "findings": [{"claim": "A claim", "word": "holds", "why": "Because."}]},
    "tables": [{"caption": "Figures", "columns": ["d", "x"], "rows": [["64", ATTACK]]}], "svg": SVG,
    "code": [{"name": "f", "file": "lessons/l03.py", "line": 7, "source": "x < 3"}],
    "look": {"text": "The cat.", "kind": "encoder", "layer": 1, "head": 0}, "seconds": 1.0, "result": {"big": [1] * 9},
}  # fmt: skip
RECORD = {"format": 1, "budget": "full", "model": "a model", "run": "here", "errata": [],
          "chapters": [{"title": "One", "about": "About.", "lessons": [3]}], "lessons": [LESSON]}
RUN = """
import json, pathlib, sys, time
print("[1/1] lesson 3: begun", file=sys.stderr, flush=True)
folder = pathlib.Path(sys.argv[sys.argv.index("--out") + 1])
while not (folder / "go").exists():
    time.sleep(0.02)
(folder / "lessons.json").write_text((folder / "go").read_text())
"""


@pytest.fixture
def learn(open_tab, translator, tmp_path, monkeypatch):
    """A tab of a page whose lessons lie in `tmp_path`."""
    monkeypatch.setattr("seq2see.serve.ui.learn_tab.LESSONS", [sys.executable, "-c", RUN])
    with running({"tiny": lambda: translator}, page=True, lessons=str(tmp_path), run_lessons=True) as server:
        yield open_tab(server.url)


def test_a_lesson_is_read_and_its_map_looked_at(learn, tmp_path):
    (tmp_path / "lessons.json").write_text(json.dumps(RECORD), "utf-8")
    learn.get_by_role("tab", name="Learn").click()
    learn.locator(".ls-lesson summary").click()
    learn.get_by_text("0.3 is below 0.5.").wait_for()
    text = learn.locator(".ls").inner_text()
    for part in ("holds partly", "0.3 is below 0.5.", "Two.", "A claim", "Figures", "64", ATTACK, "l03.py, line 7"):
        assert part in text
    assert learn.locator(".ls figure svg rect").count() == 1 and learn.locator(".ls svg script, .ls img").count() == 0
    assert learn.evaluate("window.hit") is None
    drawn = learn.locator(".ls svg rect")
    for scheme, blue in (("light", "rgb(31, 95, 174)"), ("dark", "rgb(111, 176, 242)")):
        learn.evaluate(f"document.body.classList.toggle('dark', {str(scheme == 'dark').lower()})")
        assert drawn.evaluate("node => getComputedStyle(node).fill") == blue
        assert violations(learn) == [], scheme
    learn.get_by_role("button", name="Look at").click()
    learn.get_by_role("tab", name="Look", selected=True).wait_for()
    learn.wait_for_function("document.querySelector('textarea.tr-text').value === 'The cat.'")
    learn.locator(".s2s-about", has_text="Encoder, layer 1, head 0").wait_for()


def test_they_are_run_by_a_button_with_their_progress(learn, tmp_path):
    learn.get_by_role("tab", name="Learn").click()
    learn.get_by_role("button", name="Run the lessons").click()
    learn.get_by_text("[1/1] lesson 3: begun").wait_for()
    (tmp_path / "go").write_text(json.dumps(RECORD), "utf-8")
    learn.locator(".ls-lesson").wait_for()


def test_without_leave_to_run_them_the_page_says_how(page):
    page.get_by_role("tab", name="Learn").click()
    page.get_by_text("seq2see lessons --out").wait_for()
    assert page.get_by_role("button", name="Run the lessons").count() == 0
