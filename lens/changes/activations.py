"""Every activation of a model by name: `run_with_cache` reads them, `intervene` replaces them.

The names are those of TransformerLens, such as `decoder.1.cross_attn.hook_z` (`HookedEncoderDecoder`, or `BertBlock`
for models that normalise after a block).  A name selects an activation.  `At` also selects positions and heads.  The
replacement is a `Donor`, a `Mean`, `Zero`, `Noise` or a `SteeringVector`: a function of the point and of its own
activation.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Sized
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import partial
from typing import Literal

import torch
from torch import nn
from transformers import PreTrainedModel

from seq2see.errors import UserError
from ...passes.attention_kinds import Kind
from ...passes.batches import real_positions
from ...passes.feed_forward import FeedForwardSite, feed_forward_sites
from ...passes.forced_pass import check_lengths, check_model, eval_with_eager_attention, forced_pass
from ...passes.hooks import (
    STACKS,
    AttentionChange,
    AttentionSite,
    Change,
    Side,
    attention_sites,
    capture,
    replaced,
    steered,
    whole_passes,
)
from .word_mapping import WordMapping

# B sentences, T positions (of the source or of the decoder's steps), R rows, C columns, H heads, E size of one head,
# D model width, F inner width of the feed-forward layer, V vocabulary

Axis = Literal["source", "target"]
FINAL_NORMS = ("layer_norm", "final_layer_norm")  # after the last layer, in models that normalise before each block


# --- where activations are


@dataclass(frozen=True)
class Point:
    """The location of an activation: the input or the output of a module.

    Without a `side`, the activation is the weights of an attention module.  With `added_to`, it is the residual stream:
    the sum of the output of `module` and the input of this norm.
    """

    name: str
    module: nn.Module
    side: Side | None
    heads: int = 0  # 0: it is not divided into heads
    added_to: nn.Module | None = None

    @property
    def axis(self) -> Axis:
        """Whether its positions are those of the source or of the target."""
        return "source" if re.match(r"encoder|.*cross_attn\.hook_[kv]$", self.name) else "target"

    @property
    def position_dim(self) -> int:
        return 1 if self.side else 2

    @property
    def head_dim(self) -> int:
        return 2 if self.side else 1

    def split(self, raw: torch.Tensor) -> torch.Tensor:
        """The module's tensor in the shape of the activation, split by head."""
        return raw.unflatten(-1, (self.heads, -1)) if self.heads and self.side else raw

    def join(self, activation: torch.Tensor) -> torch.Tensor:
        """The reverse of `split`."""
        return activation.flatten(-2) if self.heads and self.side else activation


def points_of(model: PreTrainedModel) -> dict[str, Point]:
    """Every activation of a model by name, in the order of a forward pass.

    Raises UserError if the heads or layers of the model cannot be reached.
    """
    sites = attention_sites(model)
    stacks = {"encoder": model.get_encoder(), "decoder": model.get_decoder()}
    tokens = {name: stack.get_input_embeddings() for name, stack in stacks.items()}
    found: list[Point] = []
    for name in STACKS:
        if tokens["encoder"] is not tokens["decoder"]:  # one module for both would be reached twice in a pass
            found.append(Point(f"{name}.hook_embed", tokens[name], "out"))
        pre_norm = any(child in FINAL_NORMS for child, _ in stacks[name].named_children())
        kinds: tuple[Kind, ...] = ("encoder",) if name == "encoder" else ("decoder", "cross")
        for inner in feed_forward_sites(model, name):
            found += _points_of_layer(inner, [sites[kind][inner.layer] for kind in kinds], pre_norm=pre_norm)
    return {point.name: point for point in found}


