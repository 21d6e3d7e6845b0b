"""Takes the pictures of the page in docs/ again.

    python docs/pictures.py         it needs Chromium

The page is that of `seq2see demo` with the packaged model storybook.  Each picture carries a mark of what the page
showed first (`mark`), so that tests/webpage/test_first_view.py finds those that are stale.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import re
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

from PIL import Image
from PIL.PngImagePlugin import PngInfo
from playwright.sync_api import Browser, Page, sync_playwright

BROWSERS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
DOCS = Path(__file__).resolve().parent
SHOWN = ".see :is(.mirror, .tgt, .say, .why, .eyebrow, .foot)"
SETTLED = """() => {
    const root = document.querySelector('.s2s'), shown = (name) => [...root?.querySelectorAll(name) ?? []]
        .some((one) => one.checkVisibility());
    return root?.dataset.busy === '' && shown('.grid2, .lined, .tooled') && !shown('.stale');
}"""


def mark(tab: Page) -> str:
    """Of what the page shows first: its words, labels, layers, heads and figures."""
    texts = tab.locator(f".s2s {SHOWN}").evaluate_all("all => all.map(one => one.textContent)")
    return hashlib.sha256("\n".join(texts).encode()).hexdigest()


@contextlib.contextmanager
def served(*command: str) -> Iterator[str]:
    """The address of the page that `seq2see` with this command serves."""
    whole = [sys.executable, "-m", "seq2see", *command]
    with subprocess.Popen(whole, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
        assert process.stdout is not None
        found = next(filter(None, (re.search(r"http://[\d.]+:\d+", line) for line in process.stdout)), None)
        if not found:
            raise RuntimeError(f"{' '.join(command)} ended and named no address")
        threading.Thread(target=process.stdout.read, daemon=True).start()  # or it would wait for a reader
        try:
            yield f"{found[0]}/"
        finally:
            process.terminate()


@contextlib.contextmanager
def page_of_storybook() -> Iterator[tuple[Browser, str]]:
    """A browser, and the address of the page."""
    program = next(filter(None, map(shutil.which, BROWSERS)), None)
    if program is None:
        sys.exit("there is no Chromium to take pictures with: install it")
    with served("demo", "--run", "storybook", "--no-browser") as url, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield browser, url
        browser.close()


@contextlib.contextmanager
def opened(browser: Browser, url: str, *, width: int, height: int) -> Iterator[Page]:
    tab = browser.new_page(viewport={"width": width, "height": height}, color_scheme="light")
    tab.set_default_timeout(120_000)
    tab.goto(url)
    tab.locator(".s2s .grid2").wait_for()
    tab.wait_for_function(SETTLED)
    tab.wait_for_timeout(500)
    yield tab
    tab.close()


def keep(tab: Page, name: str, shown: str) -> None:
    metadata = PngInfo()
    metadata.add_text("first view", shown)
    with Image.open(io.BytesIO(tab.screenshot())) as picture:
        picture.convert("RGB").save(DOCS / name, optimize=True, pnginfo=metadata)
        print(f"docs/{name}: {picture.width} x {picture.height}, {(DOCS / name).stat().st_size / 1000:.0f} kB")


def main() -> None:
    with page_of_storybook() as (browser, url), opened(browser, url, width=1440, height=900) as tab:
        first = mark(tab)
        keep(tab, "page.png", first)
        tab.get_by_role("radio", name="wide").click()
        tab.wait_for_function("() => document.querySelector('.why h2').innerText.includes('elle')")
        tab.wait_for_function(SETTLED)
        tab.mouse.move(1, 1)
        tab.wait_for_timeout(3_000)  # changed words are marked for a moment
        keep(tab, "page-wide.png", first)
        tab.get_by_role("link", name="Lab", exact=True).click()
        tab.wait_for_timeout(1_000)
        keep(tab, "page-lab.png", first)
        tab.locator(".rail").get_by_role("link", name="Watch it learn").click()
        tab.get_by_role("button", name="Watch it learn").click()
        tab.get_by_role("button", name="Pause").wait_for()
        tab.wait_for_function("() => Number((/Step (\\d+)/.exec(document.body.innerText) || [])[1]) > 120")
        tab.get_by_role("button", name="Pause").click()
        keep(tab, "page-learning.png", first)


if __name__ == "__main__":
    main()
