"""`seq2see.page(translator)`: the explorer where there is no `/v1`, under a plain `launch()`, and of any model."""

import contextlib

import pytest
import tiny
import torch

import seq2see
from seq2see import Seq2SeeConfig, Seq2SeeForConditionalGeneration, Translator
from .conftest import settled

pytestmark = pytest.mark.browser


@pytest.fixture
def alone():
    """Opens the page of a translator under a plain `launch()`."""
    with contextlib.ExitStack() as stack:
        def launched(translator):
            blocks = seq2see.page(translator)
            stack.callback(blocks.close)
            return blocks.launch(prevent_thread_lock=True, quiet=True)[1]

        yield launched


def test_a_model_without_measured_roles_is_explored_through_gradio_alone(open_tab, alone):
    """As a published one is: no roles, no calibration, nothing said of its languages."""
    marian = Translator(*tiny.published_marian(), name="marian")
    tab, asked = open_tab(alone(marian)), []
    tab.on("request", lambda request: request.method == "POST" and asked.append(request.url))
    if not tab.locator(".field").count():
        tab.get_by_role("button", name="Edit").click()
    tab.locator(".field").fill("The cat did not cross.")
    tab.locator(".field").press("Enter")
    settled(tab)
    assert tab.locator(".tgt").inner_text().strip() == marian("The cat did not cross.").text.strip()
    assert tab.locator(".inwords button").count() == 2 * (2 + 3 + 3), "all heads by words first, where no role is known"
    assert tab.locator(".badge.tone-blue, .badge.tone-green, .pip").count() == 0
    assert tab.locator(".pairs").is_hidden()
    assert asked and all("/gradio_api/run/ask" in url for url in asked)


def test_six_layers_of_eight_heads(open_tab, alone):
    _, tokenizer = tiny.seq2see()
    torch.manual_seed(0)
    model = Seq2SeeForConditionalGeneration(Seq2SeeConfig(
        vocab_size=len(tokenizer), d_model=32, encoder_layers=6, decoder_layers=6, encoder_attention_heads=8,
        decoder_attention_heads=8, encoder_ffn_dim=32, decoder_ffn_dim=32, max_position_embeddings=64,
        language_pairs=[["en", "fr"]]))
    tab = open_tab(alone(Translator(tiny.spread_out(model), tokenizer, name="large")))
    tab.get_by_role("grid").wait_for()
    assert "All 144 attention heads" in tab.locator(".heads h2").inner_text()
    tab.get_by_role("button", name="Maps").click()
    assert tab.locator(".dense .th canvas").count() == 144
    tab.locator(".th").nth(100).click()
    assert "layer 1, head 5" in tab.locator(".eyebrow").inner_text()
    assert tab.evaluate("document.documentElement.scrollWidth") <= 1440
