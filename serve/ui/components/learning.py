"""A model while it learns: its loss, one sentence as it translates it now, and what its heads look at meanwhile."""

from typing import Any

import gradio as gr

from . import asset, element


def learning_panel(**settings: Any) -> gr.HTML:
    """Its value is a record of `seq2see.demo_worker`, or None for nothing to show."""
    js = f"""{asset("dom.js")}
{asset("small_map.js")}
{asset("learning.js")}
learningPanel(element.querySelector(".ln"), {{ props, watch }});"""
    return element(template='<section class="ln" aria-label="The model while it learns" hidden></section>',
                   css=asset("learning.css"), js=js, **settings)
