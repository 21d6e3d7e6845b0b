"""One forced pass in parts: the contribution of every decoder and encoder block to the residual stream.

A state is a sum: the embedding, the output of each block, and the biases of norms.  With every norm on the way frozen
(`frozen_norm.py`), the output of a block contributes to a later state along a direction.  Instead of sending every part
through the norms, the direction is carried back through them once, to [R,D] at each block (`Stream.back`).

Pre-norm models (Seq2See, T5, mBART, M2M-100, NLLB, Pegasus, Blenderbot) have one norm on the way, the last, so the
direction is the same at every block.  In post-norm models (Marian, BART, PLBart) the sum after each block is
normalised.  Every norm from a block's own to the last one is frozen in turn.  So all later norms rescale an early
block, and their divisors include the outputs of later blocks.  The figure of an early block is what remains of it, not
its effect alone.

The output of an attention block splits further, by head and by the position that it reads (`StreamAttention.columns`).
The direction continues to the state that was read there (`StreamAttention.read_along`).  So the encoder's blocks count
by their contribution to cross-attention. """

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn
from transformers import PreTrainedModel

from ...passes.attention_kinds import Kind
from ...passes.feed_forward import FeedForwardSite, feed_forward_sites
from ...passes.forced_pass import check_model, decoder_start, eval_with_eager_attention, forced_pass
from ...passes.frozen_norm import FrozenNorm
from ...passes.hooks import AttentionSite, Stack, attention_sites, capture, laid_out_otherwise
from ..data.trace_data import TraceData

# H heads, R rows (source tokens, or T decoder steps), C columns, D model width, E size of one head, N neurons,
# V vocabulary

FINAL_NORMS = ("layer_norm", "final_layer_norm")  # what a stack calls the norm after its last layer, if it has one
FEED_FORWARD = "feed_forward"
POSITIONS = "positions"  # how the name of the module that gives positions ends
APART = 1e-4  # how far embeddings may be from what is left of the first state without positions


@dataclass(frozen=True, eq=False)
class StreamAttention:
    """One attention block in one pass: its weights [H,R,C], the mixed values [R,H,E], and the values [C,H,E]."""

    site: AttentionSite
    weight_HRC: torch.Tensor
    mixed_RHE: torch.Tensor
    value_CHE: torch.Tensor

    @property
    def heads_RHD(self) -> torch.Tensor:
        """[R,H,D]: the contribution of each head, W_O^h times its mixed values."""
        return torch.einsum("rhe,dhe->rhd", self.mixed_RHE, self._output_DHE())

    @property
    def bias_D(self) -> torch.Tensor:
        """The bias of the output projection, which is added to every row."""
        return bias_of(self.site.output)

    def columns(self, direction_RD: torch.Tensor, rows: slice = slice(None)) -> torch.Tensor:
        """[H,R,C]: the contribution of each head to each row along its direction, by the column that it reads.

        The number is weight[h,r,c] (W_O^h value[c,h]) · direction[r].
        """
        return self.weight_HRC[:, rows] * torch.einsum("che,rhe->hrc", self.value_CHE, self._pulled(direction_RD))

    def read_along(self, direction_D: torch.Tensor, row: int) -> tuple[torch.Tensor, torch.Tensor]:
        """[C,D] and [C]: the direction along which a row reads each column, and the contribution of the value biases
        there.
        """
        pulled_HE, weight_HC = self._pulled(direction_D[None])[0], self.weight_HRC[:, row]
        value_HED = self.site.value.weight.double().cpu().unflatten(0, (self.site.heads, -1))
        bias_HE = bias_of(self.site.value).unflatten(0, (self.site.heads, -1))
        return (torch.einsum("hc,he,hed->cd", weight_HC, pulled_HE, value_HED),
                torch.einsum("hc,he,he->c", weight_HC, pulled_HE, bias_HE))

    def _pulled(self, direction_RD: torch.Tensor) -> torch.Tensor:
        return torch.einsum("dhe,rd->rhe", self._output_DHE(), direction_RD)

    def _output_DHE(self) -> torch.Tensor:
        return self.site.output.weight.double().cpu().unflatten(-1, (self.site.heads, self.site.head_size))


