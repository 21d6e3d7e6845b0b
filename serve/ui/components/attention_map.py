"""The drawing of `seq2see.lens` on the page; the same files draw `to_html`."""

from typing import Any

import gradio as gr

from seq2see.lens.show import asset
from seq2see.serve.ui.components import element


def attention_map(**settings: Any) -> gr.HTML:
    """Its value is `view_data(trace)`, or None for nothing."""
    show = "map.show(props.value)"
    js = f"""{asset("attention_map.js")}
const map = attentionMap(element.querySelector(".s2s"));
watch("value", () => {show});
{show}"""
    return element(template='<div class="s2s"></div>', css=asset("attention_map.css"), js=js, **settings)
