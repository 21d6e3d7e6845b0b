"""The Hugging Face Hub's inference interface for the task `translation`: `InferenceClient(model="http://HOST:PORT")`.

A request names a text or a list of them and, in `parameters`, languages and `generate`'s options.  The reply to one
text is a list with one object (`num_return_sequences` of them), that to a list has an entry a text.
"""

import re
from typing import Annotated, Any, Literal

from fastapi import APIRouter, HTTPException, Request
from pydantic import BaseModel, ConfigDict, Field

from seq2see import __version__
from ...translate.decoding import DecodingOptions
from ...translate.results import Translation
from ..service import Service
from .bodies import Body, JSONRoute, OptionFields, Pair, Text, Texts, as_whole, by_kind, key_wanted

# What transformers' clean_up_tokenization takes the space from.
SPACES = re.compile(r" (?=[.?!,]|n't|'m\b|'s\b|'ve\b|'re\b)")


class Generation(OptionFields):
    """Options of `generate`."""

    alternatives: Annotated[int, Field(ge=1), as_whole] | None = Field(
        default=None, alias="num_return_sequences", description="translations of each text")
    max_length: Annotated[int, Field(ge=2), as_whole] | None = Field(
        default=None, description="max_new_tokens and the decoder's start")
    do_sample: bool | None = Field(
        default=None, description="sample; without it temperature, top_k and top_p are unused")


class Parameters(Generation):
    """Languages, and options of `generate`, here or in `generate_parameters`."""

    src_lang: str | None = Field(default=None, min_length=1, description="language of the text (detected)")
    tgt_lang: str | None = Field(default=None, min_length=1, description="language to translate into (the first)")
    clean_up_tokenization_spaces: bool | None = Field(default=None, description="no space before punctuation")
    truncation: Literal["do_not_truncate", "longest_first", "only_first", "only_second"] | None = Field(
        default=None, description="unused: long texts are split, nothing is ever cut off")
    generate_parameters: Generation | None = Field(default=None, description="options, as above")

    def options(self) -> DecodingOptions:
        """The inner ones count; `do_sample` decides whether those of sampling do."""
        inner = self.generate_parameters.model_dump(exclude_none=True) if self.generate_parameters else {}
        asked = self.model_copy(update=inner)
        if not asked.do_sample:
            asked.temperature = asked.top_k = asked.top_p = None
        elif asked.temperature is None:
            asked.temperature = 1.0
        if asked.max_length is not None and asked.max_new_tokens is None:
            asked.max_new_tokens = asked.max_length - 1
        return Generation.options(asked)


class Inputs(Body):
    """A text, or a list of them."""

    model_config = ConfigDict(json_schema_extra={"examples": [
        {"inputs": "The cat is tired."},
        {"inputs": ["The cat is tired.", "It was raining."], "parameters": {
            "src_lang": "en", "tgt_lang": "fr", "generate_parameters": {"num_beams": 4}}},
    ]})  # fmt: skip

    inputs: Annotated[Text | Texts, by_kind] = Field(description="a text, or a list of them")
    parameters: Parameters | None = Field(default=None, description="languages and options")
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
    routes = APIRouter(tags=["Hugging Face"], route_class=JSONRoute)

    @routes.get("/info", summary="The first model, and the limits")
    @routes.get("/models/{model:path}/info", summary="A model, and the limits")
    async def info(model: str | None = None) -> Info:
        service.check_ready()
        name, one = next(iter(service.named(model).items()))
        return Info(model_id=name, language_pairs=[list(pair) for pair in one.language_pairs], engine=one.engine.name,
                    precision=one.engine.precision, max_client_batch_size=service.settings.texts,
                    max_input_length=service.settings.characters, version=__version__)

    @routes.get("/models/{model:path}/health", summary="Whether a model is ready")
    async def health(model: str) -> dict[str, str]:
        await info(model)
        return {"status": "ok"}

    @routes.post("/models/{model:path}/info", include_in_schema=False)
    @routes.post("/models/{model:path}/health", include_in_schema=False)
    async def only_get() -> None:  # the next route would take these for names of models
        raise HTTPException(405, headers={"Allow": "GET"})

    @routes.post("/", summary="Translate with the model that has the pair of languages",
                 response_model=list[Output] | list[list[Output]], dependencies=key_wanted(service))
    @routes.post("/models/{model:path}", summary="Translate with a model",
                 response_model=list[Output] | list[list[Output]], dependencies=key_wanted(service))
    async def translate(body: Inputs, request: Request, model: str | None = None) -> list[Any]:
        caller, parameters = service.access.caller(request), body.parameters or Parameters()
        texts = [body.inputs] if isinstance(body.inputs, str) else body.inputs
        found = await service.translate(texts, caller=caller, source=parameters.src_lang, target=parameters.tgt_lang,
                                        model=model, options=parameters.options())
        outputs = [_outputs(one, clean=bool(parameters.clean_up_tokenization_spaces)) for one in found]
        if isinstance(body.inputs, str):
            return outputs[0]
        return outputs if any(len(one) > 1 for one in outputs) else [one[0] for one in outputs]

    return routes


def _outputs(translation: Translation, *, clean: bool) -> list[dict[str, str]]:
    texts = [one.text for one in translation.hypotheses] or [translation.text]
    return [{"translation_text": SPACES.sub("", text) if clean else text} for text in texts]
