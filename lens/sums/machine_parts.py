"""The parts of a figure of one step, a logit or a difference of two: by block, head, position and neuron.

    figure = embedding + position + heads by what they read + biases of their outputs + feed-forward + constant

Every norm is frozen, as in `direct_attribution.py`.  These are its figures for one step, split further.  A head is
split by the position that it reads, a feed-forward layer by neuron.  The contribution of cross-attention from a source
token is split by the encoder blocks that produced its state, with attention held fixed too.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from transformers import PreTrainedTokenizerBase

from seq2see.rules import MOST_ROWS, NEURONS, TOKENS_ON
from ...tokenizer.words import special_token_ids, token_names
from ..data.trace_data import TraceData
from ..show.wording import TAG, labels, special_label
from .residual_stream import FEED_FORWARD, ForcedPass, StreamBlock, bias_of

# L layers, H heads, S source tokens, T decoder steps up to this one, D model width, N neurons, V vocabulary

CELLS = 1024  # neurons whose activations are given
SEARCHED = 50  # tokens that are named at once to find the NEURONS best that are no special ones
SPACES = "▁ "  # how names of tokens begin with the space before a word


@dataclass(frozen=True)
class ActiveNeuron:
    """A neuron of the decoder: its contribution, and the tokens whose logits it raises most."""

    number: int
    activation: float
    adds: float
    raises: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Neurons:
    """The neurons of a feed-forward layer of the decoder.

    It has the number of neurons above 0 (`active`) of all `count`, the contribution of the output bias, and the neurons
    with the largest contributions.  `activations` has all neurons, or the CELLS most active ones by index.
    """

    active: int
    count: int
    bias: float
    list: tuple[ActiveNeuron, ...]
    activations: np.ndarray | None


@dataclass(frozen=True)
class EncoderNeuron:
    """A neuron of the encoder: its contribution through cross-attention, and the source tokens where it is most active.
    """

    number: int
    adds: float
    on: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class EncoderParts:
    """The contribution of cross-attention from each source token, split by the parts that produced its state.

    - `start` [S]: embeddings and positions;
    - `attention_rows` [L,S]: heads; `heads` [L,H] has them by layer and head, `attention` [L,S,S] by row and column
      (None above MOST_ROWS);
    - `feed_forward` [L,S]: feed-forward layers;
    - `constant` [S]: biases.
    """

    start: np.ndarray
    attention: np.ndarray | None
    attention_rows: np.ndarray
    heads: np.ndarray
    feed_forward: np.ndarray
    constant: np.ndarray
    neurons: tuple[tuple[EncoderNeuron, ...] | None, ...]

    def total(self) -> np.ndarray:
        """[S]: the sum of all parts, which is the contribution of cross-attention from each source token."""
        return np.asarray(self.start + self.attention_rows.sum(0) + self.feed_forward.sum(0) + self.constant)


@dataclass(frozen=True, eq=False)
class Parts:
    """The parts of a figure.

    - `embedding`, and `position` (0 if it cannot be separated from the embedding);
    - `decoder` [L,H,T] and `cross` [L,H,S]: heads by the position that they read;
    - `bias` [L,2]: the biases of their outputs;
    - `feed_forward` [L]: feed-forward layers;
    - `constant`: the biases of norms and output;
    - `neurons` and `encoder`: `feed_forward` and `cross` split further.  A mixture of experts has no neurons.
    """

    embedding: float
    position: float
    constant: float
    decoder: np.ndarray
    cross: np.ndarray
    bias: np.ndarray
    feed_forward: np.ndarray
    neurons: tuple[Neurons | None, ...]
    encoder: EncoderParts

    def total(self) -> float:
        """The sum of all parts, which equals the figure up to the rounding of float32."""
        arrays = (self.decoder, self.cross, self.bias, self.feed_forward)
        return self.embedding + self.position + self.constant + sum(float(one.sum()) for one in arrays)


def parts_of(
    tokenizer: PreTrainedTokenizerBase, trace: TraceData, whole: ForcedPass, weight_D1: torch.Tensor, *, step: int,
    activations: bool,
) -> Parts:
    """The parts at a step of the product of these output weights and the last state.

    The last number of the weights is the bias.  With or without the `activations` of all neurons.
    """
    decoder, back = whole.decoder, whole.back(weight_D1.expand(len(whole.logit_TV), -1))
    along = [direction_TD[step] for direction_TD in back.directions]
    heads: dict[str, list[np.ndarray]] = {"decoder": [], "cross": []}
    biases: dict[str, list[float]] = {"decoder": [], "cross": []}
    read_SD, constant_S = torch.zeros_like(whole.encoder.embedding_RD), torch.zeros(len(trace.source_ids)).double()
    for block, direction_D in zip(decoder.blocks, along, strict=True):
        if block.attention is not None:
            columns_HT = block.attention.columns(direction_D[None], slice(step, step + 1))[:, 0]
            heads[block.kind].append((columns_HT if block.kind == "cross" else columns_HT[:, :step + 1]).numpy())
            biases[block.kind].append(float(block.attention.bias_D @ direction_D))
        if block.attention is not None and block.kind == "cross":
            through_SD, biases_S = block.attention.read_along(direction_D, step)
            read_SD, constant_S = read_SD + through_SD, constant_S + biases_S
    first_D = back.embedding_RD[step]
    position = 0.0 if decoder.position_RD is None else float(decoder.position_RD[step] @ first_D)
    inner = [(block, along[number]) for number, block in decoder.of_kind(FEED_FORWARD)]
    return Parts(
        embedding=float(decoder.embedding_RD[step] @ first_D) - position,
        position=position,
        constant=float(back.constant_R[step]),
        decoder=np.stack(heads["decoder"]),
        cross=np.stack(heads["cross"]),
        bias=np.stack([biases["decoder"], biases["cross"]], axis=-1),
        feed_forward=np.array([float(block.added_RD[step] @ direction_D) for block, direction_D in inner]),
        neurons=tuple(_neurons(tokenizer, whole, block, direction_D, step, activations=activations)
                      for block, direction_D in inner),
        encoder=_encoder(trace, whole, read_SD, constant_S),
    )


def _encoder(trace: TraceData, whole: ForcedPass, read_SD: torch.Tensor, constant_S: torch.Tensor) -> EncoderParts:
    """The value along a direction at each source token, split into its parts."""
    encoder, back = whole.encoder, whole.encoder.back(read_SD, constant_S)
    constant_S, attention = back.constant_R, list[np.ndarray]()
    for number, block in enumerate(encoder.blocks):
        if block.attention is not None:
            attention.append(block.attention.columns(back.directions[number]).numpy())
            constant_S = constant_S + back.directions[number] @ block.attention.bias_D
    attention_LHSS = np.stack(attention)
    inner = [(block, back.directions[number]) for number, block in encoder.of_kind(FEED_FORWARD)]
    return EncoderParts(
        start=(encoder.embedding_RD * back.embedding_RD).sum(-1).numpy(),
        attention=attention_LHSS.sum(1) if len(trace.source_ids) <= MOST_ROWS else None,
        attention_rows=attention_LHSS.sum((1, 3)),
        heads=attention_LHSS.sum((2, 3)),
        feed_forward=np.stack([(block.added_RD * direction_SD).sum(-1).numpy() for block, direction_SD in inner]),
        constant=constant_S.numpy(),
        neurons=tuple(_encoder_neurons(labels(trace.source, source=True), *one) for one in inner),
    )


# --- neurons


def _neurons(
    tokenizer: PreTrainedTokenizerBase, whole: ForcedPass, block: StreamBlock, direction_D: torch.Tensor, step: int, *,
    activations: bool,
) -> Neurons | None:
    if block.output is None or block.activation_RN is None:
        return None
    weight_DN, activation_N = block.output.weight.double().cpu(), block.activation_RN[step]
    adds_N = activation_N * (direction_D @ weight_DN)
    best = adds_N.topk(min(NEURONS, len(adds_N))).indices
    pushed_ND = torch.where(activation_N[best] < 0, -weight_DN[:, best], weight_DN[:, best]).T
    raises = [_raised(tokenizer, logit_V) for logit_V in whole.forward(pushed_ND, block, step)]
    return Neurons(
        active=int((activation_N > 0).sum()),
        count=len(activation_N),
        bias=float(bias_of(block.output) @ direction_D),
        list=tuple(ActiveNeuron(number, float(activation_N[number]), float(adds_N[number]), tokens)
                   for number, tokens in zip(best.tolist(), raises, strict=True)),
        activations=_most_active(activation_N).numpy() if activations else None,
    )


def _most_active(activation_N: torch.Tensor) -> torch.Tensor:
    """The CELLS activations furthest from 0, by index."""
    return activation_N[activation_N.abs().topk(min(CELLS, len(activation_N))).indices.sort().values]


def _raised(tokenizer: PreTrainedTokenizerBase, logit_V: torch.Tensor) -> tuple[str, ...]:
    """The texts of the tokens whose logits rise most, without special ones."""
    best, special, found = logit_V.argsort(descending=True).tolist(), special_token_ids(tokenizer), list[str]()
    for start in range(0, len(best), SEARCHED):
        ids = [id for id in best[start:start + SEARCHED] if id not in special]
        for name, text in zip(token_names(tokenizer, ids), texts_of(tokenizer, ids), strict=True):
            if text not in found and not TAG.fullmatch(name):
                found.append(text)
        if len(found) >= NEURONS:
            break
    return tuple(found[:NEURONS])


def texts_of(tokenizer: PreTrainedTokenizerBase, ids: Sequence[int]) -> list[str]:
    """The display texts of tokens, without the space before a word."""
    return [special_label(name.strip(SPACES) or name, source=False) for name in token_names(tokenizer, ids)]


def _encoder_neurons(
    source: Sequence[str], block: StreamBlock, direction_SD: torch.Tensor
) -> tuple[EncoderNeuron, ...] | None:
    if block.output is None or block.activation_RN is None:
        return None
    activation_SN = block.activation_RN
    adds_N = (activation_SN * (direction_SD @ block.output.weight.double().cpu())).sum(0)
    found = []
    for number in adds_N.topk(min(NEURONS, len(adds_N))).indices.tolist():
        on = activation_SN[:, number].topk(min(TOKENS_ON, len(activation_SN)))
        tokens = (source[s] for value, s in zip(on.values.tolist(), on.indices.tolist(), strict=True) if value > 0)
        found.append(EncoderNeuron(number, float(adds_N[number]), tuple(tokens)))
    return tuple(found)
