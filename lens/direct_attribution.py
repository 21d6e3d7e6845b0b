"""Direct logit attribution: how much of a logit each block of the decoder wrote (Elhage et al. 2021, "A Mathematical
Framework for Transformer Circuits"; nostalgebraist 2020).

The last state is a sum: the embedding, what each head and each feed-forward layer added, and biases.  The logit of a
token is that state's product with the token's output weights, so with every norm on the way frozen (`frozen_norm.py`)
it is the sum of what each of them contributes:

    logit(token) - logit(contrast) = embedding + sum of heads + sum of feed-forward layers + constant      [each step]

Instead of sending every part through the norms, the output weights are carried back through them once: to the
direction [T,D] at each block along which what it adds counts.

Pre-norm models (Seq2See, T5, mBART, M2M-100, NLLB, Pegasus, Blenderbot) have one norm on the way, the last, so the
direction is the same at every block.  In post-norm models (Marian, BART, PLBart) each block's sum is normalised; every
norm from a block's own to the last one is frozen, in turn.  An early block is then rescaled by all later norms, whose
divisors include what later blocks added: its figure says what is left of it, not what it would do alone.

These are direct effects only: what a block does by way of later blocks is counted as theirs, and so is all that the
encoder does, as that of cross-attention.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
import torch
from torch import nn
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from seq2see.errors import UserError
from ..tokenizer.encoding import encode_source
from ..tokenizer.tokenization_seq2see import Seq2SeeTokenizer
from ..tokenizer.words import token_names
from .feed_forward import FeedForwardSite, feed_forward_sites
from .frozen_norm import FrozenNorm
from .hooks import AttentionSite, attention_sites, capture, laid_out_otherwise
from .teacher_forcing import check_model, eval_with_eager_attention, forced_pass
from .trace_data import TraceData

# L decoder layers, H heads, T decoder steps, D model width, E size of one head, N neurons, V vocabulary

FINAL_NORMS = ("layer_norm", "final_layer_norm")  # what the decoder calls the norm after its last layer, if it has one
SUM_OFF = 1e-3  # how far parts may be from a logit, relative to the largest logit, in a model that is built as expected

Token = int | str  # an id, or a text that is one token


@dataclass(frozen=True, eq=False)
class LogitAttribution:
    """What each block of the decoder contributes to the logit of `tokens` [T], or to its distance from that of
    `contrasts`, at each step.

    `decoder` and `cross` [L,H,T] are the heads of self- and cross-attention, `feed_forward` [L,T] the feed-forward
    layers with their biases, `embedding` [T] what the decoder read, and `constant` [T] the biases of attention, norms
    and output.  `logits` [T] is the model's own figure.
    """

    tokens: tuple[int, ...]
    contrasts: tuple[int, ...] | None
    logits: np.ndarray
    embedding: np.ndarray
    decoder: np.ndarray
    cross: np.ndarray
    feed_forward: np.ndarray
    constant: np.ndarray

    def total(self) -> np.ndarray:
        """[T]: the sum of all parts, which is `logits` up to the rounding of float32."""
        heads = (self.decoder + self.cross).sum((0, 1))
        return np.asarray(self.embedding + heads + self.feed_forward.sum(0) + self.constant)


@torch.no_grad()
def logit_attribution(
    model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, trace: TraceData, *,
    token: Token | Sequence[int] | None = None, contrast: Token | Sequence[int] | None = None,
) -> LogitAttribution:
    """What each head of the decoder, feed-forward layer and embedding adds to the logit of a token at every step of a
    trace, directly (Elhage et al. 2021); with `contrast`, to the difference of two logits: why *il* and not *elle*.

    `token` is by default what each step predicts; an id or a text that is one token stands for all steps, a list of ids
    for one each.  Costs one pass.  UserError for a text that is no single token, an id that the model does not have,
    and a model whose blocks cannot be reached or whose parts do not sum to its logits.
    """
    tokens = token_ids(model, tokenizer, trace.target_ids if token is None else token, steps=len(trace.target_ids))
    contrasts = None if contrast is None else token_ids(model, tokenizer, contrast, steps=len(tokens))
    own = decoder_pass(model, trace)
    back = own.back(own.output_weights(tokens, contrasts))
    attended: dict[str, list[torch.Tensor]] = {"decoder": [], "cross": []}
    written, constant_T = [], back.constant_T
    for block, direction_TD in zip(own.blocks, back.directions, strict=True):
        if block.heads_THD is None:
            written.append((block.added_TD * direction_TD).sum(-1))
        else:
            attended[block.kind].append(torch.einsum("thd,td->ht", block.heads_THD, direction_TD))
            constant_T = constant_T + (block.bias_TD * direction_TD).sum(-1)
    found = LogitAttribution(
        tokens, contrasts,
        logits=own.logits(tokens, contrasts).numpy(),
        embedding=(own.embedding_TD * back.embedding_TD).sum(-1).numpy(),
        decoder=torch.stack(attended["decoder"]).numpy(),
        cross=torch.stack(attended["cross"]).numpy(),
        feed_forward=torch.stack(written).numpy(),
        constant=constant_T.numpy(),
    )
    if not np.allclose(found.total(), found.logits, rtol=0, atol=SUM_OFF * (1 + float(own.logit_TV.abs().max()))):
        raise laid_out_otherwise(model)
    return found


def token_ids(
    model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, wanted: Token | Sequence[int], *, steps: int
) -> tuple[int, ...]:
    """An id for each step.  UserError for a text that is no single token, and for an id that the model does not
    have."""
    if isinstance(wanted, str):
        wanted = _only_token(tokenizer, wanted)
    ids = (wanted,) * steps if isinstance(wanted, int) else tuple(wanted)
    if len(ids) != steps:
        raise UserError(f"{len(ids)} tokens for {steps} steps: expected one, or one for each step", exit_code=2)
    rows = model.get_output_embeddings().weight.shape[0]
    for id in ids:
        if not 0 <= id < rows:
            raise UserError(f"the model has no token {id}: expected ids from 0 to {rows - 1}", exit_code=2)
    return ids


def _only_token(tokenizer: PreTrainedTokenizerBase, text: str) -> int:
    """The id of a word that is one token (`il`), or of a token by its name (`▁il`)."""
    if isinstance(tokenizer, Seq2SeeTokenizer):
        ids = encode_source(tokenizer, text)[:-1]
    else:
        ids = tokenizer(text_target=text, add_special_tokens=False, split_special_tokens=True)["input_ids"]
    ids = [id for id in ids if id != tokenizer.unk_token_id]
    if len(ids) == 1:
        return ids[0]
    if text in tokenizer.get_vocab():
        return int(tokenizer.get_vocab()[text])
    named = f"{len(ids)} tokens ({' '.join(token_names(tokenizer, ids))})" if ids else "no token"
    raise UserError(f"{text!r} is {named} of this model: choose a word that is one token, or give an id", exit_code=2)


# --- one pass of the decoder, in parts


@dataclass(frozen=True)
class DecoderBlock:
    """What one block adds to the residual stream, and in a post-norm model the norm that follows, frozen.

    Of attention `heads_THD` and `bias_TD` sum to `added_TD`.  Of a feed-forward layer `activation_TN` is that of its
    neurons; None in a mixture of experts.
    """

    kind: str  # decoder, cross or feed_forward
    layer: int
    added_TD: torch.Tensor
    norm: FrozenNorm | None
    heads_THD: torch.Tensor | None = None
    bias_TD: torch.Tensor = field(default_factory=lambda: torch.zeros(()))
    activation_TN: torch.Tensor | None = None


@dataclass(frozen=True)
class Directions:
    """Along which direction [T,D] what each block adds, and the embedding, counts for the logits; and what the biases
    of the norms add to them, [T]."""

    directions: list[torch.Tensor]
    embedding_TD: torch.Tensor
    constant_T: torch.Tensor


@dataclass(frozen=True)
class DecoderPass:
    """One forced pass of the decoder: its first state, its blocks in order, its last norm if it has one, and what makes
    logits of the state after it.  In float64: the model's own numbers, taken apart exactly."""

    embedding_TD: torch.Tensor
    blocks: list[DecoderBlock]
    final: FrozenNorm | None
    scale: float
    unembedding_VD: torch.Tensor
    bias_V: torch.Tensor
    logit_TV: torch.Tensor

    def output_weights(self, tokens: Sequence[int], contrasts: Sequence[int] | None) -> torch.Tensor:
        """[T,D+1]: of each step's token, less its contrast's; the last column is the bias."""
        own = self._rows(tokens)
        return own if contrasts is None else own - self._rows(contrasts)

    def _rows(self, ids: Sequence[int]) -> torch.Tensor:
        at = torch.tensor([*ids])
        return torch.cat([self.unembedding_VD[at].double() * self.scale, self.bias_V[at, None]], -1)

    def logits(self, tokens: Sequence[int], contrasts: Sequence[int] | None) -> torch.Tensor:
        """[T]: the model's own, less the contrast's."""
        steps = torch.arange(len(tokens))
        own_T = self.logit_TV[steps, torch.tensor([*tokens])]
        return own_T if contrasts is None else own_T - self.logit_TV[steps, torch.tensor([*contrasts])]

    def back(self, weight_TD1: torch.Tensor) -> Directions:
        """The output weights carried back to every block."""
        direction_TD, constant_T = weight_TD1[:, :-1], weight_TD1[:, -1].clone()
        directions = list[torch.Tensor]()
        for norm in (self.final, *(block.norm for block in reversed(self.blocks))):
            if norm is not None:
                constant_T += direction_TD @ norm.bias_D
                direction_TD = norm.back(direction_TD)
            directions.append(direction_TD)
        return Directions(directions[:0:-1], direction_TD, constant_T)

    def forward(self, vector_D: torch.Tensor, block: DecoderBlock, step: int) -> torch.Tensor:
        """[V]: what this vector, added by a block at a step, adds to each logit directly."""
        vector_TD = torch.zeros_like(self.embedding_TD)
        vector_TD[step] = vector_D
        later = self.blocks[self.blocks.index(block):]
        for norm in (*(one.norm for one in later), self.final):
            vector_TD = vector_TD if norm is None else norm.apply(vector_TD)
        return (self.unembedding_VD @ (self.scale * vector_TD[step]).to(self.unembedding_VD)).double()


