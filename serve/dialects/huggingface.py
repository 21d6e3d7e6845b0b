"""The Hugging Face Hub's inference interface for the task `translation`: `InferenceClient(model="http://HOST:PORT")`.

A request names a text or a list of them and, in `parameters`, languages and `generate`'s settings.  The reply to one
text is a list with one object (`num_return_sequences` of them), that to a list has an entry a text.
"""

import re
from typing import Annotated, Any, Literal

from fastapi import APIRouter, HTTPException
from fastapi import Request as HttpRequest
from pydantic import BaseModel, ConfigDict, Field

from seq2see import __version__
from seq2see.serve.dialects.wire import (
    REFUSALS,
    From1,
    Pair,
    Text,
    Texts,
    Tuning,
    as_whole,
    by_kind,
    documents,
    find_language,
    read_json,
)
from seq2see.serve.jobs import Translation
from seq2see.serve.plan import Settings
from seq2see.serve.refusal import Refusal
from seq2see.serve.service import Request, Service

NOT_GET = ["DELETE", "HEAD", "OPTIONS", "PATCH", "POST", "PUT", "TRACE"]
# What transformers' clean_up_tokenization takes the space from.
SPACES = re.compile(r" (?=[.?!,]|n't|'m\b|'s\b|'ve\b|'re\b)")


class Generation(Tuning):
    """Settings of `generate`."""

    num_return_sequences: From1 | None = Field(default=None, description="translations of each text")
    max_length: Annotated[int, Field(ge=2), as_whole] | None = Field(
        default=None, description="max_new_tokens and the decoder's start")
    do_sample: bool | None = Field(default=None, description="draw; without it temperature, top_k and top_p are unused")


class Parameters(Generation):
    """Languages, and settings of `generate`, here or in `generate_parameters`."""

    src_lang: str | None = Field(default=None, min_length=1, description="language of the text (found out)")
    tgt_lang: str | None = Field(default=None, min_length=1, description="language to translate into (the first)")
    clean_up_tokenization_spaces: bool | None = Field(default=None, description="no space before punctuation")
    truncation: Literal["do_not_truncate", "longest_first", "only_first", "only_second"] | None = Field(
        default=None, description="unused: long texts are split, nothing is ever cut off")
    generate_parameters: Generation | None = Field(default=None, description="settings, as above")


class Inputs(BaseModel):
    """A text, or a list of them."""

    model_config = ConfigDict(json_schema_extra={"examples": [
        {"inputs": "The cat is tired."},
        {"inputs": ["The cat is tired.", "It was raining."], "parameters": {
            "src_lang": "en", "tgt_lang": "fr", "generate_parameters": {"num_beams": 4}}},
    ]})  # fmt: skip

    inputs: Annotated[Text | Texts, by_kind] = Field(description="a text, or a list of them")
    parameters: Parameters | None = Field(default=None, description="languages and settings")
    options: dict[str, Any] | None = Field(default=None, description="unused: the model is always there")


class Output(BaseModel):
    translation_text: str


class Info(BaseModel):
    """What `InferenceClient.get_endpoint_info` shows."""

    model_id: str
    model_pipeline_tag: Literal["translation"] = "translation"
    language_pairs: list[Pair]
    engine: str
    precision: str
    max_client_batch_size: int = Field(description="texts in a request, at most")
    max_input_length: int = Field(description="characters in a text, at most")
    version: str


