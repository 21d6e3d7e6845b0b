"""Switching heads off, exactly, in any encoder-decoder: in a forced pass, in `generate`, with beams and a cache.

A layer's heads are put side by side and the output projection W_O reads them all, so a head that hands over nothing
is one whose columns of W_O's input are zero (Michel et al. 2019).  A zero is a value the model may never have met;
the head's own mean over some sentences, a constant, takes away what it *says* and keeps what is always there.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any, Literal, NamedTuple

import torch
from torch import nn
from transformers import PreTrainedModel

from seq2see.errors import UserError
from .anatomy import AttentionSite, attention_sites
from .choices import by_length
from .forcing import forced_pass, looking, real_positions
from .kinds import KINDS, Kind

# B sentences, T positions, H heads, E size of one head

Hook = Callable[[nn.Module, tuple[Any, ...]], tuple[Any, ...]]


class Head(NamedTuple):
    """One head of a model; a plain tuple such as ("cross", 1, 0) will do wherever one is asked for."""

    kind: Kind
    layer: int
    head: int

    def __str__(self) -> str:
        return f"{self.kind} {self.layer}.{self.head}"


def all_heads(model: PreTrainedModel) -> list[Head]:
    """Every head of the three kinds."""
    sites = attention_sites(model)
    return [Head(kind, site.layer, h) for kind in KINDS for site in sites[kind] for h in range(site.heads)]


def heads_by_site(model: PreTrainedModel, heads: Iterable[tuple[Kind, int, int]]) -> list[tuple[AttentionSite, list]]:
    """Each attention module that one of `heads` is in, with their numbers there.  UserError for one that is not."""
    sites = attention_sites(model)
    found: dict[tuple[Kind, int], set[int]] = defaultdict(set)
    for kind, layer, head in heads:
        if kind not in sites:
            raise UserError(f"there is no kind of attention {kind!r}: expected {', '.join(KINDS)}", exit_code=2)
        if not 0 <= layer < len(sites[kind]):
            raise UserError(f"there is no {kind} layer {layer} here: expected 0 to {len(sites[kind]) - 1}", exit_code=2)
        if not 0 <= head < sites[kind][layer].heads:
            last = sites[kind][layer].heads - 1
            raise UserError(f"there is no head {head} in {kind} layer {layer}: expected 0 to {last}", exit_code=2)
        found[kind, layer].add(head)
    return [(sites[kind][layer], sorted(numbers)) for (kind, layer), numbers in sorted(found.items())]


def columns_of(site: AttentionSite, numbers: Iterable[int]) -> torch.Tensor:
    """The columns of W_O's input that these heads own."""
    E = site.head_size
    return torch.cat([torch.arange(h * E, (h + 1) * E) for h in numbers]).to(site.output.weight.device)


@contextmanager
def ablate(
    model: PreTrainedModel,
    heads: Iterable[tuple[Kind, int, int]],
    *,
    replace: Literal["zero", "mean"] = "zero",
    means: Mapping[Head, torch.Tensor] | None = None,
) -> Iterator[None]:
    """Inside, the heads hand over nothing ("zero"), or always the same ("mean": their [E] in `means`).

    Weights are not touched; what is put in the way is gone at the end, also after an exception.  Whatever else runs
    on the model meanwhile is ablated too.  UserError for a layer or head that the model does not have; ValueError
    where means are needed and not given.
    """
    if (replace == "mean") != (means is not None):
        raise ValueError('expected means exactly for replace="mean": see mean_outputs')
    chosen = heads_by_site(model, heads)
    with hooked((site.output, _filling(site, numbers, means)) for site, numbers in chosen):
        yield


@contextmanager
def hooked(hooks: Iterable[tuple[nn.Module, Hook]]) -> Iterator[None]:
    """Inside, each hook rewrites the arguments of its module; afterwards none is left."""
    with ExitStack() as stack:
        for module, hook in hooks:
            stack.enter_context(module.register_forward_pre_hook(hook))
        yield


def _filling(site: AttentionSite, numbers: list[int], means: Mapping[Head, torch.Tensor] | None) -> Hook:
    columns = columns_of(site, numbers)
    fill = torch.zeros(len(columns), device=columns.device)
    if means is not None:
        fill = torch.cat([means[Head(site.kind, site.layer, h)] for h in numbers]).to(columns.device)

    def hook(module: nn.Module, args: tuple[Any, ...]) -> tuple[Any, ...]:
        mixed_BTD = args[0].clone()
        mixed_BTD[..., columns] = fill.to(mixed_BTD.dtype)
        return (mixed_BTD, *args[1:])

    return hook


def mean_outputs(
    model: PreTrainedModel, sources: Sequence[Sequence[int]], targets: Sequence[Sequence[int]]
) -> dict[Head, torch.Tensor]:
    """What each head hands over on average, [E] each, over every real position of these sentences.

    `sources` and `targets` are ids, `</s>` included; the model is forced to the targets.
    """
    if not sources:
        raise ValueError("expected at least one sentence to take means over")
    sites = [site for sites in attention_sites(model).values() for site in sites]
    sums = [torch.zeros(site.output.in_features, dtype=torch.float64) for site in sites]
    counts = [0] * len(sites)
    real: dict[bool, torch.Tensor] = {}  # of the batch; by whether it is the source's

    def adding(number: int) -> Hook:
        def hook(module: nn.Module, args: tuple[Any, ...]) -> tuple[Any, ...]:
            kept = args[0][real[sites[number].kind == "encoder"]].double()
            sums[number] += kept.sum(0).cpu()
            counts[number] += len(kept)
            return args

        return hook

    hooks = [(site.output, adding(number)) for number, site in enumerate(sites)]
    with looking(model, eager=False), hooked(hooks):
        for rows in by_length(sources, targets):
            batch = [sources[i] for i in rows], [targets[i] for i in rows]
            real[True], real[False] = (real_positions(side).to(model.device) for side in batch)
            forced_pass(model, *batch)
    return {
        Head(site.kind, site.layer, h): (total / count).float().view(site.heads, -1)[h].to(model.device)
        for site, total, count in zip(sites, sums, counts, strict=True) for h in range(site.heads)
    }
