"""The torch engine: source ids in, hypotheses out, through transformers' own `generate`.

Sentences are sorted by length and cut into batches of bounded size, so that little is padding; results come back in the
order of the input.  Works on any transformers encoder-decoder, by its own `generation_config`.
"""

import copy
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch
from transformers import (
    GenerationConfig,
    LogitsProcessor,
    LogitsProcessorList,
    PreTrainedModel,
    PreTrainedTokenizerBase,
)

from seq2see.errors import UserError
from seq2see.lens.forcing import decode_target

BATCH_TOKENS = 4096  # source pieces in one batch, padding and beams counted
BATCH_LOGITS = 2**21  # logits of one step: beam search keeps those of every step, for the scores
MOST_BEAMS = 64
MOST_NEW_TOKENS = 512  # where neither the checkpoint nor the caller sets a limit


@dataclass(frozen=True)
class Hypothesis:
    """One translation of a source.

    `token_ids` are all the pieces predicted, the language tag and `</s>` included.  `score` is generation's own: the
    sum of the log-probabilities of `token_ids` (0 for a forced tag) divided by their number to the power of the
    checkpoint's length_penalty, so at the usual penalty of 1 it is the mean.  `finished` is False where the limit of
    length came before `</s>`.
    """

    text: str
    token_ids: tuple[int, ...]
    score: float
    finished: bool


class TorchEngine:
    """Translates with the torch model as it was loaded."""

    name = "torch"

    def __init__(self, model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase):
        self.model = model
        self.tokenizer = tokenizer
        self.precision = str(model.dtype).removeprefix("torch.")

    @property
    def length_penalty(self) -> float:
        """The power of its length that the checkpoint divides a hypothesis's log-probability by."""
        penalty = self.model.generation_config.length_penalty
        return 1.0 if penalty is None else penalty

    def log_prob(self, hypothesis: Hypothesis) -> float:
        """The log-probability that generation found for a hypothesis: its score without the division."""
        return hypothesis.score * len(hypothesis.token_ids) ** self.length_penalty

    def longest(self) -> int | None:
        """How many positions the model has on either side; None where it has no limit (T5)."""
        return getattr(self.model.config, "max_position_embeddings", None)

    def plan(self, *, first: int | None = None, alternatives: int = 1, num_beams: int | None = None,
             max_new_tokens: int | None = None) -> GenerationConfig:
        """The settings of one call: the checkpoint's own, changed by what the caller asks.  UserError out of bounds.

        `first` is the id that every hypothesis must begin with (a language tag), instead of the checkpoint's default.
        """
        plan = copy.deepcopy(self.model.generation_config)
        longest = self.longest()
        most = min(longest or MOST_NEW_TOKENS, plan.max_length - 1 if plan.max_length else MOST_NEW_TOKENS)
        room = longest or 2**15
        _check("alternatives", alternatives, MOST_BEAMS)
        _check("num_beams", num_beams, MOST_BEAMS)
        _check("max_new_tokens", max_new_tokens, room)
        plan.update(
            num_beams=max(num_beams or plan.num_beams or 1, alternatives),
            num_return_sequences=alternatives,
            max_length=(max_new_tokens or most) + 1,
            max_new_tokens=None,
            do_sample=False,
            return_dict_in_generate=True,
        )
        plan.output_scores = plan.num_beams > 1
        if first is not None:
            plan.forced_bos_token_id = first
        return plan

    def translate(self, sources: Sequence[Sequence[int]], plan: GenerationConfig) -> list[tuple[Hypothesis, ...]]:
        """The `plan.num_return_sequences` best hypotheses of each source, best first."""
        found: dict[int, tuple[Hypothesis, ...]] = {}
        for batch in self._batches(sources, plan.num_beams):
            found.update(zip(batch, self._generate([sources[i] for i in batch], plan), strict=True))
        return [found[i] for i in range(len(sources))]

    def _batches(self, sources: Sequence[Sequence[int]], num_beams: int) -> Iterator[list[int]]:
        by_length = sorted(range(len(sources)), key=lambda i: len(sources[i]))
        most_rows = max(1, BATCH_LOGITS // self.model.config.vocab_size // num_beams)
        batch: list[int] = []
        for i in by_length:  # growing, so the newest is the longest
            full = (len(batch) + 1) * len(sources[i]) * num_beams > BATCH_TOKENS or len(batch) == most_rows
            if batch and full:
                yield batch
                batch = []
            batch.append(i)
        if batch:
            yield batch

    @torch.no_grad()
    def _generate(self, sources: list[Sequence[int]], plan: GenerationConfig) -> Iterator[tuple[Hypothesis, ...]]:
        longest = max(map(len, sources))
        input_ids_BS = torch.zeros(len(sources), longest, dtype=torch.long)
        mask_BS = torch.zeros_like(input_ids_BS)
        for b, source in enumerate(sources):
            input_ids_BS[b, : len(source)] = torch.tensor(source)
            mask_BS[b, : len(source)] = 1
        greedy = _GreedyScores()
        output = self.model.generate(
            input_ids_BS.to(self.model.device),
            attention_mask=mask_BS.to(self.model.device),
            generation_config=plan,
            logits_processor=LogitsProcessorList([greedy] if plan.num_beams == 1 else []),
        )
        rows = [self._cut(row) for row in output.sequences[:, 1:].tolist()]
        lengths = [len(ids) for ids, _ in rows]
        if plan.num_beams == 1:
            scores = greedy.scores(lengths, length_penalty=self.length_penalty)
        else:
            scores = output.sequences_scores.tolist()
        hypotheses = [
            Hypothesis(decode_target(self.tokenizer, ids), tuple(ids), score, finished)
            for (ids, finished), score in zip(rows, scores, strict=True)
        ]
        count = plan.num_return_sequences
        return (tuple(hypotheses[i : i + count]) for i in range(0, len(hypotheses), count))

    def _cut(self, ids: list[int]) -> tuple[list[int], bool]:
        """A generated row up to and with its `</s>`, and whether it has one."""
        end = self.model.generation_config.eos_token_id
        ends = {end} if isinstance(end, int) else set(end or ())
        at = next((i for i, token in enumerate(ids) if token in ends), None)
        return (ids, False) if at is None else (ids[: at + 1], True)


class _GreedyScores(LogitsProcessor):
    """Remembers the log-probability of each step's best piece, which greedy search then takes: [B] numbers a step
    where `output_scores` would keep [B,V]."""

    def __init__(self) -> None:
        self.steps: list[torch.Tensor] = []

    def __call__(self, input_ids: torch.LongTensor, scores: torch.FloatTensor) -> torch.FloatTensor:
        self.steps.append(scores.float().log_softmax(-1).amax(-1))
        return scores

    def scores(self, lengths: list[int], *, length_penalty: float) -> list[float]:
        steps_TB = torch.stack(self.steps)
        return [float(steps_TB[:length, b].sum()) / length**length_penalty for b, length in enumerate(lengths)]


def _check(name: str, value: int | None, most: int) -> None:
    if value is not None and not (type(value) is int and 1 <= value <= most):
        raise UserError(f"{name} {value!r}: expected a whole number from 1 to {most}", exit_code=2)
