"""Which few heads and feed-forward layers carry *il* or *elle*, and are they the same in another training?

    python benchmarks/circuits.py                      the packaged storybook
    python benchmarks/circuits.py everyday             another model: its folder, or the name of a packaged one
    python benchmarks/circuits.py --train FOLDER       five trainings of storybook, seeds 0 to 4, in FOLDER/storybook-N;
                                                       what is not there is trained first, some minutes each
    python benchmarks/circuits.py --pairs 4            four pairs of each family, not twelve
    python benchmarks/circuits.py --quick              two

Pairs are of storybook's test set, of two families: *easy* (a tired cat, a wide street) and *fit* (a small drawer, a
wide box).  What is written before *il* or *elle* is the same in both sentences, and the model has both right.  A
circuit is found on the pairs of one half, *size* its parts; *faithfulness* and *completeness* are of pairs of the other
half, in brackets of those that it was found on.

Over several trainings heads are matched within a layer, such that their maps of the same sentences differ least in all;
*shared* are the heads of two circuits that are matched to each other, *by chance* as many as a random order of the
heads of each layer would give, means over all pairs of trainings.
"""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from itertools import combinations, groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from _frame import arguments, end, folder, is_trained, show

if TYPE_CHECKING:
    from seq2see import Translator, lens
    from seq2see.storybook import StoryPair

PAIRS = 12  # to find a circuit, and as many to check it
SEEDS = range(5)
SHARE = 0.9
FAMILIES = ("easy", "fit")


def train(place: Path) -> list[str]:
    """The folders of the trainings, which are trained where they are missing."""
    runs = [place / f"storybook-{seed}" for seed in SEEDS]
    for seed, run in zip(SEEDS, runs, strict=True):
        if not (run / "config.json").is_file():
            settings = {"seed": seed, "output_dir": run, "cpu_processes": 1, "resume": str(run.is_dir()).lower()}
            subprocess.run([sys.executable, "-m", "seq2see", "train", "storybook", "--no-measures",
                            *(f"training.{key}={value}" for key, value in settings.items())], check=True)
    return [str(run) for run in runs]


