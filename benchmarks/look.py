"""The cost of a trace: translating with one compared with translating alone, in one process on one machine.

    python benchmarks/look.py RUN                  RUN: a trained storybook model, the packaged one by default
    python benchmarks/look.py --quick              five rounds instead of fifteen, of the plain trace alone

`Translator` translates a batch of sentences of storybook's test set (torch, beam 4), and `look` traces the results:
every layer and head of the three kinds, candidates, words and spans.  Each round translates once and then looks:
*alone* is the translation, *with* is the translation plus its look; medians count.  Wall-clock time decides; CPU time
is given too, and is more reliable on a busy machine.  The other views are timed as separate looks after the same
translation.  The last row compares the look alone with a translation by CTranslate2, greedy and in int8, where the look
dominates.  Without a trained model at RUN, an untrained one of the same shape is measured without the last row, and
the result says so.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from _frame import arguments, end, sentences

SENTENCES = 32
WANTED = 1.3


def translator_at(run: Path) -> tuple[Any, bool]:
    """The model to measure, and whether it was trained."""
    from seq2see import Translator

    if (run / "config.json").is_file():
        return Translator.from_pretrained(run, engine="torch"), True
    from seq2see.training.building import make_model
    from seq2see.training.config import load_config
    from seq2see.training.corpora import load_corpus

    config = load_config("storybook", [])
    tokenizer, model = make_model(config, load_corpus(config.data), None)
    model.generation_config.max_length = 24  # the length of these translations; an untrained model does not stop
    return Translator(model.eval(), tokenizer, name="untrained"), False


def some_sentences() -> list[str]:
    test = sentences(None)
    return test[:: len(test) // SENTENCES][:SENTENCES]


def timed(work: Callable[[], Any]) -> tuple[Any, float, float]:
    """The result, wall-clock seconds and CPU seconds."""
    clock, processor = time.perf_counter(), time.process_time()
    result = work()
    return result, time.perf_counter() - clock, time.process_time() - processor


def measure(translator: Any, texts: list[str], *, rounds: int, views: list[str]) -> list[dict[str, Any]]:
    alone, traced = [], dict[str, list[tuple[float, float]]]()
    for turn in range(rounds + 1):
        results, *seconds = timed(partial(translator, texts, num_beams=4))
        looks = {view: timed(partial(translator.look, results, views=[view]))[1:] for view in views}
        if turn:  # the first round warms up
            alone.append(tuple(seconds))
            for view in views:
                traced.setdefault(view, []).append(tuple(a + b for a, b in zip(seconds, looks[view], strict=True)))
    rows = []
    for view in views:
        pairs = list(zip(traced[view], alone, strict=True))
        ratios = [[with_it[i] / without[i] for with_it, without in pairs] for i in (0, 1)]
        rows.append({
            "name": f"translate and look: {view}",
            "ours": round(statistics.median(seconds for seconds, _ in traced[view]), 4),
            "peer": round(statistics.median(seconds for seconds, _ in alone), 4),
            "unit": f"s for {len(texts)} sentences",
            "ratio": round(statistics.median(ratios[0]), 3),
            "low": round(min(ratios[0]), 3),
            "high": round(max(ratios[0]), 3),
            "ratio_processor": round(statistics.median(ratios[1]), 3),
            **({"wanted": WANTED} if view == "raw" else {}),
        })  # fmt: skip
    return rows


def measure_fast(fast: Any, texts: list[str], *, rounds: int) -> dict[str, Any]:
    """A trace alone, compared with translating by CTranslate2."""
    fast.look(fast(texts, num_beams=1))  # loads the model into torch
    found = []
    for _ in range(rounds):
        results, *translating = timed(partial(fast, texts, num_beams=1))
        found.append((timed(partial(fast.look, results))[1:], translating))
    (looking, peer), processor = (
        [statistics.median(seconds[side][way] for seconds in found) for side in (0, 1)] for way in (0, 1)
    )
    ratios = [with_it[0] / without[0] for with_it, without in found]
    return {
        "name": "look alone: CTranslate2 greedy", "ours": round(looking, 4), "peer": round(peer, 4),
        "unit": f"s for {len(texts)} sentences", "ratio": round(looking / peer, 3), "low": round(min(ratios), 3),
        "high": round(max(ratios), 3), "ratio_processor": round(processor[0] / processor[1], 3),
    }  # fmt: skip


def main() -> None:
    parser = arguments(__doc__, run=True)
    parser.add_argument("--rounds", type=int, default=15)
    args = parser.parse_args()
    import torch

    from seq2see.lens import VIEWS

    translator, trained = translator_at(Path(args.run))
    rows = measure(translator, some_sentences(), rounds=5 if args.quick else args.rounds,
                   views=["raw"] if args.quick else list(VIEWS))
    if trained and find_spec("ctranslate2") is not None:
        from seq2see import Translator

        fast = Translator.from_pretrained(args.run, engine="ctranslate2", threads=1)
        rows.append(measure_fast(fast, some_sentences(), rounds=5 if args.quick else args.rounds))
    print(f"{'':<34}{'with':>9}{'alone':>9}{'ratio':>8}{'low':>8}{'high':>8}{'by CPU time':>20}")
    for row in rows:
        print(f"{row['name']:<34}{row['ours']:>9.3f}{row['peer']:>9.3f}{row['ratio']:>8.2f}{row['low']:>8.2f}"
              f"{row['high']:>8.2f}{row['ratio_processor']:>20.2f}")
    end("look", rows, trained=trained, threads=torch.get_num_threads())


if __name__ == "__main__":
    main()
