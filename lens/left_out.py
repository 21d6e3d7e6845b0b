"""Leave one word out: how much less probable each piece of the translation is when a source word is missing.

The plainest of all tests of what a translation rests on (erasure: Li et al. 2016), and one that needs no attention:
the text without the word goes through the whole model again.
"""

import unicodedata
from collections.abc import Sequence

import numpy as np
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from ..tokenizer.words import Word
from .forcing import batches, chosen_log_probs, encode_source, forced_pass, looking, vocabulary_size
from .trace import Trace

CLOSING = ("Po", "Pe", "Pf")  # the Unicode categories of marks that may follow a word without a space


def without(text: str, word: Word) -> str:
    """The text without a word, and without the space that then stands twice, or before a mark that had none."""
    before, after = text[: word.start], text[word.end :]
    rest = after.lstrip()
    if before.strip() and (not rest or (_category(rest) in CLOSING and _category(word.text)[0] != "P")):
        return before.rstrip() + after
    return before + (rest if not before or before[-1].isspace() else after)


def _category(text: str) -> str:
    return unicodedata.category(text[0])


def leave_words_out(
    model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, traces: Sequence[Trace]
) -> list[np.ndarray]:
    """For each trace [T,W]: the log-probability of target piece t less that when source word w is left out.

    Above 0: the word made the piece more probable.  Words are `trace.source_words`.  The texts of all traces go
    through the model together, in batches.
    """
    texts = [(trace, without(trace.source_text, word)) for trace in traces for word in trace.source_words]
    sources = [encode_source(tokenizer, text) for _, text in texts]
    targets = [trace.target_ids for trace, _ in texts]
    found = []
    with looking(model, eager=False):
        for batch in batches(sources, targets, vocabulary=vocabulary_size(model)):
            output, target_BT = forced_pass(model, [sources[i] for i in batch], [targets[i] for i in batch])
            log_prob_BT = chosen_log_probs(output.logits.float(), target_BT).cpu().numpy()
            found += [texts[i][0].log_probs - row[: len(targets[i])] for i, row in zip(batch, log_prob_BT, strict=True)]
    columns = iter(found)
    empty = np.zeros((0, 0), dtype=np.float32)
    return [
        np.stack([next(columns) for _ in trace.source_words], axis=1)
        if trace.source_words else empty.reshape(len(trace.target), 0) for trace in traces
    ]
