"""The dependence of each word of a translation: its odds without a head, without a source word, or with another source.

Each intervention also reports the word that the model would write instead.  Odds are P / (1 - P), where P is the
probability of the whole word at its position: the product over its tokens.  P uses the probabilities that the trace
shows, which are calibrated if it has a calibration.  A head is replaced by its mean output, a constant
(`interventions.py`).  A source word is erased (`word_erasure.py`).
"""

import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
import torch
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from seq2see.errors import UserError
from seq2see.rules import CANDIDATES, LIKELY, LONGEST_WORD, MATTERS, MOST_LOG_ODDS, RARE
from ...passes.batches import padded
from ...passes.forced_pass import eval_mode, forced_batches
from ...passes.hooks import AttentionSite, Head, all_heads, all_sites
from ...tokenizer.encoding import decode_target, encode_source
from ...tokenizer.tagging import tagging
from ...tokenizer.words import special_token_ids, split_words, token_names, without
from ..changes.interventions import FASTER, ablate_by_row, patch, record
from ..changes.means import head_means
from ..data.probabilities import Shown, shown_by, uncalibrated
from ..data.tables import table
from ..data.word_maps import Unit, units
from ..heads.alignment_choice import AlignmentChoice, counterparts
from ..records.calibration import log_sum
from ..trace import Trace
from ..views.add_views import add_views

if TYPE_CHECKING:
    import pandas

# T decoder steps, V vocabulary, U units: words, and tokens of no word


SPACES = "▁Ġ"  # how tokens write the space before a word
_INSIDE: WeakKeyDictionary[PreTrainedTokenizerBase, np.ndarray] = WeakKeyDictionary()

RETRIES = 2  # of a pass that seems too slow: a first one also warms up, and a machine is sometimes busy

Ids = Sequence[int]


class Effects(dict[str, Any]):
    """The result of `effects`, as a dictionary for JSON, and the words that it is of: the units of the translation
    (`written`), the words of the source (`read`), and the other sources.
    """

    written: Sequence[str] = ()
    read: Sequence[str] = ()
    other_sources: Sequence[str] = ()

    def to_pandas(self) -> "pandas.DataFrame":
        """A row for each change and each word of the translation.

        - `change`: "head" (replaced by its mean), "erased" (a source word) or "other" (another source).
        - `kind`, `layer`, `head` of a head; `source`: the erased word, or the other source; `position`: its index.
        - `word` and its index `place`; its `log_odds` with the change, and the `fall` from those without, in nats.
        - `step`: the step of its most affected token; `instead`: what the model would write there, or None.
        - `matters`: whether the head or source word matters for the word; see `matters`.
        """
        changes = [({"change": "head", "kind": one["kind"], "layer": one["layer"], "head": one["head"]}, one)
                   for one in self["heads"]]
        for change, names, found in (("erased", self.read, self["erased"]), ("other", self.other_sources,
                                                                           self["others"])):
            changes += [({"change": change, "source": name, "position": number}, one)
                        for number, (name, one) in enumerate(zip(names, found, strict=True))]
        rows = [about | {"word": word, "place": place, "log_odds": one["log_odds"][place],
                         "fall": self["log_odds"][place] - one["log_odds"][place], "step": one["steps"][place],
                         "instead": one["instead"][place],
                         "matters": matters(self["log_odds"][place], one["log_odds"][place], one["instead"][place])}
                for about, one in changes for place, word in enumerate(self.written)]
        return table(rows, columns=("change", "kind", "layer", "head", "source", "position", "place", "word",
                                    "log_odds", "fall", "step", "instead", "matters"))


def matters(before: float, after: float, instead: str | None) -> bool:
    """Whether a head, or a source word, matters for a word of the translation.

    Without it the model writes another word `instead`, or the probability of the word falls by MATTERS.  A ratio of
    odds would not do: from 99.9 % to 99 % the odds are divided by ten, and nothing changes.

    Args:
        before, after: the log-odds of the word with and without it, in nats.
        instead: the word that is written without it, if it is another.
    """
    return instead is not None or fall(before, after) >= MATTERS


