"""Attribution: the contribution of each source token and each prefix token to a log-probability of the translation.

The explained output is one number f of a step, in nats: the log-probability of its token.  A contrastive explanation
uses the difference from the log-probability of another token at this step (why *il* and not *elle*: Yin and Neubig
2022, "Interpreting Language Models with Contrastive Explanations"). x are the embeddings of the tokens, without
positions.  The baseline b has the embedding of the unknown token everywhere, or zeros if the tokenizer has none.

    input_x_gradient       x . df/dx (Shrikumar et al. 2016; the dot product adds up the columns of a token)
    integrated_gradients   (x - b) . the mean of df/dx on the straight path from b to x (Sundararajan et al. 2017); all
                           tokens of both sides sum to f(x) - f(b)
    gradient_x_activation  h . df/dh for the state h that each layer reads: of the encoder for source tokens, of the
                           decoder for the prefix
    occlusion              f - f with the unknown token instead of the token (Zeiler and Fergus 2014)
    value_zeroing          f - f with the token's value vectors at zero in every layer and head that reads them, so that
                           no other position gets information from it (after Mohebbi et al. 2023, who compare states)

The first and the third method need a backward pass for each step.  Integrated gradients need one for each step and
segment of the path.  The last two need a forward pass for each token.  Zeros are no baseline for models that normalise
the embeddings before anything else (T5, BART): near zero their output jumps.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from itertools import cycle
from typing import Literal, get_args

import numpy as np
import torch
from torch import nn
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from seq2see.errors import UserError
from ...passes.batches import CELLS_AT_ONCE, LOGITS_AT_ONCE, ROWS, packed, vocabulary_size
from ...passes.forced_pass import eval_mode, forced_batches, forced_pass
from ...passes.hooks import (
    STACKS,
    AttentionSite,
    Change,
    Side,
    Stack,
    attention_sites,
    capture,
    layers_of,
    other_values,
    replaced,
)
from ..data.trace_data import TraceData

# R outputs that are explained, B rows of a pass, C columns: S source tokens, T decoder steps; G segments and E their
# ends, L layers, V vocabulary, D model width

Method = Literal["input_x_gradient", "integrated_gradients", "gradient_x_activation", "occlusion", "value_zeroing"]
METHODS: tuple[Method, ...] = get_args(Method)
SEGMENTS = 32  # of the way of integrated gradients
TINY = 1e-30


@dataclass(frozen=True)
class ExplainedOutput:
    """The explained output: the log-probability of token `id` at a step, minus that of `other` if it is given."""

    step: int
    id: int
    other: int | None = None


@dataclass(frozen=True, eq=False)
class Attributed:
    """The result of an attribution, in nats.

    `source` is [R,S] and `prefix` is [R,T].  With gradient_x_activation they are [L,R,S] and [L,R,T], for the layers of
    the encoder and of the decoder.  `values` [R] are the outputs.  `baselines` [R] are the outputs for the baseline;
    the rows of integrated gradients sum to `values` minus `baselines`.
    """

    source: np.ndarray
    prefix: np.ndarray
    values: np.ndarray
    baselines: np.ndarray | None = None


def every_step(trace: TraceData) -> list[ExplainedOutput]:
    """The log-probability of each token of the translation, as outputs to explain."""
    return [ExplainedOutput(step, id) for step, id in enumerate(trace.target_ids)]


def attributed(
    model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, trace: TraceData, method: Method,
    outputs: Sequence[ExplainedOutput], *, segments: int = SEGMENTS,
) -> Attributed:
    """The attribution of some outputs of a trace, with the model that the trace was made with.

    `segments` is the number of segments of the path of integrated gradients.  Raises UserError for an unknown method,
    or a method that models of this kind do not support.
    """
    check_method(model, method)
    passes = _Passes(model, trace, outputs, tokenizer.unk_token_id)
    with eval_mode(model):
        if method == "integrated_gradients":
            return passes.integrated(segments)
        if method == "input_x_gradient":
            return passes.times_gradient()
        if method == "gradient_x_activation":
            return passes.times_gradient(layers=True)
        return passes.without_each(passes.occluded if method == "occlusion" else passes.value_zeroed)


def check_method(model: PreTrainedModel, method: str) -> None:
    """Raises UserError for an unknown method, or a method that models of this kind do not support.

    The message lists the supported methods.
    """
    if method not in METHODS:
        raise UserError(f"unknown method {method!r}: expected {', '.join(METHODS)}", exit_code=2)
    if (why := obstacle(model, method)) is not None:
        can = ", ".join(one for one in METHODS if obstacle(model, one) is None)
        raise UserError(f"{type(model).__name__} does not support the method {method}: {why}; it supports {can}",
                        exit_code=2)


def obstacle(model: PreTrainedModel, method: str) -> str | None:
    """Why models of this kind do not support a method; None if they do."""
    if method == "integrated_gradients" and getattr(model.config, "num_experts", 1) > 1:
        return "its output jumps between two experts, which gradients do not show"
    if method in ("gradient_x_activation", "value_zeroing"):
        try:
            attention_sites(model)
            for stack in STACKS:
                layers_of(model, stack)
        except UserError:
            return "its layers are not built like those of BART or T5"
    return None


@contextmanager
def embedded(
    model: PreTrainedModel, change: Callable[[torch.Tensor, nn.Module, Stack], torch.Tensor]
) -> Iterator[None]:
    """Inside, `change(embeddings [B,S or T,D], their module, their stack)` returns the embeddings that forced passes
    read.
    """
    turn = cycle(STACKS)  # one module may serve both stacks; the encoder runs first
    modules = dict.fromkeys(map(_embeddings, (model.get_encoder(), model.get_decoder())))

    def changing(module: nn.Module) -> Change:
        return lambda embedding_BSD: change(embedding_BSD, module, next(turn))

    with replaced([(module, "out", changing(module)) for module in modules]):
        yield


class _Passes:
    """The passes of a model over copies of one sentence, for some outputs."""

    def __init__(
        self, model: PreTrainedModel, trace: TraceData, outputs: Sequence[ExplainedOutput], unknown: int | None
    ) -> None:
        self.model, self.trace, self.outputs, self.unknown = model, trace, list(outputs), unknown
        self.sizes = len(trace.source_ids), len(trace.target_ids)
        head = model.get_output_embeddings()  # FSMT has no module that makes logits of states
        self.head = head if isinstance(head, nn.Linear) else None

    def baseline(self, embedding_BSD: torch.Tensor, module: nn.Module) -> torch.Tensor:
        """[D]: the embedding of the unknown token."""
        if self.unknown is None:
            return torch.zeros_like(embedding_BSD[0, 0])
        return module.forward(torch.tensor([[self.unknown]], device=embedding_BSD.device))[0, 0].detach()

    # --- by gradients

    def times_gradient(self, *, layers: bool = False) -> Attributed:
        """Embeddings, or the states that all layers read, times the gradients of the outputs."""
        every = {(stack, number): layer for stack in STACKS
                 for number, layer in enumerate(layers_of(self.model, stack))} if layers else {}
        parts = [self._backward([self.outputs[i] for i in batch], every) for batch in self._batches(len(self.outputs))]
        value_R, source_LRS, prefix_LRT = (np.concatenate(one, axis=-1 if one[0].ndim == 1 else 1)
                                           for one in zip(*parts, strict=True))
        if layers:
            return Attributed(source_LRS, prefix_LRT, value_R)
        return Attributed(source_LRS[0], prefix_LRT[0], value_R)

    def _backward(self, outputs: Sequence[ExplainedOutput],
                  every: Mapping[tuple[Stack, int], nn.Module]) -> list[np.ndarray]:
        """The values [B], and [L,B,S] and [L,B,T], the products of embeddings or states with their gradients."""
        with self._reading(outputs, torch.ones(len(outputs))) as (run, embeddings), capture(every, "in") as states:
            value_B = run(True)
        found = [*states.values()] if every else [x_BSD for x_BSD, _ in embeddings]
        gradients = torch.autograd.grad(value_B.sum(), found)
        parts = [_dot(one, gradient) for one, gradient in zip(found, gradients, strict=True)]
        middle = sum(stack == "encoder" for stack, _ in every) or 1
        return [value_B.detach().cpu().numpy(), np.stack(parts[:middle]), np.stack(parts[middle:])]

    def integrated(self, segments: int) -> Attributed:
        """Integrated gradients, from the gradient in the middle of each segment of the path.

        No number of points is exact where the path crosses the bends of a ReLU.  The change of the output in each
        segment is known, so the error of a segment is spread over the tokens in proportion to their parts in it.
        """
        edge_E = np.linspace(0, 1, segments + 1)
        value_RE, _ = self._on_the_way(edge_E)
        _, slope_RGC = self._on_the_way((edge_E[:-1] + edge_E[1:]) / 2, gradients=True)
        part_RGC = slope_RGC / segments
        missed_RG = np.diff(value_RE, axis=1) - part_RGC.sum(-1)
        size_RGC = np.abs(part_RGC)
        part_RGC += missed_RG[..., None] * size_RGC / np.maximum(size_RGC.sum(-1, keepdims=True), TINY)
        source_RS, prefix_RT = np.split(part_RGC.sum(1).astype(np.float32), [self.sizes[0]], axis=-1)
        return Attributed(source_RS, prefix_RT, value_RE[:, -1].astype(np.float32), value_RE[:, 0].astype(np.float32))

    def _on_the_way(self, at_P: np.ndarray, *, gradients: bool = False) -> tuple[np.ndarray, np.ndarray]:
        """The outputs [R,P] at points of the path from the baseline (0) to the embeddings (1).

        With `gradients` also the parts of the tokens of both sides in the rate of change, [R,P,S+T].
        """
        rows = [(output, at) for output in self.outputs for at in at_P.tolist()]
        values, parts = list[np.ndarray](), list[np.ndarray]()
        for batch in self._batches(len(rows)):
            scale_B = torch.tensor([rows[i][1] for i in batch])
            with self._reading([rows[i][0] for i in batch], scale_B) as (run, embeddings):
                value_B = run(gradients)
            values.append(value_B.detach().double().cpu().numpy())
            if gradients:
                slopes = torch.autograd.grad(value_B.sum(), [x_BSD for x_BSD, _ in embeddings])
                parts.append(np.concatenate([_dot(way, slope) for (_, way), slope in zip(embeddings, slopes,
                                                                                        strict=True)], axis=1))
        shape = len(self.outputs), len(at_P)
        flat = np.concatenate(parts) if gradients else np.zeros(0)
        return np.concatenate(values).reshape(shape), flat.reshape(*shape, -1).astype(np.float64)

    def _batches(self, rows: int) -> Iterator[list[int]]:
        def fits(rows: int, source: int, target: int) -> bool:
            logits = rows * vocabulary_size(self.model) * (1 if self.head else target)
            return rows <= ROWS and logits <= LOGITS_AT_ONCE and rows * 3 * max(source, target) ** 2 <= CELLS_AT_ONCE

        return packed([self.sizes] * rows, fits)

    @contextmanager
    def _reading(
        self, outputs: Sequence[ExplainedOutput], scale_B: torch.Tensor
    ) -> Iterator[tuple[Callable[[bool], torch.Tensor], list[tuple[torch.Tensor, torch.Tensor]]]]:
        """A function that runs a pass with a row for each output, and the tensors that it read.

        The function takes whether to compute gradients and returns the values [B].  The tensors are, for the source and
        the prefix, the embeddings [B,C,D] and the whole path to them from the baseline.  The embeddings of row b are
        `scale_B[b]` of this path.
        """
        steps_B, rows_B = torch.tensor([output.step for output in outputs]), torch.arange(len(outputs))
        read: list[tuple[torch.Tensor, torch.Tensor]] = []

        def scaled(embedding_BSD: torch.Tensor, module: nn.Module, _: Stack) -> torch.Tensor:
            way_BSD = embedding_BSD.detach() - self.baseline(embedding_BSD, module)
            left_B11 = (1 - scale_B).to(embedding_BSD)[:, None, None]  # exact where nothing is left of the way
            read.append(((embedding_BSD.detach() - left_B11 * way_BSD).requires_grad_(), way_BSD))
            return read[-1][0]

        def own_step(state_BTD: torch.Tensor) -> torch.Tensor:  # the whole vocabulary costs as much as the layers
            return state_BTD[rows_B, steps_B][:, None]

        def run(gradients: bool) -> torch.Tensor:
            sides = [self.trace.source_ids] * len(outputs), [self.trace.target_ids] * len(outputs)
            logits_BTV = forced_pass(self.model, *sides, gradients=gradients)[0].logits.float()
            return _values(logits_BTV[:, 0] if self.head else logits_BTV[rows_B, steps_B], outputs)

        choice: list[tuple[nn.Module, Side, Change]] = [(self.head, "in", own_step)] if self.head else []
        with embedded(self.model, scaled), replaced(choice):
            yield run, read

    # --- by taking tokens away

    def without_each(self, change: Callable[[list[int]], AbstractContextManager[None]]) -> Attributed:
        """The drop of the outputs without each token of both sides, inside `change(columns of a batch)`."""
        source, target = self.trace.source_ids, self.trace.target_ids
        columns = [-1, *range(sum(self.sizes))]  # -1: nothing is missing; then both sides' tokens
        chosen: list[int] = []
        values = []
        with change(chosen):
            for batch, output, _ in forced_batches(
                self.model, [source] * len(columns), [target] * len(columns),
                before=lambda batch: chosen.__setitem__(slice(None), [columns[i] for i in batch]),
            ):
                for logits_TV in output.logits.float()[: len(batch)]:
                    values.append(_values(logits_TV[[one.step for one in self.outputs]], self.outputs).cpu().numpy())
        value_R, without_RC = values[0], np.stack(values[1:], axis=1)
        fall_RC = value_R[:, None] - without_RC
        for r, output in enumerate(self.outputs):  # a step cannot see what comes later; rounding may differ
            fall_RC[r, len(source) + output.step + 1 :] = 0
        return Attributed(fall_RC[:, : len(source)], fall_RC[:, len(source) :], value_R)

    def occluded(self, columns: list[int]) -> AbstractContextManager[None]:
        """In each row the unknown token replaces the token of its column."""

        def change(embedding_BSD: torch.Tensor, module: nn.Module, stack: Stack) -> torch.Tensor:
            first = 0 if stack == "encoder" else self.sizes[0]
            return _overwritten(embedding_BSD, columns, first, self.baseline(embedding_BSD, module))

        return embedded(self.model, change)

    def value_zeroed(self, columns: list[int]) -> AbstractContextManager[None]:
        """In each row the values of its column are zero wherever they are read."""

        def change(site: AttentionSite, value_BCHE: torch.Tensor) -> torch.Tensor:
            return _overwritten(value_BCHE, columns, self.sizes[0] if site.kind == "decoder" else 0, 0)

        return other_values(self.model, change)


def _values(logits_RV: torch.Tensor, outputs: Sequence[ExplainedOutput]) -> torch.Tensor:
    """[R]: each output, from the logits of its step."""
    own_R = logits_RV[range(len(outputs)), [one.id for one in outputs]]
    against = [logits_RV[r].logsumexp(-1) if one.other is None else logits_RV[r, one.other]
               for r, one in enumerate(outputs)]
    return own_R - torch.stack(against)  # the log-normaliser is the same for both tokens


def _embeddings(stack: nn.Module) -> nn.Module:
    """The module that embeds ids; FSMT's stacks are no models of their own."""
    found: nn.Module = stack.get_input_embeddings() if isinstance(stack, PreTrainedModel) else stack.embed_tokens
    return found


def _dot(read_BCD: torch.Tensor, gradient_BCD: torch.Tensor) -> np.ndarray:
    """[B,C]"""
    found: np.ndarray = (read_BCD.detach() * gradient_BCD).sum(-1).cpu().numpy()
    return found


def _overwritten(
    read: torch.Tensor, columns: Sequence[int], first: int, value: torch.Tensor | float
) -> torch.Tensor:
    """[B,C,...] with another value in one column of each row, unless the column belongs to the other side.

    Columns count from `first`.
    """
    read = read.clone()
    for b, column in enumerate(columns):
        if 0 <= column - first < read.shape[1]:
            read[b, column - first] = value
    return read
