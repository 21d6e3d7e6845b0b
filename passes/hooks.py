"""Access to a running model: its attention modules, the tensors that pass through them, and replacements for these.

`capture` reads tensors; `replaced` and `steered` change them.  Supports these families of transformers: Seq2See,
Marian, BART, mBART, M2M-100 and NLLB (also NLLB-MoE), Pegasus, Blenderbot, PLBart, T5, mT5, UMT5 and Switch.
"""

import threading
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from copy import copy
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal, NamedTuple, TypeVar, get_args

import torch
from torch import nn
from transformers import PreTrainedModel
from transformers.modeling_utils import ALL_ATTENTION_FUNCTIONS

from seq2see.errors import UserError
from .attention_kinds import KINDS, Kind

# B sentences (times beams), H heads, T query positions, S key positions, E size of one head

Key = TypeVar("Key")
Side = Literal["in", "out"]  # a module's first argument, or the first of its results
Change = Callable[[torch.Tensor], torch.Tensor | None]
Stack = Literal["encoder", "decoder"]
STACKS: tuple[Stack, ...] = get_args(Stack)
# The names of value projection, output projection and number of heads in transformers' two conventions, BART's and
# T5's, of the norm beside the module, whose own name is {}, and of the projections of query and key.
CONVENTIONS = (("v_proj", "out_proj", "num_heads", "{}_layer_norm", "q_proj", "k_proj"),
               ("v", "o", "n_heads", "layer_norm", "q", "k"))
STEERED = "seq2see_steered"  # the attention implementation that steered modules are switched to
STEERING = "_seq2see_steering"  # where a steered module finds its `AttentionChange`s, the innermost last


# --- where things are


class Head(NamedTuple):
    """One attention head of a model; a plain tuple such as ("cross", 1, 0) works too."""

    kind: Kind
    layer: int
    head: int

    def __str__(self) -> str:
        return f"{self.kind} {self.layer}.{self.head}"


@dataclass(frozen=True)
class AttentionSite:
    """One attention module; the value projection's output and the output projection's input have H * E columns.

    Head h owns columns h*E to (h+1)*E of both, so `output.weight[:, h*E:(h+1)*E]` is the head's W_O.
    """

    kind: Kind
    layer: int
    module: nn.Module
    value: nn.Linear
    output: nn.Linear
    heads: int
    norm: nn.Module  # before it where the model is pre-norm (Seq2See, T5), after its residual where post-norm (Marian)
    query: nn.Linear
    key: nn.Linear

    @property
    def head_size(self) -> int:
        """E, the columns of one head."""
        return self.output.in_features // self.heads

    def columns(self, heads: Iterable[int]) -> torch.Tensor:
        """The columns of the output projection's input that these heads own."""
        E = self.head_size
        return torch.cat([torch.arange(h * E, (h + 1) * E) for h in heads]).to(self.output.weight.device)


def attention_sites(model: PreTrainedModel) -> dict[Kind, tuple[AttentionSite, ...]]:
    """The attention modules of a model by kind, first layer first.

    In a decoder layer self-attention comes before cross-attention, as in every transformers encoder-decoder.  Raises
    UserError if a layer's attention follows neither naming convention, or if its activations are not [B,T,D].
    """
    encoder, decoder = _attentions(model.get_encoder()), _attentions(model.get_decoder())
    if not encoder or not decoder or len(decoder) % 2:
        raise UserError(f"{type(model).__name__} is not built like BART or T5, so its heads cannot be reached")
    if not all(hasattr(module, "config") for module, *_ in (*encoder, *decoder)):  # FSMT's, [T,B,D], has none
        raise laid_out_otherwise(model)
    found: dict[Kind, list] = {"encoder": encoder, "decoder": decoder[::2], "cross": decoder[1::2]}
    return {kind: tuple(AttentionSite(kind, layer, *one) for layer, one in enumerate(found[kind])) for kind in KINDS}


def all_sites(model: PreTrainedModel) -> list[AttentionSite]:
    """The attention modules of all three kinds."""
    return [site for sites in attention_sites(model).values() for site in sites]


def all_heads(model: PreTrainedModel) -> list[Head]:
    """Every head of a model, of all three kinds of attention.

    Raises UserError for a model whose heads cannot be reached.
    """
    return [Head(site.kind, site.layer, h) for site in all_sites(model) for h in range(site.heads)]


def heads_by_site(
    model: PreTrainedModel, heads: Iterable[tuple[Kind, int, int]]
) -> list[tuple[AttentionSite, list[int]]]:
    """The attention modules that contain `heads`, each with the indices of its heads.

    Raises UserError for a head that does not exist.
    """
    sites = attention_sites(model)
    heads = list(heads)
    if heads and isinstance(heads[0], str):
        raise UserError(f"{tuple(heads)} is a single head, expected a list of heads", exit_code=2)
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


