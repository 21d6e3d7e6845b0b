"""Direct logit attribution: the contribution of each decoder block to a logit.

The sources are Elhage et al. 2021, "A Mathematical Framework for Transformer Circuits", and nostalgebraist 2020.  The
last state is a sum: the embedding, the outputs of all heads and feed-forward layers, and biases.  The logit of a token
is the product of this state and the token's output weights.  With every norm on the way frozen (`residual_stream.py`)
the logit is therefore the sum of their contributions:

    logit(token) - logit(contrast) = embedding + sum of heads + sum of feed-forward layers + constant      [each step]

These are direct effects only.  The effect of a block through a later block counts as the later block's.  The effect of
the encoder counts as that of cross-attention.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import torch
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from seq2see.errors import UserError
from ...passes.hooks import laid_out_otherwise
from ...tokenizer.encoding import encode_source
from ...tokenizer.tokenization_seq2see import Seq2SeeTokenizer
from ...tokenizer.words import token_names
from ..data.tables import cells, table
from ..data.trace_data import TraceData
from .residual_stream import pass_in_parts

if TYPE_CHECKING:
    import pandas

# L decoder layers, H heads, T decoder steps, D model width, V vocabulary

SUM_OFF = 1e-3  # how far parts may be from a logit, relative to the largest logit, in a model that is built as expected

Token = int | str  # an id, or a text that is one token


@dataclass(frozen=True, eq=False)
class LogitAttribution:
    """The contribution of each decoder block to the logit of `tokens` [T] or, with `contrasts`, to the difference
    between the logits of the two tokens.

    - `decoder`, `cross` [L,H,T]: the heads of self-attention and cross-attention;
    - `feed_forward` [L,T]: the feed-forward layers with their biases;
    - `embedding` [T]: the decoder's input;
    - `constant` [T]: the biases of attention, norms and output;
    - `logits` [T]: the model's own logit, or difference of two logits.
    - `names` [T]: the names of `tokens` in the vocabulary.
    """

    tokens: tuple[int, ...]
    contrasts: tuple[int, ...] | None
    logits: np.ndarray
    embedding: np.ndarray
    decoder: np.ndarray
    cross: np.ndarray
    feed_forward: np.ndarray
    constant: np.ndarray
    names: tuple[str, ...] = ()

    def to_pandas(self) -> "pandas.DataFrame":
        """A row for each part of each step: `step`, `token` and its `name`; `part` ("embedding", "decoder", "cross",
        "feed_forward" or "constant"), `layer` and `head`, missing where a part has none; and its `contribution` to the
        logit.  The contributions of a step sum to the logit.
        """
        parts = (("embedding", self.embedding, ("step",)), ("decoder", self.decoder, ("layer", "head", "step")),
                 ("cross", self.cross, ("layer", "head", "step")),
                 ("feed_forward", self.feed_forward, ("layer", "step")), ("constant", self.constant, ("step",)))
        rows = [cell | {"part": part, "contribution": cell["value"], "token": self.tokens[cell["step"]],
                        "name": self.names[cell["step"]] if self.names else None}
                for part, values, axes in parts for cell in cells(values, *axes)]
        return table(rows, columns=("step", "token", "name", "part", "layer", "head", "contribution"))

    def total(self) -> np.ndarray:
        """[T]: the sum of all parts, which equals `logits` up to the rounding of float32."""
        heads = (self.decoder + self.cross).sum((0, 1))
        return np.asarray(self.embedding + heads + self.feed_forward.sum(0) + self.constant)


@torch.no_grad()
def logit_attribution(
    model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, trace: TraceData, *,
    token: Token | Sequence[int] | None = None, contrast: Token | Sequence[int] | None = None,
) -> LogitAttribution:
    """Compute the direct contribution of each decoder head, feed-forward layer and embedding to a logit, at every step.

    The method is direct logit attribution (Elhage et al. 2021).  It costs one pass.

    Args:
        model: the model that the trace was made with.
        tokenizer: its tokenizer.
        trace: any trace.
        token: the token whose logit is explained: an id, a text that is one token, or a list with an id for each step;
            None: the token that each step predicts.
        contrast: a second token, in the same forms.  The contributions are then to the difference of the two logits,
            which shows why the model writes *il* and not *elle*.

    Raises:
        UserError: a text that is not a single token, an id that the model does not have, or a model whose blocks cannot
            be reached or whose parts do not sum to its logits.
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
        names=tuple(token_names(tokenizer, tokens)),
    )
    if not np.allclose(found.total(), found.logits, rtol=0, atol=SUM_OFF * (1 + float(own.logit_TV.abs().max()))):
        raise laid_out_otherwise(model)
    return found


def token_ids(
    model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, wanted: Token | Sequence[int], *, steps: int
) -> tuple[int, ...]:
    """An id for each step.

    Raises UserError for a text that is not a single token, and for an id that the model does not have.
    """
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
