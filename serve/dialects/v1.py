"""Our own API: `/v1/translate`, `/v1/look` and `/v1/models`, with features that the other APIs lack."""

import asyncio
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Request, Response
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, Strict
from pydantic_core import PydanticKnownError

from seq2see.errors import UserError
from seq2see.importing import IMPORTS
from ...lens.explorer import measured_record, trace_record
from ...lens.kinds import Kind
from ...lens.trace import Trace
from ...lens.views import SLOW, ViewName
from ...tokenizer.protected import LONGEST_PATTERN, Protection
from ...tokenizer.terms import LONGEST_TERM
from ...tokenizer.words import TokenSpan
from ...translate.glossary import Glossary
from ...translate.marks import words_shown
from ...translate.measurements import NOTHING
from ...translate.results import Hypothesis, Translation
from ...translate.translator import Translator
from ..access import Caller
from ..api_errors import APIError
from ..language_detection import other_language
from ..limits import bounded, check_look_size, check_passes
from ..pivot import Pivot
from ..service import LONG_TEXT, Service
from ..settings import ServerSettings
from .bodies import GIVEN, TARGET_IDS, From0, JSONRoute, Languages, OptionFields, Pair, TargetIds, key_wanted
from .without_heads import without_heads

MOST_TERMS = 200  # of a glossary
Term = Annotated[str, Field(min_length=1, max_length=LONGEST_TERM)]
HeadName = Annotated[tuple[Kind, From0, From0], Strict(False)]  # JSON has no tuple


def as_object(value: Any) -> Any:
    """Rejects anything but a JSON object, in the words of JSON."""
    if not isinstance(value, dict):
        raise PydanticKnownError("model_attributes_type")
    return value


class RequestBody(OptionFields):
    """Decoding options; defaults come from the checkpoint.  Any of temperature, top_k and top_p turns on sampling."""

    source: str | None = Field(default=None, min_length=1, description="source language (default: detected)")
    target: str | None = Field(default=None, min_length=1, description="target language (default: the first)")
    model: str | None = Field(default=None, description="name of the model (default: the first with the language pair)")
    prefix: str = Field(default="", description="text that every hypothesis must start with")

    def arguments(self) -> dict[str, Any]:
        """The arguments for the service."""
        return {"source": self.source, "target": self.target, "model": self.model, "prefix": self.prefix,
                "options": self.options()}


class TranslateBody(RequestBody):
    model_config = ConfigDict(json_schema_extra={"examples": [
        {"texts": ["The cat is tired.", "It was raining."], "source": "en", "target": "fr", "alternatives": 3},
    ]})  # fmt: skip

    texts: list[str] = Field(min_length=1, description="texts to translate")
    format: Literal["text", "html"] = Field(default="text", description="`html` keeps the markup")
    keep: str = Field(default="", max_length=LONGEST_PATTERN, description="a regular expression: what it matches stays "
                      "as it is, beside what is protected anyway")
    glossary: Annotated[dict[Term, Term], BeforeValidator(as_object)] = Field(
        default={}, max_length=MOST_TERMS, description="terms of the source language and what the translation writes "
        "for each, word for word; a term that stands for itself is not translated")

    def forced(self) -> Glossary | None:
        try:
            return Glossary.of(self.glossary) if self.glossary else None
        except UserError as error:
            raise APIError(400, "invalid", str(error)) from None


class LookBody(RequestBody):
    model_config = ConfigDict(json_schema_extra={"examples": [
        {"text": "The cat is tired.", "source": "en", "target": "fr", "maps": ["cross"], "views": ["raw"]},
    ]})  # fmt: skip

    text: str = Field(description="what to translate and look into")
    alternative: From0 = Field(default=0, description="which of the alternatives to look into; 0: the best")
    maps: list[Kind] = Field(default=[], description="which kinds of attention to send")
    views: list[ViewName] = Field(default=["raw"], description="which views of them; all but raw take time")
    translation: str | None = Field(default=None, min_length=1, description="look at this translation of the text, a "
                                    "sentence or two, instead of translating")
    target_ids: TargetIds | None = Field(default=None, description=TARGET_IDS)
    given: From0 = Field(default=0, description=GIVEN)
    evidence: bool = Field(default=False, description="also return word links, candidate words, and what each word "
                           "depends on: its odds without each head and without each source word")
    head_seconds: float = Field(default=10, ge=0, description="with evidence: the seconds that switching off every "
                                "head may take; over that evidence has no heads, and heads_take the seconds")
    others: list[str] = Field(default=[], max_length=4, description="with evidence: other source texts, to compare how "
                              "confident the model is of the same translation given them")
    without: list[HeadName] = Field(default=[], max_length=4096, description="translate with these heads (kind, layer, "
                                    "head) replaced by their means, and also with every head, both by PyTorch")


