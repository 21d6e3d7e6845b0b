"""What each step would have said: probabilities under any temperature, and how they form from layer to layer.

`outlook` needs the trace alone: temperature divides the logits, and those are kept.  `logit_lens` asks the model what
it would say if it stopped after each decoder layer: that layer's state goes through the final norm, where the model
has one, and through the output projection (nostalgebraist 2020, "interpreting GPT: the logit lens").  Early layers
were never trained to be read like that, so what they say is a hint at what is formed there, no more.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from seq2see.errors import UserError
from .hooks import capture, laid_out_otherwise, layers_of, replaced
from .teacher_forcing import batches, check_model, eval_with_eager_attention, forced_pass, vocabulary_size
from .trace import Trace
from .trace_data import TOP, Candidate
from .tracing import candidates

# B sentences, L decoder layers, T decoder steps, V vocabulary, K candidates, D model width


@dataclass(frozen=True, eq=False)
class Outlook:
    """The steps of a trace under one temperature: `log_probs` [T] of the tokens of the hypothesis, `entropies` [T] in
    nats, and the best candidates of each step."""

    temperature: float
    log_probs: np.ndarray
    entropies: np.ndarray
    top: tuple[tuple[Candidate, ...], ...]


def outlook(trace: Trace, *, temperature: float = 1.0, k: int = TOP) -> Outlook:
    """What `softmax(logits / temperature)` says at each step: below 1 surer, above 1 less sure, the order the same.

    From the logits kept in float16, so log-probabilities are off by up to 0.1 % of themselves.  UserError for a
    temperature that is not above 0, a k that is not 1 to 20, or a trace read from JSON, which has no logits.
    """
    if not 0 < temperature < float("inf"):
        raise UserError(f"temperature {temperature}: expected a number above 0", exit_code=2)
    if not 1 <= k <= TOP:
        raise UserError(f"k {k}: a trace keeps the {TOP} best of each step", exit_code=2)
    if trace.logits is None:
        raise UserError("this trace has no logits (JSON keeps only the best of each step): save it as .npz")
    scaled_TV = trace.logits.astype(np.float64) / temperature  # the best of each step is 0: nothing overflows
    log_prob_TV = scaled_TV - np.log(np.exp(scaled_TV).sum(-1, keepdims=True))
    possible_TV = np.where(np.isfinite(log_prob_TV), log_prob_TV, 0)
    return Outlook(
        temperature=temperature,
        log_probs=np.take_along_axis(log_prob_TV, np.array(trace.target_ids)[:, None], axis=1)[:, 0].astype(np.float32),
        entropies=-(np.exp(log_prob_TV) * possible_TV).sum(-1).astype(np.float32),
        top=tuple(
            tuple(Candidate(one.id, one.text, float(row[one.id])) for one in step[:k])
            for row, step in zip(log_prob_TV, trace.top, strict=True)
        ),
    )


@dataclass(frozen=True, eq=False)
class LogitLens:
    """What each decoder layer would say, after layer 0, 1, ... and last the model itself.

    `log_probs` [L,T] and `ranks` [L,T] are of the piece of the hypothesis: rank 0 is the layer's own first choice.
    `top[l][t]` are the layer's best candidates.
    """

    log_probs: np.ndarray
    ranks: np.ndarray
    top: tuple[tuple[tuple[Candidate, ...], ...], ...]


def logit_lens(
    model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, traces: Sequence[Trace], *, k: int = 5
) -> list[LogitLens]:
    """The logit lens of each trace, made with the model that the trace was made with.  `k` candidates are kept.

    The states after all layers take the place of the last one's, as a batch [L*B,T,D], and the model's own code makes
    logits of them: its norm, scaling and biases.
    """
    check_model(model)
    sources, targets = [trace.source_ids for trace in traces], [trace.target_ids for trace in traces]
    layers = layers_of(model, "decoder")
    found = []
    with (
        eval_with_eager_attention(model),
        capture(dict(enumerate(layers[:-1])), "out") as states,
        replaced([(layers[-1], "out", lambda last: torch.cat([*states.values(), last]))]),
    ):
        for batch in batches(sources, targets, vocabulary=vocabulary_size(model) * len(layers)):
            output, target_BT = forced_pass(model, [sources[i] for i in batch], [targets[i] for i in batch])
            if output.logits.shape[:2] != (len(layers) * len(batch), target_BT.shape[1]):
                raise laid_out_otherwise(model)
            log_prob_LBTV = output.logits.float().log_softmax(-1).unflatten(0, (len(layers), -1))
            chosen_LBT1 = log_prob_LBTV.gather(-1, target_BT[None, ..., None].expand(len(layers), -1, -1, 1))
            rank_LBT = (log_prob_LBTV > chosen_LBT1).sum(-1)
            best_LBTK, ids_LBTK = log_prob_LBTV.topk(min(k, log_prob_LBTV.shape[-1]), dim=-1)
            for b, i in enumerate(batch):
                T = len(targets[i])
                found.append(LogitLens(
                    log_probs=chosen_LBT1[:, b, :T, 0].cpu().numpy().copy(),
                    ranks=rank_LBT[:, b, :T].cpu().numpy().copy(),
                    top=tuple(candidates(tokenizer, *each)
                              for each in zip(ids_LBTK[:, b, :T], best_LBTK[:, b, :T], strict=True)),
                ))
    return found
