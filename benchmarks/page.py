"""How long do users of the page wait?  Wall-clock time, in headless Chromium, on the same cores as the server.

    python benchmarks/page.py RUN            RUN: a trained model, storybook by default; ten visits of forty clicks
    python benchmarks/page.py RUN --quick    two visits of six clicks

Each visit is a browser's first.  *explorer*: from opening the address until the maps are drawn and the page says which
words mattered.  Then a sentence of ten words is typed, and from the last key, with the 0.4 s for which the page waits
for another: *translation*, until it is shown; *maps*, until every head is drawn; *words that mattered*, until these are
said.  *a cell*: from pointing at a cell of the map until it is marked.  *a head*: from a click on a head to its map.
Each ends when the browser has drawn the result.  The first visit, in which the server loads torch, has rows of its own.
"""

from __future__ import annotations

import shutil
import sys
from collections import defaultdict
from typing import Any

from _frame import arguments, centiles, end, is_trained, server, show

SENTENCES = ("The old man did not open the door this morning.", "The small dog saw the tired cat in the garden.")
WANTED = {"translation": 1000, "a head": 200}  # ms
# Actions on the page and the conditions that end their timing, two frames later.
LIBRARY = """
window.part = (name) => document.querySelector(`.s2s:not(.s2s-first) ${name}`);
window.parts = (name) => [...document.querySelectorAll(`.s2s:not(.s2s-first) ${name}`)];
window.timed = (done, act = () => {}) => new Promise((resolve, reject) => {
  const began = performance.now(), limit = began + 120000;
  act();
  const look = () => {
    if (done()) requestAnimationFrame(() => setTimeout(() => resolve(performance.now() - began)));
    else if (performance.now() > limit) reject(new Error("nothing came"));
    else requestAnimationFrame(look);
  };
  look();
});
window.mapped = () => part(".tgt .w") && part(".grid2, .lined") && !part(".texts.working, .mapbox.stale");
window.complete = () => mapped() && part(".word .needed");
"""
OPEN = "timed(complete).then(() => performance.now())"  # since the address was opened
TYPE = """async (text) => {
  part("[data-do=edit]").click();
  const before = part(".tgt").textContent, field = part(".field");
  const fresh = () => part(".tgt").textContent !== before && !part(".texts.working");
  const typed = () => { field.value = text; field.dispatchEvent(new Event("input", { bubbles: true })); };
  const translation = await timed(fresh, typed), maps = translation + await timed(() => fresh() && mapped());
  return { translation, maps, "words that mattered": maps + await timed(complete) };
}"""
POINT = """share => {
  const cells = parts(".mapbox .c:not(.masked)"), cell = cells[Math.floor(share * cells.length)];
  const move = () => cell.dispatchEvent(new PointerEvent("pointermove", { bubbles: true, pointerType: "mouse" }));
  return timed(() => cell.id === "s2s-cell", move);
}"""
CLICK = """share => {
  const heads = parts(".heads [data-head]:not([aria-pressed=true])"), before = part(".eyebrow").textContent;
  return timed(() => part(".eyebrow").textContent !== before, () => heads[Math.floor(share * heads.length)].click());
}"""


def visit(browser: Any, url: str, text: str, *, clicks: int) -> dict[str, list[float]]:
    """Milliseconds of everything that a visitor does, once or repeatedly."""
    context = browser.new_context(viewport={"width": 1440, "height": 900})
    tab = context.new_page()
    tab.set_default_timeout(180_000)
    tab.add_init_script(LIBRARY)
    tab.goto(url, wait_until="commit")
    found = {"explorer": [tab.evaluate(OPEN)]}
    found |= {name: [milliseconds] for name, milliseconds in tab.evaluate(TYPE, text).items()}
    shares = [number * 0.618 % 1 for number in range(clicks)]  # spread over the page
    found |= {"a cell": [tab.evaluate(POINT, share) for share in shares],
              "a head": [tab.evaluate(CLICK, share) for share in shares]}  # fmt: skip
    context.close()
    return found


def main() -> None:
    args = arguments(__doc__, run=True).parse_args()
    visits, clicks = (2, 6) if args.quick else (10, 40)
    program = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    rows: list[dict[str, Any]] = []
    if program is None:
        print("Chromium not found: nothing to measure", file=sys.stderr)
    elif is_trained(args.run):
        from playwright.sync_api import sync_playwright

        found: dict[str, list[float]] = defaultdict(list)
        with sync_playwright() as playwright, server(args.run) as (url, _):
            browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
            for number in range(visits):
                for name, times in visit(browser, url, SENTENCES[number % 2], clicks=clicks).items():
                    found[name if number else f"first visit, {name}"] += times
            browser.close()
        rows = [{"name": name, **centiles(times), "unit": "ms", "wanted": WANTED.get(name)}
                for name, times in found.items()]  # fmt: skip
    show(rows)
    end("page", rows, run=args.run)


if __name__ == "__main__":
    main()
