"""See, the first screen, as a visitor meets it, on the packaged models: each state of it, driven in a browser."""

import re
from functools import partial

import pytest
from accessibility import violations
from PIL import Image
from serving import running

from seq2see import Translator
from .conftest import CAT, EVERYWHERE, more, open_tool, settled, swap, to_see, type_in


def resize(tab, width, height):
    """And waits until the page, which draws itself again in the next frame, has done so."""
    tab.set_viewport_size({"width": width, "height": height})
    tab.evaluate("() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
    settled(tab)


CUT = """() => [...document.querySelectorAll('.see *')].filter((one) => one.offsetParent
    && (getComputedStyle(one).overflowX !== 'visible' || getComputedStyle(one).overflowY !== 'visible')
    && (one.scrollHeight > one.clientHeight + 1 || one.scrollWidth > one.clientWidth + 1))
    .map((one) => one.className)"""


SIZES = [(1366, 768), (1440, 900)]  # of a whole screen; the window of a visitor may change


def test_it_is_one_screen_where_nothing_is_cut_and_the_map_stays(tab):
    """For every word of the first sentence."""
    for width, height in SIZES:
        resize(tab, width, height)
        at = tab.locator(".see .mapbox").bounding_box()
        assert tab.evaluate("document.documentElement.scrollHeight") <= height
        tab.locator(".see [data-row]").first.click()
        for _ in range(tab.locator(".see [data-row]").count()):
            assert tab.evaluate(CUT) == [], tab.locator(".why h2").inner_text()
            assert tab.locator(".see .mapbox").bounding_box() == at
            tab.get_by_role("grid").press(".")


def test_a_stranger_is_shown_few_controls_and_words(tab):
    resize(tab, 1366, 768)
    controls, words = tab.evaluate("""() => {
        const seen = (one) => one.checkVisibility() && !one.closest('.c, .vh, [inert], .skip');
        const text = (one) => [...one.childNodes].filter((node) => node.nodeType === 3)
            .map((node) => node.data).join(' ');
        const words = [...document.querySelectorAll('.s2s *')].filter(seen).flatMap((one) => text(one).split(/\\s+/));
        const controls = 'button, a[href], textarea, [role=button], [role=grid]';
        return [[...document.querySelectorAll(controls)].filter(seen).length,
            words.filter((one) => /\\p{L}/u.test(one)).length];
    }""")
    assert controls <= 42 and words <= 205, (controls, words)


# --- changing the sentence


@EVERYWHERE
def test_the_other_word_of_a_pair_turns_the_pronoun_and_the_head_stays(tab):
    head = tab.locator(".see .pin").inner_text()
    assert tab.locator(".did thead th").all_inner_texts() == ["tired"]
    tab.locator(".did .ghost", has_text="wide").get_by_role("button").click()
    tab.locator(".lead", has_text="The model treats it as the street and writes elle (feminine)").wait_for()
    settled(tab)
    assert tab.locator(".tgt .w.sel").inner_text() == "elle" and tab.locator(".see .pin").inner_text() == head
    assert tab.locator(".texts textarea").input_value() == CAT.replace("tired", "wide")
    assert tab.locator(".did thead th").all_inner_texts() == ["tired", "wide"]
    assert tab.locator(".did tbody tr").first.locator("td").all_inner_texts() == ["il", "elle"]
    looked = tab.locator(".did tbody tr").nth(1).locator("td").all_inner_texts()
    assert [one.split()[0] for one in looked] == ["chat", "rue"]
    swap(tab, "tired")
    tab.locator(".lead", has_text="writes il (masculine)").wait_for()
    settled(tab)
    assert tab.locator(".did thead th").all_inner_texts() == ["tired", "wide"], "the order stays"
    assert tab.locator(".see .pin").inner_text() == head


@EVERYWHERE
def test_the_map_shows_either_sentence_of_a_pair_and_the_difference(tab):
    swap(tab, "wide")
    settled(tab)
    modes = tab.get_by_role("radiogroup", name="Which map").get_by_role("radio")
    assert modes.all_inner_texts() == ["tired", "wide", "Difference"]
    shown = tab.locator(".see .say")
    assert "rue" in shown.inner_text()
    modes.nth(0).click()
    assert "chat" in shown.inner_text() and tab.locator(".see .row.sel .rl").inner_text() == "il"
    modes.nth(0).press("ArrowLeft")
    assert re.match(r"tired → wide: the look moved from chat \(−\d+\) to rue \(\+\d+ points\)", shown.inner_text())
    numbers = tab.locator(".see .row.sel .c").all_inner_texts()
    assert any(one.startswith("−") for one in numbers) and any(one.startswith("+") for one in numbers)
    assert tab.locator(".see .foot").get_by_text("in points").is_visible()
    assert tab.locator(".see .row.sel .rl").inner_text() == "il→elle"


@EVERYWHERE
def test_the_head_changes_only_when_the_reader_changes_it(tab):
    """Not with a word, with a text that is typed, or with evidence that comes late."""
    tab.locator(".mini[data-head='cross.1.1']").click()
    head = "Layer 2, head 2"
    assert head in tab.locator(".see .pin").inner_text()
    for word in ("chat", "rue", "fatigué"):
        tab.locator(".tgt .w", has_text=word).first.click()
        assert head in tab.locator(".see .pin").inner_text()
    tab.locator(".see .pin").click()  # unpinned
    tab.locator(".tgt .w", has_text="Le").first.click()
    tab.locator(".tgt .w", has_text="il").last.click()
    assert "Layer 2, head 1" in tab.locator(".see .pin").inner_text(), "the head that matters for it"
    tab.locator(".mini[data-head='cross.1.1']").click()
    type_in(tab, CAT.replace("cat", "dog"))
    settled(tab)
    assert head in tab.locator(".see .pin").inner_text()


def test_another_head_that_matters_more_is_offered(tab):
    tab.locator(".mini[data-head='cross.1.1']").click()
    offer = tab.locator("[data-says=other-head]")
    assert offer.inner_text().startswith("Layer 2, head 1 (French looks back at French) matters")
    tab.get_by_role("button", name="Show it").click()
    assert "Layer 2, head 1" in tab.locator(".see .pin").inner_text() and not offer.count()


def test_typed_text_goes_to_the_first_model_and_comes_while_typing(tab):
    field = tab.locator(".texts textarea")
    tab.get_by_role("button", name="Type your own").click()
    assert field.evaluate("one => one.value.slice(one.selectionStart, one.selectionEnd)") == CAT
    field.fill("Where is the station?")
    tab.wait_for_function("() => document.querySelector('.tgt')?.innerText.includes('gare')")
    assert field.evaluate("one => one === document.activeElement"), "the caret stays where it is"
    settled(tab)
    assert tab.locator(".mirror .w").first.inner_text() == "Where" and tab.locator(".swap button").count() == 0
    assert "everyday" in tab.get_by_role("button", name="Model:").inner_text()


def test_the_mirror_has_every_letter_where_the_field_has_it(tab):
    """Or the tints would be under other letters."""
    for text in (CAT, "  Two spaces, and more.  ", "The dog sleeps.\nThe cat sleeps."):
        type_in(tab, text)
        settled(tab)
        assert tab.locator(".mirror").evaluate("one => one.textContent.replaceAll('\\u200b', '')") == text
        styles = tab.evaluate("""() => ['textarea', '.mirror'].map((name) => {
            const style = getComputedStyle(document.querySelector(`.texts ${name}`));
            return ['fontSize', 'fontFamily', 'letterSpacing', 'wordSpacing', 'lineHeight', 'paddingLeft', 'whiteSpace']
                .map((one) => style[one]);
        })""")
        assert styles[0] == styles[1]
        field = tab.locator(".texts textarea")
        assert field.evaluate("one => one.scrollHeight <= one.clientHeight + 1")


def test_the_caret_marks_the_column_of_its_word(tab):
    tab.locator(".mini[data-head='cross.0.1']").click()
    field = tab.locator(".texts textarea")
    field.evaluate("(one, at) => { one.focus(); one.setSelectionRange(at, at); }", CAT.index("street") + 2)
    tab.locator(".see .cols .hov", has_text="street").wait_for()
    assert "street" in tab.locator(".see .say").inner_text()


def test_an_empty_box_offers_examples(tab):
    tab.get_by_role("button", name="Clear the text").click()
    assert tab.locator(".tgt").inner_text() == "Your translation" and tab.locator(".work").evaluate("one => one.inert")
    assert tab.locator("[data-do=share]").is_disabled()
    tab.locator(".offers button", has_text="box").click()
    settled(tab)
    assert "La boîte" in tab.locator(".tgt").inner_text()
    assert tab.locator(".swap button").all_inner_texts() == ["big", "small"]


def test_an_unknown_word_is_marked_and_said(tab):
    type_in(tab, "The zxqvute was tall.")
    tab.get_by_text("The model never saw zxqvute").wait_for()
    assert tab.locator(".mirror .unseen").inner_text() == "zxqvute"


def test_a_word_of_the_translation_that_may_not_exist_is_marked_and_said(tab):
    def invented(route):
        answer = route.fetch()
        reply = answer.json()
        if reply["translation"]:
            reply["translation"]["doubts"] = [{"kind": "invented_word", "word": "chat"}]
        route.fulfill(response=answer, json=reply)

    tab.route("**/v1/look", invented)
    type_in(tab, "The cat is very old.")
    tab.locator(".note", has_text="chat may not be a word: neither the training text nor your text has it.").wait_for()
    assert tab.locator(".tgt .unseen").all_inner_texts() == ["chat"]
    assert tab.locator(".tgt .unseen.unsure").count() == 0, "one underline says one thing"
    settled(tab)
    tab.unroute("**/v1/look")


def test_a_word_that_the_translation_may_omit_is_marked_and_said(tab):
    type_in(tab, "She bought a bright yellow raincoat.")
    said = "bright may be missing: erasing it makes the translation no less probable."
    tab.locator(".note", has_text=said).wait_for()
    assert tab.locator(".mirror .unseen").all_inner_texts() == ["bright"]


def test_the_unknown_words_that_are_not_named_are_counted(tab):
    for other, said in (("", ""), (" zxa", " and 1 more word"), (" zxa zxb", " and 2 more words")):
        type_in(tab, f"The zxqvute qwgrtz xkvbrt{other} was tall.")
        tab.locator(".note", has_text=f"The model never saw zxqvute, qwgrtz, xkvbrt{said}. Their").wait_for()


@EVERYWHERE
def test_an_unknown_word_is_said_with_each_translation_that_comes_while_typing(tab):
    field = tab.locator(".texts textarea")
    field.fill("The zxqvute")
    note = tab.locator(".note", has_text="The model never saw zxqvute. Its translation is a guess.")
    note.wait_for()
    field.fill("The cat is tired.")
    note.wait_for(state="hidden")
    field.fill("The cat is very qwgrtz.")
    tab.locator(".note", has_text="never saw qwgrtz").wait_for()


def test_the_source_is_as_typed_where_the_model_read_another_word(tab):
    text = "The Qzxwvk7719 did not cross https://example.org/a."
    type_in(tab, text)
    tab.get_by_text("instead of some of the text").wait_for()
    settled(tab)
    assert tab.locator(".mirror").inner_text().strip("\u200b") == text
    assert {"Qzxwvk7719", "https://example.org/a"} <= set(tab.locator(".mirror .w").all_inner_texts())
    assert "Qzxwvk7719" in tab.locator(".tgt").inner_text() and "Qzxwvk7719" in tab.locator(".see .grid2").inner_text()
    open_tool(tab, "All maps")
    tab.get_by_role("button", name="Tokens").click()
    assert "Qzxwvk7719" in tab.locator(".lab .cols").inner_text()


def test_words_that_were_read_together_are_said_together(tab):
    type_in(tab, "The meeting is at 5 pm.")
    tab.locator(".note", has_text="The model read 17 o'clock instead of some of the text.").wait_for()


def test_a_translation_that_the_limit_cut_is_marked(tab):
    tab.route("**/v1/*", lambda route: route.continue_(post_data={**route.request.post_data_json, "max_new_tokens": 6}))
    type_in(tab, "We stayed at home because it was raining.")
    tab.get_by_text("at the token limit").wait_for()


@EVERYWHERE
def test_several_sentences_are_looked_at_part_by_part(tab):
    type_in(tab, "I was tired. She wanted to leave. We stayed at home because it was raining. He laughed.")
    settled(tab)
    tab.get_by_text("Sentence 1 of").wait_for()
    tab.get_by_role("button", name="Show sentence 2").click()
    settled(tab)
    assert "Sentence 2 of" in " ".join(tab.locator(".note").inner_text().split())
    assert "tired" not in [one.strip() for one in tab.locator(".mirror .w").all_inner_texts()]


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
    assert tab.locator(".tgt").inner_text() == "…", "the translation of another text is not left under this one"
    assert tab.locator(".texts textarea").input_value() == "Where is my hat?", "what was typed stays"


def test_a_server_that_does_not_answer_is_said_and_asked_again(tab):
    tab.route("**/v1/**", lambda route: route.abort())
    type_in(tab, "Where is my hat?")
    tab.get_by_text("The server did not answer.").wait_for()
    assert tab.locator(".tgt").inner_text() == "…"
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
    tab.locator(".texts textarea").fill("I am hungry.")
    tab.wait_for_timeout(520)
    type_in(tab, "Where is the station?")
    settled(tab)
    assert "gare" in tab.locator(".tgt").inner_text() and tab.evaluate("window.given") >= 1


@EVERYWHERE
def test_a_word_can_be_forced_and_the_rest_follows(tab):
    tab.locator(".tgt .w.sel").press("Enter")
    tab.get_by_role("menuitemradio", name="elle").click()
    tab.wait_for_function("() => document.querySelector('.tgt')?.innerText.includes('elle')")
    settled(tab)
    assert "Forced: elle" in tab.locator(".note").inner_text()
    assert tab.locator(".tgt").inner_text().startswith("Le chat n'a pas traversé la rue parce qu'elle")
    tab.get_by_role("button", name="Undo").click()
    tab.wait_for_function("() => document.querySelector('.tgt')?.innerText.includes('qu\\'il')")


# --- the map


def link_of(tab):
    tab.get_by_role("button", name="Share").click()
    tab.locator("[data-do=link]").evaluate("""(one) => { navigator.clipboard.writeText = async (value) => {
        window.address = value; }; one.click(); }""")
    address = tab.evaluate("new Promise(done => setTimeout(() => done(window.address), 100))")
    tab.keyboard.press("Escape")
    return address


@EVERYWHERE
def test_a_link_opens_the_same_sentence_word_and_head(tab, open_tab):
    tab.locator(".mini[data-head='cross.1.3']").click()
    tab.locator(".tgt .w", has_text="chat").click()
    address = link_of(tab)
    again = open_tab(address)
    settled(again)
    assert again.locator(".why h2").inner_text() == "Why chat?"
    assert "Layer 2, head 4" in again.locator(".see .pin").inner_text()


def test_the_card_says_what_is_shown(tab):
    """And gives nothing away before the swap."""
    def card():
        tab.get_by_role("button", name="Share").click()
        picture = tab.get_by_role("dialog", name="Share what you see").locator("svg").first
        said = " ".join(picture.text_content().split())
        assert violations(tab) == []
        tab.keyboard.press("Escape")
        return said

    assert "elle" not in card() and "Where one head looked while writing “il”" in card()
    swap(tab, "wide")
    settled(tab)
    said = card()
    for one in ("tired → wide: il becomes elle", CAT, CAT.replace("tired", "wide"),
                "layer 2, head 1 looked back at rue", "Map (with wide)", "storybook", "not why the word was chosen"):
        assert one in said, (one, said)
    assert "127.0.0.1" not in said, "nobody else can open it"
    tab.locator("[data-mode=difference]").click()
    assert "what changes from tired to wide, in points" in card() and "+99" in card()
    tab.get_by_role("button", name="Share").click()
    with tab.expect_download() as saved:
        tab.get_by_role("button", name="Save picture").click()
    with Image.open(saved.value.path()) as picture:
        assert picture.size == (2400, 1260)


@EVERYWHERE
def test_a_link_opens_the_swap_and_the_difference(tab, open_tab):
    swap(tab, "wide")
    settled(tab)
    tab.locator("[data-mode=difference]").click()
    again = open_tab(link_of(tab))
    settled(again)
    again.locator(".say", has_text="the look moved from chat").first.wait_for()
    assert again.locator(".did thead th").all_inner_texts() == ["tired", "wide"]


@pytest.mark.parametrize("tab", ["file"], indirect=True)
def test_where_no_head_matters_the_head_that_goes_word_for_word_is_offered(tab):
    type_in(tab, "My sister bought a red book and she reads it.")
    settled(tab)
    tab.locator(".mini[data-head='decoder.1.0']").click()
    tab.locator(".tgt .w", has_text="rouge").click()
    tab.get_by_text("No head alone changes rouge").wait_for()
    assert "The head word for word looked at red" in tab.locator("[data-says=usual-head]").inner_text()
    tab.get_by_role("button", name="Show it").click()
    assert tab.locator(".see .eyebrow .badge").first.inner_text() == "word for word"
    assert tab.locator(".mirror .w[data-tone=blue]").inner_text() == "red"
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


def test_an_own_text_shows_the_head_that_matters_once_it_is_known(open_tab, packaged):
    """Once: what is typed further keeps it."""
    tab = open_tab(packaged.url)
    settled(tab)
    release = hold_looks(tab, lambda asked: asked.get("evidence"))
    type_in(tab, "The old man drinks a glass of water.")
    tab.locator(".pending").wait_for()
    before = tab.locator(".see .pin").inner_text()
    release()
    settled(tab)
    after = tab.locator(".see .pin").inner_text()
    assert after != before
    type_in(tab, "The old man drinks a glass of water often.")
    settled(tab)
    assert tab.locator(".see .pin").inner_text() == after


def test_heads_of_a_large_model_are_tested_when_asked_for(tab):
    none = {"head_seconds": 0}
    tab.route("**/v1/look", lambda route: route.continue_(post_data=none | route.request.post_data_json))
    type_in(tab, "The dog is old.")
    panel, known = tab.locator(".why"), "[data-says=no-head], [data-says=this-head]"
    panel.get_by_text("heads are not tested yet").wait_for()
    assert not panel.locator(known).count()
    panel.get_by_role("button", name="Test them").click()
    panel.locator(known).first.wait_for()
    assert "not tested" not in panel.inner_text()


# --- addresses


def reloaded(tab):
    tab.wait_for_timeout(400)  # a change is kept after 200 ms
    tab.reload()
    tab.locator(".s2s").wait_for(state="attached")


@pytest.mark.long
def test_a_reload_keeps_the_sentence_its_word_and_what_was_forced(tab):
    type_in(tab, "Where is the station?")
    settled(tab)
    tab.locator(".tgt .w", has_text="gare").click()
    reloaded(tab)
    settled(tab)
    assert tab.locator(".texts textarea").input_value() == "Where is the station?"
    assert tab.locator(".why h2").inner_text() == "Why gare?"
    tab.locator("[data-menu=examples]").click()
    tab.get_by_role("menuitemradio", name="street").click()
    settled(tab)
    tab.locator(".tgt .w.sel").click()
    tab.get_by_role("menuitemradio", name="elle").first.click()
    tab.get_by_text("Forced: elle").wait_for()
    settled(tab)
    reloaded(tab)
    tab.get_by_text("Forced: elle").wait_for()


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
    assert tab.locator(".mirror .w").first.inner_text() == "The" and "Die Katze" in tab.locator(".tgt").inner_text()


def test_typed_text_says_that_another_model_translates_it_and_the_example_s_is_one_click_away(open_tab, packaged):
    tab = open_tab(packaged.url)
    settled(tab)
    assert "translated this text" not in tab.locator(".note").inner_text()
    type_in(tab, "The dog is tired.")
    tab.locator(".note", has_text="everyday translated this text. The first example is by storybook.").wait_for()
    tab.locator(".note").get_by_role("button", name="Use storybook").click()
    settled(tab)
    assert "storybook" in tab.locator(".top-bar .model").inner_text()
    assert "translated this text" not in tab.locator(".note").inner_text()
    type_in(tab, "The zxqvute is tired.")
    settled(tab)
    assert "never saw zxqvute" in tab.locator(".note").inner_text()
    assert tab.locator(".then button").count() == 0, "one note is enough"


def choose(tab, side, name):
    tab.locator(f".{side}-menu button").click()
    tab.get_by_role("menuitemradio", name=name).click()
    settled(tab)


@pytest.mark.long
def test_another_language_has_its_own_model_beginning_and_best_translation(open_tab, packaged):
    tab = open_tab(packaged.url)
    settled(tab)
    type_in(tab, "The dog is asleep.")
    settled(tab)
    best = tab.locator(".tgt").inner_text()
    choose(tab, "to", "Spanish")
    assert tab.locator(".then button").count() == 0, "storybook has no Spanish"
    choose(tab, "to", "French")
    tab.locator(".note").get_by_role("button", name="Use storybook").click()
    settled(tab)
    choose(tab, "to", "German")
    german = tab.locator(".tgt").inner_text()
    assert german.startswith("Der Hund") and "everyday" in tab.locator(".top-bar .model").inner_text()
    choose(tab, "to", "French")
    open_tool(tab, "Translations considered")
    tab.locator("[data-k=alternative-1]").click()
    settled(tab)
    to_see(tab)
    assert tab.locator(".tgt").inner_text() != best
    tab.locator(".tgt .w.sel").click()
    tab.locator(".pop [data-force]").first.click()
    tab.get_by_text("Forced:").wait_for()
    settled(tab)
    choose(tab, "to", "German")
    assert tab.locator(".tgt").inner_text() == german and "Forced" not in tab.locator(".note").inner_text()
    tab.locator("[data-menu=model]").click()
    tab.get_by_role("menuitemradio", name="storybook").click()
    settled(tab)
    assert tab.locator(".tgt").inner_text().startswith("Le chien"), "storybook has no German"


def test_learn_and_see_have_addresses(open_tab, packaged):
    tab = open_tab(packaged.url)
    settled(tab)
    lessons, explore = tab.locator(".contents"), tab.locator(".see")
    tab.get_by_role("link", name="Learn", exact=True).click()
    lessons.wait_for()
    assert tab.url == f"{packaged.url}/#learn"
    reloaded(tab)
    lessons.wait_for()
    assert explore.is_hidden()
    tab.go_back()
    settled(tab)
    assert lessons.is_hidden() and tab.locator(".w.sel").inner_text() == "il"
    tab.go_forward()
    lessons.wait_for()
    linked = open_tab(f"{packaged.url}/#lessons")  # an address of before
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
    link = linked.get_by_role("link", name="See", exact=True)
    assert link.evaluate("link => link.href").startswith(f"{packaged.url}/")
    with linked.context.expect_page():  # which is not looked at: drawn in the background it may crash
        link.click(modifiers=["ControlOrMeta"])
    assert linked.locator(".contents").is_visible()


# --- what is old, foreign, or underlined is said


def test_text_that_the_model_does_not_read_is_flagged(tab):
    type_in(tab, "Je ne sais pas où il habite.")
    settled(tab)
    assert "This text seems to be French. It was read as English" in tab.locator(".note").inner_text()
    type_in(tab, "我不喜欢猫。")
    tab.locator(".note", has_text="comes back unchanged").wait_for()
    type_in(tab, "I do not know where he lives.")
    settled(tab)
    assert "seems to be" not in tab.locator(".note").inner_text()


def test_what_no_model_read_is_shown_with_the_text_and_its_translation(open_tab, packaged):
    tab = open_tab(packaged.url)
    settled(tab)
    text = "I love pizza \N{SLICE OF PIZZA}"
    type_in(tab, text)
    settled(tab)
    assert tab.locator(".mirror").inner_text() == text and tab.locator(".tgt").inner_text()[-1] == text[-1]


def test_a_note_names_what_the_model_read(tab):
    for text, said in (
        ("WHERE IS THE TRAIN STATION", "The model read the capitals as small letters."),
        ("it\N{RIGHT SINGLE QUOTATION MARK}s \N{LEFT DOUBLE QUOTATION MARK}fine\N{RIGHT DOUBLE QUOTATION MARK}", None),
        ("Where is zxqvute? Zxqvute is here.", "The model never saw zxqvute. Its"),
    ):
        type_in(tab, text)
        settled(tab)
        note = tab.locator(".note").inner_text()
        assert said in note if said else "The model" not in note


def test_every_underline_in_the_texts_has_its_legend(tab):
    assert "Dotted" not in tab.locator(".note").inner_text()
    type_in(tab, "The zxqvute was tall, my dear, and everybody laughed about it.")
    settled(tab)
    unsure = tab.locator(".tgt .unsure")
    note = tab.locator(".note").inner_text()
    assert unsure.count() and "Dotted: a chance below 70%" in note
    assert tab.locator(".mirror .unseen").count() and "never saw zxqvute" in note
    lines = tab.evaluate("() => ['.tgt .unsure', '.note .unsure-key'].map((one) => "
                         "getComputedStyle(document.querySelector(one)).textDecorationLine)")
    assert lines == ["underline", "underline"]


def test_maps_of_before_look_old_until_the_new_ones_are_there(tab):
    old = """() => ['.work', '.why'].map((one) =>
        +getComputedStyle(document.querySelector(one).firstElementChild).opacity)"""
    assert tab.evaluate(old) == [1, 1]
    release = hold_looks(tab, lambda asked: True)
    type_in(tab, "Where is my hat?")
    tab.locator(".see .work.stale").wait_for()
    assert max(tab.evaluate(old)) < 0.5 and tab.locator(".work").evaluate("one => one.inert")
    release()
    tab.unroute("**/v1/look")
    settled(tab)
    assert tab.evaluate(old) == [1, 1]


def test_the_caveat_is_on_the_screen(tab):
    for width, height in SIZES:
        resize(tab, width, height)
        box = tab.locator(".see").get_by_text("A map shows where a head looked, not why").bounding_box()
        assert box["y"] + box["height"] <= height and tab.evaluate("scrollY") == 0, (width, box)


# --- every width


@pytest.mark.parametrize("width", [390, pytest.param(750, marks=pytest.mark.long)])
def test_a_phone_has_the_menu_of_models_and_the_tour(open_tab, packaged, width):
    tab = open_tab(packaged.url, viewport={"width": width, "height": 844})
    settled(tab)
    more(tab, "A short tour")
    tab.get_by_role("dialog", name="Tour").get_by_text("Change tired to wide, and il becomes elle.").wait_for()
    tab.keyboard.press("Escape")
    more(tab, "Choose the model")
    tab.get_by_role("menuitemradio", name="everyday").click()
    settled(tab)
    assert tab.locator(".note", has_text="storybook").count() == 0
    assert tab.evaluate("document.documentElement.scrollWidth") <= width
    for word in tab.locator(".tgt .w").all():
        assert word.evaluate("one => parseFloat(getComputedStyle(one).lineHeight)") >= 32


OVERLAPS = """() => {
    const names = '.badge, .acts .tool, .note, .swap .seg, .tgt .w, .top-bar > *, .lang, .eyebrow > *';
    const boxes = [...document.querySelectorAll(names)].filter((one) => one.offsetParent && one.innerText.trim())
        .map((one) => [one, one.getBoundingClientRect()]);
    return boxes.flatMap(([a, r], i) => boxes.slice(i + 1).filter(([b, s]) => !a.contains(b) && !b.contains(a)
        && !(a.matches('.w') && b.matches('.w'))  // n'a: the padding of words without a space between them
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


# --- everybody


@pytest.mark.few(2)
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 768, 1440])
def test_everybody_can_use_it(open_tab, packaged, width, scheme):
    tab = open_tab(packaged.url, color_scheme=scheme)
    settled(tab)
    resize(tab, width, 900)
    assert violations(tab) == []
    assert tab.evaluate("document.documentElement.scrollWidth") <= width
    for menu in ("examples", "more", "from", "to"):
        tab.locator(f"[data-menu={menu}]").click()
        assert violations(tab) == [], menu
        tab.keyboard.press("Escape")
    tab.get_by_role("button", name="Enlarge all heads").click()
    assert violations(tab) == []
    tab.keyboard.press("Escape")
    for control in tab.locator(".s2s .acts button, .s2s .seg button, .s2s nav a").all() if width == 390 else ():
        assert control.bounding_box()["height"] >= 32, "of a finger"


def test_it_can_be_used_by_keyboard_alone(tab):
    tab.get_by_role("grid").focus()
    tab.keyboard.press("Control+Home")
    tab.keyboard.press("ArrowDown")
    assert "gave" in tab.locator(".see .say").inner_text()
    tab.keyboard.press("Enter")
    assert tab.locator(".why h2").inner_text() == f"Why {tab.locator('.see .row.sel .rl').inner_text()}?" == "Why chat?"
    tab.locator(".tgt .w[tabindex='0']").focus()
    tab.keyboard.press("ArrowRight")
    assert tab.evaluate("document.activeElement.innerText") == "n'"
    tab.keyboard.press("Enter")
    assert tab.locator(".why h2").inner_text() == "Why n'?"
    tab.keyboard.press(".")
    assert tab.locator(".why h2").inner_text() == "Why a?"
    tab.get_by_role("radio", name="tired").focus()
    tab.keyboard.press("ArrowRight")
    tab.wait_for_function("() => document.querySelector('.tgt').innerText.includes('elle')")
    settled(tab)
    assert tab.evaluate("document.activeElement.innerText") == "wide"
    tab.locator("[data-menu=more]").press("Enter")
    tab.keyboard.press("ArrowDown")
    tab.keyboard.press("Escape")
    assert tab.locator(".pop").is_hidden()
    assert tab.evaluate("document.activeElement.dataset.k") == "more"
    tab.get_by_role("button", name="Enlarge all heads").press("Enter")
    tab.keyboard.press("ArrowRight")
    tab.keyboard.press("Enter")
    assert tab.locator(".all").is_hidden() and "Layer 2, head 2" in tab.locator(".see .pin").inner_text()


def test_the_tour_gives_the_focus_back(tab):
    more(tab, "A short tour")
    tab.get_by_role("dialog", name="Tour").get_by_text("Change tired to wide, and il becomes elle.").wait_for()
    for _ in range(5):
        assert tab.locator(".ringed").count() == 1
        tab.get_by_role("dialog", name="Tour").locator("[data-tour=next]").click()
    assert tab.locator(".ringed").count() == 0
    assert tab.evaluate("document.activeElement.dataset.k") == "more"


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
    tab.locator(".pending").wait_for()
    type_in(tab, "Where is the station?")
    settled(tab)
    assert [one for one in lost if one.get("evidence")], lost
    assert server.service._looks._present == []
