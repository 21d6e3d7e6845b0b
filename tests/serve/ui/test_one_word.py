"""Change one word: what it does to the translation and to the maps, and never of another search or model."""


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
