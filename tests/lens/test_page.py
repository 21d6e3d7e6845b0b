"""The page of `to_html` in a real browser: what it shows is the trace's own, and nothing in a text runs."""

import re
from contextlib import contextmanager
from dataclasses import replace

import numpy as np
import pytest

from seq2see.lens import to_html, trace_hypotheses, word_map
from seq2see.lens.records.intervals import Estimate
from seq2see.lens.records.trust import MapTrust, Trust
from seq2see.passes.attention_kinds import KINDS
from seq2see.tokenizer.words import Word


@contextmanager
def opened(browser, path, trace, **chosen):
    """The page of a trace, opened from a file; what it asks of the network and what it throws are failures."""
    path.write_text(to_html(trace, **chosen), encoding="utf-8")
    tab = browser.new_page(viewport={"width": 1440, "height": 1000})
    wrong = []
    tab.on("request", lambda request: request.url.startswith(("file:", "data:", "blob:")) or wrong.append(request.url))
    tab.on("pageerror", lambda error: wrong.append(str(error)))
    tab.on("console", lambda message: wrong.append(message.text) if message.type == "error" else None)
    tab.goto(path.as_uri())
    tab.get_by_role("grid").wait_for()
    yield tab
    tab.close()
    assert not wrong


@pytest.fixture
def page(browser, trace, tmp_path):
    with opened(browser, tmp_path / "look.html", trace) as tab:
        tab.get_by_role("link", name="Lab", exact=True).click()
        assert tab.locator(".rail .foot").inner_text().strip().endswith("run seq2see serve MODEL.")
        yield tab


def named(tab):
    """Waits until every cell has an element, for which the page takes its time."""
    tab.wait_for_function("""() => document.querySelectorAll(".rows .c").length
        && [...document.querySelectorAll(".grid2")].every((grid) =>
        grid.querySelectorAll(".rows .c").length === grid.querySelectorAll(".row .rl").length
        * grid.querySelectorAll(".cols [data-column]").length)""")


def lightness(tab):
    """How light the canvas is in the middle of every cell; None where it is transparent."""
    return tab.evaluate("""() => {
        const canvas = document.querySelector(".lab .rows canvas"), { ends } = document.querySelector(".lab .grid2");
        const at = (x, y) => canvas.getContext("2d").getImageData(x, y, 1, 1).data;
        return Array.from({ length: canvas.height }, (_, y) => ends.slice(1).map((end, j) => {
            const [red, green, blue, alpha] = at(Math.floor((ends[j] + end) / 2), y);
            return alpha ? red + green + blue : null;
        }));
    }""")


def shown(tab):
    """What every cell of the map says, without its words: a number, or None where it is masked."""
    named(tab)
    names = tab.get_by_role("grid").locator("[data-row]").evaluate_all(
        "rows => rows.map(row => [...row.querySelectorAll('.c')].map(cell => cell.getAttribute('aria-label')))")
    number = re.compile(r".*: (not yet written|[-−\d.]+)(?: nats|%)?$", re.DOTALL)
    return [[None if (text := number.match(name)[1]) == "not yet written" else float(text.replace("−", "-"))
             for name in row] for row in names]


def test_the_cells_are_the_weights_and_what_is_saved_is_what_is_shown(page, trace, tmp_path):
    for kind in KINDS:
        page.locator(f'.lab [data-head="{kind}.1.1"]').first.click()
        weights = trace.maps(kind)[1, 1]
        for r, row in enumerate(shown(page)):
            for c, value in enumerate(row):
                masked = kind == "decoder" and c > r
                assert value is None if masked else value == pytest.approx(100 * weights[r, c], abs=0.6)
        seen = [(weights[r, c], one) for r, row in enumerate(lightness(page)) for c, one in enumerate(row)
                if one is not None or not (kind == "decoder" and c > r)]
        assert len(seen) == np.count_nonzero(weights > 0)
        by_weight = [one for _, one in sorted(seen)]
        assert by_weight == sorted(by_weight, reverse=True) and len(set(by_weight)) > 5, "more is darker"
    page.get_by_role("button", name="Save").click()
    with page.expect_download() as saved:
        page.get_by_role("menuitem", name="CSV").click()
    saved.value.save_as(tmp_path / "map.csv")
    lines = (tmp_path / "map.csv").read_text(encoding="utf-8").splitlines()
    cells = np.array([[float(cell) for cell in line.rpartition('",')[2].split(",")] for line in lines[1:]])
    np.testing.assert_allclose(cells, trace.maps(KINDS[-1])[1, 1], atol=1e-3)


@pytest.mark.parametrize(("view", "name", "scale"), [
    ("norm", "Weighted by signal", 1),
    *(pytest.param(name.lower(), name, 100, marks=pytest.mark.long) for name in ("Rollout", "Contributions"))])
def test_every_view_is_shown_by_words(browser, full_trace, tmp_path, view, name, scale):
    wanted = word_map(full_trace, "cross", view=view).maps[2]
    wanted = (wanted[0] if view == "norm" else wanted)[1:]  # the language tag has no row
    with opened(browser, tmp_path / "look.html", full_trace, words=True) as tab:
        tab.get_by_role("link", name="Lab", exact=True).click()
        tab.locator('.lab [data-head="cross.2.0"]').first.click()
        tab.get_by_role("button", name="Show:").click()
        tab.get_by_role("menuitemradio", name=name).click()
        np.testing.assert_allclose(np.array(shown(tab), dtype=float), wanted * scale, atol=0.011 * max(scale, 50))


