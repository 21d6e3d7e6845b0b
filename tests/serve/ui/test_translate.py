"""The tab Translate in a real browser: every value on the screen is the translator's or the lens's."""

import contextlib
import math
import threading

import pytest
from accessibility import violations
from serving import running
from translating import asked, idle, read_out, shows, write

from seq2see.lens.alignment import naive_choice
from seq2see.lens.counterparts import counterparts, first_steps

ATTACK = "<img src=x onerror=window.hit=1> ${window.hit=1} `{{window.hit=1}}` <script>window.hit=1</script>"


@pytest.mark.parametrize("key", [None, "Control+Enter", "Meta+Enter"])
def test_a_text_is_translated(page, translator, key):
    write(page, "The cat did not cross.", key=key)
    assert read_out(page) == translator("The cat did not cross.").text


def test_what_is_typed_is_translated_after_a_pause_and_an_older_question_changes_nothing(page, translator):
    sent = asked(page)
    page.locator("textarea.tr-text").fill("The cat did")
    page.locator("textarea.tr-text").fill("The cat did not cross.")
    shows(page, translator("The cat did not cross.").text)
    assert [one["text"] for one in sent] == ["The cat did not cross."]
    page.locator("textarea.tr-text").fill("The cat.")
    page.locator("#translate").click()
    page.locator("textarea.tr-text").fill("The box did not fit.")
    shows(page, translator("The box did not fit.").text)
    page.wait_for_timeout(500)
    assert read_out(page) == translator("The box did not fit.").text


def test_without_the_tick_nothing_is_translated_before_one_asks(page):
    sent = asked(page)
    page.get_by_label("while I type").uncheck()
    page.locator("textarea.tr-text").fill("The cat.")
    page.wait_for_timeout(900)
    assert not sent
    page.locator("#translate").click()
    page.wait_for_function("document.querySelector('.tr-out').textContent")


def test_pointing_at_a_word_lights_its_counterparts_with_their_shares(page, translator):
    write(page, "The cat did not cross.")
    [trace] = translator.look(translator("The cat did not cross."))
    pairs = counterparts(trace, naive_choice(*trace.cross["raw"].shape[:2]))
    word = pairs[0].target
    page.locator(f'.tr-out [data-word="0.{word}"]').hover()
    mine = [pair for pair in pairs if pair.target == word]
    lit = page.locator('.tr-mirror [data-on="other"]')
    assert lit.all_inner_texts() == [trace.source_words[pair.source].text for pair in mine]
    share = float(lit.first.evaluate("node => node.style.getPropertyValue('--share')"))
    assert share == pytest.approx(mine[0].share, abs=6e-5)
    told = page.locator(".tr-reading").inner_text()
    assert trace.target_words[word].text in told and f"{100 * mine[0].share:.0f}" in told
    assert "nobody knows its error" in page.locator(".tr-caption").inner_text()

    source = mine[0].source
    box = page.locator(f'.tr-mirror [data-word="0.{source}"]').bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    expected = [trace.target_words[pair.target].text for pair in pairs if pair.source == source]
    page.wait_for_function("texts => JSON.stringify(Array.from(document.querySelectorAll('.tr-out [data-on=other]'), "
                           "one => one.textContent)) === JSON.stringify(texts)", arg=expected)
    page.mouse.move(1, 1)
    assert page.locator('[data-on="other"]').count() == 0


def test_by_keyboard_too_words_are_pointed_at(page):
    write(page, "The cat did not cross.")
    page.locator(".tr-out .tr-word").first.focus()
    first = page.locator(".tr-reading").inner_text()
    page.keyboard.press("ArrowRight")
    assert page.locator(".tr-out .tr-word:focus").get_attribute("data-word") == "0.1"
    assert page.locator(".tr-reading").inner_text() != first
    page.locator("textarea.tr-text").focus()
    page.keyboard.press("Control+Home")
    page.keyboard.press("ArrowRight")
    assert page.locator('.tr-mirror [data-on="own"]').inner_text() == "The"


