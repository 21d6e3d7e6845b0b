"""Our own API: `/v1/translate`, `/v1/look` and `/v1/models`, with features that the other APIs lack."""

import asyncio
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Request, Response
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, Strict
from pydantic_core import PydanticKnownError

from seq2see.errors import UserError
from seq2see.importing import IMPORTS
from ...lens.data.view_names import SLOW, ViewName
from ...lens.measurements import NOTHING
from ...lens.records.roles import measured_record
from ...lens.show.trace_page import trace_record
from ...lens.trace import Trace
from ...passes.attention_kinds import Kind
from ...text.glossary import LONGEST_TERM, Glossary
from ...text.protection import LONGEST_PATTERN
from ...tokenizer.words import TokenSpan
from ...translate.results import Doubt, Hypothesis, Translation, Warned
from ...translate.translator import Translator
from ..access import Caller
from ..api_errors import APIError
from ..language_detection import other_language_of
from ..limits import bounded, check_look_size, check_passes
from ..pivot import Pivot
from ..service import LONG_TEXT, Service, own_codes
from ..settings import ServerSettings
from .bodies import (
    GIVEN,
    OTHER_LANGUAGE,
    TARGET_IDS,
    From0,
    JSONRoute,
    Languages,
    OptionFields,
    Pair,
    TargetIds,
    key_wanted,
)
from .without_heads import without_heads

MOST_TERMS = 200  # of a glossary
Term = Annotated[str, Field(min_length=1, max_length=LONGEST_TERM)]
texts_of_words = BeforeValidator(lambda words: words and [word.text for word in words])
source_terms = BeforeValidator(lambda terms: [source for source, _ in terms])
HeadName = Annotated[tuple[Kind, From0, From0], Strict(False)]  # JSON has no tuple


def as_object(value: Any) -> Any:
    """Rejects anything but a JSON object, in the words of JSON."""
    if not isinstance(value, dict):
        raise PydanticKnownError("model_attributes_type")
    return value


class RequestBody(OptionFields):
    """Decoding options; defaults come from the checkpoint.  Any of temperature, top_k and top_p turns on sampling."""

    source: str | None = Field(default=None, min_length=1, description="source language (default: detected)")
    target: str | None = Field(default=None, min_length=1, description="target language (default: the model's first)")
    model: str | None = Field(default=None, description="name of the model (default: the first with the language pair)")
    prefix: str = Field(default="", description="text that every hypothesis must start with")

    def arguments(self) -> dict[str, Any]:
        """The arguments for the service."""
        return {"source": self.source, "target": self.target, "model": self.model, "prefix": self.prefix,
                "options": self.options()}


class TranslateBody(RequestBody):
    model_config = ConfigDict(json_schema_extra={"examples": [
        {"texts": ["The cat is tired.", "It was raining."], "source": "en", "target": "fr", "alternatives": 3},
    ]})

    texts: list[str] = Field(min_length=1, description="the texts to translate")
    format: Literal["text", "html"] = Field(default="text", description="`html` keeps the markup")
    keep: str = Field(
        default="", max_length=LONGEST_PATTERN, description="a regular expression; its matches stay unchanged, like "
        "other protected text")
    glossary: Annotated[dict[Term, Term], BeforeValidator(as_object)] = Field(
        default={}, max_length=MOST_TERMS, description="terms of the source language, each with its exact "
        "translation; a term with itself as translation is not translated")

    check: bool = Field(
        default=False, description="also report words of the translation that the model finds unlikely, and source "
        "words that may be missing from the translation; translating then takes two to three times as long")

    def forced(self) -> Glossary | None:
        try:
            return Glossary.of(self.glossary) if self.glossary else None
        except UserError as error:
            raise APIError(400, "invalid", str(error)) from None


class LookBody(RequestBody):
    model_config = ConfigDict(json_schema_extra={"examples": [
        {"text": "The cat is tired.", "source": "en", "target": "fr", "maps": ["cross"], "views": ["raw"]},
    ]})

    text: str = Field(description="the text to translate and trace")
    alternative: From0 = Field(default=0, description="index of the hypothesis to trace; 0: the best")
    maps: list[Kind] = Field(default=[], description="kinds of attention to return")
    views: list[ViewName] = Field(default=["raw"], description="views of these maps; all but raw take time")
    translation: str | None = Field(
        default=None, min_length=1, description="trace this translation of the text (a sentence or two) instead of "
        "translating")
    target_ids: TargetIds | None = Field(default=None, description=TARGET_IDS)
    given: From0 = Field(default=0, description=GIVEN)
    evidence: bool = Field(
        default=False, description="also return word links, candidate words, and the odds of each word without each "
        "head and without each source word")
    head_seconds: float = Field(
        default=10, ge=0, description="with evidence: maximum seconds for switching off every head; over this limit, "
        "`heads` is empty and `heads_take` has the estimated seconds")
    others: list[str] = Field(
        default=[], max_length=4, description="with evidence: other source texts; the response has the odds of the "
        "same translation for each")
    without: list[HeadName] = Field(
        default=[], max_length=4096, description="translate with these heads (kind, layer, head) replaced by their "
        "means, and once more with every head; PyTorch computes both")


