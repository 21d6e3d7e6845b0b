"""The lab on the packaged models: every feature within three presses of See, and each tool by itself."""

import re

import pytest
from accessibility import violations

from .conftest import EVERYWHERE, more, open_tool, settled, to_see, type_in

TOOLS = {  # what a tool says once it has its numbers
    "All maps": "Where did every head look?", "The machine": "Read the English",
    "Watch it learn": "How did the model learn this?",
    "Head off": "Without", "Another sentence": "With the change", "Attributions": "Which words mattered",
    "One row, computed": "softmax", "What each layer would write": "after layer 1",
    "Translations considered": "The bold path", "Similar words": "Similarity is",
    "Two models": "storybook and everyday",
}


def rail(name):
    return [("link", "Lab"), ("link", name)]


# Each feature: what is pressed, from See, and what is then there.
FEATURES = {
    "type a text": ([("button", "Type your own")], ".texts textarea:focus"),
    "clear it": ([("button", "Clear the text")], ".offers button"),
    "an example": ([("button", "Examples"), ("menuitemradio", "The box")], ".swap [data-swap=small]"),
    "swap a word": ([("radio", "wide")], ".tgt .w:text-is('elle')"),
    "the difference of two maps": ([("radio", "wide"), ("radio", "Difference")], ".see .ramp + .ramp"),
    "source language": ([("button", "From: English")], ".pop [data-do=source]"),
    "target language": ([("button", "To: French")], ".pop [data-do=target]"),
    "the model": ([("button", "Model:")], ".pop [data-do=model]"),
    "dark": ([("button", "Dark mode")], "[data-theme=dark]"),
    "the tour": ([("button", "More"), ("menuitem", "A short tour")], ".tourbox:visible"),
    "translate a file": ([("button", "More"), ("menuitem", "Translate a file")], ".upload:visible"),
    "save the map": ([("button", "More"), ("menuitem", "Save the map")], ".pop [data-value=csv]"),
    "print": ([("button", "More")], ".pop [data-do=print]"),
    "copy": ([("button", "Copy the translation")], "[data-do=copy]:has-text('Copied')"),
    "other possible words": ([("button", "il")], ".pop [data-force]"),
    "all heads": ([("button", "Enlarge all heads")], ".all .th"),
    "another head": ([("button", "Enlarge all heads"), ("button", "French looks at English, layer 1, head 1")],
                     ".see .pin:has-text('Layer 1, head 1')"),
    "unpin": ([("button", "Layer 2, head 1, pinned")], ".see .pin[aria-pressed=false]"),
    "watch it learn": ([("link", "Watch it learn")], ".lab .play"),
    "the views": ([*rail("All maps"), ("button", "Show:")], ".pop [data-value=rollout]"),
    "lines": ([*rail("All maps"), ("button", "Lines")], ".lab .lined"),
    "tokens": ([*rail("All maps"), ("button", "Tokens")], ".lab .rl:has-text('Le')"),
    "what a row is": ([*rail("All maps"), ("button", "just read")], ".lab .axis:has-text('reads')"),
    "the scale": ([*rail("All maps"), ("button", "this map’s maximum")],
                  ".lab [data-k=scale-highest][aria-pressed=true]"),
    "fade end marks": (rail("All maps"), ".lab [data-toggle=fade]"),
    "the model's own chances": (rail("Translations considered"), ".lab [data-toggle=raw]"),
    "heads as words": ([*rail("All maps"), ("button", "Words", -1)], ".lab .inwords button"),
    "faithfulness of a map": (rail("All maps"), ".lab .trust .badge"),
    "attributions": ([*rail("Attributions"), ("button", "Show:")], ".pop [data-value=occlusion]"),
    "beams and sampling": ([*rail("Translations considered"), ("button", "sampling")], ".lab [data-name=top_k]"),
    "a given beginning": ([("button", "More"), ("menuitem", "Other translations")], ".lab [data-do=prefix]"),
    "temperature": (rail("Translations considered"), ".lab [data-do=temperature]"),
    "the lessons": ([("link", "Learn")], ".contents"),
    "the story": ([("link", "Learn"), ("link", "one story")], ".tale"),
    **{name: (rail(name), f".lab[data-tool] :text({text!r})") for name, text in TOOLS.items()},
}


@pytest.mark.few(12)
@pytest.mark.parametrize("name", FEATURES)
def test_every_feature_is_reached_from_see_in_three_presses(tab, name):
    presses, there = FEATURES[name]
    assert len(presses) <= 3
    for role, label, *which in presses:
        found = tab.get_by_role(role, name=label, exact=role in ("link", "radio") and label != "one story")
        found.nth(which[0] if which else 0).click()
        if label == "Lab":
            tab.locator(".rail").wait_for()  # See, still shown until then, has a link of the same name as a tool
    tab.locator(there).first.wait_for()