class OneTranslation(BaseModel):
    """The translation of one text."""

    text: str
    source_language: str
    target_language: str
    hypotheses: list[Hypothesis] = Field(
        description="best first; empty for a text without words, which is returned unchanged; those that lost a "
                    "sentence are omitted, and a text found twice stands once.  probability: the calibrated chance "
                    "that a reference is the same, of the best one alone, where it is known to hold; odds: how many "
                    "times as probable as the best one the model finds it")
    unknown_words: Annotated[
        list[str] | None, BeforeValidator(lambda words: words and [word.text for word in words])
    ] = Field(description="words not seen in training; null: unknown for this model")
    one_by_one: bool = Field(description="whether sentences were translated one by one, because translating them "
                                         "together changed their number")
    other_language: str | None = Field(
        default=None, description="the language (ISO 639-1) that the text seems to be in, if that is not "
                                  "source_language: then the translation is a guess; `und`: not clear which; null: "
                                  "source_language, or in doubt")
    engine: str
    precision: str
    pivot: Pivot | None = Field(default=None, description="if two models translated it, one after the other: the "
                                "language between, the text in it, and their names.  Then log_prob and score are the "
                                "second one's, given that text; unknown_words are of the first.  null: one model did")

    @classmethod
    def of(cls, found: Translation) -> "OneTranslation":
        text = " ".join(one.source_text for one in found.parts) if found.has_markup else found.source_text
        return cls.model_validate(found, from_attributes=True).model_copy(
            update={"other_language": other_language(text, found.source_language)})


class TranslateReply(BaseModel):
    translations: list[OneTranslation] = Field(description="one per text, in order")


class Map(BaseModel):
    """A map in base64; decode it with `numpy.frombuffer(base64.b64decode(data), dtype).reshape(shape)`."""

    shape: list[int]
    dtype: Literal["<f2"] = Field(description="float16, least significant byte first")
    data: str = Field(description="base64, row by row")


class OneTrace(BaseModel):
    """The trace of one hypothesis, with T steps, S source tokens, L layers and H heads.

    The fields without a description here are those of a trace file.
    """

    model_config = ConfigDict(extra="allow")

    source: list[TokenSpan] = Field(description="S tokens")
    target: list[TokenSpan] = Field(description="T tokens: the one each step predicts")
    inputs: list[TokenSpan] = Field(description="T tokens: the one each step reads")
    log_prob: float = Field(description="of the hypothesis under the float32 weights")
    log_probs: list[float] = Field(description="of each step, in nats; entropies likewise")
    top: list[list[dict[str, Any]]] = Field(description="the best 20 tokens of each step: id, text and log_prob")
    calibrated: dict[str, Any] | None = Field(
        description="calibrated values: the smoothing and temperature removed, log_probs, entropies, and the "
                    "log_probs of the tokens in top; null: the model has no calibration")
    given: int = Field(description="number of forced tokens at the start (a language tag, the prefix)")
    labels: dict[str, list[str]] = Field(description="display text of the tokens in source, target and inputs")
    words: dict[str, list[dict[str, Any]]] = Field(
        description="the same by words: text, pieces (its tokens), word, start and end")
    texts: dict[str, str] | None = Field(
        default=None, description="the source as it was sent and its translation, where the model read and wrote "
                                  "stand-ins for protected text; then `words` are words of these")
    antecedent: dict[str, int] | None = Field(
        default=None, description="indices of words: the source pronoun, the source noun that the model treats it as, "
                                  "and the pronoun written; null unless switching off the head that was measured to "
                                  "find it shows it")
    evidence: dict[str, Any] | None = Field(
        default=None, description="links: source word, target word, share.  log_odds, in nats, of each of "
                                  "words.target: ln(P / (1 - P)), P the calibrated chance of the whole word.  heads, "
                                  "erased (one per source word) and others: log_odds without them, steps (where they "
                                  "change most) and instead (the word that would be written).  candidates: per word, "
                                  "with the product of token probabilities.  ends: per word, the chance that "
                                  "it does not go on.  source_share: of each of words.target, how much came from the "
                                  "source (ALTI+, the view contributions); the rest from the translation before it")
    maps: dict[str, dict[str, Map]] = Field(
        description="by kind and view: encoder [L,H,S,S], decoder [L,H,T,T], cross [L,H,T,S], raw rows sum to 1; "
                    "rollout and contributions have no H; left_out is cross [T, source words]; of attributions "
                    "gradient_x_activation has no H, the others neither L nor H, and encoder has none")