class OneTranslation(BaseModel):
    """The translation of one text."""

    text: str = Field(description="the best translation")
    source_language: str = Field(description="the model's code of the source language")
    target_language: str = Field(description="the model's code of the target language")
    hypotheses: list[Hypothesis] = Field(
        description="best first; empty for a text without words, which is returned unchanged. Hypotheses that lost a "
        "sentence are omitted, and each text occurs once")
    unknown_words: Annotated[list[str] | None, texts_of_words] = Field(
        description="source words that are not in the training text; null: unknown for this model")
    doubts: list[Doubt] = Field(
        description="words that make the translation doubtful, each once; unknown and invented words only if the "
        "model's training text is known")
    missing_terms: Annotated[list[str], source_terms] = Field(
        default=[], description="source terms of the glossary whose translation is missing from the text; empty "
        "without a glossary")
    one_by_one: bool = Field(
        description="true: sentences were translated one by one, because translating them together changed their "
        "number")
    warnings: list[Warned] = Field(
        description="signs that the translation went wrong. `unchanged`: it, or a part, is the same as the source; "
        "`too_short`: it, or a part, is far shorter; `cut_off`: it reached the maximum length")
    other_language: str | None = Field(
        default=None, description=f"{OTHER_LANGUAGE}; null: the source language, or in doubt")
    engine: str = Field(description="the engine: `ctranslate2` or `torch`")
    precision: str = Field(description="the precision of its weights, such as `int8`")
    pivot: Pivot | None = Field(
        default=None, description="the intermediate step if two models translated the text, one after the other; "
        "null: one model did. log_prob and score are then those of the second model, given the intermediate text, and "
        "unknown_words those of the first")

    @classmethod
    def of(cls, found: Translation) -> "OneTranslation":
        return cls.model_validate(found, from_attributes=True).model_copy(
            update={"other_language": other_language_of(found)})


class TranslateReply(BaseModel):
    translations: list[OneTranslation] = Field(description="one for each text, in order")


class Map(BaseModel):
    """A map in base64; decode it with `numpy.frombuffer(base64.b64decode(data), dtype).reshape(shape)`."""

    shape: list[int] = Field(description="the axes: see OneTrace.maps")
    dtype: Literal["<f2"] = Field(description="float16, least significant byte first")
    data: str = Field(description="base64, row by row")


class Effect(BaseModel):
    """The effect of one intervention on each word of the translation, in the order of `words.target`."""

    log_odds: list[float] = Field(description="log-odds of each word with the intervention, in nats")
    steps: list[int] = Field(description="for each word, the step of its most affected token")
    instead: list[str | None] = Field(description="the word that the model would write instead; null: the same word")


class HeadEffect(Effect):
    """The effect of replacing one head by its mean output."""

    kind: Kind = Field(description="kind of attention")
    layer: int = Field(description="layer, from 0")
    head: int = Field(description="head, from 0")


class CandidateWord(BaseModel):
    """An alternative for one word of the translation."""

    text: str = Field(description="the word")
    probability: float = Field(description="product of the probabilities of its tokens")
    first: float = Field(description="probability of its first token")
    whole: bool = Field(description="whether its end is known")


class Evidence(BaseModel):
    """The dependence of each word of the translation; a word's odds are P / (1 - P), where P is its probability."""

    log_odds: list[float] = Field(
        description="log-odds of each word of `words.target`, in nats; calibrated if the model has a calibration")
    heads: list[HeadEffect] = Field(description="effect of switching off each head; empty if it would take too long")
    heads_take: float | None = Field(
        description="estimated seconds for switching off every head, if over `head_seconds`; otherwise null")
    averaged_over: int = Field(description="number of sentences in the heads' mean outputs; 0: this one only")
    erased: list[Effect] = Field(description="effect of erasing each source word")
    others: list[Effect] = Field(description="effect of each other source text")
    candidates: list[list[CandidateWord]] = Field(description="alternatives for each word, the most probable first")
    ends: list[float] = Field(description="probability that each word ends where it does")
    links: list[list[float]] = Field(description="word links: source word, target word and strength")
    source_share: list[float] = Field(
        description="share of each word that comes from the source (ALTI+); the rest comes from the translation so far")