def test_no_menu_of_see_is_long(tab):
    for menu in ("examples", "more", "from", "to", "model"):
        tab.locator(f"[data-menu={menu}]").first.click()
        assert 1 <= tab.locator(".pop button:visible").count() <= 8, menu
        assert tab.locator(".pop :is(input, select, textarea)").count() == 0, menu
        tab.keyboard.press("Escape")
    tab.locator(".tgt .w.sel").click()
    assert 2 <= tab.locator(".pop button:visible").count() <= 8


@pytest.mark.parametrize("tab", ["file", pytest.param("server", marks=pytest.mark.long)], indirect=True)
def test_each_tool_answers_and_everybody_can_use_it(tab):
    for name, wanted in TOOLS.items():
        if name == "Two models" and tab.url.startswith("file:"):
            continue
        open_tool(tab, name)
        tab.locator(".lab").get_by_text(wanted).first.wait_for()
        settled(tab)
        assert violations(tab) == [], name
        assert tab.evaluate("document.documentElement.scrollWidth <= innerWidth"), name


@pytest.mark.parametrize("size", [(1366, 768), (1440, 900)])
def test_the_map_has_its_rows_beside_every_tool_that_has_one(tab, size):
    tab.set_viewport_size({"width": size[0], "height": size[1]})
    for name in ("All maps", "Watch it learn", "Attributions"):
        open_tool(tab, name)
        settled(tab)
        box = tab.locator(".lab .mapbox").bounding_box()
        ends = "all => all.map(one => one.getBoundingClientRect().bottom)"
        rows = tab.locator(".lab [data-row] .rl").evaluate_all(ends)
        head = tab.locator(".lab .row.cols").bounding_box()
        end = min(box["y"] + box["height"], size[1])
        assert len([one for one in rows if head["y"] + head["height"] < one <= end + 1]) >= 10, name


# --- all maps


def test_a_view_that_is_cancelled_leaves_the_translation(tab):
    written = tab.locator(".tgt").inner_text()
    open_tool(tab, "All maps")
    tab.route("**/v1/look", lambda route: None)
    tab.get_by_role("button", name="Show:").click()
    tab.get_by_role("menuitemradio", name="Rollout").click()
    tab.get_by_role("button", name="Cancel").click()
    assert tab.locator(".slim .wrote").inner_text() == written and tab.locator(".lab .rows canvas").is_visible()


def test_views_units_and_lines(tab):
    open_tool(tab, "All maps")
    tab.get_by_role("button", name="Show:").click()
    tab.get_by_role("menuitemradio", name="Contributions").click()
    tab.get_by_text("Traced back: English").wait_for()
    open_tool(tab, "Attributions")
    tab.locator(".lab .say", has_text="Without it").wait_for()
    assert tab.locator(".lab .cols .axis").inner_text().startswith("erased")
    tab.get_by_role("button", name="Lines", exact=True).click()
    assert tab.locator(".lab .lined path").count() > 3
    tab.locator(".lab .lined g", has_text="chat").click()
    assert tab.locator(".slim .w.sel").inner_text() == "chat"
    tab.get_by_role("button", name="Map", exact=True).click()
    tab.get_by_role("button", name="Tokens").click()
    assert "to French" in tab.locator(".lab .rl").first.inner_text()
    to_see(tab)
    assert tab.locator(".see .say").inner_text().startswith("While writing chat"), "See shows weights between words"


def test_choosing_a_head_changes_the_map_and_the_sentence(tab):
    open_tool(tab, "All maps")
    tab.locator(".lab").get_by_role("button", name="French looks at English, layer 1, head 1").click()
    assert "French looks at English · layer 1, head 1" in tab.locator(".lab .eyebrow").inner_text()
    assert "Alignment error" in tab.locator(".trust").inner_text()
    tab.locator(".lab .heads").get_by_role("button", name="Words", exact=True).click()
    assert tab.locator(".inwords button").count() == 24
    to_see(tab)
    assert "Layer 1, head 1" in tab.locator(".see .pin").inner_text(), "See has the same head"


def test_a_link_to_a_view_of_before_opens_it_in_the_lab(open_tab, packaged):
    """The head that matters most may be of a kind for which the view does not exist."""
    tab = open_tab(f"{packaged.url}/?view=left_out&text=The box did not fit in the bag because it was too big.")
    settled(tab)
    tab.locator(".lab .say", has_text="Without ").wait_for()
    assert tab.locator(".lab .cols .axis").inner_text().startswith("erased")