def supervised_heads(model: PreTrainedModel) -> frozenset[tuple[int, ...]]:
    """The heads (layer, head) of cross-attention that were trained with gold links (`training/guided_alignment.py`)."""
    return frozenset(map(tuple, getattr(model.config, "supervised_heads", None) or ()))


def layers_of(model: PreTrainedModel, stack: Stack) -> nn.ModuleList:
    """The layers of a stack, as its list of modules.

    Raises UserError if it has none.
    """
    module = model.get_encoder() if stack == "encoder" else model.get_decoder()
    found = next((child for child in module.children() if isinstance(child, nn.ModuleList)), None)
    if found is None:
        raise UserError(f"{type(module).__name__} is not built like BART or T5, so its layers cannot be reached")
    return found


def laid_out_otherwise(model: PreTrainedModel) -> UserError:
    """The error for a model whose inner activations are not [B,T,D]."""
    return UserError(
        f"{type(model).__name__} has activations in another layout than BART and T5, so they cannot be read"
    )


def _attentions(stack: nn.Module) -> list[tuple[Any, ...]]:
    """The fields of an `AttentionSite` for each attention module, from the module to its key projection."""
    found = []
    for name, module in stack.named_modules():
        parent, _, own = name.rpartition(".")
        around = stack.get_submodule(parent)
        for value, output, heads, norm, query, key in CONVENTIONS:
            projections = getattr(module, value, None), getattr(module, output, None)
            if all(isinstance(one, nn.Linear) for one in projections) and hasattr(around, norm.format(own)):
                found.append((module, *projections, int(getattr(module, heads)), getattr(around, norm.format(own)),
                              getattr(module, query), getattr(module, key)))
    return found


# --- what passes through modules


@contextmanager
def capture(modules: Mapping[Key, nn.Module], side: Side) -> Iterator[dict[Key, torch.Tensor]]:
    """Inside, the dictionary holds the input or output of each module in the latest pass."""
    kept: dict[Key, torch.Tensor] = {}
    with _hooked((module, side, partial(kept.__setitem__, key)) for key, module in modules.items()):
        yield kept


@contextmanager
def replaced(changes: Iterable[tuple[nn.Module, Side, Change]]) -> Iterator[None]:
    """Inside, each function changes the input or output of its module; a function that returns None leaves it.

    Every pass of the model inside the block is affected.  All hooks are removed at the end, also after an exception.
    """
    changes = list(changes)
    with (
        _marked([module for module, *_ in changes]),
        _hooked(changes, first=True),  # so that transformers' own recording of states sees the change
    ):
        yield


class _Changed(threading.local):
    """The modules that this thread intervenes in; another thread waits for the model (`LoadedCheckpoint.inside`)."""

    modules: tuple[nn.Module, ...] = ()


_CHANGED = _Changed()


def intervened(model: nn.Module) -> bool:
    """Whether an intervention on the model (`replaced` or `steered`) is active in this thread."""
    return bool(_CHANGED.modules) and not set(_CHANGED.modules).isdisjoint(model.modules())


@contextmanager
def _marked(modules: Sequence[nn.Module]) -> Iterator[None]:
    before = _CHANGED.modules
    _CHANGED.modules = (*before, *modules)
    try:
        yield
    finally:
        _CHANGED.modules = before


@contextmanager
def _hooked(changes: Iterable[tuple[nn.Module, Side, Change]], *, first: bool = False) -> Iterator[None]:
    with ExitStack() as stack:
        for module, side, change in changes:
            if side == "in":
                stack.enter_context(module.register_forward_pre_hook(partial(_on_entry, change)))
            else:
                stack.enter_context(module.register_forward_hook(partial(_on_exit, change), prepend=first))
        yield


def _on_entry(change: Change, module: nn.Module, args: tuple[Any, ...]) -> Any:
    changed = change(args[0])
    return None if changed is None else (changed, *args[1:])


def _on_exit(change: Change, module: nn.Module, args: tuple[Any, ...], output: Any) -> Any:
    several = isinstance(output, tuple)
    changed = change(output[0] if several else output)
    return (changed, *output[1:]) if several and changed is not None else changed


