"""The views of a trace: their names, texts and computation.  A new view is a new entry here.

`--help` reads the names, so no library is imported until a view is made.

raw and norm have heads, [L,H,rows,columns]; rollout, mixing and contributions are of whole layers, [L,rows,columns].
left_out is of source words: `trace.left_out` [T,W].
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, TypeVar, get_args

from seq2see.errors import UserError
from .kinds import KINDS, Kind

if TYPE_CHECKING:
    import numpy as np
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

    from .attention_blocks import Blocks
    from .trace_data import TraceData

ViewName = Literal["raw", "norm", "rollout", "mixing", "contributions", "left_out"]
VIEWS: tuple[ViewName, ...] = get_args(ViewName)

Data = TypeVar("Data", bound="TraceData")
SUMS_TO_ONE = "Every row sums to 1."
TOGETHER = "A row of cross-attention and the same row of the decoder sum to 1 together."
OF_ALL_LAYERS: dict[Kind, str] = {"encoder": SUMS_TO_ONE, "cross": TOGETHER, "decoder": TOGETHER}


@dataclass(frozen=True)
class View:
    """What a view shows, what the number in a cell is, and what a row of each kind sums to.

    `heads`: every head has its own map, else every layer.  `shares`: cells are shares, at most 1.  `through_layers`:
    a layer's map is about all layers up to it.  `make` computes the maps from a trace and, if `of_blocks`, from another
    pass through the model.
    """

    about: str
    cell: str
    sums: dict[Kind, str]
    heads: bool = False
    shares: bool = True
    through_layers: bool = False
    of_blocks: bool = False
    make: Callable[[TraceData, Blocks | None], dict[Kind, np.ndarray]] | None = None


def _norm(trace: TraceData, blocks: Blocks | None) -> dict[Kind, np.ndarray]:
    """|a W_O^h v^h| for every head.  Includes the bias of the value but not of the output; a pre-norm is applied first.
    A large weight on a short value has little effect, and this view shows that."""
    import numpy as np

    assert blocks
    return {kind: np.stack([weight_HRC * block.vector_HCD.norm(dim=-1).cpu().numpy()[:, None]
                            for weight_HRC, block in zip(trace.maps(kind), blocks.by_kind[kind], strict=True)])
            for kind in KINDS}  # fmt: skip


def _rollout(trace: TraceData, blocks: Blocks | None) -> dict[Kind, np.ndarray]:
    from .attention_blocks import halved, roll

    return roll(halved(trace))


def _mixing(trace: TraceData, blocks: Blocks | None) -> dict[Kind, np.ndarray]:
    """The residual counts as the row's own column; in cross-attention it is what a row lacks to 1."""
    assert blocks
    layers = blocks.layers
    return {"encoder": layers.encoder, "decoder": layers.decoder, "cross": layers.cross}


def _contributions(trace: TraceData, blocks: Blocks | None) -> dict[Kind, np.ndarray]:
    """`trace.source_share` is the source's part of the last layer."""
    from .attention_blocks import roll

    assert blocks
    return roll(blocks.layers)


VIEW: dict[str, View] = {
    "raw": View(
        "the weights themselves: where the head looked, not why the model chose its words", "weight",
        dict.fromkeys(KINDS, SUMS_TO_ONE), heads=True,
    ),
    "norm": View(
        "how long the vector is that came from there: weight, value and output projection (Kobayashi et al. 2020)",
        "length of the vector", dict.fromkeys(KINDS, "Lengths of vectors: rows do not sum to 1."), heads=True,
        shares=False, of_blocks=True, make=_norm,
    ),
    "rollout": View(
        "where the content of a state comes from through all layers up to this one, if each passes on half of the mean"
        " of its heads and half of its residual (Abnar and Zuidema 2020)", "share", OF_ALL_LAYERS,
        through_layers=True, make=_rollout,
    ),
    "mixing": View(
        "each token's share of the attention block's output, within this layer (ALTI, Ferrando et al. 2022)",
        "share", {
            "encoder": SUMS_TO_ONE, "decoder": SUMS_TO_ONE,
            "cross": "What a row lacks to 1 is the residual's share.",
        }, of_blocks=True, make=_mixing,
    ),
    "contributions": View(
        "each token's contribution to a state through all layers up to this one (ALTI+, Ferrando et al. 2022)", "share",
        OF_ALL_LAYERS, through_layers=True, of_blocks=True, make=_contributions,
    ),
    "left_out": View(
        "how much less probable each token of the translation becomes when a source word is left out",
        "fall in log-probability, nats",
        dict.fromkeys(KINDS, "Nats, not shares: below 0 the token is more probable without the word."), shares=False,
    ),
}  # fmt: skip
WITH_HEADS = tuple(name for name in VIEWS if VIEW[name].heads)


def check_views(views: Sequence[str]) -> None:
    """UserError for an unknown view, and for a bare string instead of a list."""
    if isinstance(views, str):
        raise UserError(f'views="{views}": expected a list of names, such as views=["{views}"]', exit_code=2)
    for view in views:
        if view not in VIEWS:
            raise UserError(f"there is no view {view!r}; there are {', '.join(VIEWS)}", exit_code=2)


def add_views(
    model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, traces: Sequence[Data], *, views: Sequence[str]
) -> list[Data]:
    """The traces with more views; existing ones are kept.  The model must be the one they were made with.

    `views` are names of VIEWS.  norm, mixing and contributions cost one more pass together, left_out one for each
    source word.
    UserError for an unknown view, or a model without float32 weights or whose attention modules cannot be reached.
    """
    from .attention_blocks import blocks_of
    from .erasure import log_prob_drops
    from .teacher_forcing import check_model

    check_model(model)
    check_views(views)
    if not set(views) - {"raw"}:
        return list(traces)
    wanted = sorted((name for name in VIEWS if name in views), key=lambda name: VIEW[name].of_blocks)
    drops = log_prob_drops(model, tokenizer, traces) if "left_out" in views else [trace.left_out for trace in traces]
    inside = blocks_of(model, traces) if any(VIEW[name].of_blocks for name in wanted) else [None] * len(traces)
    found = []
    for trace, drop, blocks in zip(traces, drops, inside, strict=True):
        made = {name: make(trace, blocks) for name in wanted if (make := VIEW[name].make)}
        found.append(replace(trace, left_out=drop, **{
            kind: getattr(trace, kind) | {name: maps[kind] for name, maps in made.items()} for kind in KINDS
        }))  # fmt: skip
    return found
