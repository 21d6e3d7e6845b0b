"""What each word of a hypothesis rests on, by intervention: how sure the model stays of it without a head, without a
source word, or with another source text.

Sure means the margin: the log-probability of the token that was chosen less that of its runner-up, the most probable
token that is not the same one in another case.  Where a margin falls below 0, that or another token takes its place.
A head is replaced by its mean output, a constant (`ablation.py`); a source word is erased (`left_out.py`).
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import torch
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from .ablation import Head, ablate, all_heads
from .calibration import Calibrator
from .counterparts import Pair, first_steps
from .forcing import batches, decode_target, encode_source, forced_pass, looking, vocabulary_size
from .left_out import without
from .trace import Trace

# T decoder steps, V vocabulary, N sequences

CANDIDATES = 4  # other words that are spelt out for each word
LONGEST = 6  # tokens of a candidate
LEAST = 0.001  # probability of a first token from which on the rest of its word is looked for


@dataclass(frozen=True, eq=False)
class Effect:
    """After an intervention: the margin [T] of every step, and the token [T] that would then be the most probable."""

    margins: tuple[float, ...]
    top: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Evidence:
    """`runner_up` [T] and `margins` [T] as it is; then one effect for each head, each source word, each other text."""

    runner_up: tuple[str, ...]
    margins: tuple[float, ...]
    heads: Mapping[Head, Effect]
    erased: tuple[Effect, ...]
    others: tuple[Effect, ...]


def runners_up(trace: Trace) -> list[int]:
    """[T]: the id of the best candidate of each step that is not the chosen token, in whatever case."""
    found = []
    for step, chosen, piece in zip(trace.top, trace.target_ids, trace.target, strict=True):
        others = [one for one in step if one.id != chosen]
        kept = [one for one in others if _plain(one.text) != _plain(piece.text)] or others
        found.append(kept[0].id)
    return found


def evidence(
    model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, trace: Trace, *, means: Mapping[Head, torch.Tensor],
    others: Sequence[str] = (),
) -> Evidence:
    """All interventions on one trace; `others` are source texts to force the same hypothesis after."""
    rivals, names = runners_up(trace), tokenizer.convert_ids_to_tokens
    effects: dict[Head, Effect] = {}
    with looking(model, eager=False):
        for head in all_heads(model):
            with ablate(model, [head], replace="mean", means=means):
                [effects[head]] = _effects(model, tokenizer, trace, [trace.source_ids], rivals)
        texts = [without(trace.source_text, word) for word in trace.source_words] + list(others)
        sources = [encode_source(tokenizer, text) for text in texts]
        changed = list(_effects(model, tokenizer, trace, sources, rivals)) if sources else []
    words = len(trace.source_words)
    by_id = [{one.id: one.log_prob for one in step} for step in trace.top]
    margins = [float(own) - step[rival] for own, step, rival in zip(trace.log_probs, by_id, rivals, strict=True)]
    return Evidence(tuple(names(rivals)), tuple(margins), effects, tuple(changed[:words]), tuple(changed[words:]))


def _effects(
    model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, trace: Trace, sources: Sequence[Sequence[int]],
    rivals: list[int],
) -> Iterator[Effect]:
    """The hypothesis forced after each of these sources."""
    pairs_T2 = torch.tensor([trace.target_ids, rivals]).T
    for batch in batches(sources, [trace.target_ids] * len(sources), vocabulary=vocabulary_size(model)):
        output, _ = forced_pass(model, [sources[i] for i in batch], [trace.target_ids] * len(batch))
        for logits_TV in output.logits.float().cpu():
            own_T, other_T = logits_TV.gather(-1, pairs_T2).double().unbind(-1)
            best = logits_TV.argmax(-1).tolist()
            names = tokenizer.convert_ids_to_tokens(best)
            yield Effect(tuple((own_T - other_T).tolist()), tuple(
                piece.text if id == own else name  # a byte's name is not what the trace calls it
                for id, name, own, piece in zip(best, names, trace.target_ids, trace.target, strict=True)))


@dataclass(frozen=True)
class Spelt:
    """A word that could have been written: its text, its probability as the product over its tokens, and that of its
    first token; `whole`: whether its end is known."""

    text: str
    probability: float
    first: float
    whole: bool


def spelt_candidates(
    model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, trace: Trace, calibrator: Calibrator | None
) -> list[list[Spelt]]:
    """For each word of the translation, what else it could have been: a token and, where that is no less probable than
    LEAST, those that most likely follow it up to the end of the word."""
    begun: list[tuple[int, int, list[int], float]] = []  # number of the word, step, ids so far, log-probability
    for number, step in enumerate(first_steps(trace)):
        chosen = trace.target_ids[step]
        some = [one for one in trace.shown.top[step] if one.id != chosen][:CANDIDATES]
        begun += [(number, step, [one.id], one.log_prob) for one in some]
    found: list[list[Spelt]] = [[] for _ in trace.target_words]
    likely = [one for one in begun if one[3] >= math.log(LEAST)]
    rare = [(*one, False) for one in begun if one[3] < math.log(LEAST)]
    firsts = {(number, ids[0]): log_prob for number, _, ids, log_prob in begun}
    for number, _, ids, log_prob, whole in [*_completed(model, tokenizer, trace, likely, calibrator), *rare]:
        text = decode_target(tokenizer, ids).strip()
        first = firsts[number, ids[0]]
        found[number].append(Spelt(text or str(tokenizer.convert_ids_to_tokens(ids[0])), math.exp(log_prob),
                                   math.exp(first), whole or not text))
    return [sorted(one, key=lambda spelt: -spelt.probability) for one in found]


def _completed(
    model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, trace: Trace,
    begun: list[tuple[int, int, list[int], float]], calibrator: Calibrator | None,
) -> Iterator[tuple[int, int, list[int], float, bool]]:
    """Each candidate followed token by token while its word goes on."""
    alive = begun
    for _ in range(LONGEST):
        if not alive:
            return
        targets = [[*trace.target_ids[:step], *ids, ids[-1]] for _, step, ids, _ in alive]  # the last is not read
        following: list[tuple[int, int, list[int], float]] = []
        sources = [trace.source_ids] * len(alive)
        with looking(model, eager=False):
            for batch in batches(sources, targets, vocabulary=vocabulary_size(model)):
                logits_NTV = forced_pass(model, [sources[i] for i in batch], [targets[i] for i in batch])[0].logits
                for b, i in enumerate(batch):
                    number, step, ids, log_prob = alive[i]
                    log_probs_V = logits_NTV[b, step + len(ids)].float().log_softmax(-1).cpu().numpy()
                    best = int(log_probs_V.argmax())
                    if _goes_on(tokenizer, ids, best):
                        shown = calibrator(log_probs_V[None])[0] if calibrator else log_probs_V
                        following.append((number, step, [*ids, best], log_prob + float(shown[best])))
                    else:
                        yield number, step, ids, log_prob, True
        alive = following
    yield from ((*one, False) for one in alive)


def _goes_on(tokenizer: PreTrainedTokenizerBase, ids: list[int], following: int) -> bool:
    """Whether the token continues the word of those before: both together are one run of letters."""
    before, both = decode_target(tokenizer, ids), decode_target(tokenizer, [*ids, following])
    added = both[len(before):]
    return bool(before) and before[-1:].isalnum() and added[:1].isalnum()


def _plain(text: str) -> str:
    return text.strip(" ▁Ġ").casefold()


def evidence_record(found: Evidence, spelt: Sequence[Sequence[Spelt]], links: Sequence[Pair], *,
                    averaged_over: int) -> dict[str, Any]:
    """The evidence of a trace; `averaged_over`: of how many sentences a head's mean is, 0: of this one."""
    return {
        "averaged_over": averaged_over,
        "runner_up": list(found.runner_up),
        "margins": _rounded(found.margins),
        "heads": [{"kind": head.kind, "layer": head.layer, "head": head.head, "margins": _rounded(one.margins),
                   "top": list(one.top)} for head, one in found.heads.items()],
        **{name: [{"margins": _rounded(one.margins), "top": list(one.top)} for one in getattr(found, name)]
           for name in ("erased", "others")},
        "candidates": [[asdict(one) for one in word] for word in spelt],
        "links": [[pair.source, pair.target, round(pair.share, 4)] for pair in links],
    }  # fmt: skip


def _rounded(values: Sequence[float]) -> list[float]:
    return [round(value, 4) for value in values]
