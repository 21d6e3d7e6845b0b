"""Our own API: `/v1/translate`, `/v1/look` and `/v1/models`, with features that the other APIs lack."""

import asyncio
import json
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Request, Response
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, Strict

from seq2see.importing import IMPORTS
from ...lens.explorer import measured_record, trace_record
from ...lens.kinds import Kind
from ...lens.trace import Trace
from ...lens.views import ViewName
from ...tokenizer.words import TokenSpan
from ...translate.marks import words_shown
from ...translate.results import Hypothesis, Translation
from ...translate.translator import Translator
from ..access import Caller
from ..service import Service, check_passes
from .bodies import From0, JSONRoute, OptionFields, Pair, key_wanted

HeadName = Annotated[tuple[Kind, From0, From0], Strict(False)]  # JSON has no tuple


class RequestBody(OptionFields):
    """Decoding options; defaults come from the checkpoint.  Any of temperature, top_k and top_p turns on sampling."""

    source: str | None = Field(default=None, min_length=1, description="source language (default: detected)")
    target: str | None = Field(default=None, min_length=1, description="target language (default: the first)")
    model: str | None = Field(default=None, description="name of the model (default: the first with the language pair)")
    prefix: str = Field(default="", description="text that every hypothesis must start with")

    def arguments(self) -> dict[str, Any]:
        """The arguments for the service."""
        return {"source": self.source, "target": self.target, "model": self.model, "prefix": self.prefix,
                "options": self.options()}


class TranslateBody(RequestBody):
    model_config = ConfigDict(json_schema_extra={"examples": [
        {"texts": ["The cat is tired.", "It was raining."], "source": "en", "target": "fr", "alternatives": 3},
    ]})  # fmt: skip

    texts: list[str] = Field(min_length=1, description="texts to translate")
    format: Literal["text", "html"] = Field(default="text", description="`html` keeps the markup")


class LookBody(RequestBody):
    model_config = ConfigDict(json_schema_extra={"examples": [
        {"text": "The cat is tired.", "source": "en", "target": "fr", "maps": ["cross"], "views": ["raw"]},
    ]})  # fmt: skip

    text: str = Field(description="what to translate and look into")
    alternative: From0 = Field(default=0, description="which of the alternatives to look into; 0: the best")
    maps: list[Kind] = Field(default=[], description="which kinds of attention to send")
    views: list[ViewName] = Field(default=["raw"], description="which views of them; all but raw take time")
    translation: str | None = Field(default=None, min_length=1, description="look at this translation of the text, a "
                                    "sentence or two, instead of translating")
    evidence: bool = Field(default=False, description="also return word links, candidate words, and what each word "
                           "depends on: the margins without each head and without each source word")
    others: list[str] = Field(default=[], max_length=4, description="with evidence: other source texts, to compare how "
                              "confident the model is of the same translation given them")
    without: list[HeadName] = Field(default=[], max_length=4096, description="translate with these heads (kind, layer, "
                                    "head) replaced by their means")


class OneTranslation(BaseModel):
    """A `Translation`."""

    text: str
    source_language: str
    target_language: str
    hypotheses: list[Hypothesis] = Field(description="best first; empty for a text without words, which is "
                                               "returned unchanged; those that lost a sentence are omitted")
    unknown_words: Annotated[
        list[str] | None, BeforeValidator(lambda words: words and [word.text for word in words])
    ] = Field(description="words not seen in training; null: unknown for this model")
    one_by_one: bool = Field(description="whether sentences were translated one by one, because translating them "
                                         "together changed their number")
    engine: str
    precision: str


class TranslateReply(BaseModel):
    translations: list[OneTranslation] = Field(description="one per text, in order")


class Map(BaseModel):
    """`numpy.frombuffer(base64.b64decode(data), dtype).reshape(shape)`."""

    shape: list[int]
    dtype: Literal["<f2"] = Field(description="float16, least significant byte first")
    data: str = Field(description="base64, row by row")