class OneTrace(BaseModel):
    """The trace of one hypothesis, with T steps, S source tokens, L layers and H heads.

    The fields without a description here are those of a trace file.
    """

    model_config = ConfigDict(extra="allow")

    source: list[TokenSpan] = Field(description="the S source tokens")
    target: list[TokenSpan] = Field(description="T tokens: the one that each step predicts")
    inputs: list[TokenSpan] = Field(description="T tokens: the one that each step reads")
    log_prob: float = Field(description="log-probability of the hypothesis under the float32 weights, in nats")
    log_probs: list[float] = Field(
        description="log-probability of each step's token, in nats; `entropies` has the entropy of each step")
    top: list[list[dict[str, Any]]] = Field(description="the 20 best tokens of each step: id, text and log_prob")
    calibrated: dict[str, Any] | None = Field(
        description="the calibrated values: the `smoothing`, `temperature` and `curve` (points of log-odds before "
        "and after) used, log_probs, entropies, and the log_probs of the tokens in `top`; null: the model has no "
        "calibration")
    given: int = Field(description="number of forced tokens at the start (a language tag, the prefix)")
    labels: dict[str, list[str]] = Field(description="display text of the tokens in source, target and inputs")
    words: dict[str, list[dict[str, Any]]] = Field(
        description="source, target and inputs by words: text, pieces (indices of tokens), word (its index), start "
        "and end")
    texts: dict[str, str] | None = Field(
        default=None, description="the source and its translation with protected text, if the model read and wrote "
        "stand-ins; `words` then refers to these texts")
    antecedent: dict[str, int] | None = Field(
        default=None, description="indices of words: the source pronoun, its antecedent in the source, and the "
        "pronoun in the translation; null unless switching off the responsible head confirms it")
    evidence: Evidence | None = Field(default=None, description="the dependence of each word, if requested")
    maps: dict[str, dict[str, Map]] = Field(
        description="maps by kind and view: encoder [L,H,S,S], decoder [L,H,T,T], cross [L,H,T,S]; rows of raw sum to "
        "1. rollout, mixing and contributions have no H. left_out is cross [T, source words]. Attributions have no "
        "encoder map; gradient_x_activation has L but no H, the others have neither")


class LookReply(BaseModel):
    translation: OneTranslation | None = Field(
        description="the translation; null if the request contained it.  Of a text of one segment, the "
        "log-probabilities and what follows from them are those of the float32 weights")
    with_every_head: OneTranslation | None = Field(
        default=None, description="with `without`: the translation by the same engine with the same options and every "
        "head, for comparison")
    traces: list[OneTrace] = Field(description="one; for a long text, one for each segment")
    measured: dict[str, Any] = Field(
        description="measurements of the model's heads: roles confirmed on held-out sentences, with interval and "
        "baseline, and the ROC AUC of pronouns without each head; empty with `without`, because they are for the "
        "whole model")


class OneModel(BaseModel):
    name: str = Field(description="the name for requests")
    language_pairs: list[Pair] | None = Field(
        description="source and target of each pair; empty if the checkpoint names none; null for more than 1,000 "
        "(see languages)")
    languages: list[Languages] = Field(description="the same pairs as products: each source with each target")
    engine: str = Field(description="the engine: `ctranslate2` or `torch`")
    precision: str = Field(description="the precision of its weights, such as `int8`")


class ModelsReply(BaseModel):
    models: list[OneModel] = Field(description="in the server's order; the first is the default")
    pivot: str | None = Field(
        default=None, description="the language through which two models translate a pair that no single model has; "
        "null: the server does not do this")
    pivoted: list[Languages] = Field(
        default=[], description="the pairs that two models translate through `pivot`; these translations cannot be "
        "traced")


def router(service: Service) -> APIRouter:
    routes = APIRouter(prefix="/v1", tags=["Seq2See"], route_class=JSONRoute)
    wanted = key_wanted(service)

    @routes.post("/translate", summary="Translate texts", dependencies=wanted,
                 description="No sentence is lost: if translating sentences together changes their number, they are "
                             "translated one by one, and one_by_one is true. Addresses, files, placeholders, "
                             "quantities and emoji stay unchanged, and so does a text without words.")
    async def translate(body: TranslateBody, request: Request) -> TranslateReply:
        caller = service.access.authenticate(request)
        results = await service.translate(body.texts, caller=caller, format=body.format, keep=body.keep,
                                          glossary=body.forced(), check=body.check, **body.arguments())
        if sum(map(len, body.texts)) < LONG_TEXT:  # a thread would take longer
            return TranslateReply(translations=[*map(OneTranslation.of, results)])
        return TranslateReply(translations=await asyncio.to_thread(lambda: [*map(OneTranslation.of, results)]))

    @routes.post("/look", summary="Translate a text and return its trace: attention maps and probabilities",
                 dependencies=wanted, response_model=LookReply,
                 description="The response is compressed with gzip if the client accepts it.")
    async def look(body: LookBody, request: Request) -> Response:
        reply = await look_reply(service, body, service.access.authenticate(request))
        return Response(reply, media_type="application/json")

    @routes.get("/models", summary="List the served models")
    async def models() -> ModelsReply:
        return ModelsReply(models=[
            OneModel(name=name, language_pairs=one.language_pairs.listed(), languages=Languages.of(one.language_pairs),
                     engine=one.engine.name, precision=one.engine.precision)
            for name, one in service.models.items()
        ], pivot=service.settings.pivot, pivoted=Languages.of(service.pivoted_pairs))

    return routes


