"""Circuits: the few heads and feed-forward layers that carry the difference between two sentences.

The translations of a minimal pair, *too tired* and *too wide*, differ at some token, *il* or *elle*.  Parts are
attention heads (`hook_z`) and feed-forward layers (`hook_mlp_out`): everything that is added to the residual stream.  A
part is corrupted by replacing its output, at every position, by its output in the other sentence.  With every part
corrupted, the margin m = log p(il) - log p(elle) is the other sentence's own.  For a set of parts C, where M are all
parts,

    faithfulness(C) = (m(all but C corrupted) - m(M corrupted)) / (m(nothing corrupted) - m(M corrupted))
    completeness(C) = (m(C corrupted)         - m(M corrupted)) / (m(nothing corrupted) - m(M corrupted))

Faithfulness is the share of the difference that C keeps by itself: 1 for a faithful circuit (Hanna et al. 2024).
Completeness is the share that remains without C: 0 for a complete circuit, which no other part can replace (after Wang
et al. 2023).

Greedy pruning orders the parts.  Each round removes the part whose loss keeps the difference nearest to its original
value.  Every figure comes from a real forced pass, because gradient estimates miss a query whose attention is
saturated.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import torch
from transformers import PreTrainedModel

from seq2see.errors import UserError
from ...passes.batches import ROWS
from ...passes.forced_pass import check_model
from ...passes.hooks import Stack
from ..changes.activations import Donor, Point, changed, run_with_cache, select
from ..changes.choices import Choice, margins_of_batch
from ..changes.path_patching import FROZEN
from ..changes.word_mapping import WordMapping, word_mapping
from ..data.trace_data import TraceData
from .flow_graph import BlockKind

# N pairs of sentences, P parts, K sets of parts, T positions, H heads

DIFFERENCE = 0.01  # nats: with less between two sentences, shares of it are rounding errors
AT_ONCE = 20  # of so many parts that are kept, one goes at a time; of twice as many two, and so on


class Part(NamedTuple):
    """An attention head or, without `head`, a feed-forward layer; layers and heads count from 0."""

    stack: Stack
    layer: int
    kind: BlockKind
    head: int | None = None

    def __str__(self) -> str:
        return f"{self.stack} feed-forward {self.layer}" if self.head is None else (
            f"{self.kind} {self.layer}.{self.head}")


@dataclass(frozen=True)
class SentencePair:
    """A sentence (`receiver`), and the sentence (`donor`) whose activations replace those of corrupted parts.

    The model reads both sentences up to the token at which their translations differ.  If the sources differ in length,
    a `mapping` joins their words.
    """

    receiver: Choice
    donor: Choice
    mapping: WordMapping | None = None

    @classmethod
    def between(cls, receiver: TraceData, donor: TraceData) -> "SentencePair":
        """Make the pair from two traces.

        Raises UserError if their translations are equal, or if no words can be joined.
        """
        ids = receiver.target_ids, donor.target_ids
        at = next((t for t, (one, other) in enumerate(zip(*ids, strict=False)) if one != other), None)
        if at is None:
            raise UserError(f"both sentences have the same translation, {receiver.target_text!r}: a circuit carries a"
                            " difference; give a pair whose translations differ, or name two translations", exit_code=2)
        first, second = (Choice(tuple(trace.source_ids), tuple(own[:at]), own[at], other[at]) for trace, own, other in
                         ((receiver, *ids), (donor, *ids[::-1])))
        mapping = None
        if len(receiver.source_ids) != len(donor.source_ids):
            joined = word_mapping(receiver, donor, target_words={})  # what is written is the same, up to `at`
            mapping = WordMapping(joined.source, {t: (t,) for t in range(at + 1)})
        return cls(first, second, mapping)


@dataclass(frozen=True)
class Ranked:
    """A part in the order of a circuit.

    `alone` is the change of the margin in nats if only this part is corrupted.  `faithfulness` and `completeness` are
    those of the set of this part and all parts before it.
    """

    part: Part
    alone: float
    faithfulness: float
    completeness: float


@dataclass(frozen=True)
class Circuit:
    """The parts of a model, ordered by their importance for a difference; the first `size` parts are the circuit.

    The circuit has the fewest parts in this order that keep `share` of the difference.  `margin` is the margin of the
    sentences without corruption, and `corrupted` the margin with every part corrupted, both in nats.  Both are means
    over `pairs`.
    """

    share: float
    pairs: int
    margin: float
    corrupted: float
    size: int
    order: tuple[Ranked, ...]

    @property
    def parts(self) -> tuple[Part, ...]:
        return tuple(one.part for one in self.order[: self.size])

    def to_dict(self) -> dict[str, Any]:
        """The circuit as a dictionary for JSON."""
        return asdict(self) | {"order": [asdict(one) | {"part": one.part._asdict() | {"name": str(one.part)}}
                                         for one in self.order]}


def parts_of(model: PreTrainedModel) -> tuple[Part, ...]:
    """Every head and feed-forward layer of a model, in the order of a forward pass."""
    return tuple(part for point in select(model, FROZEN) for part in _parts_at(point))


def find_circuit(model: PreTrainedModel, pairs: Sequence[SentencePair], *, share: float = 0.9) -> Circuit:
    """Find the circuit that distinguishes the sentences of minimal pairs, by greedy pruning with exact patches.

    With P parts, the search needs about P²/2 short passes for each pair, and fewer than that with more than twenty
    parts.

    Args:
        model: any encoder-decoder that the lens supports.
        pairs: the minimal pairs; see `SentencePair.between`.
        share: the share of the difference that the circuit must keep.

    Raises:
        UserError: a share that is not above 0 and at most 1, no pairs, or sentences without a difference.
    """
    if not 0 < share <= 1:
        raise UserError(f"share {share}: expected more than 0 and at most 1", exit_code=2)
    runs = Corruption(model, pairs)
    whole, kept, removed = runs.parts, [*runs.parts], list[Part]()
    alone = dict(zip(whole, runs.margins([{part} for part in whole]) - runs.margin, strict=True))
    while kept:
        far = abs(runs.faithfulness([{*kept} - {part} for part in kept]) - 1)
        loses = dict(zip(kept, far, strict=True))
        go = sorted(kept, key=lambda part: loses[part])[: max(1, len(kept) // AT_ONCE)]
        removed += go
        kept = [part for part in kept if part not in go]
    order = removed[::-1]
    sets = [{*order[:k]} for k in range(1, len(order) + 1)]
    found = [Ranked(part, float(alone[part]), float(own), float(left)) for part, own, left in
             zip(order, runs.faithfulness(sets), runs.completeness(sets), strict=True)]
    size = next((k for k, one in enumerate(found, 1) if one.faithfulness >= share), len(found))
    return Circuit(share, len(pairs), runs.margin, runs.corrupted, size, tuple(found))


class Corruption:
    """Sets of parts corrupted in the first sentence of each pair, from the second.

    Margins are means over the pairs in nats: `margin` with nothing corrupted, `corrupted` with all `parts` corrupted.
    """

    def __init__(self, model: PreTrainedModel, pairs: Sequence[SentencePair]) -> None:
        check_model(model)
        if not pairs:
            raise UserError("there is no pair of sentences: expected at least one", exit_code=2)
        self.model, self.pairs, self.parts = model, pairs, parts_of(model)
        self._points = [(point, _parts_at(point)) for point in select(model, FROZEN)]
        self._donors = [Donor(run_with_cache(model, [pair.donor.source_ids], [pair.donor.target_ids], names=FROZEN)[1],
                              pair.mapping) for pair in pairs]
        self.margin, self.corrupted = self.margins([set(), set(self.parts)])
        if abs(self.margin - self.corrupted) < DIFFERENCE:
            raise UserError(f"the sentences do not differ at this token, a margin of {self.margin:.3f} nats and one of"
                            f" {self.corrupted:.3f}: give pairs that do", exit_code=2)

    def margins(self, sets: Sequence[set[Part]]) -> np.ndarray:
        """[K]: the margin with each set corrupted."""
        return np.mean([np.concatenate([self._of_pair(pair, donor, sets[at : at + ROWS])
                                        for at in range(0, len(sets), ROWS)])
                        for pair, donor in zip(self.pairs, self._donors, strict=True)], axis=0)

    def faithfulness(self, sets: Iterable[set[Part]]) -> np.ndarray:
        """[K]: the share of the difference that each set keeps, with all other parts corrupted."""
        return self._share([{*self.parts} - one for one in sets])

    def completeness(self, sets: Iterable[set[Part]]) -> np.ndarray:
        """[K]: the share of the difference that remains with exactly this set corrupted."""
        return self._share([*sets])

    def _share(self, sets: Sequence[set[Part]]) -> np.ndarray:
        return (self.margins(sets) - self.corrupted) / (self.margin - self.corrupted)

    def _of_pair(self, pair: SentencePair, donor: Donor, sets: Sequence[set[Part]]) -> np.ndarray:
        changes = []
        for point, parts in self._points:
            mark_KH = torch.tensor([[part in one for part in parts] for one in sets])
            if mark_KH.any():
                changes.append((point, partial(_corrupt, point, donor, mark_KH)))
        with changed(self.model, changes):
            return margins_of_batch(self.model, [pair.receiver] * len(sets))


def _corrupt(point: Point, donor: Donor, mark_KH: torch.Tensor, own: torch.Tensor) -> torch.Tensor:
    """The activation with corrupted heads or layers; the rows of a batch are sets of parts.

    For a feed-forward layer [K,T,D] the only column of marks is the layer's.
    """
    mark = mark_KH[:, None, :, None] if point.heads else mark_KH[:, :, None]
    return torch.where(mark.to(own.device), donor(point, own), own)


def _parts_at(point: Point) -> list[Part]:
    name = re.fullmatch(r"(encoder|decoder)\.(\d+)\.(?:(cross_)?attn\.hook_z|hook_mlp_out)", point.name)
    if name is None:
        raise ValueError(f"{point.name} is not a part")
    stack: Stack = "encoder" if name[1] == "encoder" else "decoder"
    if not point.heads:
        return [Part(stack, int(name[2]), "feed_forward")]
    return [Part(stack, int(name[2]), "cross" if name[3] else stack, head) for head in range(point.heads)]
