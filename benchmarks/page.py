"""How long do users of the page wait?  Wall-clock time, in headless Chromium, on the same cores as the server.

    python benchmarks/page.py RUN            RUN: a trained model, storybook by default; 24 clicks each
    python benchmarks/page.py RUN --quick    six clicks each

*first translation*: from pressing Translate on a freshly opened page.  *thumbnails*: from opening Look until every map
is drawn, small and large; torch is already loaded, because words were linked.  *a click*: from a click on a thumbnail
to its large map.  *a cell*: from pointing at a cell to its value.  Each ends when the browser has drawn the result.
Then the last three with an untrained model of RUN's size, but 4 + 4 layers, and texts of 30 and 120 tokens with
translations of the same length.
"""

from __future__ import annotations

import argparse
import shutil
import statistics
import sys
import tempfile
from pathlib import Path
from typing import Any

from _frame import arguments, end, is_trained, show
from serving import server

SENTENCE = "The cat did not cross the street because it was too tired."
LENGTHS = (30, 120)  # tokens
# Actions on the page, and the conditions that end their timing, two frames later.
LIBRARY = """
window.timed = (act, done) => new Promise((resolve, reject) => {
  const began = performance.now(), end = began + 120000;
  act();
  const look = () => {
    if (done()) requestAnimationFrame(() => setTimeout(() => resolve(performance.now() - began)));
    else if (performance.now() > end) reject(new Error("nothing came"));
    else requestAnimationFrame(look);
  };
  look();
});
window.one = (selector) => document.querySelector(selector);
window.maps = () => [...document.querySelectorAll(".s2s-thumb")];
window.large = () => one(".s2s-scroll canvas");
"""
TRANSLATE = """text => timed(() => {
  one("textarea.tr-text").value = text;
  one("#translate").click();
}, () => one(".tr-out").textContent)"""
LINKED = "() => timed(() => {}, () => /^Point/.test(one('.tr-caption').textContent))"
LOOK = "() => timed(() => one('[role=tab][data-tab-id=look]').click(), () => maps().length && large().width > 300)"
CLICK = """number => timed(() => maps()[number].click(),
  () => one(".s2s-about b").textContent === maps()[number].title.split(".")[0])"""
CELL = """share => {
  const { left, top, width, height } = large().getBoundingClientRect(), before = one(".s2s-read").textContent;
  const at = { clientX: left + width * share, clientY: top + height * share, bubbles: true };
  return timed(() => large().dispatchEvent(new PointerEvent("pointermove", at)),
    () => one(".s2s-read").textContent !== before);
}"""


def untrained(run: Path, folder: Path, *, tokens: int) -> str:
    """Save a model of that run's size, except for its layers, whose translations have that many tokens; returns a text
    of that length."""
    import torch

    from seq2see.modeling import Seq2SeeConfig, Seq2SeeForConditionalGeneration
    from seq2see.tokenizer.tokenization_seq2see import Seq2SeeTokenizer

    tokenizer = Seq2SeeTokenizer.from_pretrained(run)
    torch.manual_seed(0)
    config = Seq2SeeConfig.from_pretrained(run, encoder_layers=4, decoder_layers=4)
    model = Seq2SeeForConditionalGeneration(config)
    model.generation_config.update(max_length=tokens + 1, num_beams=1, forced_bos_token_id=tokenizer.tag_id("fr"))
    for one in (model, tokenizer):
        one.save_pretrained(folder)
    words = SENTENCE.lower().strip(".").split() * tokens
    count = next(n for n in range(len(words)) if len(tokenizer.encode_source(" ".join(words[:n]))) >= tokens)
    return " ".join(words[:count])


def measure(tab: Any, url: str, text: str, *, clicks: int) -> dict[str, Any]:
    """Milliseconds, on a freshly opened page."""
    tab.goto(url)
    tab.locator("textarea.tr-text:not([disabled])").wait_for()
    tab.evaluate(LIBRARY)
    found: dict[str, Any] = {"first translation": tab.evaluate(TRANSLATE, text), "linked": tab.evaluate(LINKED)}
    found["thumbnails"] = tab.evaluate(LOOK)
    count = tab.evaluate("maps().length")
    found["maps"] = f"{count} of {tab.evaluate('[maps().at(-1).firstChild.height, maps().at(-1).firstChild.width]')}"
    steps = [1 + number * 7 % (count - 1) for number in range(clicks)]
    found["a click"] = [tab.evaluate(CLICK, number) for number in steps]
    found["a cell"] = [tab.evaluate(CELL, 0.4 + 0.5 * number / clicks) for number in range(clicks)]
    return found


def rows_of(text: str, found: dict[str, Any]) -> list[dict[str, Any]]:
    wanted = {"first translation": 1000, "thumbnails": 500, "a click": 200}
    rows = []
    for name in ("first translation", "linked", "thumbnails", "a click", "a cell"):
        times = found[name] if isinstance(found[name], list) else [found[name]]
        rows.append({"of": text, "name": name, "p50": round(statistics.median(times)), "most": round(max(times)),
                     "unit": "ms", **({"wanted": wanted[name]} if name in wanted else {}),
                     **({"maps": found["maps"]} if name == "thumbnails" else {})})  # fmt: skip
    return rows


def main() -> None:
    args = arguments(__doc__, run=True).parse_args()
    program = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    rows: list[dict[str, Any]] = []
    if program is None:
        print("Chromium not found: nothing to measure", file=sys.stderr)
    elif is_trained(args.run):
        from playwright.sync_api import sync_playwright

        with sync_playwright() as playwright, tempfile.TemporaryDirectory() as scratch:
            browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
            texts = {args.run: ("the cat sentence", SENTENCE)}
            for tokens in LENGTHS:
                folder = Path(scratch) / str(tokens)
                texts[str(folder)] = (f"{tokens} tokens", untrained(Path(args.run), folder, tokens=tokens))
            for run, (name, text) in texts.items():
                with server(argparse.Namespace(run=run)) as (url, _):
                    tab = browser.new_page(viewport={"width": 1440, "height": 1000})
                    rows += rows_of(name, measure(tab, url, text, clicks=6 if args.quick else 24))
                    tab.close()
            browser.close()
    show(rows)
    end("page", rows, run=args.run)


if __name__ == "__main__":
    main()
