"""The page of `to_html`, in a real browser: values on hover and by keyboard, for exactly the head that is named."""

import math
from contextlib import contextmanager
from dataclasses import replace

import numpy as np
import pytest

from seq2see.lens import picture, to_html, trace_hypotheses
from seq2see.lens.kinds import WITH_HEADS
from seq2see.lens.trust import UNMEASURED
from seq2see.lens.wording import NAMES
from seq2see.tokenizer.words import Word


@contextmanager
def opened(browser, path, trace, **chosen):
    """The page of a trace, opened from a file; what it asks of the network and what it throws are failures."""
    path.write_text(to_html(trace, **chosen), encoding="utf-8")
    context = browser.new_context(viewport={"width": 1200, "height": 1400})
    tab = context.new_page()
    wrong = []
    tab.on("request", lambda request: request.url.startswith("file:") or wrong.append(request.url))
    tab.on("pageerror", lambda error: wrong.append(str(error)))
    tab.on("console", lambda message: wrong.append(message.text) if message.type == "error" else None)
    tab.goto(path.as_uri())
    yield tab
    context.close()
    assert not wrong


@pytest.fixture
def page(browser, trace, tmp_path):
    with opened(browser, tmp_path / "look.html", trace, unseen=[Word("cat", 4, 7)]) as tab:
        yield tab


@pytest.fixture
def full_page(browser, full_trace, trust, tmp_path):
    """With every view, and trust measured."""
    with opened(browser, tmp_path / "look.html", replace(full_trace, trust=trust)) as tab:
        yield tab


def chips(tab, side):
    return tab.locator(f".s2s-texts section:nth-child({1 if side == 'source' else 2}) .s2s-piece")


def lit(tab, side):
    """Which pieces of a side have a colour of their own."""
    return [bool(one.evaluate("node => node.style.background")) for one in chips(tab, side).all()]


def table(tab):
    """The numbers of the map on the screen, NaN where it is masked."""
    if not tab.locator("table").count():
        tab.locator("summary").click()
        tab.locator("table").wait_for()
    rows = tab.locator("table").evaluate("table => [...table.rows].slice(1).map(row => [...row.cells].slice(1)"
                                         ".map(cell => cell.textContent))")
    return np.array([[math.nan if cell == "masked" else float(cell) for cell in row] for row in rows])


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
    page.get_by_role("combobox", name="Layer").select_option(index=1)
    page.get_by_role("combobox", name="Head").select_option(index=1)
    text = hover(page, 3, 4)
    assert text.startswith(f"{trace.maps('cross')[1, 1, 3, 4]:.4f}:")
    assert f"predicts “{trace.target[3].text}”" in text.replace("·", "")
    assert page.locator(".s2s-tip").inner_text() == text[:6]
    marked = page.locator(".s2s-piece[data-on]")
    assert marked.count() == 1 and trace.target[3].text in marked.inner_text()
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
    page.get_by_role("radio", name="Decoder").check()
    page.locator(".s2s-scroll canvas").focus()
    page.keyboard.press("ArrowDown")
    assert page.locator("[aria-live]").inner_text().startswith("1.0000: step 0, which reads “<s>” and predicts “<2fr>”")
    page.keyboard.press("ArrowRight")
    assert page.locator("[aria-live]").inner_text().startswith("Masked: step 0,")


def test_the_table_holds_the_map(page, trace):
    page.get_by_role("radio", name="Encoder").check()
    page.locator("summary").click()
    rows = page.locator("table tr")
    for i, expected in enumerate(trace.maps("encoder")[1, 0]):
        row = [float(value) for value in rows.nth(i + 1).locator("td").all_inner_texts()]
        assert row == pytest.approx(expected.tolist(), abs=6e-5)


def test_the_scale_says_its_numbers(page, trace):
    largest = f"{trace.maps('cross')[2, 0].max():.4f}"
    assert f"largest here {largest}" in page.locator(".s2s-scale").inner_text()
    page.get_by_role("radio", name="this map").check()
    assert f"{largest} (the largest weight of this map)" in page.locator(".s2s-scale").inner_text()


def test_a_row_can_be_named_by_what_it_reads(page, trace):
    page.get_by_role("radio", name="reads").check()
    assert "row: the step that reads this piece" in page.locator(".s2s-axis").inner_text()
    page.locator("summary").click()
    assert page.locator("table th[scope=row]").all_inner_texts()[:2] == ["<s>", "<2fr>"]


