"""A link leads to the very translation, or the very map, that it was copied from, or is not given."""

import pytest
from serving import running
from translating import read_out, shows, write


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
