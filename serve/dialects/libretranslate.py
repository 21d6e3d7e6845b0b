"""LibreTranslate's HTTP interface, at the root: what its clients send and expect, on our models.

Every request comes in any of four encodings: JSON, a form, a multipart form, or parameters in the address.  What
differs from LibreTranslate: each text of a batch has its language detected for itself, HTML has alternatives, and files
are not taken (a whole text file fits into `q`).
"""

import sys
from collections.abc import Sequence
from typing import Annotated, Any, Literal
from urllib.parse import parse_qsl

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from seq2see.serve.dialects.names import NAMES
from seq2see.serve.dialects.wire import (
    FORMS,
    REFUSALS,
    Body,
    Error,
    From0,
    Text,
    Texts,
    bad_request,
    by_kind,
    documents,
    find_language,
    read_body,
)
from seq2see.serve.jobs import Translation
from seq2see.serve.plan import Settings
from seq2see.serve.refusal import Refusal
from seq2see.serve.service import Caller, Service
from seq2see.serve.service import Request as Job

MOST_FIELDS = 100
ALIASES = {"pb": "pt-BR", "zt": "zh-Hant"}  # codes of its own that its clients know
NOT_READY: dict[int | str, dict[str, Any]] = {503: {"model": Error, "description": "starting or ending"}}
FOUR_WAYS = "As JSON, as a form, as a multipart form, or in the address; a list of texts only as JSON."


class Keyed(BaseModel):
    api_key: str | None = Field(default=None, description="the key, where the server wants one")


class TranslateBody(Keyed):
    """A text, or a list of them, with the languages from and to."""

    model_config = ConfigDict(json_schema_extra={"examples": [
        {"q": "The cat is tired.", "source": "en", "target": "fr", "format": "text", "alternatives": 2},
        {"q": ["The cat is tired.", "It was raining."], "source": "auto", "target": "fr"},
    ]})  # fmt: skip

    q: Annotated[Text | Texts, by_kind] = Field(description="the text, or, in JSON, a list of texts")
    source: str = Field(min_length=1, description="language of the text, or `auto`")
    target: str = Field(min_length=1, description="language to translate into")
    format: Literal["text", "html"] = Field(default="text", description="`html` keeps the markup")
    alternatives: From0 = Field(default=0, description="how many more translations of each text are wanted")


class TranslateForm(TranslateBody):
    """The same with one text: a form has no lists."""

    model_config = ConfigDict(json_schema_extra={"examples": [
        {"q": "The cat is tired.", "source": "en", "target": "fr"},
    ]})  # fmt: skip

    q: Text = Field(description="the text")


class DetectBody(Keyed):
    model_config = ConfigDict(json_schema_extra={"examples": [{"q": "Le chat est fatigué."}]})

    q: str = Field(min_length=1, description="the text")


class Detected(BaseModel):
    confidence: float = Field(description="0 to 100")
    language: str


class Translated(BaseModel):
    """Each field holds a list where `q` was one."""

    translatedText: str | list[str]
    detectedLanguage: Detected | list[Detected] | None = Field(default=None, description="only where source is `auto`")
    alternatives: list[str] | list[list[str]] | None = Field(default=None, description="only where some were asked for")


class Language(BaseModel):
    code: str
    name: str
    targets: list[str] = Field(description="what it can be translated into; of some, nothing")


class Status(BaseModel):
    status: str


