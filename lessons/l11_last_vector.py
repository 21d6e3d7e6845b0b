"""Lesson 11: how the vector of the last position turns from the token just read into the next token."""

from collections.abc import Sequence

import numpy as np
import torch
from transformers import PreTrainedModel

from ..lens import logit_lens
from ..lens.trace import Trace
from ..passes.forced_pass import eval_mode, forced_batches
from ..passes.hooks import capture
from .figures import layer_name, likeness
from .held_out import Pronouns, groups, ids_of, pronouns, traces_with_views
from .lesson import Bars, Check, Checks, CurvePanel, Estimate, Exhibits, Figures, Look, Table, Workbench, columns_of

# B sentences, T decoder steps, S source tokens, L decoder layers, D model width, V vocabulary

EXACT = 1e-4  # logits
BEGINS = 0.9  # share of steps at which the first state predicts the token just read
OWN = 0.5  # of the last state, the most that may come from the token just read
ENTIRE, MOST = 0.5, 0.9  # of all visible tokens, how many it takes for most of the last state
RELIES = 0.9  # share of pronouns that the last vector alone must flip
PLACES = ("the last vector", "all earlier vectors", "both")
PARTS = ("read", "before", "source")  # the token just read, those before it, the source


def from_the_last_vector(model: PreTrainedModel, state_TD: torch.Tensor) -> torch.Tensor:
    """The prediction of a state: a norm and a matrix product, separately for each position."""
    return model.lm_head(model.get_decoder().layer_norm(state_TD))


def owed_to(trace: Trace, layer: int) -> np.ndarray:
    """Where each step's state after a layer comes from: shares of the token just read, those before it and the source;
    and the share of visible tokens that make up MOST of it: [T,4]."""
    S = len(trace.source)
    rows = []
    for t, row in enumerate(trace.origins("contributions")[layer]):
        seen = np.append(row[:S], row[S : S + t + 1])
        needed = int((np.sort(seen)[::-1].cumsum() < MOST * seen.sum()).sum()) + 1
        rows.append((row[S + t], row[S : S + t].sum(), row[:S].sum(), needed / len(seen)))
    return np.array(rows)


SHOWN = (from_the_last_vector, owed_to)


def measure(bench: Workbench) -> Figures:
    some = traces_with_views(bench)
    of = groups(bench)[: len(some)]
    first, off = first_states(bench, some)
    lenses = logit_lens(bench.model, bench.tokenizer, some, k=1)
    layers = range(len(lenses[0].top))
    says = [[begin, *([step[0].id for step in layer] for layer in lens.top)]
            for begin, lens in zip(first, lenses, strict=True)]  # by sentence, stage and step: ids
    read, to_come = (np.array([[same(stage, wanted(trace)) for stage in stages]
                               for stages, trace in zip(says, some, strict=True)])
                     for wanted in (lambda trace: [0, *trace.target_ids[:-1]], lambda trace: trace.target_ids))
    owed = np.array([[owed_to(trace, layer)[1:].mean(0) for layer in layers] for trace in some])
    flips = by_place(bench, pronouns(bench)[1])
    coming, parts = columns_of(to_come, of), [columns_of(owed[:, :, part], of) for part in range(4)]
    return Figures(
        off=off, same_logits=likeness(off, within=EXACT),
        stages=["before any layer", *(f"after {layer_name(layer)}" for layer in layers)],
        read=columns_of(read, of), coming=coming, gains=columns_of(np.diff(to_come, axis=1), of),
        owed=dict(zip(PARTS, parts, strict=False)), visible=parts[3], begin=Estimate.of(read[:, 0], of),
        end=coming[-1].value, own=parts[0][-1], seen=parts[3][-1], most=MOST, shares=[one.value for one in coming],
        flips=flips, alone=flips[PLACES[0]], earlier=[one.value for one in flips[PLACES[1]]],
        look=Look(kind="decoder", layer=layers[-1]),
    )


def same(ids: Sequence[int], wanted: Sequence[int]) -> float:
    """The share of steps after the tag's."""
    return float(np.mean([one == other for one, other in zip(ids, wanted, strict=True)][1:]))


def first_states(bench: Workbench, some: Sequence[Trace]) -> tuple[list[list[int]], float]:
    """What the states before the first layer predict; and how far logits from the last vectors alone are off."""
    model, decoder = bench.model, bench.model.get_decoder()
    says: list[list[int]] = [[] for _ in some]
    off = 0.0
    with eval_mode(model), torch.no_grad(), capture(
            {"first": decoder.layers[0].self_attn_layer_norm, "last": decoder.layer_norm}, "in") as seen:
        for rows, output, _ in forced_batches(model, *ids_of(some)):
            first_BTD, last_BTD = seen["first"], seen["last"]
            for b, row in enumerate(rows):
                steps = len(some[row].target)
                says[row] = from_the_last_vector(model, first_BTD[b, :steps]).argmax(-1).tolist()
                alone_TV = torch.stack([from_the_last_vector(model, last_BTD[b, t]) for t in range(steps)])
                off = max(off, float((alone_TV - output.logits[b, :steps]).abs().max()))
    return says, off


def by_place(bench: Workbench, pronoun: Pronouns) -> dict[str, list[Estimate]]:
    """For each of PLACES, the pronouns that flip with these states of another sentence, by decoder layer."""
    last = [len(pronoun.choices[receiver].prefix_ids) for receiver, _ in pronoun.pairs]
    steps: list[list[Sequence[int]]] = [[[t] for t in last], [range(t) for t in last], [range(t + 1) for t in last]]
    return pronoun.flips_by_layer("decoder", bench.model.config.decoder_layers, dict(zip(PLACES, steps, strict=True)))


def claims(f: Figures) -> Checks:
    return {
        "alone": [Check(f.off, "≤", EXACT)],
        "begins": [Check(f.begin.low, "≥", BEGINS, "lower end of the interval")],
        "nearer": [Check(min(gain.low for gain in f.gains), ">", 0, "lowest lower end of a gain")],
        "entire": [Check(f.own.high, "<", OWN, "token just read, upper end of the interval"),
                   Check(f.seen.low, "≥", ENTIRE, "visible tokens, lower end of the interval")],
        "relies": [Check(min(share.low for share in f.alone), "≥", RELIES, "lowest lower end of a layer")],
    }


def exhibits(f: Figures) -> Exhibits:
    names = [stage.replace("after layer", "layer").replace(" any layer", "") for stage in f.stages]
    parts = dict(zip(("token just read", "those before", "source"), f.owed.values(), strict=True))
    return [
        Table("What the state predicts, at the steps of unseen sentences",
              ("state", "the token just read", "the next token"),
              [(stage, f"{one:.1%}", f"{other:.1%}")
               for stage, one, other in zip(f.stages, f.read, f.coming, strict=True)]),
        Table("Where the state comes from", (
            "state", "the token just read", "the tokens before it", "the source", f"tokens that make up {MOST:.0%}"),
            [(stage, *(f"{one:.1%}" for one in row))
             for stage, *row in zip(f.stages[1:], *f.owed.values(), f.visible, strict=True)]),
        Table("Pronouns flipped by the states of another sentence", ("states", *f.stages[1:]),
              [(name, *(f"{one:.0%}" for one in of)) for name, of in f.flips.items()]),
        CurvePanel("The last vector predicts ...", range(len(names)),
               {"token just read": f.read, "next token": f.coming}, ticks=names),
        Bars("... and comes from", names[1:], parts),
    ]
