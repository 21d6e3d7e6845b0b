"""What the page shows first: the packaged model's own, readable without script, at work before Gradio is."""

import asyncio
import gzip
import json
from concurrent.futures import ThreadPoolExecutor
from importlib.resources import files

import pytest

from seq2see import Translator
from seq2see.lens.kinds import KINDS
from seq2see.pretrained import home_of
from seq2see.serve.access import Caller
from seq2see.serve.dialects.v1 import LookBody, look_reply
from seq2see.serve.service import Service
from seq2see.translate.loaded_checkpoint import fingerprint
from .conftest import CAT

WIDE = CAT.replace("tired", "wide")


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
    assert old["target_text"] == new["target_text"]
    for one, other in zip(old["evidence"]["heads"], new["evidence"]["heads"], strict=True):
        assert one["log_odds"] == pytest.approx(other["log_odds"], abs=1e-2) and one["instead"] == other["instead"]
    assert first["reply"]["measured"] == again["measured"]


def test_it_can_be_read_without_script(open_tab, packaged):
    tab = open_tab(packaged.url, ready=".s2s-first.light", java_script_enabled=False)
    first = tab.locator(".s2s-first.light")
    assert first.is_visible() and tab.locator(".s2s-first.dark").is_hidden()
    assert first.locator(".tgt").text_content() == "Le chat n'a pas traversé la rue parce qu'il était trop fatigué."
    said = " ".join(first.locator(".say").text_content().split())
    assert said.startswith("While writing il, this head looked back at")
    meaning = " ".join(first.locator(".meaning").text_content().split())
    assert "The model treats it as the cat and writes il (masculine)" in meaning


def test_it_opens_on_the_cat_at_il_as_it_is_kept(tab):
    """Else it was not made again after the explorer or the weights changed: python docs/first_view.py."""
    held = files("seq2see.serve.ui").joinpath("first_view.html").read_text(encoding="utf-8")
    parts = ":is(.line, .say, .meaning, .word, .pairs, .heads)"
    now = tab.evaluate("([html, parts]) => [...new DOMParser().parseFromString(html, 'text/html')"
                       ".querySelectorAll(`.s2s-first.light ${parts}`)].map(one => one.textContent)", [held, parts])
    shown = tab.locator(f".s2s:not(.s2s-first) {parts}").evaluate_all("all => all.map(one => one.textContent)")
    assert now == shown
    assert tab.locator(".w.sel").inner_text() == "il" and tab.locator(".s2s-first").count() == 0
    assert "storybook" in tab.get_by_role("button", name="Model:").inner_text()


def test_it_works_before_gradio_and_moves_in_as_the_reader_left_it(browser, packaged):
    held, free = [], []
    with browser.new_context(viewport={"width": 1440, "height": 900}) as context:
        tab = context.new_page()
        tab.route("**/assets/*.js", lambda route: route.continue_() if free else held.append(route))  # Gradio's scripts
        tab.goto(packaged.url, wait_until="commit")
        tab.locator(".s2s-early .tgt .w", has_text="rue").click()
        chosen = tab.locator(".s2s:not(.s2s-first) .word .big")
        assert chosen.inner_text() == "rue" and tab.title() == "Seq2See" and held
        assert tab.locator(".s2s-first").count() == 0
        free.append(True)
        for route in held:
            route.continue_()
        tab.locator("gradio-app .s2s-home > .s2s").wait_for()
        assert chosen.inner_text() == "rue" and tab.locator(".s2s").count() == 1
        assert tab.locator(".s2s-early").count() == 0
