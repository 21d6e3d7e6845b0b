"""The tab Look: where the model looked while it wrote what Translate shows."""

import gradio as gr

from ..service import Service
from .components.explorer import explorer


def build_look(service: Service, tab: gr.Tab, shown: gr.JSON) -> None:
    """In its tab.  What is shown goes from one to the other in the browser alone."""
    look = explorer(service, elem_id="attention")
    shown.change(None, [shown], [look], js="(value) => value", api_visibility="private", queue=False)
