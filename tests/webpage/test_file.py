"""The page with the model inside, as one file that a browser opens from the disk: what the tests of the served page do
not see, which run with it too (`EVERYWHERE`)."""

import re
from pathlib import Path

import pytest

from seq2see import Translator
from seq2see.cli.command import main
from .conftest import open_tool, settled, to_see, type_in


def path_of(file):
    return Path(file.removeprefix("file://"))


def test_it_is_small_and_has_only_what_a_model_in_a_page_can_do(open_tab, file):
    assert path_of(file).stat().st_size <= 6_000_000
    tab = open_tab(file, offline=True)
    settled(tab)
    for menu, wanted in (("from", "English"), ("to", "French\nstorybook"), ("model", "storybook")):
        tab.locator(f"[data-menu={menu}]").click()
        assert tab.locator(".pop button").count() == 1 and tab.locator(".pop").inner_text().startswith(wanted)
        tab.keyboard.press("Escape")
    open_tool(tab, "All maps")
    for said in ("Everything runs on this device.", "This file does not recognise placeholders, HTML or the language"):
        assert said in tab.locator(".rail").inner_text()


def test_a_typed_sentence_is_translated_and_a_head_is_switched_off(open_tab, file):
    tab = open_tab(file, offline=True)
    settled(tab)
    open_tool(tab, "Head off")
    tab.get_by_text("Without").first.wait_for()
    to_see(tab)
    type_in(tab, "The goat did not eat the apple because it was too small.")
    tab.wait_for_function("() => document.querySelector('.tgt')?.innerText.startsWith('La chèvre')")
    settled(tab)
    assert tab.locator(".see .rows canvas").is_visible() and tab.locator(".mini").count() == 24


@pytest.mark.parametrize(("change", "said"), [
    (lambda page: page[:page.index("s2s_file.openFile")], "Nothing to see: this file is damaged"),
    (lambda page: page[:len(page) // 2], "This file is damaged or incomplete. Copy or download it again."),
    (lambda page: page[:1_500_000] + ("A" if page[1_500_000] != "A" else "B") + page[1_500_001:],
     "The model is damaged. Copy or download the page again."),
])
def test_a_damaged_file_is_said_in_one_sentence(open_tab, file, tmp_path, change, said):
    damaged = tmp_path / "damaged.html"
    damaged.write_text(change(path_of(file).read_text("utf-8")), encoding="utf-8")
    tab = open_tab(damaged.as_uri(), ready="body", offline=True)
    tab.get_by_text(said).wait_for()


def test_the_page_says_that_it_reads_the_model_before_the_first_translation(browser, file):
    tab = browser.new_page()
    tab.add_init_script("window.Worker = class { postMessage() {} };")
    tab.goto(file)
    tab.locator(".note").get_by_text("Reading the model…").wait_for()
    tab.close()


@pytest.mark.parametrize(("browser_without", "said"), [
    ("delete window.Worker", "The model in this page needs Worker. Use a newer browser."),
    ("delete window.DecompressionStream", "The model in this page needs DecompressionStream"),
    ("window.Worker = class { constructor() { throw new Error('no'); } }", "The browser did not start the worker"),
])
def test_a_browser_that_lacks_something_is_told_what(browser, file, browser_without, said):
    tab = browser.new_page()
    tab.add_init_script(browser_without)
    tab.goto(file)
    tab.locator(".note").get_by_text(said).wait_for()
    tab.close()


@pytest.mark.long
def test_a_larger_model_is_little_more_than_its_int8_weights_and_has_all_languages(open_tab, tmp_path):
    path, weights = tmp_path / "everyday.html", Translator.from_pretrained("everyday", engine="torch").model
    assert main(["export", "everyday", "--format", "web", "--out", str(path)]) == 0
    assert path.stat().st_size <= 1.4 * weights.num_parameters() + 3_000_000
    tab = open_tab(f"{path.as_uri()}?text=I was tired.&to=de", offline=True)
    tab.wait_for_function("() => document.querySelector('.tgt')?.innerText === 'Ich war müde.'")
    tab.locator("[data-menu=to]").click()
    tab.get_by_role("menuitemradio", name="French").click()
    tab.wait_for_function("() => document.querySelector('.tgt')?.innerText.startsWith(\"J'étais\")")


@pytest.mark.parametrize(("address", "ready", "first", "last"), [
    ("#lesson-3", ".lesson", "upright", "upright"), ("#story", ".tale", "upright", "wide"),
    ("", ".see", "wide", "wide"),
])
def test_a_lesson_prints_upright_and_a_map_or_the_machine_across(open_tab, file, address, ready, first, last):
    tab = open_tab(file + address, ready=ready, offline=True)
    pages = re.findall(rb"/MediaBox \[0 0 ([\d.]+) ([\d.]+)\]", tab.pdf(prefer_css_page_size=True))
    assert ["wide" if float(width) > float(height) else "upright" for width, height in (pages[0], pages[-1])] == [
        first, last]
