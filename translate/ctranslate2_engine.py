"""The fast engine: CTranslate2, on a CPU or a CUDA GPU, for the models it supports (Seq2See and Marian).

It has one global seed, so samples would depend on the batch: it only searches.
"""

import gc
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import ctranslate2

from seq2see.errors import as_user_error
from .decoding import DecodingOptions
from .results import EngineOutput, Hypothesis, Ids, Wanted

BATCH_TOKENS = 512  # source tokens in one batch, including padding; more exceed the CPU cache, especially with beams

# CTranslate2's destructor waits for its threads, which do not exist in a forked child (a data loader worker): there
# Python's garbage collector must not touch the parent's objects.
if hasattr(os, "register_at_fork"):  # not on Windows, which has no fork
    os.register_at_fork(after_in_child=gc.freeze)


class CTranslate2Engine:
    """Translates with an exported model (`export.py`).

    Args:
        folder: an export of `export.py` that has passed its manifest check.
        tokens: the vocabulary, by id, with the names in the export.
        end: the ids that end a hypothesis.
        precision: of the export's weights: int8, float32.
        threads: sentences are sharded among them; each sentence runs on one.
        device: cpu or cuda.
    """

    name = "ctranslate2"

    def __init__(self, folder: Path, *, tokens: Sequence[str], end: frozenset[int], precision: str, threads: int,
                 device: str = "cpu"):
        self.precision = precision
        self.threads = threads
        self.end = end
        self.tokens = tokens
        self.ids = {token: id for id, token in enumerate(tokens)}
        self.use_vmap = (folder / "vmap.txt").is_file()  # a shortlist, see shortlist.py
        with as_user_error(f"CTranslate2 cannot load {folder}; remove that folder"):
            self.translator = ctranslate2.Translator(
                str(folder), device=device, compute_type=precision, inter_threads=threads, intra_threads=1
            )

    def translate(self, sources: Sequence[Ids], options: DecodingOptions, *,
                  wanted: Wanted | None = None) -> list[EngineOutput]:
        """See `Engine`; ValueError for options that sample.

        `wanted` is checked only before the first step: CTranslate2's callback per token, which works only without
        beams, takes a quarter more time.
        """
        if options.sampling:
            raise ValueError("CTranslate2 cannot sample reproducibly: expected options without sampling")
        if not any(wanted is None or wanted(i) for i in range(len(sources))):
            return [()] * len(sources)
        name = self.tokens.__getitem__
        results = self.translator.translate_batch(
            [list(map(name, source)) for source in sources],
            target_prefix=[list(map(name, options.prefix))] * len(sources) if options.prefix else None,
            beam_size=options.num_beams,
            num_hypotheses=options.alternatives,
            patience=1,
            length_penalty=options.length_penalty,
            repetition_penalty=options.repetition_penalty,
            no_repeat_ngram_size=options.no_repeat_ngram_size,
            max_decoding_length=options.max_new_tokens,
            max_input_length=0,  # no silent truncation: the translator splits or refuses longer texts
            max_batch_size=BATCH_TOKENS,
            batch_type="tokens",
            return_scores=True,
            return_end_token=True,
            use_vmap=self.use_vmap,
        )
        found = [tuple(Hypothesis.from_engine(tuple(map(self.ids.__getitem__, tokens)), score, end=self.end,
                                              options=options)
                       for tokens, score in zip(one.hypotheses, one.scores, strict=True))
                 for one in results]
        return self._rescored(sources, found) if options.penalised else found

    def _rescored(self, sources: Sequence[Ids], found: Sequence[EngineOutput]) -> list[EngineOutput]:
        """With the model's own log-probabilities, which the search has changed."""
        name = self.tokens.__getitem__
        pairs = [(source, one) for source, each in zip(sources, found, strict=True) for one in each]
        scored = self.translator.score_batch(
            [list(map(name, source)) for source, _ in pairs],
            [list(map(name, one.token_ids[:-1] if one.finished else one.token_ids)) for _, one in pairs],  # adds </s>
            max_input_length=0, max_batch_size=BATCH_TOKENS, batch_type="tokens",
        )
        log_probs = (sum(result.log_probs[one.given : len(one.token_ids)])
                     for (_, one), result in zip(pairs, scored, strict=True))
        return [tuple(replace(one, log_prob=next(log_probs)) for one in each) for each in found]


def unsupported_options(config: Mapping[str, Any]) -> list[str]:
    """The settings of a generation_config.json that CTranslate2 would silently ignore."""
    pad = config.get("pad_token_id")
    neutral = {"min_length": 0, "bad_words_ids": [[pad]]}  # Marian's; the export excludes it
    names = ("bad_words_ids", "suppress_tokens", "begin_suppress_tokens", "min_length")
    return [name for name in names if config.get(name) not in (None, [], neutral.get(name))]
