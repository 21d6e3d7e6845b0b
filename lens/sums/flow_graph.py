"""The graph of one prediction: the heads and feed-forward layers through which the tokens reach the predicting state.

Nodes are tokens by layer: the state of one position after each block.  Edges are the operations of a block: a head from
a column to a row, a feed-forward layer from a position to itself, and the residual, which leaves a state unchanged.
Within a block an edge has the share of the output that ALTI assigns to its part (`attention_blocks.proximity`), for
each head separately (Ferrando and Voita 2024, "Information Flow Routes: Automatically Interpreting Language Models at
Scale").

Shares are passed down from the predicting state, whose share is 1.  The share of an edge is the share of the state that
it enters, times its own share within the block.  The share of a state is the sum of the edges that leave it.  So the
share of an edge refers to the whole prediction.  Without a threshold the shares are conserved, and those of the
embeddings sum to 1.

The graph belongs to the step and is the same for every token.  `direct_attribution.py` computes the contribution of a
block to a given token.
"""

from collections import defaultdict
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any, Literal, NamedTuple

import torch
from transformers import PreTrainedModel

from seq2see.errors import UserError
from ...passes.attention_kinds import Kind
from ...passes.feed_forward import FeedForwardSite, feed_forward_sites
from ...passes.forced_pass import check_model
from ...passes.frozen_norm import FrozenNorm
from ...passes.hooks import STACKS, Stack, capture
from ..data.trace_data import TraceData
from ..views.attention_blocks import AttentionParts, Blocks, blocks_of, proximity

# R rows, C columns, H heads, P parts, D model width

BlockKind = Literal["encoder", "decoder", "cross", "feed_forward"]
After = Literal["embedding"] | BlockKind
EdgeKind = Literal["residual"] | BlockKind
ATTENTIONS: dict[Stack, tuple[Kind, ...]] = {"encoder": ("encoder",), "decoder": ("decoder", "cross")}
ORDER: tuple[After, ...] = ("embedding", "encoder", "decoder", "cross", "feed_forward")  # within a layer


@dataclass(frozen=True)
class Node:
    """The state at one position after a block of a layer; layers count from 0, and the embedding's layer is -1.

    `token` is the token at this position: a source token, or an input of the decoder.  `share` is the share of the
    prediction that passes through the state.
    """

    stack: Stack
    layer: int
    after: After
    position: int
    token: str
    share: float


@dataclass(frozen=True)
class Edge:
    """A connection from one node to a later one; `source` and `target` are indices in the graph's `nodes`.

    It belongs to a head (kind of attention, layer and index from 0), to a feed-forward layer, or to the residual of a
    block.
    """

    kind: EdgeKind
    layer: int
    head: int | None
    source: int
    target: int
    share: float


@dataclass(frozen=True)
class ContributionGraph:
    """How the prediction of `token` at one step is composed: a graph whose edges have at least the share `threshold`.

    `kept` is the share of the prediction that reaches the embeddings through these edges.  `from_source` is the part of
    `kept` that comes from the source.
    """

    step: int
    token: str
    threshold: float
    kept: float
    from_source: float
    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]

    def plain(self) -> dict[str, Any]:
        """The graph as a dictionary for JSON."""
        return asdict(self)


def contribution_graph(
    model: PreTrainedModel, trace: TraceData, *, step: int, threshold: float = 0.01
) -> ContributionGraph:
    """The contribution graph of one step of a trace (Ferrando and Voita 2024), with edges of at least `threshold`.

    The model must be the one that the trace was made with.  The graph costs one pass.  Raises UserError for a step that
    does not exist, a threshold that is not from 0 to 1, and a model whose blocks cannot be reached.
    """
    check_model(model)
    if not 0 <= step < len(trace.target):
        raise UserError(f"there is no step {step} here: expected 0 to {len(trace.target) - 1}", exit_code=2)
    if not 0 <= threshold <= 1:
        raise UserError(f"threshold {threshold}: expected a share from 0 to 1", exit_code=2)
    sites = {stack: feed_forward_sites(model, stack) for stack in STACKS}
    both = [site for stack in STACKS for site in sites[stack]]
    with (
        capture({(site.stack, site.layer): site.module for site in both}, "out") as after,
        capture({(site.stack, site.layer): site.norm for site in both}, "in") as norm_read,
    ):
        [blocks] = blocks_of(model, [trace])
    flow = _Flow(threshold, encoded=len(sites["encoder"]) - 1)
    flow.share[_At("decoder", len(sites["decoder"]) - 1, "feed_forward", step)] = 1.0
    for stack in reversed(STACKS):
        for site in reversed(sites[stack]):
            key = stack, site.layer
            inner = _feed_forward(site, blocks, after[key][0], norm_read[key][0])
            flow.through(site.layer, stack, "feed_forward", inner, before=ATTENTIONS[stack][-1])
            for number, kind in reversed([*enumerate(ATTENTIONS[stack])]):
                before = ATTENTIONS[stack][number - 1] if number else None
                flow.through(site.layer, stack, kind, _attention(blocks, kind, site.layer), before=before)
    return flow.graph(trace, step)


