"""LibreTranslate's HTTP API, at the root.

Every request may be JSON, a form, a multipart form, or query parameters.  There are four differences from
LibreTranslate: the language of each text in a batch is detected separately, HTML has alternatives, suggestions are not
accepted, and a doubtful translation has `warnings`, `doubts` and `other_language`.  `translate_file.py` has the
routes for files.
"""

import json
import re
import sys
from typing import Annotated, Any, Literal, Self
from urllib.parse import parse_qsl

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse
from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ModelWrapValidatorHandler,
    ValidationError,
    WithJsonSchema,
    model_validator,
)
from starlette.types import Receive, Scope, Send

from ...tokenizer.language_codes import language_name
from ...tokenizer.language_pairs import MOST_LISTED
from ...translate.decoding import DecodingOptions
from ...translate.results import Doubt, Warned
from ..api_errors import APIError
from ..language_detection import Detection, other_language_of
from ..request_checks import replay_body
from ..service import Service
from .bodies import OTHER_LANGUAGE, Body, Error, From0, JSONRoute, Text, Texts, by_kind, key_wanted, refuse_utf16
from .translate_file import endings

MOST_FIELDS = 100
TYPING = 500  # milliseconds
MOST_TARGETS = 30  # of a language, that are listed where there are many languages
FORMS = ("application/x-www-form-urlencoded", "multipart/form-data")
FOUR_WAYS = "Send JSON, a form, a multipart form or query parameters. A list of texts must be JSON."
KEY: Any = Field(default=None, description="the API key, if the server requires one")


def if_given(default: Any) -> BeforeValidator:
    """LibreTranslate's clients send null (in a form as a word) or an empty string for fields that they leave out."""
    return BeforeValidator(lambda value: default if value in (None, "", "null") else value)


def _from_digits(value: Any) -> Any:
    return int(value) if isinstance(value, str) and re.fullmatch("[0-9]{1,9}", value) else value


class NamedFields(Body):
    """A body that reports missing fields in LibreTranslate's words."""

    @model_validator(mode="wrap")
    @classmethod
    def name_missing(cls, value: Any, validated: ModelWrapValidatorHandler[Self]) -> Self:
        try:
            return validated(value)
        except ValidationError as error:
            for one in error.errors():
                if one["type"] == "missing":
                    message = f"Invalid request: missing {one['loc'][0]} parameter"
                    raise APIError(400, "bad_request", message) from None
            raise


class LibreTranslateBody(NamedFields):
    """A text or a list of texts, with source and target language."""

    model_config = ConfigDict(json_schema_extra={"examples": [
        {"q": "The cat is tired.", "source": "en", "target": "fr", "format": "text", "alternatives": 2},
        {"q": ["The cat is tired.", "It was raining."], "source": "auto", "target": "fr"},
    ]})

    q: Annotated[Text | Texts, by_kind] = Field(description="the text; in JSON also a list of texts")
    source: str = Field(min_length=1, description="source language, or `auto`")
    target: str = Field(min_length=1, description="target language")
    format: Annotated[Literal["text", "html"], if_given("text"), WithJsonSchema(
        {"anyOf": [{"enum": ["text", "html"]}, {"type": "string", "maxLength": 0}, {"type": "null"}]})] = Field(
        default="text", description="`html` keeps the markup; null or empty: `text`")
    alternatives: Annotated[From0, if_given(0), BeforeValidator(_from_digits), WithJsonSchema(
        {"anyOf": [{"type": "integer", "minimum": 0}, {"type": "string", "pattern": "^[0-9]{0,9}$"}, {"type": "null"}]},
    )] = Field(
        default=0, description="number of further translations of each text, as a number or a string; null or empty: 0")
    api_key: str | None = KEY

    @model_validator(mode="before")
    @classmethod
    def read(cls, value: Any) -> Any:
        """Refuses a glossary instead of ignoring it, as other unknown fields are."""
        value = super().read(value)  # type: ignore[operator]  # a classmethod, which Pydantic wraps
        if isinstance(value, dict) and value.get("glossary"):
            raise APIError(400, "bad_request", "glossary: only /v1/translate takes one")
        return value