def test_choosing_a_thumbnail_enlarges_it(page):
    page.get_by_role("button", name="Cross-attention, layer 1, head 0").click()
    assert page.locator(".s2s-about").inner_text().startswith("Cross-attention, layer 1, head 0")
    assert page.get_by_role("combobox", name="Layer").input_value() == "1"
    page.get_by_role("button", name="Encoder, layer 0, head 1").click()
    assert page.locator(".s2s-about").inner_text().startswith("Encoder, layer 0, head 1")
    assert page.get_by_role("radio", name="Encoder").is_checked()


def test_words_never_seen_are_marked(page):
    marked = page.locator(".s2s-piece[data-unseen]").all_inner_texts()
    assert "".join(marked).replace("·", "") == "cat"
    assert page.locator(".s2s-unseen").inner_text().startswith("Never seen in training: cat. The model has learnt")


def test_probabilities_stand_with_their_pieces(page, trace):
    pieces = chips(page, "target")
    assert pieces.nth(0).inner_text().split() == ["<2fr>", "given"]
    shown = float(pieces.nth(2).locator("small").inner_text().strip("<>%"))
    assert shown == pytest.approx(100 * math.exp(trace.log_probs[2]), abs=0.51)


# --- views, words, and both directions


@pytest.mark.parametrize("words", [False, True])
@pytest.mark.parametrize(("kind", "view"), [
    ("cross", "raw"), ("decoder", "norm"), ("encoder", "rollout"), ("cross", "contributions"), ("cross", "left_out"),
])
def test_every_view_is_shown_as_it_is_by_pieces_and_by_words(full_page, full_trace, kind, view, words):
    tab = full_page
    tab.get_by_role("combobox", name="View").select_option(view)
    tab.get_by_role("radio", name=NAMES[kind]).check()
    tab.get_by_role("radio", name="words" if words else "pieces").check()
    wanted = picture(full_trace, view=view, kind=kind, words=words)
    if view != "left_out":
        tab.get_by_role("combobox", name="Layer").select_option(str(wanted.layer))
    np.testing.assert_allclose(table(tab), wanted.cells, atol=6e-5)
    assert tab.locator("table th[scope=row]").all_inner_texts() == list(wanted.rows)
    assert tab.locator("table th[scope=col]").all_inner_texts() == list(wanted.columns)
    assert tab.locator(".s2s-axis").inner_text() == f"{wanted.row_meaning}; {wanted.column_meaning}"
    assert wanted.sums in tab.locator(".s2s-sums").inner_text()
    assert tab.get_by_role("combobox", name="Head").is_visible() == (view in WITH_HEADS)
    assert tab.get_by_role("combobox", name="Layer").is_visible() == (view != "left_out")


def test_what_a_view_has_not_cannot_be_chosen(full_page):
    full_page.get_by_role("radio", name="Encoder").check()
    full_page.get_by_role("combobox", name="View").select_option("left_out")
    assert full_page.get_by_role("radio", name="Cross-attention").is_checked()
    for kind in ("Encoder", "Decoder"):
        assert full_page.get_by_role("radio", name=kind).is_disabled()
    full_page.get_by_role("combobox", name="View").select_option("rollout")
    assert full_page.get_by_role("radio", name="Encoder").is_enabled()
    assert full_page.locator(".s2s-thumbs button").count() == 2 + 3 + 3, "a layer each"


def test_a_word_lights_what_it_looked_at_and_what_looked_at_it(full_page, full_trace):
    weights = full_trace.maps("cross")[2, 0]
    chips(full_page, "target").nth(3).hover()
    assert all(lit(full_page, "source")) and not any(lit(full_page, "target"))
    best = full_trace.source[int(weights[3].argmax())].text.replace(" ", "▁")
    assert f"“{best}” {weights[3].max():.4f}" in full_page.locator(".s2s-read").inner_text().replace("·", "")
    assert full_page.locator(".s2s-piece[data-on]").inner_text().split()[0].strip("·") == full_trace.target[3].text
    chips(full_page, "source").nth(1).hover()
    assert all(lit(full_page, "target")) and not any(lit(full_page, "source"))
    shown = full_page.locator(".s2s-read").inner_text()
    assert shown.startswith("Most in the column of “cat”") and f"{weights[:, 1].max():.4f}" in shown
    full_page.get_by_role("radio", name="reads").check()
    chips(full_page, "target").nth(3).hover()  # the step that reads it comes one later
    assert f"{weights[4].max():.4f}" in full_page.locator(".s2s-read").inner_text()
    full_page.get_by_role("radio", name="Decoder").check()
    full_page.get_by_role("radio", name="predicts").check()
    chips(full_page, "target").nth(2).hover()
    assert lit(full_page, "target") == [True, True] + [False] * (len(full_trace.target) - 2), "what was written before"


