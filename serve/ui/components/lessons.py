"""The lessons as they were run, or how to have them run."""

from typing import Any

import gradio as gr

from . import asset, element


def lessons_list(**settings: Any) -> gr.HTML:
    """Its value is what `learn_tab.read_lessons` gives.  Events: "run", and "look" ({text, kind, layer, head})."""
    js = f"""{asset("dom.js")}
{asset("lessons.js")}
const run = () => trigger("run"), look = (data) => trigger("look", data);
lessonsList(element.querySelector(".ls"), {{ props, watch, run, look }});"""
    return element(template='<div class="ls"></div>', css=asset("lessons.css"), js=js, **settings)
