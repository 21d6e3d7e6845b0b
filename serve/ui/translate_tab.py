"""The tab Translate: a text and its translation side by side, alternatives, other words, and what belongs to what.

The handlers only carry: `Ask` in, what `/v1` answers out and in `shown` what Look needs of it; then, of what is shown,
which words belong together and what else the model thought of.
"""

from __future__ import annotations

import asyncio
import math
import secrets
from collections.abc import Awaitable
from typing import TYPE_CHECKING, Any

import gradio as gr
from pydantic import ValidationError

from ...lens.wording import printable
from ...translate.results import Translation
from ..dialects.v1 import OneTranslation
from ..languages import NAMES
from ..service import APIError, Service
from .adapter import Ask, Shown, Start, Strict, page_errors, read
from .components.translation import translation_box
from .one_word import compare, sentences

if TYPE_CHECKING:
    from ...lens.alignment import AlignmentChoice
    from ...lens.trace import Trace
    from ...translate.translator import Translator

LONGEST_TO_ALIGN = 2_000  # characters; of a longer text nobody points at the words, and its maps would take seconds
OTHERS = 8  # of a word, that are offered
ALTERNATIVES = 3  # of a beam search, that a page shows at first
NOTHING: dict[str, Any] = {"parts": [], "link": None}  # to look into, in a text without words
LINKED = ("num_beams", "alternatives", "temperature", "top_k", "top_p", "seed")  # settings, in a link by these names
BROADER = "Helsinki-NLP/opus-mt-{source}-{target}"


class Stop(Strict):
    n: int


class Chosen(Strict):
    """Another of the alternatives, as this page was given it."""

    shown: Shown


class Visits:
    """What each visitor's page has at work: a newer request, or a press of Stop, ends the older."""

    def __init__(self) -> None:
        self._running: dict[str, tuple[int, asyncio.Future[Any]]] = {}

    def stop(self, visit: str, n: int) -> None:
        """End what a visit asked for, up to its `n`th request."""
        if visit in self._running and self._running[visit][0] <= n:
            self._running.pop(visit)[1].cancel()

    async def run(self, visit: str, n: int, work: Awaitable[Any]) -> Any:
        """What the work gives, or None if it was stopped."""
        self.stop(visit, n)
        task = asyncio.ensure_future(work)
        mine = self._running[visit] = n, task
        try:
            return await task
        except asyncio.CancelledError:
            if self._running.get(visit) is not mine:
                return None
            raise
        finally:
            if self._running.get(visit) is mine:
                del self._running[visit]


def build_translate(service: Service, shown: gr.JSON) -> gr.HTML:
    """In its tab; each translation leaves what Look looks into in `shown`."""
    visits = Visits()

    async def translate(event: gr.EventData, request: gr.Request) -> tuple[Any, Any]:
        n = event._data.get("n") if isinstance(event._data, dict) else None  # what it waits for, whatever else is wrong
        try:
            ask, caller = read(Ask, event._data), service.access.caller(request)
            work = service.translate([ask.text.strip()], caller=caller, **ask.arguments())
            found = await visits.run(request.session_hash or secrets.token_hex(), ask.n, work)
        except APIError as error:
            return gr.update(told={"n": n, "message": error.message}), gr.skip()
        if found is None:
            return gr.skip(), gr.skip()
        [result] = found
        model = service.model_for(ask.model, result.source_language or None, result.target_language or None)
        each = [Shown.of(result, model=model, alternative=number, asked=ask.given(), start=ask.start,
                         link=_link(service, model, ask, number)).model_dump(mode="json")
                for number in range(len(result.hypotheses))]
        each = each or [NOTHING]
        first = ask.shown if ask.shown < len(each) else 0
        answer = _answer(ask, result, service.models[model], each, first)
        return gr.update(value=answer), each[first] if result.hypotheses else None

    async def stop(event: gr.EventData, request: gr.Request) -> None:  # on the event loop, as the work is
        with page_errors():
            visits.stop(request.session_hash or "", read(Stop, event._data).n)

    def choose(event: gr.EventData) -> dict[str, Any]:
        with page_errors():
            return read(Chosen, event._data).shown.model_dump(mode="json")

    async def align(value: Any, request: gr.Request) -> Any:
        if value is None:
            return gr.skip()
        with page_errors("Words not linked"):
            found = read(Shown, value)
            # Of the parts, for a browser may send any `text` with them.
            if max(sum(len(part.text) for part in found.parts), sum(map(len, found.ids))) > LONGEST_TO_ALIGN:
                said = f"Which word is which is shown for texts up to {LONGEST_TO_ALIGN:,} characters."
                return gr.update(links={"ids": found.ids, "parts": [], "said": said})
            links = await service.examine([found.text], lambda translator: _links(found, translator), model=found.model,
                                          caller=service.access.caller(request))
        return gr.update(links=links)

    async def flip(event: gr.EventData, request: gr.Request) -> Any:
        with page_errors():
            return gr.update(compared=await compare(service, event, request))

    box = translation_box(about=about(service), elem_id="translation")
    box.ask(translate, None, [box, shown], trigger_mode="multiple", concurrency_limit=None, show_progress="hidden",
            api_visibility="private")
    box.compare(flip, None, [box], show_progress="hidden", concurrency_limit=2, trigger_mode="always_last",
                api_visibility="private")
    shown.change(align, [shown], [box], show_progress="hidden", concurrency_limit=2, trigger_mode="always_last",
                 api_visibility="private")
    box.stop(stop, None, None, queue=False, api_visibility="private")
    box.choose(choose, None, [shown], show_progress="hidden", queue=False, api_visibility="private")
    box.emptied(None, None, [shown], js="() => null", queue=False, api_visibility="private")
    return box


