"""Interventions on heads while a model runs: ablation, activation patching, steering of attention, other values.

Ablation: the heads of a layer lie side by side in the input of the output projection W_O, so setting a head's columns
to zero removes it (Michel et al. 2019).  The model may never have seen zeros there in training.  The mean of the head
over some sentences, a constant, is the alternative: it removes the varying part and keeps the constant part.

Activation patching: a minimal pair runs twice.  The donor's run records its activations; the receiver's run uses some
of them instead of its own.  If the receiver then chooses the donor's word (*elle* for *il*), the patched activations
carried the difference (Vig et al. 2020; Meng et al. 2022).  Both texts must have the same length, because positions
correspond one to one.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Literal, TypeVar

import numpy as np
import torch
from transformers import PreTrainedModel

from seq2see.errors import UserError
from ...passes.attention_kinds import Kind
from ...passes.batches import by_length, real_positions
from ...passes.feed_forward import feed_forward_sites
from ...passes.forced_pass import eval_mode, eval_with_eager_attention, forced_pass
from ...passes.hooks import (
    STACKS,
    AttentionChange,
    AttentionSite,
    Change,
    Head,
    Side,
    Stack,
    all_sites,
    capture,
    heads_by_site,
    layers_of,
    other_values,
    replaced,
    steered,
)

# B sentences, T positions (of the source in the encoder, of the decoder's steps elsewhere), R rows, C columns, H heads,
# E size of one head, D model width

Cell = tuple[Kind, int, int, int]  # kind, layer, head, column
Place = TypeVar("Place")
SIDES: Mapping[Stack, str] = {"encoder": "source", "decoder": "target"}  # whose positions a stack has
Where = Mapping[Stack, torch.Tensor]  # the positions [B,T] to patch, by stack; all positions of a stack not named
FASTER = 4  # a pass of a whole layer's heads than as many passes


# --- ablation


@contextmanager
def ablate(
    model: PreTrainedModel,
    heads: Iterable[tuple[Kind, int, int]],
    *,
    replace: Literal["zero", "mean"] = "zero",
    means: Mapping[Head, torch.Tensor] | None = None,
) -> Iterator[None]:
    """Switch off attention heads inside a `with` block.

        output = sum over the other heads of W_O^h (weights^h v^h)  +  sum over these heads of W_O^h means[h]

    With zeros, this is the head mask of Michel et al. 2019, section 2.3.  Every pass of the model inside the block is
    affected, including `generate` with cache and beams.  The attention weights of the same layer stay as they are.

    Args:
        model: any encoder-decoder that the lens supports.
        heads: (kind, layer, head), such as ("cross", 1, 0), counted from 0.
        replace: "zero" for zeros, "mean" for the constant `means`.
        means: the mean output [E] of each head; see `mean_outputs` and `head_means`.

    Raises:
        UserError: a kind, layer or head that does not exist, or a model whose heads cannot be reached.
        ValueError: "mean" without `means`, or `means` without "mean".
    """
    if (replace == "mean") != (means is not None):
        raise ValueError('expected means exactly for replace="mean": see mean_outputs')
    changes: list[tuple[torch.nn.Module, Side, Change]] = []
    for site, numbers in heads_by_site(model, heads):
        columns = site.columns(numbers)
        fill = torch.zeros(len(columns)) if means is None else torch.cat(
            [means[Head(site.kind, site.layer, h)] for h in numbers])
        changes.append((site.output, "in", _overwrite(fill, columns)))
    with replaced(changes):
        yield


@contextmanager
def ablate_by_row(
    model: PreTrainedModel, site: AttentionSite, means: Mapping[Head, torch.Tensor]
) -> Iterator[Callable[[Sequence[int]], None]]:
    """Inside, each row of a batch has a head of its own replaced by its mean, as in `ablate`: many heads in one pass.

    All heads belong to one attention module.  Call the yielded function before each pass, with the head of each row.
    """
    mean_HE = torch.stack([means[Head(site.kind, site.layer, h)] for h in range(site.heads)])
    chosen: list[int] = []

    def change(own_BTD: torch.Tensor) -> torch.Tensor:
        put_in_BTHE = own_BTD.clone().unflatten(-1, (site.heads, -1))
        put_in_BTHE[torch.arange(len(chosen)), :, chosen] = mean_HE[chosen].to(own_BTD)[:, None]
        return put_in_BTHE.flatten(2)

    with replaced([(site.output, "in", change)]):
        yield lambda heads: chosen.__setitem__(slice(None), heads)


def _overwrite(
    values: torch.Tensor, columns: torch.Tensor | slice = slice(None), marked_BT: torch.Tensor | None = None, *,
    side: str = "",
) -> Change:
    """Puts values into these columns, everywhere or at the marked positions.

    The values are constant, or those of a donor at each position of that `side`, source or target.
    """

    def change(own_BTD: torch.Tensor) -> torch.Tensor:
        if values.ndim > 1 and values.shape[:-1] != own_BTD.shape[:-1]:
            (donors, theirs), (sentences, own) = values.shape[:2], own_BTD.shape[:2]
            raise ValueError(f"the donor has {donors} sentences and this pass has {sentences}" if donors != sentences
                             else f"the donor has {theirs} {side} positions and this pass has {own}: patch in a forced"
                             " pass with as many tokens, for example by Translator.look_at")
        put_in_BTD = own_BTD.clone()
        put_in_BTD[..., columns] = values.to(own_BTD)
        return put_in_BTD if marked_BT is None else torch.where(
            marked_BT.to(own_BTD.device)[..., None], put_in_BTD, own_BTD)

    return change


def mean_outputs(
    model: PreTrainedModel, sources: Sequence[Sequence[int]], targets: Sequence[Sequence[int]]
) -> dict[Head, torch.Tensor]:
    """The mean output [E] of each head, the input of W_O, over all positions of some sentences, without padding.

    `sources` and `targets` are ids, `</s>` included.  The model reads the given targets (teacher forcing).  Raises
    ValueError without sentences.
    """
    sites = all_sites(model)
    places = {site: (site.output, site.kind != "encoder") for site in sites}
    means = _means(model, places, "in", sources, targets)
    return {Head(site.kind, site.layer, h): means[site].view(site.heads, -1)[h]
            for site in sites for h in range(site.heads)}


def mean_feed_forward(
    model: PreTrainedModel, sources: Sequence[Sequence[int]], targets: Sequence[Sequence[int]]
) -> dict[int, torch.Tensor]:
    """The mean output [D] of each feed-forward layer of the decoder, by layer, over all positions of some sentences.

    The arguments are those of `mean_outputs`.
    """
    places = {site.layer: (site.last, True) for site in feed_forward_sites(model, "decoder")}
    return _means(model, places, "out", sources, targets)


def _means(
    model: PreTrainedModel, places: Mapping[Place, tuple[torch.nn.Module, bool]], side: Side,
    sources: Sequence[Sequence[int]], targets: Sequence[Sequence[int]],
) -> dict[Place, torch.Tensor]:
    """The mean of the input or output of each module over all positions.

    Positions are those of the sources or, for marked modules, of the decoder's steps.
    """
    if not sources:
        raise ValueError("expected at least one sentence to take means over")
    sums, counts = dict.fromkeys(places, torch.zeros(())), dict.fromkeys(places, 0)
    with eval_mode(model), capture({place: module for place, (module, _) in places.items()}, side) as seen:
        for rows in by_length(sources, targets):
            batch = [sources[i] for i in rows], [targets[i] for i in rows]
            forced_pass(model, *batch)
            source_BS, target_BT = (real_positions(side).to(model.device) for side in batch)
            for place, (_, in_decoder) in places.items():
                kept = seen[place][target_BT if in_decoder else source_BS].double()
                sums[place] = sums[place] + kept.sum(0).cpu()
                counts[place] += len(kept)
    return {place: (sums[place] / counts[place]).float().to(model.device) for place in places}


# --- activation patching


@dataclass(frozen=True, eq=False)
class Recording:
    """The activations of one teacher-forced pass of B sentences: the result of `record` and an argument of `patch`.

    `mixed` has the input [B,T,H*E] of each output projection W_O, by (kind, layer).  Columns h*E to (h+1)*E are the
    output of head h.  `stream` has the residual stream after each layer [B,T,D] by ("encoder" or "decoder", layer).  T
    counts source positions in the encoder and decoder steps elsewhere.
    """

    mixed: dict[tuple[Kind, int], torch.Tensor]
    stream: dict[tuple[Stack, int], torch.Tensor]


def record(model: PreTrainedModel, sources: Sequence[Sequence[int]], targets: Sequence[Sequence[int]]) -> Recording:
    """Run a batch of sentences with given translations, and record the activations that `patch` can use.

    `sources` and `targets` are ids, `</s>` included.  Raises UserError for a model whose heads or layers cannot be
    reached.
    """
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
    """Replace activations by those of a donor inside a `with` block: activation patching.

    See Vig et al. 2020 and Meng et al. 2022.

    Args:
        model: the model that the donor was recorded with.
        donor: the result of `record`.
        heads: (kind, layer, head) of the heads whose outputs are replaced.
        layers: ("encoder" or "decoder", layer) of the layers after which the residual stream is replaced.
        where: booleans [B,T] by "encoder" and "decoder" that mark the positions; None: every position.

    Raises:
        ValueError: the batch inside the block does not have the donor's shape.
        UserError: a layer or head that does not exist.
    """
    marked = where or {}
    changes: list[tuple[torch.nn.Module, Side, Change]] = []
    for site, numbers in heads_by_site(model, heads):
        stack: Stack = "encoder" if site.kind == "encoder" else "decoder"
        columns = site.columns(numbers)
        own = donor.mixed[site.kind, site.layer][..., columns]
        changes.append((site.output, "in", _overwrite(own, columns, marked.get(stack), side=SIDES[stack])))
    for stack, layer in layers:
        modules = layers_of(model, stack)
        if not 0 <= layer < len(modules):
            raise UserError(f"there is no {stack} layer {layer} here: expected 0 to {len(modules) - 1}", exit_code=2)
        values = donor.stream[stack, layer]
        changes.append((modules[layer], "out", _overwrite(values, marked_BT=marked.get(stack), side=SIDES[stack])))
    with replaced(changes):
        yield


# --- steering


@contextmanager
def steer(
    model: PreTrainedModel,
    *,
    temperatures: Mapping[tuple[Kind, int, int], float] | None = None,
    weights: Mapping[tuple[Kind, int, int], np.ndarray] | None = None,
) -> Iterator[None]:
    """Change the attention of heads inside a `with` block: another temperature, or given weights.

        weights = softmax(scores / temperature)        scores = QK^T / sqrt(E)   (Vaswani et al. 2017, eq. 1)

    A temperature below 1 makes attention sharper, and one above 1 more even.  T5's scores are not scaled, and include
    its relative position bias.  A trace made inside the block shows the weights in use.

    Temperatures work in teacher-forced passes and in `generate`, with cache and beams.  So do weights of encoder heads.
    Weights of decoder and cross-attention heads need all steps at once, so they work in teacher-forced passes only.
    The change is the same for all sentences of a batch.

    Args:
        model: any encoder-decoder that the lens supports.
        temperatures: the temperature of each head (kind, layer, head).
        weights: the weights [rows, columns] of each head.

    Raises:
        ValueError: weights of another shape than the head's map.
        UserError: a head that does not exist; a temperature that is not above 0; weights that are negative, do not sum
            to 1, or look ahead in the decoder.
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
        steerings[site.module] = AttentionChange(
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


# --- values


@contextmanager
def silenced(model: PreTrainedModel, cells: Sequence[Cell]) -> Iterator[None]:
    """Inside, the head of cell b contributes nothing from its column to sentence b.

    For a forced pass of len(cells) sentences.  The head's weights and its contributions from other columns stay.
    Raises UserError for a head or column that does not exist.
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
