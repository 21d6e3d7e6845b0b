"""Makes the `Trace` of a hypothesis.

A trace belongs to exactly one hypothesis, which any engine generates, or which is given.  One teacher-forced pass with
eager attention then reads every layer and head of all three kinds of attention.  These weights equal those of
generation (tested for greedy, beam and sampling), and need not be collected while beams are reordered.

Supports Seq2See and transformers' encoder-decoders of text that return full attention weights: Marian, BART, mBART,
M2M-100 and NLLB, Pegasus, Blenderbot, PLBart, BigBird-Pegasus on short texts, T5, mT5, UMT5, Switch and FSMT.  LED,
LongT5 and ProphetNet return something else and raise an error.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any
from unicodedata import normalize

import numpy as np
import torch
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from seq2see.errors import UserError
from ..passes.attention_kinds import KINDS, Kind
from ..passes.batches import vocabulary_size
from ..passes.forced_pass import (
    check_lengths,
    check_list,
    check_model,
    decoder_start,
    eval_with_eager_attention,
    forced_batches,
)
from ..tokenizer.encoding import decode_target, encode_source, encode_target, of_source
from ..tokenizer.tagging import Tagging, first_ids, tagging
from ..tokenizer.tokenization_seq2see import Seq2SeeTokenizer
from ..tokenizer.words import TokenSpan, split_words, token_names, token_spans
from .data.trace_data import TOP, Candidate
from .data.view_names import check_views
from .trace import Trace
from .views.add_views import add_views

# B sentences, L layers, H heads, S source tokens, T decoder steps, V vocabulary, K candidates kept

SUM_OFF = 1e-3  # how far from 1 a row of float32 weights may sum


def trace_hypotheses(
    model: PreTrainedModel,
    tokenizer: PreTrainedTokenizerBase,
    sources: Sequence[str],
    target_ids: Sequence[Sequence[int]],
    *,
    source_language: str = "",
    target_language: str = "",
    given: int | Sequence[int] = 0,
    scores: Sequence[float | None] | None = None,
    engine_log_probs: Sequence[float | None] | None = None,
    engine: str = "torch",
    precision: str = "float32",
    model_name: str = "",
    views: Sequence[str] = ("raw",),
) -> list[Trace]:
    """Trace one hypothesis of each source.

    The model's attention implementation and mode are restored at the end, also after an exception.

    Args:
        model: any encoder-decoder that the lens supports.
        tokenizer: its tokenizer.
        sources: the texts.
        target_ids: the ids that the model is made to predict for each source: the language tag if there is one, the
            tokens, `</s>`.
        source_language: the source language.
        target_language: the target language.
        views: names from `VIEWS`; each except "raw" costs another pass or more.
        given: the number of leading ids that were forced, not chosen: one number for all targets, or one for each.
        scores: the engine's scores of the hypotheses.
        engine_log_probs: the engine's log-probabilities of the hypotheses.
        engine: the name of the engine.
        precision: the precision of the engine.
        model_name: the model's name, for the trace.

    Raises:
        UserError: a model that is not an encoder-decoder, does not have float32 weights or does not return attention
            weights; an unknown view; a text longer than the model's positions; a string instead of a list.
    """
    check_model(model)
    check_views(views)
    check_list(sources, "sources")
    if len(sources) != len(target_ids) or not all(target_ids):
        raise ValueError(f"expected a non-empty target a source: {len(sources)} sources, {len(target_ids)} targets")
    tags = tagging(model.config, tokenizer, source_language, target_language)
    source_ids = [encode_source(tokenizer, text, tagging=tags) for text in sources]
    check_lengths(model, source_ids, side="source")
    check_lengths(model, target_ids, side="target")
    start = str(tokenizer.convert_ids_to_tokens(decoder_start(model)))
    traces = []
    with eval_with_eager_attention(model):
        reader = of_source(tokenizer)
        for batch, output, _ in forced_batches(model, source_ids, target_ids, output_attentions=True):
            tokens, steps = [len(source_ids[i]) for i in batch], [len(target_ids[i]) for i in batch]
            sizes = {"encoder": (tokens, tokens), "decoder": (steps, steps), "cross": (steps, tokens)}
            maps = {kind: _maps(model, kind, output.get(f"{kind}_attentions"), *sizes[kind]) for kind in KINDS}
            for b, i in enumerate(batch):
                target_text = decode_target(tokenizer, target_ids[i])
                target = target_spans(tokenizer, target_ids[i], target_text, language=target_language)
                traces.append(Trace(
                    source_text=sources[i],
                    target_text=target_text,
                    source=tuple(source_spans(reader, source_ids[i], sources[i], language=source_language,
                                              tags=tags)),
                    target=tuple(target),
                    inputs=(TokenSpan(start, None, 0, 0, True), *target[:-1]),
                    source_ids=tuple(source_ids[i]),
                    target_ids=tuple(target_ids[i]),
                    encoder={"raw": next(maps["encoder"])},
                    decoder={"raw": next(maps["decoder"])},
                    cross={"raw": next(maps["cross"])},
                    **_steps(tokenizer, output.logits[b, : steps[b]], target_ids[i]),
                    given=min(given if isinstance(given, int) else given[i], len(target)),
                    score=None if scores is None else scores[i],
                    engine_log_prob=None if engine_log_probs is None else engine_log_probs[i],
                    engine=engine,
                    precision=precision,
                    model=model_name,
                    source_language=source_language,
                    target_language=target_language,
                ))
    return add_views(model, tokenizer, traces, views=views)


def trace_texts(
    model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, sources: Sequence[str], targets: Sequence[str], *,
    source_language: str = "", target_language: str = "", model_name: str = "", views: Sequence[str] = ("raw",),
) -> list[Trace]:
    """Trace given translations: like `trace_hypotheses`, with texts instead of ids.

    If generation must begin with a certain token (a language tag), so does the trace.  This token counts as given.
    """
    check_model(model)
    check_list(sources, "sources")
    check_list(targets, "targets")
    ids, given = forced_ids(model, tokenizer, targets, language=target_language)
    return trace_hypotheses(
        model, tokenizer, sources, ids, given=given, source_language=source_language,
        target_language=target_language, engine="", precision="", model_name=model_name, views=views,
    )


def forced_ids(
    model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, targets: Sequence[str], *, language: str
) -> tuple[list[list[int]], int]:
    """The ids of given translations, `</s>` included, and the number of leading ids that nobody chose: 1 with a tag."""
    first = model.generation_config.forced_bos_token_id
    tagged = first is not None or isinstance(tokenizer, Seq2SeeTokenizer) or language in first_ids(tokenizer)
    return [encode_target(tokenizer, text, language=language, first=first) for text in targets], int(tagged)


def as_given(trace: Trace, tokenizer: PreTrainedTokenizerBase, target: str) -> Trace:
    """The trace with the words of the given translation, which a tokenizer may normalise and so change."""
    if trace.target_text == target:
        return trace
    tokens = tuple(target_spans(tokenizer, trace.target_ids, target, language=trace.target_language))
    return replace(trace, target_text=target, target=tokens, inputs=(trace.inputs[0], *tokens[:-1]))


def source_spans(
    tokenizer: PreTrainedTokenizerBase, ids: Sequence[int], text: str, *, language: str, tags: Tagging
) -> list[TokenSpan]:
    """`token_spans` of a source; the tag and the task prefix before the text count as special tokens."""
    count, shift, words = len(tags.before), len(tags.prefix), len(split_words(tags.prefix, language=language))
    names = tokenizer.convert_ids_to_tokens(list(ids[:count]))
    given = [TokenSpan(str(name), None, 0, 0, True) for name in names]
    for one in token_spans(tokenizer, ids[count:], tags.prefix + text, language=language):
        if one.end <= shift and not one.special and (one.word is None or one.word < words) and shift:
            given.append(TokenSpan(one.text, None, 0, 0, True))
        else:
            word = None if one.word is None else one.word - words
            given.append(replace(one, word=word, start=max(0, one.start - shift), end=max(0, one.end - shift)))
    return given


def target_spans(
    tokenizer: PreTrainedTokenizerBase, ids: Sequence[int], text: str, *, language: str
) -> list[TokenSpan]:
    """`token_spans` of a translation; the tag of its language counts as a special token."""
    tagged = ids[0] in first_ids(tokenizer).values()
    names = tokenizer.convert_ids_to_tokens(list(ids[:tagged]))
    return [*(TokenSpan(str(name), None, 0, 0, True) for name in names),
            *token_spans(tokenizer, list(ids[tagged:]), text, language=language)]


def _steps(tokenizer: PreTrainedTokenizerBase, logits_TV: torch.Tensor, chosen: Sequence[int]) -> dict[str, Any]:
    """The figures of a Trace for its steps, from their logits and the chosen ids."""
    logits_TV = logits_TV.float().clamp_min(-1e30)  # an impossible token has probability 0, not NaN
    log_prob_TV = logits_TV.log_softmax(-1)
    best_TK, id_TK = log_prob_TV.topk(min(TOP, log_prob_TV.shape[-1]), dim=-1)
    chosen_T1 = torch.tensor(list(chosen), device=logits_TV.device)[:, None]
    numbers = {
        "log_probs": log_prob_TV.gather(-1, chosen_T1)[:, 0],
        "entropies": -log_prob_TV.exp().mul_(log_prob_TV).sum(-1),
        "log_normalisers": logits_TV.amax(-1) - best_TK[:, 0],
        "logits": (log_prob_TV - best_TK[:, :1]).half(),
    }
    return {
        **{name: number.cpu().numpy() for name, number in numbers.items()},
        "top": candidates(tokenizer, id_TK, best_TK),
    }


def candidates(
    tokenizer: PreTrainedTokenizerBase, id_TK: torch.Tensor, log_prob_TK: torch.Tensor
) -> tuple[tuple[Candidate, ...], ...]:
    """The K best tokens of each step."""
    unique = id_TK.unique().tolist()
    names = dict(zip(unique, token_names(tokenizer, unique), strict=True))
    rows = zip(id_TK.tolist(), log_prob_TK.tolist(), strict=True)
    return tuple(tuple(map(Candidate, ids, [names[id] for id in ids], values)) for ids, values in rows)


def _maps(
    model: PreTrainedModel, kind: Kind, layers: Sequence[torch.Tensor] | None, rows: list[int], columns: list[int]
) -> Iterator[np.ndarray]:
    """The weights [L,H,rows,columns] of each sentence, without padding.

    Raises UserError for anything but weights: another shape, numbers below 0, or rows that do not sum to 1.
    """
    refused = f"{type(model).__name__} gives no attention weights that can be shown: "
    if not layers or layers[0] is None:
        raise UserError(refused + f"none of {kind} attention")
    expected = len(rows), max(rows), max(columns)
    for layer in layers:
        if layer.ndim != 4 or (layer.shape[0], *layer.shape[2:]) != expected:
            raise UserError(refused + f"those of {kind} attention have shape {tuple(layer.shape)}, expected"
                            " ({}, heads, {}, {})".format(*expected))
    for b, (R, C) in enumerate(zip(rows, columns, strict=True)):
        weight_LHRC = torch.stack([layer[b, :, :R, :C] for layer in layers]).float()
        sum_LHR = weight_LHRC.sum(-1)
        if not ((weight_LHRC >= 0).all() and ((sum_LHR - 1).abs() <= SUM_OFF).all()):
            raise UserError(refused + f"rows of {kind} attention sum to {sum_LHR.min():.3g} to {sum_LHR.max():.3g}, not"
                            " to 1, or have numbers below 0")
        yield weight_LHRC.cpu().numpy()


def check_target_ids(
    model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, ids: Sequence[int], *, text: str, given: int
) -> None:
    """Raises UserError for ids that the model does not have or that do not spell this text, or for more `given` than
    ids.
    """
    last = vocabulary_size(model) - 1
    for id in ids:
        if not 0 <= id <= last:
            raise UserError(f"the model has no token {id}: expected ids from 0 to {last}", exit_code=2)
    if normalize("NFC", decode_target(tokenizer, ids)) != normalize("NFC", text):
        raise UserError("target_ids do not spell the translation: take both from the same trace", exit_code=2)
    if not 0 <= given <= len(ids):
        raise UserError(f"given {given}: the translation has {len(ids)} tokens", exit_code=2)
