"""A page in a browser, from which no request may go elsewhere; every test that drives one is marked `browser`."""

import pytest
from serving import running


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
