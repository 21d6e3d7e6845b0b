"""What a visitor types stays on the machine, and does not outlive the visit."""

import gc
import os
import re
import tempfile
import time
from pathlib import Path

import pytest

SECRET = re.compile(r"Zqxv\d{6}")  # made in the browser, so that only what came from there can hold it


def held():
    """Containers of this process, in which the server is, that hold the secret."""
    gc.collect()
    found = []
    for one in gc.get_objects():
        values = list(one.values()) if type(one) is dict else one if type(one) in (list, tuple, set) else ()
        found += [type(one).__name__ for value in values if type(value) is str and SECRET.search(value)]
    return found


@pytest.fixture
def visited(browser, server, monkeypatch):
    """A whole visit, with what the browser asked for and kept; it is over when the test begins."""
    context = browser.new_context()
    tab = context.new_page()
    asked = []
    tab.on("request", lambda request: asked.append(request.url))
    tab.goto(server.url)
    tab.locator("textarea.tr-text").wait_for()
    tab.evaluate("""() => {
        const text = document.querySelector('textarea.tr-text');
        text.value = 'The Zqxv' + Math.floor(100000 + Math.random() * 899999) + ' did not cross.';
        text.dispatchEvent(new Event('input'));
        document.querySelector('#translate').click();
    }""")
    tab.wait_for_function("""() => document.querySelector('.tr-caption').textContent.startsWith('Point')""")
    for name in ("Look", "Learn", "Translate"):
        tab.get_by_role("tab", name=name).click()
        tab.wait_for_timeout(300)
    kept = tab.evaluate("""async () => JSON.stringify([{...localStorage}, {...sessionStorage}, document.cookie,
        await indexedDB.databases(), await caches.keys(), history.state, location.href])""")
    context.close()
    return asked, kept


def test_nothing_leaves_the_machine_and_nothing_is_kept(visited, server, capfd):
    asked, kept = visited
    assert [url for url in asked if not url.startswith((f"{server.url}/", "data:", "blob:"))] == []
    assert not SECRET.search(kept)
    deadline = time.monotonic() + 60
    while (left := held()) and time.monotonic() < deadline:
        time.sleep(1)
    assert left == []
    assert not SECRET.search("".join(capfd.readouterr()))
    for folder in (Path(tempfile.gettempdir()) / "gradio", Path(os.environ.get("GRADIO_TEMP_DIR", "/nowhere"))):
        files = [path for path in folder.rglob("*") if path.is_file()] if folder.is_dir() else []
        assert not [path for path in files if SECRET.search(path.read_text("utf-8", "ignore"))]