def test_another_choice_at_a_word_is_taken_and_the_rest_translated_anew(page, translator):
    write(page, "The cat did not cross.")
    [trace] = translator.look(translator("The cat did not cross."))
    word = len(trace.target_words) - 1
    step = first_steps(trace)[word]
    page.locator(f'.tr-out [data-word="0.{word}"]').click()
    shown = page.locator(".tr-pop button small").all_inner_texts()
    expected = [math.exp(one.log_prob) for one in trace.top[step][:8]]
    for text, probability in zip(shown, expected, strict=True):
        assert text == "<0.1 %" or float(text.removesuffix(" %")) == pytest.approx(100 * probability, abs=0.51)
    other = next(i for i, one in enumerate(trace.top[step][:8]) if one.id > 35 and one.id != trace.target_ids[step])
    prefix = translator.codec.decode((*trace.target_ids[trace.given : step], trace.top[step][other].id))
    sent = asked(page)
    page.locator(".tr-pop button").nth(other).click()
    page.locator(".tr-held").get_by_role("button").wait_for()
    [question] = sent
    assert question["prefix"] == prefix
    idle(page)
    assert read_out(page) == translator("The cat did not cross.", prefix=prefix, num_beams=question["num_beams"]).text
    page.locator(".tr-held").get_by_role("button").click()
    page.wait_for_function("!document.querySelector('.tr-held').textContent")


def test_a_choice_in_a_later_part_keeps_what_is_before_it(page, translator):
    text = "The cat did not cross. The box did not fit."
    write(page, text)
    sent = asked(page)
    first = translator(text).parts[0]
    page.locator('.tr-out [data-word="1.0"]').click()
    page.locator(".tr-pop button:not(:disabled)").first.click()
    idle(page)
    assert sent[-1]["prefix"].startswith(first.text)
    page.get_by_label("To", exact=True).select_option("de")
    shows(page, translator(text, target="de").text)
    assert "prefix" not in sent[-1], "what was chosen in French begins nothing in German"


@pytest.mark.parametrize("how", ["emptied by the button", "by hand"])
def test_a_text_written_again_has_its_words_linked_again(page, how):
    write(page, "The cat did not cross.")
    if how == "by hand":
        page.locator("textarea.tr-text").fill("")
    else:
        page.get_by_label("Clear the text").click()
    page.get_by_role("tab", name="Look").click()
    page.get_by_text("Translate a sentence first").wait_for()
    page.get_by_role("tab", name="Translate").click()
    write(page, "The cat did not cross.")
    page.locator(".tr-out .tr-word").first.hover()
    assert "↔" in page.locator(".tr-reading").inner_text()
    page.get_by_role("tab", name="Look").click()
    page.locator(".s2s-about").wait_for()


@pytest.mark.parametrize("text", ["The box did not fit.", "The cat did not cross. Then", "x" * 5_001])
def test_a_translation_of_an_earlier_text_says_so_and_offers_no_choices(page, text):
    write(page, "The cat did not cross.")
    page.get_by_label("while I type").uncheck()
    page.locator("textarea.tr-text").fill(text)
    page.locator(".tr-status", has_text="Of an earlier text").wait_for()
    assert page.locator(".tr-out").evaluate("node => getComputedStyle(node).color") == "rgb(86, 99, 115)"
    page.locator(".tr-out .tr-word").first.click(force=True)
    assert page.locator(".tr-pop").is_hidden()
    page.locator("textarea.tr-text").fill("The cat did not cross. ")
    page.locator(".tr-out .tr-word").first.click()
    assert page.locator(".tr-pop").is_visible() and "earlier" not in page.locator(".tr-status").inner_text()


@pytest.mark.parametrize(("codes", "told"), [([84, 0xD83D], "half of a character")])
def test_a_text_that_nothing_can_be_made_of_is_told_so(page, codes, told):
    page.locator("textarea.tr-text").evaluate("""(node, codes) => {
        node.value = String.fromCharCode(...codes);
        node.dispatchEvent(new Event('input')); }""", codes)
    page.locator(".tr-told", has_text=told).wait_for()
    assert page.locator(".tr").get_attribute("data-busy") == "false" and not page.locator(".tr-status").inner_text()
    page.locator("textarea.tr-text").fill("The cat.")
    page.wait_for_function("document.querySelector('.tr-out').textContent")
    assert not page.locator(".tr-told").inner_text()


