"""The page of `to_html`, in a real browser: values on hover and by keyboard, for exactly the head that is named."""

import math

import pytest

from seq2see.lens import to_html, trace_hypotheses
from seq2see.tokenizer.words import Word


@pytest.fixture
def page(browser, trace, tmp_path):
    """The page of the trace, opened from a file; what it asks of the network and what it throws are failures."""
    path = tmp_path / "look.html"
    path.write_text(to_html(trace, unseen=[Word("cat", 4, 7)]), encoding="utf-8")
    context = browser.new_context(viewport={"width": 1200, "height": 1400})
    opened = context.new_page()
    wrong = []
    opened.on("request", lambda request: request.url.startswith("file:") or wrong.append(request.url))
    opened.on("pageerror", lambda error: wrong.append(str(error)))
    opened.on("console", lambda message: wrong.append(message.text) if message.type == "error" else None)
    opened.goto(path.as_uri())
    yield opened
    context.close()
    assert not wrong


def hover(page, row, column):
    """Point at a cell of the map; where it is, the read-out by keyboard tells first."""
    canvas = page.locator(".s2s-scroll canvas")
    canvas.focus()
    for key in ["ArrowDown", "PageUp", "Home"] + ["ArrowDown"] * row + ["ArrowRight"] * column:
        page.keyboard.press(key)
    tip = page.locator(".s2s-tip").bounding_box()  # right of the cell, at half its height
    canvas.blur()
    page.mouse.move(1, 1)
    assert not page.locator(".s2s-tip").is_visible()
    page.mouse.move(tip["x"] - 14, tip["y"] + tip["height"] / 2)
    return page.locator(".s2s-read").inner_text()


def test_pointing_at_a_cell_gives_its_weight(page, trace):
    page.locator("select").nth(0).select_option(index=1)
    page.locator("select").nth(1).select_option(index=1)
    text = hover(page, 3, 4)
    assert text.startswith(f"{trace.maps('cross')[1, 1, 3, 4]:.4f}:")
    assert f"predicts “{trace.target[3].text}”" in text.replace("·", "")
    assert page.locator(".s2s-tip").inner_text() == text[:6]
    chips = page.locator(".s2s-piece[data-on]")
    assert chips.count() == 1 and trace.target[3].text in chips.inner_text()
    assert "Cross-attention, layer 1, head 1" in page.locator(".s2s-about").inner_text()


def test_the_keyboard_reads_every_cell(page, trace):
    page.locator(".s2s-scroll canvas").focus()
    for key in ["ArrowDown", "ArrowDown", "ArrowDown", "ArrowRight", "End", "ArrowLeft"]:
        page.keyboard.press(key)
    row, column = 2, len(trace.source) - 2
    expected = f"{trace.maps('cross')[2, 0, row, column]:.4f}: step {row},"
    assert page.locator("[aria-live]").inner_text().startswith(expected)
    page.keyboard.press("PageDown")
    assert f"step {len(trace.target) - 1}," in page.locator("[aria-live]").inner_text()


def test_the_decoder_map_says_what_is_masked(page, trace):
    page.get_by_label("Decoder").check()
    page.locator(".s2s-scroll canvas").focus()
    page.keyboard.press("ArrowDown")
    assert page.locator("[aria-live]").inner_text().startswith("1.0000: step 0, which reads “<s>” and predicts “<2fr>”")
    page.keyboard.press("ArrowRight")
    assert page.locator("[aria-live]").inner_text().startswith("Masked: step 0,")


def test_the_table_holds_the_map(page, trace):
    page.get_by_label("Encoder").check()
    page.locator("summary").click()
    rows = page.locator("table tr")
    for i, expected in enumerate(trace.maps("encoder")[1, 0]):
        row = [float(value) for value in rows.nth(i + 1).locator("td").all_inner_texts()]
        assert row == pytest.approx(expected.tolist(), abs=6e-5)


def test_the_scale_says_its_numbers(page, trace):
    largest = f"{trace.maps('cross')[2, 0].max():.4f}"
    assert f"largest here {largest}" in page.locator(".s2s-scale").inner_text()
    page.get_by_label("this map").check()
    assert f"{largest} (the largest weight of this map)" in page.locator(".s2s-scale").inner_text()


def test_a_row_can_be_named_by_what_it_reads(page, trace):
    page.get_by_label("reads").check()
    assert "row: the step that reads this piece" in page.locator(".s2s-axis").inner_text()
    page.locator("summary").click()
    assert page.locator("table th[scope=row]").all_inner_texts()[:2] == ["<s>", "<2fr>"]


def test_choosing_a_thumbnail_enlarges_it(page):
    page.get_by_role("button", name="Layer 1, head 0").click()
    assert page.locator(".s2s-about").inner_text().startswith("Cross-attention, layer 1, head 0")
    assert page.locator("select").nth(0).input_value() == "1"


def test_words_never_seen_are_marked(page):
    marked = page.locator(".s2s-piece[data-unseen]").all_inner_texts()
    assert "".join(marked).replace("·", "") == "cat"
    assert page.locator(".s2s-unseen").inner_text().startswith("Never seen in training: cat. The model has learnt")


def test_probabilities_stand_with_their_pieces(page, trace):
    chips = page.locator(".s2s-texts section:nth-child(2) .s2s-piece")
    assert chips.nth(0).inner_text().split() == ["<2fr>", "given"]
    shown = float(chips.nth(2).locator("small").inner_text().strip("<>%"))
    assert shown == pytest.approx(100 * math.exp(trace.log_probs[2]), abs=0.51)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_fits_a_phone_and_follows_the_theme(browser, trace, tmp_path, scheme):
    path = tmp_path / "look.html"
    path.write_text(to_html(trace), encoding="utf-8")
    context = browser.new_context(viewport={"width": 360, "height": 740}, color_scheme=scheme)
    opened = context.new_page()
    opened.goto(path.as_uri())
    assert opened.locator("main").get_attribute("data-theme") == scheme
    assert opened.evaluate("document.documentElement.scrollWidth") <= 360
    context.close()


def test_script_in_a_text_does_not_run(browser, seq2see, tmp_path):
    model, tokenizer = seq2see
    attack = "<img src=x onerror=window.hit=1></script><script>window.hit=1</script> ${window.hit=1}"
    target = tokenizer.encode_target(attack, language="fr")
    [made] = trace_hypotheses(model, tokenizer, [attack[:60]], [target[:60]], model_name=attack)
    path = tmp_path / "look.html"
    path.write_text(to_html(made, unseen=[Word(attack, 0, 60)]), encoding="utf-8")
    opened = browser.new_page()
    opened.goto(path.as_uri())
    opened.locator(".s2s-scroll canvas").focus()
    opened.keyboard.press("ArrowDown")
    assert opened.locator(".s2s-read").inner_text()
    assert opened.evaluate("window.hit") is None
    opened.close()
