"""The page while a model learns behind it: what is told is shown, and then it is the translator, without a restart."""

import threading
import time

import httpx
import pytest
from accessibility import violations
from fastapi.testclient import TestClient
from serving import running

from seq2see.serve.app import make_app
from seq2see.serve.service import Service
from seq2see.serve.ui.mounting import loading

WEIGHTS = [round(255 * number / 5) for number in range(6)]
RECORD = {
    "state": "learning", "step": 412, "steps": 4312, "seconds_left": 201.0, "losses": [[50, 7.25], [400, 2.5]],
    "sentence": "The cat.", "translation": "<img src=x onerror=window.hit=1>", "log_prob": -3.0,
    "rows": ["Le", "chat"], "columns": ["The", "cat", "${window.hit=1}"], "maps": [[WEIGHTS, WEIGHTS[::-1]]] * 3,
}


@pytest.fixture
def learning(translator, tmp_path):
    """A server whose model comes when `gate` opens; `told` is what is told until then."""
    gate, told = threading.Event(), {"state": "starting"}

    def load():
        assert gate.wait(300)
        return translator

    with running({"tiny": load}, wait=False, page=True, lessons=str(tmp_path), training=lambda: dict(told)) as server:
        while server.app.state.page is loading:
            time.sleep(0.02)
        try:
            yield server, gate, told
        finally:
            gate.set()


def test_it_is_watched_learning_and_then_translates(open_tab, learning, translator):
    server, gate, told = learning
    tab = open_tab(server.url)
    tab.get_by_role("heading", name="A model is about to learn").wait_for()
    asked = httpx.post(f"{server.url}/v1/translate", json={"texts": ["The cat."]})
    assert (asked.status_code, asked.json()["code"]) == (503, "loading")
    told.update(RECORD)
    tab.get_by_text("Learning: step 412 of 4,312, 3:21 left").wait_for()
    assert RECORD["translation"] in tab.locator(".first-minute").inner_text()
    assert tab.locator(".learning-maps svg").count() == 6
    shade = tab.locator(".learning-maps svg").first.locator("rect").evaluate_all(
        "all => all.slice(0, 6).map(one => getComputedStyle(one).fill.match(/\\d+/g).map(Number)[0])")
    assert shade == sorted(shade, reverse=True) and shade[0] > shade[-1], "more is darker"
    told.update(step=413)
    tab.get_by_text("step 413 of 4,312").wait_for()
    assert tab.evaluate("window.hit") is None
    assert violations(tab) == []
    linked = open_tab(f"{server.url}/ui/?text=The+box.&from=en&to=de")
    linked.get_by_role("heading", name="Learning").wait_for()
    tab.evaluate("window.stayed = true")
    gate.set()
    linked.wait_for_function("text => document.querySelector('.tgt')?.textContent === text",
                             arg=translator("The box.", target="de").text)
    tab.locator(".explore").wait_for()
    assert tab.evaluate("window.stayed"), "no reload"
    assert tab.locator(".first-minute").count() == 0


def test_while_the_page_is_built_browsers_are_shown_one_that_asks_again():
    client = TestClient(make_app(Service()), base_url="http://127.0.0.1")
    shown = client.get("/ui/?text=The+cat.", headers={"Accept": "text/html,*/*;q=0.8"})
    assert shown.status_code == 503 and '<meta http-equiv="refresh" content="1">' in shown.text
    assert client.get("/ui/").json()["code"] == "loading"