def router(service: Service) -> APIRouter:
    """The routes, to be included without a prefix, or with any: clients append theirs to an address."""
    routes = APIRouter(tags=["LibreTranslate"])

    @routes.post("/translate", summary="Translate", description=FOUR_WAYS, response_model=Translated,
                 response_model_exclude_none=True, responses=REFUSALS,
                 openapi_extra=documents(TranslateBody, forms=TranslateForm))
    async def translate(request: Request) -> dict[str, Any]:
        body = await _read(request, TranslateBody, form=TranslateForm)
        caller = _caller(service, request, body)
        service.check_ready()
        texts = (body.q,) if isinstance(body.q, str) else tuple(body.q)
        _check_length(service, texts)
        automatic = body.source.casefold() == "auto"
        most = service.settings.alternatives - 1  # the best is none of them here
        if body.alternatives > most:
            told = f"alternatives {body.alternatives}: {most} at most are allowed"
            raise Refusal(400, "alternatives_too_large", told)
        settings: Settings = {"alternatives": body.alternatives + 1} if body.alternatives else {}
        job = Job(
            texts=texts,
            source="auto" if automatic else _language(body.source, [pair[0] for pair in service.language_pairs]),
            target=_language(body.target, [pair[1] for pair in service.language_pairs]),
            format=body.format,
            settings=settings,
        )
        found = await service.translate(job, caller=caller)
        answer: dict[str, list[Any]] = {"translatedText": [one.text for one in found]}
        if automatic:
            answer["detectedLanguage"] = [
                {"confidence": _confidence(service, text, one.source_language), "language": one.source_language}
                for text, one in zip(texts, found, strict=True)
            ]
        if body.alternatives:
            answer["alternatives"] = [_others(one) for one in found]
        return {name: values[0] for name, values in answer.items()} if isinstance(body.q, str) else dict(answer)

    @routes.post("/detect", summary="Detect the language of a text", response_model=list[Detected],
                 description=f"Among the languages served, the likeliest first. {FOUR_WAYS}", responses=REFUSALS,
                 openapi_extra=documents(DetectBody, forms=DetectBody))
    async def detect(request: Request) -> list[dict[str, Any]]:
        body = await _read(request, DetectBody, form=DetectBody)
        caller = _caller(service, request, body)
        service.check_ready()
        service.access.spend(caller, 1)
        _check_length(service, (body.q,))
        found = service.detect(body.q)
        return [{"confidence": round(100 * one.confidence, 1), "language": one.language} for one in found]

    @routes.get("/languages", summary="What can be translated into what", response_model=list[Language],
                responses=NOT_READY)
    async def languages() -> list[dict[str, Any]]:
        service.check_ready()
        pairs = service.language_pairs  # a page looks the names of targets up too, so these have entries of their own
        return [
            {"code": code, "name": NAMES.get(code, code), "targets": [to for start, to in pairs if start == code]}
            for code in dict.fromkeys([*(start for start, _ in pairs), *(to for _, to in pairs)])
        ]

    @routes.get("/frontend/settings", summary="What a page in front of this server should know")
    async def frontend_settings() -> dict[str, Any]:
        pairs = service.language_pairs
        target = pairs[0][1] if pairs else ""
        return {
            "apiKeys": bool(service.access.keys),
            "keyRequired": bool(service.access.keys),
            "charLimit": service.settings.characters,
            "frontendTimeout": 500,
            "suggestions": False,
            "filesTranslation": False,
            "supportedFilesFormat": [],
            "language": {
                "source": {"code": "auto", "name": "Auto Detect"},
                "target": {"code": target, "name": NAMES.get(target, target)},
            },
        }

    @routes.get("/health", summary="Whether it is ready to translate", response_model=Status, responses=NOT_READY)
    async def health() -> dict[str, str]:
        service.check_ready()
        return {"status": "ok"}

    if service.settings.docs:

        @routes.get("/spec", summary="This document", include_in_schema=False)
        async def spec(request: Request) -> JSONResponse:
            return JSONResponse(request.app.openapi())

    @routes.post("/suggest", include_in_schema=False)
    async def suggest() -> None:
        raise Refusal(403, "no_suggestions", "Suggestions are disabled on this server.")

    @routes.post("/translate_file", include_in_schema=False)
    async def translate_file() -> None:
        raise Refusal(403, "no_files", "Files translation are disabled on this server.")

    return routes


def _check_length(service: Service, texts: Sequence[str]) -> None:
    longest, most = max(map(len, texts)), service.settings.characters
    if longest > most:
        raise Refusal(400, "text_too_long", f"Invalid request: request ({longest}) exceeds text limit ({most})")


async def _read(request: Request, kind: type[Body], *, form: type[Body]) -> Body:
    """The body in any of the four encodings."""
    media = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    try:
        if media == "application/json" or media.endswith("+json"):
            return read_body(await request.body(), kind)
        return form.model_validate_strings(await _fields(request, media))
    except ValidationError as error:
        missing = error.errors()[0]
        if missing["type"] in ("missing", "string_too_short", "too_short"):
            raise Refusal(400, "bad_request", f"Invalid request: missing {missing['loc'][0]} parameter") from None
        raise bad_request(error) from None


async def _fields(request: Request, media: str) -> dict[str, str]:
    """The parameters of the address, and those of a form that the address has not."""
    pairs = _parse(request.scope["query_string"])
    if media == FORMS[0]:
        pairs += _parse(await request.body())
    elif media == FORMS[1]:
        async with request.form(max_files=0, max_fields=MOST_FIELDS, max_part_size=sys.maxsize) as form:
            pairs += [(name, value) for name, value in form.multi_items() if isinstance(value, str)]
    fields: dict[str, str] = {}
    for name, value in pairs:
        fields.setdefault(name, value)
    return fields


def _parse(encoded: bytes) -> list[tuple[str, str]]:
    """Fields of a form or an address, in UTF-8 whether escaped or not: `curl -d q=Café` does not escape."""
    try:
        return parse_qsl(encoded.decode("utf-8"), keep_blank_values=True, errors="strict", max_num_fields=MOST_FIELDS)
    except UnicodeDecodeError:
        raise Refusal(400, "bad_request", "Invalid request: the parameters are not UTF-8") from None
    except ValueError:
        raise Refusal(400, "bad_request", f"Invalid request: more than {MOST_FIELDS} parameters") from None


def _caller(service: Service, request: Request, body: Keyed) -> Caller:
    """By the key among the parameters, as this dialect has it, or in a header."""
    return service.access.identify(request, body.api_key) if body.api_key else service.access.caller(request)


def _language(code: str, known: list[str]) -> str:
    """Of the languages known; where the models do not say what they know, any code will do."""
    found = find_language(ALIASES.get(code.casefold(), code), known) if known else code
    if found is None:
        raise Refusal(400, "unknown_language", f"{code[:20]} is not supported")
    return found


def _confidence(service: Service, text: str, language: str) -> float:
    found = {one.language: one.confidence for one in service.detect(text)}
    return round(100 * found.get(language, 0.0), 1)


def _others(translation: Translation) -> list[str]:
    return [one.text for one in translation.hypotheses[1:]]