def _points_of_layer(
    feed_forward: FeedForwardSite, attentions: Sequence[AttentionSite], *, pre_norm: bool
) -> Iterator[Point]:
    at, layer = f"{feed_forward.stack}.{feed_forward.layer}", feed_forward.module
    yield Point(f"{at}.hook_resid_pre", layer, "in")
    for site in attentions:
        attn, mid = ("cross_attn", "resid_mid_cross") if site.kind == "cross" else ("attn", "resid_mid")
        yield Point(f"{at}.{attn}.hook_q", site.query, "out", site.heads)
        yield Point(f"{at}.{attn}.hook_k", site.key, "out", site.heads)
        yield Point(f"{at}.{attn}.hook_v", site.value, "out", site.heads)
        yield Point(f"{at}.{attn}.hook_pattern", site.module, None, site.heads)
        yield Point(f"{at}.{attn}.hook_z", site.output, "in", site.heads)
        yield Point(f"{at}.hook_{attn}_out", site.output, "out")
        if pre_norm:
            yield Point(f"{at}.hook_{mid}", site.output, "out", added_to=site.norm)
        else:
            yield Point(f"{at}.hook_{mid}", site.norm, "in")
            yield Point(f"{at}.hook_normalized_{mid}", site.norm, "out")
    for name, module in zip(("pre", "pre_linear"), feed_forward.inner, strict=False):
        yield Point(f"{at}.mlp.hook_{name}", module, "out")
    if feed_forward.output:
        yield Point(f"{at}.mlp.hook_post", feed_forward.output, "in")
    yield Point(f"{at}.hook_mlp_out", feed_forward.last, "out")
    if pre_norm:
        yield Point(f"{at}.hook_resid_post", layer, "out")
    else:
        yield Point(f"{at}.hook_resid_post", layer.get_submodule("final_layer_norm"), "in")
        yield Point(f"{at}.hook_normalized_resid_post", layer, "out")


def activation_names(model: PreTrainedModel) -> tuple[str, ...]:
    """The names of all activations of a model, in the order of a forward pass."""
    return tuple(points_of(model))


def select(model: PreTrainedModel, names: Iterable[str]) -> list[Point]:
    """The points with these names; `*` matches any text.

    Raises UserError for a name that the model does not have.
    """
    points = points_of(model)
    if isinstance(names, str):
        names = [names]
    wanted: set[str] = set()
    for name in names:
        matching = [one for one in points if fnmatchcase(one, name)] if "*" in name else []
        wanted.update(matching or [find(model, points, name).name])
    return [point for name, point in points.items() if name in wanted]


def find(model: PreTrainedModel, points: Mapping[str, Point], name: str) -> Point:
    """The point with this name.

    Raises UserError if the model has none; the message lists the names that exist.
    """
    if name in points:
        return points[name]
    place = re.fullmatch(r"(encoder|decoder)\.(\d+)\..*", name)
    has = [re.sub(r"\.\d+\.", ".N.", one) for one in points]
    if place:
        stack, number = place[1], int(place[2])
        layers = {int(one.split(".")[1]) for one in points if one.startswith(f"{stack}.") and one.count(".") > 1}
        if number not in layers:
            raise UserError(f"there is no {stack} layer {number} here: expected 0 to {max(layers)}", exit_code=2)
        has = [one for one in points if one.startswith(f"{stack}.{number}.")]
    raise UserError(f"{type(model).__name__} has no activation {name!r}: it has {', '.join(dict.fromkeys(has))}",
                    exit_code=2)


# --- reading


@dataclass(frozen=True, eq=False)
class Activations:
    """Activations of one teacher-forced pass over B sentences, by name; `run_with_cache` returns them.

    q, k, v and z are [B,T,H,E], attention patterns [B,H,R,C], inner feed-forward activations [B,T,F], all others
    [B,T,D].  `real` has a mask [B,T] for "source" and for "target": True at tokens, False at padding.
    """

    values: dict[str, torch.Tensor]
    real: dict[Axis, torch.Tensor]

    def __getitem__(self, name: str) -> torch.Tensor:
        if name not in self.values:
            raise UserError(f"{name} was not read: name it in run_with_cache(names=...)", exit_code=2)
        return self.values[name]