def fall(before: float, after: float) -> float:
    """By how much the probability of a word falls, from its log-odds before and after."""
    return 1 / (1 + math.exp(-before)) - 1 / (1 + math.exp(-after))


def evidence_of(
    model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, trace: Trace, *, folder: Path | None,
    choice: AlignmentChoice, others: Sequence[str] = (), seconds: float = math.inf,
) -> dict[str, Any]:
    """All that the explorer shows about the words of one translation, as a dictionary for JSON.

    To the keys of `effects` it adds `averaged_over`, the number of sentences of the heads' means (0: this one only),
    `candidates` (`spelt_candidates`), `ends`, the word `links` of `choice`, and `source_share` (`source_shares`).

    Args:
        folder: the folder of a packaged model, for `head_means`.
        choice: how to derive word links.
        model, tokenizer, trace, others, seconds: as in `effects`.
    """
    means, sentences = head_means(model, tokenizer, trace, folder)
    [viewed] = add_views(model, tokenizer, [trace], views=(choice.view, "contributions"))
    return effects(model, tokenizer, trace, means=means, others=others, seconds=seconds) | {
        "averaged_over": sentences,
        "candidates": spelt_candidates(model, tokenizer, trace),
        "ends": ends(tokenizer, trace),
        "links": counterparts(viewed, choice),
        "source_share": source_shares(viewed),
    }


def effects(
    model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, trace: Trace, *, means: Mapping[Head, torch.Tensor],
    others: Sequence[str] = (), seconds: float = math.inf,
) -> Effects:
    """The effect of each head and of each source word on every word of one trace, as a dictionary for JSON, which also
    becomes a table (`to_pandas`).

    Keys of the result:

    - `log_odds` [U]: the log-odds in nats, without intervention, for each of
      `units(trace.target, trace.target_words)`.  A unit is a word of the translation or a token outside words.
    - `heads`: the effect of replacing each head by its mean; each has its `kind`, `layer` and `head`.
    - `heads_take`: if switching off every head would take longer than `seconds`, the estimated number of seconds;
      `heads` is then empty.  Otherwise None.
    - `erased`: the effect of erasing each of `trace.source_words`.
    - `others`: the effect of replacing the source by each of the texts in `others`, with the translation unchanged.

    Each effect has for every unit:

    - `log_odds`: the log-odds with the intervention;
    - `steps`: the decoder step of the unit whose log-probability changes most;
    - `instead`: the word that the model would write there: the most probable token, completed to a word.  It is None if
      the model would still write this word, or would not have written it without the intervention either.

    Args:
        model: the model that the trace was made with.
        tokenizer: its tokenizer.
        trace: any trace.
        means: the mean output of each head; see `mean_outputs` and `head_means`.
        others: texts to put in place of the source.
        seconds: the maximum time for switching off every head.
    """
    forced = _ForcedPasses(model, tokenizer, trace)
    with eval_mode(model):
        heads, take = forced.all_heads_off(means, seconds)
        texts = [without(trace.source_text, word) for word in trace.source_words] + list(others)
        changed = forced.changes([source_ids_of(model, tokenizer, trace, text) for text in texts])
    words = len(trace.source_words)
    found = Effects(log_odds=_rounded(forced.before.log_odds), heads=heads, heads_take=take, erased=changed[:words],
                    others=changed[words:])
    found.written = [unit.text for unit in units(trace.target, trace.words(source=False))]
    found.read, found.other_sources = [word.text for word in trace.words(source=True)], list(others)
    return found


def source_shares(trace: Trace) -> list[float]:
    """[U]: the share of each word of the translation, and of each token outside words, that comes from the source.

    It is the mean of `trace.source_share` over the tokens, so the trace needs the view contributions.
    """
    return _rounded([float(trace.source_share[list(unit.pieces)].mean())
                     for unit in units(trace.target, trace.target_words)])


def word_odds(model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, trace: Trace, word: int) -> float:
    """The odds of a word of the translation under the model in its present state, with any intervention."""
    forced = _ForcedPasses(model, tokenizer, trace)
    return math.exp(next(odds for unit, odds in zip(forced.units, forced.before.log_odds, strict=True)
                         if unit.word == word))