class OneTrace(BaseModel):
    """The trace of one hypothesis; T steps, S source tokens, L layers, H heads.  Other fields: as in a trace file."""

    model_config = ConfigDict(extra="allow")

    source: list[TokenSpan] = Field(description="S tokens")
    target: list[TokenSpan] = Field(description="T tokens: the one each step predicts")
    inputs: list[TokenSpan] = Field(description="T tokens: the one each step reads")
    log_prob: float = Field(description="of the hypothesis under the float32 weights")
    log_probs: list[float] = Field(description="of each step, in nats; entropies likewise")
    top: list[list[dict[str, Any]]] = Field(description="the best 20 tokens of each step: id, text and log_prob")
    calibrated: dict[str, Any] | None = Field(
        description="calibrated values: the smoothing and temperature removed, log_probs, entropies, and the "
                    "log_probs of the tokens in top; null: the model has no calibration")
    given: int = Field(description="number of forced tokens at the start (a language tag, the prefix)")
    labels: dict[str, list[str]] = Field(description="display text of the tokens in source, target and inputs")
    words: dict[str, list[dict[str, Any]]] = Field(
        description="the same by words: text, pieces (its tokens), word, start and end")
    texts: dict[str, str] | None = Field(
        default=None, description="the source as it was sent and its translation, where the model read and wrote "
                                  "stand-ins for protected text; then `words` are words of these")
    evidence: dict[str, Any] | None = Field(
        default=None, description="links: source word, target word, share.  runner_up, margins per step: a margin is "
                                  "the log-probability of the chosen token minus that of the runner-up.  heads, erased "
                                  "(one per source word) and others: margins and best tokens per step without them.  "
                                  "candidates: per word, with the product of token probabilities")
    maps: dict[str, dict[str, Map]] = Field(
        description="by kind and view: encoder [L,H,S,S], decoder [L,H,T,T], cross [L,H,T,S], raw rows sum to 1; "
                    "rollout and contributions have no H; left_out is cross [T, source words]")


class LookReply(BaseModel):
    translation: OneTranslation | None = Field(description="null if the request contained the translation")
    traces: list[OneTrace] = Field(description="one; for a long text, one per segment")
    measured: dict[str, Any] = Field(description="roles of the model's heads confirmed on held-out sentences, with "
                                     "interval and baseline, and the pronoun AUC without each head")


class OneModel(BaseModel):
    name: str
    language_pairs: list[Pair] = Field(description="source and target; empty if the checkpoint does not name them")
    engine: str
    precision: str


class ModelsReply(BaseModel):
    models: list[OneModel]


def router(service: Service) -> APIRouter:
    routes = APIRouter(prefix="/v1", tags=["Seq2See"], route_class=JSONRoute)
    wanted = key_wanted(service)

    @routes.post("/translate", summary="Translate texts", response_model=TranslateReply, dependencies=wanted,
                 description="No sentence is lost: if translating sentences together changes their number, they are "
                             "translated one by one, and one_by_one is true. URLs, e-mail addresses, paths, "
                             "placeholders and emoji stay unchanged, and so does a text without words.")
    async def translate(body: TranslateBody, request: Request) -> dict[str, list[Translation]]:
        caller = service.access.authenticate(request)
        return {"translations": await service.translate(body.texts, caller=caller, format=body.format,
                                                        **body.arguments())}

    @routes.post("/look", summary="Translate a text and return every attention map", dependencies=wanted,
                 response_model=LookReply, description="Compressed with gzip if the client accepts it.")
    async def look(body: LookBody, request: Request) -> Response:
        found = await look_reply(service, body, service.access.authenticate(request))
        return Response(found, media_type="application/json")

    @routes.get("/models", summary="The served models")
    async def models() -> ModelsReply:
        return ModelsReply(models=[
            OneModel(name=name, language_pairs=[list(pair) for pair in one.language_pairs], engine=one.engine.name,
                     precision=one.engine.precision)
            for name, one in service.models.items()
        ])  # fmt: skip

    return routes


