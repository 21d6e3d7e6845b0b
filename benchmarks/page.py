"""How long do users of the page wait?  Wall-clock time, in headless Chromium, on the same cores as the server.

    python benchmarks/page.py RUN            RUN: a trained model, storybook by default; ten visits of forty clicks
    python benchmarks/page.py RUN --quick    two visits of six clicks
    python benchmarks/page.py RUN --text F   types sentences of this file instead of two of ten words

Each visit is a browser's first.  *explorer*: from the server's response until the maps are drawn and the page says
which words mattered; *first paint*: until anything is drawn.  Then a sentence of ten words is typed,
and from the last key, with the 0.4 s for which the page waits for another: *translation*, until it is shown; *maps*,
until every head is drawn; *words that mattered*, until
these are said.  *a cell*: from pointing at a row's first cell until it is marked.  *a head*: from a click on a head to
its map.  Each ends when the browser has drawn the result, at a frame of 16.7 ms; *work for* is the time for which the
page's main thread was busy with it, less the median of *the measurement alone*, of an action that changes nothing.
The first visit, in which the server loads torch, has rows of its own.
"""

from __future__ import annotations

import shutil
import statistics
import sys
from collections import defaultdict
from typing import Any

from _frame import arguments, centiles, end, is_trained, sentences, server, show

SENTENCES = ("The old man did not open the door this morning.", "The small dog saw the tired cat in the garden.")
WANTED = {"explorer": 700, "translation": 550, "maps": 900, "work for a cell": 16.7, "work for a head": 16.7}  # ms
# Actions on the page and the conditions that end their timing, two frames later.
LIBRARY = """
window.part = (name) => document.querySelector(`.s2s ${name}`);
window.parts = (name) => [...document.querySelectorAll(`.s2s ${name}`)];
window.timed = (done, act = () => {}) => new Promise((resolve, reject) => {
  const began = performance.now(), limit = began + 120000;
  act();
  const poll = () => {
    if (done()) requestAnimationFrame(() => setTimeout(() => resolve(performance.now() - began)));
    else if (performance.now() > limit) reject(new Error("nothing came"));
    else requestAnimationFrame(poll);
  };
  poll();
});
window.mapped = () => part(".tgt .w") && part(".grid2, .lined") && !part(".texts.working, .work.stale");
window.complete = () => mapped() && part(".s2s[data-busy='']");
"""
OPEN = "timed(complete).then(() => performance.now() - performance.getEntriesByType('navigation')[0].responseEnd)"
PAINTED = """performance.getEntriesByName('first-contentful-paint')[0].startTime
  - performance.getEntriesByType('navigation')[0].responseEnd"""
TYPE = """async (text) => {
  const before = part(".tgt").textContent, field = part(".texts textarea");
  const fresh = () => part(".tgt").textContent !== before && !part(".texts.working");
  const typed = () => { field.value = text; field.dispatchEvent(new Event("input", { bubbles: true })); };
  const translation = await timed(fresh, typed), maps = translation + await timed(() => fresh() && mapped());
  return { translation, maps, "words that mattered": maps + await timed(complete) };
}"""
NOTHING = "timed(() => true)"
POINT = """share => {
  const rows = parts(".see [data-row]"), row = rows[Math.floor(share * rows.length)];
  const clientX = row.querySelector(".rl").getBoundingClientRect().right + 5, target = row.querySelector(".cells");
  const event = new PointerEvent("pointermove", { bubbles: true, pointerType: "mouse", clientX });
  return timed(() => part("#s2s-cell")?.closest("[data-row]") === row, () => target.dispatchEvent(event));
}"""
CLICK = """share => {
  const heads = parts(".mini:not(.on)"), before = part(".pin").textContent;
  return timed(() => part(".pin").textContent !== before, () => heads[Math.floor(share * heads.length)].click());
}"""


def visit(browser: Any, url: str, text: str, *, clicks: int) -> dict[str, list[float]]:
    """Milliseconds of everything that a visitor does, once or repeatedly."""
    context = browser.new_context(viewport={"width": 1440, "height": 900})
    tab = context.new_page()
    tab.set_default_timeout(180_000)
    tab.add_init_script(LIBRARY)
    tab.goto(url, wait_until="commit")
    found = {"explorer": [tab.evaluate(OPEN)], "first paint": [tab.evaluate(PAINTED)]}
    found |= {name: [milliseconds] for name, milliseconds in tab.evaluate(TYPE, text).items()}
    devtools = context.new_cdp_session(tab)
    devtools.send("Performance.enable")

    def repeated(action: str) -> tuple[list[float], list[float]]:
        """How long each repetition of an action took, and for how long the main thread was busy with it."""
        took, busy = [], []
        for number in range(clicks):
            before = _busy(devtools)
            took.append(tab.evaluate(action, number * 0.618 % 1))  # spread over the page
            busy.append(_busy(devtools) - before)
        return took, busy

    _, found["the measurement alone"] = repeated(NOTHING)
    alone = statistics.median(found["the measurement alone"])
    for name, action in (("a cell", POINT), ("a head", CLICK)):
        found[name], busy = repeated(action)
        found[f"work for {name}"] = [one - alone for one in busy]
    context.close()
    return found


def _busy(devtools: Any) -> float:
    """Milliseconds that the page's main thread has worked."""
    [seconds] = [one["value"] for one in devtools.send("Performance.getMetrics")["metrics"]
                 if one["name"] == "TaskDuration"]
    return float(1000 * seconds)


def main() -> None:
    args = arguments(__doc__, run=True, text=True).parse_args()
    texts = sentences(args.text) if args.text else SENTENCES
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
                for name, times in visit(browser, url, texts[number % len(texts)], clicks=clicks).items():
                    found[name if number else f"first visit, {name}"] += times
            browser.close()
        rows = [{"name": name, **centiles(times), "unit": "ms", "wanted": WANTED.get(name)}
                for name, times in found.items()]
    show(rows)
    end("page", rows, run=args.run)


if __name__ == "__main__":
    main()