def test_an_attribution_says_how_many_nats_a_token_adds(open_tab, packaged):
    tab = open_tab(f"{packaged.url}/?view=occlusion&text=The box did not fit in the bag because it was too big.")
    settled(tab)
    tab.locator(".lab .say", has_text="nats to the log-probability").wait_for()
    assert tab.locator(".lab .cols .axis").inner_text().startswith("adds")


@pytest.mark.long
def test_a_large_map_is_one_picture_whose_cells_can_be_pointed_at_and_walked(open_tab, packaged):
    """From 1,600 cells on; what is said of a cell is what the map has there."""
    tab = open_tab(packaged.url)
    settled(tab)
    type_in(tab, " and ".join(4 * ["the cat did not cross the street because it was too tired"]) + ".")
    settled(tab)
    open_tool(tab, "All maps")
    tab.locator(".lab [data-head='encoder.0.0']").first.click()
    box = ".lab .mapbox"
    assert tab.locator(f"{box} canvas").count() == 1 and tab.locator(f"{box} .c").count() == 0
    row = tab.locator(f"{box} [data-row='1']")
    place, label = row.bounding_box(), row.locator(".rl").bounding_box()["width"]
    columns = tab.locator(".lab .cols [data-column]").count()
    tab.mouse.move(place["x"] + label + 2.5 * (place["width"] - label) / columns, place["y"] + place["height"] / 2)
    first = tab.locator(f"{box} #s2s-cell")
    assert first.get_attribute("aria-label").startswith("cat, did: ")
    said = tab.locator(".lab .say").inner_text().replace("none", "0%")
    assert first.get_attribute("aria-label").split(": ")[1] in said
    tab.mouse.move(5, 5)
    grid = tab.get_by_role("grid")
    grid.focus()
    for key in ("Control+Home", "ArrowDown", "End"):
        grid.press(key)
    assert tab.locator("#s2s-cell").get_attribute("aria-label").startswith("cat, end: ")
    assert grid.get_attribute("aria-activedescendant") == "s2s-cell"


# --- the tools


@EVERYWHERE
def test_the_beam_tree_has_words_as_the_rest_of_the_page(tab):
    open_tool(tab, "Translations considered")
    tab.locator(".beams text").first.wait_for()
    said = tab.locator(".beams text").evaluate_all("all => all.map((one) => one.firstChild.data)")
    assert {"to French", "Le", "end"} <= set(said) and not [one for one in said if re.search("[▁<>]", one)]
    assert "divided by the length." in tab.locator(".bench").inner_text()
    open_tool(tab, "What each layer would write")
    assert tab.locator(".bench th[scope=col]").last.inner_text() == "end"


@EVERYWHERE
def test_other_translations_are_there_at_once_and_one_can_be_chosen(tab):
    tab.locator(".tgt .w", has_text="chat").click()
    more(tab, "Other translations")
    tab.locator("[data-do=alternative]").nth(3).wait_for()
    settled(tab)
    assert tab.locator(".slim .w.sel").inner_text() == "chat"
    best = tab.locator(".slim .wrote").inner_text()
    tab.locator("[data-k=alternative-1]").click()
    settled(tab)
    assert tab.locator(".slim .wrote").inner_text() != best
    tab.get_by_role("group", name="Beams").first.get_by_role("button", name="8").click()
    settled(tab)
    assert tab.locator("[data-do=alternative][aria-pressed=true]").get_attribute("data-value") == "0", (
        "the best of another search")


def test_the_most_probable_alternatives_come_first(tab):
    type_in(tab, "I have never seen a giraffe.")  # the third found is less probable than the fourth
    settled(tab)
    open_tool(tab, "Translations considered")
    tab.locator("[data-do=alternative]").nth(3).wait_for()
    best, *others = tab.locator("[data-do=alternative] > small").all_inner_texts()
    times = [1 if one == "just as likely" else float(re.fullmatch(r"([\d.,]+)× less likely", one)[1].replace(",", ""))
             for one in others]
    assert "likely" not in best and len(times) == 3 and times == sorted(times)


def test_sampling_begins_at_a_low_temperature(tab):
    open_tool(tab, "Translations considered")
    tab.get_by_role("button", name="sampling").click()
    assert tab.locator("[data-name=temperature]").input_value() == "0.7"


@pytest.mark.long
def test_the_best_translation_alone_has_a_chance_and_the_others_odds_against_it(tab):
    """In French everyday has none."""
    for text, best in ((None, r"over 99%|\d+%"), ("We're ready.", "best")):
        if text:  # else what storybook begins with
            to_see(tab)
            type_in(tab, text)
            tab.wait_for_function("() => document.querySelector('.tgt')?.innerText.includes('prêt')")
        open_tool(tab, "Translations considered")
        tab.get_by_role("group", name="Beams").first.get_by_role("button", name="8").click()
        tab.locator("[data-do=alternative]").nth(2).wait_for()
        first, *others = tab.locator("[data-do=alternative] > small").all_inner_texts()
        assert re.fullmatch(best, first) and others
        assert all(re.fullmatch(r"(just as likely|[\d.,]+× (less|more) likely)", one) for one in others)
        heading = "Chance that a reference translation is identical"
        assert (heading in tab.locator(".bench").inner_text()) == (best != "best")


