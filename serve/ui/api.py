"""What Gradio's clients and assistants (MCP) can call: `translate` and `look`, functions of the page by name.

    gradio_client.Client("http://127.0.0.1:8000/ui/").predict("The cat.", "en", "fr", api_name="/translate")

MCP clients use http://127.0.0.1:8000/ui/gradio_api/mcp/ if `seq2see[mcp]` is installed.  Gradio does not check
arguments, so they are validated as the body of `/v1/look`.  The functions' names and docstrings are the tools' names
and descriptions.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

import gradio as gr
from pydantic import BaseModel, ValidationError

from ...lens.by_words import looked_at
from ..dialects.bodies import bad_request
from ..dialects.inside import InsideBody, inside_reply
from ..dialects.lessons import Lessons, LessonsBody
from ..dialects.v1 import LookBody, TranslateBody, TranslateReply, look_reply
from ..errors import APIError
from ..service import Service
from .calls import STATUS

Body = TypeVar("Body", bound=BaseModel)


def read(kind: type[Body], value: Any) -> Body:
    """The body that a client sent, validated; APIError if it is not of this kind."""
    try:
        return kind.model_validate_json(json.dumps(value), strict=True)
    except ValidationError as error:
        raise bad_request(error) from None


@contextmanager
def page_errors() -> Iterator[None]:
    """Around a handler: an APIError is answered with its status and one line."""
    try:
        yield
    except APIError as error:
        STATUS.get([]).append(error.status)
        raise gr.Error(error.message, print_exception=False, duration=8) from None


def add_api(service: Service) -> None:
    """Add the functions to the Blocks whose context this is called in: `with page: add_api(service)`."""
    lessons = Lessons(service)

    def arguments(request: gr.Request, *, source: Any, target: Any, **given: Any) -> dict[str, Any]:
        body = read(LookBody, {**given, "source": source or None, "target": target or None})
        return {"texts": [body.text], "caller": service.access.caller(request), **body.arguments()}

    async def translate(text: str, source: str = "auto", target: str = "", alternatives: int = 1,
                        request: gr.Request = None) -> dict:
        """Translate a text with a small translation model.

        The result has the best translation, the requested alternatives, the two languages, and unknown_words: words of
        the text that the model never saw in training, whose translation is a guess. one_by_one is true if sentences
        translated together came out as fewer or more and were translated again one by one; finished is false if the
        translation stopped at the token limit.

        Args:
            text: The text to translate.
            source: Language code of the text, such as en; auto detects it.
            target: Language code to translate into, such as fr; empty means the model's first.
            alternatives: How many translations to return, best first.
        """
        with page_errors():
            asked = arguments(request, text=text, source=source, target=target, alternatives=alternatives)
            [found] = await service.translate(**asked)
        return {
            "translation": found.text,
            "alternatives": [one.text for one in found.hypotheses[1:]],
            "one_by_one": found.one_by_one,
            "finished": all(one.finished for one in found.hypotheses[:1]),
            "unknown_words": [word.text for word in found.unknown_words or ()],
            "source": found.source_language,
            "target": found.target_language,
        }

    async def look(text: str, source: str = "auto", target: str = "", layer: int = -1, head: int = -1,
                   request: gr.Request = None) -> dict:
        """Translate a text and show where the model looked in it while writing each word of the translation.

        The result has the translation, its log-probability, which attention head is shown, and for each word of the
        translation and its end: the probability the model gave it, and the three words of the text with the largest
        cross-attention weights. All weights of a word sum to 1. A weight says where a head looked, not why the model
        chose the word.

        Args:
            text: The text to translate, a sentence or two.
            source: Language code of the text, such as en; auto detects it.
            target: Language code to translate into, such as fr; empty means the model's first.
            layer: The decoder layer to look into, counted from 0; -1 is the last.
            head: The attention head of that layer, counted from 0; -1 is the mean of all its heads.
        """
        with page_errors():
            asked = arguments(request, text=text, source=source, target=target)
            [found], traces = await service.translate_and_look(**asked)
            layers, heads = traces[0].cross["raw"].shape[:2]
            for name, value, count in (("layer", layer, layers), ("head", head, heads)):
                if type(value) is not int or not -1 <= value < count:
                    raise APIError(400, "bad_request", f"{name}: expected a whole number from -1 to {count - 1}")
        words = [one for trace in traces for one in looked_at(trace, layer=layer, head=None if head == -1 else head)]
        which = f"the mean of {heads} heads" if head == -1 else f"head {head}"
        return {
            "translation": found.text,
            "log_prob": round(sum(trace.log_prob for trace in traces), 4),
            "shown": f"cross-attention of {which} in layer {layer % layers} of {layers}, raw weights",
            "words": [{"word": word, "probability": round(probability, 4),
                       "looked_at": [{"word": source, "weight": round(weight, 4)} for source, weight in best]}
                      for word, probability, best in words],
        }  # fmt: skip

    async def ask(route: str, body: dict, request: gr.Request = None) -> dict:
        """The answers of `/v1`, for the explorer where there is no `/v1`."""
        with page_errors():
            caller = service.access.caller(request)
            if route == "look":
                return json.loads(await look_reply(service, read(LookBody, body), caller))
            if route == "inside":
                return json.loads(await inside_reply(service, read(InsideBody, body), caller))
            if route == "lessons":
                return (await lessons.answer(read(LessonsBody, body))).model_dump()
            if route == "translate":
                texts = read(TranslateBody, body)
                found = await service.translate(texts.texts, caller=caller, format=texts.format, **texts.arguments())
                return TranslateReply.model_validate({"translations": found}, from_attributes=True).model_dump()
            raise APIError(404, "not_found", "there is no such route")

    gr.api(ask, api_name="ask", queue=False, api_visibility="undocumented")
    for function in (translate, look):  # unqueued: the service has a queue, and MCP need not call this server over HTTP
        gr.api(function, api_name=function.__name__, queue=False)