def run_with_cache(
    model: PreTrainedModel, sources: Sequence[Sequence[int]], targets: Sequence[Sequence[int]], *,
    names: Iterable[str] = ("*",),
) -> tuple[torch.Tensor, Activations]:
    """Run the model on given sources and targets, and return its logits and its activations.

    Step t reads target token t-1 and predicts target token t (teacher forcing).  Inside a block of `intervene`, the
    activations include its effect.

    Args:
        model: any encoder-decoder that the lens supports.
        sources: the ids of each of B sentences, `</s>` included.
        targets: the ids of their translations, `</s>` included.
        names: which activations to return; `*` matches any text, as in "decoder.*.hook_resid_post".

    Returns:
        The logits [B,T,V] and the `Activations`.

    Raises:
        UserError: an activation that the model does not have, a model that the lens does not support, or lists of
            different lengths.
    """
    check_model(model)
    for side, ids in (("source", sources), ("target", targets)):
        if not len(ids) or not all(isinstance(one, Sized) for one in ids):
            raise UserError(f"expected the ids of a list of sentences: [trace.{side}_ids]", exit_code=2)
        check_lengths(model, ids, side=side)
    if len(sources) != len(targets):
        raise UserError(f"{len(sources)} sources and {len(targets)} targets: expected equally many", exit_code=2)
    with reading(model, select(model, names)) as read:
        logits_BTV = forced_pass(model, sources, targets)[0].logits
    values = {name: activation for name, (_, activation) in read().items()}
    source_BS, target_BT = (real_positions(ids).to(model.device) for ids in (sources, targets))
    return logits_BTV, Activations(values, {"source": source_BS, "target": target_BT})


@contextmanager
def reading(
    model: PreTrainedModel, points: Sequence[Point]
) -> Iterator[Callable[[], dict[str, tuple[torch.Tensor, torch.Tensor]]]]:
    """Reads the given points during a pass inside this context.

    Call the yielded function after the pass.  It returns for each point the module's tensor and the activation.
    """
    seen = {point.module: AttentionChange(seen={}) for point in points if point.side is None}
    with (
        eval_with_eager_attention(model),
        capture({point: point.module for point in points if point.side == "in"}, "in") as entered,
        capture({point: point.module for point in points if point.side == "out"}, "out") as left,
        capture({point: point.added_to for point in points if point.added_to}, "in") as residual,
        steered(seen),
    ):
        def read() -> dict[str, tuple[torch.Tensor, torch.Tensor]]:
            raw = {**entered, **left, **{point: (seen[point.module].seen or {})["weight"]
                                         for point in points if point.side is None}}
            whole = {point: raw[point] + residual[point] if point.added_to else raw[point] for point in points}
            return {point.name: (raw[point], point.split(whole[point])) for point in points}

        yield read


# --- what comes in place of an activation


@dataclass(frozen=True)
class At:
    """Selects an activation at some positions and in some heads; None selects all of them.

    Positions count source tokens in the encoder and decoder steps in the decoder.  For an attention pattern, positions
    are rows.
    """

    name: str
    positions: Sequence[int] | None = None
    heads: Sequence[int] | None = None

    def __post_init__(self) -> None:
        for part in ("positions", "heads"):
            numbers = getattr(self, part)
            if isinstance(numbers, int):
                raise UserError(f"{part} {numbers} of {self.name}: expected a list, [{numbers}]", exit_code=2)
            object.__setattr__(self, part, None if numbers is None else tuple(map(int, numbers)))

    def mark(self, point: Point, own: torch.Tensor) -> torch.Tensor:
        """True at the selected elements, in a shape that broadcasts to the activation's."""
        marked = torch.ones([1] * own.ndim, dtype=torch.bool, device=own.device)
        for dim, numbers, what in ((point.position_dim, self.positions, "position"),
                                   (point.head_dim, self.heads, "head")):
            if numbers is not None:
                check_range(numbers, own.shape[dim], f"{what} {{}} in {point.name}")
                chosen = torch.zeros(own.shape[dim], dtype=torch.bool, device=own.device)
                chosen[list(numbers)] = True
                marked = marked & chosen.view([-1 if i == dim else 1 for i in range(own.ndim)])
        return marked


def check_range(numbers: Iterable[int], size: int, what: str) -> None:
    """Raises UserError for a number outside 0 to size - 1; {} in `what` stands for the number."""
    for number in numbers:
        if not 0 <= number < size:
            raise UserError(f"there is no {what.format(number)}: expected 0 to {size - 1}", exit_code=2)


@dataclass(frozen=True)
class Zero:
    """Replaces an activation by zeros."""

    def __call__(self, point: Point, own: torch.Tensor) -> torch.Tensor:
        return torch.zeros_like(own)


