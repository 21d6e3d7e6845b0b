"""What each word of a hypothesis depends on: how its margin changes without a head, without a source word, or with
another source text.

The margin is the log-probability of the chosen token minus that of its runner-up, the most probable token that does not
differ in case only.  Below 0 another token takes its place.  A head is replaced by its mean output, a constant
(`interventions.py`); a source word is erased (`word_erasure.py`).
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from .alignment import first_steps
from .calibration import Calibrator
from .hooks import Head, all_heads
from .interventions import ablate
from .teacher_forcing import decode_target, encode_source, eval_mode, forced_batches
from .trace import Trace
from .word_erasure import without

# T decoder steps, V vocabulary, N sequences

CANDIDATES = 4  # alternatives that are completed for each word
LONGEST = 6  # tokens of a candidate
LEAST = 0.001  # probability of a first token from which its word is completed


def runners_up(trace: Trace) -> list[int]:
    """[T]: the id of each step's best candidate that is not the chosen token, ignoring case."""
    found = []
    for step, chosen, token in zip(trace.top, trace.target_ids, trace.target, strict=True):
        others = [one for one in step if one.id != chosen]
        kept = [one for one in others if _plain(one.text) != _plain(token.text)] or others
        found.append(kept[0].id)
    return found


def effects(
    model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, trace: Trace, *, means: Mapping[Head, torch.Tensor],
    others: Sequence[str] = (),
) -> dict[str, Any]:
    """The effect of each head and of each source word on every step of one trace, as JSON has it.

    `runner_up` and `margins`, one for each step, are without intervention: the runner-up's token, and the
    log-probability of the chosen token minus the runner-up's, in nats.  `heads` (each with its `kind`, `layer` and
    `head`, replaced by its mean in `means`, see `mean_outputs`), `erased` (each of `trace.source_words` left out) and
    `others` (source texts that the same hypothesis is forced for) have `margins` and `top`, the most probable token of
    every step.  Below 0 the runner-up is the more probable one, which a beam search may cause without intervention.
    """
    rivals = runners_up(trace)
    with eval_mode(model):
        heads = []
        for head in all_heads(model):
            with ablate(model, [head], replace="mean", means=means):
                heads += [head._asdict() | one for one in _margins(model, tokenizer, trace, [trace.source_ids], rivals)]
        texts = [without(trace.source_text, word) for word in trace.source_words] + list(others)
        sources = [encode_source(tokenizer, text) for text in texts]
        changed = list(_margins(model, tokenizer, trace, sources, rivals)) if sources else []
    words = len(trace.source_words)
    by_id = [{one.id: one.log_prob for one in step} for step in trace.top]
    margins = [float(own) - step[rival] for own, step, rival in zip(trace.log_probs, by_id, rivals, strict=True)]
    return {"runner_up": tokenizer.convert_ids_to_tokens(rivals), "margins": _rounded(margins), "heads": heads,
            "erased": changed[:words], "others": changed[words:]}


def _margins(
    model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, trace: Trace, sources: Sequence[Sequence[int]],
    rivals: list[int],
) -> Iterator[dict[str, Any]]:
    """The hypothesis, forced for each of these sources."""
    pairs_T2 = torch.tensor([trace.target_ids, rivals]).T
    for _, output, _ in forced_batches(model, sources, [trace.target_ids] * len(sources)):
        for logits_TV in output.logits.float().cpu():
            own_T, other_T = logits_TV.gather(-1, pairs_T2).double().unbind(-1)
            best = logits_TV.argmax(-1).tolist()
            names = tokenizer.convert_ids_to_tokens(best)
            yield {"margins": _rounded((own_T - other_T).tolist()), "top": [
                token.text if id == own else name  # a byte's name is not what the trace calls it
                for id, name, own, token in zip(best, names, trace.target_ids, trace.target, strict=True)]}


def _rounded(values: Sequence[float]) -> list[float]:
    return [round(value, 4) for value in values]


@dataclass
class _Candidate:
    """A word that is being spelt: which one and where, its ids so far, their log-probability and that of the first, and
    whether its end is known."""

    word: int
    step: int
    ids: list[int]
    first: float
    log_prob: float
    whole: bool = False


def spelt_candidates(
    model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, trace: Trace, calibrator: Calibrator | None
) -> list[list[dict[str, Any]]]:
    """Alternatives for each word of the translation, the most probable first: a first token and, if it is at least
    LEAST probable, the most likely tokens up to the end of the word.

    Each has its `text`, its `probability` as the product over its tokens, that of its `first` token, and `whole`:
    whether its end is known.
    """
    begun = []
    for number, step in enumerate(first_steps(trace)):
        others = [one for one in trace.shown.top[step] if one.id != trace.target_ids[step]][:CANDIDATES]
        begun += [_Candidate(number, step, [one.id], one.log_prob, one.log_prob) for one in others]
    for _ in range(LONGEST):
        alive = [one for one in begun if not one.whole and one.first >= math.log(LEAST)]
        targets = [[*trace.target_ids[: one.step], *one.ids, one.ids[-1]] for one in alive]  # the last is not read
        with eval_mode(model):
            for batch, output, _ in forced_batches(model, [trace.source_ids] * len(alive), targets):
                for b, i in enumerate(batch):
                    one = alive[i]
                    log_probs_V = output.logits[b, one.step + len(one.ids)].float().log_softmax(-1).cpu().numpy()
                    best = int(log_probs_V.argmax())
                    one.whole = not _goes_on(tokenizer, one.ids, best)
                    if not one.whole:
                        shown = calibrator(log_probs_V[None])[0] if calibrator else log_probs_V
                        one.ids.append(best)
                        one.log_prob += float(shown[best])
    found: list[list[dict[str, Any]]] = [[] for _ in trace.target_words]
    for one in sorted(begun, key=lambda one: -one.log_prob):
        text = decode_target(tokenizer, one.ids).strip()
        found[one.word].append({
            "text": text or str(tokenizer.convert_ids_to_tokens(one.ids[0])), "probability": math.exp(one.log_prob),
            "first": math.exp(one.first), "whole": one.whole or not text,
        })  # fmt: skip
    return found


def _goes_on(tokenizer: PreTrainedTokenizerBase, ids: list[int], following: int) -> bool:
    """Whether the token continues the word of the tokens before it."""
    before, both = decode_target(tokenizer, ids), decode_target(tokenizer, [*ids, following])
    added = both[len(before):]
    return bool(before) and before[-1:].isalnum() and added[:1].isalnum()


def _plain(text: str) -> str:
    return text.strip(" ▁Ġ").casefold()
