"""The thumbnails and the large map in a real browser: drawn, read and taken away, they are the trace's numbers."""

import numpy as np
import pytest
from looking import numbers, pixel, thumb

from seq2see.lens import Trace
from seq2see.lens.kinds import KINDS


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