@contextmanager
def whole_passes(model: PreTrainedModel) -> Iterator[None]:
    """Inside, a decoder pass that continues a cache raises UserError, because its positions do not count from the
    start.
    """

    def check(module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        cached = kwargs.get("past_key_values")
        if cached is not None and cached.get_seq_length():
            raise UserError("positions of the decoder and donors need all steps at once: generate with use_cache=False")

    handle = model.get_decoder().register_forward_pre_hook(check, with_kwargs=True)
    try:
        yield
    finally:
        handle.remove()


# --- attention itself, between scores and mixed values


@dataclass(frozen=True)
class AttentionChange:
    """Temperatures and weights [T,S] of heads of one module, and a change of all its weights [B,H,T,S].

    If `seen` is given, it receives the tensors of the module's last pass: `query` [B,H,T,E], `key` and `value`
    [B,H,S,E], `mask`, `bias` and `weight` [B,H,T,S], the `mixed` values [B,H,T,E], and the `scale` of the scores.
    """

    temperatures: dict[int, float] = field(default_factory=dict)
    weights: dict[int, torch.Tensor] = field(default_factory=dict)
    change: Change | None = None
    seen: dict[str, Any] | None = None


@contextmanager
def steered(steerings: Mapping[nn.Module, AttentionChange]) -> Iterator[None]:
    """Inside, each attention module is steered, also by enclosing blocks; attention must be eager.

    Restores the modules at the end.
    """
    found = [(module, module.config, module.__dict__.get(STEERING)) for module in steerings]
    try:
        for module, steering in steerings.items():
            module.config = copy(module.config)
            module.config._attn_implementation = STEERED
            module.__dict__[STEERING] = (*module.__dict__.get(STEERING, ()), steering)
        with _marked([module for module, one in steerings.items() if one.temperatures or one.weights or one.change]):
            yield
    finally:
        for module, config, before in found:
            module.config = config
            module.__dict__.pop(STEERING, None)
            if before is not None:
                module.__dict__[STEERING] = before


def _attend(
    module: nn.Module,
    query_BHTE: torch.Tensor,
    key_BHSE: torch.Tensor,
    value_BHSE: torch.Tensor,
    attention_mask: torch.Tensor | None,
    *,
    scaling: float | None = None,
    position_bias: torch.Tensor | None = None,
    **kwargs: Any,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Eager attention with the steering of `module`: the same signature and results as transformers' own."""
    steerings: tuple[AttentionChange, ...] = module.__dict__[STEERING]
    scale = query_BHTE.shape[-1] ** -0.5 if scaling is None else float(scaling)
    score_BHTS = query_BHTE @ key_BHSE.transpose(2, 3) * scale
    nothing = torch.zeros_like(score_BHTS)
    bias_BHTS = nothing if position_bias is None else position_bias.expand_as(score_BHTS)
    mask_BHTS = nothing if attention_mask is None else attention_mask.expand_as(score_BHTS)
    score_BHTS = score_BHTS + bias_BHTS
    for steering in steerings:
        for head, temperature in steering.temperatures.items():
            score_BHTS[:, head] /= temperature
    weight_BHTS = (score_BHTS + mask_BHTS).softmax(-1, dtype=torch.float32).to(query_BHTE.dtype)
    T, S = weight_BHTS.shape[-2:]
    for steering in steerings:
        for head, matrix in steering.weights.items():
            if matrix.shape != (T, S):
                raise ValueError(f"expected weights of shape {(T, S)} for head {head}, got {tuple(matrix.shape)}")
            weight_BHTS[:, head] = matrix.to(weight_BHTS)
        changed_BHTS = steering.change(weight_BHTS) if steering.change else None
        weight_BHTS = weight_BHTS if changed_BHTS is None else changed_BHTS
    mixed_BHTE = weight_BHTS @ value_BHSE
    for steering in steerings:
        if steering.seen is not None:
            steering.seen.update(query=query_BHTE, key=key_BHSE, value=value_BHSE, mask=mask_BHTS, bias=bias_BHTS,
                                 weight=weight_BHTS, mixed=mixed_BHTE, scale=scale)
    return mixed_BHTE.transpose(1, 2).contiguous(), weight_BHTS


ALL_ATTENTION_FUNCTIONS.register(STEERED, _attend)


@contextmanager
def other_values(
    model: PreTrainedModel, change: Callable[[AttentionSite, torch.Tensor], torch.Tensor], *,
    kinds: Sequence[Kind] = KINDS,
) -> Iterator[None]:
    """Inside, `change(site, values)` returns the values [B,C,H,E] of these kinds of attention; for forced passes.

        out[row] = sum over columns of weight[row, column] value[column]

    The weights depend on queries and keys only, so the maps of the layer stay the same.
    """

    def changing(site: AttentionSite) -> Change:
        return lambda value_BCD: change(site, value_BCD.unflatten(-1, (site.heads, site.head_size))).flatten(-2)

    sites = attention_sites(model)
    with replaced((site.value, "out", changing(site)) for kind in kinds for site in sites[kind]):
        yield
