"""Lesson 16: what a recurrent network forgets, what gates save, and what it costs to wait for the word before."""

import dataclasses
import math
from collections.abc import Sequence

import numpy as np
import torch

from ..storybook import StoryPair
from ..training.metrics import score
from .lesson import Bars, Check, Checks, CurvePanel, Estimate, Exhibits, Figures, Table, Workbench, over_seeds
from .recurrent import RecurrentTranslator
from .small import LAYERS, LONGEST, Network, Recipe, SmallModel, Task, compare, task_of, translate

# S source tokens, T tokens

NETWORKS: tuple[Network, ...] = ("elman", "gru", "gru with attention", "transformer")
NAMES = ("Elman", "GRU", "GRU + attention", "Transformer")
LENGTHS = (4, 6, 8, 12, 16, 24, 32)
DIRECTIONS = 8

LOST_BELOW = 0.5  # of a fair share of influence, at the greatest length: below, it is lost
MENDED = 2.0  # times Elman's share
FALLS = 5.0  # points of chrF lost from one sentence to two
LEARNT = 0.1  # share of exact single sentences: with less there is little to lose, and a fall cannot be measured
FEWER = 10.0  # times fewer steps that wait for one another


def measure(bench: Workbench) -> Figures:
    task = task_of(bench)
    rows = in_pairs(task.test)
    compared = compare(bench, **{network: Recipe(network=network, row=2) for network in NETWORKS})
    influence, profile, double, sizes = {}, {}, {}, []
    for network, one in compared.items():
        shares = [influences(bench, run.model, task) for run in one.runs]
        influence[network] = np.array([[of_S[0] for of_S in by_length] for by_length in shares])  # [seeds,lengths]
        profile[network] = [np.mean(seeds, axis=0) for seeds in zip(*shares, strict=True)]  # [S] for each length
        texts = [translate(run.model, task.tokenizer, [row.source for row in rows], longest=2 * LONGEST)
                 for run in one.runs]
        double[network] = Estimate.seeds([score(text, [row.target for row in rows]).chrf for text in texts])
        sizes.append(sum(weight.numel() for weight in one.runs[0].model.parameters()))
    single, exact = ({network: getattr(one, name) for network, one in compared.items()} for name in ("chrf", "exact"))
    fall = {network: single[network].value - double[network].value for network in NETWORKS}
    bare, attending = min(fall["elman"], fall["gru"]), max(fall["gru with attention"], fall["transformer"])
    learnt = min(exact["elman"].value, exact["gru"].value) >= LEARNT
    return Figures(
        influence=influence, profile=profile, lengths=LENGTHS, longest=LENGTHS[-1], single=single, double=double,
        exact=exact, fall=fall, sizes=sizes,
        share=dict(zip(NETWORKS, over_seeds([of[:, -1] for of in influence.values()]), strict=True)),
        bare=bare if learnt else math.nan, more=bare - attending if learnt else math.nan,
        waiting={network: LAYERS if network == "transformer" else LENGTHS[-1] for network in NETWORKS},
    )


def in_pairs(stories: Sequence[StoryPair]) -> list[StoryPair]:
    """Two stories as one."""
    return [dataclasses.replace(one, source=f"{one.source} {other.source}", target=f"{one.target} {other.target}")
            for one, other in zip(stories[::2], stories[1::2], strict=False)]


def influences(bench: Workbench, model: SmallModel, task: Task) -> list[np.ndarray]:
    """Each token's influence on the last state, [S] for each of LENGTHS: the mean over texts."""
    rng = bench.seed(0)
    texts = [" ".join(task.test[number].source for number in rng.choice(len(task.test), 5))
             for _ in range(bench.pick(10, 2))]
    rows = [task.tokenizer.encode_source(text) for text in texts]
    return [np.mean([fair_shares(model, torch.tensor([row[:length]])) for row in rows], axis=0) for length in LENGTHS]


def fair_shares(model: SmallModel, ids_1S: torch.Tensor) -> np.ndarray:
    """The size of d(last state)/d(embedding) at each token, divided by its mean over all tokens: [S]."""
    embedded, last = last_state(model, ids_1S)
    squares_S = torch.zeros(ids_1S.shape[1])
    for _ in range(DIRECTIONS):  # the mean of |J^T v|² over random v is the squared Frobenius norm
        (gradient,) = torch.autograd.grad(last @ torch.randn(last.shape[0]), embedded, retain_graph=True)
        squares_S += gradient[0].square().sum(-1)
    sizes_S = squares_S.sqrt()
    return (sizes_S / sizes_S.mean()).numpy()


def last_state(model: SmallModel, ids_1S: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """The embeddings [1,S,D] and the encoder's state after the last of them."""
    if isinstance(model, RecurrentTranslator):
        embedded = model.embed(ids_1S).detach().requires_grad_()
        return embedded, model.read(embedded)[0, -1]
    embedded = model.network.model.shared(ids_1S).detach().requires_grad_()
    return embedded, model.network.model.encoder(inputs_embeds=embedded).last_hidden_state[0, -1]


SHOWN = (RecurrentTranslator.read, RecurrentTranslator.decode, fair_shares)


def claims(f: Figures) -> Checks:
    elman, gru = f.share["elman"], f.share["gru"]
    return {
        "forgets": [Check(elman.high, "<", LOST_BELOW, "highest seed", was=0.1)],
        "mends": [Check(gru.value, ">", MENDED * elman.value, "share in the GRU")],
        "distance": [Check(f.share["transformer"].value, ">", LOST_BELOW)],
        "falls": [Check(f.bare, ">", FALLS, "smaller fall without attention"),
                  Check(f.more, ">", 0, "excess over the larger fall with attention")],
        "parallel": [Check(f.waiting["gru"] / f.waiting["transformer"], "≥", FEWER, "times fewer steps")],
    }


def exhibits(f: Figures) -> Exhibits:
    influence = dict(zip(NAMES, f.influence.values(), strict=True))
    return [
        Table("Influence of the first token on the last state, in fair shares",
              ("", *(f"{length} tokens" for length in LENGTHS)),
              [(name, *of.mean(0)) for name, of in influence.items()]),
        Table("Quality on unseen sentences, and its spread over seeds",
              ("", "parameters", "exact", "chrF2", "chrF2 of two in a row"),
              list(zip(NAMES, f.sizes, f.exact.values(), f.single.values(), f.double.values(), strict=True))),
        CurvePanel("First token's influence", LENGTHS, {name: over_seeds(of.T) for name, of in influence.items()},
                   "tokens",
               doubling=True, log=True, level=1),
        Bars("chrF2", [name.replace(" ", "\n") for name in NAMES],
             {"one sentence": list(f.single.values()), "two": list(f.double.values())}, top=100),
    ]
