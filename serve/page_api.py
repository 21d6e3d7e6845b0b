"""What Gradio's clients and assistants (MCP) can call: `translate` and `look`, functions of the page by name.

    gradio_client.Client("http://127.0.0.1:8000/ui/").predict("The cat.", "en", "fr", api_name="/translate")

An MCP client is given http://127.0.0.1:8000/ui/gradio_api/mcp/ where `seq2see[mcp]` is installed.  Gradio checks no
argument: what comes in is read as strictly as a body of `/v1/look` is, and goes the same way as every other request.
The functions' names and docstrings are the tools' names and descriptions.
"""

import math
from typing import TYPE_CHECKING, Any

import gradio as gr
from pydantic import ValidationError

from .dialects.bodies import bad_request
from .dialects.v1 import LookBody
from .errors import APIError
from .service import Caller, Service
from .ui.asking import page_error

if TYPE_CHECKING:
    from ..lens.trace import Trace

MOST_SHOWN = 3  # source words that `look` names for each word


def add_api(service: Service) -> None:
    """Add the functions to the Blocks whose context this is called in: `with page: add_api(service)`."""

    async def translate(text: str, source: str = "auto", target: str = "", alternatives: int = 1,
                        request: gr.Request | None = None) -> dict:
        """Translate a text with a small translation model.

        The result has the best translation, the alternatives asked for, the two languages, and unknown_words: words of
        the text that the model never saw in training, for which its translation is a guess. one_by_one is true where
        sentences translated together came out as fewer or more and were translated again one by one; finished is false
        where the translation stopped at the limit of length.

        Args:
            text: The text to translate.
            source: Language code of the text, such as en; auto finds it out.
            target: Language code to translate into, such as fr; empty takes the model's first.
            alternatives: How many translations to return, best first.
        """
        body = _read(text=text, source=source, target=target, alternatives=alternatives)
        try:
            [found] = await service.translate([body.text], caller=_caller(service, request), **body.asked(service))
        except APIError as error:
            raise _told(error) from None
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
                   request: gr.Request | None = None) -> dict:
        """Translate a text and tell where the model looked in it while it wrote each word of the translation.

        The result has the translation, its log-probability, which attention head is shown, and for each word of the
        translation and its end: the probability the model gave it, and the three words of the text with the largest
        cross-attention weights. All weights of a word sum to 1. A weight says where a head looked, not why the model
        chose the word.

        Args:
            text: The text to translate, a sentence or two.
            source: Language code of the text, such as en; auto finds it out.
            target: Language code to translate into, such as fr; empty takes the model's first.
            layer: Which decoder layer to look into, counted from 0; -1 is the last.
            head: Which attention head of that layer, counted from 0; -1 is the mean of all its heads.
        """
        body = _read(text=text, source=source, target=target)
        try:
            _, traces = await service.translate_and_look(
                [body.text], caller=_caller(service, request), **body.asked(service))
            return _described(traces, layer=layer, head=head)
        except APIError as error:
            raise _told(error) from None

    for function in (translate, look):  # unqueued: the service has a queue, and MCP need not call this server by HTTP
        gr.api(function, api_name=function.__name__, queue=False)


def _read(*, text: Any, source: Any, target: Any, alternatives: Any = 1) -> LookBody:
    fields = {"text": text, "alternatives": alternatives}
    fields |= {name: value for name, value in (("source", source), ("target", target)) if value != ""}
    try:
        return LookBody.model_validate(fields, strict=True)
    except ValidationError as error:
        raise _told(bad_request(error)) from None


def _caller(service: Service, request: gr.Request | None) -> Caller:
    if request is None:
        raise page_error("this call came without a request")
    return service.access.caller(request)


def _described(traces: "list[Trace]", *, layer: Any, head: Any) -> dict[str, Any]:
    from ..lens import word_map

    words: list[dict[str, Any]] = []
    layers, heads = traces[0].cross["raw"].shape[:2]
    for name, value, count in (("layer", layer, layers), ("head", head, heads)):
        if type(value) is not int or not -1 <= value < count:
            raise APIError(400, "bad_request", f"{name}: expected a whole number from -1 to {count - 1}")
    for trace in traces:
        by_words = word_map(trace, "cross")
        maps = by_words.maps[layer]
        rows = maps.mean(0) if head == -1 else maps[head]
        for unit, row in zip(by_words.rows, rows, strict=True):
            if unit.pieces[-1] < trace.given:  # a language tag: nobody chose it
                continue
            best = (-row).argsort(kind="stable")[:MOST_SHOWN]
            words.append({
                "word": unit.text,
                "probability": round(float(math.exp(sum(trace.log_probs[list(unit.pieces)]))), 4),
                "looked_at": [{"word": by_words.columns[i].text, "weight": round(float(row[i]), 4)} for i in best],
            })  # fmt: skip
    which = f"the mean of {heads} heads" if head == -1 else f"head {head}"
    return {
        "translation": " ".join(trace.target_text for trace in traces),
        "log_prob": round(sum(trace.log_prob for trace in traces), 4),
        "shown": f"cross-attention of {which} in layer {layer % layers} of {layers}, raw weights",
        "words": words,
    }


def _told(error: APIError) -> gr.Error:
    return page_error(error.message, status=error.status)
