"""What the page shows first: the packaged model's own answer, drawn as soon as the document is there; until a model is
loaded, a page that asks again."""

import asyncio
import gzip
import importlib.util
import json
from concurrent.futures import ThreadPoolExecutor
from importlib.resources import files

import pytest
from fastapi.testclient import TestClient
from PIL import Image
from serving import stub_server

from seq2see import Translator
from seq2see.passes.attention_kinds import KINDS
from seq2see.pretrained import home_of
from seq2see.serve.access import Caller
from seq2see.serve.apis.v1 import LookBody, look_reply
from seq2see.serve.app import make_app
from seq2see.serve.service import Service
from seq2see.translate.loaded_checkpoint import fingerprint
from .conftest import CAT, settled

WIDE = CAT.replace("tired", "wide")
HTML = {"Accept": "text/html,*/*;q=0.8"}


def test_the_first_view_is_the_packaged_model_s_own():
    """What is kept beside the page, computed again from the weights that are shipped."""
    first = json.loads(gzip.decompress(files("seq2see.serve.ui").joinpath("first_view.json.gz").read_bytes()))
    assert first["weights"] == fingerprint(home_of(first["model"]))
    service = Service({first["model"]: Translator.from_pretrained(first["model"])})
    body = LookBody(text=CAT, source="en", target="fr", maps=list(KINDS), evidence=True, others=[WIDE])
    with ThreadPoolExecutor(1) as thread:  # the browser has an event loop in this one
        again = json.loads(thread.submit(asyncio.run, look_reply(service, body, Caller("test"))).result())
    service.close()
    [old], [new] = first["reply"]["traces"], again["traces"]
    assert old["target_text"] == new["target_text"] and old.keys() == new.keys()
    assert old["calibrated"].keys() == new["calibrated"].keys()
    for one, other in zip(old["evidence"]["heads"], new["evidence"]["heads"], strict=True):
        assert one["log_odds"] == pytest.approx(other["log_odds"], abs=1e-2) and one["instead"] == other["instead"]
    assert first["reply"]["measured"] == again["measured"]


def test_it_opens_on_the_cat_at_il_without_any_other_file_or_answer(browser, packaged):
    asked, tab = [], browser.new_page(viewport={"width": 1440, "height": 900})
    tab.on("request", lambda request: asked.append(request.url.removeprefix(packaged.url)))
    tab.route("**/v1/**", lambda route: route.abort())  # only the other sentence of the pair is asked for
    tab.goto(packaged.url)
    settled(tab)
    assert tab.locator(".w.sel").inner_text() == "il" and "chat" in tab.locator(".see .say").inner_text()
    assert tab.locator("[data-says=antecedent]").is_visible()
    assert "storybook" in tab.get_by_role("button", name="Model:").inner_text()
    assert tab.title() == "Seq2See" and {one for one in asked if "/v1/" not in one} <= {"/", "/favicon.ico"}
    tab.close()


def test_the_pictures_in_the_documentation_show_it_as_it_is(tab, root):
    """Its words, labels, layers and figures; else python docs/pictures.py and docs/animation.py."""
    spec = importlib.util.spec_from_file_location("pictures", root / "docs" / "pictures.py")
    pictures = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(pictures)
    now, files = pictures.mark(tab), [*root.glob("docs/page*.png"), root / "docs" / "seq2see.webp"]
    for path in files:
        with Image.open(path) as picture:
            assert now in (picture.info.get("first view"), picture.info.get("xmp", b"").decode()), path.name
    assert len(files) == 5


def test_other_weights_translate_the_first_sentence_themselves(open_tab, server, translator):
    tab = open_tab(server.url)
    settled(tab)
    assert tab.locator(".tgt").inner_text().strip() == translator(CAT, source="en").text.strip()
    assert tab.get_by_role("link", name="Watch it learn").count() == 0, "no training was recorded"
    tab.get_by_role("link", name="Lab", exact=True).click()
    tab.locator(".rail", has_text="the page switches heads off").wait_for()


def test_without_javascript_it_says_what_it_needs(open_tab, packaged):
    tab = open_tab(packaged.url, ready="noscript", java_script_enabled=False)
    assert tab.locator("noscript").is_visible() and "JavaScript" in tab.locator("noscript").text_content()


@pytest.mark.parametrize("path", ["/", "/ui/"])
def test_while_a_model_is_loaded_browsers_are_shown_a_page_that_asks_again(path):
    client = TestClient(make_app(Service()), base_url="http://127.0.0.1")
    shown = client.get(f"{path}?text=The+cat.", headers=HTML)
    assert shown.status_code == 503 and '<meta http-equiv="refresh" content="1">' in shown.text
    assert client.head(path, headers=HTML).status_code == 503
    assert client.get(path).json()["code"] == "loading"


def test_without_gradio_there_is_the_page_and_ui_says_what_is_missing(monkeypatch):
    monkeypatch.setattr("seq2see.serve.server.find_spec", lambda name: None)
    with stub_server(page=True) as client:
        assert "explorer(" in client.get("/").text
        answer = client.get("/ui/")
        assert answer.status_code == 404 and "pip install 'seq2see[serve]'" in answer.json()["error"]
