"""Changing what attention mixes while where it looks stays: values taken away, or put at other columns.

    out[row] = sum over columns of weight[row, column] value[column]

The weights come from queries and keys alone, so with other values the maps of that layer are the same, and only what
is added is another.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any

import torch
from torch import nn
from transformers import PreTrainedModel

from seq2see.errors import UserError
from .ablation import heads_by_site
from .anatomy import AttentionSite, attention_sites
from .kinds import KINDS, Kind

# B sentences, C columns, H heads, E size of one head

Cell = tuple[Kind, int, int, int]  # kind, layer, head, column


@contextmanager
def other_values(
    model: PreTrainedModel, change: Callable[[AttentionSite, torch.Tensor], torch.Tensor], *,
    kinds: Sequence[Kind] = KINDS,
) -> Iterator[None]:
    """Inside a forced pass, values [B,C,H,E] of these kinds are what `change(site, values)` makes of them."""

    def hook(site: AttentionSite) -> Any:
        def changed(module: nn.Module, args: tuple[Any, ...], value_BCD: torch.Tensor) -> torch.Tensor:
            return change(site, value_BCD.unflatten(-1, (site.heads, site.head_size))).flatten(-2)

        return changed

    with ExitStack() as stack:
        for kind in kinds:
            for site in attention_sites(model)[kind]:
                stack.enter_context(site.value.register_forward_hook(hook(site)))
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
