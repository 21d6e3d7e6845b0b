"""The tab Look in a real browser: every panel says what `lens` says, by mouse and by keyboard."""

import contextlib
import json
import math
import shutil
import threading
import time

import gradio as gr
import httpx
import numpy as np
import pytest
import uvicorn
from accessibility import violations

from seq2see import Translator
from seq2see.lens import Trace, ablate, beam_tree, logit_lens, outlook
from seq2see.lens.arithmetic import arithmetic
from seq2see.lens.embeddings import contextual, distances, neighbours
from seq2see.lens.head_roles import FILE
from seq2see.lens.trace import KINDS
from seq2see.lens.what_if import WhatIf
from seq2see.lens.wording import label
from seq2see.serve.checkpoint import fingerprint
from seq2see.serve.guard import PAGE
from seq2see.serve.service import Service
from seq2see.serve.settings import ServerSettings
from seq2see.serve.ui.components.explorer import explorer
from seq2see.serve.ui.page import mount
from seq2see.serve.ui.shown import Shown

TEXT = "The cat did not cross the street."
ROLES = [{"role": "alignment", "score": 0.8, "low": 0.7, "high": 0.9, "uniform": 0.1, "positional": 0.3, "rival": None}]


@contextlib.contextmanager
def serving(service, **settings):
    """The address of a page that is the explorer alone."""
    with gr.Blocks(fill_width=True) as page:
        explorer(service, **settings)
    parent, _ = mount(page)
    server = uvicorn.Server(uvicorn.Config(parent, port=0, log_level="warning"))
    thread = threading.Thread(target=server.run)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}{PAGE}"
    server.force_exit = server.should_exit = True
    thread.join(30)


@pytest.fixture(scope="module")
def run(folder, tmp_path_factory):
    """A run with a checkpoint and with roles, and another model beside it."""
    run = tmp_path_factory.mktemp("runs") / "run"
    shutil.copytree(folder, run)
    shutil.copytree(folder, run / "checkpoint-5")
    (run / "checkpoint-5" / "trainer_state.json").write_text("{}")
    shutil.copytree(folder, run / "checkpoint-9")  # still being written
    report = {"weights": fingerprint(run), "heads": [{"head": ["cross", 1, 1], "roles": ROLES}]}
    (run / FILE).write_text(json.dumps(report))
    return run


@pytest.fixture(scope="module")
def translator(run):
    return Translator.from_pretrained(run, engine="torch")


@pytest.fixture(scope="module")
def result(translator):
    return translator(TEXT, source="en", target="fr", num_beams=2)


@pytest.fixture(scope="module")
def shown(result):
    return Shown.of(result, model="tiny", asked={"num_beams": 2})


@pytest.fixture(scope="module")
def trace(translator, result):
    [trace] = translator.look(result)
    return trace


@pytest.fixture(scope="module")
def url(translator, shown):
    service = Service({"tiny": translator, "other": translator}, ServerSettings(rate=0))
    with serving(service, value=shown.plain()) as address:
        yield address
    service.close()


@pytest.fixture(scope="module")
def opened(browser, url):
    """The tab of all tests that leave it as `look` sets it; requests to elsewhere and errors of the page are faults."""
    context = browser.new_context(viewport={"width": 1440, "height": 1200})
    tab = context.new_page()
    tab.set_default_timeout(20_000)
    wrong = []
    tab.on("request", lambda one: one.url.startswith((url[: -len(PAGE)], "data:", "blob:")) or wrong.append(one.url))
    tab.on("pageerror", lambda error: wrong.append(str(error)))
    tab.goto(url)
    tab.locator(".s2s-scroll canvas").wait_for(timeout=120_000)
    yield tab
    assert not wrong
    context.close()


