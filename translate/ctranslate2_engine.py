"""The fast engine: CTranslate2, on a CPU or a CUDA GPU, for the models that it can hold (Seq2See and Marian).

It has one seed for all that it samples, so samples would change with the batch: it only searches.
"""

import gc
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import ctranslate2

from seq2see.errors import as_user_error
from .decoding import DecodingOptions
from .results import EngineOutput, Hypothesis, Ids, Wanted

BATCH_TOKENS = 512  # source tokens of one batch, padding counted; more leave the cache, above all with beams

# CTranslate2's destructor waits for its threads, and a forked child (a worker of a data loader) has none of them: there
# Python's collector must leave alone what the parent dropped.
if hasattr(os, "register_at_fork"):  # not on Windows, where nothing forks
    os.register_at_fork(after_in_child=gc.freeze)


class CTranslate2Engine:
    """Translates with an exported model (`export.py`).

    Args:
        folder: what `export` wrote, its manifest checked.
        tokens: the vocabulary, by id, as the export names it.
        end: the ids that end a hypothesis.
        precision: of the weights, as the export has them: int8, float32.
        threads: sentences are shared out among so many; each is worked on by one.
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
        """As `Engine` says; ValueError for options that sample.

        `wanted` is asked before the first step only: to be called by CTranslate2 for each token, which it does where
        there are no beams, takes a quarter more time.
        """
        if options.sampling:
            raise ValueError("expected options that search: CTranslate2 cannot sample reproducibly")
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
            max_input_length=0,  # nothing is cut silently: the translator refuses or splits what is too long
            max_batch_size=BATCH_TOKENS,
            batch_type="tokens",
            return_scores=True,
            return_end_token=True,
            use_vmap=self.use_vmap,
        )
        return [tuple(Hypothesis.found(tuple(map(self.ids.__getitem__, tokens)), score, end=self.end, options=options)
                      for tokens, score in zip(one.hypotheses, one.scores, strict=True))
                for one in results]


def beyond_it(said: Mapping[str, Any]) -> list[str]:
    """What a checkpoint's generation_config.json asks of a search that CTranslate2 would leave out without a word."""
    pad = said.get("pad_token_id")
    nothing = {"min_length": 0, "encoder_no_repeat_ngram_size": 0, "encoder_repetition_penalty": 1.0,
               "bad_words_ids": [[pad]]}  # Marian's; the export bars it
    names = ("bad_words_ids", "suppress_tokens", "begin_suppress_tokens", "sequence_bias", "min_length",
             "encoder_no_repeat_ngram_size", "encoder_repetition_penalty")
    return [name for name in names if said.get(name) not in (None, [], {}, nothing.get(name))]
