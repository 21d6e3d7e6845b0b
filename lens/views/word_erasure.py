"""Erasure (leave-one-out): the drop in each token's log-probability when a source word is missing.

It is the simplest test of what a translation depends on (Li et al. 2016): the text without the word passes through the
model again.  It needs no attention weights.
"""

from collections.abc import Sequence

import numpy as np
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from ...passes.forced_pass import chosen_log_probs, eval_mode, forced_batches
from ...tokenizer.encoding import encode_source
from ...tokenizer.tagging import tagging
from ...tokenizer.words import without
from ..data.trace_data import TraceData


def log_prob_drops(
    model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, traces: Sequence[TraceData]
) -> list[np.ndarray]:
    """For each trace [T,W]: the log-probability of target token t minus its log-probability without source word w.

    A positive drop means that the word made the token more probable.  Words are `trace.source_words`.  The texts of all
    traces are batched together.
    """
    found = [np.zeros((len(trace.target), len(trace.source_words)), dtype=np.float32) for trace in traces]
    cells = [(number, w) for number, trace in enumerate(traces) for w in range(len(trace.source_words))]
    tags = [tagging(model.config, tokenizer, one.source_language, one.target_language) for one in traces]
    sources = [encode_source(tokenizer, without(traces[number].source_text, traces[number].source_words[w]),
                             tagging=tags[number]) for number, w in cells]
    targets = [traces[number].target_ids for number, _ in cells]
    with eval_mode(model):
        for batch, output, target_BT in forced_batches(model, sources, targets):
            log_prob_BT = chosen_log_probs(output.logits.float(), target_BT).cpu().numpy()
            for i, row in zip(batch, log_prob_BT, strict=True):
                number, w = cells[i]
                found[number][:, w] = traces[number].log_probs - row[: len(targets[i])]
    return found
