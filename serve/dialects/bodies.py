"""What the dialects share: bodies are read strictly, and every error is one JSON object.

    {"error": "one line for a person", "code": "a_word_for_a_program"}

A JSON body must be UTF-8, of the types asked for (no number from a text, no whole number from `true`), without lone
surrogates, NaN or deep nesting; any other gets status 400.
"""

from collections.abc import Callable
from typing import Annotated, Any

from fastapi import Request, Security
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from fastapi.security import APIKeyHeader, HTTPBearer
from pydantic import BaseModel, BeforeValidator, ConfigDict, Discriminator, Field, Tag, ValidationError, create_model
from pydantic_core import from_json

from seq2see.streams import is_utf16
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


REASONS = {
    400: "a body or a field that is not as documented, a language that is not served, a text or a number over a limit",
    403: "no key where one is wanted, or a wrong one",
    404: "no such model",
    413: "a body over the limit",
    429: "too many requests with this key or from this address: see Retry-After",
    501: "a library that this needs is missing on the server",
    503: "the queue is full, or the server is starting or ending: see Retry-After",
    504: "the translation was not ready in time",
}
ERRORS: dict[int | str, dict[str, Any]] = {
    **{status: {"model": Error, "description": reason} for status, reason in REASONS.items()},
    "4XX": {"model": Error, "description": "any other error"},  # and FastAPI adds none of its own
}


class Body(BaseModel):
    model_config = ConfigDict(strict=True, allow_inf_nan=False)


class Options(Body):
    model_config = ConfigDict(extra="forbid")

    def options(self) -> DecodingOptions:
        try:
            return DecodingOptions(**{name: getattr(self, name) for name in OPTIONS})
        except ValueError as error:
            raise APIError(400, "invalid", str(error)) from None


def _field(type: type, ge: float, le: float, description: str) -> Any:
    kind: Any = Annotated[type, Field(ge=ge, le=le), as_whole] if type is int else Annotated[type, Field(ge=ge, le=le)]
    return kind | None, Field(default=None, description=description)


# What DecodingOptions has, as fields of a body.
OptionFields: Any = create_model(
    "OptionFields", __base__=Options, **{name: _field(**one.metadata) for name, one in OPTIONS.items()})


class JSONRoute(APIRoute):
    """Gives its handler the body as JSON, whatever the Content-Type says: curl's says that it is a form."""

    def get_route_handler(self) -> Callable[[Request], Any]:
        handle = super().get_route_handler()

        async def read(request: Request) -> Any:
            return await handle(ReadRequest(request, await self.read(request)) if self.body_field else request)

        return read

    async def read(self, request: Request) -> Any:
        return read_json(await request.body())


class ReadRequest(Request):
    """A request whose body was read before FastAPI asks for it."""

    def __init__(self, request: Request, value: Any):
        headers = [pair for pair in request.scope["headers"] if pair[0] != b"content-type"]
        super().__init__({**request.scope, "headers": [*headers, (b"content-type", b"application/json")]})
        self.value = value

    async def body(self) -> bytes:
        return b"read"  # FastAPI asks only whether there is one

    async def json(self) -> Any:
        return self.value


def read_json(body: bytes) -> Any:
    refuse_utf16(body)
    try:
        return from_json(body, allow_inf_nan=False)
    except ValueError as error:
        raise APIError(400, "bad_request", f"Invalid JSON: {error}") from None


def refuse_utf16(data: bytes) -> None:
    if is_utf16(data):
        raise APIError(400, "bad_request", "the body is in UTF-16: send UTF-8")


def bad_request(error: ValidationError | RequestValidationError) -> APIError:
    """The first of pydantic's findings as one line: the field and what is wrong with it; never what was in it."""
    first = error.errors()[0]
    place = ".".join(str(part)[:40] for part in first["loc"][isinstance(error, RequestValidationError):])
    said = {"missing": "missing", "extra_forbidden": "there is no such field",
            "model_attributes_type": "expected a JSON object"}.get(first["type"], first["msg"])
    return APIError(400, "bad_request", f"{place}: {said}" if place else said)


def documented(service: Service) -> dict[str, Any]:
    """What the OpenAPI document says of errors and of keys, as arguments of a route; `access.py` checks the keys."""
    schemes = APIKeyHeader(name="X-API-Key", auto_error=False), HTTPBearer(auto_error=False)
    return {"responses": ERRORS, "dependencies": [Security(one) for one in schemes] if service.access.keys else []}