@dataclass(frozen=True)
class Mean:
    """Replaces an activation by its mean over all positions of recorded sentences, except padding.

    Raises UserError for an attention pattern, because its columns differ between sentences.
    """

    activations: Activations

    def __call__(self, point: Point, own: torch.Tensor) -> torch.Tensor:
        read = self.activations[point.name]
        if point.side is None:
            raise UserError(f"{point.name} has no mean, because its columns differ between sentences: use hook_z",
                            exit_code=2)
        return read[self.activations.real[point.axis]].double().mean(0).to(own).expand_as(own)


@dataclass(frozen=True)
class Noise:
    """Adds Gaussian noise with standard deviation `scale` to an activation (Meng et al. 2022).

    The same `seed` gives the same noise for the same shape, on every device.
    """

    scale: float
    seed: int

    def __call__(self, point: Point, own: torch.Tensor) -> torch.Tensor:
        drawn = torch.randn(own.shape, generator=torch.Generator().manual_seed(self.seed))
        return own + self.scale * drawn.to(own)


@dataclass(frozen=True)
class SteeringVector:
    """Adds `scale` times a vector to an activation.

    The vector is [D], or [F] inside a feed-forward layer.  For an activation with heads it is [E] or [H,E].
    """

    vector: torch.Tensor
    scale: float = 1.0

    def __call__(self, point: Point, own: torch.Tensor) -> torch.Tensor:
        vector = torch.as_tensor(self.vector)
        if vector.ndim > own.ndim or any(a not in (1, b) for a, b in zip(vector.shape[::-1], own.shape[::-1],
                                                                          strict=False)):
            raise UserError(f"a vector of shape {tuple(vector.shape)} cannot be added to {point.name}: expected"
                            f" ({own.shape[-1]},)", exit_code=2)
        return own + self.scale * vector.to(own)


@dataclass(frozen=True)
class Donor:
    """Replaces an activation by its value in another pass.

    Without a `mapping`, positions correspond one to one, so both texts need the same number of tokens.  With a
    `mapping` (see `word_mapping`), the positions of mapped words correspond; all other positions keep their own
    activation.

    The mapping also moves the columns of an attention pattern.  The weight of a column goes to its counterparts.
    Weight is dropped if its column has no counterpart, or if it would fall on a later token.  Each row is then
    normalised to sum to 1 again.

    Raises UserError for a donor of another length without a mapping, or for a mapping that joins no word.
    """

    activations: Activations
    mapping: WordMapping | None = None

    def __call__(self, point: Point, own: torch.Tensor) -> torch.Tensor:
        theirs = self.activations[point.name].to(own)
        dims = [dim for dim in range(1, own.ndim) if dim != point.position_dim and (point.side or dim != 3)]
        if len(theirs) not in (1, len(own)) or any(theirs.shape[dim] != own.shape[dim] for dim in dims):
            raise UserError(f"{point.name} has shape {tuple(theirs.shape)} in the donor, {tuple(own.shape)} here:"
                            " expected one sentence, or as many as here, from the same model", exit_code=2)
        if self.mapping is not None:
            return self._mapped(self.mapping, point, own, theirs)
        if theirs.shape[1:] != own.shape[1:]:
            dim = point.position_dim
            dim = dim if theirs.shape[dim] != own.shape[dim] else 3
            raise UserError(f"{point.name} has {theirs.shape[dim]} positions in the donor and {own.shape[dim]} here:"
                            " join their words, Donor(activations, word_mapping(receiver, donor))", exit_code=2)
        return theirs.expand_as(own)

    def _mapped(self, mapping: WordMapping, point: Point, own: torch.Tensor, theirs: torch.Tensor) -> torch.Tensor:
        dim = point.position_dim
        weight_TT = mapping.weights(point.axis, own.shape[dim], theirs.shape[dim]).to(own)
        put_in = torch.einsum("ts,bs...->bt...", weight_TT, theirs.movedim(dim, 1)).movedim(1, dim)
        joined = weight_TT.any(1).view([-1 if i == dim else 1 for i in range(own.ndim)])
        if point.side is None:
            columns: Axis = "target" if re.match(r"decoder\.\d+\.attn", point.name) else "source"
            share_CC = mapping.weights(columns, own.shape[3], theirs.shape[3]).to(own) > 0
            put_in = put_in @ (share_CC / share_CC.sum(0).clamp_min(1)).T
            put_in = put_in.tril() if columns == "target" else put_in
            total_BHR1 = put_in.sum(-1, keepdim=True)
            put_in = torch.where(total_BHR1 > 0, put_in / total_BHR1, own)
        return torch.where(joined, put_in, own)


