"""Lesson 9: what a recurrent network forgets, what gates save, and what it costs to wait for the word before."""

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from matplotlib.figure import Figure

from ..storybook import StoryPair
from .drawing import BLUE, GREEN, INK, ORANGE, PURPLE, SOFT, new_figure
from .lesson import Finding, Table, Verdict, Word, found, overall, undecided
from .recurrent import RecurrentTranslator
from .small import (
    LAYERS,
    LONGEST,
    Network,
    Recipe,
    SmallModel,
    Task,
    build,
    quality,
    task_of,
    trained,
    translate,
)
from .timing import least_seconds
from .workbench import Workbench

TITLE = "What recurrent networks forget"
CLAIM = ("A recurrent network reads a sentence word by word into one state: early words lose their influence as the"
         " sentence grows, a GRU mends that in part, and no state can be computed before the last.")  # fmt: skip
HOW = """Four translators of about as many parameters: Elman's network, a GRU, a GRU with attention to all states of the
source, and the small Transformer. All learn the same task for as many steps on the same batches, from three seeds; here
half of the sources are two sentences in a row.

The influence of a word on the encoder's last state is the size of the derivative of that state by the word's embedding
(its Frobenius norm, from random directions), in sentences cut to 4, 8, 16 and 32 pieces. The first word's share of the
sum over all words, times the number of words, is 1 where it counts as much as any other.

Quality is chrF2 of greedy translations of unseen sentences, alone and two in a row. The time is that of one training
step for eight sources as long as their targets, on one thread, which does one thing at a time anyhow; what could be
done side by side is counted apart: how many steps must wait for one another."""
TRY = ("In `lessons/recurrent.py` let the reader start at the last word (flip the ids): the first words are then read"
       " last. Sutskever et al. 2014 found that bare networks translate better so; do they here?")  # fmt: skip

NETWORKS: tuple[Network, ...] = ("elman", "gru", "gru with attention", "transformer")
BARE: tuple[Network, ...] = ("elman", "gru")
NAMES = {"elman": "Elman", "gru": "GRU", "gru with attention": "GRU + attention", "transformer": "Transformer"}
COLOURS = {"elman": ORANGE, "gru": PURPLE, "gru with attention": GREEN, "transformer": BLUE}
LENGTHS = (4, 8, 16, 32)
TIMED = (8, 16, 32, 64, 128)
DIRECTIONS = 8

KEPT = 0.5  # of a fair share of influence, at the greatest length: below, it is lost
MENDED = 2.0  # times Elman's share
FALLS = 5.0  # chrF lost from one sentence to two
LEARNT = 10.0  # percent of single sentences exact: with less there is little to lose, and a fall cannot be measured
FEWER = 10.0  # times fewer steps that wait for one another


@dataclass(frozen=True)
class Result:
    parameters: dict[str, int]
    influence: dict[str, np.ndarray]  # network -> [seeds,lengths]: of the first word, 1 is a fair share
    alone: dict[str, np.ndarray]  # network -> [seeds]: chrF of single sentences
    in_a_row: dict[str, np.ndarray]  # and of two in a row
    exact: dict[str, np.ndarray]
    seconds: dict[str, np.ndarray]  # network -> [timed lengths]: of a training step
    waiting: dict[str, int]  # network -> steps that wait for one another when it reads TIMED[-1] pieces


def compute(bench: Workbench) -> Result:
    task = task_of(bench)
    results: dict[str, dict[str, np.ndarray]] = {name: {} for name in ("influence", "alone", "in_a_row", "exact")}
    rows = in_pairs(task.test)
    for network in NETWORKS:
        models = [trained(bench, Recipe(network=network, row=2), seed).model for seed in bench.seeds]
        results["influence"][network] = np.array([influences(bench, model, task) for model in models])
        single = [quality(task.test, translate(model, task.tokenizer, [one.source for one in task.test]))
                  for model in models]  # fmt: skip
        double = [quality(rows, translate(model, task.tokenizer, [one.source for one in rows], longest=2 * LONGEST))
                  for model in models]  # fmt: skip
        results["alone"][network] = np.array([one.chrf for one in single])
        results["exact"][network] = np.array([one.exact for one in single])
        results["in_a_row"][network] = np.array([one.chrf for one in double])
    bench.say("timing")
    fresh = {network: build(Recipe(network=network), vocabulary=len(task.tokenizer)) for network in NETWORKS}
    return Result(
        {network: sum(weight.numel() for weight in model.parameters()) for network, model in fresh.items()}, **results,
        seconds={network: np.array([step_seconds(bench, model, length) for length in TIMED])
                 for network, model in fresh.items()},
        waiting={network: LAYERS if network == "transformer" else TIMED[-1] for network in NETWORKS},
    )  # fmt: skip


def in_pairs(stories: Sequence[StoryPair]) -> list[StoryPair]:
    """Two stories as one."""
    return [
        dataclasses.replace(one, source=f"{one.source} {other.source}", target=f"{one.target} {other.target}")
        for one, other in zip(stories[::2], stories[1::2], strict=False)
    ]


