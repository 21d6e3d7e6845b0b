"""The tab Translate in a real browser: every value on the screen is the translator's or the lens's."""

import contextlib
import json
import math
import shutil
import threading

import pytest
import tiny
from accessibility import violations
from serving import running

from seq2see import Translator
from seq2see.lens.alignment import naive_choice
from seq2see.lens.counterparts import counterparts, first_steps
from seq2see.serve.ui import asking, one_word, translate_tab
from seq2see.tokenizer import train_tokenizer

ATTACK = "<img src=x onerror=window.hit=1> ${window.hit=1} `{{window.hit=1}}` <script>window.hit=1</script>"


def write(tab, text, *, key="Control+Enter"):
    """Have a text translated, and its words linked."""
    tab.locator("textarea.tr-text").fill(text)
    tab.keyboard.press(key) if key else tab.locator("#translate").click()
    tab.wait_for_function("""text => {
        const caption = document.querySelector('.tr-caption').textContent;
        return document.querySelector('.tr').dataset.busy === 'false' && caption && !caption.startsWith('Reading')
            && document.querySelector('textarea.tr-text').value === text; }""", arg=text)


def idle(tab):
    tab.wait_for_function("document.querySelector('.tr').dataset.busy === 'false'")


def shows(tab, text):
    tab.wait_for_function("text => document.querySelector('.tr-out').textContent === text", arg=text)


def read_out(tab):
    return tab.locator(".tr-out").inner_text()


def asked(tab):
    """What the page sends, from now on: the data of each question."""
    sent = []

    def note(request):
        if "/queue/join" in request.url:
            data = request.post_data_json.get("event_data")
            if isinstance(data, dict) and "text" in data:
                sent.append(data)

    tab.on("request", note)
    return sent


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
    prefix = (*trace.target_ids[trace.given : step], trace.top[step][other].id)
    sent = asked(page)
    page.locator(".tr-pop button").nth(other).click()
    page.locator(".tr-held").get_by_role("button").wait_for()
    [question] = sent
    assert tuple(question["prefix"][0]) == prefix
    idle(page)
    settings = {"num_beams": question["num_beams"]}
    [job] = translator.prepare(["The cat did not cross."], prefix=[prefix], alternatives=question.get("alternatives"),
                               **settings)
    [(ids, plan)] = job.work
    assert read_out(page) == translator.finish(job, translator.engine_for(plan).translate([ids], plan)).text
    page.locator(".tr-held").get_by_role("button").click()
    page.wait_for_function("!document.querySelector('.tr-held').textContent")


def test_a_choice_in_a_later_part_is_taken_and_stays_when_one_is_taken_in_another(page, translator):
    text = "The cat did not cross. The box did not fit."
    write(page, text)
    sent, wanted = asked(page), [(), ()]
    for part in (1, 0):
        trace = translator.look(translator(text))[part]
        step = first_steps(trace)[0]
        other = next(i for i, one in enumerate(trace.top[step][:8]) if one.id > 35 and one.id != trace.target_ids[step])
        wanted[part] = (*trace.target_ids[trace.given : step], trace.top[step][other].id)
        page.locator(f'.tr-out [data-word="{part}.0"]').click()
        page.locator(".tr-pop button").nth(other).click()
        idle(page)
        [job] = translator.prepare([text], prefix=wanted, num_beams=sent[-1]["num_beams"])
        found = [translator.engine_for(plan).translate([ids], plan)[0] for ids, plan in job.work]
        shows(page, translator.finish(job, found).text)
        page.wait_for_function("document.querySelector('.tr-caption').textContent.startsWith('Point')")
    assert [one["prefix"] for one in sent] == [[[], list(wanted[1])], list(map(list, wanted))]
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


@pytest.mark.parametrize(("codes", "told"), [([0x85], "no text to translate"), ([84, 0xD83D], "half of a character")])
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
    assert parts > 1 and f"cut into {parts} parts" in page.locator(".tr-cut").inner_text()
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


@pytest.fixture(scope="module")
def both_ways():
    """English to French and French to English."""
    model, _ = tiny.seq2see()
    model.config.language_pairs = [["en", "fr"], ["fr", "en"]]
    return Translator(model, train_tokenizer(tiny.SENTENCES * 4, vocab_size=400, languages=["en", "fr"]), name="both")


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


def copy_link(tab, *, within=".tr"):
    """What the button Link leaves on the clipboard."""
    tab.context.grant_permissions(["clipboard-read", "clipboard-write"])
    tab.locator(within).get_by_text("Link", exact=True).click()
    tab.locator(within).get_by_text("Copied", exact=True).wait_for()
    return tab.evaluate("navigator.clipboard.readText()")


