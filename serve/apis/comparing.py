"""`/v1/compare`: two served models on one sentence, for the page that compares them."""

from __future__ import annotations

import asyncio
import json
from functools import partial
from typing import TYPE_CHECKING, Any

from fastapi import APIRouter, Request, Response
from pydantic import BaseModel, ConfigDict, Field

from seq2see.errors import UserError
from seq2see.importing import IMPORTS
from ...lens.records.roles import measured_record
from ...translate.results import Translation
from ..access import Caller
from ..api_errors import APIError
from ..service import Service
from .bodies import JSONRoute, OptionFields, key_wanted
from .v1 import OneTrace

if TYPE_CHECKING:
    from ...lens.trace import Trace


class CompareBody(OptionFields):
    """A sentence and two models; both use these decoding options, with defaults from each checkpoint."""

    model_config = ConfigDict(json_schema_extra={"examples": [
        {"text": "The cat is tired.", "source": "en", "target": "fr"},
    ]})

    text: str = Field(description="one sentence")
    source: str | None = Field(default=None, min_length=1, description="source language (default: detected)")
    target: str | None = Field(default=None, min_length=1, description="target language (default: the model's first)")
    model: str | None = Field(
        default=None, description="name of the first model (default: the first with the language pair)")
    against: str | None = Field(
        default=None, description="name of the second model (default: the next with the language pair, or the same "
        "model if no other has it)")


class OneWord(BaseModel):
    """A word of the translation that has its own tokens in both models."""

    number: int = Field(description="its index among the words of the translation")
    word: str = Field(description="the word")
    first: float = Field(description="its probability under the first model, after the words before it, not calibrated")
    second: float = Field(description="its probability under the second model")
    first_instead: str = Field(description="the token that the first model would write instead, or empty")
    second_instead: str = Field(description="the token that the second model would write instead, or empty")


class LongestLook(BaseModel):
    """One row of the two maps, by words."""

    word: str = Field(description="the word of the row")
    first: list[str | float] = Field(description="the word that the first model's head attends to most, and its share")
    second: list[str | float] = Field(
        description="the word that the second model's head attends to most, and its share")


class MatchedHeads(BaseModel):
    """A head of the first model, and the head of the second with the most similar map."""

    first: list[str | int] = Field(description="kind, layer and head in the first model")
    second: list[str | int] = Field(description="kind, layer and head in the second model")
    distance: float = Field(
        description="share of attention on different words, averaged over rows: 0 for equal maps, 1 for maps without "
        "overlap")
    at_row: float = Field(description="the distance at `row`")
    row: LongestLook = Field(description="the row where the maps differ most")


class OneComparison(BaseModel):
    source: str = Field(description="the sentence")
    translation: str = Field(description="the translation, by one of the models")
    log_probs: list[float] = Field(description="log-probability of the whole translation under each model, in nats")
    words: list[OneWord] = Field(description="words of the translation with their probabilities under each model")
    heads: list[MatchedHeads] = Field(description="heads matched one to one within a layer, the most different first")
    alone: list[list[Any]] = Field(description="heads without a partner: the model (0 or 1), and the head")
    traces: list[OneTrace] = Field(description="traces of this translation under each model, with raw maps")


class CompareReply(BaseModel):
    models: list[str] = Field(description="names of the two models")
    measured: list[dict[str, Any]] = Field(description="of each model: as in the response of /v1/look")
    unknown_words: list[list[str] | None] = Field(
        description="of each model: source words that are not in its training text; null: unknown")
    comparisons: list[OneComparison] = Field(
        description="on the translation by the first model and, if it differs, on that by the second")


def router(service: Service) -> APIRouter:
    routes = APIRouter(prefix="/v1", tags=["Seq2See"], route_class=JSONRoute)

    @routes.post("/compare", summary="Compare two models on a sentence", dependencies=key_wanted(service),
                 response_model=CompareReply, description="Translates with both models, and traces each "
                 "translation with both. Returns the probabilities of words, and heads matched by their maps. Counts "
                 "as up to four texts.")
    async def compare(body: CompareBody, request: Request) -> Response:
        found = await compare_reply(service, body, service.access.authenticate(request))
        return Response(found, media_type="application/json")

    return routes


async def compare_reply(service: Service, body: CompareBody, caller: Caller) -> str:
    """The response of `/v1/compare`, as JSON."""
    with IMPORTS:
        from ...lens.comparisons.side_by_side import comparison_record
        from ...translate.other_model import forced

    result, first_trace = await _own(service, body, body.model, caller=caller, source=body.source, target=body.target)
    pair = result.source_language or None, result.target_language or None
    first = service.model_for(body.model, *pair)
    second = _second_model(service, body.against or _next(service, first, pair), *pair)
    theirs, other = await _own(service, body, second, caller=caller, source=pair[0], target=pair[1])

    async def by(name: str, trace: Trace) -> Trace:
        return await service.examine(body.text, partial(forced, trace=trace), caller=caller, model=name)

    traces = [(first_trace, await by(second, first_trace))]
    if first_trace.target_text != other.target_text:
        traces.append((await by(first, other), other))
    known = [service.models[name].measurements for name in (first, second)]
    measured = [measured_record(one.roles, one.pronoun_effects) for one in known]
    record = partial(comparison_record, [first, second], traces, measured=measured,
                     unseen=[one.unknown_words for one in (result, theirs)])
    return await asyncio.to_thread(lambda: json.dumps(record(), ensure_ascii=False))


async def _own(service: Service, body: CompareBody, name: str | None, *, caller: Caller, source: str | None,
               target: str | None) -> tuple[Translation, Trace]:
    """A model's translation of the sentence, and its trace."""
    with IMPORTS:
        from ...translate.other_model import check_one_sentence

    result, traces = await service.translate_and_look(body.text, caller=caller, model=name, source=source,
                                                      target=target, options=body.options())
    pair = result.source_language or None, result.target_language or None
    try:
        check_one_sentence(result, name or service.model_for(None, *pair))
    except UserError as error:
        raise APIError(400, "several_sentences", str(error)) from None
    return result, traces[0]


def _next(service: Service, first: str, pair: tuple[str | None, str | None]) -> str:
    """The next model with the language pair, or the same one."""
    models = service.models.items()
    fitting = [name for name, one in models if not one.language_pairs or one.language_pairs.has(*pair)]
    return next((name for name in fitting if name != first), first)


def _second_model(service: Service, name: str, source: str | None, target: str | None) -> str:
    """The name of the second model; raises APIError with this name if it lacks the language pair."""
    try:
        return service.model_for(name, source, target)
    except APIError as error:
        if error.code != "unknown_language":
            raise
        raise APIError(error.status, error.code, f"{name}: {error.message}") from None
