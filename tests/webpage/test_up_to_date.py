"""What the page shows is about the model and the translation that it shows, to the token."""

from .conftest import open_tool, settled, to_see, type_in

BACKING = "With your backing, madam, we can proceed next week."
MADE = "I tried to install a new browser."  # its translation has other tokens than the tokenizer cuts it into


def choose_model(tab, name):
    tab.get_by_role("button", name="Model:").click()
    tab.get_by_role("menuitemradio", name=name).click()
    tab.wait_for_function("name => document.querySelector('.model').innerText.includes(name)", arg=name)
    settled(tab)


# --- watch it learn


def test_the_steps_and_the_curve_are_those_of_the_model_shown(tab):
    steps, curve = tab.locator(".when"), tab.locator(".track path").first
    open_tool(tab, "Watch it learn")
    assert "1,824 steps" in steps.inner_text()
    own = curve.get_attribute("d")
    tab.get_by_role("button", name="Watch it learn").click()
    tab.get_by_role("button", name="Pause").dispatch_event("click")  # it is redrawn all the time
    choose_model(tab, "everyday")
    assert "1,824" not in tab.locator(".learn").inner_text() and curve.count() == 0
    tab.get_by_role("button", name="Watch it learn").click()
    tab.get_by_role("button", name="Pause").dispatch_event("click")  # it is redrawn all the time
    tab.get_by_text("of 14,000").wait_for()
    assert curve.get_attribute("d") != own
    choose_model(tab, "storybook")
    assert "1,824 steps" in steps.inner_text() and curve.get_attribute("d") == own


def test_a_new_text_ends_the_replay(tab):
    open_tool(tab, "Watch it learn")
    tab.get_by_role("button", name="Watch it learn").click()
    tab.get_by_text("The model’s translation after").wait_for()
    to_see(tab)
    type_in(tab, "Where is the station?")
    tab.wait_for_function("() => document.querySelector('.tgt')?.innerText.includes('gare')")
    for _ in range(8):  # two moments
        tab.wait_for_timeout(200)
        assert "gare" in tab.locator(".tgt").inner_text()
    open_tool(tab, "Watch it learn")
    tab.get_by_role("button", name="Watch it learn").wait_for()


# --- the translation shown


def test_what_is_asked_about_a_translation_names_its_tokens(tab):
    """The numbers of a row are those of its map, and the text is not translated again."""
    sent = []
    tab.on("request", lambda one: "/v1/" in one.url and sent.append((one.url.rpartition("/")[2], one.post_data_json)))
    type_in(tab, MADE)
    settled(tab)
    assert [name for name, _ in sent] == ["translate", "look", "look"], "the last one is for the evidence"
    ids = sent[-1][1]["target_ids"]
    tab.locator(".tgt .w", has_text="installer").click()
    open_tool(tab, "All maps")
    tab.get_by_role("button", name="Tokens").click()
    tab.locator(".lab [data-head='cross.1.4']").first.click()
    most = tab.locator(".lab .row.sel .c").get_attribute("aria-label").rpartition(": ")[2]
    open_tool(tab, "One row, computed")
    tab.locator(".bench tbody td").first.wait_for()
    weights = tab.locator(".bench tbody tr td:nth-last-child(2)").all_inner_texts()
    assert f"{100 * max(map(float, weights)):.0f}%" == most
    open_tool(tab, "What each layer would write")
    assert "installer" not in tab.locator(".bench thead").inner_text(), "written as four tokens"
    open_tool(tab, "All maps")
    tab.get_by_role("button", name="Show:").click()
    tab.get_by_role("menuitemradio", name="Rollout").click()
    tab.get_by_text("Traced back").wait_for()
    for name, body in sent[2:]:
        asked = body.get("question", body)
        assert (name, asked["target_ids"], asked["given"]) == (name, ids, 1)


# --- heads off


def test_both_translations_of_heads_off_are_by_one_engine(tab):
    """Int8 and float32 weights translate this sentence differently with every head."""
    type_in(tab, BACKING)
    settled(tab)
    shown = tab.locator(".tgt").inner_text()
    open_tool(tab, "Head off")
    for head, verdict in (("encoder.0.3", "stays the same"), ("cross.0.0", "changes")):
        tab.locator(".bench").get_by_role("button", name="All on").click()
        tab.locator(f".bench [data-value='{head}']").click()
        tab.locator(".bench .verdict", has_text=f"The translation {verdict}.").wait_for()
        whole, without = tab.locator(".bench .res p[lang]").all_inner_texts()
        assert "continuer la semaine" in whole and "poursuivre la semaine" in shown
        assert (without == whole) == (verdict == "stays the same"), "effects are of the translation above"
    assert "which translate the text differently from above" in tab.locator(".bench .res").inner_text()


def test_heads_off_keep_the_forced_beginning_and_the_beams(tab):
    tab.locator(".tgt .w.sel").click()
    tab.get_by_role("menuitemradio", name="elle").click()
    tab.wait_for_function("() => document.querySelector('.tgt')?.innerText.includes('elle')")
    settled(tab)
    with tab.expect_request("**/v1/look") as sent:
        open_tool(tab, "Head off")
        if not tab.locator(".bench .sw [aria-pressed=true]").count():
            tab.locator(".bench [data-value='cross.0.0']").click()
    assert sent.value.post_data_json["prefix"].endswith("qu'elle")
    tab.locator(".bench .verdict").wait_for()
    assert all("qu'elle" in one for one in tab.locator(".bench .res p[lang]").all_inner_texts())


def test_the_heads_that_are_off_are_those_of_the_model(tab):
    open_tool(tab, "Head off")
    tab.locator(".bench").get_by_role("button", name="All on").click()
    choose_model(tab, "everyday")
    open_tool(tab, "Head off")
    tab.locator(".bench [data-value='encoder.3.7']").click()
    tab.locator(".bench .verdict").wait_for()
    choose_model(tab, "storybook")
    open_tool(tab, "Head off")
    assert "Choose a head to switch off" in tab.locator(".bench").inner_text()


# --- roles


def test_a_supervised_head_is_marked(tab):
    """In its name; not only in a tooltip."""
    choose_model(tab, "everyday")
    open_tool(tab, "All maps")
    tab.locator(".lab [data-head='cross.0.0']").first.click()
    assert tab.locator(".lab .eyebrow .badge.tone-blue").inner_text() == "word for word (supervised)"
    assert "word for word (supervised)" in tab.locator(".lab .th[data-head='cross.0.0']").get_attribute("aria-label")
    tab.locator(".lab [data-head='cross.1.4']").first.click()
    assert tab.locator(".lab .eyebrow .badge.tone-blue").inner_text() == "word for word", "by itself"
    assert "(supervised)" not in tab.locator(".keys").inner_text(), "the colour is that of all such heads"
    choose_model(tab, "storybook")
    assert "supervised" not in tab.locator(".lab").inner_text()
