"""How long do readers of the explorer as a file wait?  Wall-clock time, in headless Chromium, from the disk.

    taskset -c 0 python benchmarks/web_page.py            storybook and everyday: five visits, forty sentences
    taskset -c 0 python benchmarks/web_page.py --quick    one visit, three sentences

*opened*: from opening the file until the first sentence is translated and all its maps are drawn.  Then, with greedy
search as a link asks for it (`?num_beams=1`), a sentence of ten words is typed: *maps*, from its last key until the
translation and all maps are drawn, without the 0.4 s for which the page waits for another key.  *a head off*: from a
click in the lab until the translation without another head is there.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections import defaultdict
from pathlib import Path
from typing import Any

from _frame import arguments, centiles, end, sentences, show
from page import LIBRARY, TYPE

REST = 500  # ms
WANTED = {("storybook", "opened"): 1000, ("storybook", "maps"): 100, ("everyday", "maps"): 500,
          ("storybook", "a head off"): 150, ("everyday", "a head off"): 150}
LAB = "timed(() => part('.bench .sw'), () => { location.hash = 'lab-off'; })"
OFF = """share => timed(() => part(".bench .verdict"), () => {
  part(".bench [data-do=off-all][data-value='']").click();
  const heads = parts(".bench [data-do=off]");
  heads[Math.floor(share * heads.length)].click();
})"""


def visit(browser: Any, address: str, texts: list[str]) -> dict[str, list[float]]:
    """Milliseconds of what a reader does."""
    context = browser.new_context(viewport={"width": 1440, "height": 900}, offline=True)
    tab, found = context.new_page(), defaultdict[str, list[float]](list)
    tab.set_default_timeout(180_000)
    tab.add_init_script(LIBRARY)
    tab.goto(address, wait_until="commit")
    found["opened"].append(tab.evaluate("timed(mapped).then(() => performance.now())"))
    tab.goto(f"{address}?num_beams=1")
    tab.evaluate("timed(complete)")
    for text in texts:
        found["maps"].append(tab.evaluate(TYPE, text)["maps"] - REST)
    tab.evaluate(LAB)
    for number, _ in enumerate(texts):
        found["a head off"].append(tab.evaluate(OFF, number * 0.618 % 1))  # spread over the heads
    context.close()
    return found


def main() -> None:
    args = arguments(__doc__).parse_args()
    visits, many = (1, 3) if args.quick else (5, 8)
    texts = list(dict.fromkeys(text for text in sentences(None) if len(text.split()) == 10))
    program = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    rows: list[dict[str, Any]] = []
    if program is None:
        print("Chromium not found: nothing to measure", file=sys.stderr)
    else:
        from playwright.sync_api import sync_playwright

        from seq2see.cli.command import main as seq2see

        with sync_playwright() as playwright, tempfile.TemporaryDirectory() as folder:
            browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
            for name in ("storybook", "everyday"):
                path, found = Path(folder, f"{name}.html"), defaultdict[str, list[float]](list)
                seq2see(["export", name, "--format", "web", "--out", str(path)])
                for number in range(visits):
                    some = texts[number * many : (number + 1) * many]
                    for what, times in visit(browser, path.as_uri(), some).items():
                        found[what] += times
                rows += [{"model": name, "name": what, **centiles(times), "unit": "ms",
                          "wanted": WANTED.get((name, what))} for what, times in found.items()]
            browser.close()
    show(rows)
    end("web_page", rows)


if __name__ == "__main__":
    main()