def pairs_of(translator: Translator, stories: list[StoryPair], count: int) -> list[lens.SentencePair]:
    """So many minimal pairs that the model has right, evenly spaced; both sentences of a pair come as the first."""
    from seq2see import lens
    from seq2see.measures.gold import minimal_pairs, pronoun_choice

    model = translator.model
    choices = [pronoun_choice(story, model, translator.tokenizer)[1] for story in stories]
    right = lens.margins(model, choices) > 0
    found = [(a, b) for a, b in minimal_pairs(stories, choices)
             if right[a] and right[b] and choices[a].prefix_ids == choices[b].prefix_ids]
    return [lens.SentencePair(choices[a], choices[b]) for a, b in found[:: max(1, len(found) // count)][:count]]


def study(run: str, stories: list[StoryPair], count: int) -> dict[str, tuple[lens.Circuit, dict[str, Any]]]:
    """The circuit of each family, with its row."""
    from seq2see import Translator, lens
    from seq2see.lens.sums.circuits import Corruption
    from seq2see.measures.gold import in_halves

    translator = Translator.from_pretrained(run, engine="torch")
    found = {}
    for family in FAMILIES:
        halves = in_halves(story for story in stories if family in (story.kind, story.family))
        own, others = (pairs_of(translator, half, count) for half in halves)
        circuit = lens.find_circuit(translator.model, own, share=SHARE)
        parts, last, check = {*circuit.parts}, circuit.order[circuit.size - 1], Corruption(translator.model, others)
        checked = check.faithfulness([parts])[0], check.completeness([parts])[0]
        faithful, complete = (f"{a:.2f} ({b:.2f})" for a, b in zip(checked, (last.faithfulness, last.completeness),
                                                                    strict=True))
        found[family] = circuit, {
            "run": Path(run).name, "family": family, "pairs": f"{len(own)}+{len(others)}",
            "margin": round(float(check.margin), 2), "corrupted": round(float(check.corrupted), 2),
            "parts": len(circuit.order), "size": circuit.size, "faithfulness": faithful, "completeness": complete,
            "circuit": ", ".join(map(str, circuit.parts)),
        }
        show([found[family][1]])
    return found


def recurring(circuits: list[lens.Circuit]) -> dict[str, str]:
    """By layer and kind of part: in how many circuits it is, and how many of its parts in each."""
    counts = [Counter(_place(part) for part in circuit.parts) for circuit in circuits]
    places = dict.fromkeys(_place(one.part) for one in sorted(circuits[0].order, key=lambda one: one.part[:3]))
    return {place: f"{sum(place in one for one in counts)} of {len(counts)}"
                   f" ({' '.join(str(one[place]) for one in counts)})" for place in places}


def _place(part: lens.Part) -> str:
    return str(part) if part.head is None else f"{part.kind} {part.layer}"


def maps_of(run: str, stories: list[StoryPair], count: int) -> dict[Any, list[np.ndarray]]:
    """The maps by words of the same sentences in every run, by kind."""
    from seq2see import Translator
    from seq2see.lens.comparisons.two_models import word_shares
    from seq2see.passes.attention_kinds import KINDS

    translator = Translator.from_pretrained(run, engine="torch")
    traces = [translator.look_at(story.source, story.target, calibrated=False) for story in
              stories[:: len(stories) // count][:count]]
    return {kind: [word_shares(trace, kind) for trace in traces] for kind in KINDS}


def matched(first: dict[Any, list[np.ndarray]], second: dict[Any, list[np.ndarray]]) -> dict[Any, Any]:
    """The head of the second run for each (kind, layer, head) of the first."""
    from seq2see.lens.comparisons.two_models import assignment

    found = {}
    for kind, maps in first.items():
        for layer in range(len(maps[0])):
            cost_HH = np.mean([np.nanmean(abs(one[layer][:, None] - other[layer][None]).sum(-1) / 2, axis=-1)
                               for one, other in zip(maps, second[kind], strict=True)], axis=0)
            found |= {(kind, layer, one): (kind, layer, other) for one, other in assignment(cost_HH)}
    return found


def shared(circuits: list[lens.Circuit], maps: list[dict[Any, list[np.ndarray]]]) -> dict[str, float]:
    """Heads that two circuits share, matched and by chance, and heads of a circuit: means."""
    heads = [{(part.kind, part.layer, part.head) for part in circuit.parts if part.head is not None} for circuit in
             circuits]
    own, chance = [], []
    for a, b in combinations(range(len(circuits)), 2):
        other = matched(maps[a], maps[b])
        own.append(len({other[head] for head in heads[a]} & heads[b]))
        size = {place: len([*group]) for place, group in groupby(sorted(other), key=lambda head: head[:2])}
        counts = [Counter(head[:2] for head in heads[one]) for one in (a, b)]
        chance.append(sum(counts[0][place] * counts[1][place] / size[place] for place in size))
    return {"heads": round(float(np.mean([*map(len, heads)])), 2), "shared": round(float(np.mean(own)), 2),
            "by_chance": round(float(np.mean(chance)), 2)}


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("runs", nargs="*", type=folder, help="models (storybook)")
    parser.add_argument("--train", type=Path, metavar="FOLDER", help="five trainings of storybook, made if missing")
    parser.add_argument("--pairs", type=int, default=PAIRS, help="pairs to find a circuit, and to check it")
    args = parser.parse_args()
    from seq2see.storybook import generate

    count = 2 if args.quick else args.pairs
    stories = [story for story in generate(seed=0).test if {story.kind, story.family} & {*FAMILIES}]
    runs = train(args.train) if args.train else args.runs or [folder("storybook")]
    runs = [run for run in runs if is_trained(run)]
    found = [study(run, stories, count) for run in runs]
    more: dict[str, Any] = {}
    if len(runs) > 1:
        maps = [maps_of(run, stories, count) for run in runs]
        for family in FAMILIES:
            circuits = [one[family][0] for one in found]
            more[family] = {"recurring": recurring(circuits), **shared(circuits, maps)}
            show([{"family": family, "place": place, "in": often} for place, often in
                  more[family]["recurring"].items()])
            show([{"family": family, **{key: more[family][key] for key in ("heads", "shared", "by_chance")}}])
    end("circuits", [row for one in found for _, row in one.values()], trainings=more)


if __name__ == "__main__":
    main()
