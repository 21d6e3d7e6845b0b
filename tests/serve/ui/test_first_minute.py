"""The page while a model learns behind it: what is told is shown, and then it is the translator, without a restart."""

import threading
import time

import pytest
from accessibility import violations

from seq2see.serve.app import make_app
from seq2see.serve.server import Server
from seq2see.serve.service import Service
from seq2see.serve.settings import ServerSettings
from seq2see.serve.ui.place import loading

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

    settings = ServerSettings(rate=0, lessons=str(tmp_path), run_lessons=True)
    server = Server({"tiny": load}, host="127.0.0.1", port=0, settings=settings,
                         learning=lambda: dict(told))
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        while server.app.state.page is loading:
            time.sleep(0.02)
        yield server, gate, told
    finally:
        gate.set()
        server.should_exit = True
        thread.join(60)


def test_it_is_watched_learning_and_then_translates(open_tab, learning, translator):
    server, gate, told = learning
    tab = open_tab(server.url)
    tab.get_by_role("heading", name="A model is about to learn French").wait_for()
    assert tab.locator("textarea.tr-text").is_disabled()
    told.update(RECORD)
    tab.get_by_text("step 412 of 4,312").wait_for()
    assert "loss 2.50, from 7.25 at step 50" in tab.locator(".ln").inner_text()
    assert "about 3:21 left" in tab.locator(".ln").inner_text()
    assert tab.locator(".ln progress").evaluate("node => node.value") == pytest.approx(412 / 4312)
    assert tab.locator(".ln-target").inner_text() == RECORD["translation"]
    assert tab.locator(".ln-grid button").count() == 6
    shade = tab.get_by_role("button", name="Layer 2, head 0").locator("canvas").evaluate("""canvas => {
        const scale = window.devicePixelRatio, context = canvas.getContext('2d');
        return [0, 1, 2].map((c) => context.getImageData((c * 4 + 2) * scale, 2, 1, 1).data[0]); }""")
    assert shade[0] > shade[1] > shade[2], "more is darker"
    told.update(step=413)
    tab.get_by_text("step 413 of 4,312").wait_for()
    assert tab.evaluate("window.hit") is None
    assert violations(tab) == []

    def other_head(largest):
        told.update(step=told["step"] + 1, maps=[[WEIGHTS, WEIGHTS], [WEIGHTS, [0, 0, largest, *WEIGHTS[3:]]]])
        tab.get_by_text(f"step {told['step']} of 4,312").wait_for()
        return tab.locator(".ln-maps").inner_text()

    assert "layer 0, head 0, one of the most pointed" in other_head(120), "a little more is no reason to show another"
    assert "layer 1, head 1, one of the most pointed" in other_head(255)

    linked = open_tab(f"{server.url}/ui/?text=The+box.&from=en&to=de")
    linked.get_by_role("heading", name="A model learns French, now").wait_for()
    tab.evaluate("window.stayed = true")

    gate.set()
    for one, source, target in ((tab, "The cat.", "fr"), (linked, "The box.", "de")):
        one.locator(".ln").wait_for(state="hidden")
        one.wait_for_function("text => document.querySelector('.tr-out').textContent === text",
                              arg=translator(source, target=target).text)
        assert one.locator("textarea.tr-text:not([disabled])").input_value() == source
    assert tab.evaluate("window.stayed"), "no reload"
    again = open_tab(server.url)
    again.locator("textarea.tr-text:not([disabled])").wait_for()
    again.wait_for_timeout(1500)
    assert again.locator(".ln").is_hidden() and not again.locator("textarea.tr-text").input_value()


def test_the_lessons_are_offered_once_there_is_a_model(open_tab, learning):
    server, gate, _ = learning
    tab = open_tab(server.url)
    tab.get_by_role("tab", name="Learn").click()
    tab.get_by_text("which is not ready yet").wait_for()
    button = tab.get_by_role("button", name="Run the lessons")
    assert button.count() == 0
    gate.set()
    button.wait_for()
    assert tab.get_by_text("which is not ready yet").count() == 0


def test_while_the_page_is_built_browsers_are_shown_one_that_asks_again():
    from fastapi.testclient import TestClient

    client = TestClient(make_app(Service()), base_url="http://127.0.0.1")
    shown = client.get("/ui/?text=The+cat.", headers={"Accept": "text/html,*/*;q=0.8"})
    assert shown.status_code == 503 and '<meta http-equiv="refresh" content="1">' in shown.text
    assert client.get("/ui/").json()["code"] == "loading"


def test_until_then_nothing_else_is_served(learning):
    import httpx

    server, *_ = learning
    with httpx.Client(base_url=server.url) as client:
        assert client.get("/readyz").status_code == 503 and client.get("/ui/").status_code == 200
        asked = client.post("/v1/translate", json={"texts": ["The cat."]})
        assert (asked.status_code, asked.json()["code"]) == (503, "loading")