def router(service: Service) -> APIRouter:
    """`POST /` and `/models/NAME`, which a client is given as its model; below each, `/info` and `/health`."""
    routes = APIRouter(tags=["Hugging Face"])

    async def answer(http: HttpRequest, name: str | None) -> list[Any]:
        body = await read_json(http, Inputs)
        caller = service.access.caller(http)
        service.check_ready()
        parameters = body.parameters or Parameters()
        pairs = service.models[_known(service, name)].language_pairs if name is not None else service.language_pairs
        found = await service.translate(
            Request(
                texts=(body.inputs,) if isinstance(body.inputs, str) else tuple(body.inputs),
                source=_language(parameters.src_lang, [pair[0] for pair in pairs]),
                target=_language(parameters.tgt_lang, [pair[1] for pair in pairs]),
                settings=settings_of(parameters),
                model=name,
            ),
            caller=caller,
        )
        outputs = [_outputs(one, clean=bool(parameters.clean_up_tokenization_spaces)) for one in found]
        if isinstance(body.inputs, str):
            return outputs[0]
        return outputs if any(len(one) > 1 for one in outputs) else [one[0] for one in outputs]

    shape: dict[str, Any] = {
        "response_model": list[Output] | list[list[Output]], "responses": REFUSALS, "openapi_extra": documents(Inputs)
    }  # fmt: skip

    @routes.get("/info", summary="The first model, and the limits", responses=REFUSALS)
    async def info() -> Info:
        service.check_ready()
        return _info(service, next(iter(service.models)))

    @routes.get("/models/{name:path}/info", summary="A model, and the limits", responses=REFUSALS)
    async def info_of(name: str) -> Info:
        return _info(service, _known(service, name))

    @routes.get("/models/{name:path}/health", summary="Whether a model is ready", responses=REFUSALS)
    async def health_of(name: str) -> dict[str, str]:
        _known(service, name)
        return {"status": "ok"}

    @routes.api_route("/models/{name:path}/info", methods=NOT_GET, include_in_schema=False)
    @routes.api_route("/models/{name:path}/health", methods=NOT_GET, include_in_schema=False)
    async def only_to_be_read() -> None:  # else the last route would take them for models of that name
        raise HTTPException(405, headers={"Allow": "GET"})

    @routes.post("/", summary="Translate with the model that has the pair of languages", **shape)
    async def translate(request: HttpRequest) -> list[Any]:
        return await answer(request, None)

    @routes.post("/models/{name:path}", summary="Translate with a model", **shape)
    async def translate_with(request: HttpRequest, name: str) -> list[Any]:
        return await answer(request, name)

    return routes


def settings_of(parameters: Parameters) -> Settings:
    """`generate`'s settings in our words."""
    names = Generation.model_fields
    asked = {name: getattr(parameters, name) for name in names}
    inner = parameters.generate_parameters
    asked |= {name: getattr(inner, name) for name in names if inner is not None and getattr(inner, name) is not None}
    draws, length, count = asked.pop("do_sample"), asked.pop("max_length"), asked.pop("num_return_sequences")
    if not draws:
        asked |= {"temperature": None, "top_k": None, "top_p": None}
    elif asked["temperature"] is None:
        asked["temperature"] = 1.0
    if length is not None and asked["max_new_tokens"] is None:
        asked["max_new_tokens"] = length - 1
    settings: Settings = {"alternatives": count}
    settings.update({name: value for name, value in asked.items() if value is not None})  # type: ignore[typeddict-item]
    return settings


def _language(code: str | None, known: list[str]) -> str | None:
    if code is None or not known:
        return code
    found = find_language(code, known)
    if found is None:
        languages = ", ".join(dict.fromkeys(known))
        raise Refusal(400, "unknown_language", f"{code[:20]} is not supported; there is {languages}")
    return found


def _known(service: Service, name: str) -> str:
    service.check_ready()
    if name not in service.models:
        raise Refusal(404, "unknown_model", f"no such model here: there is {', '.join(service.models)}")
    return name


def _info(service: Service, name: str) -> Info:
    translator = service.models[name]
    pairs = [list(pair) for pair in translator.language_pairs]
    return Info(model_id=name, language_pairs=pairs, engine=translator.engine.name,
                precision=translator.engine.precision, max_client_batch_size=service.settings.texts,
                max_input_length=service.settings.characters, version=__version__)


def _outputs(translation: Translation, *, clean: bool) -> list[dict[str, str]]:
    texts = [one.text for one in translation.hypotheses] or [translation.text]
    return [{"translation_text": SPACES.sub("", text) if clean else text} for text in texts]