def patched_odds(
    model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, trace: Trace, other: str
) -> list[dict[str, Any]]:
    """For each head (`kind`, `layer`, `head`): the `log_odds` [U] of the translation with the head patched from another
    text.

    The head's output is patched at every position (`interventions.patch`).  Raises UserError if the other text has
    another number of tokens.
    """
    ids = source_ids_of(model, tokenizer, trace, other)
    if len(ids) != len(trace.source_ids):
        raise UserError(f"patching needs equal lengths: the texts have {len(trace.source_ids)} and {len(ids)} tokens")
    forced, donor, results = _ForcedPasses(model, tokenizer, trace), record(model, [ids], [trace.target_ids]), []
    for head in all_heads(model):
        with eval_mode(model), patch(model, donor, heads=[head]):
            [after] = forced.odds([trace.source_ids])
        results.append(head._asdict() | {"log_odds": _rounded(after.log_odds)})
    return results


def source_ids_of(model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, trace: Trace, text: str) -> list[int]:
    """The ids of another source text in the languages of a trace."""
    tags = tagging(model.config, tokenizer, trace.source_language, trace.target_language)
    return encode_source(tokenizer, text, tagging=tags)


class _Odds(NamedTuple):
    """The result of one forced pass.

    It has the log-odds of each unit [U], the log-probability of each token [T], and the most probable token of each
    step [T].
    """

    log_odds: list[float]
    log_probs: np.ndarray
    best: list[int]


class _ForcedPasses:
    """The forced passes of one trace."""

    def __init__(self, model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, trace: Trace) -> None:
        self.model, self.tokenizer, self.trace, self.shown = model, tokenizer, trace, shown_by(trace)
        self.units = units(trace.target, trace.target_words)
        with eval_mode(model):
            self.before, self.pass_seconds = self.timed()

    def timed(self) -> tuple[_Odds, float]:
        """The translation as it is, and the seconds of its pass."""
        start = time.perf_counter()
        [odds] = self.odds([self.trace.source_ids])
        return odds, time.perf_counter() - start

    def odds(self, sources: Sequence[Ids], **how: Any) -> Iterator[_Odds]:
        """The trace's translation, forced for each of these sources; `how` as `forced_batches` takes it."""
        own_T1 = np.array(self.trace.target_ids)[:, None]
        for _, output, _ in forced_batches(self.model, sources, [self.trace.target_ids] * len(sources), **how):
            for logits_TV in output.logits.float().cpu().numpy():
                shown_TV = self.shown(logits_TV).astype(np.float64)
                against_T1 = np.take_along_axis(shown_TV, own_T1, axis=1)
                np.put_along_axis(shown_TV, own_T1, -np.inf, axis=1)
                against_T1 = against_T1 - log_sum(shown_TV)  # log-odds of the tokens
                log_prob_T = -np.logaddexp(0, -against_T1[:, 0])
                of_units = [_log_odds(log_prob_T, against_T1[:, 0], list(unit.pieces)) for unit in self.units]
                yield _Odds(of_units, log_prob_T, logits_TV.argmax(-1).tolist())

    def all_heads_off(
        self, means: Mapping[Head, torch.Tensor], seconds: float
    ) -> tuple[list[dict[str, Any]], float | None]:
        """The effect of each head; if that takes too long, no effects and the estimated seconds."""
        sites = all_sites(self.model)
        passes = sum(site.heads for site in sites) / FASTER
        for _ in range(RETRIES):
            if self.pass_seconds * passes > seconds:
                self.pass_seconds = min(self.pass_seconds, self.timed()[1])
        if self.pass_seconds * passes > seconds:
            return [], round(self.pass_seconds * passes, 1)
        return [one for site in sites for one in self.heads_off(site, means)], None

    def heads_off(self, site: AttentionSite, means: Mapping[Head, torch.Tensor]) -> list[dict[str, Any]]:
        """The effect of each head of an attention module."""
        heads = [Head(site.kind, site.layer, h) for h in range(site.heads)]
        encoded = None if site.kind == "encoder" else self.encoded
        with ablate_by_row(self.model, site, means) as choose:
            found = self.changes([self.trace.source_ids] * site.heads, choose=choose, encoded=encoded)
        return [head._asdict() | one for head, one in zip(heads, found, strict=True)]

    @cached_property
    def encoded(self) -> torch.Tensor:
        return _encoded(self.model, self.trace)

    def changes(
        self, sources: Sequence[Ids], *, choose: Callable[[Sequence[int]], None] = lambda rows: None,
        encoded: torch.Tensor | None = None,
    ) -> list[dict[str, Any]]:
        """The effects of one intervention for each of these sources; call it inside the intervention.

        `choose` receives the numbers of the sources before each pass.
        """
        found, begun = [], list[_Beginning]()
        passes = self.odds(sources, before=choose, encoded=encoded) if sources else ()
        for row, (source, after) in enumerate(zip(sources, passes, strict=True)):
            change_T = np.abs(after.log_probs - self.before.log_probs)
            steps = [max(unit.pieces, key=lambda step: float(change_T[step])) for unit in self.units]
            others = [self._other(unit, source, after.best, row) for unit in self.units]
            begun += filter(None, others)
            found.append((_rounded(after.log_odds), steps, others))
        complete(self.model, self.tokenizer, begun, language=self.trace.target_language, choose=choose, encoded=encoded)
        return [{"log_odds": log_odds, "steps": steps,
                 "instead": [other and self._named(unit, other)
                             for unit, other in zip(self.units, others, strict=True)]}
                for log_odds, steps, others in found]

    def _other(self, unit: Unit, source: Ids, best: list[int], row: int) -> "_Beginning | None":
        """The start of the word that replaces a unit, if the most probable token differs from the unit's or continues
        it.
        """
        ids = self.trace.target_ids
        if any(self.before.best[step] != ids[step] for step in unit.pieces):
            return None  # a beam search or a prefix chose it, not the single steps
        steps = [step for step in (*unit.pieces, unit.pieces[-1] + 1)
                 if step < len(ids) and self.before.best[step] == ids[step] != best[step]]
        return _begun(self.tokenizer, self.trace, source, unit, steps[0], best[steps[0]], row=row) if steps else None

    def _named(self, unit: Unit, other: "_Beginning") -> str | None:
        """The replacement word; None for the same word in other tokens or another case."""
        text = other.text(self.tokenizer)
        return None if text.casefold() == unit.text.casefold() else text + ("" if other.whole else "…")