class LookReply(BaseModel):
    translation: OneTranslation | None = Field(description="null if the request contained the translation")
    with_every_head: OneTranslation | None = Field(
        default=None, description="for `without`: what the same engine translates with the same options if no head is "
                                  "replaced; compare the translation with it")
    traces: list[OneTrace] = Field(description="one; for a long text, one per segment")
    measured: dict[str, Any] = Field(description="roles of the model's heads confirmed on held-out sentences, with "
                                     "interval and baseline, and the pronoun AUC without each head; nothing for "
                                     "`without`: they are those of the whole model")


class OneModel(BaseModel):
    name: str
    language_pairs: list[Pair] | None = Field(description="source and target; empty if the checkpoint does not name "
                                              "them; null for more than 1,000: see languages")
    languages: list[Languages] = Field(description="the same, every source of each by every target of it")
    engine: str
    precision: str


class ModelsReply(BaseModel):
    models: list[OneModel]
    pivot: str | None = Field(default=None, description="the language through which two models translate what none "
                              "does; null: they do not")
    pivoted: list[Languages] = Field(default=[], description="what they translate so; it cannot be looked into")


def router(service: Service) -> APIRouter:
    routes = APIRouter(prefix="/v1", tags=["Seq2See"], route_class=JSONRoute)
    wanted = key_wanted(service)

    @routes.post("/translate", summary="Translate texts", dependencies=wanted,
                 description="No sentence is lost: if translating sentences together changes their number, they are "
                             "translated one by one, and one_by_one is true. What is not language (addresses, files, "
                             "placeholders, quantities, emoji) stays unchanged, and so does a text without words.")
    async def translate(body: TranslateBody, request: Request) -> TranslateReply:
        caller = service.access.authenticate(request)
        found = await service.translate(body.texts, caller=caller, format=body.format, keep=body.keep,
                                        glossary=body.forced(), **body.arguments())
        if sum(map(len, body.texts)) < LONG_TEXT:  # a thread would take longer
            return TranslateReply(translations=[*map(OneTranslation.of, found)])
        return TranslateReply(translations=await asyncio.to_thread(lambda: [*map(OneTranslation.of, found)]))

    @routes.post("/look", summary="Translate a text and return every attention map", dependencies=wanted,
                 response_model=LookReply, description="Compressed with gzip if the client accepts it.")
    async def look(body: LookBody, request: Request) -> Response:
        found = await look_reply(service, body, service.access.authenticate(request))
        return Response(found, media_type="application/json")

    @routes.get("/models", summary="The served models")
    async def models() -> ModelsReply:
        return ModelsReply(models=[
            OneModel(name=name, language_pairs=one.language_pairs.listed(), languages=Languages.of(one.language_pairs),
                     engine=one.engine.name, precision=one.engine.precision)
            for name, one in service.models.items()
        ], pivot=service.settings.pivot, pivoted=Languages.of(service.pivoted_pairs))  # fmt: skip

    return routes


async def look_reply(service: Service, body: LookBody, caller: Caller) -> str:
    """The response of `/v1/look`, as JSON."""
    if body.target_ids and body.translation is None:
        raise APIError(400, "invalid", "target_ids: send the translation that they spell as well")
    found, request, pair = None, body.arguments(), (body.source, body.target)
    if body.translation is None and not body.without:
        result, traces = await service.translate_and_look(body.text, caller=caller, alternative=body.alternative,
                                                          views=body.views, evidence=body.evidence, **request)
        found, pair = Looked(traces, result), (result.source_language, result.target_language)
    model, settings = service.model_for(body.model, *pair), service.settings

    def finish(translator: Translator) -> str:
        if not found and (body.evidence or set(SLOW) & set(body.views)):
            check_passes(translator, [(body.text, body.translation or body.text)], language=body.source or "",
                         evidence=body.evidence, views=body.views, most=settings.look_tokens)
        looked = found or _asked_of_model(translator, body, settings)
        records = [_one_trace(translator, one, body) for one in looked.traces]
        parts = looked.translation.parts if looked.translation else ()
        for record, trace, part in zip(records, looked.traces, parts, strict=False):
            if part.model_input is not None:
                record |= _as_sent(record["words"], trace, part, part.hypotheses[body.alternative].text)
        known = NOTHING if looked.with_every_head else translator.measurements
        return json.dumps({
            "translation": _plain(looked.translation),
            "with_every_head": _plain(looked.with_every_head),
            "traces": records,
            "measured": measured_record(known.roles, known.pronoun_effects),
        }, ensure_ascii=False)  # fmt: skip

    if found and not body.evidence:
        return await asyncio.to_thread(finish, service.models[model])
    check_look_size(body.text, body.translation or "", *body.others, target_ids=body.target_ids,
                    limits=service.settings)
    return await service.examine(body.text, finish, caller=caller, model=model, options=request["options"],
                                 prefix=body.prefix)