@pytest.fixture(scope="module")
def two_models(translator, both_ways):
    with running({"tiny": lambda: translator, "both": lambda: both_ways}, page=True) as made:
        yield made


@pytest.mark.parametrize("way", ["greedy", "beam search", "sampling"])
def test_a_link_leads_to_the_very_translation(open_tab, two_models, both_ways, way):
    tab = open_tab(two_models.url)
    tab.get_by_label("Model", exact=True).select_option("both")
    tab.get_by_label("From", exact=True).select_option("en")
    tab.locator(".tr-how summary").click()
    tab.get_by_label(way).check()
    if way == "sampling":
        tab.get_by_label("temperature").fill("1.5")
        tab.get_by_role("button", name="Draw again").click()
    write(tab, "The cat did not cross the street.")
    if way != "greedy":
        tab.locator(".tr-other").nth(1).click()
    other = open_tab(copy_link(tab))
    shows(other, read_out(tab))
    assert other.get_by_label("Model", exact=True).input_value() == "both"
    assert other.get_by_label(way).is_checked()
    chosen = other.locator(".tr-other[aria-pressed=true]").all_inner_texts()
    assert chosen == ([] if way == "greedy" else [read_out(tab)])
    if way == "sampling":
        tab.get_by_role("tab", name="Look").click()
        tab.locator(".s2s-about").wait_for()
        mapped = open_tab(copy_link(tab, within=".s2s-away"))
        mapped.locator(".s2s-about").wait_for()
        assert mapped.locator(".s2s-facts").inner_text() == tab.locator(".s2s-facts").inner_text()


def test_no_link_is_copied_of_a_beginning_that_was_chosen(page):
    write(page, "The cat did not cross.")
    page.locator(".tr-out .tr-word").last.click()
    page.locator(".tr-pop button:not([disabled])").nth(1).click()
    page.locator(".tr-held", has_text="no link can hold").wait_for()
    page.wait_for_function("document.querySelector('.tr').dataset.busy === 'false'")
    assert page.get_by_label("Copy a link to this translation").is_disabled()
    page.get_by_role("tab", name="Look").click()
    page.locator(".s2s-away").get_by_role("button", name="Link").click()
    page.locator(".s2s-away", has_text="Not with a beginning").wait_for()


def test_a_map_that_is_not_there_is_the_usual_one(open_tab, server):
    tab = open_tab(f"{server.url}/ui/?text=The+cat.&from=en&to=fr&look=cross,99,99")
    tab.locator(".s2s-about", has_text="Cross-attention").wait_for()


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


def test_a_link_is_translated_at_once(open_tab, server, translator):
    tab = open_tab(f"{server.url}/ui/?text=The%20cat.&from=en&to=de")
    shows(tab, translator("The cat.", target="de").text)
    assert tab.locator("textarea.tr-text").input_value() == "The cat."


def test_a_link_to_a_map_opens_it_and_look_gives_such_a_link(open_tab, server):
    tab = open_tab(f"{server.url}/ui/?text=The%20cat.&from=en&to=fr&look=encoder,0,1")
    tab.get_by_role("tab", name="Look", selected=True).wait_for()
    tab.locator(".s2s-about", has_text="Encoder, layer 0, head 1").wait_for()
    tab.context.grant_permissions(["clipboard-read", "clipboard-write"])
    tab.get_by_role("button", name="Decoder, layer 1, head 0").click()
    tab.locator(".s2s-away").get_by_role("button", name="Link").click()
    tab.locator(".s2s-away").get_by_role("button", name="Copied").wait_for()
    link = tab.evaluate("navigator.clipboard.readText()")
    assert link.startswith(f"{server.url}/ui") and "?text=The+cat.&from=en&to=fr&" in link
    again = open_tab(link)
    again.locator(".s2s-about", has_text="Decoder, layer 1, head 0").wait_for()


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


@pytest.fixture(scope="module")
def knowing(folder, tmp_path_factory):
    """The tiny model, as if it knew the words of the sentences that differ in one; and its page."""
    run = tmp_path_factory.mktemp("knowing") / "run"
    shutil.copytree(folder, run)
    texts = "".join("".join([before, " ".join(words), after]) + " " for before, words, after in one_word.SENTENCES)
    words = sorted(set(texts.casefold().replace(".", "").split()))
    (run / "seen_words.json").write_text(json.dumps({"en": words}), encoding="utf-8")
    translator = Translator.from_pretrained(run, engine="torch")
    with running({"tiny": lambda: translator, "both": lambda: translator}, page=True) as server:
        yield server, translator


def changed_by(tab, act):
    """Whether what one changed word did is still shown after this."""
    tab.locator(".ow-words button").first.click()
    tab.locator(".ow-result").wait_for()
    act()
    return tab.locator(".ow-result").is_visible() or tab.locator(".ow-words [aria-pressed=true]").count() > 0


