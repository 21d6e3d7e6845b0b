"""The first minute: while the demo's model is trained, the page shows it learning; then it becomes its translator, and
translates the sentence that was watched.
"""

from collections.abc import Callable
from typing import Any

import gradio as gr

from ..service import Service
from .components.learning import learning_panel
from .translate_tab import about

SECONDS = 1.0  # between two looks at what the training told


def build_first_minute(
    service: Service, learning: Callable[[], dict[str, Any]]
) -> Callable[[gr.Blocks, gr.HTML], None]:
    """The panel, above the box of the tab Translate; what is given back makes it go, once that box is there."""
    panel = learning_panel(value=None, elem_id="learning")

    def begin() -> tuple[Any, Any]:
        """Who comes when there is nothing more to watch sees no panel."""
        return gr.update(value=None if service.ready else learning()), gr.update(active=not service.ready)

    def look() -> tuple[Any, Any, Any]:
        if not service.ready:
            return gr.update(value=learning()), gr.skip(), gr.skip()
        watched = {"n": -1, "text": learning().get("sentence", "")}
        return gr.update(value=None), gr.update(about=about(service, asked=watched)), gr.update(active=False)

    def go(page: gr.Blocks, box: gr.HTML) -> None:
        timer = gr.Timer(SECONDS, active=False)
        settings: dict[str, Any] = {"show_progress": "hidden", "queue": False, "api_visibility": "private"}
        page.load(begin, None, [panel, timer], **settings)
        timer.tick(look, None, [panel, box, timer], **settings)

    return go
