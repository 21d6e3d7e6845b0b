"""The torch engine: transformers' `generate`, for any encoder-decoder and every decoding option.

It uses our own greedy search (`greedy.py`).  Sentences are sorted by length and batched up to a size, to limit padding.

Sampling is greedy search after Gumbel noise is added to the logits (Gumbel 1954; Maddison et al. 2014).  Each row has
its own generator, so its samples do not depend on the rest of the batch.
"""

import copy
import hashlib
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from threading import Lock
from typing import Any

import torch
from transformers import (
    GenerationConfig,
    LogitsProcessor,
    LogitsProcessorList,
    PreTrainedModel,
    StoppingCriteria,
    StoppingCriteriaList,
    TemperatureLogitsWarper,
    TopKLogitsWarper,
    TopPLogitsWarper,
)

from ..passes.batches import cut_at_end, packed, padded, real_positions, vocabulary_size
from .decoding import DecodingOptions
from .greedy import Gone, greedy
from .results import EngineOutput, Hypothesis, Ids, Wanted
from .scoring import score_targets, token_log_probs

# B rows, V vocabulary

# The settings used from a checkpoint's generation_config.json besides the decoding options.  Others would load code
# from the Hub (group beams, contrastive search), write to disk, or stop after a time.
SETTINGS_READ = (
    "pad_token_id", "bos_token_id", "eos_token_id", "decoder_start_token_id", "forced_eos_token_id", "bad_words_ids",
    "suppress_tokens", "begin_suppress_tokens", "min_length", "min_new_tokens", "encoder_no_repeat_ngram_size",
    "encoder_repetition_penalty", "exponential_decay_length_penalty", "sequence_bias", "renormalize_logits",
)
BATCH_TOKENS = 4096  # source tokens in one batch, including padding and beams
BATCH_LOGITS = 2**21  # logits of one step: beam search keeps those of every step for the scores


