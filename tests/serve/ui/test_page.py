"""The page in a real browser: it translates, shows values, runs no text as code, and asks nothing of the network."""

import json
import urllib.error
import urllib.request

import pytest
from serving import running

ATTACK = "<img src=x onerror=window.hit=1> ${window.hit=1} `{{window.hit=1}}` <script>window.hit=1</script>"


@pytest.fixture(scope="module")
def server(translator):
    """The page on a free port of 127.0.0.1, until the module's tests are done."""
    with running({"tiny": lambda: translator}, page=True) as made:
        yield made


@pytest.fixture
def page(browser, server):
    """A tab with the page; a request to elsewhere, or a page error, fails the test."""
    context = browser.new_context(viewport={"width": 1280, "height": 1400})
    tab = context.new_page()
    wrong = []
    tab.on("request", lambda request: request.url.startswith((server.url, "data:")) or wrong.append(request.url))
    tab.on("pageerror", lambda error: wrong.append(str(error)))
    tab.goto(server.url)
    tab.locator("#source textarea").wait_for()
    tab.set_default_timeout(60_000)
    yield tab
    context.close()
    assert not wrong


def translate(tab, text, *, key=None):
    tab.locator("#source textarea").fill(text)
    tab.wait_for_timeout(300)  # Gradio takes up what is typed a moment later
    tab.keyboard.press(key) if key else tab.locator("#translate").click()
    tab.get_by_role("tab", name="Look").click()
    tab.locator(".s2s-scroll canvas").wait_for()


@pytest.mark.parametrize("key", [None, "Control+Enter", "Meta+Enter"])
def test_a_sentence_is_translated_and_its_attention_shown(page, translator, key):
    translate(page, "The cat did not cross.", key=key)
    result = translator("The cat did not cross.")
    [trace] = translator.look(result)
    assert page.locator("#translation textarea").input_value() == result.text
    page.locator(".s2s-scroll canvas").focus()
    for press in ("ArrowDown", "ArrowDown", "ArrowRight"):
        page.keyboard.press(press)
    text = page.locator(".s2s-read").inner_text()
    assert text.startswith(f"{trace.cross['raw'][2, 0, 1, 1]:.4f}: step 1,")
    tip = page.locator(".s2s-tip").bounding_box()
    page.locator(".s2s-scroll canvas").blur()
    page.mouse.move(1, 1)
    assert not page.locator(".s2s-tip").is_visible()
    page.mouse.move(tip["x"] - 14, tip["y"] + tip["height"] / 2)
    assert page.locator(".s2s-tip").inner_text() == text[:6]


def test_another_sentence_and_another_language_replace_the_first(page, translator):
    translate(page, "The cat.")
    page.get_by_role("button", name="Layer 0, head 1").click()
    page.get_by_label("Languages").click()
    page.get_by_role("option", name="English → German").click()
    page.locator("#source textarea").fill("The box did not.")
    page.wait_for_timeout(300)
    page.locator("#translate").click()
    page.get_by_text("<2de>").first.wait_for()
    [trace] = translator.look(translator("The box did not.", target="de"))
    page.locator("summary").click()
    cells = [float(text) for text in page.locator("table tr").nth(2).locator("td").all_inner_texts()]
    assert cells == pytest.approx(trace.cross["raw"][0, 1, 1].tolist(), abs=6e-5), "layer and head stay chosen"


def test_words_never_seen_are_marked(page):
    translate(page, "The zebra did not cross.")
    assert "Never seen in training: zebra." in page.locator(".s2s-unseen").inner_text()
    assert page.locator(".s2s-piece[data-unseen]").count()
    translate(page, "The cat.")
    page.locator(".s2s-unseen").wait_for(state="hidden")


def test_text_never_runs_as_code(page):
    translate(page, ATTACK[:60])
    page.locator(".s2s-scroll canvas").focus()
    page.keyboard.press("ArrowDown")
    page.locator("summary").click()
    assert page.evaluate("window.hit") is None
    assert page.locator("#attention img, #attention script").count() == 0


def test_an_example_fills_the_text(page):
    page.get_by_text("The cat did not cross the street because it was too wide.").click()
    page.wait_for_function("document.querySelector('#source textarea').value.includes('too wide')")


@pytest.mark.parametrize(("text", "told"), [("  ", "Type a sentence"), ("a" + "\u0301" * 100, "too long")])
def test_what_cannot_be_translated_is_told_in_one_line(page, text, told):
    page.locator("#source textarea").fill(text)
    page.wait_for_timeout(300)
    page.locator("#translate").click()
    toast = page.locator(".toast-body").inner_text()
    assert told in toast and "Traceback" not in toast


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_fits_a_phone_and_follows_the_theme(browser, server, scheme):
    context = browser.new_context(viewport={"width": 360, "height": 740}, color_scheme=scheme)
    tab = context.new_page()
    tab.goto(server.url)
    translate(tab, "The cat did not cross.")
    assert tab.locator(".s2s").get_attribute("data-theme") == scheme
    assert tab.evaluate("document.documentElement.scrollWidth") <= 360
    context.close()


# --- without a browser: anybody can call the handlers


def call(server, data):
    """What the page's handler answers to a raw call: the status and the body."""
    config = json.load(urllib.request.urlopen(f"{server.url}/ui/config"))
    index = next(d["id"] for d in config["dependencies"] if len(d["inputs"]) == 2)
    body = json.dumps({"fn_index": index, "data": data}).encode()
    headers = {"Content-Type": "application/json"}
    try:
        request = urllib.request.Request(f"{server.url}/ui/gradio_api/run/predict", body, headers)
        with urllib.request.urlopen(request) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


@pytest.mark.parametrize(
    ("data", "told"),
    [
        (["x" * 2001, "English → French"], "2,001 characters"),
        (["a" + "\u0301" * 100, "English → French"], "too long"),
        (["The cat.", "Klingon"], "does not have that pair"),
        (["The cat.", None], "does not have that pair"),
        (["The cat.", ["English → French"]], "does not have that pair"),
        ([None, "English → French"], "Type a sentence"),
        (["a\ud800b", "English → French"], "surrogate"),
    ],
)
def test_a_raw_call_is_checked(server, capfd, data, told):
    status, body = call(server, data)
    assert status >= 400 and told in body
    assert "Traceback" not in body + capfd.readouterr().err
    assert call(server, ["The cat.", "English → French"])[0] == 200