@torch.no_grad()
def decoder_pass(model: PreTrainedModel, trace: TraceData) -> DecoderPass:
    """The decoder's pass over a trace, from another pass of the model; UserError for a model whose blocks cannot be
    reached."""
    check_model(model)
    sites, decoder, head = attention_sites(model), model.get_decoder(), model.get_output_embeddings()
    own, across, inner = sites["decoder"], sites["cross"], feed_forward_sites(model, "decoder")
    final = next((getattr(decoder, name) for name in FINAL_NORMS if hasattr(decoder, name)), None)
    norms = {("norm", *key): module for key, module in _norms(own, across, inner).items()}
    layers = {("layer", site.layer): site.module for site in inner}
    projections = {(site.kind, site.layer): site.output for site in (*own, *across)}
    neurons = {("feed_forward", site.layer): site.output for site in inner if site.output is not None}
    reads: dict[tuple, nn.Module] = {**norms, **projections, **neurons, ("logits",): head}
    if final is not None:
        reads["final",] = final
    with (
        eval_with_eager_attention(model),
        capture({**layers, **norms, ("first",): own[0].output, ("final",): final or head}, "out") as gave,
        capture({**reads, **layers}, "in") as read,
    ):
        output, _ = forced_pass(model, [trace.source_ids], [trace.target_ids])
    order = [key for key in gave if key in (("first",), ("norm", "decoder", 0))]
    parts = _Captured({key: one[0].double().cpu() for key, one in gave.items()},
                      {key: one[0].double().cpu() for key, one in read.items()})
    if len(parts.read["logits",]) != len(trace.target_ids):
        raise laid_out_otherwise(model)
    blocks = list(_blocks(own, across, inner, parts, pre_norm=order[0] != ("first",)))
    state_TD = parts.gave["final",] if final is not None else parts.gave["layer", inner[-1].layer]
    return DecoderPass(
        embedding_TD=parts.read["layer", 0],
        blocks=blocks,
        final=None if final is None else FrozenNorm.of(final, parts.read["final",]),
        scale=float((parts.read["logits",] * state_TD).sum() / state_TD.square().sum()),  # T5's d_model^-0.5, else 1
        unembedding_VD=head.weight.cpu(),
        bias_V=_logit_bias(model, head),
        logit_TV=output.logits[0].double().cpu(),
    )