def test_the_choices_close_when_one_goes_elsewhere_and_by_escape_from_anywhere_in_them(page):
    write(page, "The cat did not cross.")
    for leave in (lambda: page.locator("#translate").focus(),
                  lambda: (page.locator(".tr-pop p").click(), page.keyboard.press("Escape"))):
        page.locator(".tr-out .tr-word").first.click()
        page.locator(".tr-pop").wait_for()
        leave()
        assert page.locator(".tr-pop").is_hidden()
    assert page.locator(".tr-out .tr-word:focus").count() == 1


def test_escape_leaves_the_choices_and_comes_back_to_the_word(page):
    write(page, "The cat did not cross.")
    page.locator(".tr-out .tr-word").first.focus()
    page.keyboard.press("Enter")
    assert page.locator(".tr-pop").is_visible()
    page.keyboard.press("Escape")
    assert not page.locator(".tr-pop").is_visible()
    assert page.locator(".tr-out .tr-word:focus").count() == 1


def test_alternatives_have_their_scores_and_one_of_them_can_be_looked_into(page, translator):
    page.locator(".tr-how summary").click()
    page.get_by_label("beam search").check()
    page.locator(".tr-settings select").select_option("3")
    write(page, "The cat did not cross.")
    beams = int(page.locator(".tr-settings input[type=number]").first.input_value())
    result = translator("The cat did not cross.", alternatives=3, num_beams=beams)
    others = page.locator(".tr-others li")
    assert others.locator("button").all_inner_texts() == [one.text for one in result.hypotheses]
    assert [text.split(" ")[0] for text in others.locator("small").all_inner_texts()] == [
        f"{one.score:.3f}" for one in result.hypotheses]
    others.nth(2).locator("button").click()
    shows(page, result.hypotheses[2].text)


def test_each_alternative_takes_a_beam_and_the_field_shows_it(page):
    page.locator(".tr-how summary").click()
    sent = asked(page)
    page.locator("textarea.tr-text").fill("The cat.")
    page.get_by_label("beam search").check()
    page.locator(".tr-settings select").select_option("3")
    beams = page.get_by_label("beams", exact=True)
    beams.fill("2")
    beams.press("Tab")
    idle(page)
    assert beams.input_value() == "3" and (sent[-1]["num_beams"], sent[-1]["alternatives"]) == (3, 3)
    assert "by the mean log-probability" in page.locator(".tr").inner_text()


def test_sampling_draws_with_its_settings(page):
    page.locator(".tr-how summary").click()
    sent = asked(page)
    page.locator("textarea.tr-text").fill("The cat.")
    page.get_by_label("sampling").check()
    page.get_by_label("temperature").fill("0.5")
    page.get_by_label("top-k").fill("7")
    page.get_by_label("top-p").fill("0.9")
    page.get_by_role("button", name="Draw again").click()
    idle(page)
    last = sent[-1]
    assert {name: last[name] for name in ("temperature", "top_k", "top_p", "seed")} == {
        "temperature": 0.5, "top_k": 7, "top_p": 0.9, "seed": 1}
    page.get_by_text("Draws, as they came").wait_for()
    page.get_by_label("greedy").check()
    idle(page)
    assert sent[-1]["num_beams"] == 1 and "temperature" not in sent[-1]


def test_words_never_seen_are_marked_with_what_was_learnt_and_what_to_serve(page, translator):
    write(page, "The zebra did not cross.")
    told = page.locator(".tr-unknown").inner_text()
    assert "Never seen in training: zebra." in told and "5 English words" in told
    assert "seq2see serve Helsinki-NLP/opus-mt-en-" in told
    assert page.locator(".tr-mirror [data-unseen]").all_inner_texts() == ["zebra"]
    write(page, "The \u202ezebra\u200b.")
    told = page.locator(".tr-unknown").inner_text()
    assert r"\u202e" in told and "\u202e" not in told, "nobody would see it"
    write(page, "The cat.")
    assert not page.locator(".tr-unknown").inner_text()


def test_a_text_cut_into_parts_says_so_and_each_part_is_linked(page, translator):
    text = "The cat did not cross. " * 3
    write(page, text.strip())
    parts = len(translator(text.strip()).parts)
    assert parts > 1 and f"Translated in {parts} parts" in page.locator(".tr-cut").inner_text()
    assert {word.split(".")[0] for word in page.locator(".tr-mirror .tr-word").evaluate_all(
        "words => words.map(word => word.dataset.word)")} == {str(i) for i in range(parts)}