@dataclass(frozen=True, eq=False)
class StreamBlock:
    """One block: its contribution to the residual stream, and the stream `after_RD` it.

    In a post-norm model it has the norm that follows, frozen.  `activation_RN` are the neurons of a feed-forward block;
    None for a mixture of experts.
    """

    kind: str  # encoder, decoder, cross or feed_forward
    layer: int
    added_RD: torch.Tensor
    after_RD: torch.Tensor
    norm: FrozenNorm | None
    attention: StreamAttention | None = None
    output: nn.Linear | None = None  # whose input columns are the neurons
    activation_RN: torch.Tensor | None = None


@dataclass(frozen=True, eq=False)
class Directions:
    """The directions [R,D] along which the blocks and the embedding contribute, and the contribution [R] of the norms'
    biases.
    """

    directions: list[torch.Tensor]
    embedding_RD: torch.Tensor
    constant_R: torch.Tensor


@dataclass(frozen=True, eq=False)
class Stream:
    """The residual stream of a stack in one forced pass: its first state, its blocks in order, and its last norm, if
    any.

    All values are the model's own numbers, split exactly in float64.  `position_RD` is the part of the first state from
    the positions.  It is None if positions are not simply added to the embeddings (BART normalises the sum), or do not
    exist (T5).
    """

    embedding_RD: torch.Tensor
    position_RD: torch.Tensor | None
    blocks: list[StreamBlock]
    final: FrozenNorm | None

    def back(self, direction_RD: torch.Tensor, constant_R: torch.Tensor) -> Directions:
        """A direction in the state after the last norm, carried back to every block."""
        directions, constant_R = list[torch.Tensor](), constant_R.clone()
        for norm in (self.final, *(block.norm for block in reversed(self.blocks))):
            if norm is not None:
                constant_R += direction_RD @ norm.bias_D
                direction_RD = norm.back(direction_RD)
            directions.append(direction_RD)
        return Directions(directions[:0:-1], direction_RD, constant_R)

    def of_kind(self, kind: str) -> list[tuple[int, StreamBlock]]:
        """The blocks of a kind, each with its index."""
        return [(number, block) for number, block in enumerate(self.blocks) if block.kind == kind]


@dataclass(frozen=True, eq=False)
class ForcedPass:
    """One forced pass: both streams, the input of cross-attention, and the weights that turn the last state into
    logits.
    """

    encoder: Stream
    decoder: Stream
    encoded_SD: torch.Tensor
    scale: float
    unembedding_VD: torch.Tensor
    bias_V: torch.Tensor
    logit_TV: torch.Tensor

    def output_weights(self, tokens: Sequence[int], contrasts: Sequence[int] | None) -> torch.Tensor:
        """[T,D+1]: the output weights of each step's token, minus its contrast's; the last column is the bias."""
        own = self._rows(tokens)
        return own if contrasts is None else own - self._rows(contrasts)

    def mean_weights(self) -> torch.Tensor:
        """[D+1]: the mean over the vocabulary."""
        mean_D = self.unembedding_VD.mean(0, dtype=torch.float64) * self.scale
        return torch.cat([mean_D, self.bias_V.mean()[None]])

    def _rows(self, ids: Sequence[int]) -> torch.Tensor:
        at = torch.tensor([*ids])
        return torch.cat([self.unembedding_VD[at].double() * self.scale, self.bias_V[at, None]], -1)

    def logits(self, tokens: Sequence[int], contrasts: Sequence[int] | None) -> torch.Tensor:
        """[T]: the model's own logits, minus the contrast's."""
        steps = torch.arange(len(tokens))
        own_T = self.logit_TV[steps, torch.tensor([*tokens])]
        return own_T if contrasts is None else own_T - self.logit_TV[steps, torch.tensor([*contrasts])]

    def back(self, weight_TD1: torch.Tensor) -> Directions:
        """The output weights carried back to every block of the decoder."""
        return self.decoder.back(weight_TD1[:, :-1], weight_TD1[:, -1])

    def forward(self, vector_ND: torch.Tensor, block: StreamBlock, step: int) -> torch.Tensor:
        """[N,V]: the direct contribution of each vector to each logit, if a block adds it at a step."""
        vector_TND = vector_ND.new_zeros(len(self.logit_TV), *vector_ND.shape)
        vector_TND[step] = vector_ND
        later = self.decoder.blocks[self.decoder.blocks.index(block):]
        for norm in (*(one.norm for one in later), self.decoder.final):
            vector_TND = vector_TND if norm is None else norm.apply(vector_TND)
        return ((self.scale * vector_TND[step]).to(self.unembedding_VD) @ self.unembedding_VD.T).double()