@dataclass(frozen=True)
class _Captured:
    """What left modules and what entered them, in one pass."""

    gave: dict[tuple, torch.Tensor]
    read: dict[tuple, torch.Tensor]


def _norms(
    own: Sequence[AttentionSite], across: Sequence[AttentionSite], inner: Sequence[FeedForwardSite]
) -> dict[tuple[str, int], nn.Module]:
    norms: dict[tuple[str, int], nn.Module] = {(site.kind, site.layer): site.norm for site in (*own, *across)}
    return norms | {("feed_forward", site.layer): site.norm for site in inner}


def _blocks(
    own: Sequence[AttentionSite], across: Sequence[AttentionSite], inner: Sequence[FeedForwardSite],
    parts: _Captured, *, pre_norm: bool,
) -> Iterator[DecoderBlock]:
    """The blocks in order.  What one adds is the difference between the stream after it and before it; the norms read
    the stream, before their block in a pre-norm model, after it in a post-norm one."""
    for layer, (self_site, cross_site, feed_forward) in enumerate(zip(own, across, inner, strict=True)):
        stream_TD = parts.read["layer", layer]
        kinds = ("decoder", "cross", "feed_forward")
        for n, kind in enumerate(kinds):
            if pre_norm:
                after_TD = parts.read["norm", kinds[n + 1], layer] if n < 2 else parts.gave["layer", layer]
            else:
                after_TD = parts.read["norm", kind, layer]
            added_TD = after_TD - stream_TD
            norm = None if pre_norm else FrozenNorm.of(_norm(kind, self_site, cross_site, feed_forward), after_TD)
            stream_TD = after_TD if pre_norm else parts.gave["norm", kind, layer]
            if kind == "feed_forward":
                yield DecoderBlock(kind, layer, added_TD, norm, activation_TN=parts.read.get((kind, layer)))
            else:
                site = self_site if kind == "decoder" else cross_site
                heads_THD, bias_TD = _heads(site, parts.read[kind, layer])
                yield DecoderBlock(kind, layer, added_TD, norm, heads_THD, bias_TD)


