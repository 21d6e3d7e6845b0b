"""The first minute: while the demo's model is trained, the page shows it learning; then it becomes its translator."""

from collections.abc import Callable
from typing import Any

import gradio as gr

from seq2see.serve.service import Service
from seq2see.serve.ui.components.learning import learning_panel
from seq2see.serve.ui.translate_tab import about

SECONDS = 1.0  # between two looks at what the training told


def build_first_minute(service: Service, learning: Callable[[], dict[str, Any]]) -> Callable[[gr.HTML], None]:
    """The panel, above the box of the tab Translate; what is given back makes it go, once that box is there."""
    panel = learning_panel(value=learning(), elem_id="learning")

    def look() -> tuple[Any, Any, Any]:
        if service.ready:
            return gr.update(value=None), gr.update(about=about(service)), gr.update(active=False)
        return gr.update(value=learning()), gr.skip(), gr.skip()

    def go(box: gr.HTML) -> None:
        timer = gr.Timer(SECONDS)
        gr.on([timer.tick], look, None, [panel, box, timer], show_progress="hidden", queue=False,
              api_visibility="private")

    return go
