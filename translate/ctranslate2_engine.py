"""The fast engine: CTranslate2, on a CPU or a CUDA GPU, for the models it supports (see `ctranslate2_export.py`).

CTranslate2 has one global seed, so samples would depend on the batch.  This engine therefore never samples.
"""

import gc
import json
import os
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import cache, partial
from operator import itemgetter
from pathlib import Path
from typing import Any

import ctranslate2

from seq2see.errors import as_user_error
from seq2see.memory import check_memory
from .ctranslate2_export import VOCABULARY
from .decoding import DecodingOptions, GenerationDefaults
from .results import EngineOutput, Hypothesis, Ids, Wanted

BATCH_TOKENS = 512  # source tokens in one batch, including padding; more exceed the CPU cache, especially with beams

ONLY_TORCH = (  # settings that transformers alone knows
    "begin_suppress_tokens", "min_length", "min_new_tokens", "encoder_no_repeat_ngram_size",
    "encoder_repetition_penalty", "exponential_decay_length_penalty", "sequence_bias",
)

# CTranslate2's destructor waits for its threads, which do not exist in a forked child (a data loader worker): there
# Python's garbage collector must not touch the parent's objects.
if hasattr(os, "register_at_fork"):  # not on Windows, which has no fork
    os.register_at_fork(after_in_child=gc.freeze)


