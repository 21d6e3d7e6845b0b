"""What all dialects share: bodies are read strictly, and every refusal is one body that each dialect's clients read.

    {"error": "one line for a person", "code": "a_word_for_a_program"}

A JSON body must be UTF-8, of the very types asked for (no number from a text, no whole number from `true`), without
lone surrogates, NaN or deep nesting: what is not, costs one line and status 400.
"""

from collections.abc import Iterable
from typing import Annotated, Any, TypeVar

from fastapi import Request
from pydantic import BaseModel, BeforeValidator, ConfigDict, Discriminator, Field, Tag, ValidationError

from seq2see.serve.refusal import Refusal
from seq2see.streams import is_utf16

Body = TypeVar("Body", bound=BaseModel)

FORMS = ("application/x-www-form-urlencoded", "multipart/form-data")

# A text or a list of texts; a Tag is the name by which an error tells which of them was read.
by_kind = Discriminator(lambda value: "list" if isinstance(value, list) else "text")
Text = Annotated[str, Tag("text")]
Texts = Annotated[list[str], Field(min_length=1), Tag("list")]
# A whole number may be written 4.0, as JSON Schema has it; a text or `true` is none.
as_whole = BeforeValidator(lambda value: int(value) if type(value) is float and value.is_integer() else value)
From0 = Annotated[int, Field(ge=0), as_whole]
From1 = Annotated[int, Field(ge=1), as_whole]
Pair = Annotated[list[str], Field(min_length=2, max_length=2)]  # of languages, from and to


class Error(BaseModel):
    """Why a request was refused."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"error": "q: missing", "code": "bad_request"}]})

    error: str = Field(description="one line for a person")
    code: str = Field(description="a word for a program")


REASONS = {
    400: "a body or a field that is not as documented, a language that is not served, a text or a number over a limit",
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


class Tuning(BaseModel):
    """Settings of the search for translations, in the words that `generate` and we share."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)

    num_beams: From1 | None = Field(default=None, description="1: greedy search")
    max_new_tokens: From1 | None = Field(default=None, description="pieces of a translation, at most")
    length_penalty: float | None = Field(default=None, ge=-10, le=10, description="above 1 favours longer ones")
    repetition_penalty: float | None = Field(default=None, ge=0.1, le=10, description="above 1 disfavours pieces used")
    no_repeat_ngram_size: Annotated[int, Field(ge=0, le=100), as_whole] | None = Field(
        default=None, description="no run of so many pieces comes twice (0: any may)")
    temperature: float | None = Field(default=None, ge=0.01, le=100, description="of draws")
    top_k: Annotated[int, Field(ge=0, le=2**20), as_whole] | None = Field(
        default=None, description="draw from so many pieces (0: all)")
    top_p: float | None = Field(
        default=None, ge=0.001, le=1, description="draw from the fewest pieces that hold this probability")
    seed: Annotated[int, Field(ge=0, lt=2**53), as_whole] | None = Field(
        default=None, description="of draws: the same draws the same")


async def read_json(request: Request, kind: type[Body]) -> Body:
    """The body as a `kind`, whatever its Content-Type says (curl says it is a form); Refusal 400 where it is not."""
    try:
        return read_body(await request.body(), kind)
    except ValidationError as error:
        raise bad_request(error) from None


def read_body(body: bytes, kind: type[Body]) -> Body:
    """A JSON body; ValidationError where it is none, Refusal 400 where it is not UTF-8."""
    if is_utf16(body):
        raise Refusal(400, "bad_request", "the body is in UTF-16: send UTF-8")
    return kind.model_validate_json(body, strict=True)


def bad_request(error: ValidationError) -> Refusal:
    return Refusal(400, "bad_request", describe(error.errors(include_url=False, include_input=False)))


def describe(errors: Iterable[Any]) -> str:
    """The first of pydantic's findings as one line: the field and what is wrong with it."""
    first = next(iter(errors))
    place = ".".join(str(part)[:40] for part in first["loc"])
    said = {"missing": "missing", "extra_forbidden": "there is no such field"}.get(first["type"], first["msg"])
    return f"{place}: {said}" if place else said


def documents(kind: type[BaseModel], *, forms: type[BaseModel] | None = None) -> dict[str, Any]:
    """What OpenAPI is to say of a body that is a `kind` in JSON and, if that is taken too, a `forms` in a form."""
    content = {"application/json": {"schema": schema_of(kind)}}
    if forms is not None:
        content |= {media: {"schema": schema_of(forms)} for media in FORMS}
    return {"requestBody": {"required": True, "content": content}}


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
