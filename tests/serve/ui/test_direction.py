"""Texts that run from right to left: a Hebrew translation of English, and an English one of Arabic."""

import pytest
import tiny

from seq2see import Translator
from seq2see.lens.explorer import script, to_html

pytestmark = pytest.mark.browser

HEBREW, ARABIC = "החתול לא חצה את הרחוב.", "القطة نامت في البيت."
ENGLISH = tiny.SENTENCES[0]
RIGHT_TO_LEFT = ["ar", "he", "iw", "fa", "ur", "ckb", "arb_Arab", "he_IL", "az-Arab"]
LEFT_TO_RIGHT = ["en", "fr", "zh", "ku", "ha", "az", "fra_Latn"]


@pytest.fixture(scope="module")
def translator():
    import torch
    from transformers import MarianConfig, MarianMTModel

    torch.manual_seed(0)
    tokenizer = tiny.foreign_tokenizer([*tiny.SENTENCES, HEBREW, ARABIC], pieces=240)
    model = MarianMTModel(MarianConfig(
        vocab_size=len(tokenizer), d_model=16, encoder_layers=2, decoder_layers=2, encoder_attention_heads=2,
        decoder_attention_heads=2, encoder_ffn_dim=32, decoder_ffn_dim=32, max_position_embeddings=64, pad_token_id=0,
        bos_token_id=1, eos_token_id=2, decoder_start_token_id=0))
    return Translator(tiny.spread_out(model), tokenizer, name="tiny")


@pytest.fixture
def opened(browser, translator):
    """Opens the page of one translation; the model does not say its languages, so that the texts must."""
    tabs = []

    def opened(source, target):
        tab = browser.new_page(viewport={"width": 1440, "height": 900})
        tabs.append(tab)
        tab.on("pageerror", lambda error: pytest.fail(str(error)))
        tab.set_content(to_html(translator.look_at(source, target)))
        tab.get_by_role("grid").wait_for()
        return tab

    yield opened
    for tab in tabs:
        tab.close()


def places(tab, selector):
    """The left edges of elements, in the order of the document."""
    return tab.locator(selector).evaluate_all("all => all.map((one) => one.getBoundingClientRect().left)")


def test_the_direction_of_a_language_is_that_of_its_script(browser):
    tab = browser.new_page()
    ask = f"(codes) => {{ {script()} return codes.map(s2s_languages.directionOf); }}"
    assert tab.evaluate(ask, RIGHT_TO_LEFT) == ["rtl"] * len(RIGHT_TO_LEFT)
    assert tab.evaluate(ask, LEFT_TO_RIGHT) == ["ltr"] * len(LEFT_TO_RIGHT)
    assert tab.evaluate(ask, ["", None, "no language"]) == ["auto"] * 3
    tab.close()


def test_a_translation_from_right_to_left(opened):
    tab = opened(ENGLISH, HEBREW)
    assert places(tab, ".src .w") == sorted(places(tab, ".src .w"))
    assert places(tab, ".tgt .w") == sorted(places(tab, ".tgt .w"), reverse=True)
    columns = places(tab, ".cols [data-column]")
    assert columns == sorted(columns), "the columns are of the English text"
    tab.locator('[data-head="decoder.0.0"].th, .inwords [data-head="decoder.0.0"]').first.click()
    columns = places(tab, ".cols [data-column]")
    assert columns == sorted(columns, reverse=True), "the columns are of the Hebrew text"
    assert "←" in tab.locator(".axis").inner_text()
    labels = tab.locator(".rl").first.bounding_box()["x"]
    assert labels > max(columns), "the labels of the rows stand where the text begins"


def test_arrow_keys_follow_the_eye(opened):
    tab = opened(ARABIC, ENGLISH)
    tab.get_by_role("grid").focus()
    tab.keyboard.press("Control+Home")
    first = tab.locator("#s2s-cell").bounding_box()["x"]
    tab.keyboard.press("ArrowLeft")
    assert tab.locator("#s2s-cell").bounding_box()["x"] < first
    word = tab.locator(".w[data-side=source]").first
    word.focus()
    tab.keyboard.press("ArrowLeft")
    moved = tab.evaluate("document.activeElement.getBoundingClientRect().left")
    assert moved < word.bounding_box()["x"]


def test_the_number_beside_a_word_in_the_lines_stays_on_its_right(opened):
    tab = opened(ARABIC, ENGLISH)
    tab.get_by_role("button", name="Lines", exact=True).first.click()
    text = tab.locator(".mapbox .lined text", has_text="%").first
    ends = text.evaluate("""(one) => [one.textContent.indexOf('%'), 1].map((i) => one.getExtentOfChar(i).x)""")
    assert ends[0] > ends[1]


def test_the_words_of_all_heads_are_joined_in_one_drawing(opened):
    tab = opened(ENGLISH, HEBREW)
    tab.locator(".heads").get_by_role("button", name="Lines", exact=True).click()
    assert tab.locator(".heads .lined").count() == 3
    drawn = tab.locator(".heads .lined").first
    words = tab.locator(".tgt .w").count() + 1  # and the end
    assert 0 < drawn.locator("path").count() <= 4 * words, "the strongest link of each head from each word, at most"
    drawn.locator("g").nth(2).click()
    assert drawn.locator("g.sel text").text_content() == tab.locator(".word .big").text_content()