def test_a_text_too_long_is_counted_and_not_sent(page, server):
    sent = asked(page)
    page.locator("textarea.tr-text").fill("x" * (server.settings.characters + 1))
    page.locator("#translate").click()
    assert "5,001 / 5,000" in page.locator(".tr-count").inner_text()
    assert "at most 5,000" in page.locator(".tr-told").inner_text() and not sent


def test_what_is_refused_is_told_in_one_line(page):
    page.locator("textarea.tr-text").fill("a" + "\u0301" * 200)
    page.locator("#translate").click()
    page.wait_for_function("document.querySelector('.tr-told').textContent.includes('too long')")
    assert page.locator(".tr").get_attribute("data-busy") == "false"


def test_another_language_translates_at_once(page, translator):
    write(page, "The cat.")
    page.get_by_label("To", exact=True).select_option("de")
    shows(page, translator("The cat.", target="de").text)
    assert page.get_by_label("Swap the languages").is_disabled(), "German to English is not served"


def test_the_language_is_detected_and_the_two_are_swapped(open_tab, both_ways):
    with running({"both": lambda: both_ways}, page=True) as server:
        tab = open_tab(server.url)
        source, target = (tab.get_by_label(name, exact=True) for name in ("From", "To"))
        assert source.locator("option:checked").text_content() == "Detect language"
        write(tab, "The cat did not cross the street because it was too tired.")
        assert source.locator("option:checked").text_content() == "English, detected"
        before = read_out(tab)
        assert before == both_ways("The cat did not cross the street because it was too tired.", target="fr").text
        tab.get_by_label("Swap the languages").click()
        assert (source.input_value(), target.input_value()) == ("fr", "en")
        assert tab.locator("textarea.tr-text").input_value() == before
        shows(tab, both_ways(before, source="fr", target="en").text)


def test_copying(page, translator):
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    write(page, "The cat.")
    page.get_by_label("Copy the translation").click()
    page.get_by_text("Copied").wait_for()
    assert page.evaluate("navigator.clipboard.readText()") == translator("The cat.").text
    page.get_by_label("Copy a link to this translation").click()
    page.wait_for_function("document.querySelectorAll('.tr-icon').length && [...document.querySelectorAll('.tr-icon')]"
                           ".filter(one => one.textContent === 'Copied').length")
    link = page.evaluate("navigator.clipboard.readText()")
    assert "?text=The+cat.&from=en&to=" in link


@pytest.mark.parametrize("where", ["text", "link"])
def test_text_never_runs_as_code(open_tab, server, where):
    from urllib.parse import quote

    if where == "text":
        tab = open_tab(server.url)
        write(tab, ATTACK[:60])
    else:
        wish = "&".join(f"{name}={quote(ATTACK)}" for name in ("text", "from", "to", "look"))
        tab = open_tab(f"{server.url}/ui/?{wish}")
        tab.wait_for_function("document.querySelector('.tr-out').textContent")
        assert tab.locator("textarea.tr-text").input_value() == ATTACK
    tab.wait_for_function("!document.querySelector('.tr-caption').textContent.startsWith('Reading')")
    if tab.locator(".tr-out .tr-word").count():
        tab.locator(".tr-out .tr-word").first.click()
    assert tab.evaluate("window.hit") is None
    assert tab.locator(".tr img, .tr script").count() == 0


def test_beyond_an_emoji_words_are_in_their_places(page):
    """Python counts it as one character, JavaScript as two."""
    write(page, "\U0001f431 cat did not cross.")
    words = page.locator(".tr-mirror .tr-word").all_inner_texts()
    assert words[-4:] == ["did", "not", "cross", "."]


