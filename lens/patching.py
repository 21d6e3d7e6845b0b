"""Activation patching: what one sentence's activations do in another that differs from it in a word or two.

A minimal pair runs twice, the donor once to write down its activations, the receiver with some of them put in the
place of its own.  Where the receiver then chooses the donor's word (*elle* for *il*), what was put in carried the
difference (Vig et al. 2020; Meng et al. 2022).  It works position by position, so both must be of the same length.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import torch
from torch import nn
from transformers import PreTrainedModel

from seq2see.errors import UserError
from .ablation import Hook, columns_of, heads_by_site, hooked
from .anatomy import attention_sites, layer_list
from .choices import Choice, by_length, margins_of_batch
from .forcing import forced_pass, looking
from .kinds import Kind

# B sentences, T positions (of the source in the encoder, of the decoder's steps elsewhere), D model width

Stack = Literal["encoder", "decoder"]
Where = Mapping[Stack, torch.Tensor]  # which positions [B,T] are patched, by stack; a stack that is not named: all


@dataclass(frozen=True, eq=False)
class Recording:
    """What one forced pass left: the input of each W_O [B,T,H*E], and the residual stream after each layer [B,T,D]."""

    mixed: dict[tuple[Kind, int], torch.Tensor]
    stream: dict[tuple[Stack, int], torch.Tensor]


def record(model: PreTrainedModel, sources: Sequence[Sequence[int]], targets: Sequence[Sequence[int]]) -> Recording:
    """Run a batch of ids, forced to the targets, and keep what `patch` can put elsewhere."""
    recording = Recording({}, {})

    def keep(key: tuple[Kind, int]) -> Hook:
        def hook(module: nn.Module, args: tuple[Any, ...]) -> tuple[Any, ...]:
            recording.mixed[key] = args[0]
            return args

        return hook

    def keep_output(key: tuple[Stack, int]) -> Any:
        def hook(module: nn.Module, args: Any, output: Any) -> None:
            recording.stream[key] = output[0] if isinstance(output, tuple) else output

        return hook

    sites = [site for sites in attention_sites(model).values() for site in sites]
    with looking(model, eager=False), ExitStack() as stack:
        stack.enter_context(hooked((site.output, keep((site.kind, site.layer))) for site in sites))
        for key, layer in layers_of(model).items():
            stack.enter_context(layer.register_forward_hook(keep_output(key)))
        forced_pass(model, sources, targets)
    return recording


def layers_of(model: PreTrainedModel) -> dict[tuple[Stack, int], nn.Module]:
    """The layers of both stacks."""
    stacks: dict[Stack, nn.Module] = {"encoder": model.get_encoder(), "decoder": model.get_decoder()}
    return {(name, number): layer for name, stack in stacks.items() for number, layer in enumerate(layer_list(stack))}


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
    modules = layers_of(model)
    with ExitStack() as stack:
        for site, numbers in heads_by_site(model, heads):
            mixed_BTD = donor.mixed[site.kind, site.layer]
            chosen = _marked(where, "encoder" if site.kind == "encoder" else "decoder", mixed_BTD)
            stack.enter_context(hooked([(site.output, _patching(mixed_BTD, columns_of(site, numbers), chosen))]))
        for key in layers:
            if key not in modules:
                last = max(number for name, number in modules if name == key[0])
                raise UserError(f"there is no {key[0]} layer {key[1]} here: expected 0 to {last}", exit_code=2)
            hook = _streaming(donor.stream[key], _marked(where, key[0], donor.stream[key]))
            stack.enter_context(modules[key].register_forward_hook(hook, prepend=True))
        yield


def _marked(where: Where | None, stack: Stack, like_BTD: torch.Tensor) -> torch.Tensor:
    """The positions to patch, [B,T]."""
    if where is None or stack not in where:
        return torch.ones(like_BTD.shape[:2], dtype=torch.bool, device=like_BTD.device)
    return where[stack].to(like_BTD.device)


def _patching(donor_BTD: torch.Tensor, columns: torch.Tensor, chosen_BT: torch.Tensor) -> Hook:
    def hook(module: nn.Module, args: tuple[Any, ...]) -> tuple[Any, ...]:
        mixed_BTD = _same_shape(args[0], donor_BTD).clone()
        mixed_BTD[..., columns] = torch.where(chosen_BT[..., None], donor_BTD[..., columns], mixed_BTD[..., columns])
        return (mixed_BTD, *args[1:])

    return hook


def _streaming(donor_BTD: torch.Tensor, chosen_BT: torch.Tensor) -> Any:
    def hook(module: nn.Module, args: Any, output: Any) -> Any:
        own_BTD = _same_shape(output[0] if isinstance(output, tuple) else output, donor_BTD)
        patched = torch.where(chosen_BT[..., None], donor_BTD, own_BTD)
        return (patched, *output[1:]) if isinstance(output, tuple) else patched

    return hook


def _same_shape(own: torch.Tensor, donor: torch.Tensor) -> torch.Tensor:
    if own.shape != donor.shape:
        raise ValueError(f"expected the donor's shape {tuple(donor.shape)}, got {tuple(own.shape)}")
    return own


class MinimalPairs:
    """Pairs of choices, (receiver, donor), whose donors have run: what is put in can then be varied cheaply.

    UserError where a receiver and its donor differ in length, on either side, up to the step of the choice.
    """

    def __init__(self, model: PreTrainedModel, pairs: Sequence[tuple[Choice, Choice]]):
        for number, pair in enumerate(pairs):
            for side in ("source_ids", "prefix_ids"):
                lengths = [len(getattr(choice, side)) for choice in pair]
                if lengths[0] != lengths[1]:
                    name = "source" if side == "source_ids" else "target"
                    raise UserError(f"patching needs equal lengths: pair {number} has {lengths[0]} and {lengths[1]}"
                                    f" {name} pieces")
        self.model = model
        self._receivers = [receiver for receiver, _ in pairs]
        ids = [([c.source_ids for c in side], [c.target_ids for c in side]) for side in zip(*pairs, strict=True)]
        self._batches = by_length(*ids[0]) if pairs else []
        self._donors = [record(model, *([side[i] for i in rows] for side in ids[1])) for rows in self._batches]

    def margins(
        self,
        *,
        heads: Iterable[tuple[Kind, int, int]] = (),
        layers: Iterable[tuple[Stack, int]] = (),
        where: Sequence[Mapping[Stack, Iterable[int]]] | None = None,
    ) -> np.ndarray:
        """Each receiver's log p(right) - log p(wrong) with the donor's activations put in, [N]: the pronoun has turned
        where it was above 0 and is now below.

        `where` names, pair by pair, the positions to patch: of the source in "encoder", of the decoder's steps in
        "decoder" (for decoder and cross-attention heads); all of them where a stack is not named.
        """
        heads, layers = list(heads), list(layers)
        found = np.empty(len(self._receivers))
        for rows, donor in zip(self._batches, self._donors, strict=True):
            batch = [self._receivers[row] for row in rows]
            marks = None if where is None else _marks(batch, [where[row] for row in rows])
            with patch(self.model, donor, heads=heads, layers=layers, where=marks):
                found[rows] = margins_of_batch(self.model, batch)
        return found


def _marks(batch: Sequence[Choice], where: Sequence[Mapping[Stack, Iterable[int]]]) -> dict[Stack, torch.Tensor]:
    lengths: dict[Stack, list[int]] = {
        "encoder": [len(choice.source_ids) for choice in batch], "decoder": [len(choice.target_ids) for choice in batch]
    }
    marks: dict[Stack, torch.Tensor] = {}
    for name, counts in lengths.items():
        marks[name] = torch.zeros(len(batch), max(counts), dtype=torch.bool)
        for row, (positions, count) in enumerate(zip(where, counts, strict=True)):
            for position in positions.get(name, range(count)):
                if not 0 <= position < count:
                    raise UserError(f"there is no {name} position {position} here: expected 0 to {count - 1}")
                marks[name][row, position] = True
    return marks
