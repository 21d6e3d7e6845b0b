"""Direct logit attribution: how much of a logit each block of the decoder wrote (Elhage et al. 2021, "A Mathematical
Framework for Transformer Circuits"; nostalgebraist 2020).

The last state is a sum: the embedding, what each head and each feed-forward layer added, and biases.  The logit of a
token is that state's product with the token's output weights, so with every norm on the way frozen
(`residual_stream.py`) it is the sum of what each of them contributes:

    logit(token) - logit(contrast) = embedding + sum of heads + sum of feed-forward layers + constant      [each step]

These are direct effects only: what a block does by way of later blocks is counted as theirs, and so is all that the
encoder does, as that of cross-attention.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from seq2see.errors import UserError
from ..tokenizer.encoding import encode_source
from ..tokenizer.tokenization_seq2see import Seq2SeeTokenizer
from ..tokenizer.words import token_names
from .hooks import laid_out_otherwise
from .residual_stream import pass_in_parts
from .trace_data import TraceData

# L decoder layers, H heads, T decoder steps, D model width, V vocabulary

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
    own = pass_in_parts(model, trace)
    back = own.back(own.output_weights(tokens, contrasts))
    attended: dict[str, list[torch.Tensor]] = {"decoder": [], "cross": []}
    written, constant_T = [], back.constant_R
    for block, direction_TD in zip(own.decoder.blocks, back.directions, strict=True):
        if block.attention is None:
            written.append((block.added_RD * direction_TD).sum(-1))
        else:
            attended[block.kind].append(torch.einsum("thd,td->ht", block.attention.heads_RHD, direction_TD))
            constant_T = constant_T + direction_TD @ block.attention.bias_D
    found = LogitAttribution(
        tokens, contrasts,
        logits=own.logits(tokens, contrasts).numpy(),
        embedding=(own.decoder.embedding_RD * back.embedding_RD).sum(-1).numpy(),
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
