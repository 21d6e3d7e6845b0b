"""The explorer: the drawing of `seq2see.lens`, with panels that ask the server.

Its value is a `Shown`, as plain data, or None.  What it draws it asks for itself, when it can be seen.
"""

from typing import Any

import gradio as gr

from ....lens.show import asset as drawing
from ....lens.show import script
from ...service import Service
from ..panels import HeadQuestion, Question, answering
from ..panels import asset as panel
from ..panels.arithmetic import arithmetic
from ..panels.maps import PageQuestion, maps, take
from ..panels.step import layers
from ..panels.switch_off import HeadsQuestion, switch_off
from ..panels.training import CheckpointQuestion, training
from ..panels.what_if import TreeQuestion, tree, what_if
from ..panels.words import NearQuestion, WordsQuestion, near, words
from . import asset, element

PANELS = ("asking", "layers", "arithmetic", "switch_off", "side_by_side", "what_if", "beam_tree", "words", "training")


def explorer(service: Service, **settings: Any) -> gr.HTML:
    functions = [
        maps(service),
        answering(service, "take", PageQuestion, take),
        answering(service, "layers", Question, layers),
        answering(service, "arithmetic", HeadQuestion, arithmetic),
        answering(service, "switch_off", HeadsQuestion, switch_off),
        answering(service, "tree", TreeQuestion, tree),
        answering(service, "words", WordsQuestion, words),
        answering(service, "near", NearQuestion, near),
        answering(service, "training", CheckpointQuestion, training),
        what_if(service),
    ]
    js = "\n".join([script(), *(panel(f"{name}.js") for name in PANELS), asset("copying.js"), asset("explorer.js")])
    css = drawing("attention_map.css") + asset("explorer.css")
    return element(css=css, js=js, server_functions=functions, template='<div class="s2s-look"></div>', **settings)
