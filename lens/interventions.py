"""Changing what heads do while a model runs, exactly, in any encoder-decoder: switched off, put in from another
sentence, at another temperature or with given weights, with other values.

A layer's heads are put side by side and the output projection W_O reads them all, so a head that hands over nothing
is one whose columns of W_O's input are zero (Michel et al. 2019).  A zero is a value the model may never have met;
the head's own mean over some sentences, a constant, takes away what it *says* and keeps what is always there.

In activation patching a minimal pair runs twice, the donor once to write down its activations, the receiver with some
of them in the place of its own.  Where the receiver then chooses the donor's word (*elle* for *il*), what was put in
carried the difference (Vig et al. 2020; Meng et al. 2022).  It works position by position, so both must be of the same
length.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Literal

import numpy as np
import torch
from transformers import PreTrainedModel

from seq2see.errors import UserError
from .hooks import (
    STACKS,
    AttentionSite,
    Change,
    Head,
    Side,
    Stack,
    Steering,
    all_sites,
    attention_sites,
    capture,
    heads_by_site,
    layers_of,
    replaced,
    steered,
)
from .kinds import KINDS, Kind
from .teacher_forcing import by_length, eval_mode, eval_with_eager_attention, forced_pass, real_positions

# B sentences, T positions (of the source in the encoder, of the decoder's steps elsewhere), R rows, C columns, H heads,
# E size of one head, D model width

Cell = tuple[Kind, int, int, int]  # kind, layer, head, column
Where = Mapping[Stack, torch.Tensor]  # which positions [B,T] are patched, by stack; a stack that is not named: all


# --- heads switched off


@contextmanager
def ablate(
    model: PreTrainedModel,
    heads: Iterable[tuple[Kind, int, int]],
    *,
    replace: Literal["zero", "mean"] = "zero",
    means: Mapping[Head, torch.Tensor] | None = None,
) -> Iterator[None]:
    """Inside, the heads hand over nothing ("zero"), or always the same ("mean": their [E] in `means`).

    Weights are not touched; whatever else runs on the model meanwhile is ablated too.  UserError for a layer or head
    that the model does not have; ValueError where means are needed and not given.
    """
    if (replace == "mean") != (means is not None):
        raise ValueError('expected means exactly for replace="mean": see mean_outputs')
    with replaced((site.output, "in", _filling(site, numbers, means)) for site, numbers in heads_by_site(model, heads)):
        yield


def _filling(site: AttentionSite, numbers: list[int], means: Mapping[Head, torch.Tensor] | None) -> Change:
    columns = site.columns(numbers)
    fill = torch.zeros(len(columns), device=columns.device)
    if means is not None:
        fill = torch.cat([means[Head(site.kind, site.layer, h)] for h in numbers]).to(columns.device)

    def change(mixed_BTD: torch.Tensor) -> torch.Tensor:
        mixed_BTD = mixed_BTD.clone()
        mixed_BTD[..., columns] = fill.to(mixed_BTD.dtype)
        return mixed_BTD

    return change


def mean_outputs(
    model: PreTrainedModel, sources: Sequence[Sequence[int]], targets: Sequence[Sequence[int]]
) -> dict[Head, torch.Tensor]:
    """What each head hands over on average, [E] each, over every real position of these sentences.

    `sources` and `targets` are ids, `</s>` included; the model is forced to the targets.
    """
    if not sources:
        raise ValueError("expected at least one sentence to take means over")
    sites = all_sites(model)
    sums = [torch.zeros(site.output.in_features, dtype=torch.float64) for site in sites]
    counts = [0] * len(sites)
    with eval_mode(model), capture(dict(enumerate(site.output for site in sites)), "in") as mixed:
        for rows in by_length(sources, targets):
            batch = [sources[i] for i in rows], [targets[i] for i in rows]
            forced_pass(model, *batch)
            source_BS, target_BT = (real_positions(side).to(model.device) for side in batch)
            for n, site in enumerate(sites):
                kept = mixed[n][source_BS if site.kind == "encoder" else target_BT].double()
                sums[n] += kept.sum(0).cpu()
                counts[n] += len(kept)
    return {
        Head(site.kind, site.layer, h): (total / count).float().view(site.heads, -1)[h].to(model.device)
        for site, total, count in zip(sites, sums, counts, strict=True) for h in range(site.heads)
    }


# --- activations put in from another sentence


@dataclass(frozen=True, eq=False)
class Recording:
    """What one forced pass left: the input of each W_O [B,T,H*E], and the residual stream after each layer [B,T,D]."""

    mixed: dict[tuple[Kind, int], torch.Tensor]
    stream: dict[tuple[Stack, int], torch.Tensor]


def record(model: PreTrainedModel, sources: Sequence[Sequence[int]], targets: Sequence[Sequence[int]]) -> Recording:
    """Run a batch of ids, forced to the targets, and keep what `patch` can put elsewhere."""
    sites = {(site.kind, site.layer): site.output for site in all_sites(model)}
    layers = {(stack, number): layer for stack in STACKS for number, layer in enumerate(layers_of(model, stack))}
    with eval_mode(model), capture(sites, "in") as mixed, capture(layers, "out") as stream:
        forced_pass(model, sources, targets)
    return Recording(mixed, stream)


@contextmanager
def patch(
    model: PreTrainedModel,
    donor: Recording,
    *,
    heads: Iterable[tuple[Kind, int, int]] = (),
    layers: Iterable[tuple[Stack, int]] = (),
    where: Where | None = None,
) -> Iterator[None]:
    """Inside, these heads hand over what they did for the donor, and these layers leave the donor's residual stream.

    Both at every position, or at those that `where` marks.  The batch that runs inside must have the donor's shape
    (ValueError otherwise).  UserError for a layer or head that the model does not have.
    """
    marked = where or {}
    changes: list[tuple[torch.nn.Module, Side, Change]] = []
    for site, numbers in heads_by_site(model, heads):
        stack: Stack = "encoder" if site.kind == "encoder" else "decoder"
        own = donor.mixed[site.kind, site.layer]
        changes.append((site.output, "in", _patching(own, marked.get(stack), site.columns(numbers))))
    for stack, layer in layers:
        modules = layers_of(model, stack)
        if not 0 <= layer < len(modules):
            raise UserError(f"there is no {stack} layer {layer} here: expected 0 to {len(modules) - 1}", exit_code=2)
        changes.append((modules[layer], "out", _patching(donor.stream[stack, layer], marked.get(stack))))
    with replaced(changes):
        yield


def _patching(
    donor_BTD: torch.Tensor, marked_BT: torch.Tensor | None, columns: torch.Tensor | slice = slice(None)
) -> Change:
    def change(own_BTD: torch.Tensor) -> torch.Tensor:
        if own_BTD.shape != donor_BTD.shape:
            raise ValueError(f"expected the donor's shape {tuple(donor_BTD.shape)}, got {tuple(own_BTD.shape)}")
        put_in_BTD = own_BTD.clone()
        put_in_BTD[..., columns] = donor_BTD[..., columns]
        return put_in_BTD if marked_BT is None else torch.where(
            marked_BT.to(own_BTD.device)[..., None], put_in_BTD, own_BTD)

    return change


# --- where heads look


@contextmanager
def steer(
    model: PreTrainedModel,
    *,
    temperatures: Mapping[tuple[Kind, int, int], float] | None = None,
    weights: Mapping[tuple[Kind, int, int], np.ndarray] | None = None,
) -> Iterator[None]:
    """Inside, heads attend at another temperature, or exactly with these weights [rows, columns].

        weights = softmax(scores / temperature)

    Below 1 a head makes up its mind, above 1 it wavers towards even weights; the scores are all that enters the
    softmax, a relative position bias included.  A trace made inside shows the weights that were used.

    Temperatures hold in forced passes and in `generate`, with cache and beams; so do weights of encoder heads.  Those
    of decoder and cross-attention heads are for a forced pass, which has all steps at once.  All sentences that run
    inside are treated alike; ValueError where weights do not have the shape of the head's map.  UserError for a head
    that the model does not have, a temperature that is not above 0, and weights that are negative, do not sum to 1,
    or look ahead in the decoder.
    """
    temperatures, weights = dict(temperatures or {}), dict(weights or {})
    for head, value in temperatures.items():
        if not (np.isfinite(value) and value > 0):
            raise UserError(f"temperature {value} of head {head}: expected a number above 0", exit_code=2)
    for head, matrix in weights.items():
        _check_weights(head, matrix)
    steerings = {}
    for site, numbers in heads_by_site(model, [*temperatures, *weights]):
        keys = {head: (site.kind, site.layer, head) for head in numbers}
        steerings[site.module] = Steering(
            {head: temperatures[key] for head, key in keys.items() if key in temperatures},
            {head: torch.tensor(np.array(weights[key])) for head, key in keys.items() if key in weights},
        )
    with eval_with_eager_attention(model), steered(steerings):
        yield


def _check_weights(head: tuple[Kind, int, int], matrix: np.ndarray) -> None:
    matrix = np.asarray(matrix)
    if matrix.ndim != 2 or not np.isfinite(matrix).all() or (matrix < 0).any():
        raise UserError(f"weights of head {head}: expected a matrix of numbers from 0 to 1", exit_code=2)
    if not np.allclose(matrix.sum(-1), 1, atol=1e-4):
        raise UserError(f"weights of head {head}: expected rows that sum to 1", exit_code=2)
    if head[0] == "decoder" and np.triu(matrix, k=1).any():
        raise UserError(f"weights of head {head}: a step of the decoder cannot look ahead", exit_code=2)


# --- what they find there


@contextmanager
def other_values(
    model: PreTrainedModel, change: Callable[[AttentionSite, torch.Tensor], torch.Tensor], *,
    kinds: Sequence[Kind] = KINDS,
) -> Iterator[None]:
    """Inside a forced pass, values [B,C,H,E] of these kinds are what `change(site, values)` makes of them.

        out[row] = sum over columns of weight[row, column] value[column]

    The weights come from queries and keys alone, so the maps of that layer stay the same, and only what is added is
    another.
    """

    def changing(site: AttentionSite) -> Change:
        return lambda value_BCD: change(site, value_BCD.unflatten(-1, (site.heads, site.head_size))).flatten(-2)

    sites = attention_sites(model)
    with replaced((site.value, "out", changing(site)) for kind in kinds for site in sites[kind]):
        yield


@contextmanager
def silenced(model: PreTrainedModel, cells: Sequence[Cell]) -> Iterator[None]:
    """Inside a forced pass of as many sentences, the head of cell b adds nothing from its column to sentence b.

    Its weights stay, and what it adds from other columns.  UserError for a head or column that is not there.
    """
    heads_by_site(model, [cell[:3] for cell in cells])

    def change(site: AttentionSite, value_BCHE: torch.Tensor) -> torch.Tensor:
        if len(value_BCHE) != len(cells):
            raise ValueError(f"expected a batch of {len(cells)}, a sentence for each cell, got {len(value_BCHE)}")
        value_BCHE = value_BCHE.clone()
        for b, (kind, layer, head, column) in enumerate(cells):
            if (kind, layer) == (site.kind, site.layer):
                if not 0 <= column < value_BCHE.shape[1]:
                    raise UserError(f"there is no column {column}: expected 0 to {value_BCHE.shape[1] - 1}")
                value_BCHE[b, column, head] = 0
        return value_BCHE

    with other_values(model, change):
        yield
