"""Deletion and insertion curves: the probability of a word as source words are erased or restored in the order of a
map.

The curves are those of Petsiuk et al. 2018, "RISE".  The unknown token replaces each token of an erased word, so
positions stay the same.  A map that ranks well has a small area under the deletion curve and a large area under the
insertion curve.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from seq2see.errors import UserError
from ...passes.forced_pass import chosen_log_probs, eval_mode, forced_batches
from ..data.trace_data import TraceData

# J target words, I source words


@dataclass(frozen=True, eq=False)
class Curves:
    """Deletion and insertion curves of a map: `deletion` and `insertion`, each [J,I+1].

    A row is the probability of one target word (the geometric mean over its tokens) with 0 to all I source words erased
    (deletion) or kept (insertion).  Source words with the largest numbers in the map's row come first.
    """

    deletion: np.ndarray
    insertion: np.ndarray

    @property
    def areas(self) -> tuple[np.ndarray, np.ndarray]:
        """The areas under the deletion curves [J] and the insertion curves [J], from 0 to 1, by the trapezoid rule; the
        width of a curve is 1.
        """
        deletion, insertion = (np.trapezoid(curve, dx=1 / (curve.shape[-1] - 1), axis=-1)
                               for curve in (self.deletion, self.insertion))
        return deletion, insertion


def curves(
    model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, trace: TraceData, maps: Sequence[np.ndarray]
) -> list[Curves]:
    """The deletion and insertion curves of some maps [J,I] of target words and source words, as `shares` returns them.

    Words with equal numbers keep the order of the text.  The model reads each set of remaining words only once,
    whatever the number of maps.  Raises UserError for a sentence without words on one side, and for a tokenizer without
    an unknown token.
    """
    sources = len(trace.source_words)
    if not sources or not trace.target_words:
        raise UserError("curves need words: the text or its translation has none")
    if tokenizer.unk_token_id is None:
        raise UserError(f"{type(tokenizer).__name__} has no unknown token to put in the place of a word")
    orders = [np.argsort(-one, axis=-1, kind="stable") for one in maps]
    first = {frozenset(order[:count].tolist()) for one in orders for order in one for count in range(sources + 1)}
    erased = list(dict.fromkeys([*first, *(frozenset(range(sources)) - one for one in first)]))
    probability = dict(zip(erased, _probabilities(model, tokenizer, trace, erased), strict=True))
    found = []
    for one in orders:
        sets = [[frozenset(order[:count].tolist()) for count in range(sources + 1)] for order in one]
        deletion = [[probability[words][j] for words in row] for j, row in enumerate(sets)]
        insertion = [[probability[frozenset(range(sources)) - words][j] for words in row] for j, row in enumerate(sets)]
        found.append(Curves(np.array(deletion), np.array(insertion)))
    return found


def _probabilities(
    model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, trace: TraceData, erased: Sequence[frozenset[int]]
) -> list[np.ndarray]:
    """[J] for each set of erased source words: the geometric mean over the tokens of each target word."""
    sources = [[tokenizer.unk_token_id if token.word in words else id
                for token, id in zip(trace.source, trace.source_ids, strict=True)] for words in erased]
    steps = [[t for t, token in enumerate(trace.target) if token.word == j] for j in range(len(trace.target_words))]
    found = []
    with eval_mode(model):
        for batch, output, target_BT in forced_batches(model, sources, [trace.target_ids] * len(sources)):
            log_prob_BT = chosen_log_probs(output.logits.float(), target_BT).cpu().numpy()[: len(batch)]
            found += [np.exp([row[word].mean() if word else -np.inf for word in steps]) for row in log_prob_BT]
    return found