class DetectBody(NamedFields):
    model_config = ConfigDict(json_schema_extra={"examples": [
        {"q": "Le chat est fatigué."}, {"q": ["Le chat est fatigué.", "The cat is tired."]},
    ]})

    q: Annotated[Text | Texts, by_kind] = Field(description="the text; in JSON also a list of texts")
    api_key: str | None = KEY


class Translated(BaseModel):
    """Each field is a list if `q` was one."""

    translatedText: str | list[str] = Field(description="the translation")
    detectedLanguage: Detection | list[Detection] | None = Field(
        default=None, description="the detected source language, if source is `auto`")
    alternatives: list[str] | list[list[str]] | None = Field(
        default=None, description="further translations, if requested")
    warnings: list[Warned] | list[list[Warned]] | None = Field(
        default=None, description="signs that a translation went wrong, if there are any: `unchanged`, `too_short` or "
        "`cut_off`. LibreTranslate has no such field")
    doubts: list[Doubt] | list[list[Doubt]] | None = Field(
        default=None, description="words that make a translation doubtful, if there are any. LibreTranslate has no "
        "such field")
    other_language: str | list[str | None] | None = Field(
        default=None, description=f"{OTHER_LANGUAGE}; in a list null for the others; missing if no text is so. "
        "LibreTranslate has no such field")


class Language(BaseModel):
    code: str = Field(description="code of the language")
    name: str = Field(description="its English name")
    targets: list[str] | None = Field(
        default=None, description="its target languages, possibly none; omitted for languages with more than 30, if "
        "the server has more than 1,000 pairs")


class NamedLanguage(BaseModel):
    code: str = Field(description="code of the language")
    name: str = Field(description="its English name")


class DefaultLanguages(BaseModel):
    source: NamedLanguage = Field(description="the default source")
    target: NamedLanguage = Field(description="the default target")


class FrontendSettings(BaseModel):
    """The settings for LibreTranslate's own page."""

    charLimit: int = Field(description="maximum characters in a text")
    frontendTimeout: int = Field(description="milliseconds after a key press before a page translates")
    apiKeys: bool = Field(description="whether the server has API keys")
    keyRequired: bool = Field(description="whether each request needs an API key")
    suggestions: bool = Field(description="always false: the server accepts no suggestions")
    filesTranslation: bool = Field(description="whether files can be translated")
    supportedFilesFormat: list[str] = Field(description="extensions of the files that can be translated")
    language: DefaultLanguages = Field(description="the default languages")


class AnyEncoding(JSONRoute):
    """Converts a form, a multipart form or query parameters to the equivalent JSON object."""

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        media = request.headers.get("content-type", "").partition(";")[0].strip().lower()
        if scope["method"] == "POST" and media != "application/json" and not media.endswith("+json"):
            receive = replay_body(json.dumps(await _fields(request, media)).encode(), receive)
        await super().handle(scope, receive, send)


async def _fields(request: Request, media: str) -> dict[str, Any]:
    """The fields of a request in UTF-8, escaped or not: `curl -d q=Café` does not escape.

    Query parameters take precedence.
    """
    encoded = [request.scope["query_string"], await request.body() if media == FORMS[0] else b""]
    try:
        pairs = [pair for one in encoded for pair in parse_qsl(
            one.decode("utf-8"), keep_blank_values=True, errors="strict", max_num_fields=MOST_FIELDS)]
    except ValueError:
        raise APIError(400, "bad_request", f"expected at most {MOST_FIELDS} parameters, in UTF-8") from None
    if media == FORMS[1]:
        async with request.form(max_files=0, max_fields=MOST_FIELDS, max_part_size=sys.maxsize) as form:
            pairs += [(name, value) for name, value in form.multi_items() if isinstance(value, str)]
        for _, value in pairs:  # other encodings were decoded as Latin-1
            refuse_utf16(value[:2].encode("latin-1", "replace"))
    return dict(reversed(pairs))


