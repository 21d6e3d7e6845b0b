"""What a key says of its noun: whether it is alive, and so may be tired, and whether it is one or many."""

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
import torch

from ..lens.ablation import Head
from ..lens.forcing import encode_source
from ..storybook import StoryPair
from ..storybook.lexicon import NOUNS, Noun
from ..tokenizer.words import piece_spans, split_words
from .held_out import halves
from .interval import Interval
from .workbench import Workbench

# N occurrences of nouns, L layers, H heads, E size of one head

ALIVE = ("animal", "person", "kin")
ROLES = ("agent", "patient", "recipient")  # of nouns; *saw* and *stone* are other words too
FORMS = {form: (noun, many) for noun in NOUNS.values() for form, many in ((noun.en, False), (noun.en_plural, True))}

Label = Callable[[Noun, bool], bool]


@dataclass(frozen=True, eq=False)
class Nouns:
    """Every noun of some sentences: its lexicon entry, whether it is in the plural, and its keys [N,L,H,E]."""

    entries: tuple[tuple[Noun, bool], ...]
    keys_NLHE: np.ndarray


def alive(noun: Noun, many: bool) -> bool:
    return noun.kind in ALIVE


def one(noun: Noun, many: bool) -> bool:
    return not many


@torch.no_grad()
def read_nouns(bench: Workbench, stories: Sequence[StoryPair]) -> Nouns:
    """The keys at the last piece of each noun."""
    layers = bench.model.model.encoder.layers
    heads = bench.model.config.encoder_attention_heads
    seen: list[torch.Tensor] = []
    hooks = [layer.self_attn.k_proj.register_forward_hook(lambda module, args, out: seen.append(out[0]))
             for layer in layers]  # fmt: skip
    entries, keys = [], []
    try:
        for story in stories:
            ids = encode_source(bench.tokenizer, story.source)
            pieces = piece_spans(bench.tokenizer, ids, story.source, language="en")
            last = {piece.word: i for i, piece in enumerate(pieces) if piece.word is not None}
            seen.clear()
            bench.model.model.encoder(input_ids=torch.tensor([ids]), attention_mask=torch.ones(1, len(ids)).long())
            key_SLHE = torch.stack(seen, dim=1).unflatten(-1, (heads, -1))
            words = split_words(story.source, language="en")
            for number, role in story.roles:
                if role in ROLES and (entry := FORMS.get(words[number].text.casefold())):
                    entries.append(entry)
                    keys.append(key_SLHE[last[number]].numpy())
    finally:
        for hook in hooks:
            hook.remove()
    return Nouns(tuple(entries), np.array(keys))


def means_of(known: Nouns, label: Label, layer: int, head: int) -> dict[bool, dict[Noun, np.ndarray]]:
    """Of each class the mean key of each noun."""
    rows: dict[bool, dict[Noun, list[np.ndarray]]] = {False: defaultdict(list), True: defaultdict(list)}
    for entry, key_LHE in zip(known.entries, known.keys_NLHE, strict=True):
        rows[label(*entry)][entry[0]].append(key_LHE[layer, head])
    return {is_so: {noun: np.mean(keys, axis=0) for noun, keys in of.items()} for is_so, of in rows.items()}


def told(known: Nouns, asked: Nouns, label: Label, layer: int, head: int) -> dict[bool, list[float]]:
    """For each noun of either class the share of its occurrences whose key is nearer to its own class: the mean of its
    nouns' mean keys, without the noun in question."""
    means = means_of(known, label, layer, head)
    right: dict[bool, dict[Noun, list[bool]]] = {False: defaultdict(list), True: defaultdict(list)}
    for entry, key_LHE in zip(asked.entries, asked.keys_NLHE, strict=True):
        distance = {False: np.inf, True: np.inf}  # to a class without other nouns
        for is_so, of in means.items():
            if others := [mean for noun, mean in of.items() if noun != entry[0]]:
                distance[is_so] = float(np.linalg.norm(key_LHE[layer, head] - np.mean(others, axis=0)))
        is_so = label(*entry)
        right[is_so][entry[0]].append(distance[is_so] < distance[not is_so])
    return {is_so: [float(np.mean(hits)) for hits in of.values()] for is_so, of in right.items()}


def told_by_keys(bench: Workbench, label: Label) -> tuple[Head, Interval, Interval]:
    """The encoder head whose keys tell it best on the first half of the unseen sentences; and the shares of nouns told
    correctly on the second, of those that are so and of the others."""
    first, second = _both(bench)
    _, layers, heads, _ = first.keys_NLHE.shape
    grid = [(layer, head) for layer in range(layers) for head in range(heads)]
    layer, head = max(grid, key=lambda at: min(np.mean(of) for of in told(first, first, label, *at).values() if of))
    shares = told(first, second, label, layer, head)
    return Head("encoder", layer, head), Interval.of(shares[True]), Interval.of(shares[False])


@cache
def _both(bench: Workbench) -> tuple[Nouns, Nouns]:
    first, second = (read_nouns(bench, stories) for stories in halves(bench))
    return first, second
