"""Takes the pictures of the page in docs/ again.

    python docs/pictures.py         it needs Chromium

The page is that of `seq2see demo`: the packaged models, with what was measured of them.  That of a model which learns
is taken from `seq2see demo --run` with nothing trained yet, which takes some minutes more.
"""

from __future__ import annotations

import contextlib
import io
import re
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path

from PIL import Image
from playwright.sync_api import Browser, Page, sync_playwright

DOCS = Path(__file__).resolve().parent


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
            yield f"{found[0]}/ui/"
        finally:
            process.terminate()


@contextlib.contextmanager
def opened(browser: Browser, url: str, *, width: int, height: int = 900, scheme: str = "light") -> Iterator[Page]:
    tab = browser.new_page(viewport={"width": width, "height": height}, color_scheme=scheme)
    tab.set_default_timeout(60_000)
    tab.goto(url)
    tab.locator(".s2s:not(.s2s-first) .grid2").wait_for()
    tab.wait_for_timeout(500)
    yield tab
    tab.close()


def keep(tab: Page, name: str, *, whole: bool = False) -> None:
    with Image.open(io.BytesIO(tab.screenshot(full_page=whole))) as picture:
        picture.convert("RGB").save(DOCS / name, optimize=True)
        print(f"docs/{name}: {picture.width} x {picture.height}, {(DOCS / name).stat().st_size / 1000:.0f} kB")


def first_view(browser: Browser, url: str) -> None:
    """The page as it opens; light at 1440 is also the first picture of README."""
    for width, scheme in ((1440, "light"), (1440, "dark"), (768, "light"), (390, "light"), (390, "dark")):
        with opened(browser, url, width=width, scheme=scheme) as tab:
            keep(tab, f"explore-{width}-{scheme}.png", whole=width < 1000)
            if (width, scheme) == (1440, "light"):
                keep(tab, "page.png")


def other_views(browser: Browser, url: str) -> None:
    """The other word of the pair, a head switched off, and the model as it learns."""
    with opened(browser, url, width=1440) as tab:
        tab.locator(".flip button", has_text="wide").click()
        tab.wait_for_function("document.querySelector('.tgt').innerText.includes('elle')")
        tab.locator(".needed").wait_for()
        tab.wait_for_timeout(3_000)  # changed words are marked for a moment
        keep(tab, "explore-wide.png")
        tab.get_by_role("button", name="What if this head were missing?").click()
        tab.locator(".verdict").wait_for()
        tab.mouse.move(1, 1)
        tab.wait_for_timeout(500)
        keep(tab, "explore-lab.png")
        tab.keyboard.press("Escape")
        tab.get_by_role("button", name="Watch it learn").click()
        tab.get_by_role("button", name="Pause").wait_for()
        tab.wait_for_function("Number((/Step (\\d+)/.exec(document.body.innerText) || [])[1]) > 120")
        tab.get_by_role("button", name="Pause").click()
        keep(tab, "explore-learning.png")


def learning_page(browser: Browser) -> None:
    """Two fifths of the way through the training of `seq2see demo`."""
    run = ("--run", f"{tempfile.mkdtemp()}/storybook")
    with served("demo", *run, "--no-browser") as url:
        tab = browser.new_page(viewport={"width": 1080, "height": 675})
        tab.goto(url)
        tab.wait_for_function("""() => {
            const [, step, steps] = /step ([\\d,]+) of ([\\d,]+)/.exec(document.body.innerText) || [0, '0', '1'];
            return 5 * parseInt(step.replace(',', '')) > 2 * parseInt(steps.replace(',', ''));
        }""", timeout=900_000)
        keep(tab, "learning.png")
        tab.close()
    shutil.rmtree(run[1], ignore_errors=True)


def main() -> None:
    program = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if program is None:
        sys.exit("there is no Chromium to take pictures with: install it")
    with served("demo", "--no-browser") as url, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        first_view(browser, url)
        other_views(browser, url)
        if "--quick" not in sys.argv:
            learning_page(browser)
        browser.close()


if __name__ == "__main__":
    main()