@pytest.fixture
def look(opened):
    opened.set_viewport_size({"width": 1440, "height": 1200})
    opened.get_by_role("combobox", name="View").select_option("raw")
    for group, name in [("Attention", "Cross-attention"), ("As", "map"), ("A row", "predicts"), ("By", "pieces"),
                        ("Colours", "0 to 1")]:
        radio = opened.get_by_role("group", name=group, exact=True).get_by_role("radio", name=name)
        radio.check()
    thumb(opened, "Cross-attention, layer 2, head 0").click()
    opened.get_by_label("Dim special pieces").uncheck()
    panel(opened, "Step")
    return opened


def thumb(tab, name):
    return tab.locator(".s2s-overview").get_by_role("button", name=name)


def panel(tab, name):
    tab.get_by_role("tab", name=name, exact=True).click()
    return tab.get_by_role("tabpanel", name=name)


def settled(tab):
    """Wait until no panel waits for the server; one may say what was wrong, from an earlier test."""
    tab.wait_for_function("[...document.querySelectorAll('.s2s-status')]"
                          ".every(one => !one.textContent || 'wrong' in one.dataset)")


def numbers(table):
    """The cells of a table, row by row, as text."""
    return table.evaluate("table => [...table.rows].slice(1).map(row => [...row.cells].slice(1)"
                          ".map(cell => cell.textContent))")


def pixel(tab, canvas, x, y):
    return canvas.evaluate(f"canvas => [...canvas.getContext('2d').getImageData({x}, {y}, 1, 1).data]")


# --- the grid and the two drawings


def test_every_head_of_every_kind_has_a_thumbnail_of_its_own_map(look, trace):
    assert look.locator(".s2s-thumb").count() == 2 * sum(len(trace.maps(kind)) for kind in KINDS)
    canvas = thumb(look, "Encoder, layer 1, head 1").locator("canvas")
    weights = trace.maps("encoder")[1, 1]
    size = canvas.evaluate("canvas => [canvas.height, canvas.width]")
    assert size == list(weights.shape)
    bright = np.array([[sum(pixel(look, canvas, c, r)[:3]) for c in range(4)] for r in range(4)])
    order = np.argsort(weights[:4, :4], axis=None)
    assert (np.diff(bright.reshape(-1)[order]) <= 3).all(), "the larger the weight, the darker the pixel"


def test_a_thumbnail_opens_its_map_and_the_number_is_the_traces(look, trace):
    thumb(look, "Decoder, layer 2, head 1").click()
    canvas = look.locator(".s2s-scroll canvas")
    canvas.focus()
    for key in ["ArrowDown", "PageUp", "Home", "ArrowDown", "ArrowDown", "ArrowDown", "ArrowRight"]:
        look.keyboard.press(key)
    assert look.locator(".s2s-tip").inner_text() == f"{trace.decoder['raw'][2, 1, 3, 1]:.4f}"
    assert look.locator(".s2s-about").inner_text().startswith("Decoder, layer 2, head 1")
    data = look.locator(".s2s-thumb[aria-pressed='true']")
    assert data.count() == 1 and data.get_attribute("aria-label") == "Decoder, layer 2, head 1"


def test_a_measured_role_is_a_badge_and_no_other_head_has_one(look):
    badge = look.locator(".s2s-badge")
    assert badge.all_inner_texts() == ["alignment"]
    thumb(look, "Cross-attention, layer 1, head 1").click()
    assert "Role: alignment: 80% of its attention [70%, 90%]" in look.locator(".s2s-trust").inner_text()


def test_the_arrow_keys_move_among_thumbnails_one_stop_of_the_tab_key(look):
    assert look.locator(".s2s-thumb[tabindex='0']").count() == 1
    look.locator(".s2s-thumb[tabindex='0']").focus()
    for key in ("ArrowUp", "ArrowRight", "Enter"):
        look.keyboard.press(key)
    assert look.locator(".s2s-about").inner_text().startswith("Cross-attention, layer 1, head 1")