def _encoded(model: PreTrainedModel, trace: Trace) -> torch.Tensor:
    """[1,S,D]: the source as the decoder reads it.  Call it inside `eval_mode`."""
    ids_1S = padded([trace.source_ids]).to(model.device)
    with torch.no_grad():
        encoded: torch.Tensor = model.get_encoder()(input_ids=ids_1S, attention_mask=torch.ones_like(ids_1S))[0]
    return encoded


def _log_odds(log_prob_T: np.ndarray, against_T: np.ndarray, steps: list[int]) -> float:
    """ln(P / (1 - P)) of a unit from the log-probabilities and log-odds of its tokens."""
    if len(steps) == 1:  # exact where P rounds to 1
        found = float(against_T[steps[0]])
    else:
        log_prob = float(log_prob_T[steps].sum())
        found = log_prob - math.log(-math.expm1(log_prob)) if log_prob < 0 else MOST_LOG_ODDS
    return min(max(found, -MOST_LOG_ODDS), MOST_LOG_ODDS)


def _rounded(values: Sequence[float]) -> list[float]:
    return [round(value, 4) for value in values]


# --- words that are begun with a token, and completed


@dataclass
class _Beginning:
    """A partly spelt word after `before`.

    It has its `ids` so far, their log-probability, that of the first, and whether its end is known.  `row` is the
    number of the source.
    """

    source: Ids
    before: Ids
    ids: list[int]
    log_prob: float = 0.0
    first: float = 0.0
    whole: bool = False
    open: bool = False  # it may go on in several ways
    row: int = 0

    def text(self, tokenizer: PreTrainedTokenizerBase) -> str:
        """The word, with `·` in front if it goes on with the word before; of a special token its name."""
        before, both = (decode_target(tokenizer, [*ids]) for ids in (self.before, [*self.before, *self.ids]))
        added = both[len(before):]
        if not added.strip():
            return token_names(tokenizer, self.ids[:1])[0]
        joined = before[-1:].isalnum() and added[:1].isalnum()
        return ("·" if joined else "") + added.strip()


