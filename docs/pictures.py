"""Takes the pictures of the page in docs/ anew.

    python docs/pictures.py RUN     RUN: the built-in model, runs/storybook by default; it needs Chromium

Of RUN the page shows what `seq2see align RUN --trust` and `seq2see heads RUN` have found, if they came before.  Look is
shown at the head of cross-attention that looks most at *tired* in the step which writes *il*.  The page of a model that
learns is taken from `seq2see demo` with nothing trained yet, which takes some minutes more.
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
from urllib.parse import urlencode

from PIL import Image
from playwright.sync_api import Browser, Page, sync_playwright

from seq2see import Translator

DOCS = Path(__file__).resolve().parent
SENTENCE = "The cat did not cross the street because it was too tired."


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


def head_for_tired(run: str) -> tuple[int, int]:
    """Layer and head."""
    translator = Translator.from_pretrained(run, engine="torch")
    [trace] = translator.look(translator(SENTENCE, source="en", target="fr"))
    row = [piece.text for piece in trace.target].index("il")
    column = [piece.text for piece in trace.source].index("tired")
    weights = trace.maps("cross", "raw")[:, :, row, column]
    layer, head = divmod(int(weights.argmax()), weights.shape[1])
    print(f"cross-attention, layer {layer}, head {head}: {weights.max():.2f} on tired")
    return layer, head


@contextlib.contextmanager
def opened(browser: Browser, url: str, *, width: int, scheme: str, height: int = 900) -> Iterator[Page]:
    tab = browser.new_page(viewport={"width": width, "height": height}, color_scheme=scheme)
    tab.set_default_timeout(60_000)
    tab.goto(url)
    tab.locator("textarea.tr-text:not([disabled])").wait_for(state="attached")
    yield tab
    tab.close()


def keep(tab: Page, name: str, *, whole: bool = True) -> None:
    with Image.open(io.BytesIO(tab.screenshot(full_page=whole))) as picture:
        few = picture.convert("RGB").quantize(256, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE)
        few.save(DOCS / name, optimize=True)  # a third of the size; no colour is off by more than some eight levels
        print(f"docs/{name}: {picture.width} x {picture.height}, {(DOCS / name).stat().st_size / 1000:.0f} kB")


def translate_tab(browser: Browser, url: str, *, width: int, scheme: str) -> None:
    """One word of a sentence changed."""
    with opened(browser, url, width=width, scheme=scheme) as tab:
        for word in ("chased", "fled from"):
            tab.get_by_role("button", name=word, exact=True).click()
            tab.wait_for_function("""() => /^Point/.test(document.querySelector('.tr-caption').textContent)
                && document.querySelector('.tr').dataset.busy === 'false'
                && !document.querySelector('.ow-result').hidden""")
        tab.wait_for_timeout(500)
        keep(tab, f"translate-{width}-{scheme}.png")


def look_tab(browser: Browser, url: str, head: tuple[int, int], *, width: int, scheme: str, first: bool) -> None:
    """The map of that head, at the step that writes *il*; `first` is also kept as the first picture of README."""
    link = urlencode({"text": SENTENCE, "from": "en", "to": "fr", "look": ",".join(["cross", *map(str, head)])})
    with opened(browser, f"{url}?{link}", width=width, scheme=scheme, height=1180) as tab:
        tab.locator(".s2s-scroll canvas").wait_for()
        tab.locator(".s2s-piece", has_text=re.compile("^il")).click()
        tab.wait_for_timeout(1_000)
        keep(tab, f"look-{width}-{scheme}.png")
        if first:
            keep(tab, "page.png", whole=False)


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
        keep(tab, "learning.png", whole=False)
        tab.close()
    shutil.rmtree(run[1], ignore_errors=True)


def main() -> None:
    run = (*sys.argv[1:], "runs/storybook")[0]
    program = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if program is None:
        sys.exit("there is no Chromium to take pictures with: install it")
    head = head_for_tired(run)
    with served("serve", run, "--port", "0") as url, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        for width in (1440, 768, 390):
            for scheme in ("light", "dark"):
                translate_tab(browser, url, width=width, scheme=scheme)
        for width, scheme in ((1440, "light"), (1440, "dark"), (390, "light")):
            look_tab(browser, url, head, width=width, scheme=scheme, first=(width, scheme) == (1440, "light"))
        learning_page(browser)
        browser.close()


if __name__ == "__main__":
    main()