async def look_reply(service: Service, body: LookBody, caller: Caller) -> str:
    """The response of `/v1/look`, as JSON."""
    result, traces = None, list[Trace]()
    if body.translation is None and not body.without:
        result, traces = await service.translate_and_look(body.text, caller=caller, alternative=body.alternative,
                                                          views=body.views, evidence=body.evidence, **body.arguments())
    model = service.model_for(body.model, *(result.source_language, result.target_language) if result else
                              (body.source, body.target))

    most = service.settings.look_tokens

    def finish(translator: Translator) -> str:
        if not result and (body.evidence or "left_out" in body.views):
            check_passes(translator, [(body.text, body.translation or body.text)], language=body.source or "",
                         evidence=body.evidence, most=most)
        found = [_one_trace(translator, one, body) for one in traces or [_looked_at(translator, body)]]
        for record, trace, part in zip(found, traces, result.parts if result else (), strict=False):
            if part.model_input is not None:
                record |= _as_sent(record["words"], trace, part.source_text, part.hypotheses[body.alternative].text)
        return json.dumps({
            "translation": result and OneTranslation.model_validate(result, from_attributes=True).model_dump(),
            "traces": found,
            "measured": measured_record(translator.roles, translator.pronoun_effects),
        }, ensure_ascii=False)  # fmt: skip

    if traces and not body.evidence:
        return await asyncio.to_thread(finish, service.models[model])
    service.check_look(body.text, body.translation or "", *body.others)
    return await service.examine(body.text, finish, caller=caller, model=model)


def _looked_at(translator: Translator, body: LookBody) -> Trace:
    """The trace of the given translation, or of the model's translation without some heads."""
    source, target = (None if code in (None, "auto") else code for code in (body.source, body.target))
    if body.translation is not None:
        return translator.look_at(body.text, body.translation, source=source, target=target, views=body.views)
    with IMPORTS:
        from ...lens.evidence import head_means
        from ...lens.interventions import ablate  # these import torch
        from ...lens.what_if import WhatIf

    [trace] = translator.look(translator(body.text, source=source, target=target))[:1]
    with translator.inside() as (model, tokenizer):
        means, _ = head_means(model, tokenizer, trace, translator.folder)
        what_if = WhatIf(model, tokenizer, trace.source_language, trace.target_language, body.num_beams)
        with ablate(model, body.without, replace="mean", means=means):
            return what_if.again(trace)


def _as_sent(words: dict[str, list[dict[str, Any]]], trace: Trace, source: str, target: str) -> dict[str, Any]:
    """Of a trace's record: the source and its translation with their protected text, and `words` in these."""
    texts = {"source": source, "target": target}
    spans = {"source": words_shown(trace.source_words, source, language=trace.source_language),
             "target": words_shown(trace.target_words, target, language=trace.target_language)}
    shown = dict[str, list[dict[str, Any]]]()
    for side, units in words.items():
        own, done, shown[side] = "source" if side == "source" else "target", 0, []
        for unit in units:  # spans do not overlap: of two words for one, the second is empty
            start, end = (max(place, done) for place in spans[own].get(unit["word"], (done, done)))
            text = unit["text"] if unit["word"] is None else texts[own][start:end]
            shown[side].append(unit | {"text": text, "start": start, "end": end})
            done = end
    return {"texts": texts, "words": shown}


def _one_trace(translator: Translator, trace: Trace, body: LookBody) -> dict[str, Any]:
    found = trace_record(trace, kinds=body.maps)
    if not body.evidence:
        return found
    with IMPORTS:
        from ...lens.alignment import counterparts
        from ...lens.evidence import effects, head_means, spelt_candidates
        from ...lens.views import add_views

    calibrator = trace.calibrated.calibrator if trace.calibrated else None
    choice = translator.known_choice
    with translator.inside() as (model, tokenizer):
        means, sentences = head_means(model, tokenizer, trace, translator.folder)
        [viewed] = add_views(model, tokenizer, [trace], views=(choice.view,))
        found["evidence"] = effects(model, tokenizer, trace, means=means, others=body.others) | {
            "averaged_over": sentences,  # 0: this one only
            "candidates": spelt_candidates(model, tokenizer, trace, calibrator),
            "links": counterparts(viewed, choice),
        }
    return found