def router(service: Service) -> APIRouter:
    """The routes, for any prefix or none: clients append their paths to an address."""
    routes = APIRouter(tags=["LibreTranslate"], route_class=AnyEncoding)
    wanted = key_wanted(service)

    @routes.post("/translate", summary="Translate a text or a list of texts", description=FOUR_WAYS,
                 response_model=Translated, response_model_exclude_none=True, dependencies=wanted,
                 openapi_extra=also_in_forms(LibreTranslateBody))
    async def translate(body: LibreTranslateBody, request: Request) -> dict[str, Any]:
        caller = service.access.authenticate(request, body.api_key)
        texts = [body.q] if isinstance(body.q, str) else body.q
        most = service.settings.alternatives - 1  # here the best one does not count
        if body.alternatives > most:
            message = f"alternatives {body.alternatives}: at most {most} are allowed"
            raise APIError(400, "alternatives_too_large", message)
        found = await service.translate(texts, caller=caller, source=body.source, target=body.target,
                                        format=body.format, options=DecodingOptions(alternatives=body.alternatives + 1))
        answer: dict[str, list[Any]] = {"translatedText": [one.text for one in found]}
        if body.source.casefold() == "auto":
            sources = [{one.language: one for one in service.detect(text)} for text in texts]
            answer["detectedLanguage"] = [known.get(one.source_language, Detection(0.0, one.source_language))
                                          for known, one in zip(sources, found, strict=True)]
        if body.alternatives:
            answer["alternatives"] = [[other.text for other in one.hypotheses[1:]] for one in found]
        if any(one.warnings for one in found):
            answer["warnings"] = [one.warnings for one in found]
        if any(one.doubts for one in found):
            answer["doubts"] = [one.doubts for one in found]
        if any(others := [other_language_of(one) for one in found]):
            answer["other_language"] = others
        return {name: values[0] for name, values in answer.items()} if isinstance(body.q, str) else dict(answer)

    @routes.post("/detect", summary="Detect the language of a text",
                 response_model=list[Detection] | list[list[Detection]], dependencies=wanted,
                 description="Returns the supported source languages, the most probable first; for a list of texts, "
                 f"one such list for each. {FOUR_WAYS}", openapi_extra=also_in_forms(DetectBody))
    async def detect(body: DetectBody, request: Request) -> list[Any]:
        caller = service.access.authenticate(request, body.api_key)
        texts = [body.q] if isinstance(body.q, str) else body.q
        async with service.serving(texts, caller, service.settings.deadline_seconds):
            found = [service.detect(text) for text in texts]
        return found[0] if isinstance(body.q, str) else found

    @routes.post("/suggest", summary="Not supported: always status 403", status_code=403, response_model=Error,
                 description="LibreTranslate collects better translations here. This server stores no texts.")
    async def suggest() -> None:
        raise APIError(403, "suggestions_off", "Suggestions are disabled on this server: it stores no texts")

    @routes.get("/languages", summary="List the languages and their targets", response_model=list[Language],
                response_model_exclude_none=True)
    async def languages() -> list[Language]:
        service.check_ready()
        pairs = service.language_pairs  # clients look up the names of targets too, so targets have entries
        most = MOST_TARGETS if len(pairs) > MOST_LISTED else len(pairs)
        found = ((code, pairs.targets_of(code)) for code in dict.fromkeys([*pairs.sources, *pairs.targets]))
        return [Language(code=code, name=language_name(code), targets=[*own] if len(own) <= most else None)
                for code, own in found]

    @routes.get("/frontend/settings", summary="Read the limits, file formats and default languages")
    async def frontend_settings() -> FrontendSettings:
        service.check_ready()
        _, target = service.language_pairs.fitting(None, None) or ("", "")
        keys, limits = bool(service.access.keys), service.settings
        return FrontendSettings(
            charLimit=limits.characters, frontendTimeout=TYPING, apiKeys=keys, keyRequired=keys, suggestions=False,
            filesTranslation=True, supportedFilesFormat=endings(), language=DefaultLanguages(
                source=NamedLanguage(code="auto", name="Auto Detect"),
                target=NamedLanguage(code=target, name=language_name(target))))

    if service.settings.docs:

        @routes.get("/spec", include_in_schema=False)
        async def spec(request: Request) -> JSONResponse:
            return JSONResponse(request.app.openapi())

    @routes.get("/health", summary="Check whether the server is ready to translate")
    async def health() -> dict[str, str]:
        service.check_ready()
        return {"status": "ok"}

    return routes


def also_in_forms(kind: type[BaseModel]) -> dict[str, Any]:
    """Documents what FastAPI cannot see: the body may also be a form."""
    schema = {"schema": {"$ref": f"#/components/schemas/{kind.__name__}"}}
    return {"requestBody": {"content": dict.fromkeys(FORMS, schema)}}