def test_lines_have_a_colour_a_head_and_heads_can_be_put_out(look, trace):
    look.get_by_role("radio", name="lines").check()
    boxes = look.locator(".s2s-light input")
    assert boxes.count() == 2 and all(box.is_checked() for box in boxes.all())
    swatches = look.locator(".s2s-light i").all()
    hues = [one.evaluate("node => getComputedStyle(node).backgroundColor") for one in swatches]
    assert len(set(hues)) == 2
    canvas = look.locator(".s2s-scroll canvas")
    both = canvas.evaluate("canvas => canvas.toDataURL()")
    look.locator(".s2s-light input").nth(1).uncheck()
    assert canvas.evaluate("canvas => canvas.toDataURL()") != both
    canvas.focus()
    for key in ["ArrowDown", "PageUp", "Home", "ArrowDown"]:
        look.keyboard.press(key)
    assert look.locator(".s2s-read").inner_text().startswith(f"head 0 {trace.cross['raw'][2, 0, 1, 0]:.4f}: step 1,")
    look.get_by_role("button", name="all", exact=True).click()
    assert canvas.evaluate("canvas => canvas.toDataURL()") != both, "now a word is chosen, and its lines stand out"
    assert look.locator(".s2s-read").inner_text().startswith(
        f"head 0 {trace.cross['raw'][2, 0, 1, 0]:.4f}, head 1 {trace.cross['raw'][2, 1, 1, 0]:.4f}:")
    faint = np.minimum(trace.cross["raw"][2], 1)
    share = faint[faint < 0.02].sum() / faint.sum()
    said = look.locator(".s2s-scale").inner_text().split("they carry ")[1].split("%")[0]
    assert float(said.strip("<>")) == pytest.approx(100 * share, abs=0.6)


def test_a_view_is_worked_out_when_it_is_asked_for(look, translator, result):
    look.get_by_role("combobox", name="View").select_option("norm")
    look.get_by_text("view norm").first.wait_for()
    [trace] = translator.look(result, views=("norm",))
    look.locator("summary").first.click()
    cells = np.array([[float(cell) for cell in row] for row in numbers(look.locator(".s2s-map table"))])
    np.testing.assert_allclose(cells, trace.cross["norm"][2, 0], atol=6e-5)
    look.locator("summary").first.click()


# --- panels


def test_the_step_follows_a_row_and_a_temperature_reshapes_it_at_once(look, trace):
    step = panel(look, "Step")
    look.locator(".s2s-texts section:nth-child(2) .s2s-piece").nth(3).click()
    before = trace.target_text[: trace.target[2].end]
    said = step.locator("p").first.inner_text()
    assert said.startswith("Step 3 read “") and f"after “{before}” was written" in said
    items = step.locator(".s2s-next li")
    shown = [float(one.get_attribute("title").split(": ")[-1].split(",")[0]) for one in items.all()][:20]
    np.testing.assert_allclose(shown, [math.exp(one.log_prob) for one in trace.top[3]], atol=6e-5)
    heat = step.get_by_label("Temperature")
    heat.focus()
    for _ in range(4):
        look.keyboard.press("ArrowRight")
    assert step.locator("output").nth(1).inner_text() == "2.00"
    shown = [float(one.get_attribute("title").split(": ")[-1].split(",")[0]) for one in items.all()][:20]
    wanted = outlook(trace, temperature=2.0).top[3]
    np.testing.assert_allclose(shown, [math.exp(one.log_prob) for one in wanted], atol=2e-3)
    heat.fill("12")
    slider = step.get_by_label("Step")
    slider.focus()
    look.keyboard.press("End")
    assert step.locator("output").first.inner_text() == f"{len(trace.target) - 1} of {len(trace.target) - 1}"


def test_the_logit_lens_says_what_each_layer_would(look, translator, trace):
    step = panel(look, "Step")
    step.get_by_label("Step").fill("2")
    if step.get_by_role("button", name="What would each layer").count():
        step.get_by_role("button", name="What would each layer").click()
    table = step.locator("table")
    table.wait_for()
    with translator.inside() as (model, tokenizer):
        [found] = logit_lens(model, tokenizer, [trace])
    for layer, (own, top) in enumerate(numbers(table)):
        assert own.endswith(f", {found.ranks[layer, 2] + 1}.")
        assert top.startswith(label(found.top[layer][2][0].text))