@torch.no_grad()
def pass_in_parts(model: PreTrainedModel, trace: TraceData) -> ForcedPass:
    """The parts of the pass over a trace; costs another pass of the model.

    Raises UserError for a model whose blocks cannot be reached.
    """
    check_model(model)
    attentions, head = attention_sites(model), model.get_output_embeddings()
    encoder = _Sites.of(model, "encoder", [attentions["encoder"]])
    decoder = _Sites.of(model, "decoder", [attentions["decoder"], attentions["cross"]])
    with (
        eval_with_eager_attention(model),
        capture(encoder.left() | decoder.left(), "out") as outputs,
        capture({**encoder.entered(), **decoder.entered(), ("logits",): head}, "in") as inputs,
    ):
        output, _ = forced_pass(model, [trace.source_ids], [trace.target_ids], output_attentions=True)
    seen = _Captured({key: _of_sentence(one) for key, one in outputs.items()},
                     {key: _of_sentence(one) for key, one in inputs.items()},
                     {kind: [_of_sentence(one) for one in output[f"{kind}_attentions"]] for kind in attentions})
    if len(seen.inputs["logits",]) != len(trace.target_ids):
        raise laid_out_otherwise(model)
    encoded_SD, state_TD = (seen.outputs[side.last] for side in (encoder, decoder))
    return ForcedPass(
        encoder=encoder.stream(seen, trace.source_ids),
        decoder=decoder.stream(seen, [decoder_start(model), *trace.target_ids[:-1]]),
        encoded_SD=encoded_SD,
        scale=float((seen.inputs["logits",] * state_TD).sum() / state_TD.square().sum()),  # T5's d_model^-0.5, else 1
        unembedding_VD=head.weight.cpu(),
        bias_V=_logit_bias(model, head),
        logit_TV=output.logits[0].double().cpu(),
    )


@dataclass(frozen=True, eq=False)
class _Captured:
    """The inputs and outputs of modules in one pass, and the weights [H,R,C] of each kind of attention."""

    outputs: dict[tuple, torch.Tensor]
    inputs: dict[tuple, torch.Tensor]
    weights: dict[Kind, list[torch.Tensor]]