@dataclass(frozen=True)
class Looked:
    """The traces, the translation unless it was given, and the translation with every head if some are off."""

    traces: Sequence[Trace]
    translation: Translation | None = None
    with_every_head: Translation | None = None


def _plain(result: Translation | None) -> dict[str, Any] | None:
    return None if result is None else OneTranslation.of(result).model_dump()


def _languages(body: LookBody) -> tuple[str | None, ...]:
    return tuple(None if code == "auto" else code for code in (body.source, body.target))


def _asked_of_model(translator: Translator, body: LookBody, settings: ServerSettings) -> Looked:
    """The trace of the given translation or, without one, the translation without some heads."""
    source, target = _languages(body)
    if body.translation is not None:
        return Looked([translator.look_at(body.text, body.translation, source=source, target=target, views=body.views,
                                          target_ids=body.target_ids, given=body.given)])
    with without_heads(translator, body.text, body.without, source=source, target=target, prefix=body.prefix,
                       options=bounded(body.options(), translator, settings)) as (model, result, whole):
        return Looked(model.look(result, alternative=body.alternative, views=body.views), result, whole)


def _as_sent(words: dict[str, list[dict[str, Any]]], trace: Trace, part: Translation, target: str) -> dict[str, Any]:
    """The source and its translation with their protected text, and the `words` of a trace's record in these texts."""
    texts, protection = {"source": part.source_text, "target": target}, Protection(keep=part.keep)
    spans = {"source": words_shown(trace.source_words, part.source_text, language=trace.source_language,
                                   protection=protection),
             "target": words_shown(trace.target_words, target, language=trace.target_language, protection=protection)}
    shown = dict[str, list[dict[str, Any]]]()
    for side, units in words.items():
        own, done, shown[side] = "source" if side == "source" else "target", 0, []
        for unit in units:  # spans do not overlap: of two words for one, the second is empty
            start, end = (max(place, done) for place in spans[own].get(unit["word"], (done, done)))
            text = unit["text"] if unit["word"] is None else texts[own][start:end]
            shown[side].append(unit | {"text": text, "start": start, "end": end})
            done = end
    return {"texts": texts, "words": shown}


def _antecedent(translator: Translator, trace: Trace) -> dict[str, int] | None:
    """The antecedent of the pronoun, for a text whose words are all known to a model with measured roles."""
    seen, known = translator.seen_words(trace.source_language), translator.measurements
    if not (known.nouns and seen) or Translation.of(
            trace.source_text, (), source_language=trace.source_language, target_language=trace.target_language,
            engine="", precision="", seen=seen).unknown_words:
        return None
    with IMPORTS:
        from ...lens.antecedent import antecedent
        from ...lens.means import head_means

    with translator.inside() as (model, tokenizer):
        means, _ = head_means(model, tokenizer, trace, translator.files)
        found = antecedent(model, tokenizer, trace, roles=known.roles, nouns=known.nouns, means=means)
    return asdict(found) if found else None


def _one_trace(translator: Translator, trace: Trace, body: LookBody) -> dict[str, Any]:
    found = trace_record(trace, kinds=body.maps) | {"antecedent": _antecedent(translator, trace)}
    if not body.evidence:
        return found
    with IMPORTS:
        from ...lens.alignment_choice import counterparts
        from ...lens.evidence import effects, ends, source_shares, spelt_candidates
        from ...lens.means import head_means
        from ...lens.views import add_views

    choice = translator.known_choice
    with translator.inside() as (model, tokenizer):
        means, sentences = head_means(model, tokenizer, trace, translator.files)
        [viewed] = add_views(model, tokenizer, [trace], views=(choice.view, "contributions"))
        found["evidence"] = effects(model, tokenizer, trace, means=means, others=body.others,
                                    seconds=body.head_seconds) | {
            "averaged_over": sentences,  # 0: this one only
            "candidates": spelt_candidates(model, tokenizer, trace),
            "ends": ends(tokenizer, trace),
            "links": counterparts(viewed, choice),
            "source_share": source_shares(viewed),
        }
    return found