def test_the_arithmetic_is_that_of_the_row(look, translator, trace):
    part = panel(look, "Arithmetic")
    thumb(look, "Encoder, layer 0, head 1").click()
    part.get_by_label("Row").fill("2")
    part.get_by_text("(row 2)").wait_for()
    settled(look)
    with translator.inside() as (model, _):
        wanted = arithmetic(model, trace, ("encoder", 0, 1), 2)
    rows = numbers(part.locator("table"))
    columns = np.array([[float(cell) for cell in (row[1], row[2], row[4])] for row in rows])
    expected = np.stack([wanted.products, wanted.products * wanted.scale, wanted.weights], axis=1)
    np.testing.assert_allclose(columns, expected, atol=6e-5)
    assert f"has length {wanted.length:.4f}" in part.inner_text()
    thumb(look, "Decoder, layer 0, head 1").click()
    settled(look)
    part.get_by_text("Decoder, layer 0, head 1").wait_for()
    assert "− ∞" in part.locator("table").inner_text()


def test_a_head_switched_off_changes_what_is_written(look, translator, trace):
    part = panel(look, "Switch off")
    heads = [("cross", 2, 0), ("decoder", 1, 1)]
    for name in ("Cross-attention, layer 2, head 0", "Decoder, layer 1, head 1"):
        part.get_by_role("button", name=f"Switch off {name}").click()
    settled(look)
    part.get_by_text("Without these 2 heads").first.wait_for()
    said = part.locator(".s2s-sideof").all_inner_texts()
    assert trace.target_text.strip() in said[0] and f"log-probability {trace.log_prob:.3f}" in said[0]
    with translator.inside() as (model, tokenizer), ablate(model, heads):
        new = WhatIf(model, tokenizer, "en", "fr", 2).as_it_is(TEXT)
    assert new.target_text.strip() in said[1] and f"log-probability {new.log_prob:.3f}" in said[1]
    assert part.locator(".s2s-sideof mark").count() or new.target_text == trace.target_text
    part.get_by_role("button", name="All on").click()
    assert not part.locator(".s2s-sideof").count()


def test_another_source_stands_beside_the_first(look, translator):
    part = panel(look, "What if")
    part.get_by_role("radio", name="other source").check()
    part.get_by_label("The source, with something changed").fill("The box did not cross the street.")
    part.get_by_role("button", name="Compare").click()
    settled(look)
    other = translator("The box did not cross the street.", source="en", target="fr", num_beams=2)
    sides = part.locator(".s2s-sideof")
    sides.nth(1).wait_for()
    assert other.text.strip() in sides.nth(1).inner_text()
    assert sides.nth(1).locator("mark").first.inner_text().strip() == "box"
    [trace] = translator.look(other)
    sides.nth(1).locator("summary").click()
    cells = [[float(cell) for cell in row] for row in numbers(sides.nth(1).locator("table"))]
    np.testing.assert_allclose(cells, trace.cross["raw"][2, 0], atol=6e-5)


def test_another_beginning_another_search_and_another_model(look, translator):
    part = panel(look, "What if")
    part.get_by_role("radio", name="other beginning").check()
    part.get_by_label("The translation begins with").fill("La boîte")
    look.keyboard.press("Enter")
    settled(look)
    part.locator(".s2s-sideof").nth(1).wait_for()
    begun = translator(TEXT, source="en", target="fr", prefix="La boîte", num_beams=2)
    assert begun.text.strip() in part.locator(".s2s-sideof").nth(1).inner_text()
    part.get_by_role("radio", name="other search").check()
    part.get_by_label("Beams").select_option(label="1, greedy")
    part.get_by_role("button", name="Compare").click()
    settled(look)
    part.locator(".s2s-sideof").nth(1).wait_for()
    greedy = translator(TEXT, source="en", target="fr", num_beams=1)
    assert greedy.text.strip() in part.locator(".s2s-sideof").nth(1).inner_text()
    part.get_by_role("radio", name="other model").check()
    assert part.get_by_label("Model").locator("option").all_inner_texts() == ["other"]
    part.get_by_role("button", name="Compare").click()
    settled(look)
    assert part.locator(".s2s-sideof").count() == 2


