"""The maps of the part looked at: the weights at once, the other views one by one, as they are asked for."""

from typing import Any, Literal

import gradio as gr

from seq2see.errors import UserError
from seq2see.views import VIEWS
from ....lens.files import to_json
from ....lens.show import to_html, view_data
from ....lens.trace import Trace
from ....translate.translator import Translator
from ...service import Service
from ..adapter import Start, read
from . import Answer, Question, examined, told

LONGEST_IN_ALL_VIEWS = 300  # characters; of a longer text they would take seconds, and megabytes in the browser


class MapsQuestion(Question):
    view: Literal["raw", "norm", "rollout", "mixing", "contributions", "left_out"] = "raw"


class PageQuestion(Question):
    form: Literal["html", "json"]


def maps(service: Service) -> Answer:
    """The function for the browser: what the drawing draws, and which views and models there are; for another view
    than "raw" that view alone."""

    async def maps(value: Any, request: gr.Request) -> dict[str, Any]:
        async def ask() -> dict[str, Any]:
            asked = read(MapsQuestion, value)
            found = await examined(service, asked, _maps, request)
            return found | {"models": list(service.models)} if asked.view == "raw" else found

        return await told(ask)

    return maps


def _maps(translator: Translator, asked: MapsQuestion) -> dict[str, Any]:
    offered = _offered(asked)
    if asked.view not in offered:
        raise UserError(f"the text is too long for this view: {LONGEST_IN_ALL_VIEWS} characters at most")
    trace = asked.trace(translator, asked.view)
    data = view_data(trace, **_said(translator, asked, trace))
    return data | {"offered": offered} if asked.view == "raw" else data["views"][asked.view]


def take(translator: Translator, asked: PageQuestion) -> dict[str, Any]:
    """Everything as one file to keep."""
    trace = asked.trace(translator, *_offered(asked))
    return {"text": to_html(trace, **_said(translator, asked, trace)) if asked.form == "html" else to_json(trace)}


def _offered(asked: Question) -> list[str]:
    return list(VIEWS) if len(asked.chosen.text) <= LONGEST_IN_ALL_VIEWS else ["raw"]


def _said(translator: Translator, asked: Question, trace: Trace) -> dict[str, Any]:
    start = asked.shown.start
    return {"unseen": asked.alone.translations(translator)[0].unknown_words, "roles": translator.roles,
            **(start.model_dump() if start and _is_there(start, trace) else {})}


def _is_there(start: Start, trace: Trace) -> bool:
    """A link may name a map that this model has not."""
    layers, heads = trace.maps(start.kind).shape[:2]
    return (start.layer or 0) < layers and (start.head or 0) < heads
