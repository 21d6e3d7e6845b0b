"""What the page shows is about the model and the translation that it shows, to the token."""

from .conftest import settled, type_in

MARRIED = "I don't think they're married."
MADE = "I tried to install a new browser."  # its translation has other tokens than the tokenizer cuts it into


def choose_model(tab, name):
    tab.get_by_role("button", name="Model:").click()
    tab.get_by_role("menuitemradio", name=name).click()
    tab.wait_for_function("name => document.querySelector('.model').innerText.includes(name)", arg=name)
    settled(tab)


def open_tool(tab, question):
    tab.get_by_role("button", name=question).click()
    tab.wait_for_function("() => !document.querySelector('.drawer').innerText.includes('Computing')")


def close(tab):
    tab.get_by_role("button", name="Close").click()


# --- watch it learn


def test_the_steps_and_the_curve_are_those_of_the_model_shown(tab):
    steps, curve = tab.locator(".when"), tab.locator(".track path").first
    assert "1,824 steps" in steps.inner_text()
    own = curve.get_attribute("d")
    tab.get_by_role("button", name="Watch it learn").click()
    tab.get_by_role("button", name="Pause").click()
    choose_model(tab, "everyday")
    assert "1,824" not in tab.locator(".learn").inner_text() and curve.count() == 0
    tab.get_by_role("button", name="Watch it learn").click()
    tab.get_by_role("button", name="Pause").click()
    tab.get_by_text("of 23,449").wait_for()
    assert curve.get_attribute("d") != own
    choose_model(tab, "storybook")
    assert "1,824 steps" in steps.inner_text() and curve.get_attribute("d") == own


def test_a_new_text_ends_the_replay(tab):
    tab.get_by_role("button", name="Watch it learn").click()
    tab.get_by_text("The model’s translation after").wait_for()
    type_in(tab, "Where is the station?")
    tab.wait_for_function("() => document.querySelector('.tgt')?.innerText.includes('gare')")
    for _ in range(8):  # two moments
        tab.wait_for_timeout(200)
        assert "gare" in tab.locator(".tgt").inner_text()
    assert tab.get_by_role("button", name="Watch it learn").is_visible()


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
    tab.get_by_role("button", name="Tokens").click()
    tab.locator("[data-head='cross.1.4']").first.click()
    most = tab.locator(".row.sel .c").get_attribute("aria-label").rpartition(": ")[2]
    open_tool(tab, "How is this row computed?")
    weights = tab.locator(".drawer tbody tr td:nth-last-child(2)").all_inner_texts()
    assert f"{100 * max(map(float, weights)):.0f}%" == most
    close(tab)
    open_tool(tab, "What would each layer write?")
    assert "installer" not in tab.locator(".drawer thead").inner_text(), "written as four tokens"
    close(tab)
    tab.get_by_role("button", name="Show:").click()
    tab.get_by_role("menuitemradio", name="Rollout").click()
    tab.get_by_text("Traced back").wait_for()
    for name, body in sent[2:]:
        asked = body.get("question", body)
        assert (name, asked["target_ids"], asked["given"]) == (name, ids, 1)


# --- heads off


def test_both_translations_of_heads_off_are_by_one_engine(tab):
    """Int8 and float32 weights translate this sentence differently with every head."""
    type_in(tab, MARRIED)
    settled(tab)
    shown = tab.locator(".tgt").inner_text()
    open_tool(tab, "What if this head were missing?")
    for head, verdict in (("decoder.0.0", "stays the same"), ("cross.0.0", "changes")):
        tab.locator(".drawer").get_by_role("button", name="All on").click()
        tab.locator(f".drawer [data-value='{head}']").click()
        tab.locator(".drawer .verdict", has_text=f"The translation {verdict}.").wait_for()
        whole, without = tab.locator(".drawer .res p[lang]").all_inner_texts()
        assert whole == "Je ne pense pas qu'elles sont mariées." != shown == "Je ne pense pas qu'ils sont mariés."
        assert (without == whole) == (verdict == "stays the same"), "effects are of the translation above"
    assert "which translate the text differently from above" in tab.locator(".drawer .res").inner_text()


def test_heads_off_keep_the_forced_beginning_and_the_beams(tab):
    tab.locator(".cand button", has_text="elle").click()
    tab.wait_for_function("() => document.querySelector('.tgt')?.innerText.includes('elle')")
    settled(tab)
    with tab.expect_request("**/v1/look") as sent:
        open_tool(tab, "What if this head were missing?")
        if not tab.locator(".drawer [aria-pressed=true]").count():
            tab.locator(".drawer [data-value='cross.0.0']").click()
    assert sent.value.post_data_json["prefix"].endswith("qu'elle")
    tab.locator(".drawer .verdict").wait_for()
    assert all("qu'elle" in one for one in tab.locator(".drawer .res p[lang]").all_inner_texts())


def test_the_heads_that_are_off_are_those_of_the_model(tab):
    open_tool(tab, "What if this head were missing?")
    tab.locator(".drawer").get_by_role("button", name="All on").click()
    close(tab)
    choose_model(tab, "everyday")
    open_tool(tab, "What if this head were missing?")
    tab.locator(".drawer [data-value='encoder.3.7']").click()
    tab.locator(".drawer .verdict").wait_for()
    close(tab)
    choose_model(tab, "storybook")
    open_tool(tab, "What if this head were missing?")
    assert "Choose a head to switch off" in tab.locator(".drawer").inner_text()


# --- roles


def test_a_supervised_head_is_marked(tab):
    """In its name; not only in a tooltip."""
    choose_model(tab, "everyday")
    tab.locator("[data-head='cross.0.0']").first.click()
    assert tab.locator(".eyebrow .badge.tone-blue").inner_text() == "word for word (supervised)"
    assert "word for word (supervised)" in tab.locator(".th[data-head='cross.0.0']").get_attribute("aria-label")
    tab.locator("[data-head='cross.1.4']").first.click()
    assert tab.locator(".eyebrow .badge.tone-blue").inner_text() == "word for word", "by itself"
    assert "(supervised)" not in tab.locator(".keys").inner_text(), "the colour is that of all such heads"
    choose_model(tab, "storybook")
    assert "supervised" not in tab.locator(".explore").inner_text()
