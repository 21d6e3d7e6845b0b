"""Path patching, which is finer than activation patching, and attribution patching, which is cheaper.

Path patching (Wang et al. 2023; Goldowsky-Dill et al. 2023): a patched head changes everything after it.  Here only its
direct input to a given receiver changes, through the residual stream and the norms.  Its effect through other heads and
layers does not change.

Attribution patching (Nanda 2023; Syed et al. 2024): to first order, the effect of a patch is its change of the
activation times the gradient of the margin.  One backward pass estimates every patch; `exact_patching` runs each.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import torch
from transformers import PreTrainedModel

from seq2see.errors import UserError
from ...passes.batches import ROWS
from ...passes.forced_pass import check_model, eval_mode, forced_pass
from ...passes.hooks import Change, replaced
from ..data.tables import cells, table
from .activations import (
    Activations,
    At,
    Donor,
    Point,
    Put,
    changed,
    checked,
    intervene,
    points_of,
    put_in,
    reading,
    run_with_cache,
    select,
)
from .choices import Choice, margins_of_batch

# N patches, T positions, H heads

if TYPE_CHECKING:
    import pandas

FROZEN = ("*.hook_z", "*.hook_mlp_out")  # together all that is added to the residual stream


@contextmanager
def path_patch(
    model: PreTrainedModel, sources: Sequence[Sequence[int]], targets: Sequence[Sequence[int]], *,
    senders: Mapping[str | At, Put], receivers: str | At | Iterable[str | At],
) -> Iterator[None]:
    """Patch only the direct paths from senders to receivers, inside a `with` block.

    First, the values of the receivers are computed with the senders patched, while all other heads and feed-forward
    layers keep their unpatched outputs.  Then only the receivers are replaced by these values, and everything after
    them is recomputed.  If the receiver is the last `hook_resid_post` of the decoder, the logits show the direct path
    to the output.  Use the block only for teacher-forced passes over the same ids.

    Args:
        model: any encoder-decoder that the lens supports.
        sources: the ids of each sentence, `</s>` included.
        targets: the ids of their translations, `</s>` included.
        senders: as `changes` in `intervene`: `{At("encoder.1.attn.hook_z", heads=[0]): Donor(activations)}`.
        receivers: names of activations or `At`, such as `["decoder.0.cross_attn.hook_k"]`.

    Raises:
        UserError: a receiver that comes before a sender, and the errors of `intervene`.
    """
    check_model(model)
    points = points_of(model)
    sent = [(checked(model, points, at), at, put) for at, put in ((_at(place), put) for place, put in senders.items())]
    places = [receivers] if isinstance(receivers, str | At) else receivers
    received = [(checked(model, points, at), at) for at in map(_at, places)]
    order = list(points)
    for point, _ in received:
        for sender, _, _ in sent:
            if order.index(point.name) <= order.index(sender.name):
                raise UserError(f"no path leads from {sender.name} to {point.name}: name a receiver that comes later",
                                exit_code=2)
    _, own = run_with_cache(model, sources, targets, names=FROZEN)
    found: dict[str, torch.Tensor] = {}
    changes: list[tuple[Point, Change]] = [(point, partial(_keep, found, point.name)) for point, _ in received]
    held = Donor(own)
    changes += [(points[at.name], partial(put_in, points[at.name], at, held)) for at in _frozen(own, points, sent)]
    changes += [(point, partial(put_in, point, at, put)) for point, at, put in sent]
    with eval_mode(model), changed(model, changes):
        forced_pass(model, sources, targets)
    sent_on = Donor(Activations(found, own.real))
    with intervene(model, {at: sent_on for _, at in received}):
        yield


def _at(place: str | At) -> At:
    return place if isinstance(place, At) else At(place)


def _keep(found: dict[str, torch.Tensor], name: str, own: torch.Tensor) -> None:
    found[name] = own


def _frozen(
    own: Activations, points: Mapping[str, Point], sent: Sequence[tuple[Point, At, Put]]
) -> Iterator[At]:
    """The activations to freeze: all heads and feed-forward layers except those that contain a sender."""
    inside: dict[str, set[int]] = {}
    for point, at, _ in sent:
        if within := re.match(r"(.*attn)\.hook_(?:q|k|v|pattern)$", point.name):
            heads = range(point.heads) if at.heads is None else at.heads
            inside.setdefault(f"{within[1]}.hook_z", set()).update(heads)
        elif within := re.match(r"(.*)\.mlp\.", point.name):
            inside[f"{within[1]}.hook_mlp_out"] = set()
    for name in own.values:
        if name not in inside:
            yield At(name)
        elif points[name].heads:
            yield At(name, heads=[h for h in range(points[name].heads) if h not in inside[name]])


class MarginChanges(dict[str, np.ndarray]):
    """Changes of a margin, in nats, by the name of the patched activation: [T,H], or [T] without heads."""

    def to_pandas(self) -> "pandas.DataFrame":
        """A row for each patched cell: the `name` of the activation, which has the layer; `position`, `head` and
        `change`.
        """
        rows = [cell | {"name": name, "change": cell["value"]} for name, changes in self.items()
                for cell in cells(changes, *("position", "head")[: changes.ndim])]
        return table(rows, columns=("name", "position", "head", "change"))


def attribution_patching(
    model: PreTrainedModel, choice: Choice, put: Put, *, names: Iterable[str] = ("*.hook_z",)
) -> MarginChanges:
    """Estimate the result of `exact_patching` from one gradient, in the same shape."""
    check_model(model)
    points = select(model, names)
    tokens = {stack.get_input_embeddings() for stack in (model.get_encoder(), model.get_decoder())}
    with (
        replaced((module, "out", lambda own: own.detach().requires_grad_()) for module in tokens),
        reading(model, points) as read,
    ):
        logits_TV = forced_pass(model, [choice.source_ids], [choice.target_ids], gradients=True)[0].logits[0]
        margin = logits_TV[-1, choice.right] - logits_TV[-1, choice.wrong]
        own = read()
    gradients = torch.autograd.grad(margin, [own[point.name][0] for point in points], allow_unused=True)
    found = MarginChanges()
    for point, gradient in zip(points, gradients, strict=True):
        activation = own[point.name][1].detach()
        change = put(point, activation) - activation
        slope = torch.zeros_like(change) if gradient is None else point.split(gradient)
        found[point.name] = _by_position(point, (change * slope).sum(-1)[0]).double().cpu().numpy()
    return found


def exact_patching(
    model: PreTrainedModel, choice: Choice, put: Put, *, names: Iterable[str] = ("*.hook_z",)
) -> MarginChanges:
    """The change of the margin log p(right) - log p(wrong) of a choice when one position of one head is patched, in
    nats.

    Args:
        model: any encoder-decoder that the lens supports.
        choice: the choice.
        put: the replacement: `Donor(activations)`, `Zero()` or `Mean(activations)`.
        names: the activations to patch; `*` matches any text.

    Returns:
        A dictionary from each name to [T,H], or to [T] for activations without heads.  For attention patterns, T counts
        rows.
    """
    check_model(model)
    whole = margins_of_batch(model, [choice])[0]
    lengths = {"source": len(choice.source_ids), "target": len(choice.target_ids)}
    found = MarginChanges()
    for point in select(model, names):
        places = [(position, head) for position in range(lengths[point.axis]) for head in range(point.heads or 1)]
        margins = [one for at in range(0, len(places), ROWS) for one in _margins(model, choice, put, point,
                                                                                 places[at : at + ROWS])]
        shape = (lengths[point.axis], point.heads) if point.heads else (lengths[point.axis],)
        found[point.name] = np.array(margins).reshape(shape) - whole
    return found


def _margins(model: PreTrainedModel, choice: Choice, put: Put, point: Point, cells: Sequence[tuple[int, int]]
             ) -> np.ndarray:
    """The margins with one patched cell each."""

    def change(own: torch.Tensor) -> torch.Tensor:
        after = own.clone()
        replacement = put(point, own[:1])[0]
        for row, (position, head) in enumerate(cells):
            cell = {point.position_dim - 1: position} | ({point.head_dim - 1: head} if point.heads else {})
            where = tuple(cell.get(dim, slice(None)) for dim in range(own.ndim - 1))
            after[(row, *where)] = replacement[where]
        return after

    with changed(model, [(point, change)]):
        return margins_of_batch(model, [choice] * len(cells))


def _by_position(point: Point, cells: torch.Tensor) -> torch.Tensor:
    """[T,H] of a pattern's [H,T]."""
    return cells if point.side else cells.T