def _begun(
    tokenizer: PreTrainedTokenizerBase, trace: Trace, source: Ids, unit: Unit, step: int, id: int, *,
    log_prob: float = 0.0, first: float = 0.0, row: int = 0,
) -> _Beginning:
    """The start of an alternative: the unit's tokens before `step`, then this token.

    A token that begins the next word is left out.
    """
    start = unit.pieces[0]
    one = _Beginning(source, trace.target_ids[:start], list(trace.target_ids[start:step]), log_prob, first,
                     row=row)
    one.whole = bool(one.ids) and not _goes_on(tokenizer, one, id, trace.target_language)
    one.ids += [] if one.whole else [id]
    return one


def complete(
    model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, begun: Sequence[_Beginning], *, language: str,
    shown: Shown | None = None, choose: Callable[[Sequence[int]], None] = lambda rows: None,
    encoded: torch.Tensor | None = None,
) -> None:
    """Extends each beginning by its next tokens up to the end of the word, while they are LIKELY and at most
    LONGEST_WORD.

    With `shown` also adds their log-probabilities.  `choose` receives the rows before each pass.  Call it inside
    `eval_mode`.
    """
    alive = [one for one in begun if not one.whole]
    for _ in range(LONGEST_WORD if alive else 0):
        targets = [[*one.before, *one.ids, one.ids[-1]] for one in alive]  # the last is not read
        chosen = partial(_choose_rows, alive, choose)
        for batch, output, _ in forced_batches(model, [one.source for one in alive], targets, before=chosen,
                                               encoded=encoded):
            for b, i in enumerate(batch):
                one = alive[i]
                logits_V = output.logits[b, len(one.before) + len(one.ids)].float().cpu().numpy()
                best = int(logits_V.argmax())
                log_prob = float((shown or uncalibrated)(logits_V[None])[0, best])
                one.whole = not _goes_on(tokenizer, one, best, language)
                one.open = not one.whole and (log_prob < math.log(LIKELY) or len(one.ids) == LONGEST_WORD)
                if not one.whole and not one.open:
                    one.ids.append(best)
                    one.log_prob += log_prob
        alive = [one for one in alive if not one.whole and not one.open]


def is_same_word(
    model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, trace: Trace, step: int, id: int
) -> bool:
    """Whether the model writes the same word if it writes this token at a step of it."""
    [unit] = [one for one in units(trace.target, trace.target_words) if step in one.pieces]
    one = _begun(tokenizer, trace, trace.source_ids, unit, step, id)
    with eval_mode(model):
        complete(model, tokenizer, [one], language=trace.target_language, encoded=_encoded(model, trace))
    return one.text(tokenizer).casefold() == unit.text.casefold()


def _choose_rows(begun: Sequence[_Beginning], choose: Callable[[Sequence[int]], None], batch: Sequence[int]) -> None:
    choose([begun[i].row for i in batch])


def _goes_on(tokenizer: PreTrainedTokenizerBase, one: _Beginning, following: int, language: str) -> bool:
    """Whether the token continues the last word of the tokens before it; it does where these are a mark alone."""
    ids = [*one.before, *one.ids]
    before, both = decode_target(tokenizer, ids), decode_target(tokenizer, [*ids, following])
    if before == decode_target(tokenizer, one.before) and not special_token_ids(tokenizer) & {*one.ids}:
        return True
    words = split_words(before, language=language), split_words(both, language=language)
    return bool(words[0]) and len(words[1]) >= len(words[0]) and words[1][len(words[0]) - 1].end > words[0][-1].end