def test_what_one_word_changed_is_forgotten_with_what_it_was_asked_for_with(open_tab, knowing):
    tab = open_tab(knowing[0].url)
    tab.locator(".tr-how summary").click()
    heading = tab.locator(".ow h3")
    assert "the French for it" in heading.inner_text()
    for act in (lambda: tab.get_by_label("To", exact=True).select_option("de"),
                lambda: tab.get_by_label("beam search").check(), lambda: tab.get_by_label("greedy").check(),
                lambda: tab.get_by_label("Model", exact=True).select_option("both"),
                lambda: tab.locator("textarea.tr-text").fill("The cat.")):
        assert not changed_by(tab, act)
    assert "the German for it" in heading.inner_text()


def test_one_word_is_changed_under_the_search_of_the_box(open_tab, knowing):
    server, translator = knowing
    tab, sent = open_tab(server.url), []
    tab.on("request", lambda one: "/queue/join" in one.url and sent.append(one.post_data_json.get("event_data")))
    tab.locator(".tr-how summary").click()
    tab.get_by_label("greedy").check()
    tab.locator(".ow-words button").first.click()
    tab.locator(".ow-target").first.wait_for()
    assert [one["num_beams"] for one in sent if one and "texts" in one] == [1]
    assert tab.locator(".ow-target").first.inner_text() == translator(
        "The goat chased the wolf because it was hungry.", num_beams=1).text


def test_one_word_is_not_changed_of_sentences_that_the_model_does_not_know(page):
    assert page.locator(".ow").is_hidden()


def test_one_word_changed_shows_both_translations_and_what_moved(open_tab, knowing):
    server, translator = knowing
    page = open_tab(server.url)
    page.locator(".ow-words button").first.click()
    page.locator(".ow-result").wait_for()
    texts = ["The goat chased the wolf because it was hungry.", "The goat fled from the wolf because it was hungry."]
    assert page.locator(".ow-source").all_inner_texts() == texts
    usual = [translator(text) for text in texts]
    assert page.locator(".ow-target").all_inner_texts() == [one.text for one in usual]
    assert "chased" in page.locator(".ow-source mark").first.inner_text()
    assert page.locator("textarea.tr-text").input_value() == texts[0]
    from seq2see.lens.moved import moves

    found = moves(*(translator.look(one)[0] for one in usual))
    first = page.locator(".ow-moves button").first.inner_text()
    assert f"layer {found[0].layer}, head {found[0].head}" in first
    assert page.locator(".ow-moves button").count() == len(found)
    page.locator(".ow-words button").nth(1).click()
    assert page.locator("textarea.tr-text").input_value() == texts[1]


def test_beyond_an_emoji_words_are_in_their_places(page):
    """Python counts it as one character, JavaScript as two."""
    write(page, "\U0001f431 cat did not cross.")
    words = page.locator(".tr-mirror .tr-word").all_inner_texts()
    assert words[-4:] == ["did", "not", "cross", "."]


def test_in_the_queue_one_is_told_where_one_stands_and_may_leave_it(open_tab, translator, monkeypatch):
    """One is at work at a time here, and the first stays at work until the gate opens."""
    gate, entered, engine = threading.Event(), threading.Event(), translator.torch_engine.translate

    def held(*asked, **also):
        entered.set()
        assert gate.wait(300)
        return engine(*asked, **also)

    monkeypatch.setattr(translate_tab, "Line", lambda: asking.Line(1))
    monkeypatch.setattr(translator.torch_engine, "translate", held)
    with contextlib.ExitStack() as stack:
        gate.set()
        server = stack.enter_context(running({"tiny": lambda: translator}, page=True, deadline_seconds=300))
        tabs = [open_tab(server.url) for _ in range(3)]
        gate.clear()
        entered.clear()
        places = ("Translating…", "You are next in the queue", "1 before you in the queue")
        for tab, said in zip(tabs, places, strict=True):
            tab.get_by_label("while I type").uncheck()
            tab.locator("textarea.tr-text").fill("The cat.")
            tab.locator("#translate").click()
            tab.locator(".tr-status", has_text=said).wait_for()
            assert entered.wait(60), "the first is at work before the second asks"
        tabs[1].get_by_role("button", name="Stop").click()
        tabs[1].locator(".tr-status", has_text="Stopped").wait_for()
        tabs[2].locator(".tr-status", has_text="You are next in the queue").wait_for()
        gate.set()
        for tab in (tabs[0], tabs[2]):
            shows(tab, translator("The cat.").text)
        tabs[1].wait_for_timeout(300)
        assert not read_out(tabs[1]) and tabs[1].locator(".tr").get_attribute("data-busy") == "false"


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
