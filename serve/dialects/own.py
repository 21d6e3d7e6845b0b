"""Our own interface: `/v1/translate`, `/v1/look` and `/v1/models`, with what the others have no place for."""

import asyncio
import base64
import gzip
import json
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from fastapi import APIRouter, Response
from fastapi import Request as HttpRequest
from pydantic import BaseModel, ConfigDict, Field

from seq2see.serve.dialects.wire import (
    REFUSALS,
    From0,
    From1,
    Pair,
    Tuning,
    documents,
    find_language,
    read_json,
)
from seq2see.serve.jobs import Translation
from seq2see.serve.plan import Settings
from seq2see.serve.service import Request, Service

if TYPE_CHECKING:
    from seq2see.lens.trace import Trace  # at run time it would import torch, which only a look needs

Kind = Literal["encoder", "decoder", "cross"]
View = Literal["raw", "norm", "rollout", "mixing", "contributions", "left_out"]
GZIP_LEVEL = 6


class Asked(Tuning):
    """How to translate; what is left out is as the checkpoint says.  Any of temperature, top_k and top_p draws."""

    source: str | None = Field(default=None, min_length=1, description="language of the text (found out)")
    target: str | None = Field(default=None, min_length=1, description="language to translate into (the first)")
    model: str | None = Field(default=None, description="name of the model (the first that has the pair)")
    prefix: str = Field(default="", description="what every translation is to begin with")
    alternatives: From1 | None = Field(default=None, description="translations of each text, best first")

    def settings(self) -> Settings:
        given = {name: getattr(self, name) for name in Settings.__annotations__}
        return Settings(**{name: value for name, value in given.items() if value is not None})  # type: ignore[typeddict-item]


class TranslateBody(Asked):
    model_config = ConfigDict(json_schema_extra={"examples": [
        {"texts": ["The cat is tired.", "It was raining."], "source": "en", "target": "fr", "alternatives": 3},
    ]})  # fmt: skip

    texts: list[str] = Field(min_length=1, description="what to translate")
    format: Literal["text", "html"] = Field(default="text", description="`html` keeps the markup")


class LookBody(Asked):
    model_config = ConfigDict(json_schema_extra={"examples": [
        {"text": "The cat is tired.", "source": "en", "target": "fr", "maps": ["cross"], "views": ["raw"]},
    ]})  # fmt: skip

    text: str = Field(description="what to translate and look into")
    alternative: From0 = Field(default=0, description="which of the alternatives to look into; 0: the best")
    maps: list[Kind] = Field(default=[], description="which kinds of attention to send")
    views: list[View] = Field(default=["raw"], description="which views of them; all but raw take time")


class OneHypothesis(BaseModel):
    text: str
    score: float | None = Field(description="what the engine ranks by")
    log_prob: float | None = Field(description="natural logarithm of its probability, as the engine found it")
    finished: bool = Field(description="false: it stopped at the limit of length")


class OneTranslation(BaseModel):
    text: str
    source_language: str
    target_language: str
    hypotheses: list[OneHypothesis] = Field(description="best first; none of a text without words, which comes "
                                               "back as it is; those that lost a sentence are left out")
    unknown_words: list[str] | None = Field(description="words never seen in training; null: the model does not say")
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


class OnePiece(BaseModel):
    text: str
    word: int | None = Field(description="which word of its text it belongs to, from 0")
    start: int = Field(description="its first character in its text")
    end: int
    special: bool


class Candidate(BaseModel):
    id: int
    text: str
    log_prob: float