def test_the_beam_tree_is_the_search(look, translator):
    part = panel(look, "What if")
    part.get_by_role("radio", name="beam tree").check()
    part.get_by_label("Beams").select_option("4")
    part.get_by_role("button", name="Grow the tree").click()
    settled(look)
    part.locator("svg").wait_for()
    with translator.inside() as (model, tokenizer):
        tree = beam_tree(model, tokenizer, TEXT, num_beams=4, first=translator.tag("fr"))
    assert part.locator("svg text").count() == sum(map(len, tree.steps))
    listed = part.locator("ol li").all_inner_texts()
    assert len(listed) == len(tree.texts)
    step, number = tree.hypotheses[0]
    assert f"score {tree.steps[step][number].score:.4f}" in listed[0]
    assert part.locator("svg text[font-weight]").count() == len(tree.path(step, number))


def test_a_word_in_two_sentences_and_its_neighbours(look, translator):
    part = panel(look, "Words")
    part.get_by_role("textbox", name="The word").fill("cat")
    lines = ["The cat was tired.", "The street is wide and the cat is big."]
    part.get_by_label("Sentences with it").fill("\n".join(lines))
    part.get_by_role("button", name="See the word").click()
    settled(look)
    part.locator("table").wait_for()
    with translator.inside() as (model, tokenizer):
        one, two = (contextual(model, tokenizer, line, "cat", language="en") for line in lines)
        wanted, near = distances(one, two)["cosine"], neighbours(model, tokenizer, "cat")
    assert float(numbers(part.locator("table"))[0][1]) == pytest.approx(wanted[-1], abs=6e-5)
    part.get_by_label("Layer").fill("0")
    assert float(numbers(part.locator("table"))[0][1]) == pytest.approx(wanted[0], abs=6e-5)
    part.get_by_label("Near to").fill("cat")
    part.get_by_role("button", name="Nearest").click()
    settled(look)
    assert part.locator("ol li").first.inner_text().startswith(f"{label(near[0].text)} {near[0].value:.3f}")
    part.get_by_role("textbox", name="The word").fill("dog")
    part.get_by_role("button", name="See the word").click()
    part.get_by_text("the word 'dog' is not in").wait_for()


def test_a_checkpoint_says_what_it_said_then(look, translator, trace):
    part = panel(look, "Training")
    settled(look)
    part.get_by_text("At step 5").wait_for()
    assert part.locator("output").inner_text() == "step 5", "and not the one that is still being written"
    assert "What the run kept: its checkpoints of step 5. A training deletes the older ones" in part.inner_text()
    assert f"of what is shown above {trace.log_prob:.3f}" in part.inner_text()


# --- taking away


def download(tab, name):
    with tab.expect_download() as waiting:
        tab.locator(".s2s-away").get_by_role("button", name=name).click()
    return waiting.value