def about(service: Service, *, asked: dict[str, Any] | None = None) -> dict[str, Any]:
    """What the box is to offer: models, languages, limits; and what a link asks it to translate at once."""
    limits = service.settings
    return {
        "ready": bool(service.models),
        "models": [{"name": name, "pairs": [list(pair) for pair in one.language_pairs], "usual": _usual(service, one),
                    "sentences": sentences(one)} for name, one in service.models.items()],
        "names": {code: NAMES.get(code, code) for pair in service.language_pairs for code in pair},
        "characters": limits.characters,
        "alternatives": limits.alternatives,
        "beams": limits.beams,
        "asked": asked,
    }  # fmt: skip


def asked_by_link(query: Any, *, longest: int) -> dict[str, Any] | None:
    """What `?text=...&from=...&to=...&look=KIND,LAYER,HEAD` asks for, and what `_link` adds to it; what is not right in
    it is left out."""
    text = str(query.get("text", ""))[:longest]
    if not text.strip():
        return None
    asked: dict[str, Any] = {
        "text": text, "source": query.get("from"), "target": query.get("to"), "model": query.get("model"),
        "settings": {name: value for name in LINKED if (value := _number(query, name)) is not None},
        "shown": _number(query, "shown") or 0,
    }  # fmt: skip
    kind, *place = str(query.get("look", "")).split(",")
    if kind in ("cross", "encoder", "decoder"):
        layer, head = ([int(one) if one.isdecimal() and len(one) < 4 else None for one in place] + [None, None])[:2]
        asked["start"] = Start(kind=kind, layer=layer, head=head).model_dump()  # type: ignore[arg-type]
    return asked


def _number(query: Any, name: str) -> Any:
    """A number of a link, as `Ask` would take it; None for anything else."""
    try:
        return getattr(Ask.model_validate({"n": 0, "text": "", name: query.get(name)}, strict=False), name)
    except ValidationError:
        return None


def _usual(service: Service, translator: Translator) -> dict[str, int]:
    """The search that a page begins with: the model's own."""
    beams = min(translator.defaults.resolve().num_beams or 1, service.settings.beams)
    return {"num_beams": beams} | ({"alternatives": min(ALTERNATIVES, service.settings.alternatives, beams)}
                                   if beams > 1 else {})


def _link(service: Service, model: str, ask: Ask, alternative: int) -> dict[str, Any] | None:
    """What a link to an answer says beside text and languages; None where the page chose how it begins."""
    if ask.prefix:
        return None
    settings = ask.given()
    return {**({"model": model} if len(service.models) > 1 else {}),
            **(settings if settings != _usual(service, service.models[model]) else {}),
            **({"shown": alternative} if alternative else {})}


def _answer(ask: Ask, result: Translation, translator: Translator, each: list[dict[str, Any]],
            first: int) -> dict[str, Any]:
    reply = OneTranslation.model_validate(result, from_attributes=True).model_dump(mode="json")
    seen = translator.seen_words(result.source_language)
    broader = BROADER.format(source=result.source_language, target=result.target_language)
    language = NAMES.get(result.source_language, result.source_language)
    return reply | {
        "n": ask.n,
        "source_text": result.source_text,
        "detected": ask.source is None or ask.source == "auto",
        "parts": len(result.parts),
        "hypotheses": reply["hypotheses"] or [{"text": result.text, "finished": True}],
        "shown": each,
        "first": first,
        "drawn": ask.temperature is not None,
        "unknown_words": list(dict.fromkeys(map(printable, reply["unknown_words"] or ()))),
        "unknown": [[word.start, word.end] for word in result.unknown_words or ()],
        "learnt": f"{len(seen or ()):,} {language} words",
        "broader": f"seq2see serve {broader}",
    }  # fmt: skip


def _links(found: Shown, translator: Translator) -> dict[str, Any]:
    """Which words belong together in each part, and what else stood at each word; run by the service."""
    known = translator.known_choice
    traces = found.traces(translator, views=tuple(dict.fromkeys(("raw", known.choice.view))))
    special = {*translator.tokenizer.all_special_ids, *translator.defaults.end}
    return {"ids": found.ids, "said": known.said,
            "parts": [_part(trace, known.choice, special) for trace in traces]}


def _part(trace: Trace, choice: AlignmentChoice, special: set[int]) -> dict[str, Any]:
    from ...lens.counterparts import counterparts, first_steps

    steps = first_steps(trace)
    return {
        "source_text": trace.source_text,
        "target_text": trace.target_text,
        "source": [[word.start, word.end] for word in trace.source_words],
        "target": [[word.start, word.end] for word in trace.target_words],
        "pairs": [[pair.source, pair.target, round(pair.share, 4)] for pair in counterparts(trace, choice)],
        "calibrated": trace.calibrated is not None,
        "others": [
            {"choices": [{"text": one.text, "id": one.id, "probability": round(math.exp(one.log_prob), 6),
                          "taken": one.id == trace.target_ids[step], "special": one.id in special}
                         for one in trace.shown.top[step][:OTHERS]]}
            for step in steps
        ],
    }  # fmt: skip
