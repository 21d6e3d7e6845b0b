"""Gradio's page at /ui: a text, its translation, and the explorer of it; also under a plain `launch()`, where there is
no `/v1`."""

import contextlib

import pytest
import tiny
from accessibility import violations

import seq2see
from seq2see import Translator
from .conftest import CAT, settled, translate

pytestmark = pytest.mark.browser
STATION = "Where is the station?"


@pytest.fixture
def demo(open_tab, packaged):
    tab = open_tab(f"{packaged.url}/ui/")
    settled(tab)
    tab.set_default_timeout(60_000)
    return tab


def written(tab):
    return tab.get_by_label("Translation", exact=True).input_value()


def test_it_opens_on_the_first_sentence(demo):
    assert demo.get_by_label("Text", exact=True).input_value() == CAT
    assert written(demo) == demo.locator(".tgt").inner_text() == (
        "Le chat n'a pas traversé la rue parce qu'il était trop fatigué.")
    assert demo.locator(".tgt .w.sel").inner_text() == "il" and demo.locator("[data-says=antecedent]").is_visible()


def test_other_weights_translate_the_first_sentence_when_it_opens(open_tab, server, translator):
    tab = open_tab(f"{server.url}/ui/")
    settled(tab)
    assert written(tab).strip() == tab.locator(".tgt").inner_text().strip() == translator(CAT, target="fr").text.strip()


def test_a_text_is_translated_and_shown_beside_its_maps(demo):
    translate(demo, STATION)
    assert "gare" in written(demo) == demo.locator(".tgt").inner_text()
    assert demo.locator(".mini.on").count() and demo.locator(".see .rows canvas").is_visible()
    translate(demo, STATION, To="German")
    demo.wait_for_function("() => document.querySelector('.tgt')?.innerText.includes('Bahnhof')")
    assert "Bahnhof" in written(demo) == demo.locator(".tgt").inner_text()
    demo.get_by_role("link", name="Open in Lab").click()
    demo.get_by_role("link", name="What each layer would write").click()
    demo.get_by_text("after layer 1").first.wait_for()


def test_nothing_in_the_explorer_is_at_odds_with_the_text_above_it(demo):
    """Which alone says what is translated."""
    for name in ("Type your own", "From: English", "Model:", "Share"):
        assert demo.get_by_role("button", name=name).count() == 0, name
    assert demo.get_by_role("link", name="Learn", exact=True).count() == 0
    translate(demo, STATION)
    assert "text=" not in demo.url and "s2s" not in demo.evaluate("JSON.stringify(history.state)")


def test_an_example_is_one_click(demo):
    text = "The box did not fit in the bag because it was too small."
    demo.get_by_role("button", name=text).click()
    demo.wait_for_function("text => document.querySelector('textarea').value === text", arg=text)
    demo.get_by_role("button", name="Translate").click()
    demo.wait_for_function("() => document.querySelector('.tgt')?.innerText.includes('sac')")
    assert "sac" in written(demo)


def test_it_is_used_by_keyboard_alone(demo):
    demo.get_by_label("Text", exact=True).focus()
    demo.keyboard.press("ControlOrMeta+a")
    demo.keyboard.type(STATION)
    demo.keyboard.press("Shift+Enter")
    demo.wait_for_function("() => document.querySelector('.tgt')?.innerText.includes('gare')")
    settled(demo)
    demo.get_by_role("grid").focus()
    demo.keyboard.press("Control+Home")
    demo.keyboard.press("ArrowDown")
    assert "gave" in demo.locator(".see .say").inner_text()


@pytest.mark.parametrize("scheme", ["light", pytest.param("dark", marks=pytest.mark.long)])
def test_everybody_can_use_it(open_tab, packaged, scheme):
    tab = open_tab(f"{packaged.url}/ui/", color_scheme=scheme)
    settled(tab)
    assert tab.locator(".s2s").get_attribute("data-theme") == scheme
    for width in (1440, 390):
        tab.set_viewport_size({"width": width, "height": 900})
        settled(tab)
        assert violations(tab, context=".s2s") == []
        assert tab.evaluate("document.documentElement.scrollWidth") <= width


@pytest.fixture
def alone():
    """Opens the page of a translator under a plain `launch()`."""
    with contextlib.ExitStack() as stack:
        def launched(translator):
            blocks = seq2see.page(translator)
            stack.callback(blocks.close)
            return blocks.launch(prevent_thread_lock=True, quiet=True)[1]

        yield launched


def test_a_model_without_measured_roles_is_explored_through_gradio_alone(open_tab, alone):
    """As a published one is: no roles, no calibration, nothing said of its languages."""
    marian = Translator(*tiny.published_marian(), name="marian")
    tab, asked = open_tab(alone(marian)), []
    tab.on("request", lambda request: request.method == "POST" and asked.append(request.url))
    text = "The cat did not cross."
    translate(tab, text)
    assert tab.locator(".tgt").inner_text().strip() == marian(text).text.strip() == written(tab).strip()
    tab.get_by_role("link", name="Open in Lab").click()
    assert tab.locator(".inwords button").count() == 2 * (2 + 3 + 3), "all heads by words first, where no role is known"
    assert tab.locator(".badge.tone-blue, .badge.tone-green, .pip").count() == 0
    assert any("/gradio_api/run/ask" in url for url in asked) and not any("/v1/" in url for url in asked)
