"""The Hugging Face Hub's inference interface for the task `translation`: `InferenceClient(model="http://HOST:PORT")`.

A request has a text or a list of texts and, in `parameters`, languages and `generate` options.  The response to one
text is a list with one object (or `num_return_sequences` objects).  The response to a list has one entry for each text.
"""

from typing import Annotated, Any, Literal

from fastapi import APIRouter, HTTPException, Request
from pydantic import BaseModel, ConfigDict, Field

from seq2see import __version__
from ...translate.decoding import DecodingOptions
from ...translate.results import Translation, Warned
from ..service import Service
from .bodies import Body, JSONRoute, Languages, OptionFields, Pair, Text, Texts, as_whole, by_kind, key_wanted


class Generation(OptionFields):
    """`generate` options."""

    alternatives: Annotated[int, Field(ge=1), as_whole] | None = Field(
        default=None, alias="num_return_sequences", description="number of translations of each text")
    max_length: Annotated[int, Field(ge=2), as_whole] | None = Field(
        default=None, description="max_new_tokens plus the decoder start token")
    do_sample: bool | None = Field(
        default=None, description="sample; without it, temperature, top_k and top_p are ignored")


class Parameters(Generation):
    """Languages and `generate` options; the options may also be in `generate_parameters`."""

    src_lang: str | None = Field(default=None, min_length=1, description="source language (default: detected)")
    tgt_lang: str | None = Field(default=None, min_length=1, description="target language (default: the model's first)")
    clean_up_tokenization_spaces: bool | None = Field(default=None, description="ignored: there are no such spaces")
    truncation: Literal["do_not_truncate", "longest_first", "only_first", "only_second"] | None = Field(
        default=None, description="ignored: long texts are split, never truncated")
    generate_parameters: Generation | None = Field(
        default=None, description="`generate` options; they override options outside")

    def options(self) -> DecodingOptions:
        """`generate_parameters` takes precedence; the sampling options count only with `do_sample`."""
        inner = self.generate_parameters.model_dump(exclude_none=True) if self.generate_parameters else {}
        merged = self.model_copy(update=inner)
        if not merged.do_sample:
            merged.temperature = merged.top_k = merged.top_p = None
        elif merged.temperature is None:
            merged.temperature = 1.0
        if merged.max_length is not None and merged.max_new_tokens is None:
            merged.max_new_tokens = merged.max_length - 1
        return Generation.options(merged)


class Inputs(Body):
    """A text or a list of texts."""

    model_config = ConfigDict(json_schema_extra={"examples": [
        {"inputs": "The cat is tired."},
        {"inputs": ["The cat is tired.", "It was raining."], "parameters": {
            "src_lang": "en", "tgt_lang": "fr", "generate_parameters": {"num_beams": 4}}},
    ]})

    inputs: Annotated[Text | Texts, by_kind] = Field(description="a text or a list of texts")
    parameters: Parameters | None = Field(default=None, description="languages and options")
    options: dict[str, Any] | None = Field(default=None, description="ignored: the model is always loaded")


class Output(BaseModel):
    translation_text: str = Field(description="the translation")
    warnings: list[Warned] | None = Field(
        default=None, description="signs that the best translation went wrong, if there are any: `unchanged`, "
        "`too_short` or `cut_off`")


class Info(BaseModel):
    """The response to `InferenceClient.get_endpoint_info`."""

    model_id: str = Field(description="name of the model")
    model_pipeline_tag: Literal["translation"] = Field(default="translation", description="the task")
    language_pairs: list[Pair] | None = Field(
        description="source and target of each pair; null for more than 1,000 (see languages)")
    languages: list[Languages] = Field(description="the same pairs as products: each source with each target")
    engine: str = Field(description="the engine: `ctranslate2` or `torch`")
    precision: str = Field(description="the precision of its weights, such as `int8`")
    max_client_batch_size: int = Field(description="maximum texts in a request")
    max_input_length: int = Field(description="maximum characters in a text")
    version: str = Field(description="version of Seq2See")


def router(service: Service) -> APIRouter:
    """The routes: `POST /` and `/models/NAME`, a client's address of a model; `/info` and `/health` below each."""
    routes = APIRouter(tags=["Hugging Face"], route_class=JSONRoute)

    @routes.get("/info", summary="Describe the first model and its limits")
    @routes.get("/models/{model:path}/info", summary="Describe a model and its limits")
    async def info(model: str | None = None) -> Info:
        service.check_ready()
        name, one = next(iter(service.named(model).items()))
        return Info(model_id=name, language_pairs=one.language_pairs.listed(),
                    languages=Languages.of(one.language_pairs), engine=one.engine.name, precision=one.engine.precision,
                    max_client_batch_size=service.settings.texts,
                    max_input_length=service.settings.characters, version=__version__)

    @routes.get("/models/{model:path}/health", summary="Check whether a model is ready")
    async def health(model: str) -> dict[str, str]:
        await info(model)
        return {"status": "ok"}

    @routes.post("/models/{model:path}/info", include_in_schema=False)
    @routes.post("/models/{model:path}/health", include_in_schema=False)
    async def only_get() -> None:  # the next route would take these for model names
        raise HTTPException(405, headers={"Allow": "GET"})

    @routes.post("/", summary="Translate with the first model that has the language pair",
                 response_model=list[Output] | list[list[Output]], response_model_exclude_none=True,
                 dependencies=key_wanted(service))
    @routes.post("/models/{model:path}", summary="Translate with the named model",
                 response_model=list[Output] | list[list[Output]], response_model_exclude_none=True,
                 dependencies=key_wanted(service))
    async def translate(body: Inputs, request: Request, model: str | None = None) -> list[Any]:
        caller, parameters = service.access.authenticate(request), body.parameters or Parameters()
        texts = [body.inputs] if isinstance(body.inputs, str) else body.inputs
        options = parameters.options()
        found = await service.translate(texts, caller=caller, source=parameters.src_lang, target=parameters.tgt_lang,
                                        model=model, options=options)
        outputs = [*map(_outputs, found)]
        if isinstance(body.inputs, str):
            return outputs[0]
        return outputs if (options.alternatives or 1) > 1 else [one[0] for one in outputs]

    return routes


def _outputs(result: Translation) -> list[dict[str, Any]]:
    """The hypotheses of a text, the first with the warnings of the translation."""
    first, *others = [one.text for one in result.hypotheses] or [result.text]
    return [{"translation_text": first, "warnings": result.warnings or None},
            *({"translation_text": text} for text in others)]