@dataclass(frozen=True, eq=False)
class _Sites:
    """The modules of a stack: for each layer its attentions in order, then its feed-forward block."""

    stack: Stack
    layers: list[tuple[list[AttentionSite], FeedForwardSite]]
    embeddings: nn.Module
    positions: nn.Module | None
    final: nn.Module | None

    @classmethod
    def of(cls, model: PreTrainedModel, stack: Stack, attentions: Sequence[Sequence[AttentionSite]]) -> "_Sites":
        module = model.get_encoder() if stack == "encoder" else model.get_decoder()
        named = dict(module.named_modules())
        return cls(
            stack,
            [([*own], inner) for *own, inner in zip(*attentions, feed_forward_sites(model, stack), strict=True)],
            module.get_input_embeddings(),
            next((named[name] for name in named if name.endswith(POSITIONS)), None),
            next((getattr(module, name) for name in FINAL_NORMS if hasattr(module, name)), None),
        )

    @property
    def last(self) -> tuple:
        """The key of the stack's output."""
        return (self.stack, "final") if self.final else (self.stack, "layer", len(self.layers) - 1)

    def in_order(self) -> Iterator[list[tuple[str, AttentionSite | FeedForwardSite]]]:
        """The blocks of each layer, with their kinds."""
        for own, inner in self.layers:
            yield [*((site.kind, site) for site in own), (FEED_FORWARD, inner)]

    def norms(self) -> dict[tuple, nn.Module]:
        return {(self.stack, "norm", kind, site.layer): site.norm for layer in self.in_order() for kind, site in layer}

    def left(self) -> dict[tuple, nn.Module]:
        """The modules whose output is captured."""
        found: dict[tuple, nn.Module] = {(self.stack, "layer", inner.layer): inner.module for _, inner in self.layers}
        found |= {(self.stack, "value", one.kind, one.layer): one.value for own, _ in self.layers for one in own}
        for name, module in (("positions", self.positions), ("final", self.final)):
            if module is not None:
                found[self.stack, name] = module
        return found | self.norms() | {(self.stack, "first"): self.layers[0][0][0].output}

    def entered(self) -> dict[tuple, nn.Module]:
        """The modules whose input is captured."""
        found: dict[tuple, nn.Module] = {(self.stack, "layer", inner.layer): inner.module for _, inner in self.layers}
        found |= {(self.stack, "mixed", one.kind, one.layer): one.output for own, _ in self.layers for one in own}
        found |= {(self.stack, "neurons", inner.layer): inner.output for _, inner in self.layers if inner.output}
        return found | self.norms() | ({} if self.final is None else {(self.stack, "final"): self.final})

    def stream(self, seen: _Captured, ids: Sequence[int]) -> Stream:
        """The stream of a pass over these ids."""
        return Stream(
            embedding_RD=seen.inputs[self.stack, "layer", 0],
            position_RD=self._positions(seen, ids),
            blocks=list(self._blocks(seen)),
            final=None if self.final is None else FrozenNorm.of(self.final, seen.inputs[self.stack, "final"]),
        )

    def _positions(self, seen: _Captured, ids: Sequence[int]) -> torch.Tensor | None:
        """The position vectors [R,D], if the rest of the state is a multiple of the tokens' embeddings."""
        if (position_RD := seen.outputs.get((self.stack, "positions"))) is None:
            return None
        token_RD = self.embeddings.weight[torch.tensor([*ids])].double().cpu()
        left_RD = seen.inputs[self.stack, "layer", 0] - position_RD
        scale = (left_RD * token_RD).sum() / token_RD.square().sum().clamp_min(1e-30)
        return position_RD if torch.allclose(left_RD, scale * token_RD, rtol=0, atol=APART) else None

    def _blocks(self, seen: _Captured) -> Iterator[StreamBlock]:
        """The blocks in order.

        The contribution of a block is the difference between the stream after it and before it.  The norms read the
        stream: before their block in a pre-norm model, after it in a post-norm model.
        """
        first = (self.stack, "norm", self.layers[0][0][0].kind, 0)
        pre_norm = next(key for key in seen.outputs if key in (first, (self.stack, "first"))) == first
        for number, layer in enumerate(self.in_order()):
            stream_RD = seen.inputs[self.stack, "layer", number]
            for (kind, site), following in zip(layer, (*layer[1:], None), strict=True):
                key = (self.stack, "norm", kind, number)
                if not pre_norm:
                    summed_RD, after_RD = seen.inputs[key], seen.outputs[key]
                elif following is None:
                    summed_RD = after_RD = seen.outputs[self.stack, "layer", number]
                else:
                    summed_RD = after_RD = seen.inputs[self.stack, "norm", following[0], number]
                yield StreamBlock(kind, number, summed_RD - stream_RD, after_RD,
                            norm=None if pre_norm else FrozenNorm.of(site.norm, summed_RD),
                            **self._inside(site, seen))
                stream_RD = after_RD

    def _inside(self, site: AttentionSite | FeedForwardSite, seen: _Captured) -> dict[str, Any]:
        """The attention or the neurons of a block."""
        if not isinstance(site, AttentionSite):
            return {"output": site.output, "activation_RN": seen.inputs.get((self.stack, "neurons", site.layer))}
        mixed_RD = seen.inputs[self.stack, "mixed", site.kind, site.layer]
        value_CD = seen.outputs[self.stack, "value", site.kind, site.layer]
        by_head = (site.heads, site.head_size)
        return {"attention": StreamAttention(site, seen.weights[site.kind][site.layer], mixed_RD.unflatten(-1, by_head),
                                       value_CD.unflatten(-1, by_head))}


def _of_sentence(captured: torch.Tensor) -> torch.Tensor:
    """The tensor in float64, without the batch dimension of one sentence, which positions may lack."""
    return captured.squeeze(0).double().cpu() if captured.ndim != 2 else captured.double().cpu()


def bias_of(projection: nn.Linear) -> torch.Tensor:
    """[D]: its bias; zeros if it has none."""
    width = projection.out_features
    return torch.zeros(width, dtype=torch.float64) if projection.bias is None else projection.bias.double().cpu()


def _logit_bias(model: PreTrainedModel, head: nn.Module) -> torch.Tensor:
    """[V]: the biases of the logits, if any: `final_logits_bias` of Marian and BART, and the output projection's."""
    biases = [head.bias, dict(model.named_buffers()).get("final_logits_bias")]
    total_V = torch.zeros(head.weight.shape[0], dtype=torch.float64)
    for bias in biases:
        if bias is not None:
            total_V += bias.detach().double().cpu().flatten()
    return total_V
