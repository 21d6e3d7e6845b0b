"""What-if experiments: another prefix, another source word or other attention, with the traces before and after.

For RNNs see Strobelt et al. 2018, Seq2Seq-Vis.  Each trace shows the hypothesis that generation then finds or, with
given attention weights, the same hypothesis.
"""

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from seq2see.errors import UserError
from ...passes.attention_kinds import Kind
from ...passes.batches import cut_at_end
from ...passes.forced_pass import Pausing, decoder_start, end_ids, eval_mode
from ...tokenizer.encoding import encode_source, encode_target
from ...tokenizer.tagging import tagging
from ...tokenizer.words import split_words
from ..changes.interventions import steer
from ..trace import Trace
from ..tracing import trace_hypotheses


@dataclass(frozen=True)
class WhatIf:
    """Translates before and after a change; the methods that make a change return the traces from before and after it.

    Args:
        model: any encoder-decoder that the lens supports.
        tokenizer: its tokenizer.
        source_language: the source language.
        target_language: the target language.
        num_beams: the beam width; None: the model's.

    Raises:
        UserError: a blank prefix, a word or head that does not exist, or weights of another shape than the head's map.
    """

    model: PreTrainedModel
    tokenizer: PreTrainedTokenizerBase
    source_language: str = ""
    target_language: str = ""
    num_beams: int | None = None

    def as_it_is(self, source: str) -> Trace:
        """The trace of the model's translation, without a change."""
        return self._translate(source)

    def again(self, trace: Trace) -> Trace:
        """Translate the source of a trace again, with the same forced prefix, and return the new trace."""
        return self._translate(trace.source_text, begun=trace.target_ids[: trace.given])

    def prefix(self, source: str, prefix: str) -> tuple[Trace, Trace]:
        """The traces of the free translation and of a translation that must begin with `prefix`.  The tokens of the
        prefix count as given.
        """
        if not prefix.strip():
            raise UserError("the prefix to begin with is blank")
        return self._translate(source), self._translate(source, begun=self._begun(prefix))

    def word(self, source: str, word: int, replacement: str) -> tuple[Trace, Trace]:
        """The traces before and after replacing source word `word` (its index in `split_words`)."""
        words = split_words(source, language=self.source_language)
        if not 0 <= word < len(words):
            raise UserError(f"there is no word {word} in the source: expected 0 to {len(words) - 1}", exit_code=2)
        edited = source[: words[word].start] + replacement + source[words[word].end :]
        return self._translate(source), self._translate(edited)

    def temperature(self, source: str, head: tuple[Kind, int, int], temperature: float) -> tuple[Trace, Trace]:
        """The traces before and after changing the temperature of one head (below 1: sharper, above 1: more even)."""
        return self.within(source, steer(self.model, temperatures={head: temperature}))

    def within(self, source: str, intervention: AbstractContextManager[Any]) -> tuple[Trace, Trace]:
        """The traces of the translations outside and inside any context manager of the lens, such as `ablate(...)` or
        `steer(...)`.
        """
        return self._translate(source), self._translate(source, within=intervention)

    def attention(self, trace: Trace, weights: Mapping[tuple[Kind, int, int], np.ndarray]) -> tuple[Trace, Trace]:
        """The given trace, and a trace of the same hypothesis while the heads use exactly the given weights [rows,
        columns].
        """
        for head, matrix in weights.items():
            expected = len(trace.row_tokens(head[0])), len(trace.column_tokens(head[0]))
            if np.shape(matrix) != expected:
                raise UserError(f"weights of head {tuple(head)} have shape {np.shape(matrix)}, its map has {expected}")
        with steer(self.model, weights=weights):
            return trace, self._trace(trace.source_text, list(trace.target_ids), given=trace.given)

    def _translate(
        self, source: str, *, begun: Sequence[int] = (), within: AbstractContextManager[Any] | None = None
    ) -> Trace:
        tag = self._begun("")
        prefix_ids = list(begun) or tag
        tags = tagging(self.model.config, self.tokenizer, self.source_language, self.target_language)
        source_ids = encode_source(self.tokenizer, source, tagging=tags)
        with within or nullcontext():
            target_ids = generate(self.model, source_ids, prefix_ids=prefix_ids, num_beams=self.num_beams,
                                  forced=prefix_ids == tag)
            return self._trace(source, target_ids, given=len(prefix_ids))

    def _begun(self, prefix: str) -> list[int]:
        """The ids of a translation that begins with this text, including its tag."""
        first = self.model.generation_config.forced_bos_token_id
        return encode_target(self.tokenizer, prefix, language=self.target_language, first=first)[:-1]

    def _trace(self, source: str, target_ids: list[int], *, given: int) -> Trace:
        [trace] = trace_hypotheses(self.model, self.tokenizer, [source], [target_ids], given=given,
                                   source_language=self.source_language, target_language=self.target_language)
        return trace


def generate(
    model: PreTrainedModel, source_ids: Sequence[int], *, prefix_ids: Sequence[int], num_beams: int | None,
    forced: bool, most: int | None = None,
) -> list[int]:
    """The best hypothesis of a source that begins with `prefix_ids`, including `</s>`; at most `most` new tokens.

    `forced`: the prefix is only the token that every hypothesis must begin with.  Generation then forces it as in a
    translation, so it counts towards the length of the hypothesis.
    """
    settings: dict[str, Any] = {"num_beams": num_beams} if num_beams is not None else {}
    if most is not None:
        settings["max_new_tokens"] = most
    if forced:
        settings["forced_bos_token_id"] = prefix_ids[0] if prefix_ids else None
    else:
        settings["decoder_input_ids"] = torch.tensor([[decoder_start(model), *prefix_ids]], device=model.device)
    ids_1S = torch.tensor([list(source_ids)], device=model.device)
    with eval_mode(model), torch.no_grad():
        found = model.generate(ids_1S, attention_mask=torch.ones_like(ids_1S), do_sample=False,
                               stopping_criteria=Pausing.each_step(), **settings)
    return list(cut_at_end(found[0, 1:].tolist(), end_ids(model)))
