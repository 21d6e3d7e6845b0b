"""How well one gradient predicts what patching does: attribution patching beside exact patching, on minimal pairs.

    python benchmarks/attribution_patching.py RUN      RUN: a trained model, storybook by default
    python benchmarks/attribution_patching.py --quick  three pairs instead of fifty

Two sentences of storybook's test set that differ in a word or two and in the pronoun, *il* or *elle*, are receiver and
donor.  Every head and layer is patched at every position: *peer* is the change of the margin that results, *ours* its
estimate.  A row is for one activation in all layers: Spearman's rank correlation between the two over all its positions
and heads, the mean over pairs and the lowest; how many of the five largest changes are among the five largest
estimates; and in what share of the pairs the largest change of all is.  Seconds are those of a pair.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from fnmatch import fnmatchcase
from functools import partial
from typing import Any

import numpy as np
from _frame import arguments, end, is_trained, show
from scipy.stats import spearmanr

PAIRS = 50
LARGEST = 5
NAMES = ("*.hook_q", "*.hook_k", "*.hook_v", "*.hook_pattern", "*.hook_z", "*attn_out", "*.hook_mlp_out",
         "*.hook_resid_pre")


def measure(run: str, count: int) -> list[dict[str, Any]]:
    from seq2see import Translator, lens
    from seq2see.measures.gold import minimal_pairs, pronoun_choice
    from seq2see.storybook import generate

    translator = Translator.from_pretrained(run, engine="torch")
    model = translator.model
    stories = [story for story in generate(seed=0).test if story.kind in ("contrast", "easy")]
    choices = [pronoun_choice(story, model, translator.tokenizer)[1] for story in stories]
    pairs = minimal_pairs(stories, choices)
    found = []
    for receiver, donor in pairs[:: len(pairs) // count][:count]:
        other = choices[donor]
        _, activations = lens.run_with_cache(model, [other.source_ids], [other.target_ids], names=NAMES)
        put = lens.Donor(activations)
        found.append([timed(partial(work, model, choices[receiver], put, names=NAMES))
                      for work in (lens.attribution_patching, lens.exact_patching)])
    return [row(name, found) for name in NAMES]


def timed(work: Callable[[], Any]) -> tuple[Any, float]:
    start = time.perf_counter()
    return work(), time.perf_counter() - start


def row(name: str, found: list[Any]) -> dict[str, Any]:
    ranks, shared, largest = [], [], []
    for (ours, _), (exact, _) in found:
        estimate, change = (np.concatenate([one[key].ravel() for key in exact if fnmatchcase(key, name)])
                            for one in (ours, exact))
        ranks.append(spearmanr(estimate, change)[0])
        best = [set(np.argsort(-abs(values))[:LARGEST]) for values in (estimate, change)]
        shared.append(len(best[0] & best[1]))
        largest.append(int(np.argmax(abs(change))) in best[0])
    seconds = [round(float(np.median([one[way][1] for one in found])), 3) for way in (0, 1)]
    return {"name": name, "rank_correlation": round(float(np.mean(ranks)), 3), "lowest": round(min(ranks), 3),
            f"of_{LARGEST}_largest": round(float(np.mean(shared)), 2),
            "largest_found": round(float(np.mean(largest)), 2), "pairs": len(found),
            "seconds_of_all": seconds[0], "seconds_of_all_peer": seconds[1]}


def main() -> None:
    args = arguments(__doc__, run=True).parse_args()
    rows = measure(args.run, 3 if args.quick else PAIRS) if is_trained(args.run) else []
    show(rows)
    end("attribution_patching", rows, run=args.run)


if __name__ == "__main__":
    main()
