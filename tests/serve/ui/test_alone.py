"""`seq2see.page(translator)`: the explorer where there is no `/v1`, under a plain `launch()`, and of any model."""

import contextlib

import pytest
import tiny

import seq2see
from seq2see import Translator
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
