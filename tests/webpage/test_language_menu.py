"""The menus of a model of many languages: found by typing, those chosen lately first, by the keyboard alone."""

import pytest
import tiny
from serving import running

from seq2see import Translator


@pytest.fixture(scope="module")
def many(tmp_path_factory):
    """The page of a random NLLB."""
    folder = tiny.nllb(tmp_path_factory.mktemp("hub") / "nllb")
    with running({"nllb": lambda: Translator.from_pretrained(folder)}, page=True) as made:
        yield made


def test_a_language_is_found_by_typing_and_stands_first_afterwards(open_tab, many):
    tab = open_tab(f"{many.url}/?text=The+cat.&from=eng_Latn&to=fra_Latn")
    menu = tab.get_by_role("button", name="To: French")
    menu.click()
    items, search = tab.locator(".pop [role^=menuitem]:visible"), tab.get_by_label("Find a language")
    assert items.count() == 202 and search.evaluate("one => one.getRootNode().activeElement === one")
    search.press_sequentially("chinese")
    assert items.all_inner_texts() and all("Chinese" in one for one in items.all_inner_texts())
    search.fill("hin_Deva")
    assert items.count() == 1 and "Hindi" in items.first.inner_text()
    search.press("Enter")
    chosen = tab.get_by_role("button", name="To: Hindi")
    chosen.click()
    assert "Hindi" in items.first.inner_text() and items.count() == 202
    search.press("ArrowDown")
    assert items.first.evaluate("one => one.getRootNode().activeElement === one")
    tab.keyboard.press("Escape")
    assert chosen.evaluate("one => one.getRootNode().activeElement === one")
    tab.locator(".from-menu button").click()
    assert "Hindi" in items.first.inner_text() and search.count() == 1


def test_a_few_languages_have_no_search(open_tab, server):
    tab = open_tab(server.url)
    tab.locator(".to-menu button").click()
    assert tab.locator(".pop [role^=menuitem]").count() == 2 and tab.locator(".pop [data-find]").count() == 0


def test_tags_are_named_on_the_map(open_tab, many):
    tab = open_tab(f"{many.url}/?text=The+cat.&from=eng_Latn&to=fra_Latn")
    tab.locator("[role=grid] [role=columnheader][aria-label='from English']").first.wait_for()