def test_it_opens_at_the_map_that_was_asked_for(browser, full_trace, tmp_path):
    chosen = {"view": "norm", "kind": "decoder", "layer": 0, "head": 1, "words": True, "rows": "reads"}
    with opened(browser, tmp_path / "look.html", full_trace, **chosen) as tab:
        which = tab.locator(".lab .eyebrow").inner_text()
        assert "looks back at" in which and "layer 1, head 2" in which
        assert "weighted by signal" in tab.get_by_role("button", name="Show:").inner_text()
        assert tab.locator(".lab .rl").first.inner_text() == "start"


def test_all_heads_of_a_layer_are_overlaid_in_two_clicks(page, trace):
    page.locator('.lab [data-head="cross.1.0"]').first.click()
    page.get_by_role("button", name="Lines", exact=True).click()
    page.get_by_role("button", name="All heads", exact=True).click()
    heads = trace.maps("cross")[1]
    colours = page.locator(".lined path").evaluate_all("all => all.map(one => one.style.stroke)")
    assert len(set(colours)) == len(heads) and len(colours) == pytest.approx((heads >= 0.06).sum(), abs=2)
    keys = page.locator(".line-key")
    assert keys.all_inner_texts() == [str(head + 1) for head in range(len(heads))]
    keys.last.click()
    assert f"layer 2, head {len(heads)}" in page.locator(".lab .eyebrow").inner_text()
    page.get_by_role("button", name="This head").click()
    assert page.locator(".lined path").count() == pytest.approx((heads[-1] >= 0.06).sum(), abs=2)


def test_script_in_a_text_does_not_run_and_letters_beyond_the_basic_plane_stand_in_their_places(
    browser, seq2see, tmp_path
):
    model, tokenizer = seq2see
    attack = "<img src=x onerror=window.hit=1></script><script>window.hit=1</script> ${window.hit=1}"
    source = f"The 🐈\u200d⬛ cat 𝒙 {attack[:40]}"
    target = tokenizer.encode_target(attack, language="fr")
    [made] = trace_hypotheses(model, tokenizer, [source], [target[:60]], model_name=attack, source_language="en")
    with opened(browser, tmp_path / "look.html", made, unseen=[Word(attack, 0, 60)]) as tab:
        tab.get_by_role("link", name="See", exact=True).click()
        tab.locator(".tgt .w").first.hover()
        tab.locator(".see [data-tip]").first.hover()
        tab.wait_for_timeout(500)
        assert tab.evaluate("window.hit") is None
        assert tab.locator(".see .src").inner_text() == source
        assert tab.locator(".src .w").all_inner_texts() == [word.text for word in made.source_words]


@pytest.mark.parametrize(("language", "text"), [
    ("ar", "القط لم يعبر الشارع."), pytest.param("heb_Hebr", "החתול לא חצה את הרחוב.", marks=pytest.mark.long)])
def test_a_right_to_left_source_reverses_the_columns(browser, seq2see, tmp_path, language, text):
    model, tokenizer = seq2see
    target = tokenizer.encode_target("Le chat n'a pas traversé la rue.", language="fr")
    [made] = trace_hypotheses(model, tokenizer, [text], [target], source_language=language,
                              target_language="fr", given=1)

    def across(selector):
        return tab.locator(selector).evaluate_all("all => all.map(one => one.getBoundingClientRect().x)")

    with opened(browser, tmp_path / "look.html", made, words=True) as tab:
        named(tab)
        for selector in (".src .w", ".see .cols [data-column]", ".see [data-row='1'] .c"):
            assert across(selector) == sorted(across(selector), reverse=True), selector
        assert across(".tgt .w") == sorted(across(".tgt .w"))
        assert min(across(".see .rl")) > max(across(".see .c")), "the row labels are where reading begins"
        tab.get_by_role("button", name="Enlarge all heads").click()
        assert "matrix(-1," in tab.locator(".th img").first.evaluate("one => getComputedStyle(one).transform")
        tab.keyboard.press("Escape")
        quoted = tab.locator(".see :is(.src, .say .seen, .cols [data-column] span, .did b[lang]:not([lang=fr]))")
        assert quoted.count() > 4
        for one in quoted.all():
            assert (one.get_attribute("lang"), one.get_attribute("dir")) == (language, "rtl")
        tab.get_by_role("grid").focus()
        tab.keyboard.press("Control+Home")
        tab.keyboard.press("ArrowLeft")
        assert tab.locator(".see .say .seen").inner_text() == made.source_words[1].text
        tab.get_by_role("link", name="Lab", exact=True).click()
        tab.get_by_role("button", name="Save").click()
        with tab.expect_download() as saved:
            tab.get_by_role("menuitem", name="SVG").click()
        cells = re.findall(r'<rect x="(\d+)" y="120"', saved.value.path().read_text(encoding="utf-8"))
        assert len(cells) > 2 and sorted(map(int, cells), reverse=True) == list(map(int, cells))


def test_without_gold_links_the_agreement_with_erasure_is_shown(browser, trace, tmp_path):
    """A user's own pairs have none: no error, and what is measured in its place."""
    tau, chance = Estimate(0.42, 0.31, 0.5), Estimate(-0.001, -0.02, 0.01)
    maps = tuple(MapTrust("raw", "predicts", (layer, head), None, tau) for layer in range(3) for head in range(2))
    trust = Trust("own.csv", 300, 301, MapTrust("random", "predicts", (), None, chance), maps[:1], maps)
    with opened(browser, tmp_path / "look.html", replace(trace, trust=trust)) as tab:
        tab.get_by_role("link", name="Lab", exact=True).click()
        said = tab.locator(".lab [data-says=agreement]")
        assert " ".join(said.inner_text().split()) == "Agreement with erasure 0.42 (random map 0.00)"
        said.hover()
        tab.get_by_text("0.31 to 0.50").wait_for()
        assert "Measured on 300 sentences of own.csv." in tab.locator("body").inner_text()
