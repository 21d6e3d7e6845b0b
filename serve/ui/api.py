"""What Gradio's clients and assistants (MCP) can call: `translate` and `look`, functions of the page by name.

    gradio_client.Client("http://127.0.0.1:8000/ui/").predict("The cat.", "en", "fr", api_name="/translate")

MCP clients use http://127.0.0.1:8000/ui/gradio_api/mcp/ if `seq2see[mcp]` is installed.  Gradio does not check
arguments, so they are validated as the body of `/v1/look`.  The functions' names and docstrings are the tools' names
and descriptions.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import gradio as gr
import httpx
from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from pydantic import ValidationError

from ...lens.data.word_maps import top_source_words
from ..api_errors import APIError
from ..apis import comparing, inside, lessons, v1
from ..apis.bodies import bad_request
from ..apis.v1 import LookBody
from ..server_metrics import Metrics
from ..service import Service
from .calls import REFUSALS


def page_error(message: str) -> gr.Error:
    return gr.Error(message, print_exception=False, duration=8)


@contextmanager
def page_errors(metrics: Metrics) -> Iterator[None]:
    """Around a handler: an invalid argument or an APIError is answered with one line, and counted."""
    try:
        yield
    except (ValidationError, APIError) as raised:
        error = raised if isinstance(raised, APIError) else bad_request(raised)
        metrics.count(error)
        REFUSALS.get([]).append(error)
        raise page_error(error.message) from None


def add_api(service: Service) -> None:
    """Add the functions to the Blocks whose context this is called in: `with page: add_api(service)`."""

    def arguments(request: gr.Request, *, source: Any, target: Any, **given: Any) -> dict[str, Any]:
        source, target = (None if code == "" else code for code in (source, target))
        body = LookBody.model_validate({**given, "source": source, "target": target})
        return {"caller": service.access.authenticate(request), **body.arguments()}

    async def translate(text: str, source: str = "auto", target: str = "", alternatives: int = 1,
                        request: gr.Request = None) -> dict:
        """Translate a text with a small translation model.

        The result has the best translation, the requested alternatives and the two languages. unknown_words lists words
        of the text that are not in the training data; their translation is a guess. invented_words lists words of the
        translation that are neither there nor in the text. one_by_one is true if sentences were first translated
        together, gave another number of sentences, and were translated again one by one. finished is false if the
        translation stopped at the token limit. warnings lists signs that it went wrong: unchanged (it or a part of it
        is the same as the text), too_short (far shorter) or cut_off (not finished).

        Args:
            text: The text to translate.
            source: Language code of the text, such as en; auto detects it.
            target: Language code to translate into, such as fr; empty means the model's first.
            alternatives: How many translations to return, best first.
        """
        with page_errors(service.metrics):
            parameters = arguments(request, text=text, source=source, target=target, alternatives=alternatives)
            [result] = await service.translate([text], **parameters)
        return {
            "translation": result.text,
            "alternatives": [one.text for one in result.hypotheses[1:]],
            "one_by_one": result.one_by_one,
            "finished": all(one.finished for one in result.hypotheses[:1]),
            "warnings": [*result.warnings],
            "unknown_words": [word.text for word in result.unknown_words or ()],
            "invented_words": [word.text for word in result.invented_words or ()],
            "source": result.source_language,
            "target": result.target_language,
        }

    async def look(text: str, source: str = "auto", target: str = "", layer: int = -1, head: int = -1,
                   request: gr.Request = None) -> dict:
        """Translate a text and show where the model looked in it while writing each word of the translation.

        The result has the translation, its log-probability and the attention head that is shown. For each word of the
        translation, and for its end, it has the model's probability and the three words of the text with the largest
        cross-attention weights. All weights of a word sum to 1. A weight shows where a head looked, not why the model
        chose the word.

        Args:
            text: The text to translate, a sentence or two.
            source: Language code of the text, such as en; auto detects it.
            target: Language code to translate into, such as fr; empty means the model's first.
            layer: The decoder layer to look into, counted from 0; -1 is the last.
            head: The attention head of that layer, counted from 0; -1 is the mean of all its heads.
        """
        with page_errors(service.metrics):
            result, traces = await service.translate_and_look(text, **arguments(
                request, text=text, source=source, target=target))
            layers, heads = traces[0].cross["raw"].shape[:2]
            for name, value, count in (("layer", layer, layers), ("head", head, heads)):
                if type(value) is not int or not -1 <= value < count:
                    raise APIError(400, "bad_request", f"{name}: expected a whole number from -1 to {count - 1}")
        chosen = None if head == -1 else head
        words = [one for trace in traces for one in top_source_words(trace, layer=layer, head=chosen)]
        which = f"the mean of {heads} heads" if head == -1 else f"head {head}"
        return {
            "translation": result.text,
            "log_prob": round(sum(trace.log_prob for trace in traces), 4),
            "shown": f"cross-attention of {which} in layer {layer % layers} of {layers}, raw weights",
            "words": [{"word": word, "probability": round(probability, 4),
                       "looked_at": [{"word": source, "weight": round(weight, 4)} for source, weight in best]}
                      for word, probability, best in words],
        }

    for function in (translate, look):  # unqueued: the service has a queue, and MCP need not call this server over HTTP
        gr.api(function, api_name=function.__name__, queue=False)


def add_ask(service: Service) -> None:
    """Add the function by which the explorer asks `/v1` where it is not served."""

    async def refuse(_: Request, error: Any) -> Response:
        raise bad_request(error)

    app = FastAPI(exception_handlers={RequestValidationError: refuse})
    for module in (v1, comparing, inside, lessons):
        app.include_router(module.router(service))

    async def ask(route: str, body: dict, request: gr.Request = None) -> dict:
        transport = httpx.ASGITransport(app, client=(request.client.host, 0))
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost", timeout=None) as client:
            with page_errors(service.metrics):
                answer = await client.post(f"/v1/{route}", json=body)
        if answer.is_error:
            raise page_error("there is no such route")
        return answer.json()

    gr.api(ask, api_name="ask", queue=False, api_visibility="undocumented")
