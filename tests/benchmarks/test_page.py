"""The benchmark of the page, in miniature: every time that it gives ends in what a visitor sees."""

import pytest
from serving import running

from seq2see import Translator


@pytest.mark.browser
def test_the_page_is_timed_from_its_address_to_a_click(browser, imported):
    bench = imported("page")
    with running({"storybook": lambda: Translator.from_pretrained("storybook")}, page=True) as server:
        found = bench.visit(browser, server.url, bench.SENTENCES[0], clicks=3)
    assert set(found) == {"explorer", "translation", "maps", "words that mattered", "a cell", "a head"}
    assert [len(found[name]) for name in ("explorer", "maps", "a cell", "a head")] == [1, 1, 3, 3]
    assert 400 < found["translation"][0] < found["maps"][0] < found["words that mattered"][0]