def test_the_lab_says_chances_and_no_margins(tab):
    open_tool(tab, "Another sentence")
    said = tab.locator(".bench .verdict")
    said.wait_for()
    assert re.match(r"The chance of il is over 99%\. With one head patched", said.inner_text())
    assert "nats" not in said.inner_text() and "margin" not in said.inner_text()


@pytest.mark.parametrize("text", [None, pytest.param(
    "My sister works in a bank near the river, but she would like to travel.", marks=pytest.mark.long)])
def test_the_lab_s_maps_are_whole(tab, text):
    if text:
        type_in(tab, text)
        settled(tab)
    open_tool(tab, "Another sentence")
    if text:
        tab.get_by_label("The English").fill(text.replace("sister", "brother").replace("she", "he"))
        tab.get_by_label("The English").press("Enter")
    tab.locator(".bench .small").first.wait_for()
    inside = tab.evaluate("""() => { const bench = document.querySelector('.bench').getBoundingClientRect();
        return [...document.querySelectorAll('.bench .small')].map((map) => [map, ...map.querySelectorAll('text')]
            .map((one) => one.getBoundingClientRect()).every((box) => box.top >= bench.top && box.left >= bench.left
                && box.bottom <= bench.bottom && box.right <= bench.right)); }""")
    assert inside == [True] * 3


@EVERYWHERE
def test_it_is_watched_learning(tab):
    tab.get_by_role("link", name="Watch it learn").first.click()
    tab.get_by_role("button", name="Watch it learn").click()
    tab.get_by_text("The model’s translation after 1 training steps:").wait_for()
    tab.get_by_role("button", name="Pause").dispatch_event("click")  # it is redrawn all the time
    slider = tab.get_by_role("slider", name="Training step")
    slider.focus()
    slider.press("End")
    slider.press("ArrowLeft")
    assert "Step" in tab.locator(".when").inner_text() and tab.locator(".lab .say").inner_text().startswith("After")
    assert tab.locator(".lab .badge.tone-green, .lab .badge.tone-blue").count() == 0, "roles are the finished model's"
    to_see(tab)
    assert tab.locator(".tgt .w.sel").inner_text() == "il", "See has the finished model"
    open_tool(tab, "Watch it learn")
    assert "Fully trained" in tab.locator(".when").inner_text()


@EVERYWHERE
def test_the_lessons_are_there_at_once(tab):
    tab.get_by_role("link", name="Learn", exact=True).click()
    tab.get_by_role("heading", name="Attention, measured").wait_for()
    assert tab.locator("[data-run]").count() == 0, "the operator did not allow it"
    to_see(tab)
    tab.locator(".tgt .w.sel").wait_for()


@pytest.mark.long
def test_two_models_are_laid_side_by_side(open_tab, packaged, server):
    tab = open_tab(packaged.url)
    settled(tab)
    beside = tab.locator(".beside")
    open_tool(tab, "Two models")
    beside.locator("[data-says=versus-pair]").wait_for()
    assert beside.locator("h2").first.inner_text() == "storybook and everyday"
    assert beside.locator("svg.small").count() == 2
    to_see(tab)
    type_in(tab, "The astronaut sleeps.")
    settled(tab)
    tab.locator(".note").get_by_role("button", name="Use storybook").click()
    settled(tab)
    open_tool(tab, "Two models")
    beside.locator("[data-says=versus-words]").wait_for()
    assert beside.locator("mark").count() and beside.locator("[data-says=versus-unseen]").count()
    first = beside.locator("figcaption").first.inner_text()
    beside.locator(".story button").nth(2).click()
    assert beside.locator("figcaption").first.inner_text() != first
    beside.get_by_role("button", name="Look inside everyday").click()
    settled(tab)
    assert tab.locator(".see").is_visible() and "everyday" in tab.locator(".top-bar .model").inner_text()
    tab.locator(".to-menu button").click()
    tab.get_by_role("menuitemradio", name="German").click()
    settled(tab)
    open_tool(tab, "Two models")
    assert "No other model here" in tab.locator(".bench").inner_text(), "storybook has no German"
    alone = open_tab(server.url)
    settled(alone)
    open_tool(alone, "Two models")
    assert "No other model here" in alone.locator(".bench").inner_text(), "one model"