def influences(bench: Workbench, model: SmallModel, task: Task) -> list[float]:
    """The first word's influence on the last state by length, mean over sentences."""
    rng = bench.seed(0)
    texts = [" ".join(task.test[number].source for number in rng.choice(len(task.test), 5))
             for _ in range(bench.pick(10, 2))]  # fmt: skip
    rows = [task.tokenizer.encode_source(text) for text in texts]
    shares = [[fair_share(model, torch.tensor([row[:length]])) for length in LENGTHS] for row in rows]
    means: list[float] = np.mean(shares, axis=0).tolist()
    return means


def fair_share(model: SmallModel, ids_1S: torch.Tensor) -> float:
    """The size of d(last state)/d(embedding) at the first word, over its mean size at all words."""
    embedded, last = last_state(model, ids_1S)
    squares_S = torch.zeros(ids_1S.shape[1])
    for _ in range(DIRECTIONS):  # the mean of |J^T v|² over random v is the squared Frobenius norm
        (gradient,) = torch.autograd.grad(last @ torch.randn(last.shape[0]), embedded, retain_graph=True)
        squares_S += gradient[0].square().sum(-1)
    sizes_S = squares_S.sqrt()
    return float(sizes_S[0] / sizes_S.mean())


def last_state(model: SmallModel, ids_1S: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """The embeddings [1,S,D] and the encoder's state after the last of them."""
    if isinstance(model, RecurrentTranslator):
        embedded = model.embed(ids_1S).detach().requires_grad_()
        return embedded, model.read(embedded)[0, -1]
    embedded = model.network.model.shared(ids_1S).detach().requires_grad_()
    return embedded, model.network.model.encoder(inputs_embeds=embedded).last_hidden_state[0, -1]


SHOWN = (RecurrentTranslator.read, RecurrentTranslator.decode, fair_share)


def step_seconds(bench: Workbench, model: SmallModel, length: int) -> float:
    """Processor time of one training step: eight random sources, and targets as long."""
    rng = bench.seed(length)
    ids_BT = torch.from_numpy(rng.integers(300, 400, (8, length)))
    mask_BT = torch.ones_like(ids_BT)

    def step() -> None:
        states_BTD = model.decode(model.encode(ids_BT, mask_BT), mask_BT, ids_BT, mask_BT)
        states_BTD.sum().backward()

    return least_seconds(step, bench.pick(5, 2))


def judge(result: Result) -> Verdict:
    share = {network: float(values[:, -1].mean()) for network, values in result.influence.items()}
    lost = _lost(result)
    gru = share["gru"]
    grows = {network: values[-1] / values[0] for network, values in result.seconds.items()}
    waiting, ms = result.waiting, {network: 1e3 * values[-1] for network, values in result.seconds.items()}
    lost_by = result.influence["elman"][:, -1]  # seeds differ by powers of ten
    forgets: Word = ("holds" if lost_by.max() < KEPT else "holds partly" if lost_by.min() < KEPT
                     else "does not hold here")  # fmt: skip
    slower = [ms[network] > ms["transformer"] for network in BARE]
    findings = (
        found("In an Elman network early words lose their influence.", forgets,
              f"After {LENGTHS[-1]} pieces the first has {share['elman']:.3f} of a fair share of the influence on the"
              f" last state, {lost_by.min():.1g} to {lost_by.max():.1g} over seeds (lost: below {KEPT} with each seed;"
              " with some, partly)."),
        found("A GRU mends that in part.",
              gru > MENDED * share["elman"] and (gru < KEPT or "holds partly"),
              f"There the first piece has {gru:.2f} of a fair share (in part: at least {MENDED:.0f} times Elman's, and"
              f" below {KEPT}; above, the influence is kept, more than in part: partly, by a rule changed after the"
              " first result, was: not at all)."),
        found("In a Transformer distance does not matter.", share["transformer"] > KEPT,
              f"The first of {LENGTHS[-1]} pieces has {share['transformer']:.2f} of a fair share (wanted: above"
              f" {KEPT})."),
        _falls(result),
        found("A recurrent network cannot be computed in parallel.",
              waiting["gru"] >= FEWER * waiting["transformer"],
              "By definition, not by measurement: to read"
              f" {TIMED[-1]} pieces it takes {waiting['gru']} steps that each wait for the one before, a Transformer"
              f" of {LAYERS} layers {waiting['transformer']} (wanted: {FEWER:.0f} times fewer)."),
        found("So it is slower.",
              "holds" if all(slower) else "holds partly" if any(slower) else "does not hold here",
              f"On one thread, where nothing runs in parallel, a step of training at {TIMED[-1]} pieces takes the GRU"
              f" {ms['gru']:.0f} ms, Elman's network {ms['elman']:.0f} and the Transformer {ms['transformer']:.0f};"
              f" since {TIMED[0]} pieces, time has grown {grows['gru']:.0f}, {grows['elman']:.0f} and"
              f" {grows['transformer']:.0f} times (wanted: both slower; partly if one is). What need not wait pays"
              " where many cores share it."),
    )  # fmt: skip
    return overall(findings, (
        f"Of a fair share of influence on the state after {LENGTHS[-1]} pieces, the first word has"
        f" {share['elman']:.3f} in Elman's network, {gru:.2f} in a GRU and {share['transformer']:.2f} in a Transformer;"
        f" from one sentence to two they lose {lost['elman']:.1f}, {lost['gru']:.1f} and {lost['transformer']:.1f}"
        " points of chrF2."
    ))


def _lost(result: Result) -> dict[str, float]:
    """Points of chrF2 that each network loses from one sentence to two in a row."""
    return {network: float((result.alone[network] - result.in_a_row[network]).mean()) for network in NETWORKS}


def _falls(result: Result) -> Finding:
    claim = "Without attention, quality falls as the text grows."
    lost = _lost(result)
    both = {network: float(result.in_a_row[network].mean()) for network in NETWORKS}
    exact = {network: float(result.exact[network].mean()) for network in BARE}
    said = (f"From one sentence to two in a row chrF2 falls by {lost['elman']:.1f} points (Elman) and {lost['gru']:.1f}"
            f" (GRU), with attention by {lost['gru with attention']:.1f} (GRU) and {lost['transformer']:.1f}"
            f" (Transformer); a fall is {FALLS:.0f} points. Two in a row they reach {both['elman']:.1f},"
            f" {both['gru']:.1f}, {both['gru with attention']:.1f} and {both['transformer']:.1f}.")
    if min(exact.values()) < LEARNT:
        return undecided(claim, (
            f"{said} But without attention {exact['elman']:.0f}% (Elman) and {exact['gru']:.0f}% (GRU) of single"
            f" sentences are exact: below {LEARNT:.0f}% the task is hardly learnt and there is little to lose."))
    bare, attending = min(lost[network] for network in BARE), max(lost["gru with attention"], lost["transformer"])
    return found(claim, bare > FALLS and bare > attending, said)


def tables(result: Result) -> tuple[Table, ...]:
    influence = [(NAMES[network], *map(float, result.influence[network].mean(0))) for network in NETWORKS]
    good = [(NAMES[network], result.parameters[network], float(result.exact[network].mean()),
             *_spread(result.alone[network]), *_spread(result.in_a_row[network])) for network in NETWORKS]
    times = [(NAMES[network], *(1e3 * float(value) for value in result.seconds[network]), result.waiting[network])
             for network in NETWORKS]
    return (
        Table.of("Influence of the first word on the last state, in fair shares", (
            "", *(f"{length} pieces" for length in LENGTHS)), influence),
        Table.of("Quality on unseen sentences", (
            "", "parameters", "exact, %", "chrF2", "seeds", "chrF2 of two in a row", "seeds"), good),
        Table.of("A training step, milliseconds", ("", *(f"{length} pieces" for length in TIMED),
                                                   f"steps that wait, {TIMED[-1]} pieces"), times),
    )  # fmt: skip


def _spread(values: np.ndarray) -> tuple[float, str]:
    return float(values.mean()), f"{values.min():.1f} to {values.max():.1f}"


def look(result: Result) -> None:
    """There is no map to open."""
    return None


def draw(result: Result) -> Figure:
    figure, (left, middle, right) = new_figure(3, height=3.4)
    for place, network in enumerate(NETWORKS):
        values_SL, colour = result.influence[network], COLOURS[network]
        left.plot(LENGTHS, values_SL.mean(0), color=colour, marker="o", markersize=4, label=NAMES[network])
        left.fill_between(LENGTHS, values_SL.min(0), values_SL.max(0), color=colour, alpha=0.2, linewidth=0)
        for at, values, opacity in ((-0.2, result.alone[network], 1), (0.2, result.in_a_row[network], 0.5)):
            middle.bar(place + at, values.mean(), 0.38, color=colour, alpha=opacity)
            middle.vlines(place + at, values.min(), values.max(), color=INK, linewidth=1.2)
        right.plot(TIMED, 1e3 * result.seconds[network], color=colour, marker="o", markersize=4)
    left.axhline(1, color=SOFT, linewidth=1, linestyle="--")
    left.set_yscale("log")
    left.set_title("First word's influence")
    left.set_xlabel("pieces")
    for axes in (left, right):
        axes.set_xscale("log", base=2)
    left.set_xticks(LENGTHS, [str(length) for length in LENGTHS])
    right.set_xticks(TIMED, [str(length) for length in TIMED])
    middle.set_xticks([])
    middle.set_title("chrF2, one and two")
    middle.set_ylim(0, 100)
    right.set_title("Step, milliseconds")
    right.set_xlabel("pieces")
    figure.legend(loc="outside lower center", ncols=4)
    return figure
