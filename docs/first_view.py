"""Makes what the page shows first, from the packaged weights: run it after `make release`.

    python docs/first_view.py       it needs Chromium

Writes serve/ui/first_view.json.gz, the answer of /v1/look to the first example, with the evidence for each word, and
serve/ui/first_view.html, the same as the explorer draws it, light and dark, to be read before any script has run.
"""

from __future__ import annotations

import asyncio
import gzip
import json
import re
import shutil
import sys
from pathlib import Path
from typing import Any

from playwright.sync_api import sync_playwright

from seq2see import Translator
from seq2see.lens.explorer import as_data, script, style
from seq2see.lens.kinds import KINDS
from seq2see.lens.replay import load_replay
from seq2see.pretrained import NAMES
from seq2see.serve.access import Caller
from seq2see.serve.dialects.v1 import LookBody, look_reply
from seq2see.serve.service import Service
from seq2see.serve.ui.first import example_model, settings_of
from seq2see.translate.example_pairs import PAIRS, SOURCE, TARGET, sentences
from seq2see.translate.loaded_checkpoint import fingerprint

HOME = Path(__file__).resolve().parent.parent / "serve" / "ui"
SHOWN = 8  # candidates of a step


def reply(service: Service, model: str) -> dict[str, Any]:
    """The answer to the first sentence, its twin beside it, without what the explorer does not draw."""
    (text, _), (twin, _), *_ = sentences()

    async def ask(text: str, **more: Any) -> dict[str, Any]:
        body = LookBody(text=text, source=SOURCE, target=TARGET, model=model, maps=list(KINDS), **more)
        found: dict[str, Any] = json.loads(await look_reply(service, body, Caller("first view")))
        return found

    async def both() -> tuple[dict[str, Any], dict[str, Any]]:
        return await ask(text, evidence=True, others=[twin]), await ask(twin)

    found, other = asyncio.run(both())
    [found["twin"]] = other["traces"]
    found["moments"] = curve(service.models[model].folder)
    for trace in (*found["traces"], found["twin"]):
        trace["top"] = [step[:SHOWN] for step in trace["top"]]
        trace["calibrated"]["top"] = [step[:SHOWN] for step in trace["calibrated"]["top"]]
    return found


def curve(folder: Path | None) -> list[dict[str, Any]]:
    """The steps of the replay beside the model, with the loss and BLEU of each."""
    assert folder is not None
    return [{"step": one.step, "loss": one.loss, "bleu": one.bleu} for one in load_replay(folder).moments]


def drawn(settings: dict[str, Any]) -> str:
    """The explorer's HTML in both themes."""
    program = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if program is None:
        sys.exit("there is no Chromium to draw with: install it")
    page = f"""<!doctype html><meta charset="utf-8"><style>body {{ margin: 0 }} {style()}</style><div id="home"></div>
<script>(() => {{ "use strict"; {script()}
explorer(document.getElementById("home"), {as_data(settings)}); }})();</script>"""
    parts = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        for theme in ("light", "dark"):
            tab = browser.new_page(viewport={"width": 1440, "height": 900}, color_scheme=theme)
            tab.set_default_timeout(120_000)
            tab.set_content(page)
            tab.locator(".grid2").wait_for()
            tab.wait_for_timeout(500)
            tab.evaluate("""() => document.querySelectorAll('.s2s canvas').forEach((canvas) => {
                const image = Object.assign(new Image(), { src: canvas.toDataURL(), alt: '' });
                canvas.replaceWith(image);
            }); document.querySelectorAll('.c:empty').forEach((cell) => cell.remove())""")
            html = tab.evaluate("document.querySelector('#home > .s2s').outerHTML")
            html = re.sub(r' (?:id|data-k|data-tip|tabindex|aria-label|role)="[^"]*"', "", html)
            parts.append(html.replace('class="s2s', f'class="s2s s2s-first {theme}', 1))
        browser.close()
    return "\n".join(parts)


def main() -> None:
    service = Service({name: Translator.from_pretrained(name) for name in NAMES})
    model = example_model(service)
    if model is None:
        sys.exit("no packaged model gets the example sentences right")
    found = reply(service, model)
    folder = service.models[model].folder
    assert folder is not None
    content = json.dumps({"weights": fingerprint(folder), "model": model, "reply": found}, ensure_ascii=False)
    (HOME / "first_view.json.gz").write_bytes(gzip.compress(content.encode(), mtime=0))
    settings = {**settings_of(service, api="/v1"), "first": found}
    (HOME / "first_view.html").write_text(drawn(settings) + "\n", encoding="utf-8")
    print(f"{model}: {len(PAIRS)} pairs; {[(one.name, one.stat().st_size) for one in HOME.glob('first_view.*')]}")


if __name__ == "__main__":
    main()