async def look_reply(service: Service, body: LookBody, caller: Caller) -> str:
    """The response of `/v1/look`, as JSON."""
    if body.target_ids and body.translation is None:
        raise APIError(400, "invalid", "target_ids: also send the translation that they spell")
    traced, request, pair = None, body.arguments(), own_codes(body.source, body.target)
    if body.translation is None and not body.without:
        result, traces = await service.translate_and_look(body.text, caller=caller, alternative=body.alternative,
                                                          views=body.views, evidence=body.evidence, **request)
        traced, pair = TracedAnswer(traces, result), (result.source_language, result.target_language)
    model, settings = service.model_for(body.model, *pair), service.settings

    def finish(translator: Translator) -> str:
        if not traced and (body.evidence or set(SLOW) & set(body.views)):
            check_passes(translator, [(body.text, body.translation or body.text)], language=body.source or "",
                         evidence=body.evidence, views=body.views, most=settings.look_tokens)
        answer = traced or _traced_by_model(translator, body, settings)
        if answer.translation and not body.without and len(answer.traces) == 1:
            answer = replace(answer, translation=translator.rescored(answer.translation, answer.traces[0]))
        records = [_one_trace(translator, one, body) for one in answer.traces]
        known = NOTHING if answer.with_every_head else translator.measurements
        return json.dumps({
            "translation": _plain(answer.translation),
            "with_every_head": _plain(answer.with_every_head),
            "traces": records,
            "measured": measured_record(known.roles, known.pronoun_effects),
        }, ensure_ascii=False)

    if traced and not body.evidence:
        return await asyncio.to_thread(finish, service.models[model])
    check_look_size(body.text, body.translation or "", *body.others, target_ids=body.target_ids,
                    limits=service.settings)
    return await service.examine(body.text, finish, caller=caller, model=model, options=request["options"],
                                 prefix=body.prefix)


@dataclass(frozen=True)
class TracedAnswer:
    """The traces, the translation unless it was given, and the translation with every head if some are off."""

    traces: Sequence[Trace]
    translation: Translation | None = None
    with_every_head: Translation | None = None


def _plain(result: Translation | None) -> dict[str, Any] | None:
    return None if result is None else OneTranslation.of(result).model_dump()


def _traced_by_model(translator: Translator, body: LookBody, settings: ServerSettings) -> TracedAnswer:
    """The trace of the given translation or, without one, the translation without some heads."""
    source, target = own_codes(body.source, body.target)
    if body.translation is not None:
        return TracedAnswer([translator.look_at(body.text, body.translation, source=source, target=target,
                                                views=body.views,
                                          target_ids=body.target_ids, given=body.given)])
    with without_heads(translator, body.text, body.without, source=source, target=target, prefix=body.prefix,
                       options=bounded(body.options(), translator, settings)) as (model, result, whole):
        return TracedAnswer(model.look(result, alternative=body.alternative, views=body.views), result, whole)


def _antecedent(translator: Translator, trace: Trace) -> dict[str, int] | None:
    """The antecedent of the pronoun, for a text whose words are all known to a model with measured roles."""
    seen, known = translator.seen_words(trace.source_language), translator.measurements
    if not (known.nouns and seen) or Translation.of(
            trace.source_text, (), source_language=trace.source_language, target_language=trace.target_language,
            engine="", precision="", seen=seen).unknown_words:
        return None
    with IMPORTS:
        from ...lens.changes.means import head_means
        from ...lens.questions.antecedent import antecedent

    with translator.inside() as (model, tokenizer):
        means, _ = head_means(model, tokenizer, trace, translator.files)
        result = antecedent(model, tokenizer, trace, roles=known.roles, nouns=known.nouns, means=means)
    return asdict(result) if result else None


def _one_trace(translator: Translator, trace: Trace, body: LookBody) -> dict[str, Any]:
    record = trace_record(trace, kinds=body.maps) | {"antecedent": _antecedent(translator, trace)}
    if not body.evidence:
        return record
    with IMPORTS:
        from ...lens.questions.evidence import evidence_of

    choice = translator.known_choice
    with translator.inside() as (model, tokenizer):
        evidence = evidence_of(model, tokenizer, trace, folder=translator.files, choice=choice, others=body.others,
                               seconds=body.head_seconds)
    return record | {"evidence": evidence}
