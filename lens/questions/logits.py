"""The logit lens: the prediction of the model if it stopped after each decoder layer.

The state after the layer passes through the final norm, if the model has one, and the output projection (nostalgebraist
2020, "interpreting GPT: the logit lens").  Early layers are not trained for this, so their predictions are only hints.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import torch
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from ...passes.forced_pass import check_model, eval_with_eager_attention, forced_batches
from ...passes.hooks import capture, laid_out_otherwise, layers_of, replaced
from ..data.probabilities import shown_by
from ..data.tables import cells, table
from ..data.trace_data import Candidate
from ..trace import Trace
from ..tracing import candidates

if TYPE_CHECKING:
    import pandas

# B sentences, L decoder layers, T decoder steps, V vocabulary, K candidates, D model width


@dataclass(frozen=True, eq=False)
class LogitLens:
    """The prediction after each decoder layer; the last layer's is the model's own.

    - `log_probs` [L,T]: the log-probabilities of the hypothesis's tokens, in nats.
    - `ranks` [L,T]: the ranks of these tokens; rank 0 is the layer's first choice.
    - `top[l][t]`: the best candidates of layer l at step t.
    """

    log_probs: np.ndarray
    ranks: np.ndarray
    top: tuple[tuple[tuple[Candidate, ...], ...], ...]

    def to_pandas(self) -> "pandas.DataFrame":
        """A row for each layer and step: `log_prob` and `rank` of the token of the hypothesis, and the layer's first
        choice, `best`, with its `best_log_prob`.
        """
        best = [[step[0] for step in layer] for layer in self.top]
        rows = [cell | {"log_prob": cell["value"], "rank": int(self.ranks[cell["layer"], cell["step"]]),
                        "best": one.text, "best_log_prob": float(one.log_prob)}
                for cell in cells(self.log_probs, "layer", "step") for one in [best[cell["layer"]][cell["step"]]]]
        return table(rows, columns=("layer", "step", "log_prob", "rank", "best", "best_log_prob"))


def logit_lens(
    model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, traces: Sequence[Trace], *, k: int = 5,
    calibrated: bool = False,
) -> list[LogitLens]:
    """The logit lens (nostalgebraist 2020) of each trace, with the `k` best candidates of each layer and step.

    The model must be the one that the traces were made with.  The states after every layer are put in place of the last
    layer's output, as one batch [L*B,T,D].  So the model's own norm, scaling and biases turn them into logits.
    `calibrated`: with the calibration of each trace, which was measured after the last layer alone.  Raises UserError
    for a model whose layers cannot be reached.
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
        for batch, output, target_BT in forced_batches(model, sources, targets, copies=len(layers)):
            if output.logits.shape[:2] != (len(layers) * len(batch), target_BT.shape[1]):
                raise laid_out_otherwise(model)
            log_prob_LBTV = output.logits.float().log_softmax(-1).unflatten(0, (len(layers), -1))
            if calibrated:
                log_prob_LBTV = torch.stack([torch.from_numpy(np.stack([
                    shown_by(traces[i])(layer_TV) for layer_TV in log_prob_LBTV[:, b].cpu().numpy()])).to(log_prob_LBTV)
                    for b, i in enumerate(batch)], dim=1)
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