class TorchEngine:
    """Translates with the torch model; holds `lock` in the meantime, because looking inside changes the model."""

    name = "torch"
    threads = 1

    def __init__(self, model: PreTrainedModel, *, end: frozenset[int], lock: Lock):
        self.model = model
        self.end = end
        self.lock = lock
        self.precision = str(model.dtype).removeprefix("torch.")

    def translate(self, sources: Sequence[Ids], options: DecodingOptions, *,
                  wanted: Wanted | None = None) -> list[EngineOutput]:
        """See `Engine`; `wanted` is checked at each step.

        Sampled alternatives are independent, in no particular order.
        """
        copies = (options.alternatives or 1) if options.sampling else 1
        rows = [(source, copy) for source in sources for copy in range(copies)]
        found: dict[int, EngineOutput] = {}
        beams = options.num_beams or 1
        most_rows = BATCH_LOGITS // vocabulary_size(self.model) // beams
        for batch in packed([(len(source),) for source, _ in rows], lambda count, longest: count <= most_rows
                            and count * longest * beams <= BATCH_TOKENS, by_length=True):
            with self.lock:
                left = [i for i in batch if wanted is None or wanted(i // copies)]
                if left:
                    gone = None if wanted is None else partial(_gone, wanted, [i // copies for i in left])
                    some = self._generate([rows[i] for i in left], options, gone)
                    if options.penalised:
                        some = self._rescored([rows[i][0] for i in left], some)
                    found |= zip(left, some, strict=True)
        return [tuple(one for row in range(i, i + copies) for one in found.get(row, ()))
                for i in range(0, len(rows), copies)]

    def _generate(self, rows: Sequence[tuple[Ids, int]], options: DecodingOptions,
                  gone: Gone | None) -> list[EngineOutput]:
        """The hypotheses for some rows, each a source and the index of the sample."""
        sources = [source for source, _ in rows]
        # `generate` takes what `_settings` leaves unset from the model's generation_config and has no option not to.  A
        # shallow copy shares the weights; to change the model itself would be seen by other threads.
        searching = copy.copy(self.model)
        searching.generation_config = GenerationConfig()
        generate = partial(
            searching.generate,
            padded(sources).to(self.model.device),
            attention_mask=real_positions(sources).long().to(self.model.device),
            generation_config=self._settings(options),
            logits_processor=LogitsProcessorList([ForcePrefix(options.prefix)]),
        )
        of_engine = partial(Hypothesis.from_engine, end=self.end, options=options,
                            forced=self.model.generation_config.forced_eos_token_id is not None)
        if options.num_beams == 1:
            sampler = GumbelSampler(rows, options) if options.sampling else None
            written = generate(custom_generate=partial(greedy, sampler=sampler, gone=gone))
            cut = [(cut_at_end(ids, self.end), log_prob) for ids, log_prob in written]
            scored = [(ids, log_prob / options.normaliser(len(ids))) for ids, log_prob in cut]
            return [(of_engine(ids, score),) for ids, score in scored]
        output = generate(stopping_criteria=StoppingCriteriaList([Unwanted(gone)] if gone else []))
        scores = output.sequences_scores.tolist()
        found = [of_engine(cut_at_end(ids, self.end), score)
                 for ids, score in zip(output.sequences[:, 1:].tolist(), scores, strict=True)]
        count = options.alternatives or 1
        return [tuple(found[i : i + count]) for i in range(0, len(found), count)]

    def _rescored(self, sources: Sequence[Ids], found: Sequence[EngineOutput]) -> list[EngineOutput]:
        """The hypotheses with the model's own log-probabilities, which the search has changed."""
        pairs = [(source, hypothesis) for source, each in zip(sources, found, strict=True) for hypothesis in each]
        scores = iter(score_targets(self.model, [source for source, _ in pairs],
                                    [hypothesis.token_ids for _, hypothesis in pairs], given=pairs[0][1].given))
        return [tuple(replace(hypothesis, log_prob=next(scores).log_prob) for hypothesis in each) for each in found]

    def token_log_probs(self, sources: Sequence[Ids], targets: Sequence[Ids]) -> list[list[float]]:
        """See `Engine`."""
        with self.lock:
            return token_log_probs(self.model, sources, targets)

    def _settings(self, options: DecodingOptions) -> GenerationConfig:
        config = self.model.generation_config.to_dict()
        settings = {name: config[name] for name in SETTINGS_READ if config.get(name) is not None} | {
            "max_length": (options.max_new_tokens or 0) + 1,  # transformers counts the start token
            "repetition_penalty": float(options.repetition_penalty or 1),  # transformers refuses an int
            "no_repeat_ngram_size": options.no_repeat_ngram_size,
        }
        if options.num_beams != 1:
            settings |= {
                "num_beams": options.num_beams,
                "num_return_sequences": options.alternatives,
                "length_penalty": options.length_penalty,
                "early_stopping": config.get("early_stopping") or False,
                "return_dict_in_generate": True,
                "output_scores": True,
            }
        return GenerationConfig(**settings)


class ForcePrefix(LogitsProcessor):
    """Forces the ids of the prefix."""

    def __init__(self, prefix: Sequence[int]):
        self.prefix = prefix

    def __call__(self, input_ids: torch.LongTensor, scores: torch.FloatTensor) -> torch.FloatTensor:
        step = input_ids.shape[1] - 1
        if step >= len(self.prefix):
            return scores
        forced = torch.full_like(scores, float("-inf"))
        forced[:, self.prefix[step]] = 0
        return forced


class Unwanted(StoppingCriteria):
    """Ends the beams of rows that are no longer wanted; `input_ids` [a multiple of B, T]."""

    def __init__(self, gone: Gone):
        self.gone = gone

    def __call__(self, input_ids: torch.LongTensor, scores: Any, **_: Any) -> torch.BoolTensor:
        gone_B = self.gone().to(input_ids.device)
        return gone_B.repeat_interleave(len(input_ids) // len(gone_B))


def _gone(wanted: Wanted, sources: Sequence[int]) -> torch.Tensor:
    return torch.tensor([not wanted(source) for source in sources])


class GumbelSampler:
    """Applies temperature, top_k and top_p to each row's logits and adds Gumbel noise: the maximum is then a sample.

    A row's generator is seeded with its source, the index of the sample and the caller's seed.
    """

    def __init__(self, rows: Sequence[tuple[Ids, int]], options: DecodingOptions):
        keys = [repr((options.seed or 0, copy, list(source))).encode() for source, copy in rows]
        seeds = [int.from_bytes(hashlib.blake2b(key, digest_size=8).digest(), "big") >> 1 for key in keys]
        self.generators = [torch.Generator().manual_seed(seed) for seed in seeds]
        self.warpers = LogitsProcessorList([TemperatureLogitsWarper(float(options.temperature or 1))])
        if options.top_k:
            self.warpers.append(TopKLogitsWarper(options.top_k))
        if options.top_p != 1:
            self.warpers.append(TopPLogitsWarper(options.top_p))

    def __call__(self, ids_BT: torch.Tensor, logits_BV: torch.Tensor, row_B: torch.Tensor) -> torch.Tensor:
        size = logits_BV.shape[1]
        uniform_BV = torch.stack([torch.rand(size, generator=self.generators[row]) for row in row_B.tolist()])
        gumbel_BV = -(-uniform_BV.clamp_min(1e-20).log()).log()
        return self.warpers(ids_BT, logits_BV) + gumbel_BV.to(logits_BV.device)
