"""Makes the moving picture of README and of the first page of the site: docs/seq2see.webp.

    python docs/animation.py        it needs Chromium

A sentence is typed and translated while it is typed, and words of the translation are pointed at; then one word of the
sentence changes: il becomes elle, and the same head looks at another noun; last the difference of the two maps.
"""

from __future__ import annotations

import io
import sys

from pictures import DOCS, SETTLED, mark, opened, page_of_storybook
from PIL import Image
from playwright.sync_api import Page

TARGET = DOCS / "seq2see.webp"
SENTENCE = "The cat did not cross the street because it was too tired."
LARGEST = 3_000_000  # bytes
SHOWN = (1024, 576)  # pixels, of a window of 1366 x 768


class Film:
    """Frames of a page, each with the milliseconds that it stays."""

    def __init__(self, tab: Page):
        self.tab = tab
        self.mark = mark(tab)
        self.frames: list[Image.Image] = []
        self.durations: list[int] = []

    def take(self, milliseconds: int) -> None:
        with Image.open(io.BytesIO(self.tab.screenshot())) as picture:
            self.frames.append(picture.convert("RGB").resize(SHOWN, Image.Resampling.LANCZOS))
        self.durations.append(milliseconds)

    def save(self) -> None:
        first, *rest = self.frames
        first.save(TARGET, save_all=True, append_images=rest, duration=self.durations, loop=0, quality=75, method=6,
                   minimize_size=True, xmp=self.mark.encode())
        size = TARGET.stat().st_size
        print(f"{TARGET}: {len(self.frames)} frames, {sum(self.durations) / 1000:.1f} s, {size / 1000:.0f} kB")
        if size > LARGEST:
            sys.exit(f"{TARGET} has more than {LARGEST} bytes: take fewer frames")


def act(film: Film) -> None:
    tab = film.tab
    field = tab.locator(".texts textarea")
    tab.get_by_role("button", name="Type your own").click()
    field.fill("")
    film.take(600)
    for start in range(0, len(SENTENCE), 3):
        field.press_sequentially(SENTENCE[start : start + 3])
        film.take(120)
    tab.wait_for_function("() => document.querySelector('.tgt').innerText.includes('fatigu')")
    tab.wait_for_function(SETTLED)
    tab.mouse.click(1, 1)
    tab.locator(".mini[data-head='decoder.1.0']").click()
    tab.mouse.move(1, 1)
    tab.wait_for_timeout(900)
    film.take(1_200)
    for word in ("chat", "traversé", "rue", "il"):
        tab.locator(".tgt .w", has_text=word).first.hover()
        tab.wait_for_timeout(250)
        film.take(700)
    tab.mouse.move(1, 1)
    film.take(1_200)
    wide = tab.get_by_role("radio", name="wide").first
    wide.hover()
    tab.wait_for_timeout(250)
    film.take(900)
    wide.click()
    tab.wait_for_function("() => document.querySelector('.tgt').innerText.includes('elle')")
    film.take(400)
    tab.wait_for_function(SETTLED)
    tab.mouse.move(1, 1)
    tab.wait_for_timeout(2_500)
    film.take(3_500)
    tab.get_by_role("radio", name="Difference").click()
    tab.mouse.move(1, 1)
    tab.wait_for_timeout(900)
    film.take(3_500)


def main() -> None:
    with page_of_storybook() as (browser, url), opened(browser, url, width=1366, height=768) as tab:
        film = Film(tab)
        act(film)
        film.save()


if __name__ == "__main__":
    main()
