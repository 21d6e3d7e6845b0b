"""Lesson 9: how much a head looks at a word, how much it takes from there, and which predicts the word's effect."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from ..lens import trace_texts
from ..lens.changes.interventions import Cell, silenced
from ..lens.show.wording import NAMES
from ..lens.trace import Trace
from ..lens.views.attention_blocks import blocks_of
from ..passes.attention_kinds import KINDS, Kind
from ..passes.forced_pass import eval_mode, eval_with_eager_attention, forced_pass
from ..passes.hooks import Head, other_values
from .figures import head_name, likeness, rank_correlation
from .held_out import groups, traces_with_views
from .lesson import SENTENCE, TRANSLATION, Bars, Check, Checks, Estimate, Exhibits, Figures, Look, Table, Workbench

# L layers, H heads, R rows, C columns, N cells: a head and a column; T steps, V vocabulary

EXACT = 1e-4  # the most that the parts may fail to add up to the output
OFTEN = 0.1  # share of rows whose most attended word adds less than another: from here on it is no exception
SENTENCES = 40  # whose cells are silenced one by one, some five hundred a sentence


def effects(bench: Workbench, trace: Trace, cells: Sequence[Cell]) -> np.ndarray:
    """For each cell: how much all predictions change if its head gets nothing from its column; [N], in nats."""
    sources, targets = [trace.source_ids] * len(cells), [trace.target_ids] * len(cells)
    with eval_mode(bench.model):
        plain_1TV = forced_pass(bench.model, sources[:1], targets[:1])[0].logits.log_softmax(-1)
        with silenced(bench.model, cells):
            other_NTV = forced_pass(bench.model, sources, targets)[0].logits.log_softmax(-1)
    return (plain_1TV.exp() * (plain_1TV - other_NTV)).sum((-1, -2)).numpy()


SHOWN = (effects,)


def measure(bench: Workbench) -> Figures:
    some = traces_with_views(bench)
    of = groups(bench)[: len(some)]
    tested = some[: bench.pick(SENTENCES, 2)]
    bench.report_progress(f"silencing values, one by one, in {len(tested)} sentences")
    kinds, cells = {}, 0
    for kind in KINDS:
        orders = []
        for trace in tested:
            weight, length = (np.asarray(trace.maps(kind, view).sum(2)) for view in ("raw", "norm"))
            effect_N = effects(bench, trace, [(kind, *place) for place in np.ndindex(weight.shape)])
            orders.append([rank_correlation(of.ravel(), effect_N) for of in (weight, length)])
            cells += len(effect_N)
        weights_N, lengths_N = np.array(orders).T
        kinds[kind] = {
            "other first": Estimate.of([other_first(trace, kind) for trace in some], of),
            "by weight": Estimate.of(weights_N, of[: len(tested)]),
            "by length": Estimate.of(lengths_N, of[: len(tested)]),
            "gain": Estimate.of(lengths_N - weights_N, of[: len(tested)]),
        }
    by_figure = {name: {kind: kinds[kind][name] for kind in KINDS} for name in kinds["encoder"]}
    off = off_sums(bench, tested)
    return Figures(
        off=off, summed=likeness(off, within=EXACT), cells=cells,
        unmoved=likeness(weights_moved(bench, some[0]), within=EXACT),
        by_figure=by_figure, by_weight={kind: one.value for kind, one in by_figure["by weight"].items()},
        by_length={kind: one.value for kind, one in by_figure["by length"].items()}, **one_head(bench),
    )


def weights_moved(bench: Workbench, trace: Trace) -> float:
    """The largest change of a weight in the first layer of cross-attention when its values stand in reverse order."""
    backwards = other_values(bench.model, lambda site, value: value.flip(1), kinds=["cross"])
    with eval_with_eager_attention(bench.model), backwards:
        output, _ = forced_pass(bench.model, [trace.source_ids], [trace.target_ids], output_attentions=True)
    return float(np.abs(output.cross_attentions[0][0].numpy() - trace.maps("cross")[0]).max())


def other_first(trace: Trace, kind: Kind) -> float:
    """The share of rows, over all heads, in which the largest weight and the longest vector are of other columns."""
    rows = slice(1, None) if kind == "decoder" else slice(None)  # the decoder's first step sees one column
    weights, lengths = (trace.maps(kind, view)[:, :, rows] for view in ("raw", "norm"))
    return float((weights.argmax(-1) != lengths.argmax(-1)).mean())


def off_sums(bench: Workbench, traces: Sequence[Trace]) -> float:
    """How far the parts of all columns, the residual and the bias are from adding up to what attention returns."""
    off = 0.0
    for blocks in blocks_of(bench.model, traces):
        for kind in KINDS:
            for weight_HRC, block in zip(blocks.trace.maps(kind), blocks.by_kind[kind], strict=True):
                added_RD = block.parts(torch.tensor(weight_HRC)).sum(1)
                whole_RD = added_RD + block.residual() + block.constant()
                off = max(off, float((whole_RD - block.output_RD).abs().max()))
    return off


def one_head(bench: Workbench) -> dict[str, Any]:
    """The head of cross-attention whose weights and lengths differ most: shares of weights, lengths and effects."""
    [trace] = trace_texts(bench.model, bench.tokenizer, [SENTENCE], [TRANSLATION], source_language="en",
                          target_language="fr", views=["raw", "norm"])
    weights, lengths = (maps / maps.sum(-1, keepdims=True)
                        for maps in (trace.maps("cross", view).sum(2) for view in ("raw", "norm")))
    differing = abs(weights - lengths).sum(-1)
    layer, head = map(int, np.unravel_index(int(differing.argmax()), differing.shape))
    effect = effects(bench, trace, [("cross", layer, head, c) for c in range(len(trace.source))])
    shares = (weights[layer, head], lengths[layer, head], effect / max(effect.sum(), 1e-12))
    return {"head": Head("cross", layer, head), "columns": [token.text.strip() for token in trace.source],
            "example": dict(zip(("weight", "added length", "effect"), shares, strict=True)),
            "look": Look(SENTENCE, "cross", layer, head)}


def claims(f: Figures) -> Checks:
    def each(checked: str, comparison: Any, threshold: float, end: str) -> list[Check]:
        return [Check(getattr(one, end), comparison, threshold, f"{kind}, lower end of the interval")
                for kind, one in f.by_figure[checked].items()]

    return {
        "sum": [Check(f.off, "≤", EXACT)],
        "other": each("other first", "≥", OFTEN, "low"),
        "effect": each("gain", ">", 0, "low"),
    }


def exhibits(f: Figures) -> Exhibits:
    orders = {name: list(f.by_figure[name].values()) for name in ("by weight", "by length")}
    names = [NAMES[kind] for kind in KINDS]
    rows = [(name, f"{first:.1%}", f"{weight:.2f}", f"{length:.2f}") for name, first, weight, length in
            zip(names, f.by_figure["other first"].values(), *orders.values(), strict=True)]
    return [
        Table("Weights, lengths and effects",
              ("", "rows in which another word adds most", "rank correlation by weight", "by length"), rows),
        Bars(f"{head_name(f.head).capitalize()}: share of each word, over all steps", f.columns, f.example, wide=True),
        Bars("How well each orders the effects (rank correlation)", names, orders, top=1, wide=True),
    ]