class OneTrace(BaseModel):
    """What was seen while one hypothesis was predicted; T steps, S source pieces, L layers, H heads."""

    model_config = ConfigDict(extra="allow")

    source_text: str
    target_text: str
    source: list[OnePiece] = Field(description="S pieces")
    target: list[OnePiece] = Field(description="T pieces: what each step predicts")
    inputs: list[OnePiece] = Field(description="T pieces: what each step reads")
    log_prob: float = Field(description="of the hypothesis under the float32 weights")
    log_probs: list[float] = Field(description="of each step")
    entropies: list[float] = Field(description="of each step, in nats")
    log_normalisers: list[float]
    top: list[list[Candidate]] = Field(description="the best 20 of each step")
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
    routes = APIRouter(prefix="/v1", tags=["Seq2See"])

    @routes.post("/translate", summary="Translate texts", responses=REFUSALS, openapi_extra=documents(TranslateBody),
                 description="Every sentence comes out: where those translated together come out as fewer or more, "
                             "they are translated again one by one, and one_by_one says so. URLs, e-mail addresses, "
                             "paths, placeholders and emoji come back as they are, and so does a text without words.")
    async def translate(request: HttpRequest) -> TranslateReply:
        body = await read_json(request, TranslateBody)
        caller = service.access.caller(request)
        asked = request_of(service, body, tuple(body.texts), format=body.format)
        found = await service.translate(asked, caller=caller)
        return TranslateReply(translations=[_translation(one) for one in found])

    @routes.post("/look", summary="Translate a text and look at every head while it is done", response_model=LookReply,
                 description="Compressed by gzip where the client takes that.", responses=REFUSALS,
                 openapi_extra=documents(LookBody))
    async def look(request: HttpRequest) -> Response:
        body = await read_json(request, LookBody)
        caller = service.access.caller(request)
        asked = request_of(service, body, (body.text,))
        [result], traces = await service.translate_and_look(
            asked, caller=caller, alternative=body.alternative, views=tuple(body.views))
        zipped = "gzip" in request.headers.get("accept-encoding", "")
        content = await asyncio.to_thread(_look_reply, result, traces, maps=tuple(body.maps), zipped=zipped)
        headers = {"Vary": "Accept-Encoding", **({"Content-Encoding": "gzip"} if zipped else {})}
        return Response(content, media_type="application/json", headers=headers)

    @routes.get("/models", summary="The models that are served")
    async def models() -> ModelsReply:
        return ModelsReply(models=[
            OneModel(name=name, language_pairs=[list(pair) for pair in one.language_pairs], engine=one.engine.name,
                     precision=one.engine.precision)
            for name, one in service.models.items()
        ])  # fmt: skip

    return routes


def trace_record(trace: "Trace", *, maps: tuple[Kind, ...] = ()) -> dict[str, Any]:
    """A trace as JSON has it, with the maps of the kinds asked for, in float16."""
    from seq2see.lens.files import plain

    record = plain(trace)
    record |= {name: getattr(trace, name).tolist() for name in ("log_probs", "entropies", "log_normalisers")}
    by_kind = {kind: {view: _map(trace.maps(kind, view)) for view in _views(trace, kind)} for kind in maps}
    if trace.left_out is not None and "cross" in by_kind:
        by_kind["cross"]["left_out"] = _map(trace.left_out)
    return record | {"log_prob": trace.log_prob, "maps": by_kind}


def _views(trace: "Trace", kind: Kind) -> list[str]:
    return list({"encoder": trace.encoder, "decoder": trace.decoder, "cross": trace.cross}[kind])


def _map(array: np.ndarray) -> dict[str, Any]:
    data = np.ascontiguousarray(array, dtype="<f2")
    return {"shape": list(data.shape), "dtype": "<f2", "data": base64.b64encode(data.tobytes()).decode("ascii")}


def _look_reply(result: Translation, traces: "list[Trace]", *, maps: tuple[Kind, ...], zipped: bool) -> bytes:
    reply = {"translation": _translation(result).model_dump(),
             "traces": [trace_record(one, maps=maps) for one in traces]}
    content = json.dumps(reply, ensure_ascii=False).encode("utf-8")
    return gzip.compress(content, GZIP_LEVEL, mtime=0) if zipped else content


def request_of(service: Service, body: Asked, texts: tuple[str, ...], *,
               format: Literal["text", "html"] = "text") -> Request:
    """What is asked for, its languages as the models name them: `FR` is `fr`."""
    source, target = (code and (find_language(code, ["auto", *map(itemgetter(side), service.language_pairs)]) or code)
                      for side, code in enumerate((body.source, body.target)))
    return Request(texts=texts, source=source, target=target, format=format, settings=body.settings(),
                   model=body.model, prefix=body.prefix)


def _translation(one: Translation) -> OneTranslation:
    words = one.unknown_words
    return OneTranslation(
        text=one.text,
        source_language=one.source_language,
        target_language=one.target_language,
        hypotheses=[
            OneHypothesis(text=each.text, score=each.score, log_prob=each.log_prob, finished=each.finished)
            for each in one.hypotheses
        ],
        unknown_words=None if words is None else [word.text for word in words],
        one_by_one=one.one_by_one,
        engine=one.engine,
        precision=one.precision,
    )  # fmt: skip