def _norm(kind: str, own: AttentionSite, across: AttentionSite, inner: FeedForwardSite) -> nn.Module:
    return {"decoder": own.norm, "cross": across.norm, "feed_forward": inner.norm}[kind]


def _heads(site: AttentionSite, mixed_TD: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """[T,H,D]: what each head adds, W_O^h of what it mixed; and the bias of the output projection, for every step."""
    weight_DHE = site.output.weight.double().cpu().unflatten(-1, (site.heads, site.head_size))
    heads_THD = torch.einsum("the,dhe->thd", mixed_TD.unflatten(-1, (site.heads, site.head_size)), weight_DHE)
    bias_TD = torch.zeros_like(heads_THD[:, 0])
    return heads_THD, bias_TD if site.output.bias is None else bias_TD + site.output.bias.double().cpu()


def _logit_bias(model: PreTrainedModel, head: nn.Module) -> torch.Tensor:
    """[V]: Marian's and BART's `final_logits_bias`, and the bias of the output projection, where there are any."""
    biases = [head.bias, dict(model.named_buffers()).get("final_logits_bias")]
    total_V = torch.zeros(head.weight.shape[0], dtype=torch.float64)
    for bias in biases:
        if bias is not None:
            total_V += bias.detach().double().cpu().flatten()
    return total_V
