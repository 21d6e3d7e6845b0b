"""What a visitor types stays on the machine, and is neither saved nor logged."""

import random
import tempfile
from pathlib import Path

from .conftest import open_tool, settled, type_in

KEPT = """async () => JSON.stringify([{...localStorage}, {...sessionStorage}, document.cookie,
    await indexedDB.databases(), await caches.keys(), location.href])"""


def test_nothing_leaves_the_machine_and_nothing_is_saved_or_logged(open_tab, packaged, capfd):
    """A request to elsewhere fails any test that opens a tab.  Only the tab itself knows its text, for a reload."""
    secret = "Zqxv" + "".join(random.choices("abcdefgh", k=8))  # letters: a number may be read as another one
    tab = open_tab(packaged.url)
    settled(tab)
    type_in(tab, f"The {secret} did not cross.")
    settled(tab)
    assert secret in tab.locator(".mirror").inner_text()
    open_tool(tab, "What each layer would write")
    tab.get_by_text("after layer 1").first.wait_for()
    tab.wait_for_function("secret => JSON.stringify(history.state).includes(secret)", arg=secret)
    assert secret not in tab.evaluate(KEPT)
    beside = tab.context.new_page()
    beside.goto(packaged.url)
    settled(beside)
    assert secret not in beside.content() and secret not in beside.evaluate("JSON.stringify(history.state)")
    assert secret not in "".join(capfd.readouterr())
    files = [path for path in (Path(tempfile.gettempdir()) / "gradio").rglob("*") if path.is_file()]
    assert not [path for path in files if secret in path.read_text("utf-8", "ignore")]