Put = Callable[[Point, torch.Tensor], torch.Tensor]  # the point and its own activation: what comes in its place


# --- replacing


@contextmanager
def intervene(model: PreTrainedModel, changes: Mapping[str | At, Put]) -> Iterator[None]:
    """Replace activations of a model inside a `with` block.

        with intervene(model, {At("decoder.1.attn.hook_z", positions=[3], heads=[0]): Zero()}):
            ...

    Every pass of the model inside the block is affected, `generate` included.  A `Donor` in the decoder, or an `At`
    with decoder steps as positions, needs all steps in one pass: use `generate(..., use_cache=False)`.

    Args:
        model: any encoder-decoder that the lens supports.
        changes: a dictionary from activations to their replacements.  A replacement is a `Donor`, `Mean`, `Zero`,
            `Noise` or `SteeringVector`.  A plain name instead of an `At` selects all positions and heads.

    Raises:
        UserError: an activation that the model does not have; a layer, head or position out of range; a donor that does
            not fit.
    """
    check_model(model)
    points = points_of(model)
    placed = []
    for place, put in changes.items():
        at = place if isinstance(place, At) else At(place)
        placed.append((checked(model, points, at), at, put))
    steps = any(point.axis == "target" and (at.positions is not None or isinstance(put, Donor))
                for point, at, put in placed)
    with ExitStack() as stack:
        if steps:
            stack.enter_context(whole_passes(model))
        stack.enter_context(changed(model, [(point, partial(put_in, point, at, put)) for point, at, put in placed]))
        yield


def checked(model: PreTrainedModel, points: Mapping[str, Point], at: At) -> Point:
    """The point that `at` selects.

    Raises UserError for a point or head that the model does not have, or a position below 0.
    """
    point = find(model, points, at.name)
    if at.heads is not None:
        if not point.heads:
            raise UserError(f"{at.name} has no heads: omit them, or use hook_z", exit_code=2)
        check_range(at.heads, point.heads, f"head {{}} in {at.name}")
    for position in at.positions or ():
        if position < 0:
            raise UserError(f"there is no position {position} in {at.name}: expected 0 or more", exit_code=2)
    return point


def put_in(point: Point, at: At, put: Put, own: torch.Tensor) -> torch.Tensor:
    """The activation with the replacement at the selected elements."""
    return torch.where(at.mark(point, own), put(point, own).to(own), own)


@contextmanager
def changed(model: PreTrainedModel, changes: Iterable[tuple[Point, Change]]) -> Iterator[None]:
    """Inside, each function changes the activation at its point; a function that returns None leaves it.

    Several functions at one module run in the given order.
    """
    at_module: dict[tuple[nn.Module, Side | None], list[tuple[Point, Change]]] = defaultdict(list)
    for point, change in changes:
        at_module[point.module, point.side].append((point, change))
    for several in at_module.values():
        several.sort(key=lambda one: one[0].added_to is not None)  # the sum comes after what is added
    norms = {point.added_to for several in at_module.values() for point, _ in several if point.added_to}
    with ExitStack() as stack:
        residual = stack.enter_context(capture({norm: norm for norm in norms}, "in"))

        def change_all(several: Sequence[tuple[Point, Change]], raw: torch.Tensor) -> torch.Tensor:
            for point, change in several:
                before = residual[point.added_to] if point.added_to else 0
                after = change(point.split(raw + before))
                raw = raw if after is None else point.join(after) - before
            return raw

        if any(side is None for _, side in at_module):
            stack.enter_context(eval_with_eager_attention(model))
        stack.enter_context(steered({module: AttentionChange(change=partial(change_all, several))
                                     for (module, side), several in at_module.items() if side is None}))
        stack.enter_context(replaced((module, side, partial(change_all, several))
                                     for (module, side), several in at_module.items() if side))
        yield
