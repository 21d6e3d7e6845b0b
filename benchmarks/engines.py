"""Do both engines give the same translations?

    python benchmarks/engines.py RUN            RUN: a trained model, storybook by default; 200 sentences
    python benchmarks/engines.py RUN --quick    20 sentences

The sentences are storybook's test set, or lines of --text FILE.  A row says for how many of them CTranslate2 gives
exactly the tokens of torch in float32, and the largest difference between their scores; other translations are printed
in pairs with their scores.
"""

from __future__ import annotations

import random
from typing import Any

from _frame import arguments, end, is_trained, sentences, show

SENTENCES = 200
WAYS = [("float32", 1), ("float32", 4), ("int8", 1), ("int8", 4)]


def main() -> None:
    args = arguments(__doc__, run=True, text=True).parse_args()
    rows = []
    if is_trained(args.run):
        texts = sentences(args.text)  # storybook's kinds come in blocks
        random.Random(0).shuffle(texts)
        rows = agreement(args.run, texts[: 20 if args.quick else SENTENCES])
    show(rows)
    end("engines", rows)


def agreement(run: str, texts: list[str]) -> list[dict[str, Any]]:
    from seq2see import Translator

    torch = Translator.from_pretrained(run, engine="torch")
    rows = []
    for precision, beams in WAYS:
        fast = Translator.from_pretrained(run, engine="ctranslate2", precision=precision)
        pairs = [
            (ours.hypotheses[0], theirs.hypotheses[0])
            for ours, theirs in zip(fast(texts, num_beams=beams), torch(texts, num_beams=beams), strict=True)
        ]
        same = [(ours, theirs) for ours, theirs in pairs if ours.token_ids == theirs.token_ids]
        gaps = [abs(ours.score - theirs.score) for ours, theirs in same]
        for ours, theirs in pairs:
            if ours.token_ids != theirs.token_ids:
                print(f"{precision} {ours.score:.5f} {ours.text}\n  torch {theirs.score:.5f} {theirs.text}")
        name = f"same, {precision}, {'greedy' if beams == 1 else f'beam {beams}'}"
        rows.append({"name": name, "ours": len(same), "of": len(pairs), "largest_gap": max(gaps, default=None)})
    return rows


if __name__ == "__main__":
    main()
