"""Elements of our own: a Gradio HTML component each, drawn by its own JavaScript from a value that is plain data.

Functions, not subclasses of gr.HTML: Gradio writes a .pyi file beside the source of every class derived from one.
"""

from typing import Any

import gradio as gr

from ..files import text_of


def element(*, css: str, js: str, template: str = "<div></div>", **settings: Any) -> gr.HTML:
    """A component whose `js` has `element`, `props`, `watch`, `trigger` to work with.  No value enters `template`."""
    return gr.HTML(html_template=template, css_template=css, js_on_load=js, apply_default_css=False, **settings)


def asset(name: str) -> str:
    """The text of a file beside this one."""
    return text_of(name, "seq2see.serve.ui.components")