class _At(NamedTuple):
    """The location of a node."""

    stack: Stack
    layer: int
    after: After
    position: int


@dataclass(frozen=True)
class _Parts:
    """The parts whose sum is the state after a block, one row at a time: [P,D], each with its (head, column).

    The residual comes last, with neither.
    """

    names: list[tuple[int | None, int]]
    of_row: Callable[[int], torch.Tensor]  # [P,D], in the order of `names`, then the residual's
    output_RD: torch.Tensor

    def shares(self, row: int) -> list[float]:
        found: list[float] = proximity(self.of_row(row)[None], self.output_RD[row][None])[0].tolist()
        return found


def _attention(blocks: Blocks, kind: Kind, layer: int) -> _Parts:
    block = blocks.by_kind[kind][layer]
    weight_HRC = torch.tensor(blocks.trace.maps(kind)[layer]).to(block.output_RD.device)
    heads, _, columns = weight_HRC.shape

    def of_row(row: int) -> torch.Tensor:
        part_HCD = block.parts_by_head(weight_HRC, row)
        return torch.cat([part_HCD.flatten(0, 1), block.residual(slice(row, row + 1))])

    return _Parts([(head, column) for head in range(heads) for column in range(columns)], of_row, block.output_RD)


def _feed_forward(
    site: FeedForwardSite, blocks: Blocks, after_RD: torch.Tensor, norm_read_RD: torch.Tensor
) -> _Parts:
    """A feed-forward layer has one part, with its biases, of its own position."""
    attention: AttentionParts = blocks.by_kind[ATTENTIONS[site.stack][-1]][site.layer]
    before_RD, is_pre_norm = attention.output_RD, attention.summed_RD is None
    added_RD = (after_RD if is_pre_norm else norm_read_RD) - before_RD
    part_R2D = torch.stack([added_RD, before_RD], dim=1)
    if not is_pre_norm:
        part_R2D = FrozenNorm.of(site.norm, norm_read_RD).apply(part_R2D)
    return _Parts([], part_R2D.__getitem__, after_RD)


class _Flow:
    """Shares passed down from the prediction, block by block; `encoded` is the last layer of the encoder."""

    def __init__(self, threshold: float, *, encoded: int) -> None:
        self.threshold, self.encoded = threshold, encoded
        self.share: dict[_At, float] = defaultdict(float)
        self.edges: list[tuple[EdgeKind, int, int | None, _At, _At, float]] = []

    def through(self, layer: int, stack: Stack, after: BlockKind, parts: _Parts, *, before: After | None) -> None:
        """Passes the shares after one block to the states before it.

        If no block of this layer comes `before` it, these are the states of the layer below.
        """
        for at in [at for at in self.share if at[:3] == (stack, layer, after)]:
            own = _before(stack, layer, before, at.position)
            names = parts.names or [(None, at.position)]
            for (head, column), share in zip([*names, (None, -1)], parts.shares(at.position), strict=True):
                handed = self.share[at] * share
                if handed <= 0 or handed < self.threshold:
                    continue
                kind: EdgeKind = after if column >= 0 else "residual"
                source = own if column < 0 or after == "feed_forward" else self._column(after, own, column)
                self.share[source] += handed
                self.edges.append((kind, layer, head, source, at, handed))

    def _column(self, kind: BlockKind, own: _At, column: int) -> _At:
        if kind == "cross":
            return _At("encoder", self.encoded, "feed_forward", column)
        return own._replace(position=column)

    def graph(self, trace: TraceData, step: int) -> ContributionGraph:
        names = {"encoder": trace.source, "decoder": trace.inputs}
        order = sorted(self.share, key=lambda at: (STACKS.index(at.stack), at.layer, ORDER.index(at.after),
                                                   at.position))
        number = {at: i for i, at in enumerate(order)}
        begun = {stack: sum((share for at, share in self.share.items()
                            if at.after == "embedding" and at.stack == stack), 0.0) for stack in STACKS}
        return ContributionGraph(
            step, trace.target[step].text, self.threshold, sum(begun.values()), begun["encoder"],
            tuple(Node(*at, names[at.stack][at.position].text, self.share[at]) for at in order),
            tuple(Edge(kind, layer, head, number[source], number[target], share)
                  for kind, layer, head, source, target, share in self.edges),
        )


def _before(stack: Stack, layer: int, before: After | None, position: int) -> _At:
    if before is not None:
        return _At(stack, layer, before, position)
    return _At(stack, layer - 1, "feed_forward" if layer else "embedding", position)
