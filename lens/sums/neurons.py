"""Neurons of feed-forward layers: which of them wrote a token, which tokens they promote, and when they are active.

A feed-forward layer adds activation[n] W_out[:,n] of each neuron to the residual stream.  Through the unembedding this
column is a list of tokens that the neuron promotes or suppresses whenever it is active.  The source is Geva et al.
2022, "Transformer Feed-Forward Layers Build Predictions by Promoting Concepts in the Vocabulary Space".  Norms on the
way are frozen, as in `direct_attribution.py`.

Neurons of the encoder write to the input of cross-attention, so they have no tokens of their own.  `top_activations`
lists their activations.
"""

import heapq
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

import torch
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from seq2see.errors import UserError
from ...passes.feed_forward import neurons_of
from ...passes.forced_pass import check_lengths, check_list, check_model, decoder_start, eval_mode, forced_batches
from ...passes.hooks import Stack, capture, laid_out_otherwise
from ...tokenizer.encoding import encode_source, encode_target, of_source
from ...tokenizer.tagging import tagging
from ...tokenizer.words import token_names
from ..data.tables import table
from ..data.trace_data import TraceData
from .direct_attribution import Token, token_ids
from .residual_stream import FEED_FORWARD, ForcedPass, StreamBlock, pass_in_parts

if TYPE_CHECKING:
    import pandas

# T decoder steps, D model width, N neurons, V vocabulary


@dataclass(frozen=True)
class TokenEffect:
    """A token, and the change of its logit for each unit of a neuron's activation."""

    id: int
    text: str
    per_unit: float


@dataclass(frozen=True)
class Neuron:
    """The activity of one neuron of a decoder layer at a step.

    `contribution` is its contribution to the logit, or to the difference of two logits: its activation times its output
    weights along the direction of the logit.  `raises` and `lowers` are the tokens whose logits the neuron raises and
    lowers most, per unit of activation.  A negative activation has the opposite effect.
    """

    layer: int
    number: int
    activation: float
    contribution: float
    raises: tuple[TokenEffect, ...]
    lowers: tuple[TokenEffect, ...]


class Neurons(list[Neuron]):
    """Neurons, the largest contribution first."""

    def to_pandas(self) -> "pandas.DataFrame":
        """A row for each neuron: `layer`, `number`, `activation` and `contribution`, and the names of the tokens that
        it `raises` and `lowers` most.
        """
        rows = [{**vars(one), **{name: [each.text for each in getattr(one, name)] for name in ("raises", "lowers")}}
                for one in self]
        return table(rows, columns=("layer", "number", "activation", "contribution", "raises", "lowers"))


@dataclass(frozen=True)
class Activation:
    """An activation of a neuron: the index of the sentence, the position with its token, and the value.

    In the decoder, the token is the one that the step reads.
    """

    sentence: int
    position: int
    token: str
    value: float


class NeuronActivations(dict[int, list[Activation]]):
    """Activations by neuron, the largest first."""

    def to_pandas(self) -> "pandas.DataFrame":
        """A row for each activation: `neuron`, `sentence`, `position`, `token` and `value`."""
        rows = [{"neuron": number, **asdict(one)} for number, found in self.items() for one in found]
        return table(rows, columns=("neuron", "sentence", "position", "token", "value"))


@torch.no_grad()
def top_neurons(
    model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, trace: TraceData, *, layer: int, step: int,
    token: Token | None = None, contrast: Token | None = None, k: int = 10, tokens: int = 10,
) -> Neurons:
    """The `k` neurons of a decoder layer with the largest contributions to a token at a step, positive or negative.

    Args:
        model: the model that the trace was made with.
        tokenizer: its tokenizer.
        trace: any trace.
        layer: the decoder layer, from 0.
        step: the decoder step, from 0.
        token: the token, as an id or a text that is one token; None: the token that the step predicts.
        contrast: a second token; the contributions are then to the difference of the two logits.
        k: how many neurons to return.
        tokens: how many tokens to list in `raises` and in `lowers`.

    Raises:
        UserError: a layer or step that does not exist, a layer without neurons of its own (a mixture of experts), a
            text that is not a single token, or a model whose blocks cannot be reached.
    """
    weight_DN = neurons_of(model, "decoder", layer).weight.double().cpu()
    if not 0 <= step < len(trace.target_ids):
        raise UserError(f"there is no step {step} here: expected 0 to {len(trace.target_ids) - 1}", exit_code=2)
    own, others = (None if one is None else token_ids(model, tokenizer, one, steps=len(trace.target_ids))
                   for one in (trace.target_ids if token is None else token, contrast))
    whole = pass_in_parts(model, trace)
    number, block = whole.decoder.of_kind(FEED_FORWARD)[layer]
    assert block.activation_RN is not None  # a layer with neurons
    direction_D = whole.back(whole.output_weights(own or (), others)).directions[number][step]
    contribution_N = block.activation_RN[step] * (direction_D @ weight_DN)
    best = contribution_N.abs().topk(min(k, len(contribution_N))).indices.tolist()
    return Neurons(
        Neuron(layer, n, float(block.activation_RN[step, n]), float(contribution_N[n]),
               *_effects(tokenizer, whole, block, weight_DN[:, n], step, tokens))
        for n in best
    )