def test_who_presses_stop_waits_no_longer_and_others_are_answered(open_tab, translator, monkeypatch):
    """Both are at work until the gate opens."""
    gate, entered, engine = threading.Event(), threading.Event(), translator.torch_engine.translate

    def held(*asked, **also):
        entered.set()
        assert gate.wait(300)
        return engine(*asked, **also)

    monkeypatch.setattr(translator.torch_engine, "translate", held)
    with contextlib.ExitStack() as stack:
        gate.set()
        server = stack.enter_context(running({"tiny": lambda: translator}, page=True, deadline_seconds=300))
        tabs = [open_tab(server.url) for _ in range(2)]
        gate.clear()
        entered.clear()
        for tab in tabs:
            tab.get_by_label("while I type").uncheck()
            tab.locator("textarea.tr-text").fill("The cat.")
            tab.locator("#translate").click()
            tab.locator(".tr-status", has_text="Translating…").wait_for()
            assert entered.wait(60), "the first is at work before the second asks"
        tabs[0].get_by_role("button", name="Stop").click()
        tabs[0].locator(".tr-status", has_text="Stopped").wait_for()
        gate.set()
        shows(tabs[1], translator("The cat.").text)
        tabs[0].wait_for_timeout(300)
        assert not read_out(tabs[0]) and tabs[0].locator(".tr").get_attribute("data-busy") == "false"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_everybody_can_use_it(open_tab, knowing, scheme):
    tab = open_tab(knowing[0].url, color_scheme=scheme)
    tab.locator(".tr-how summary").click()
    tab.get_by_label("beam search").check()
    write(tab, "The zebra did not cross. The box did not fit.")
    tab.locator(".ow-words button").first.click()
    tab.locator(".ow-moves button").first.wait_for()
    tab.wait_for_function("document.querySelector('.tr-caption').textContent.startsWith('Point')")
    tab.locator(".tr-out .tr-word").first.click()
    assert violations(tab) == []
    tab.get_by_label("while I type").uncheck()
    tab.locator("textarea.tr-text").fill("The cat.")
    tab.locator(".tr-status", has_text="Of an earlier text").wait_for()
    assert violations(tab) == []


def test_an_older_answer_changes_nothing(page, translator):
    streams, held = [], []  # of answers: those that are open, and those that wait
    page.on("request", lambda one: "/queue/data" in one.url and streams.append(one))
    for end in ("requestfinished", "requestfailed"):
        page.on(end, lambda one: one in streams and streams.remove(one))
    write(page, "The cat.")
    before = read_out(page)
    page.route("**/run/**", lambda route: route.fulfill(json={"data": []}))  # so that the server answers all the same
    page.route("**/queue/data*", lambda route: held.append(route))
    while set(streams) - {route.request for route in held}:  # on one that is open the next answers would come
        page.wait_for_timeout(50)
    page.locator("textarea.tr-text").fill("The box did not fit.")
    page.locator("#translate").click()
    page.wait_for_function("document.querySelector('.tr').dataset.busy === 'true'")
    while not held:
        page.wait_for_timeout(50)
    page.get_by_role("button", name="Stop").click()
    page.unroute("**/queue/data*")
    for route in held:
        route.continue_()
    while streams:
        page.wait_for_timeout(50)
    page.wait_for_timeout(300)
    assert read_out(page) == before and page.locator(".tr").get_attribute("data-busy") == "false"


def test_right_to_left_text_is_shown_from_the_right(page):
    page.locator("textarea.tr-text").fill("שלום עולם")
    assert page.locator("textarea.tr-text").evaluate("node => getComputedStyle(node).direction") == "rtl"


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 768, 1440])
def test_it_fits_every_width_in_light_and_dark(open_tab, server, width, scheme):
    tab = open_tab(server.url, viewport={"width": width, "height": 800}, color_scheme=scheme)
    write(tab, "The cat did not cross the street because it was too tired.")
    assert tab.evaluate("document.documentElement.scrollWidth") <= width
    ink, paper = tab.locator(".tr-side").first.evaluate(
        "node => [getComputedStyle(node).color, getComputedStyle(node).backgroundColor]")
    brightness = [sum(map(int, colour.removeprefix("rgb(").removesuffix(")").split(","))) for colour in (ink, paper)]
    assert (brightness[0] > brightness[1]) == (scheme == "dark")


def test_nothing_typed_is_kept_by_the_browser(page):
    write(page, "A secret of mine.")
    kept = page.evaluate("""async () => JSON.stringify([{...localStorage}, {...sessionStorage}, document.cookie,
        await indexedDB.databases(), await caches.keys(), history.state])""")
    assert "secret" not in kept and "secret" not in page.url