def test_what_is_taken_away_holds_the_numbers(look, trace, tmp_path):
    thumb(look, "Cross-attention, layer 1, head 0").click()
    thumb(look, "Cross-attention, layer 1, head 0").blur()
    look.mouse.move(1, 1)
    csv = download(look, "CSV")
    assert csv.suggested_filename == "cross-attention-layer-1-head-0.csv"
    rows = csv.path().read_text("utf-8").splitlines()
    cells = np.float32([row.rsplit(",", len(trace.source))[1:] for row in rows[1:]])
    np.testing.assert_array_equal(cells, trace.cross["raw"][1, 0])
    assert download(look, "PNG").path().read_bytes()[:4] == b"\x89PNG"
    svg = download(look, "SVG").path().read_text("utf-8")
    assert svg.startswith("<svg") and svg.count("<rect") >= trace.cross["raw"][1, 0].size
    path = tmp_path / "look.json"
    path.write_bytes(download(look, "JSON").path().read_bytes())
    np.testing.assert_array_equal(Trace.load(path).cross["raw"], trace.cross["raw"])
    page = download(look, "HTML page").path().read_text("utf-8")
    assert page.startswith("<!doctype html>") and "http://" not in page.replace("http://www.w3.org/2000/svg", "")


# --- for everybody


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


# --- anybody can call what the page calls


def call(url, name, value):
    config = httpx.get(f"{url}/config").json()
    [component] = [one["id"] for one in config["components"] if one["type"] == "html"]
    body = {"data": value, "component_id": component, "fn_name": name, "session_hash": "tests"}
    answer = httpx.post(f"{url}/gradio_api/component_server", json=body, timeout=60)
    return answer.status_code, answer.json()


@pytest.mark.parametrize(("name", "value", "told"), [
    ("maps", {}, "shown"),
    ("maps", {"part": 7}, "there is no part 7"),
    ("maps", {"part": -1}, "part"),
    ("maps", {"view": "../etc"}, "view"),
    ("maps", {"more": 1}, "more"),
    ("maps", None, "object"),
    ("layers", {"part": 1.5}, "part"),
    ("arithmetic", {"kind": "cross", "layer": 10**9, "head": 0, "row": 0}, "there is no cross layer"),
    ("arithmetic", {"kind": "cross", "layer": 0, "head": 0, "row": 999}, "there is no row 999"),
    ("switch_off", {"heads": []}, "heads"),
    ("switch_off", {"heads": [["cross", 0, 99]]}, "there is no head 99"),
    ("what_if", {"text": "  "}, "blank"),
    ("what_if", {"text": "x" * 100_000}, "100000 characters"),
    ("what_if", {"num_beams": 10**6}, "num_beams"),
    ("what_if", {"model": "nobody"}, "no such model"),
    ("what_if", {"text": "a\ud800b"}, "text"),
    ("tree", {"num_beams": 10**6}, "num_beams"),
    ("words", {"word": "cat", "sentences": ["one"]}, "two sentences"),
    ("near", {"word": ""}, "expected a word"),
    ("training", {"step": 4}, "no checkpoint of step 4"),
])
def test_a_call_is_checked_and_refused_in_one_line(url, shown, capfd, name, value, told):
    asked = value if value in ({}, None) else {"shown": shown.plain(), **value}
    if value and "text" in value and "\ud800" in value["text"]:
        pytest.skip("httpx sends no lone surrogate")
    status, answer = call(url, name, asked)
    assert status == 200 and told in answer["error"] and "\n" not in answer["error"]
    assert "Traceback" not in capfd.readouterr().err


def test_ids_that_are_no_pieces_are_refused(url, shown):
    part = shown.plain()["parts"][0] | {"ids": [10**6]}
    _, answer = call(url, "maps", {"shown": shown.plain() | {"parts": [part]}})
    assert "expected ids of pieces" in answer["error"]


# --- texts of every sort


def test_text_never_runs_as_code_and_is_written_from_its_own_side(browser, translator):
    attack = "<img src=x onerror=window.hit=1> ${window.hit=1} {{window.hit=1}}"
    results = [translator(attack, source="en", target="fr"), translator("שלום עולם", source="en", target="fr")]
    service = Service({attack: translator}, ServerSettings(rate=0))
    both = Shown.of(results[0], model=attack)
    both = both.model_copy(update={"parts": both.parts + Shown.of(results[1], model=attack).parts})
    with serving(service, value=both.plain()) as address:
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
