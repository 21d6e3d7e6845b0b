"""What all dialects share: bodies are read strictly, and every refusal is one body that each dialect's clients read.

    {"error": "one line for a person", "code": "a_word_for_a_program"}

A JSON body must be UTF-8, of the very types asked for (no number from a text, no whole number from `true`), without
lone surrogates, NaN or deep nesting: what is not, costs one line and status 400.
"""

import logging
from collections.abc import Iterable
from typing import Any, TypeVar

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from starlette.exceptions import HTTPException

from seq2see.errors import UserError
from seq2see.serve.refusal import Refusal

Body = TypeVar("Body", bound=BaseModel)
log = logging.getLogger("seq2see.serve")


class Error(BaseModel):
    """Why a request was refused."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"error": "q: missing", "code": "bad_request"}]})

    error: str = Field(description="one line for a person")
    code: str = Field(description="a word for a program")


REASONS = {
    400: "a body or a field that is not as documented, a language the models do not have, a text or a number over a limit",
    403: "no key where one is wanted, or a wrong one",
    404: "no such model",
    413: "a body over the limit",
    429: "too many requests with this key or from this address: see Retry-After",
    503: "the queue is full, or the server is starting or ending: see Retry-After",
    504: "the translation was not ready in time",
}
REFUSALS: dict[int | str, dict[str, Any]] = {
    **{status: {"model": Error, "description": reason} for status, reason in REASONS.items()},
    "4XX": {"model": Error, "description": "any other refusal"},  # and FastAPI adds none of its own
}
CODES = {400: "bad_request", 403: "forbidden", 404: "not_found", 405: "method_not_allowed", 413: "body_too_large",
         415: "unsupported_media_type", 429: "too_many_requests", 503: "unavailable", 504: "deadline"}


def error_response(status: int, message: str, *, code: str = "", retry_after: int | None = None,
                   headers: dict[str, str] | None = None) -> JSONResponse:
    """The one error body.  `code` is the status's own word where it is not given."""
    more = {} if retry_after is None else {"Retry-After": str(retry_after)}
    body = {"error": _one_line(message), "code": code or CODES.get(status, "error")}
    return JSONResponse(body, status, headers={**(headers or {}), **more})


def install(app: FastAPI) -> None:
    """Have every error of an application answered by `error_response`; none shows a traceback or the caller's text."""

    async def refused(request: Request, error: Exception) -> JSONResponse:
        assert isinstance(error, Refusal)
        return error_response(error.status, error.message, code=error.code, retry_after=error.retry_after)

    async def misused(request: Request, error: Exception) -> JSONResponse:
        return error_response(400, str(error))

    async def invalid(request: Request, error: Exception) -> JSONResponse:
        assert isinstance(error, RequestValidationError)
        return error_response(400, describe(error.errors()))

    async def unrouted(request: Request, error: Exception) -> JSONResponse:
        assert isinstance(error, HTTPException)
        headers = dict(error.headers or {})
        if error.status_code == 405:
            headers["Allow"] = ", ".join(sorted(_allowed(request)))
        return error_response(error.status_code, str(error.detail), headers=headers)

    async def failed(request: Request, error: Exception) -> JSONResponse:
        log.error("a request failed: %s", type(error).__name__)  # its message might hold the caller's text
        return error_response(500, "the server failed at this request", code="internal")

    app.add_exception_handler(Refusal, refused)
    app.add_exception_handler(UserError, misused)
    app.add_exception_handler(RequestValidationError, invalid)
    app.add_exception_handler(HTTPException, unrouted)
    app.add_exception_handler(Exception, failed)


async def read_json(request: Request, kind: type[Body]) -> Body:
    """The body as a `kind`, whatever its Content-Type says (curl says it is a form); Refusal 400 where it is not."""
    try:
        return kind.model_validate_json(await request.body(), strict=True)
    except ValidationError as error:
        raise bad_request(error) from None


def bad_request(error: ValidationError) -> Refusal:
    return Refusal(400, "bad_request", describe(error.errors(include_url=False, include_input=False)))


def describe(errors: Iterable[Any]) -> str:
    """The first of pydantic's findings as one line: the field and what is wrong with it."""
    first = next(iter(errors))
    place = ".".join(str(part)[:40] for part in first["loc"])
    said = {"missing": "missing", "extra_forbidden": "there is no such field"}.get(first["type"], first["msg"])
    return f"{place}: {said}" if place else said


def documents(kind: type[BaseModel], *, also: Iterable[str] = ()) -> dict[str, Any]:
    """What OpenAPI is to say of a body read by `read_json`; `also` are more media types it is taken in."""
    schema = schema_of(kind)
    return {"requestBody": {"required": True, "content": {
        media: {"schema": schema} for media in ("application/json", *also)
    }}}  # fmt: skip


def schema_of(kind: type[BaseModel]) -> dict[str, Any]:
    """The JSON schema of a model, with what it refers to written out in its place."""
    schema = kind.model_json_schema()
    named = schema.pop("$defs", {})

    def written_out(part: Any) -> Any:
        if isinstance(part, list):
            return [written_out(one) for one in part]
        if isinstance(part, dict):
            if "$ref" in part:
                return written_out(named[part["$ref"].rpartition("/")[2]])
            return {name: written_out(value) for name, value in part.items()}
        return part

    return dict(written_out(schema))


def find_language(code: str, known: Iterable[str]) -> str | None:
    """The known language that a client's code means: `EN`, `en-US` and `en_XX` are `en`; None where there is none."""
    languages = list(known)
    exact = {one.casefold().replace("_", "-"): one for one in languages}
    asked = code.casefold().replace("_", "-")
    return exact.get(asked) or exact.get(asked.partition("-")[0])


def _allowed(request: Request) -> set[str]:
    """The methods of a path, of all routes that have it: Starlette names those of the first alone."""
    methods: set[str] = set()
    for route in request.app.routes:
        regex = getattr(route, "path_regex", None)
        if regex is not None and regex.match(request.scope["path"]):
            methods |= getattr(route, "methods", None) or set()
    return methods


def _one_line(message: str) -> str:
    return " ".join(message.split())