class CTranslate2Engine:
    """Translates with an exported model (`ctranslate2_export.py`).

    Args:
        folder: an export of `ctranslate2_export.py` that has passed its manifest check.
        defaults: the checkpoint's; the engine uses its settings that are not decoding options.
        precision: of the export's weights: int8 or float32.
        threads: sentences are sharded among them; each sentence runs on one.
        device: cpu or cuda.
    """

    name = "ctranslate2"

    def __init__(self, folder: Path, *, defaults: GenerationDefaults, precision: str, threads: int,
                 device: str = "cpu"):
        self.precision = precision
        self.threads = threads
        self.end = defaults.end
        self.forced_end: int | None = defaults.config.get("forced_eos_token_id")
        self.early = defaults.config.get("early_stopping") is True
        self.tokens: list[str] = json.loads((folder / VOCABULARY).read_text("utf-8"))  # their names, by id
        self.ids = {token: id for id, token in enumerate(self.tokens)}
        self.ends = [self.tokens[id] for id in sorted(self.end)]
        self.never = [[self.tokens[id] for id in ids] for ids in never(defaults.config)
                      if all(id < len(self.tokens) for id in ids)]
        check_memory((folder / "model.bin").stat().st_size, f"the model in {folder}")
        load = partial(ctranslate2.Translator, str(folder), device=device, compute_type=precision,
                       inter_threads=threads, intra_threads=1)
        # It sets how many threads OpenMP gives the thread that loads it: in this one torch would go on with one alone.
        with as_user_error(f"CTranslate2 cannot load {folder}; remove that folder"), ThreadPoolExecutor(1) as thread:
            self.translator = thread.submit(load).result()

    def translate(self, sources: Sequence[Ids], options: DecodingOptions, *,
                  wanted: Wanted | None = None) -> list[EngineOutput]:
        """See `Engine`.

        `wanted` is checked only before the first step.  CTranslate2 has a callback for each token, but it works only
        without beams and takes a quarter more time.  Raises ValueError for options that sample.
        """
        if options.sampling:
            raise ValueError("CTranslate2 cannot sample reproducibly: expected options without sampling")
        if not any(wanted is None or wanted(i) for i in range(len(sources))):
            return [()] * len(sources)
        name = self.tokens.__getitem__
        how = self._until(options)
        results = self.translator.translate_batch(
            [list(map(name, source)) for source in sources],
            target_prefix=[list(map(name, options.prefix))] * len(sources) if options.prefix else None,
            beam_size=options.num_beams,
            **how,
            repetition_penalty=options.repetition_penalty,
            no_repeat_ngram_size=options.no_repeat_ngram_size,
            max_decoding_length=(options.max_new_tokens or 0) - (self._end_to_force(options) is not None),
            min_decoding_length=0,  # as `generate`: a translation may end at once
            max_input_length=0,  # no silent truncation: the translator splits or refuses longer texts
            max_batch_size=BATCH_TOKENS,
            batch_type="tokens",
            return_scores=True,
            return_end_token=True,
            end_token=self.ends,
            suppress_sequences=self.never,
        )
        theirs = cache(replace(options, length_penalty=how["length_penalty"]).normaliser)  # of so many tokens
        ours = cache(options.normaliser)
        found = [self._best([(tokens, score * theirs(len(tokens))) for tokens, score
                             in zip(one.hypotheses, one.scores, strict=True)], options, ours) for one in results]
        return self._rescored(sources, found) if options.penalised else found

    def _until(self, options: DecodingOptions) -> dict[str, Any]:
        """The condition that ends beam search.

        By default CTranslate2 ends the search once as many hypotheses have ended as there are beams, however
        improbable.  This is `early_stopping: true` of `generate`.  A confident model then loses a long sentence,
        because every step ends some improbable prefix of it.  Only without a length penalty does CTranslate2 wait for
        the most probable beam to end.  Half as many more hypotheses leave room to rank them by length.
        """
        beams = options.num_beams or 1
        if self.early or beams == 1:
            return {"num_hypotheses": options.alternatives, "patience": 1, "length_penalty": options.length_penalty}
        return {"num_hypotheses": beams + beams // 2, "patience": 1.5, "length_penalty": 0}

    def _best(self, found: Sequence[tuple[list[str], float]], options: DecodingOptions,
              divisor: Callable[[int], float]) -> EngineOutput:
        """The best of these tokens with their log-probabilities; `divisor` is the normaliser of the options.

        If the checkpoint forces an end, a hypothesis at the length limit ends there, as under `generate`.  The forced
        `</s>` is no choice, so its log-probability is 0.
        """
        forced = self._end_to_force(options)
        end = () if forced is None else (self.tokens[forced],)
        ended = [(tokens if not end or tokens[-1] in self.ends else [*tokens, *end], log_prob)
                 for tokens, log_prob in found]
        scored = [(log_prob / divisor(len(tokens)), tokens) for tokens, log_prob in ended]
        if len(scored) > 1:
            scored.sort(key=itemgetter(0), reverse=True)
        of_engine = partial(Hypothesis.from_engine, end=self.end, options=options, forced=bool(end))
        return tuple([of_engine(tuple(map(self.ids.__getitem__, tokens)), score)
                      for score, tokens in scored[: options.alternatives]])

    def _end_to_force(self, options: DecodingOptions) -> int | None:
        """The id of a forced end; None also if there is no room for it."""
        return self.forced_end if (options.max_new_tokens or 0) > max(1, len(options.prefix)) else None

    def _rescored(self, sources: Sequence[Ids], found: Sequence[EngineOutput]) -> list[EngineOutput]:
        """The hypotheses with the model's own log-probabilities, which the search has changed."""
        pairs = [(source, hypothesis) for source, each in zip(sources, found, strict=True) for hypothesis in each]
        scored = self.token_log_probs([source for source, _ in pairs], [one.token_ids for _, one in pairs])
        log_probs = (sum(each[hypothesis.given :]) for (_, hypothesis), each in zip(pairs, scored, strict=True))
        return [tuple(replace(hypothesis, log_prob=next(log_probs)) for hypothesis in each) for each in found]

    def token_log_probs(self, sources: Sequence[Ids], targets: Sequence[Ids]) -> list[list[float]]:
        """See `Engine`."""
        name = self.tokens.__getitem__
        scored = self.translator.score_batch(
            [list(map(name, source)) for source in sources],
            [list(map(name, target[: -1 if target[-1] in self.end else None])) for target in targets],  # adds </s>
            max_input_length=0, max_batch_size=BATCH_TOKENS, batch_type="tokens",
        )
        return [one.log_probs[: len(target)] for one, target in zip(scored, targets, strict=True)]


def never(config: Mapping[str, Any]) -> list[list[int]]:
    """The sequences of ids that a generation_config.json forbids; as under `generate`, an end cannot be forbidden."""
    ends = config.get("eos_token_id")
    every = [*(config.get("bad_words_ids") or ()), *([id] for id in config.get("suppress_tokens") or ())]
    return [ids for ids in every if ids not in [[end] for end in (ends if isinstance(ends, list) else [ends])]]


def unsupported_options(config: Mapping[str, Any]) -> list[str]:
    """The settings of a generation_config.json that CTranslate2 would silently ignore, or take otherwise.

    With beams `generate` forbids and penalises tokens after the softmax, CTranslate2 before it.  The probability of
    forbidden tokens then goes to the others.  It matters where a probable token is forbidden: a repetition.
    """
    neutral = {"encoder_repetition_penalty": 1}
    found = [name for name in ONLY_TORCH if config.get(name) and config[name] != neutral.get(name)]
    if (config.get("num_beams") or 1) > 1:
        found += ["no_repeat_ngram_size"] * bool(config.get("no_repeat_ngram_size")
                                                 and not config.get("renormalize_logits"))
        found += ["repetition_penalty"] * (config.get("repetition_penalty") not in (None, 1))
    return found + ["early_stopping"] * (config.get("early_stopping") == "never")