def spelt_candidates(
    model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, trace: Trace
) -> list[list[dict[str, Any]]]:
    """Alternatives for each word of the translation, the most probable first.

    Some differ from its first token on, others share its first tokens.  Each is completed with its most probable
    tokens.  The same word in other tokens counts once.

    Each has its `text`, its `probability` as the product over its tokens, the probability of its `first` token, and
    `whole`: whether its end is known.
    """
    begun: list[list[_Beginning]] = [[] for _ in trace.target_words]
    for unit in units(trace.target, trace.target_words):
        if unit.word is None:
            continue
        found, start, log_prob_T = begun[unit.word], unit.pieces[0], trace.shown.log_probs
        for step in unit.pieces:
            reached = float(log_prob_T[start:step].sum())
            if step > start:  # the word that ends before this token
                ids, end = list(trace.target_ids[start:step]), reached + math.log(ending(tokenizer, trace, unit, step))
                found.append(_Beginning(trace.source_ids, trace.target_ids[:start], ids, end, float(log_prob_T[start]),
                                        whole=True))
            other = [_begun(tokenizer, trace, trace.source_ids, unit, step, one.id, log_prob=reached + one.log_prob,
                            first=float(log_prob_T[start]) if step > start else one.log_prob)
                     for one in trace.shown.top[step] if one.id != trace.target_ids[step]]
            found += [one for one in other if not one.whole]
        found[:] = sorted(found, key=lambda one: -one.log_prob)[:CANDIDATES]
    with eval_mode(model):
        complete(model, tokenizer, [one for word in begun for one in word], language=trace.target_language,
                 shown=shown_by(trace), encoded=_encoded(model, trace))
    return [_merged(tokenizer, word) for word in begun]


def ends(tokenizer: PreTrainedTokenizerBase, trace: Trace) -> list[float]:
    """For each word of the translation: the probability that it ends there, and does not continue as another word."""
    return [round(ending(tokenizer, trace, unit, unit.pieces[-1] + 1), 4)
            for unit in units(trace.target, trace.target_words) if unit.word is not None]


def ending(tokenizer: PreTrainedTokenizerBase, trace: Trace, unit: Unit, step: int) -> float:
    """The probability that no token at `step` continues the unit's tokens before it.

    For RARE tokens, their first characters decide.
    """
    if step >= len(trace.target_ids) or trace.logits is None:
        return 1.0
    prob_V = np.exp(shown_by(trace)(trace.logits[step].astype(np.float32)[None])[0].astype(np.float64))
    start = unit.pieces[0]
    word = _Beginning(trace.source_ids, trace.target_ids[:start], list(trace.target_ids[start:step]))
    goes_on_V = _begins_inside(tokenizer)[:len(prob_V)] & word.text(tokenizer)[-1:].isalnum()
    prob_V = prob_V[:len(goes_on_V)]  # T5 and NLLB have rows that no token has
    for id in np.flatnonzero(prob_V > RARE).tolist():
        goes_on_V[id] = _goes_on(tokenizer, word, id, trace.target_language)
    if step in unit.pieces:  # the hyphen of grand-mère
        goes_on_V[trace.target_ids[step]] = True
    return max(1 - float(prob_V[goes_on_V].sum()), 1e-12)


def _begins_inside(tokenizer: PreTrainedTokenizerBase) -> np.ndarray:
    """[V]: whether a token begins with a letter or digit, and not with the space before a word."""
    if tokenizer not in _INSIDE:
        tokens = tokenizer.convert_ids_to_tokens(list(range(len(tokenizer))))
        _INSIDE[tokenizer] = np.array([token[:1].isalnum() and token[:1] not in SPACES for token in tokens])
    return _INSIDE[tokenizer]


def _merged(tokenizer: PreTrainedTokenizerBase, begun: Sequence[_Beginning]) -> list[dict[str, Any]]:
    """Candidates of one word without duplicates of a text; duplicates add their probabilities.

    The word itself in other tokens is one candidate.
    """
    found: dict[str, dict[str, Any]] = {}
    for one in begun:
        text = one.text(tokenizer)
        new = {"text": text, "probability": 0.0, "first": math.exp(one.first), "whole": one.whole}
        found.setdefault(text, new)["probability"] += math.exp(one.log_prob)
    return sorted(found.values(), key=lambda one: -one["probability"])
