"""Does a low share of the source mark a made-up translation?

    python benchmarks/source_share.py RUN             RUN: a trained model, storybook by default
    python benchmarks/source_share.py everyday --text SENTENCES --to de

Each sentence is translated (greedy), and forced to write its own translation, and that of another sentence: made up,
fluent, and about something else.  The other is the next one when all are sorted by length, so that length tells
nothing.  A translation is scored by the mean of `source_share` over its chosen tokens (ALTI+: Ferrando et al. 2022).
*ours* is the area under the ROC curve of that score, own against made up, with its 95 % interval over sentences; *peer*
that of the mean log-probability of the same tokens.  One thread.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

import numpy as np
from _frame import arguments, end, is_trained, sentences, show

SENTENCES = 300
AT_ONCE = 20


def another(texts: Sequence[str]) -> list[int]:
    """For each text the number of another one of about its length, which is not the same."""
    order = sorted(range(len(texts)), key=lambda i: (len(texts[i]), texts[i]))
    place = {number: at for at, number in enumerate(order)}
    found = []
    for number, text in enumerate(texts):
        at = place[number]
        others = (order[(at + step) % len(order)] for step in range(1, len(order)))
        found.append(next(other for other in others if texts[other] != text))
    return found


def scores(translator: Any, texts: Sequence[str], targets: Sequence[str], *, language: str) -> np.ndarray:
    """[N,2]: the mean source share and the mean log-probability of each target, forced for its text."""
    from seq2see.lens import trace_texts

    found = []
    with translator.inside() as (model, tokenizer):
        for at in range(0, len(texts), AT_ONCE):
            for trace in trace_texts(model, tokenizer, texts[at: at + AT_ONCE], targets[at: at + AT_ONCE],
                                     source_language="en", target_language=language, views=["contributions"]):
                own = slice(trace.given, None)
                found.append((trace.source_share[own].mean(), trace.log_probs[own].mean()))
    return np.array(found)


def row(name: str, own_N: np.ndarray, made_up_N: np.ndarray) -> dict[str, Any]:
    """The area under the ROC curve of a score, with both means."""
    from seq2see.lens.records.intervals import roc_auc, roc_auc_interval

    is_own = np.arange(2 * len(own_N)) < len(own_N)
    for_right_N = np.concatenate([own_N, -made_up_N])  # both take what speaks for the right answer
    groups = [str(i % len(own_N)) for i in range(len(is_own))]
    low, high = roc_auc_interval(for_right_N, is_own, groups)
    return {"name": name, "auc": round(roc_auc(for_right_N, is_own), 4), "low": round(low, 4), "high": round(high, 4),
            "own": round(float(own_N.mean()), 3), "made_up": round(float(made_up_N.mean()), 3), "sentences": len(own_N)}


def main() -> None:
    parser = arguments(__doc__, run=True, text=True)
    parser.add_argument("--to", default="fr", help="the language of the translations (%(default)s)")
    args = parser.parse_args()
    if not is_trained(args.run):
        return
    import torch

    from seq2see import Translator

    torch.set_num_threads(1)
    texts = list(dict.fromkeys(sentences(args.text)))
    random.Random(0).shuffle(texts)
    texts = texts[: 20 if args.quick else SENTENCES]
    translator = Translator.from_pretrained(args.run, engine="torch")
    targets = [one.text for one in translator(texts, source="en", target=args.to, num_beams=1)]
    other = another(targets)
    own, made_up = (scores(translator, texts, each, language=args.to)
                    for each in (targets, [targets[i] for i in other]))
    names = "ours: source share", "peer: log-probability"
    rows = [row(name, own[:, n], made_up[:, n]) for n, name in enumerate(names)]
    show(rows)
    end("source_share", rows, run=str(args.run), to=args.to)


if __name__ == "__main__":
    main()
