"""A page in a browser, from which no request may go elsewhere; every test that drives one is marked `browser`."""

import json
import shutil

import pytest
import tiny
from serving import running

from seq2see import Translator
from seq2see.serve.ui import one_word
from seq2see.tokenizer import train_tokenizer


def pytest_collection_modifyitems(items):
    for item in items:
        if "browser" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.browser)


@pytest.fixture(scope="module")
def server(translator):
    """The page on a free port of 127.0.0.1, until the module's tests are done."""
    with running({"tiny": lambda: translator}, page=True) as made:
        yield made


@pytest.fixture
def open_tab(browser):
    """Tabs of visitors who know nothing of each other; a request to elsewhere, or an error, fails the test."""
    contexts, wrong = [], []

    def open_one(url, **settings):
        origin = "/".join(url.split("/")[:3])
        context = browser.new_context(**{"viewport": {"width": 1280, "height": 1000}, **settings})
        contexts.append(context)
        tab = context.new_page()
        tab.set_default_timeout(60_000)
        tab.on("request", lambda request: request.url.startswith((f"{origin}/", "data:", "blob:"))
               or wrong.append(request.url))
        tab.on("pageerror", lambda error: wrong.append(str(error)))
        tab.on("console", lambda said: ("js_on_load" in said.text or "404" in said.text) and wrong.append(said.text))
        tab.goto(url)
        tab.locator("textarea.tr-text").wait_for(state="attached")  # a link may have opened Look already
        return tab

    yield open_one
    for context in contexts:
        context.close()
    assert not wrong


@pytest.fixture
def page(open_tab, server):
    return open_tab(server.url)


@pytest.fixture(scope="module")
def both_ways():
    """English to French and French to English."""
    model, _ = tiny.seq2see()
    model.config.language_pairs = [["en", "fr"], ["fr", "en"]]
    return Translator(model, train_tokenizer(tiny.SENTENCES * 4, vocab_size=400, languages=["en", "fr"]), name="both")


@pytest.fixture(scope="module")
def knowing(folder, tmp_path_factory):
    """The tiny model, as if it knew the words of the sentences that differ in one; and its page."""
    run = tmp_path_factory.mktemp("knowing") / "run"
    shutil.copytree(folder, run)
    texts = "".join("".join([before, " ".join(words), after]) + " " for before, words, after in one_word.SENTENCES)
    words = sorted(set(texts.casefold().replace(".", "").split()))
    (run / "seen_words.json").write_text(json.dumps({"en": words}), encoding="utf-8")
    translator = Translator.from_pretrained(run, engine="torch")
    with running({"tiny": lambda: translator, "both": lambda: translator}, page=True) as server:
        yield server, translator
