"""Look for everybody: by keyboard, by axe-core's rules, on every screen, and with texts of every sort."""

import pytest
from accessibility import violations
from looking import panel, serving, settled

from seq2see.serve.service import Service
from seq2see.serve.settings import ServerSettings
from seq2see.serve.ui.adapter import Shown


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", ["Step", "Arithmetic", "Switch off", "What if", "Words", "Training"])
def test_everybody_can_use_it(look, scheme, name):
    look.emulate_media(color_scheme=scheme)
    look.evaluate(f"document.body.classList.toggle('dark', {str(scheme == 'dark').lower()})")
    part = panel(look, name)
    settled(look)
    if name == "What if":
        part.get_by_role("radio", name="other search").check()
        part.get_by_role("button", name="Compare").click()
        settled(look)
    assert look.locator(".s2s").get_attribute("data-theme") == scheme
    look.locator(".s2s-map summary").first.click()
    assert violations(look, context=".s2s-look") == []
    look.locator(".s2s-map summary").first.click()
    look.evaluate("document.body.classList.remove('dark')")
    look.emulate_media(color_scheme="light")


@pytest.mark.parametrize("width", [390, 768, 1440])
def test_it_fits_every_screen(look, width):
    look.set_viewport_size({"width": width, "height": 900})
    look.wait_for_timeout(100)
    for name in ("Step", "Arithmetic", "Switch off", "What if", "Words", "Training"):
        panel(look, name)
        settled(look)
        assert look.evaluate("document.documentElement.scrollWidth") <= width, name


def test_the_keyboard_alone_reaches_everything(look):
    """From the first chip on, tab by tab: every control is met, and the focus can be seen."""
    look.locator(".s2s-piece").first.focus()
    met = []
    for _ in range(40):
        look.keyboard.press("Tab")
        met.append(look.evaluate("(() => { const at = document.activeElement; return at.closest('.s2s-look') "
                                 "? (at.getAttribute('aria-label') || at.textContent).slice(0, 30) : '' })()"))
    for wanted in ("View", "Layer", "Head", "Cross-attention, layer 2, head", "Heat map", "The numbers of", "PNG"):
        assert any(wanted in one for one in met), (wanted, met)
    look.get_by_role("tab", name="Step", exact=True).focus()
    look.keyboard.press("ArrowRight")
    look.keyboard.press("Enter")
    assert look.get_by_role("tabpanel", name="Arithmetic").is_visible()


def test_text_never_runs_as_code_and_is_written_from_its_own_side(browser, translator):
    attack = "<img src=x onerror=window.hit=1> ${window.hit=1} {{window.hit=1}}"
    results = [translator(attack, source="en", target="fr"), translator("שלום עולם", source="en", target="fr")]
    service = Service({attack: translator}, ServerSettings(rate=0))
    both = Shown.of(results[0], model=attack)
    both = both.model_copy(update={"parts": both.parts + Shown.of(results[1], model=attack).parts})
    with serving(service, value=both.model_dump(mode="json")) as address:
        tab = browser.new_page()
        tab.set_default_timeout(20_000)
        tab.goto(address)
        tab.locator(".s2s-scroll canvas").wait_for()
        for name in ("Arithmetic", "Switch off", "What if", "Step"):
            panel(tab, name)
        tab.locator(".s2s-map summary").first.click()
        tab.get_by_label("The text was translated in parts").select_option(index=1)
        tab.locator(".s2s-pieces[dir='rtl']").first.wait_for()
        assert tab.evaluate("window.hit") is None
        assert tab.locator(".s2s-look img, .s2s-look script").count() == 0
        tab.close()
    service.close()
