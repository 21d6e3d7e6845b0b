"""The cost of a trace: translating with one compared with translating alone, in one process on one machine.

    python benchmarks/look.py RUN                  RUN: a trained model, storybook by default
    python benchmarks/look.py --quick              five rounds instead of fifteen, of the plain trace alone

`Translator` translates a batch of sentences of storybook's test set (torch, beam 4), and `look` traces the results:
every layer and head of the three kinds, candidates, words and spans.  Each round translates once and then looks, once
for each view: *peer* is the translation, *ours* is the translation plus that look; medians count.  Wall-clock time
decides; the ratio of CPU times is given too, and is more reliable on a busy machine.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from _frame import arguments, end, is_trained, sentences, show

SENTENCES = 32
WANTED = {"raw": 1.3}
Seconds = tuple[float, float]  # by the clock and of the processor


def measured(work: Callable[[], Any]) -> tuple[Any, Seconds]:
    clock, processor = time.perf_counter(), time.process_time()
    result = work()
    return result, (time.perf_counter() - clock, time.process_time() - processor)


def measure(translator: Any, texts: list[str], *, rounds: int, views: list[str]) -> list[dict[str, Any]]:
    alone, traced = list[Seconds](), {view: list[Seconds]() for view in views}
    for turn in range(rounds + 1):
        results, translating = measured(partial(translator, texts, num_beams=4))
        looks = {view: measured(partial(translator.look, results, views=[view]))[1] for view in views}
        if turn:  # the first round warms up
            alone.append(translating)
            for view, looking in looks.items():
                traced[view].append((translating[0] + looking[0], translating[1] + looking[1]))
    return [row(f"translate and look: {view}", traced[view], alone) | {"wanted": WANTED.get(view)} for view in views]


def row(name: str, ours: Sequence[Seconds], peer: Sequence[Seconds]) -> dict[str, Any]:
    clock, processor = ([a[way] / b[way] for a, b in zip(ours, peer, strict=True)] for way in (0, 1))
    return {"name": name, "ours": round(statistics.median(seconds for seconds, _ in ours), 4),
            "peer": round(statistics.median(seconds for seconds, _ in peer), 4), "unit": f"s for {SENTENCES} sentences",
            "ratio": round(statistics.median(clock), 3), "low": round(min(clock), 3), "high": round(max(clock), 3),
            "ratio_processor": round(statistics.median(processor), 3)}


def main() -> None:
    parser = arguments(__doc__, run=True)
    parser.add_argument("--rounds", type=int, default=15)
    args = parser.parse_args()
    import torch

    from seq2see import Translator
    from seq2see.lens import VIEWS

    rows: list[dict[str, Any]] = []
    if is_trained(args.run):
        rounds, test = 5 if args.quick else args.rounds, sentences(None)
        texts = test[:: len(test) // SENTENCES][:SENTENCES]
        translator = Translator.from_pretrained(args.run, engine="torch")
        rows = measure(translator, texts, rounds=rounds, views=["raw"] if args.quick else list(VIEWS))
    show(rows)
    end("look", rows, run=args.run, threads=torch.get_num_threads())


if __name__ == "__main__":
    main()