def _effects(
    tokenizer: PreTrainedTokenizerBase, whole: ForcedPass, block: StreamBlock, vector_D: torch.Tensor, step: int,
    count: int,
) -> tuple[tuple[TokenEffect, ...], tuple[TokenEffect, ...]]:
    """The tokens whose logits a vector from a block raises most, and lowers most."""
    [logit_V] = whole.forward(vector_D[None], block, step)
    count = min(count, len(logit_V))
    raised, lowered = logit_V.topk(count).indices.tolist(), logit_V.topk(count, largest=False).indices.tolist()
    effects = {id: TokenEffect(id, name, float(logit_V[id]))
               for id, name in zip(raised + lowered, token_names(tokenizer, raised + lowered), strict=True)}
    return tuple(effects[id] for id in raised), tuple(effects[id] for id in lowered)


def top_activations(
    model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, sources: Sequence[str], targets: Sequence[str], *,
    layer: int, neurons: Sequence[int], stack: Stack = "decoder", k: int = 10, source_language: str = "",
    target_language: str = "",
) -> NeuronActivations:
    """Find where in a corpus given neurons are most active: the `k` largest activations of each, by absolute value.

    The model reads the given targets (teacher forcing).  Memory use does not grow with the corpus: it is that of one
    batch.

    Args:
        model: any encoder-decoder that the lens supports.
        tokenizer: its tokenizer.
        sources: the texts.
        targets: their translations.
        layer: the layer, from 0.
        neurons: the indices of the neurons.
        stack: "encoder" or "decoder".
        k: how many activations to return for each neuron.

    Returns:
        The activations by neuron, the largest first.

    Raises:
        UserError: a layer or neuron that does not exist; a layer without neurons of its own (a mixture of experts); a
            string instead of a list; lists that differ in length; a sentence that is too long for the model (the
            message has its number).
    """
    check_model(model)
    check_list(sources, "sources")
    check_list(targets, "targets")
    if len(sources) != len(targets):
        raise UserError(f"{len(sources)} sources and {len(targets)} targets: expected as many of each", exit_code=2)
    output = neurons_of(model, stack, layer)
    for n in neurons:
        if not 0 <= n < output.in_features:
            last = output.in_features - 1
            raise UserError(f"there is no neuron {n} in {stack} layer {layer}: expected 0 to {last}", exit_code=2)
    tags = tagging(model.config, tokenizer, source_language, target_language)
    first = model.generation_config.forced_bos_token_id
    source_ids = [encode_source(tokenizer, text, tagging=tags) for text in sources]
    target_ids = [encode_target(tokenizer, text, language=target_language, first=first) for text in targets]
    check_lengths(model, source_ids, side="source")
    check_lengths(model, target_ids, side="target")
    reads = source_ids if stack == "encoder" else [[decoder_start(model), *ids[:-1]] for ids in target_ids]
    best: dict[int, list[tuple[float, int, int, float]]] = {n: [] for n in neurons}
    with eval_mode(model), capture({"neurons": output}, "in") as seen:
        for batch, _, _ in forced_batches(model, source_ids, target_ids):
            if seen["neurons"].shape[:2] != (len(batch), max(len(reads[i]) for i in batch)):
                raise laid_out_otherwise(model)
            for b, i in enumerate(batch):
                value_TN = seen["neurons"][b, : len(reads[i]), list(neurons)].float().cpu()
                for n, value_T in zip(neurons, value_TN.T, strict=True):
                    at_T = value_T.abs().topk(min(k, len(value_T))).indices.tolist()
                    best[n] = heapq.nlargest(k, best[n] + [
                        (abs(float(value_T[t])), -i, -t, float(value_T[t])) for t in at_T])
    reader = of_source(tokenizer) if stack == "encoder" else tokenizer
    return NeuronActivations((n, [Activation(-i, -t, token_names(reader, [reads[-i][-t]])[0], value)
                                  for _, i, t, value in found]) for n, found in best.items())