def test_words_can_be_gone_through_by_keyboard(full_page):
    chips(full_page, "target").nth(0).focus()
    for key in ["ArrowRight", "ArrowRight", "End", "ArrowLeft"]:
        full_page.keyboard.press(key)
    spoken = full_page.locator("[aria-live]").inner_text()
    last_but_one = chips(full_page, "target").nth(-2).locator("b").inner_text()
    assert spoken.startswith(f"Most in the row of “{last_but_one}”")
    assert full_page.locator(".s2s-piece[tabindex='0']").count() == 2, "one stop of the tab key on each side"


def test_dimming_takes_nothing_out_of_any_number(full_page):
    before, note = table(full_page), full_page.locator(".s2s-sums").inner_text()
    colours = "document.querySelector('.s2s-scroll canvas').toDataURL()"
    picture_before = full_page.evaluate(colours)
    full_page.get_by_label("Dim special pieces").check()
    np.testing.assert_array_equal(table(full_page), before)
    assert chips(full_page, "source").nth(-1).get_attribute("data-dim") == ""
    assert full_page.locator(".s2s-piece[data-dim]").count() == 3  # </s> of both sides, and the tag
    assert full_page.evaluate(colours) != picture_before
    after = full_page.locator(".s2s-sums").inner_text()
    assert "counted in every number" in after and note.split("It shows")[0].strip() in after


def test_trust_stands_with_every_map(full_page, page, trust):
    shown = full_page.locator(".s2s-trust")
    assert shown.inner_text() == f"Trust: {trust.line('raw', 'cross', 'predicts', (2, 0))}"
    full_page.get_by_role("button", name="Cross-attention, layer 1, head 0").click()
    full_page.get_by_role("radio", name="reads").check()
    assert shown.inner_text() == f"Trust: {trust.line('raw', 'cross', 'reads', (1, 0))}"
    full_page.get_by_role("radio", name="Encoder").check()
    assert "cross-attention alone" in shown.inner_text()
    full_page.get_by_role("combobox", name="View").select_option("left_out")
    assert trust.line("left_out", "cross", "predicts", ()) in shown.inner_text()
    assert UNMEASURED in page.locator(".s2s-trust").inner_text()


def test_it_opens_at_the_map_that_was_asked_for(browser, full_trace, tmp_path):
    chosen = {"view": "norm", "kind": "decoder", "layer": 0, "head": 1, "words": True, "rows": "reads"}
    with opened(browser, tmp_path / "look.html", full_trace, **chosen) as tab:
        assert tab.locator(".s2s-about").inner_text().startswith("Decoder, layer 0, head 1, view norm")
        np.testing.assert_allclose(table(tab), picture(full_trace, **chosen).cells, atol=6e-5)
        assert tab.locator("table th[scope=row]").first.inner_text() == "<s>"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_fits_a_phone_and_follows_the_theme(browser, full_trace, tmp_path, scheme):
    path = tmp_path / "look.html"
    path.write_text(to_html(full_trace), encoding="utf-8")
    context = browser.new_context(viewport={"width": 360, "height": 740}, color_scheme=scheme)
    tab = context.new_page()
    tab.goto(path.as_uri())
    assert tab.locator("main").get_attribute("data-theme") == scheme
    assert tab.evaluate("document.documentElement.scrollWidth") <= 360
    context.close()


def test_script_in_a_text_does_not_run(browser, seq2see, tmp_path):
    model, tokenizer = seq2see
    attack = "<img src=x onerror=window.hit=1></script><script>window.hit=1</script> ${window.hit=1}"
    target = tokenizer.encode_target(attack, language="fr")
    [made] = trace_hypotheses(model, tokenizer, [attack[:60]], [target[:60]], model_name=attack)
    path = tmp_path / "look.html"
    path.write_text(to_html(made, unseen=[Word(attack, 0, 60)]), encoding="utf-8")
    tab = browser.new_page()
    tab.goto(path.as_uri())
    tab.locator(".s2s-scroll canvas").focus()
    tab.keyboard.press("ArrowDown")
    assert tab.locator(".s2s-read").inner_text()
    assert tab.evaluate("window.hit") is None
    tab.close()
