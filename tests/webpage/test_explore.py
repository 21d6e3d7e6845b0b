"""The explorer as a visitor meets it, on the packaged models: each state of the page, driven in a browser."""

import re
from functools import partial
from itertools import product

import pytest
from accessibility import violations
from playwright.sync_api import expect
from serving import running

from seq2see import Translator
from .conftest import CAT, EVERYWHERE, settled, type_in


def resize(tab, width, height):
    """And waits until the page, which draws itself again in the next frame, has done so."""
    tab.set_viewport_size({"width": width, "height": height})
    tab.evaluate("() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
    settled(tab)


CUT = """() => [...document.querySelectorAll('.explore *')].filter((one) => one.offsetParent
    && (getComputedStyle(one).overflowX !== 'visible' || getComputedStyle(one).overflowY !== 'visible')
    && (one.scrollHeight > one.clientHeight + 1 || one.scrollWidth > one.clientWidth + 1))
    .map((one) => one.className)"""


SIZES = [(1366, 768), (1440, 900)]  # of a whole screen; the window of a visitor may change


def test_it_is_one_screen_where_nothing_is_cut_and_the_map_stays(tab):
    """For every word of the first sentence."""
    for width, height in SIZES:
        resize(tab, width, height)
        dock, at = tab.locator(".dock").bounding_box(), tab.locator(".mapbox").bounding_box()
        assert dock["y"] + dock["height"] <= height
        for _ in range(tab.locator("[data-row]").count()):
            assert tab.evaluate(CUT) == [], tab.locator(".word .big").inner_text()
            assert tab.locator(".mapbox").bounding_box() == at
            tab.get_by_role("button", name="Next word").click()


# --- changing the sentence


@EVERYWHERE
def test_the_other_word_of_a_pair_turns_the_pronoun(tab):
    tab.locator(".flip button", has_text="wide").click()
    tab.wait_for_function("() => document.querySelector('.tgt')?.innerText.includes('elle')")
    settled(tab)
    assert tab.locator(".w.sel").inner_text() == "elle"
    assert tab.locator(".w.new").count() >= 1
    assert tab.locator(".pairs [aria-pressed=true]").inner_text() == "wide"
    tab.locator(".meaning", has_text="it as the street and writes elle (feminine)").wait_for()


def test_typed_text_goes_to_the_first_model_and_comes_while_typing(tab):
    tab.get_by_role("button", name="Edit").click()
    field = tab.locator(".field")
    assert field.evaluate("one => one.value.slice(one.selectionStart, one.selectionEnd)") == CAT
    field.fill("Where is the station?")
    tab.wait_for_function("() => document.querySelector('.tgt')?.innerText.includes('gare')")
    assert field.is_visible(), "what is typed stays in its field"
    field.press("Enter")
    settled(tab)
    assert tab.locator(".src .w").first.inner_text() == "Where" and tab.locator(".flip").count() == 0
    assert "everyday" in tab.get_by_role("button", name="Model:").inner_text()


def test_an_unknown_word_is_marked_and_said(tab):
    type_in(tab, "The zxqvute was tall.")
    tab.get_by_text("The model never saw zxqvute").wait_for()
    assert tab.locator(".unseen").inner_text() == "zxqvute"


def test_the_unknown_words_that_are_not_named_are_counted(tab):
    for more, said in (("", ""), (" zxa", " and 1 more word"), (" zxa zxb", " and 2 more words")):
        type_in(tab, f"The zxqvute qwgrtz xkvbrt{more} was tall.")
        tab.locator(".then", has_text=f"The model never saw zxqvute, qwgrtz, xkvbrt{said}. Their").wait_for()


@EVERYWHERE
def test_an_unknown_word_is_said_with_each_translation_that_comes_while_typing(tab):
    tab.get_by_role("button", name="Edit").click()
    tab.locator(".field").fill("The zxqvute")
    note = tab.locator(".then", has_text="The model never saw zxqvute. Its translation is a guess.")
    note.wait_for()
    tab.locator(".field").fill("The cat is tired.")
    note.wait_for(state="hidden")
    tab.locator(".field").fill("The cat is very qwgrtz.")
    tab.locator(".then", has_text="never saw qwgrtz").wait_for()
    assert tab.locator(".field").is_visible()


def test_nothing_is_drawn_over_the_note_of_unknown_words(tab):
    resize(tab, 1180, 900)
    type_in(tab, "The teacher saw the zxqvute because it was too tired.")
    settled(tab)
    tab.locator(".joins path").first.wait_for()
    lines = tab.locator(".joins path, .threads path, .pill:visible").evaluate_all(
        "all => Math.max(...all.map((one) => one.getBoundingClientRect().bottom))")
    assert lines <= tab.locator(".then").bounding_box()["y"]


def test_the_source_is_as_typed_where_the_model_read_another_word(tab):
    text = "The Zqxv991925 did not cross https://example.org/a."
    type_in(tab, text)
    tab.get_by_text("in place of protected text").wait_for()
    settled(tab)
    assert tab.locator(".src").inner_text() == text
    assert {"Zqxv991925", "https://example.org/a"} <= set(tab.locator(".src .w").all_inner_texts())
    assert "Zqxv991925" in tab.locator(".tgt").inner_text() and "Zqxv991925" in tab.locator(".grid2").inner_text()
    tab.get_by_role("button", name="Tokens").click()
    assert "Zqxv991925" in tab.locator(".cols").inner_text()


def test_a_translation_that_the_limit_cut_is_marked(tab):
    tab.route("**/v1/*", lambda route: route.continue_(post_data={**route.request.post_data_json, "max_new_tokens": 6}))
    type_in(tab, "We stayed at home because it was raining.")
    tab.get_by_text("at the token limit").wait_for()


@EVERYWHERE
def test_several_sentences_are_looked_at_part_by_part(tab):
    type_in(tab, "I was tired. She wanted to leave. We stayed at home because it was raining. He laughed.")
    settled(tab)
    tab.get_by_text("Part 1 of").wait_for()
    tab.get_by_role("button", name="Next part").click()
    settled(tab)
    assert "Part 2 of" in " ".join(tab.locator(".eyebrow").inner_text().split())
    assert "tired" not in [one.strip() for one in tab.locator(".src .w").all_inner_texts()]


def test_a_text_without_words_comes_back_as_it_is(tab):
    type_in(tab, "123 !!!")
    tab.get_by_text("The model cannot read any word of this text").wait_for()
    assert tab.locator(".tgt").inner_text() == "123 !!!"


def test_a_slow_answer_is_said_and_can_be_cancelled(tab):
    tab.route("**/v1/**", lambda route: None)  # never answered
    type_in(tab, "Where is my hat?")
    tab.get_by_text("Translating…").wait_for()
    tab.get_by_role("button", name="Cancel").click()
    assert tab.get_by_text("Translating…").count() == 0
    tab.get_by_text("Cancelled.").wait_for()
    assert tab.locator(".tgt").inner_text() == "", "the translation of another text is not left under this one"


def test_a_view_that_is_cancelled_leaves_the_translation(tab):
    settled(tab)
    written = tab.locator(".tgt").inner_text()
    tab.route("**/v1/look", lambda route: None)
    tab.get_by_role("button", name="Show:").click()
    tab.get_by_role("menuitemradio", name="Rollout").click()
    tab.get_by_role("button", name="Cancel").click()
    assert tab.locator(".tgt").inner_text() == written and tab.locator(".rows canvas").is_visible()


def test_a_server_that_does_not_answer_is_said_and_asked_again(tab):
    tab.route("**/v1/**", lambda route: route.abort())
    type_in(tab, "Where is my hat?")
    tab.get_by_text("The server did not answer.").wait_for()
    assert tab.locator(".tgt").inner_text() == ""
    tab.unroute("**/v1/**")
    tab.route("**/v1/look", lambda route: route.abort())
    tab.get_by_role("button", name="Try again").click()
    tab.get_by_text("chapeau").wait_for()
    tab.get_by_text("The server did not answer.").wait_for()
    assert "chapeau" in tab.locator(".tgt").inner_text(), "a translation is shown without its maps"
    tab.unroute("**/v1/look")
    tab.get_by_role("button", name="Try again").click()
    settled(tab)
    assert "chapeau" in tab.locator(".tgt").inner_text()


def test_a_newer_request_wins(tab):
    """An older answer that comes late is not shown, and its request is given up."""
    tab.evaluate("""() => { const own = window.fetch; window.given = 0; window.fetch = (url, options) => {
        options?.signal?.addEventListener('abort', () => { window.given += 1; });
        return own(url, options); }; }""")
    tab.get_by_role("button", name="Edit").click()
    tab.locator(".field").fill("I am hungry.")
    tab.wait_for_timeout(420)
    tab.locator(".field").fill("Where is the station?")
    tab.locator(".field").press("Enter")
    settled(tab)
    assert "gare" in tab.locator(".tgt").inner_text() and tab.evaluate("window.given") >= 1


@EVERYWHERE
def test_a_word_can_be_forced_and_the_rest_follows(tab):
    tab.locator(".cand button", has_text="elle").click()
    tab.wait_for_function("() => document.querySelector('.tgt')?.innerText.includes('elle')")
    settled(tab)
    assert "Forced: elle" in tab.locator(".then").inner_text()
    assert tab.locator(".tgt").inner_text().startswith("Le chat n'a pas traversé la rue parce qu'elle")
    tab.get_by_role("button", name="Undo").click()
    tab.wait_for_function("() => document.querySelector('.tgt')?.innerText.includes('qu\\'il')")


# --- the map


def test_views_units_and_lines(tab):
    tab.get_by_role("button", name="Show:").click()
    tab.get_by_role("menuitemradio", name="Contributions").click()
    tab.get_by_text("Traced back: English").wait_for()
    tab.get_by_role("button", name="Show all").click()
    tab.get_by_text("would be").wait_for()
    assert tab.locator(".cols .axis").inner_text().startswith("erased")
    tab.get_by_role("button", name="Lines", exact=True).click()
    assert tab.locator(".lined path").count() > 3
    tab.locator(".lined g", has_text="chat").click()
    assert tab.locator(".word .big").inner_text() == "chat"
    tab.get_by_role("button", name="Map", exact=True).click()
    tab.get_by_role("button", name="Tokens").click()
    assert "to French" in tab.locator(".rl").first.inner_text()


def test_choosing_a_head_changes_the_map_and_the_sentence(tab):
    tab.get_by_role("button", name="French looks at English, layer 1, head 1").first.click()
    assert "French looks at English · layer 1, head 1" in tab.locator(".eyebrow").inner_text()
    assert "Alignment error" in tab.locator(".trust").inner_text()
    tab.get_by_role("button", name="Words", exact=True).last.click()
    assert tab.locator(".inwords button").count() == 24


@EVERYWHERE
def test_a_link_opens_the_same_sentence_word_and_head(tab, open_tab):
    tab.get_by_role("button", name="French looks at English, layer 2, head 4").first.click()
    tab.locator(".tgt .w", has_text="chat").click()
    address = tab.evaluate("""async () => {
        let text = ''; navigator.clipboard.writeText = async (value) => { text = value; };
        document.querySelector('[data-do=share]').click(); await new Promise(done => setTimeout(done, 100));
        return text;
    }""")
    again = open_tab(address)
    settled(again)
    assert again.locator(".word .big").inner_text() == "chat"
    assert "layer 2, head 4" in again.locator(".eyebrow").inner_text()


@pytest.mark.parametrize("tab", ["file"], indirect=True)
def test_where_no_head_matters_the_map_is_of_the_head_that_goes_word_for_word(tab, open_tab):
    """Unless the reader has picked a head, or is in a map; a link opens the same."""
    type_in(tab, "My sister bought a red book and she reads it.")
    settled(tab)
    tab.locator(".tgt .w", has_text="rouge").click()
    tab.get_by_text("No head matters alone").wait_for()
    assert tab.locator(".eyebrow .badge").first.inner_text() == "word for word"
    assert tab.locator("[data-says=usual-head]").inner_text() == "The map shows the head word for word."
    assert tab.locator(".src .w[data-tone=blue]").inner_text() == "red"
    tab.locator("[data-do=share]").evaluate("""(one) => { navigator.clipboard.writeText = async (value) => {
        window.address = value; }; one.click(); }""")
    again = open_tab(tab.evaluate("new Promise(done => setTimeout(() => done(window.address), 100))"))
    settled(again)
    assert again.locator(".eyebrow").inner_text() == tab.locator(".eyebrow").inner_text()
    assert again.locator("[data-says=usual-head]").is_visible()
    tab.locator("[data-head='decoder.1.0']").first.click()
    tab.locator(".tgt .w", has_text="livre").click()
    tab.locator(".tgt .w", has_text="rouge").click()
    assert "layer 2, head 1" in tab.locator(".eyebrow").inner_text(), "the head that the reader has picked"
    assert not tab.locator("[data-says=usual-head]").count()


def hold_looks(tab, wanted):
    """Holds the wanted requests of `/v1/look` until the function returned is called; later ones go on at once."""
    held, released = [], []
    tab.route("**/v1/look", lambda route: route.continue_() if released or not wanted(route.request.post_data_json)
              else held.append(route))

    def release():
        released.append(True)
        for route in held:
            route.continue_()

    return release


@pytest.mark.parametrize("point", [False, True])
def test_a_map_that_changes_by_itself_says_so_and_one_pointed_at_stays(tab, packaged, point):
    release = hold_looks(tab, lambda asked: asked.get("evidence"))
    tab.goto(f"{packaged.url}/?model=storybook&text=My sister bought a red book and she reads it.")
    tab.wait_for_function("() => document.querySelector('.word')?.innerText.includes('switched off in turn')")
    before = tab.locator(".eyebrow").inner_text()
    if point:
        tab.locator(".mapbox [data-row]").nth(2).hover()
        tab.mouse.move(3, 3)
    release()
    settled(tab)
    note = tab.locator(".changed")
    if point:
        assert tab.locator(".eyebrow").inner_text() == before and note.inner_text() == ""
    else:
        assert tab.locator(".eyebrow").inner_text() != before
        assert note.inner_text().startswith("Now shown: the head that matters most for ")
        tab.locator(".mapbox [data-row]").nth(2).hover()
        assert note.inner_text() == "", "the reader has seen the map"


def test_on_a_phone_the_note_of_another_map_stands_at_the_lower_edge(tab, packaged):
    resize(tab, 390, 844)
    release = hold_looks(tab, lambda asked: asked.get("evidence"))
    tab.goto(f"{packaged.url}/?model=storybook&text=My sister bought a red book and she reads it.")
    tab.wait_for_function("() => document.querySelector('.word')?.innerText.includes('switched off in turn')")
    release()
    note = tab.locator("[data-says=shown-head]")
    note.wait_for()
    box = note.bounding_box()
    assert tab.evaluate("() => document.documentElement.scrollWidth") <= 390
    assert box["y"] > 750 and box["y"] + box["height"] <= 844 and box["x"] >= 0 and box["x"] + box["width"] <= 390


def test_heads_of_a_large_model_are_tested_when_asked_for(tab):
    none = {"head_seconds": 0}
    tab.route("**/v1/look", lambda route: route.continue_(post_data=none | route.request.post_data_json))
    type_in(tab, "The dog is old.")
    panel, known = tab.locator(".word"), "[data-says=no-head], [data-says=other-heads]"
    panel.get_by_text("heads are not tested yet").wait_for()
    assert not panel.locator(known).count()
    panel.get_by_role("button", name="Test them").click()
    panel.locator(known).first.wait_for()
    assert "not tested" not in panel.inner_text()


def test_a_link_to_a_view_without_heads_keeps_it_when_the_evidence_arrives(open_tab, packaged):
    """The head that matters most may be of a kind for which the view does not exist."""
    tab = open_tab(f"{packaged.url}/?view=left_out&text=The box did not fit in the bag because it was too big.")
    settled(tab)
    assert tab.locator(".say").inner_text().startswith("Without ")
    assert tab.locator(".cols .axis").inner_text().startswith("erased")


def test_an_attribution_says_how_many_nats_a_token_adds(open_tab, packaged):
    tab = open_tab(f"{packaged.url}/?view=occlusion&text=The box did not fit in the bag because it was too big.")
    settled(tab)
    tab.locator(".say", has_text="nats to the log-probability").wait_for()
    assert tab.locator(".cols .axis").inner_text().startswith("adds")


@pytest.mark.long
def test_a_large_map_is_one_picture_whose_cells_can_be_pointed_at_and_walked(open_tab, packaged):
    """From 1,600 cells on; what is said of a cell is what the map has there."""
    tab = open_tab(packaged.url)
    settled(tab)
    type_in(tab, " and ".join(4 * ["the cat did not cross the street because it was too tired"]) + ".")
    settled(tab)
    tab.locator("[data-head='encoder.0.0']").first.click()
    assert tab.locator(".mapbox canvas").count() == 1 and tab.locator(".mapbox .c").count() == 0
    row = tab.locator(".mapbox [data-row='1']")
    box, label = row.bounding_box(), row.locator(".rl").bounding_box()["width"]
    columns = tab.locator(".cols [data-column]").count()
    tab.mouse.move(box["x"] + label + 2.5 * (box["width"] - label) / columns, box["y"] + box["height"] / 2)
    first = tab.locator(".mapbox #s2s-cell")
    assert first.get_attribute("aria-label").startswith("cat, did: ")
    assert first.get_attribute("aria-label").split(": ")[1] in tab.locator(".say").inner_text().replace("none", "0%")
    tab.mouse.move(5, 5)
    grid = tab.get_by_role("grid")
    grid.focus()
    for key in ("Control+Home", "ArrowDown", "End"):
        grid.press(key)
    assert tab.locator("#s2s-cell").get_attribute("aria-label").startswith("cat, end: ")
    assert grid.get_attribute("aria-activedescendant") == "s2s-cell"


# --- the dock


QUESTIONS = {
    "What if this head were missing?": "Without", "What if the sentence were different?": "With the change",
    "How is this row computed?": "softmax", "What would each layer write?": "after layer 1",
    "Which translations were considered?": "The bold path", "Which words are similar?": "Similarity is",
}


@pytest.mark.parametrize("tab", ["file", pytest.param("server", marks=pytest.mark.long)], indirect=True)
def test_the_lab_answers_its_six_questions(tab):
    for question, wanted in QUESTIONS.items():
        tab.get_by_role("button", name=question).click()
        drawer = tab.locator(".drawer")
        drawer.get_by_text(wanted).first.wait_for()
        tab.wait_for_function("() => !document.querySelector('.drawer').innerText.includes('Computing')")
        assert drawer.get_by_role("heading", name=question).is_visible()
        assert violations(tab, context=".drawer") == []
        tab.keyboard.press("Escape")
        assert drawer.is_hidden()


@EVERYWHERE
def test_the_beam_tree_has_words_as_the_rest_of_the_page(tab):
    tab.get_by_role("button", name="Which translations were considered?").click()
    tab.locator(".beams text").first.wait_for()
    said = tab.locator(".beams text").evaluate_all("all => all.map((one) => one.firstChild.data)")
    assert {"to French", "Le", "end"} <= set(said) and not [one for one in said if re.search("[▁<>]", one)]
    assert "divided by the length." in tab.locator(".drawer").inner_text()
    tab.get_by_role("button", name="What would each layer write?").click()
    assert tab.locator(".drawer th[scope=col]").last.inner_text() == "end"


@EVERYWHERE
def test_a_menu_is_inside_the_window_and_alternatives_are_there_at_once(tab):
    tab.get_by_role("button", name="Next word").click()
    word, alternatives = tab.locator(".word .big").inner_text(), tab.get_by_role("button", name="Alternatives")
    alternatives.click()
    tab.locator(".pop [data-do=alternative]").nth(3).wait_for()
    settled(tab)
    assert tab.locator(".word .big").inner_text() == word
    tab.locator(".pop [data-k=alternative-1]").click()
    settled(tab)
    alternatives.click()
    tab.locator(".pop button[data-value='8']").click()
    settled(tab)
    assert tab.locator(".pop [aria-checked=true]").get_attribute("data-value") == "0", "the best of another search"
    tab.keyboard.press("Escape")
    tab.get_by_role("button", name="Show:").click()
    box = tab.locator(".pop").bounding_box()
    assert box["y"] + box["height"] <= 900


def test_the_most_probable_alternatives_come_first(tab):
    type_in(tab, "I have never seen a giraffe.")  # the third found is less probable than the fourth
    settled(tab)
    tab.get_by_role("button", name="Alternatives").click()
    tab.locator(".pop [data-do=alternative]").nth(3).wait_for()
    best, *others = tab.locator(".pop [data-do=alternative] small").all_inner_texts()
    times = [float(re.search(r"([\d.,]+)× less likely", one)[1].replace(",", "")) for one in others]
    assert "likely" not in best and len(times) == 3 and times == sorted(times)


def test_sampling_begins_at_a_low_temperature(tab):
    tab.get_by_role("button", name="Alternatives").click()
    tab.get_by_role("button", name="sampling").click()
    assert tab.get_by_label("Temperature").last.input_value() == "0.7"


def test_an_open_drawer_covers_nothing(tab):
    for (width, height), question in product(SIZES, list(QUESTIONS)[:2]):
        resize(tab, width, height)
        tab.get_by_role("button", name=question).click()
        tab.wait_for_function("() => !document.querySelector('.drawer').innerText.includes('Computing')")
        drawer, box = tab.locator(".drawer").bounding_box(), tab.locator(".mapbox").bounding_box()
        assert tab.evaluate("scrollY") == 0 and drawer["y"] + drawer["height"] <= height
        for card in (".texts", ".work", ".side .heads"):
            found = tab.locator(card).bounding_box()
            assert found["y"] >= 0 and found["y"] + found["height"] <= drawer["y"], card
        rows = tab.locator("[data-row] .rl").evaluate_all("all => all.map(one => one.getBoundingClientRect().bottom)")
        head = tab.locator(".row.cols").bounding_box()
        seen = [one for one in rows if head["y"] + head["height"] < one <= box["y"] + box["height"] + 1]
        assert len(seen) >= 3 and tab.locator(".row.sel").bounding_box()["y"] < box["y"] + box["height"] - 10


def test_the_lab_says_chances_and_no_margins(tab):
    tab.get_by_role("button", name="What if the sentence were different?").click()
    said = tab.locator(".drawer .verdict")
    said.wait_for()
    assert re.match(r"The chance of il is over 99%\. With one head patched", said.inner_text())
    assert "nats" not in said.inner_text() and "margin" not in said.inner_text()


@EVERYWHERE
def test_it_is_watched_learning(tab):
    tab.get_by_role("button", name="Watch it learn").click()
    tab.get_by_text("The model’s translation after 1 training steps:").wait_for()
    tab.get_by_role("button", name="Pause").click()
    assert tab.locator(".top-bar .compare").count() == 0, "an unfinished model is compared with none"
    slider = tab.get_by_role("slider", name="Training step")
    slider.focus()
    slider.press("End")
    slider.press("ArrowLeft")
    assert "Step" in tab.locator(".when").inner_text() and tab.locator(".say").inner_text().startswith("After")
    assert tab.locator(".badge.tone-green, .badge.tone-blue").count() == 0, "roles are the finished model's"
    slider.press("End")
    assert "Fully trained" in tab.locator(".when").inner_text()
    assert tab.locator(".w.sel").inner_text() == "il"


@EVERYWHERE
def test_the_lessons_are_there_at_once(tab):
    tab.get_by_role("link", name="Lessons").click()
    tab.get_by_role("heading", name="Attention, measured").wait_for()
    assert tab.locator("[data-run]").count() == 0, "the operator did not allow it"
    tab.get_by_role("link", name="Explore").click()
    tab.locator(".w.sel").wait_for()


# --- addresses


def reloaded(tab):
    tab.wait_for_timeout(400)  # a change is kept after 200 ms
    tab.reload()
    tab.locator(".s2s").wait_for(state="attached")


def test_a_reload_keeps_the_sentence_its_word_and_what_was_forced(tab):
    type_in(tab, "Where is the station?")
    settled(tab)
    tab.locator(".tgt .w", has_text="gare").click()
    reloaded(tab)
    settled(tab)
    assert tab.locator(".src").inner_text() == "Where is the station?"
    assert tab.locator(".word .big").inner_text() == "gare"
    tab.locator(".pairs button", has_text="wide").click()
    settled(tab)
    tab.locator(".cand button", has_text="il").first.click()
    tab.get_by_text("Forced: il").wait_for()
    settled(tab)
    reloaded(tab)
    tab.get_by_text("Forced: il").wait_for()


@pytest.mark.long
def test_a_sentence_typed_over_a_link_is_the_one_that_a_reload_shows(open_tab, packaged):
    """The address does not name the sentence of before, nor the one typed: browsers list addresses."""
    tab = open_tab(f"{packaged.url}/?text=I was tired.&to=de")
    settled(tab)
    assert tab.locator(".tgt").inner_text() == "Ich war müde."
    type_in(tab, "He laughed.")
    settled(tab)
    reloaded(tab)
    settled(tab)
    assert tab.locator(".tgt").inner_text() == "Er lachte." and "text=" not in tab.url


def test_a_link_to_the_first_sentence_in_another_language_is_followed(open_tab, packaged):
    tab = open_tab(f"{packaged.url}/?to=de")
    settled(tab)
    assert tab.locator(".src .w").first.inner_text() == "The" and "Die Katze" in tab.locator(".tgt").inner_text()


def test_typed_text_says_that_another_model_translates_it_and_the_example_s_is_one_click_away(open_tab, packaged):
    tab = open_tab(packaged.url)
    settled(tab)
    assert "translated this text" not in tab.locator(".then").inner_text()
    type_in(tab, "The dog is tired.")
    tab.locator(".then", has_text="everyday translated this text. The examples use storybook.").wait_for()
    tab.locator(".then").get_by_role("button", name="Use storybook").click()
    settled(tab)
    assert "storybook" in tab.locator(".top-bar .model").inner_text()
    assert "translated this text" not in tab.locator(".then").inner_text()
    type_in(tab, "The zxqvute is tired.")
    settled(tab)
    assert "never saw zxqvute" in tab.locator(".then").inner_text()
    assert tab.locator(".then button").count() == 0, "one note is enough"


def choose(tab, side, name):
    tab.locator(f".{side}-menu button").click()
    tab.get_by_role("menuitemradio", name=name).click()
    settled(tab)


def test_another_language_has_its_own_model_beginning_and_best_translation(open_tab, packaged):
    tab = open_tab(packaged.url)
    settled(tab)
    type_in(tab, "The dog is asleep.")
    settled(tab)
    best = tab.locator(".tgt").inner_text()
    choose(tab, "to", "Spanish")
    assert tab.locator(".then button").count() == 0, "storybook has no Spanish"
    choose(tab, "to", "French")
    tab.locator(".then").get_by_role("button", name="Use storybook").click()
    settled(tab)
    choose(tab, "to", "German")
    german = tab.locator(".tgt").inner_text()
    assert german.startswith("Der Hund") and "everyday" in tab.locator(".top-bar .model").inner_text()
    choose(tab, "to", "French")
    tab.get_by_role("button", name="Alternatives").click()
    tab.locator(".pop [data-k=alternative-1]").click()
    tab.wait_for_function("best => document.querySelector('.tgt')?.innerText !== best", arg=best)
    settled(tab)
    tab.locator("[data-force]").first.click()
    tab.get_by_text("Forced:").wait_for()
    settled(tab)
    choose(tab, "to", "German")
    assert tab.locator(".tgt").inner_text() == german and "Forced" not in tab.locator(".then").inner_text()
    tab.locator("[data-menu=model]").click()
    tab.get_by_role("menuitemradio", name="storybook").click()
    settled(tab)
    assert tab.locator(".tgt").inner_text().startswith("Le chien"), "storybook has no German"


def test_controls_of_explore_are_not_on_the_pages_where_they_do_nothing(open_tab, packaged):
    tab = open_tab(packaged.url)
    settled(tab)
    controls = tab.locator(".top-bar :is(.model, .compare, .tour)")
    assert controls.count() == 3
    for page, left in (("Machine", 1), ("Lessons", 0), ("Story", 0)):
        tab.get_by_role("link", name=page, exact=True).click()
        expect(controls, page).to_have_count(left)


def test_two_models_are_laid_side_by_side(open_tab, packaged, server):
    tab = open_tab(packaged.url)
    settled(tab)
    beside, control = tab.locator(".beside"), tab.locator(".top-bar .compare")
    assert control.inner_text() == "Compare with everyday" and not beside.is_visible()
    control.click()
    beside.locator("[data-says=versus-pair]").wait_for()
    assert beside.locator("h2").first.inner_text() == "storybook and everyday"
    assert beside.locator("svg.small").count() == 2
    type_in(tab, "The astronaut sleeps.")
    beside.locator("[data-says=versus-words]").wait_for()
    assert beside.locator("mark").count() and beside.locator("[data-says=versus-unseen]").count()
    first = beside.locator("figcaption").first.inner_text()
    beside.locator(".story button").nth(2).click()
    assert beside.locator("figcaption").first.inner_text() != first
    beside.get_by_role("button", name="Look inside everyday").click()
    settled(tab)
    assert not beside.is_visible() and "everyday" in tab.locator(".top-bar .model").inner_text()
    tab.locator(".to-menu button").click()
    tab.get_by_role("menuitemradio", name="German").click()
    settled(tab)
    assert not control.count(), "storybook has no German"
    alone = open_tab(server.url)
    settled(alone)
    assert not alone.locator(".top-bar .compare").count(), "one model"


def test_lessons_and_explore_have_addresses(open_tab, packaged):
    tab = open_tab(packaged.url)
    settled(tab)
    lessons, explore = tab.locator(".contents"), tab.locator(".explore")
    tab.get_by_role("link", name="Lessons").click()
    lessons.wait_for()
    assert tab.url == f"{packaged.url}/#lessons"
    reloaded(tab)
    lessons.wait_for()
    assert explore.is_hidden()
    tab.go_back()
    settled(tab)
    assert lessons.is_hidden() and tab.locator(".w.sel").inner_text() == "il"
    tab.go_forward()
    lessons.wait_for()
    linked = open_tab(f"{packaged.url}/#lessons")
    linked.get_by_role("link", name="Scaling").click()
    linked.wait_for_url("**/#lesson-3")
    reloaded(linked)
    linked.get_by_role("heading", name="Scaling").wait_for()
    linked.get_by_role("link", name="Next: 4. The causal mask").click()
    linked.get_by_role("heading", name="The causal mask").wait_for()
    assert linked.evaluate("scrollY") == 0, "a lesson is read from its beginning"
    linked.go_back()
    linked.get_by_role("heading", name="Scaling").wait_for()
    linked.go_back()
    linked.wait_for_url("**/#lessons")
    with linked.context.expect_page() as opened:
        linked.get_by_role("link", name="Explore").click(modifiers=["ControlOrMeta"])
    opened.value.locator(".explore").wait_for()
    assert linked.locator(".contents").is_visible()


# --- what is old, foreign, or underlined is said


def test_text_that_the_model_does_not_read_is_flagged(tab):
    type_in(tab, "Je ne sais pas où il habite.")
    settled(tab)
    assert "This text seems to be French. It was read as English" in tab.locator(".then").inner_text()
    type_in(tab, "我不喜欢猫。")
    settled(tab)
    note = tab.locator(".then").inner_text()
    assert "This text seems to be Chinese." in note and "guess" not in note
    assert "comes back unchanged" in tab.locator(".say").inner_text()
    type_in(tab, "I do not know where he lives.")
    settled(tab)
    assert "seems to be" not in tab.locator(".then").inner_text()


def test_what_no_model_read_is_shown_with_the_text_and_its_translation(open_tab, packaged):
    tab = open_tab(packaged.url)
    settled(tab)
    text = "I love pizza \N{SLICE OF PIZZA}"
    type_in(tab, text)
    settled(tab)
    assert tab.locator(".src").inner_text() == text and tab.locator(".tgt").inner_text()[-1] == text[-1]


def test_a_note_names_what_the_model_read(tab):
    for text, said in (
        ("WHERE IS THE TRAIN STATION", "The model read the capitals as small letters."),
        ("it\N{RIGHT SINGLE QUOTATION MARK}s \N{LEFT DOUBLE QUOTATION MARK}fine\N{RIGHT DOUBLE QUOTATION MARK}", None),
        ("Where is zxqvute? Zxqvute is here.", "The model never saw zxqvute. Its"),
    ):
        type_in(tab, text)
        settled(tab)
        note = tab.locator(".then").inner_text()
        assert said in note if said else "The model" not in note


def test_every_underline_in_the_texts_has_its_legend(tab):
    assert tab.locator(".key").inner_text() == ""
    type_in(tab, "The zxqvute was tall, my dear, and everybody laughed about it.")
    settled(tab)
    unsure = tab.locator(".tgt .unsure")
    key = tab.locator(".key").inner_text()
    assert unsure.count() and "Dotted: a chance below 70%" in key
    assert tab.locator(".src .unseen").count() and "Dashed: not in the training text" in key
    lines = tab.evaluate("() => ['.tgt .unsure', '.key .unsure-key'].map((one) => "
                         "getComputedStyle(document.querySelector(one)).textDecorationLine)")
    assert lines == ["underline", "underline"]


def test_maps_of_before_look_old_until_the_new_ones_are_there(tab):
    old = "() => ['.mapbox', '.word', '.groups'].map((one) => +getComputedStyle(document.querySelector(one)).opacity)"
    assert tab.evaluate(old) == [1, 1, 1]
    release = hold_looks(tab, lambda asked: True)
    type_in(tab, "Where is my hat?")
    tab.locator(".trust", has_text="Outdated").wait_for()
    assert max(tab.evaluate(old)) < 0.5
    release()
    tab.unroute("**/v1/look")
    settled(tab)
    assert tab.evaluate(old) == [1, 1, 1] and "Outdated" not in tab.locator(".trust").inner_text()


def test_the_caveat_is_above_the_fold(tab):
    for width, height in (*SIZES, (1024, 768), (750, 900), (390, 844)):
        resize(tab, width, height)
        settled(tab)
        box = tab.get_by_text("A map shows where a head looked, not why.").bounding_box()
        assert box["y"] + box["height"] <= height and tab.evaluate("scrollY") == 0, (width, box)


# --- every width


@pytest.mark.parametrize("width", [390, pytest.param(750, marks=pytest.mark.long)])
def test_a_phone_has_the_menu_of_models_and_the_tour(open_tab, packaged, width):
    tab = open_tab(packaged.url, viewport={"width": width, "height": 844})
    settled(tab)
    tab.get_by_role("button", name="Tour").click()
    assert tab.get_by_role("dialog", name="Tour").get_by_text("The tinted words").count() == 0
    tab.locator("[data-tour=next]").click()
    tab.get_by_role("dialog", name="Tour").get_by_text("The tinted words").wait_for()  # there are no lines
    tab.keyboard.press("Escape")
    tab.get_by_role("button", name="Model:").click()
    tab.get_by_role("menuitemradio", name="everyday").click()
    settled(tab)
    assert "everyday" in tab.get_by_role("button", name="Model:").inner_text()
    assert tab.evaluate("document.documentElement.scrollWidth") <= width


OVERLAPS = """() => {
    const names = '.pill, .badge, .acts .tool, .then, .under, .flip, .w, .cap, .th .rank, .top-bar > *, .lang';
    const boxes = [...document.querySelectorAll(names)].filter((one) => one.offsetParent && one.innerText.trim())
        .map((one) => [one, one.getBoundingClientRect()]);
    return boxes.flatMap(([a, r], i) => boxes.slice(i + 1).filter(([b, s]) => !a.contains(b) && !b.contains(a)
        && Math.min(r.right, s.right) - Math.max(r.left, s.left) > 2.5
        && Math.min(r.bottom, s.bottom) - Math.max(r.top, s.top) > 4).map(([b]) => `${a.innerText} | ${b.innerText}`));
}"""


@pytest.mark.long
@pytest.mark.parametrize("width", [pytest.param(1024, marks=pytest.mark.long), 1440])
def test_no_badge_covers_another_or_a_word(open_tab, packaged, width):
    """For every word of sentences whose labels have little room, in both models."""
    tab = open_tab(packaged.url, viewport={"width": width, "height": 768})
    for text in (CAT, "Where is the station?", "She didn't know whether Grzegorz had already eaten."):
        if text != CAT:
            type_in(tab, text)
        settled(tab)
        for word in tab.locator(".tgt .w").all():
            word.click()
            tab.mouse.move(2, 2)
            assert tab.evaluate(OVERLAPS) == [], (text, word.inner_text())


@pytest.mark.parametrize("text", [None, pytest.param(
    "My sister works in a bank near the river, but she would like to travel.", marks=pytest.mark.long)])
def test_the_lab_s_maps_are_whole(tab, text):
    if text:
        type_in(tab, text)
        settled(tab)
    tab.get_by_role("button", name="What if the sentence were different?").click()
    if text:
        tab.get_by_label("The English").fill(text.replace("sister", "brother").replace("she", "he"))
        tab.get_by_label("The English").press("Enter")
    tab.locator(".drawer .small").first.wait_for()
    inside = tab.evaluate("""() => { const drawer = document.querySelector('.drawer').getBoundingClientRect();
        return [...document.querySelectorAll('.drawer .small')].map((map) => [map, ...map.querySelectorAll('text')]
            .map((one) => one.getBoundingClientRect()).every((box) => box.top >= drawer.top && box.left >= drawer.left
                && box.bottom <= drawer.bottom && box.right <= drawer.right)); }""")
    assert inside == [True] * 3
    assert tab.locator("[data-row]").first.is_visible() and tab.evaluate("scrollY") == 0


# --- everybody


@pytest.mark.parametrize("scheme", ["light", pytest.param("dark", marks=pytest.mark.long)])
def test_everybody_can_use_it(open_tab, packaged, scheme):
    tab = open_tab(packaged.url, color_scheme=scheme)
    settled(tab)
    for width in (1440, 768, 390):
        resize(tab, width, 900)
        assert violations(tab) == []
        assert tab.evaluate("document.documentElement.scrollWidth") <= width
    for control in tab.locator(".s2s .acts button, .s2s .cand button, .s2s .story button, .s2s nav a").all():
        assert control.bounding_box()["height"] >= 40


def test_it_can_be_used_by_keyboard_alone(tab):
    tab.get_by_role("grid").focus()
    tab.keyboard.press("Control+Home")
    tab.keyboard.press("ArrowDown")
    assert "gave" in tab.locator(".say").inner_text()
    tab.keyboard.press("Enter")
    assert tab.locator(".word .big").inner_text() == tab.locator(".row.sel .rl").inner_text() == "chat"
    tab.locator(".w[data-side=source][tabindex='0']").focus()
    tab.keyboard.press("ArrowRight")
    assert tab.evaluate("document.activeElement.classList.contains('w')")
    tab.get_by_role("button", name="Show:").press("Enter")
    tab.keyboard.press("ArrowDown")
    tab.keyboard.press("Escape")
    assert tab.locator(".pop").is_hidden()
    assert tab.evaluate("document.activeElement.dataset.k") == "show"


def test_the_tour_has_four_steps_and_gives_the_focus_back(tab):
    tab.get_by_role("button", name="Tour").click()
    tab.get_by_role("dialog", name="Tour").get_by_text("Change tired to wide, and il becomes elle.").wait_for()
    for _ in range(4):
        assert tab.locator(".ringed").count() == 1
        tab.get_by_role("dialog", name="Tour").locator("[data-tour=next]").click()
    assert tab.locator(".ringed").count() == 0
    assert tab.evaluate("document.activeElement.dataset.k") == "tour"


@pytest.mark.long
def test_the_best_translation_alone_has_a_chance_and_the_others_odds_against_it(tab):
    """In French everyday has none."""
    for text, best in ((None, r"over 99%|\d+%"), ("We're ready.", "best")):
        if text:  # else what storybook begins with
            type_in(tab, text)
            tab.wait_for_function("() => document.querySelector('.tgt')?.innerText.includes('prêt')")
        tab.get_by_role("button", name="Alternatives").click()
        tab.locator(".pop button[data-value='8']").click()
        tab.locator(".pop [data-do=alternative]").nth(2).wait_for()
        first, *others = tab.locator(".pop [data-do=alternative] small").all_inner_texts()
        assert re.fullmatch(best, first) and others
        assert all(re.fullmatch(r"(just as likely|[\d.,]+× (less|more) likely)", one) for one in others)
        heading = "Chance that a reference translation is identical"
        assert (heading in tab.locator(".pop").inner_text()) == (best != "best")
        tab.keyboard.press("Escape")


# --- what is asked about an older text


def test_a_newer_text_aborts_all_that_was_asked_about_the_older_one(open_tab):
    """Which the server would compute for nobody."""
    with running({"storybook": partial(Translator.from_pretrained, "storybook", engine="torch")}, page=True) as alone:
        aborts(open_tab(alone.url), alone)


def aborts(tab, server):
    lost = []
    tab.on("requestfailed", lambda request: lost.append(request.post_data_json))
    long = " ".join(["The old teacher told the children that the boat was lost near the bridge"] * 5)
    type_in(tab, long)
    tab.wait_for_function("() => document.querySelector('.word')?.innerText.includes('switched off in turn')")
    type_in(tab, "Where is the station?")
    settled(tab)
    assert [one for one in lost if one.get("evidence")], lost
    assert server.service._looks._present == []
