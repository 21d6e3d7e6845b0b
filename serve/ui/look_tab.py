"""The tab Look: where the model looked while it wrote what Translate shows."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import gradio as gr

from seq2see.lens.show import view_data
from seq2see.lens.trace import VIEWS
from seq2see.serve.service import Refusal, Service
from seq2see.serve.ui.asking import refusal
from seq2see.serve.ui.components.attention_map import attention_map
from seq2see.serve.ui.shown import Shown

if TYPE_CHECKING:
    from seq2see.serve.translator import Translator

LONGEST_IN_ALL_VIEWS = 300  # characters; of a longer text they would take seconds, and megabytes in the browser


def build_look(service: Service, tab: gr.Tab, shown: gr.JSON) -> None:
    """In its tab."""

    async def look(value: Any, request: gr.Request) -> dict[str, Any] | None:
        if value is None:
            return None
        try:
            found = Shown.read(value)
            views = VIEWS if len(found.text) <= LONGEST_IN_ALL_VIEWS else ("raw",)
            data = await service.examine([found.text], lambda translator: _data(found, translator, views),
                                         model=found.model, caller=service.access.caller(request))
        except Refusal as error:
            raise refusal(error.message) from None
        if len(found.parts) > 1:
            gr.Info(f"The text was translated in {len(found.parts)} parts; the maps are of the first.")
        return data

    attention = attention_map(elem_id="attention")
    gr.on([tab.select, shown.change], look, [shown], [attention], show_progress="minimal", api_visibility="private",
          concurrency_limit=2)


def _data(found: Shown, translator: "Translator", views: Sequence[str]) -> dict[str, Any]:
    trace = found.traces(translator, views=views)[0]
    start = found.start.model_dump() if found.start else {}
    return view_data(trace, unseen=found.translations(translator)[0].unknown_words, **start)
