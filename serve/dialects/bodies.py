"""What the dialects share: bodies are read strictly, and every error is one JSON object.

    {"error": "one line for a person", "code": "a_word_for_a_program"}

A JSON body must be UTF-8, of the types asked for (no number from a text, no whole number from `true`), without lone
surrogates, NaN or deep nesting; any other gets status 400.
"""

from typing import Annotated, Any

from fastapi import Security
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from fastapi.security import APIKeyHeader, HTTPBearer
from pydantic import BaseModel, BeforeValidator, ConfigDict, Discriminator, Field, Tag, create_model, model_validator
from pydantic_core import ValidationError, from_json
from starlette.datastructures import MutableHeaders
from starlette.types import Receive, Scope, Send

from ...translate.decoding import OPTIONS, DecodingOptions
from ..errors import APIError
from ..service import Service

# A whole number may be written 4.0, as JSON Schema has it; a text or `true` is none.
as_whole = BeforeValidator(lambda value: int(value) if type(value) is float and value.is_integer() else value)
From0 = Annotated[int, Field(ge=0), as_whole]
# A text or a list; a Tag is the name by which an error tells which of them was read.
by_kind = Discriminator(lambda value: "list" if isinstance(value, list) else "text")
Text = Annotated[str, Tag("text")]
Pair = Annotated[list[str], Field(min_length=2, max_length=2)]  # languages; FastAPI documents no tuple
Texts = Annotated[list[str], Field(min_length=1), Tag("list")]


class Error(BaseModel):
    """Why there is no answer."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"error": "q: missing", "code": "bad_request"}]})

    error: str = Field(description="one line for a person")
    code: str = Field(description="a word for a program")


REASONS: dict[int | str, str] = {
    400: "a body or a field that is not as documented, a language that is not served, a text or a number over a limit",
    403: "no key where one is wanted, or a wrong one",
    404: "no such model",
    413: "a body over the limit",
    429: "too many requests with this key or from this address: see Retry-After",
    501: "a library that this needs is missing on the server",
    503: "the queue is full, or the server is starting or ending: see Retry-After",
    504: "the translation was not ready in time",
    "4XX": "any other error",  # and FastAPI adds none of its own
}
ERRORS = {status: {"model": Error, "description": reason} for status, reason in REASONS.items()}


class JSONRoute(APIRoute):
    """Has a `Body` read the bytes, whatever their Content-Type says: curl's says that they are a form."""

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        MutableHeaders(scope=scope)["content-type"] = "application/octet-stream"  # FastAPI's own JSON is less strict
        await super().handle(scope, receive, send)


class Body(BaseModel):
    model_config = ConfigDict(strict=True, allow_inf_nan=False)

    @model_validator(mode="before")
    @classmethod
    def read(cls, value: Any) -> Any:
        """What the bytes of a body hold; APIError for what is no JSON."""
        if not isinstance(value, bytes):
            return value
        try:
            return from_json(value, allow_inf_nan=False)
        except ValueError as error:
            raise APIError(400, "bad_request", f"Invalid JSON: {error}") from None


class Options(Body):
    model_config = ConfigDict(extra="forbid")

    def options(self) -> DecodingOptions:
        try:
            return DecodingOptions(**{name: getattr(self, name) for name in OPTIONS})
        except ValueError as error:
            raise APIError(400, "invalid", str(error)) from None


def _field(type: Any, ge: float, le: float, description: str) -> Any:
    return Annotated[type, Field(ge=ge, le=le), as_whole] | None, Field(default=None, description=description)


# What DecodingOptions has, as fields of a body.
OptionFields: Any = create_model(
    "OptionFields", __base__=Options, **{name: _field(**one.metadata) for name, one in OPTIONS.items()})


def bad_request(error: ValidationError | RequestValidationError) -> APIError:
    """The first of pydantic's findings as one line: the field and what is wrong with it; never what was in it."""
    first = error.errors()[0]
    place = ".".join(str(part)[:40] for part in first["loc"][isinstance(error, RequestValidationError):])
    known = {"missing": "missing" if place else "there is no body", "extra_forbidden": "there is no such field",
             "model_attributes_type": "expected a JSON object"}
    said = known.get(first["type"], first["msg"])
    return APIError(400, "bad_request", f"{place}: {said}" if place else said)


def key_wanted(service: Service) -> list[Any]:
    """What tells the OpenAPI document where a key goes, if one is wanted; `access.py` checks it."""
    schemes = APIKeyHeader(name="X-API-Key", auto_error=False), HTTPBearer(auto_error=False)
    return [Security(one) for one in schemes] if service.access.keys else []
