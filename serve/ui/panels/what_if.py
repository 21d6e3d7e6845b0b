"""What if: the source said something else, the translation began otherwise, was searched for otherwise, or another
model wrote it; and the tree of a beam search."""

from typing import Any

import gradio as gr
from pydantic import Field

from seq2see.errors import UserError
from ....lens.changes import changed_words
from ....lens.show import view_data
from ....lens.wording import label
from ....translate.decoding import OPTIONS, DecodingOptions
from ....translate.translator import Translator
from ...service import Service
from ..adapter import read
from . import Answer, Question, texts_within, told

MOST_BEAMS = 8  # more are a thicket


class OtherQuestion(Question):
    """What is to be otherwise; the rest stays as it was asked for."""

    text: str | None = None
    prefix: str = ""
    num_beams: int | None = Field(default=None, ge=1)
    model: str | None = None


class TreeQuestion(Question):
    num_beams: int = Field(ge=2, le=MOST_BEAMS)


def what_if(service: Service) -> Answer:
    """The function for the browser: the other translation with its maps, and the words that changed."""

    async def what_if(value: Any, request: gr.Request) -> dict[str, Any]:
        return await told(lambda: _other(service, read(OtherQuestion, value), request))

    return what_if


async def _other(service: Service, asked: OtherQuestion, request: gr.Request) -> dict[str, Any]:
    shown, caller = asked.shown, service.access.caller(request)
    before = await service.examine(texts_within(service, asked), asked.trace, model=shown.model, caller=caller)
    given: Any = {name: value for name, value in shown.asked.items() if name in OPTIONS}
    if asked.num_beams is not None:
        given = {"num_beams": asked.num_beams}
    text = (asked.chosen.text if asked.text is None else asked.text).strip()
    if not text:
        raise UserError("the source is blank")
    try:
        options = DecodingOptions.of(**given)
    except ValueError as error:
        raise UserError(str(error)) from None
    results, traces = await service.translate_and_look(
        [text], source=shown.source or None, target=shown.target or None, options=options,
        prefix=asked.prefix.strip(), model=asked.model or shown.model, caller=caller)
    sides = changed_words(before.target_text, traces[0].target_text, language=shown.target)
    sources = changed_words(before.source_text, traces[0].source_text, language=shown.source)
    return {
        "before": sides[0], "after": sides[1], "sources": sources, "log_prob": before.log_prob,
        "new_log_prob": traces[0].log_prob, "parts": len(traces), "model": traces[0].model,
        "data": view_data(traces[0], unseen=results[0].parts[0].as_read.unknown_words),
    }  # fmt: skip


def tree(translator: Translator, asked: TreeQuestion) -> dict[str, Any]:
    """The nodes of each step: [piece, number of its parent, log-probability, score]; the hypotheses, best first."""
    from ....lens.beams import beam_tree  # imports torch

    first = translator.tag(asked.shown.target)
    with translator.inside() as (model, tokenizer):
        found = beam_tree(model, tokenizer, asked.chosen.text, num_beams=asked.num_beams, first=first)
    return {
        "steps": [[[label(node.text), node.parent, node.log_prob, node.score] for node in step]
                  for step in found.steps],
        "hypotheses": [[step, number, text, found.steps[step][number].score]
                       for (step, number), text in zip(found.hypotheses, found.texts, strict=True)],
        "length_penalty": found.length_penalty,
    }  # fmt: skip
