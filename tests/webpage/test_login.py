"""A page that wants a key: the reader logs in once, and the page's own requests carry it."""

from contextlib import nullcontext

import pytest
import tiny
from serving import running

from seq2see import Translator
from .conftest import settled, translate
from .test_behind_a_proxy import PREFIX, TEXT, proxied, write

KEY = "A-LONG-PASSWORD"


@pytest.fixture(scope="module")
def marian():
    return Translator(*tiny.published_marian(), name="marian")


@pytest.fixture(scope="module", params=["", PREFIX])
def guarded_page(marian, request):
    """The address of a page that wants a key, also in the folder of a proxy."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SEQ2SEE_API_KEYS", f"class {KEY}")
        with running({"marian": lambda: marian}, page=True, root_path=request.param) as server, (
                proxied(server.url) if request.param else nullcontext(server.url)) as url:
            yield url + request.param


def use(tab, marian, path):
    """Translates with the page, and waits for the evidence: three kinds of requests, all answered."""
    failed = []
    tab.locator(".s2s").wait_for(state="attached")
    tab.on("response", lambda answer: answer.status in (200, 401) or failed.append((answer.status, answer.url)))
    (write if path == "/" else translate)(tab, TEXT)
    settled(tab)
    assert tab.locator(".tgt").inner_text().strip() == marian(TEXT).text.strip()
    assert not failed


@pytest.mark.parametrize("path", ["/", pytest.param("/ui", marks=pytest.mark.long)])
def test_one_login_is_enough(open_tab, guarded_page, marian, path):
    use(open_tab(guarded_page + path, http_credentials={"username": "any", "password": KEY}), marian, path)


def test_the_key_may_be_in_the_address_and_is_carried_from_there(browser, guarded_page, marian):
    path = "/?num_beams=2"  # Gradio's script takes no such address
    tab = browser.new_context().new_page()
    tab.goto(guarded_page.replace("://", f"://any:{KEY}@") + path)
    use(tab, marian, "/")
    assert KEY not in tab.url and KEY not in tab.evaluate("document.baseURI") and tab.url.endswith(path)
