"""Our own interface: `/v1/translate`, `/v1/look` and `/v1/models`, with what the others have no place for."""

import asyncio
import base64
import json
from typing import Annotated, Any, Literal

import numpy as np
from fastapi import APIRouter, Request, Response
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from seq2see.views import View
from ...lens.files import plain
from ...lens.kinds import Kind
from ...lens.trace import Trace
from ...tokenizer.words import Piece
from ...translate.results import Hypothesis, Translation
from ..service import Service
from .bodies import From0, JSONRoute, OptionFields, Pair, key_wanted


class RequestBody(OptionFields):
    """How to translate; what is left out is as the checkpoint says.  Any of temperature, top_k and top_p samples."""

    source: str | None = Field(default=None, min_length=1, description="language of the text (detected)")
    target: str | None = Field(default=None, min_length=1, description="language to translate into (the first)")
    model: str | None = Field(default=None, description="name of the model (the first that has the pair)")
    prefix: str = Field(default="", description="what every hypothesis begins with")

    def arguments(self) -> dict[str, Any]:
        """All of it as the service's arguments."""
        return {"source": self.source, "target": self.target, "model": self.model, "prefix": self.prefix,
                "options": self.options()}


class TranslateBody(RequestBody):
    model_config = ConfigDict(json_schema_extra={"examples": [
        {"texts": ["The cat is tired.", "It was raining."], "source": "en", "target": "fr", "alternatives": 3},
    ]})  # fmt: skip

    texts: list[str] = Field(min_length=1, description="what to translate")
    format: Literal["text", "html"] = Field(default="text", description="`html` keeps the markup")
    calibrated: bool = Field(default=False,
                             description="give hypotheses a `calibrated_log_prob`, by a pass in torch")


class LookBody(RequestBody):
    model_config = ConfigDict(json_schema_extra={"examples": [
        {"text": "The cat is tired.", "source": "en", "target": "fr", "maps": ["cross"], "views": ["raw"]},
    ]})  # fmt: skip

    text: str = Field(description="what to translate and look into")
    alternative: From0 = Field(default=0, description="which of the alternatives to look into; 0: the best")
    maps: list[Kind] = Field(default=[], description="which kinds of attention to send")
    views: list[View] = Field(default=["raw"], description="which views of them; all but raw take time")


class OneTranslation(BaseModel):
    """Made from a `Translation`."""

    text: str
    source_language: str
    target_language: str
    hypotheses: list[Hypothesis] = Field(description="best first; none of a text without words, which comes "
                                               "back as it is; those that lost a sentence are left out")
    unknown_words: Annotated[
        list[str] | None, BeforeValidator(lambda words: words and [word.text for word in words])
    ] = Field(description="words never seen in training; null: the model does not say")
    one_by_one: bool = Field(description="true: sentences came out as fewer or more when translated together, and were "
                                         "translated again one by one")
    engine: str
    precision: str


class TranslateReply(BaseModel):
    translations: list[OneTranslation] = Field(description="one a text, in order")


class Map(BaseModel):
    """`numpy.frombuffer(base64.b64decode(data), dtype).reshape(shape)`."""

    shape: list[int]
    dtype: Literal["<f2"] = Field(description="float16, least significant byte first")
    data: str = Field(description="base64, rows one after the other")


class OneTrace(BaseModel):
    """What was seen while one hypothesis was predicted; T steps, S source tokens, L layers, H heads.  The rest is as in
    the file of a trace."""

    model_config = ConfigDict(extra="allow")

    source: list[Piece] = Field(description="S tokens")
    target: list[Piece] = Field(description="T tokens: what each step predicts")
    inputs: list[Piece] = Field(description="T tokens: what each step reads")
    log_prob: float = Field(description="of the hypothesis under the float32 weights")
    log_probs: list[float] = Field(description="of each step; entropies, in nats, as well")
    top: list[list[dict[str, Any]]] = Field(description="the best 20 of each step: id, text and log_prob")
    calibrated: dict[str, Any] | None = Field(
        description="the same, calibrated: smoothing and temperature that were undone, log_probs, entropies, and those "
                    "of the candidates in top; null: the model has no calibration")
    given: int = Field(description="how many of the first tokens were forced (a language tag, the prefix)")
    maps: dict[str, dict[str, Map]] = Field(
        description="by kind and view: encoder [L,H,S,S], decoder [L,H,T,T], cross [L,H,T,S], raw rows sum to 1; "
                    "rollout and contributions have no H; left_out is cross's and [T, source words]")


class LookReply(BaseModel):
    translation: OneTranslation
    traces: list[OneTrace] = Field(description="one, or, of a long text, one a segment")


class OneModel(BaseModel):
    name: str
    language_pairs: list[Pair] = Field(description="from and to; none where the checkpoint does not say")
    engine: str
    precision: str


class ModelsReply(BaseModel):
    models: list[OneModel]


def router(service: Service) -> APIRouter:
    routes = APIRouter(prefix="/v1", tags=["Seq2See"], route_class=JSONRoute)
    wanted = key_wanted(service)

    @routes.post("/translate", summary="Translate texts", response_model=TranslateReply, dependencies=wanted,
                 description="Every sentence comes out: where those translated together come out as fewer or more, "
                             "they are translated again one by one, and one_by_one says so. URLs, e-mail addresses, "
                             "paths, placeholders and emoji come back as they are, and so does a text without words.")
    async def translate(body: TranslateBody, request: Request) -> dict[str, list[Translation]]:
        caller = service.access.caller(request)
        found = await service.translate(
            body.texts, caller=caller, format=body.format, calibrated=body.calibrated, **body.arguments())
        return {"translations": found}

    @routes.post("/look", summary="Translate a text and look at every head while it is done", dependencies=wanted,
                 response_model=LookReply, description="Compressed by gzip where the client takes that.")
    async def look(body: LookBody, request: Request) -> Response:
        caller = service.access.caller(request)
        [result], traces = await service.translate_and_look(
            [body.text], caller=caller, alternative=body.alternative, views=body.views, **body.arguments())
        return Response(await asyncio.to_thread(_look_reply, result, traces, body.maps), media_type="application/json")

    @routes.get("/models", summary="The models that are served")
    async def models() -> ModelsReply:
        return ModelsReply(models=[
            OneModel(name=name, language_pairs=[list(pair) for pair in one.language_pairs], engine=one.engine.name,
                     precision=one.engine.precision)
            for name, one in service.models.items()
        ])  # fmt: skip

    return routes


def _look_reply(result: Translation, traces: list[Trace], maps: list[Kind]) -> str:
    return json.dumps({
        "translation": OneTranslation.model_validate(result, from_attributes=True).model_dump(),
        "traces": [_trace_record(one, maps) for one in traces],
    }, ensure_ascii=False)  # fmt: skip


def _trace_record(trace: Trace, kinds: list[Kind]) -> dict[str, Any]:
    """A trace as JSON has it, with the maps of these kinds, in float16."""
    numbers = {name: getattr(trace, name).tolist() for name in ("log_probs", "entropies", "log_normalisers")}
    maps = {kind: {view: _map(array) for view, array in getattr(trace, kind).items()} for kind in kinds}
    if trace.left_out is not None and "cross" in maps:
        maps["cross"]["left_out"] = _map(trace.left_out)
    return plain(trace) | numbers | {"log_prob": trace.log_prob, "maps": maps}


def _map(array: np.ndarray) -> dict[str, Any]:
    data = np.ascontiguousarray(array, dtype="<f2")
    return {"shape": list(data.shape), "dtype": "<f2", "data": base64.b64encode(data.tobytes()).decode("ascii")}
