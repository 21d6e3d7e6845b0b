"""Shared by the APIs: bodies are parsed strictly, and every error is one JSON object.

    {"error": "one line for a person", "code": "a_word_for_a_program"}

A JSON body must be UTF-8 and have exactly the documented types (no number from a string, no integer from `true`).  Lone
surrogates, NaN and deep nesting are not allowed.  Any other body gets status 400.
"""

from codecs import BOM_UTF8
from collections.abc import Callable
from inspect import iscoroutinefunction, signature
from typing import Annotated, Any, Self, get_type_hints

from fastapi import Request, Response, Security
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from fastapi.security import APIKeyHeader, HTTPBearer
from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    Tag,
    TypeAdapter,
    create_model,
    model_validator,
)
from pydantic_core import ValidationError, from_json
from starlette.datastructures import MutableHeaders
from starlette.types import Receive, Scope, Send

from seq2see.errors import UserError
from seq2see.streams import is_utf16
from seq2see.validation import refusal
from ...tokenizer.language_pairs import LanguagePairs
from ...translate.decoding import OPTIONS, DecodingOptions
from ..api_errors import APIError
from ..service import Service

# As in JSON Schema, 4.0 is an integer; a string or `true` is not.
as_whole = BeforeValidator(lambda value: int(value) if type(value) is float and value.is_integer() else value)
From0 = Annotated[int, Field(ge=0), as_whole]
# A text or a list; errors name the Tag of the one that was parsed.
by_kind = Discriminator(lambda value: "list" if isinstance(value, list) else "text")
Text = Annotated[str, Tag("text")]
Pair = Annotated[list[str], Field(min_length=2, max_length=2)]  # languages; FastAPI cannot document tuples
TargetIds = Annotated[list[From0], Field(min_length=1)]
TARGET_IDS = "ids of the tokens of this translation, from its trace (default: those of the tokenizer)"
OTHER_LANGUAGE = ("the language (ISO 639-1) of the text if it seems not to be the source language; the translation is "
                  "then unreliable. `und`: another language, unclear which")
GIVEN = "how many of target_ids were forced, from its trace"
Texts = Annotated[list[str], Field(min_length=1), Tag("list")]


class Languages(BaseModel):
    """Language pairs as a product: each source combines with each target."""

    sources: list[str] = Field(description="codes of the source languages")
    targets: list[str] = Field(description="codes of the target languages")

    @classmethod
    def of(cls, pairs: LanguagePairs) -> list[Self]:
        return [cls(sources=[*sources], targets=[*targets]) for sources, targets in pairs.products]


class Error(BaseModel):
    """The reason why a request failed."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"error": "q: missing", "code": "bad_request"}]})

    error: str = Field(description="one line for people")
    code: str = Field(description="an identifier for programs")


REASONS: dict[int | str, str] = {
    400: "invalid body or field, unsupported language, or a text or number over a limit",
    403: "missing or wrong API key",
    404: "no such model",
    413: "body over the size limit",
    429: "too many requests with this key or from this address: see Retry-After",
    503: "the queue is full, or the server is starting or stopping: see Retry-After",
    504: "the translation took too long",
    "4XX": "any other error",  # so that FastAPI adds none of its own
}
ERRORS = {status: {"model": Error, "description": reason} for status, reason in REASONS.items()}


class JSONRoute(APIRoute):
    """Lets a `Body` parse the bytes, whatever their Content-Type: curl's default claims a form.

    An endpoint that takes only a body and its request is called directly.  FastAPI documents it, but its work for each
    request would take as long as the translation of a short sentence.
    """

    def __init__(self, path: str, endpoint: Callable[..., Any], **settings: Any):
        super().__init__(path, endpoint, **settings)
        is_direct = iscoroutinefunction(endpoint) and [*signature(endpoint).parameters] == ["body", "request"]
        kinds = get_type_hints(endpoint, include_extras=True)
        self.body: TypeAdapter[Any] | None = TypeAdapter(kinds["body"]) if is_direct else None
        self.reply: TypeAdapter[Any] = TypeAdapter(self.response_model)

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self.body is None or scope["method"] != "POST":
            MutableHeaders(scope=scope)["content-type"] = "application/octet-stream"  # its own JSON is less strict
            return await super().handle(scope, receive, send)
        request = Request(scope, receive)
        if not (data := await request.body()):
            raise APIError(400, "bad_request", "the body is missing: send JSON")
        try:
            body = self.body.validate_python(data, from_attributes=True)
        except ValidationError as error:
            raise bad_request(error) from None
        found = await self.endpoint(body, request)
        if not isinstance(found, Response):
            found = Response(self.reply.dump_json(self.reply.validate_python(found, from_attributes=True),
                                                  exclude_none=self.response_model_exclude_none),
                             media_type="application/json")
        await found(scope, receive, send)


class Body(BaseModel):
    model_config = ConfigDict(strict=True, allow_inf_nan=False)

    @model_validator(mode="before")
    @classmethod
    def read(cls, value: Any) -> Any:
        """The value in a body's bytes; raises APIError if it is not JSON."""
        if not isinstance(value, bytes):
            return value
        refuse_utf16(value)
        try:
            return from_json(value.removeprefix(BOM_UTF8), allow_inf_nan=False)
        except ValueError as error:
            raise APIError(400, "bad_request", f"Invalid JSON: {error}") from None


class Options(Body):
    model_config = ConfigDict(extra="forbid")

    def options(self) -> DecodingOptions:
        try:
            return DecodingOptions(**{name: getattr(self, name) for name in OPTIONS})
        except UserError as error:
            raise APIError(400, "invalid", str(error)) from None


# The fields of DecodingOptions as fields of a body.
FIELDS: dict[str, Any] = {name: (Annotated[one.type, as_whole], Field(default=None, **one.metadata))
                          for name, one in OPTIONS.items()}
OptionFields: Any = create_model("OptionFields", __base__=Options, **FIELDS)


def refuse_utf16(data: bytes) -> None:
    if is_utf16(data):
        raise APIError(400, "bad_request", "the body is UTF-16: send UTF-8")


def bad_request(error: ValidationError | RequestValidationError) -> APIError:
    """Pydantic's first error as one line: the key and the problem, never its value, which may be the user's text."""
    errors = [one | {"loc": one["loc"][isinstance(error, RequestValidationError):]} for one in error.errors()]
    key, _, problem = refusal(errors)
    return APIError(400, "bad_request", f"{key or 'the body'}: {problem}")


def key_wanted(service: Service) -> list[Any]:
    """Documents in OpenAPI the header for the API key, if one is required; `access.py` checks it."""
    schemes = APIKeyHeader(name="X-API-Key", auto_error=False), HTTPBearer(auto_error=False)
    return [Security(one) for one in schemes] if service.access.keys else []
