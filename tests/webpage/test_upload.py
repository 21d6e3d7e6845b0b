"""Files that are dropped on the page, or chosen there."""

import pytest
from accessibility import violations
from serving import Stub, running

from seq2see.webpage_data.one_file import settings_of
from .conftest import settled

DROP = """([name, text, count]) => {
    const dataTransfer = new DataTransfer();
    for (let i = 0; i < count; i++) dataTransfer.items.add(new File([text], name));
    for (const type of ["dragover", "drop"]) {
        document.querySelector(".work, .texts").dispatchEvent(
            new DragEvent(type, { dataTransfer, bubbles: true, cancelable: true }));
    }
}"""


@pytest.fixture(scope="module")
def small(translator):
    with running({"tiny": lambda: translator}, page=True, file_bytes=500, download_seconds=600) as server:
        yield server.url


def says(tab, text):
    tab.locator(".upload .sent", has_text=text).wait_for()
    assert tab.locator(".upload .sent").get_attribute("role") == "status"


def test_with_the_keyboard_a_file_is_chosen_translated_and_saved(open_tab, small, translator):
    text = "The cat did not cross.\n"
    letter = {"name": "lettre d'été.txt", "mimeType": "text/plain", "buffer": text.encode()}
    tab = open_tab(small)
    tab.on("filechooser", lambda chooser: chooser.set_files(letter))  # early: it takes a moment
    settled(tab)
    tab.locator("[data-menu=more]").focus()
    tab.keyboard.press("Enter")
    tab.get_by_role("menuitem", name="Translate a file").press("Enter")
    box = tab.get_by_role("dialog", name="Translate a file")
    assert "Into French, as chosen beside the text." in box.inner_text()
    assert not violations(tab, context=".upload")
    tab.keyboard.press("Enter")
    says(tab, "lettre d'été.txt is translated.")
    with tab.expect_download() as saved:
        tab.keyboard.press("Enter")  # the link has the focus
    assert saved.value.suggested_filename == "lettre d'été.fr.txt"
    assert saved.value.path().read_text("utf-8") == translator(text, target="fr").text
    assert not violations(tab, context=".upload")
    for name, data, told in (
        ("a.xyz", b"x", "a.xyz: Seq2See cannot translate this format. Choose one of txt"),
        ("a.txt", b"\xff", "a.txt is not UTF-8 (byte 1)"),
        ("a.txt", b"x" * 501, "a.txt is 1 kB long. The limit is 1 kB."),
    ):
        tab.locator(".upload input").first.set_input_files({"name": name, "mimeType": "", "buffer": data})
        says(tab, told.replace(" kB", "\u00a0kB"))
    assert not tab.locator(".upload .report").inner_text()
    tab.keyboard.press("Escape")
    assert box.is_hidden() and tab.evaluate("document.activeElement.dataset.k") == "more"


def test_a_glossary_is_chosen_and_the_texts_are_shown_with_their_doubts(open_tab, small, translator):
    tab = open_tab(small)
    settled(tab)
    tab.evaluate(DROP, ["a.md", "The **cat** did not.\n\n[The zebra](x) did.\n", 1])
    says(tab, "a.md is translated.")
    report = tab.locator(".upload .report")
    assert tab.locator(".upload .report li").first.inner_text().split("\n") == [
        "The cat did not.", translator("The cat did not.", target="fr").text]
    assert not report.get_by_text("zebra", exact=False).nth(1).is_visible()
    report.get_by_text("are doubtful").press("Enter")
    assert "words not seen in training, so their translation is a guess: zebra" in report.inner_text()
    assert not violations(tab, context=".upload")
    glossary = {"name": "terms.tsv", "mimeType": "", "buffer": b"zebra\tsou"}
    tab.on("filechooser", lambda chooser: chooser.set_files(glossary))
    tab.get_by_role("button", name="Choose a glossary").press("Enter")
    tab.locator(".upload").get_by_text("Glossary: terms.tsv").wait_for()
    tab.evaluate(DROP, ["a.txt", "The zebra did.", 1])
    says(tab, "a.txt is translated.")
    assert "sou" in tab.locator(".upload .report li").first.inner_text().casefold()
    glossary["buffer"] = b"zebra"
    tab.locator(".upload input").nth(1).set_input_files(glossary)
    tab.evaluate(DROP, ["a.txt", "The zebra did.", 1])
    says(tab, "terms.tsv, row 1: no TAB: expected source TAB target")
    assert not violations(tab, context=".upload") and not report.inner_text()
    tab.locator(".upload").get_by_role("button", name="Remove").press("Enter")
    assert tab.evaluate("document.activeElement.dataset.k") == "glossary"
    tab.evaluate(DROP, ["a.txt", "The zebra did.", 1])
    says(tab, "a.txt is translated.")


def test_on_a_phone_a_file_is_dropped_anywhere_and_can_be_cancelled(open_tab):
    stub = Stub(pairs=[("en", "de")])
    with running({"stub": lambda: stub}, page=True) as server:
        tab = open_tab(server.url, viewport={"width": 320, "height": 640}, color_scheme="dark")
        tab.keyboard.press("Escape")
        tab.evaluate(DROP, ["a.txt", "hold", 1])
        says(tab, "Translating a.txt…")
        assert not violations(tab, context=".upload")
        box = tab.locator(".upload").bounding_box()
        assert box["x"] >= 0 and box["x"] + box["width"] <= 320 == tab.evaluate("document.documentElement.scrollWidth")
        tab.locator(".upload").get_by_role("button", name="Cancel").click()
        assert tab.locator(".upload .sent").inner_text() == ""
        stub.gate.set()
        tab.evaluate(DROP, ["a.txt", "x", 2])
        says(tab, "Choose one file at a time.")
        tab.evaluate(DROP, ["a.txt", "x", 1])
        says(tab, "a.txt is translated.")
        tab.locator(".upload").get_by_role("button", name="Close").click()
        tab.get_by_role("link", name="Learn", exact=True).click()
        assert tab.locator(".upload").is_hidden()
        served = tab.content()
    assert '"files"' in served


@pytest.mark.long
def test_a_link_to_a_deleted_file_goes(open_tab, translator):
    with running({"tiny": lambda: translator}, page=True, download_seconds=1) as server:
        tab = open_tab(server.url)
        settled(tab)
        tab.evaluate(DROP, ["a.txt", "The cat.", 1])
        says(tab, "The server has deleted the translation of a.txt. Choose the file again.")
        assert not tab.locator("[data-k=save]").count()


def test_a_page_without_a_server_takes_no_files(translator):
    assert "files" not in settings_of(translator, list(translator.language_pairs))
