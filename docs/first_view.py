"""Makes what the pages show first, from the packaged weights: run it after `make release`.

    python docs/first_view.py

Writes serve/ui/first_view.json.gz, the answer of /v1/look to the first example, with the evidence for each word.
"""

from __future__ import annotations

import asyncio
import gzip
import json
import sys
from pathlib import Path
from typing import Any

from seq2see import Translator
from seq2see.lens.corpora.replay import load_replay
from seq2see.passes.attention_kinds import KINDS
from seq2see.pretrained import NAMES
from seq2see.serve.access import Caller
from seq2see.serve.apis.v1 import LookBody, look_reply
from seq2see.serve.service import Service
from seq2see.serve.ui.first import example_model
from seq2see.translate.loaded_checkpoint import fingerprint
from seq2see.webpage_data.example_pairs import PAIRS, SOURCE, TARGET, sentences

FILE = Path(__file__).resolve().parent.parent / "serve" / "ui" / "first_view.json.gz"
SHOWN = 8  # candidates of a step


def reply(service: Service, model: str) -> dict[str, Any]:
    """The answer to the first sentence, without what the explorer does not draw."""
    (text, _), (twin, _), *_ = sentences()
    body = LookBody(text=text, source=SOURCE, target=TARGET, model=model, maps=list(KINDS), evidence=True,
                    others=[twin])
    found: dict[str, Any] = json.loads(asyncio.run(look_reply(service, body, Caller("first view"))))
    found["moments"] = curve(service.models[model].folder)
    for trace in found["traces"]:
        trace["top"] = [step[:SHOWN] for step in trace["top"]]
        trace["calibrated"]["top"] = [step[:SHOWN] for step in trace["calibrated"]["top"]]
    return found


def curve(folder: Path | None) -> list[dict[str, Any]]:
    """The steps of the replay beside the model, with the loss and BLEU of each."""
    assert folder is not None
    return [{"step": one.step, "loss": one.loss, "bleu": one.bleu} for one in load_replay(folder).moments]


def main() -> None:
    service = Service({name: Translator.from_pretrained(name) for name in NAMES})
    model = example_model(service)
    if model is None:
        sys.exit("no packaged model gets the example sentences right")
    found = reply(service, model)
    folder = service.models[model].folder
    assert folder is not None
    content = json.dumps({"weights": fingerprint(folder), "model": model, "reply": found}, ensure_ascii=False)
    FILE.write_bytes(gzip.compress(content.encode(), mtime=0))
    print(f"{model}: {len(PAIRS)} pairs; {FILE.name}: {FILE.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main()
